"""The installed version of `simulation_interfaces`: this module alone handles differences between versions.

In the versions of Humble, Jazzy and Kilted (1.x) a resource is two fields, ``uri`` and ``resource_string``, or only the
former; from 2.0 on many messages have a ``Resource`` instead, under various names. From 2.1 on SetEntityState has flags
for what it sets. Services and constants were added over time. The code tests for fields, not for versions.
"""

from collections.abc import Collection
from typing import Any

from simulation_interfaces import msg, srv
from simulation_interfaces.msg import Result, SimulationState, SimulatorFeatures

from grouser.nodes.services.host import RunState
from grouser.nodes.services.request_error import Reason


def service_type(name: str) -> Any:
    """The type of a service; None if this version does not have it."""
    return getattr(srv, name, None)


def message_type(name: str) -> Any:
    """The type of a message; None if this version does not have it."""
    return getattr(msg, name, None)


def resource(message: Any) -> tuple[str, str]:
    """URI and text of the resource in a message."""
    holder = _resource_holder(message)
    return holder.uri, holder.resource_string


def set_resource(message: Any, uri: str, text: str = "") -> None:
    """Writes URI and text of a resource, or the URI alone if there is no text field (Spawnable in 1.x)."""
    holder = _resource_holder(message)
    holder.uri = uri
    if hasattr(holder, "resource_string"):
        holder.resource_string = text


def sets_pose(request: Any) -> bool:
    """Whether a request for SetEntityState sets the pose."""
    return getattr(request, "set_pose", True)


def sets_twist(request: Any) -> bool:
    """Whether a request for SetEntityState sets the twist."""
    return getattr(request, "set_twist", True)


def sets_acceleration(request: Any) -> bool:
    """Whether a request for SetEntityState sets the acceleration."""
    return getattr(request, "set_acceleration", True)


def result_code(reason: Reason, answer: type) -> int:
    """Number of a reason in responses of a type; RESULT_OPERATION_FAILED if it has no code for it."""
    return getattr(answer, reason.value, getattr(Result, reason.value, Result.RESULT_OPERATION_FAILED))


def feature_numbers(names: Collection[str]) -> list[int]:
    """Sorted numbers of the features that this version has."""
    return sorted(getattr(SimulatorFeatures, name) for name in names if hasattr(SimulatorFeatures, name))


def state_number(state: RunState) -> int:
    """Number of a state; STATE_STOPPED for a state that this version does not have."""
    return getattr(SimulationState, f"STATE_{state.name}", SimulationState.STATE_STOPPED)


def _resource_holder(message: Any) -> Any:
    if hasattr(message, "uri"):
        return message
    fields = message.get_fields_and_field_types()
    return getattr(message, next(name for name, kind in fields.items() if kind == "simulation_interfaces/Resource"))
