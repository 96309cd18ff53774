"""Faults of a bridge as parameters of its node: of the line `faults.<fault>`, of sensors `faults.<signal>.<fault>`."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from grouser.bridges.faults import SensorFault
from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.runner import BridgeRunner
from grouser.nodes.shared.parameters import Declaration, declare

_PREFIX = "faults."
LINE = {
    "stale_stick": Declaration(False, "Whether every message repeats what one said before.", False),
    "bus_off": Declaration(False, "Whether nothing is received.", False),
    "loss": Declaration(0.0, "Share of messages that do not arrive [-].", False, 0.0, 1.0),
    "delay": Declaration(0.0, "Longest time by which messages come late [s].", False, 0.0, 10.0),
    "duplicate": Declaration(0.0, "Share of messages that arrive twice [-].", False, 0.0, 1.0),
    "bit_flip": Declaration(0.0, "Share of messages with one bit flipped before decoding [-].", False, 0.0, 1.0),
}
SENSOR = {
    "stuck_sensor": Declaration(False, "Whether the measurement stays as it is.", False),
    "sensor_noise": Declaration(0.0, "Standard deviation added to the measurement [SI].", False, 0.0, 1e12),
    "sensor_offset": Declaration(0.0, "What the measurement shows too much [SI].", False, -1e12, 1e12),
}


def line_declarations() -> dict[str, Declaration]:
    """Parameters of the faults of the line, by their full names."""
    return {f"{_PREFIX}{name}": declaration for name, declaration in LINE.items()}


class FaultParameters:
    """Declares a parameter for each fault, and injects what they say.

    Args:
        node: that has them.
        mapping: whose outgoing signals may have faults, if their `sensor_fault` allows it.
        runner: of the bridge.
        told: called at the start and at each change with all active faults by name.
    """

    def __init__(
        self,
        node: Node,
        mapping: BridgeMapping,
        runner: BridgeRunner,
        told: Callable[[Mapping[str, bool | float]], None],
    ) -> None:
        self._node, self._runner, self._told = node, runner, told
        self._active: dict[str, bool | float] = {}
        self._defaults: dict[str, Any] = {f"{_PREFIX}{name}": one.default for name, one in LINE.items()}
        self._sensors: dict[str, tuple[str, str]] = {}  # parameter -> signal and fault
        declarations = line_declarations()
        for signal in _faulty_signals(mapping):
            for fault, declaration in SENSOR.items():
                parameter = f"{_PREFIX}{signal.replace('/', '.')}.{fault}"
                self._sensors[parameter] = (signal, fault)
                self._defaults[parameter] = declaration.default
                declarations[parameter] = declaration
        self._of_signals = {signal: SensorFault() for signal, _ in self._sensors.values()}
        node.add_on_set_parameters_callback(self._refuse)
        declare(node, declarations)
        node.add_post_set_parameters_callback(self._inject)
        self._inject(node.get_parameters(list(self._defaults)))

    def clear(self) -> list[str]:
        """Sets all faults to none; returns the names of those that were not."""
        faulty = list(self._active)
        names = [f"{_PREFIX}{name}" for name in faulty]
        self._node.set_parameters_atomically([Parameter(name, value=self._defaults[name]) for name in names])
        return faulty

    def _refuse(self, parameters: list[Parameter]) -> SetParametersResult:
        for one in parameters:
            if one.name == f"{_PREFIX}bit_flip" and one.value and not self._runner.transport.can_tamper:
                reason = "bit_flip: this protocol's own stack guards the bytes; use loss or delay"
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _inject(self, parameters: Sequence[Parameter]) -> None:
        changed = [one for one in parameters if one.name in self._defaults]
        line = self._runner.faults.line
        for one in changed:
            if one.name in self._sensors:
                signal, fault = self._sensors[one.name]
                self._of_signals[signal] = replace(self._of_signals[signal], **{fault: one.value})
                self._runner.faults.set_sensor(signal, self._of_signals[signal])
            else:
                line = replace(line, **{one.name.removeprefix(_PREFIX): one.value})
        self._runner.faults.set_line(line, time.monotonic())
        self._tell(changed)

    def _tell(self, changed: Sequence[Parameter]) -> None:
        """Logs what has changed, and tells which faults are active."""
        for one in changed:
            name = one.name.removeprefix(_PREFIX)
            if one.value != self._defaults[one.name]:
                self._active[name] = one.value
                self._node.get_logger().warning(f"fault {name} = {one.value}")
            elif self._active.pop(name, None) is not None:
                self._node.get_logger().info(f"fault {name} is over")
        if changed:
            self._told(self._active)


def _faulty_signals(mapping: BridgeMapping) -> list[str]:
    names = {one.signal: one.sensor_fault for message in mapping.outgoing for one in message.signals}
    return [name for name, allowed in names.items() if allowed]
