"""What is in the hydraulic circuit now."""

from collections.abc import Mapping
from typing import Any

from rclpy.node import Node

from grouser.nodes.shared import topics
from grouser.nodes.viewer.values import GroupValues, Values

_BAR = 1e5  # [Pa]
_LITRES_PER_MINUTE = 1e-3 / 60.0  # [m3/s]


class CircuitValues:
    """What `hydraulics/circuit` says, heard only while a browser shows the circuit.

    Args:
        node: that subscribes.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._heard: GroupValues | None = None

    def take(self, wanted: bool, hydraulics: Values) -> dict[str, Any] | None:
        """What a browser shows; None where that is not wanted, or nothing has been heard.

        Args:
            wanted: whether a browser shows the circuit.
            hydraulics: what `hydraulics/state` says.

        Returns:
            ``lines``: pressure [bar] and flow [l/min] of each line; ``ports``: flow into each port [l/min]; ``spools``:
            position of each spool [-]; ``flows``: of each pump, cylinder and motor [l/min].
        """
        if not wanted:
            if self._heard is not None:
                self._heard.close()
                self._heard = None
            return None
        if self._heard is None:
            self._heard = GroupValues(self._node, topics.CIRCUIT)
        found = self._heard.take()
        if not found:
            return None
        through = _litres(found.get("flow", {}))
        return {
            "lines": {
                line: [round(value / _BAR, 1), through.get(line, 0.0)]
                for line, value in found.get("pressure", {}).items()
            },
            "ports": {port: flow for port, flow in _litres(found.get("port_flow", {})).items() if flow},
            "spools": {valve: round(value, 3) for valve, value in found.get("spool_position", {}).items()},
            "flows": _litres({name: values["flow"] for name, values in hydraulics.items() if "flow" in values}),
        }


def _litres(flows: Mapping[str, float]) -> dict[str, float]:
    """Flows in l/min, to a tenth."""
    return {name: round(flow / _LITRES_PER_MINUTE, 1) for name, flow in flows.items()}
