"""A simulation that stands publishes nothing new: whoever begins to listen then is shown the present moment."""

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from grouser.nodes.shared import topics

_POSES = (topics.TF, topics.OBJECT_POSES)
_PERIOD = 0.5  # [s] of wall time between two looks


class Latecomers:
    """Looks for nodes that begin to listen to the poses, as every display does.

    Args:
        node: the simulator's, whose own subscriptions do not count.
        show: called when there is a new one.
    """

    def __init__(self, node: Node, show: Callable[[], object]) -> None:
        self._node, self._show = node, show
        self._own = (node.get_namespace(), node.get_name())
        self._known: set[bytes] = set()
        self._timer = node.create_timer(_PERIOD, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def destroy(self) -> None:
        """Ends the looking."""
        self._node.destroy_timer(self._timer)

    def _look(self) -> None:
        look = self._node.get_subscriptions_info_by_topic
        infos = [info for topic in _POSES for info in look(self._node.resolve_topic_name(topic))]
        present = {bytes(info.endpoint_gid) for info in infos if (info.node_namespace, info.node_name) != self._own}
        before, self._known = self._known, present
        if present - before:
            self._show()
