"""Values by group and name: what `hydraulics/state`, `slip` and `flexible/state` say."""

from collections.abc import Mapping

from control_msgs.msg import DynamicInterfaceGroupValues
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from grouser.nodes.viewer.arrivals import Arrivals, Polled

_QUALITY = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)

Values = Mapping[str, Mapping[str, float]]


class GroupValues:
    """The newest values of a topic.

    Args:
        node: that subscribes.
        topic: name.
    """

    def __init__(self, node: Node, topic: str) -> None:
        self._arrivals = Arrivals(node, DynamicInterfaceGroupValues, topic, _QUALITY, Polled())
        self._values: Values = {}

    def take(self) -> Values:
        """The newest values by group and name; empty before the first message."""
        self._arrivals.take()
        last = self._arrivals.history.newest()
        if last is not None and (message := self._arrivals.history.to_show(last)) is not None:
            read = self._arrivals.read(message)
            self._values = {
                group: dict(zip(values.interface_names, values.values, strict=False))
                for group, values in zip(read.interface_groups, read.interface_values, strict=False)
            }
        return self._values

    def clear(self) -> None:
        """Forgets the values."""
        self._arrivals.history.clear()
        self._values = {}
