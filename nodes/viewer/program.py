"""What is on the wires of the program of function blocks now."""

from typing import Any

from rclpy.node import Node

from grouser.nodes.shared import topics
from grouser.nodes.viewer.values import GroupValues


class ProgramValues:
    """What `program_state` says, heard only while a browser shows the program.

    Args:
        node: that subscribes.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._heard: GroupValues | None = None

    @property
    def is_there(self) -> bool:
        """Whether a simulator executes a diagram."""
        return self._node.count_publishers(topics.PROGRAM_STATE) > 0

    def take(self, wanted: bool) -> dict[str, Any] | None:
        """Values by block and output, as the topic has them; None where that is not wanted, or nothing was heard.

        Args:
            wanted: whether a browser shows the program.
        """
        if not wanted:
            if self._heard is not None:
                self._heard.close()
                self._heard = None
            return None
        if self._heard is None:
            self._heard = GroupValues(self._node, topics.PROGRAM_STATE)
        found = self._heard.take()
        return {group: dict(values) for group, values in found.items()} or None
