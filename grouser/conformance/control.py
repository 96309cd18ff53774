"""Pausing, stepping and resetting a simulator: by `std_srvs`, or by `simulation_interfaces` if only these exist."""

from typing import Any

from std_srvs.srv import SetBool, Trigger

from grouser.conformance import standard
from grouser.conformance.client import Client, interface
from grouser.conformance.discovery import SimulatorInterface


class Control:
    """Calls the simulator's services.

    Args:
        client: that calls.
        offer: of the simulator.

    Attributes:
        interfaces: type of each service and action of `simulation_interfaces` -> its full name.
    """

    def __init__(self, client: Client, offer: SimulatorInterface) -> None:
        self._client = client
        self._offer = offer
        self._services = offer.services()
        prefix = f"{standard.SIMULATION_INTERFACES}/"
        found = {**self._services, **offer.actions()}
        # Services of other simulators come first, so that those that begin with this one's name replace them.
        ordered = sorted(found.items(), key=lambda item: item[0].startswith(f"{offer.node}/"))
        self.interfaces = {kind.removeprefix(prefix): name for name, kind in ordered if kind.startswith(prefix)}
        self._own_count: int | None = client.parameters(offer.node, [standard.STEP_REQUEST_COUNT]).get(
            standard.STEP_REQUEST_COUNT
        )

    @property
    def complete(self) -> bool:
        """Whether it can be paused, stepped and reset."""
        return all(self._has(call) or call.instead in self.interfaces for call in standard.SERVICES if call.instead)

    def pause(self, paused: bool) -> str:
        """Pauses or resumes; returns the error message, "" for success."""
        if self._has(standard.SERVICES[0]):
            return _refusal(self._client.call(self._offer.full("~/pause"), SetBool, SetBool.Request(data=paused)))
        kind = interface(f"{standard.SIMULATION_INTERFACES}/SimulationState")
        if kind is None:
            return "no such service"
        return self.request(
            "SetSimulationState", state=kind(state=kind.STATE_PAUSED if paused else kind.STATE_PLAYING)
        )[1]

    def step(self, count: int) -> str:
        """Makes steps; returns the error message."""
        if not self._has(standard.SERVICES[1]):
            return self.request("StepSimulation", steps=count)[1]
        calls = count
        if self._own_count is not None:
            self._client.set_parameter(self._offer.node, standard.STEP_REQUEST_COUNT, count)
            calls = 1
        for _ in range(calls):
            refusal = _refusal(self._client.call(self._offer.full("~/step"), Trigger, Trigger.Request()))
            if refusal:
                return refusal
        return ""

    def reset(self) -> str:
        """Resets the machine; returns the error message."""
        if self._has(standard.SERVICES[2]):
            return _refusal(self._client.call(self._offer.full("~/reset"), Trigger, Trigger.Request()))
        kind = interface(f"{standard.SIMULATION_INTERFACES}/srv/ResetSimulation")
        return "no such service" if kind is None else self.request("ResetSimulation", scope=kind.Request.SCOPE_STATE)[1]

    def clear_emergency_stop(self) -> str:
        """Releases emergency stops; returns the error message."""
        call = standard.CLEAR_EMERGENCY_STOP
        if not self._has(call):
            return "no such service"
        return _refusal(self._client.call(self._offer.full(call.name), Trigger, Trigger.Request()))

    def leave(self) -> None:
        """Makes a request without further fields."""
        if self._own_count is not None:
            self._client.set_parameter(self._offer.node, standard.STEP_REQUEST_COUNT, self._own_count)

    def request(self, name: str, /, **fields: Any) -> tuple[Any, str]:
        """The response of a service of `simulation_interfaces`, None without one, and the error message."""
        kind = interface(f"{standard.SIMULATION_INTERFACES}/srv/{name}")
        if kind is None or name not in self.interfaces:
            return None, "no such service"
        answer = self._client.call(self.interfaces[name], kind, kind.Request(**fields))
        if answer is None:
            return None, "no answer"
        result = getattr(answer, "result", None)
        if result is None or result.result == type(result).RESULT_OK:
            return answer, ""
        return answer, f"result {result.result}: {result.error_message}"

    def _has(self, call: standard.Call) -> bool:
        return self._services.get(self._offer.full(call.name)) == call.type


def _refusal(answer: Any) -> str:
    if answer is None:
        return "no answer"
    return "" if answer.success else answer.message or "refused without a reason"
