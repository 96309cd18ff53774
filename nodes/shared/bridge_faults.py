"""Faults that are injected into bridges as messages: for the recording of a simulator."""

import json
import math
from collections.abc import Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.qos import DurabilityPolicy, QoSProfile

from grouser.nodes.shared.messages import set_stamp
from grouser.physics.base.errors import ParameterError

# Each bridge keeps its latest message for those who come later; a reader takes those of several bridges.
READ = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)

Faults = Mapping[str, bool | float]


def faults_message(bridge: str, faults: Faults, nanoseconds: int) -> DiagnosticArray:
    """Makes the message of a bridge.

    Args:
        bridge: full name of its node.
        faults: all that are active, by name: ``loss``, ``hydraulics.boom_cylinder.force.stuck_sensor``.
        nanoseconds: the time.
    """
    level = DiagnosticStatus.WARN if faults else DiagnosticStatus.OK
    values = [KeyValue(key=name, value=json.dumps(value)) for name, value in faults.items()]
    message = DiagnosticArray(status=[DiagnosticStatus(name=bridge, level=level, values=values)])
    set_stamp(message.header.stamp, nanoseconds)
    return message


def faults_of(message: DiagnosticArray) -> dict[str, dict[str, bool | float]]:
    """Returns the faults of each bridge in a message.

    Raises:
        ParameterError: a value is neither true nor false nor a finite number.
    """
    return {one.name: {pair.key: _value(pair) for pair in one.values} for one in message.status}


def _value(pair: KeyValue) -> bool | float:
    try:
        value = json.loads(pair.value)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, bool | int | float) or not math.isfinite(value):
        raise ParameterError(pair.key, pair.value, "true, false or a finite number")
    return value
