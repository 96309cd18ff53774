"""What is in the hydraulic circuit now."""

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
            ``lines``: pressure of each line [bar]; ``spools``: position of each spool [-]; ``flows``: of each pump,
            cylinder and motor [l/min].
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
        return {
            "lines": {line: round(value / _BAR, 1) for line, value in found.get("pressure", {}).items()},
            "spools": {valve: round(value, 3) for valve, value in found.get("spool_position", {}).items()},
            "flows": {
                name: round(values["flow"] / _LITRES_PER_MINUTE, 1)
                for name, values in hydraulics.items()
                if "flow" in values
            },
        }
