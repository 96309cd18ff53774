"""Notices other simulators in the same ROS domain: they mix up time, frames and names."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from rclpy.clock import Clock as RosClock
from rclpy.clock import ClockType
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from grouser.nodes.shared import topics

_PERIOD = 1.0  # [s of wall time] between two looks at the graph
# [s of wall time]: longer than the middleware lists a process that was killed, so that what is still there is alive.
_LEASE = 30.0
_MOST_NAMED = 5


class Endpoint(NamedTuple):
    """A publisher of another process.

    Attributes:
        node: full name of its node.
        identity: differs from that of every other one.
    """

    node: str
    identity: bytes


class NeighbourWatch:
    """Warns of publishers of the clock that are not this simulator's, of their names, and of frames that are taken.

    While the simulation is being built it listens: nothing of its own is on ``/clock`` and ``/tf`` yet. Afterwards it
    looks at the graph for publishers of the clock that are new. Those that the graph listed at the start without being
    heard may be of a process that was killed, and are told when they are still listed after the middleware's lease.

    Args:
        node: the simulator's, with its publisher of the clock.
        frames: child frames that this simulator has on ``/tf``.
        warn: takes each warning.

    Attributes:
        clock_heard: whether a clock was heard before `begin`.
        frames_heard: child frames of the transforms that were heard before `begin`.
        looks: how often the graph has been looked at since.
    """

    def __init__(self, node: Node, frames: Callable[[], Collection[str]], warn: Callable[[str], None]) -> None:
        self._node, self._frames, self._warn = node, frames, warn
        self._own = node.get_fully_qualified_name()
        self._begun = False
        self.clock_heard = False
        self.frames_heard: set[str] = set()
        self._known: set[bytes] = set()
        self._silent: dict[bytes, int] = {}
        self.looks = 0
        self._subscriptions = [
            node.create_subscription(Clock, topics.CLOCK, self._on_clock, topics.CLOCK_QUALITY),
            node.create_subscription(TFMessage, topics.TF, self._on_transforms, topics.TF_QUALITY),
        ]
        self._timer = node.create_timer(_PERIOD, self.look, clock=RosClock(clock_type=ClockType.STEADY_TIME))

    def begin(self) -> None:
        """Ends the listening: from now on the simulator publishes."""
        self._begun = True

    def destroy(self) -> None:
        """Ends the watch."""
        self._node.destroy_timer(self._timer)
        self._forget()

    def _forget(self) -> None:
        while self._subscriptions:
            self._node.destroy_subscription(self._subscriptions.pop())

    def _on_clock(self, _message: Clock) -> None:
        self.clock_heard = self.clock_heard or not self._begun

    def _on_transforms(self, message: TFMessage) -> None:
        if not self._begun:
            self.frames_heard.update(transform.child_frame_id for transform in message.transforms)

    def look(self) -> None:
        """Looks at the graph, and warns of what is new; its timer calls it."""
        if not self._begun:
            return
        self.looks += 1
        listed = self._clock_publishers()
        others = self._without_own(listed)
        if self._known:
            lasting = {one for one, since in self._silent.items() if (self.looks - since) * _PERIOD > _LEASE}
            fresh = [other for other in others if other.identity not in self._known or other.identity in lasting]
            # one that a busy computer does not list at this look is told at the next one that lists it
            told = {other.identity for other in fresh}
            self._silent = {one: since for one, since in self._silent.items() if one not in told}
        else:
            self._forget()
            if taken := self.frames_heard.intersection(self._frames()):
                self._warn(frames_text(taken))
            fresh = others if self.clock_heard else []
            self._silent = {} if self.clock_heard else {other.identity: self.looks for other in others}
        self._known.update(endpoint.identity for endpoint in listed)
        if fresh:
            self._warn(clock_text([other.node for other in fresh], self._own))

    def _clock_publishers(self) -> list[Endpoint]:
        infos = self._node.get_publishers_info_by_topic(self._node.resolve_topic_name(topics.CLOCK))
        return [
            Endpoint(f"{info.node_namespace.rstrip('/')}/{info.node_name}", bytes(info.endpoint_gid)) for info in infos
        ]

    def _without_own(self, listed: Sequence[Endpoint]) -> list[Endpoint]:
        """Without this simulator's own: one with its name, of those that are known from the start."""
        same = [endpoint for endpoint in listed if endpoint.node == self._own]
        same.sort(key=lambda endpoint: endpoint.identity not in self._known)
        return [endpoint for endpoint in listed if endpoint not in same[:1]]


def clock_text(nodes: Sequence[str], own: str) -> str:
    """Warning of other publishers of the clock, given the full names of their nodes and that of this one."""
    text = (
        f"there are two clocks: {', '.join(sorted(set(nodes)))} publishes {topics.CLOCK}, too: nodes with use_sim_time "
        "see time jump"
    )
    if own in nodes:
        text += f"; the other node is also named {own}, so that services and parameters may reach either"
    return (
        f"{text}. Run one of them in another ROS domain (ROS_DOMAIN_ID), spawn its machine into this simulation, or "
        f"remap {topics.CLOCK} and {topics.TF} of one; -r __ns:=/NAMESPACE gives its node another name"
    )


def frames_text(frames: Collection[str]) -> str:
    """Warning of frames that somebody else publishes."""
    named = sorted(frames)
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return (
        f"somebody else publishes transforms of {', '.join(named[:_MOST_NAMED])}{more} on {topics.TF}, and they would "
        "jump between both. If it is another simulator, run it in another ROS domain (ROS_DOMAIN_ID) or give one of "
        "them other frames (odom_frame, base_footprint_frame); if a robot_state_publisher, set publish_link_tf to false"
    )
