"""Subscription to an emergency stop."""

from collections import deque
from collections.abc import Callable, Mapping

from rclpy.clock import Clock, ClockType
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.subscription import Subscription
from std_msgs.msg import Bool

from grouser.nodes.shared import topics
from grouser.nodes.shared.endpoints import Endpoints

_PERIOD = 0.5  # between looks for publishers [s]
_LOOKS = 8  # for which a subscription to stops sent earlier is kept
_REMEMBERED = 256  # stops


class StopSubscription:
    """Receives emergency stops, also those that a transient-local publisher sent before it was there.

    A subscription that asks for stops sent earlier does not match ordinary publishers, which are volatile, and both
    sides would be warned of it. One therefore exists only for some seconds after a transient-local publisher has come.
    What both subscriptions hear is one stop: by then an operator may have released it.

    Args:
        endpoints: in whose namespace it is; they destroy it.
        topic: its name.
        stop: called at each stop, in a thread of the executor.
    """

    def __init__(self, endpoints: Endpoints, topic: str, stop: Callable[[], None]) -> None:
        self._node = endpoints.node
        self._name = endpoints.name(topic)
        self._stop = stop
        self._obeyed: deque[int] = deque(maxlen=_REMEMBERED)  # times at which stops were sent [ns]
        self._asked: frozenset[bytes] = frozenset()  # publishers that were asked for earlier stops
        self._earlier: Subscription | None = None
        self._looks = 0
        endpoints.create_subscription(Bool, topic, self._receive, QoSProfile(depth=1))
        timer = self._node.create_timer(_PERIOD, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))
        endpoints.at_end(self._forget)
        endpoints.at_end(lambda: self._node.destroy_timer(timer))

    def _receive(self, message: Bool, info: Mapping[str, int]) -> None:
        sent = info["source_timestamp"]
        if message.data and sent not in self._obeyed:
            self._obeyed.append(sent)
            self._stop()

    def _look(self) -> None:
        """Subscribes to earlier stops if a publisher has come that keeps them."""
        known = self._node.get_publishers_info_by_topic(self._name)
        keeping = [one for one in known if one.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL]
        publishers = frozenset(bytes(one.endpoint_gid) for one in keeping)
        if publishers - self._asked:
            self._forget()
            receive: Callable[..., None] = self._receive  # rclpy's annotation leaves the information out
            self._earlier = self._node.create_subscription(Bool, self._name, receive, topics.LATCHED)
            self._looks = _LOOKS
        elif self._earlier is not None:
            self._looks -= 1
            if self._looks == 0:
                self._forget()
        self._asked = publishers

    def _forget(self) -> None:
        if self._earlier is not None:
            self._node.destroy_subscription(self._earlier)
            self._earlier = None
