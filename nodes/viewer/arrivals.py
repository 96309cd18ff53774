"""Messages as they arrive: taken once a picture, kept serialized and by stamp, deserialized only where they are drawn.

A usual spin wakes up for every message and deserializes it; a machine with twenty links publishes two thousand wrenches
a second.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from grouser.nodes.viewer.cdr import Fields, first_stamp

_KEPT = 128  # messages of a topic: over a second at 100 Hz
_PUBLISHERS = 64  # of transforms that are told apart


class Polled(CallbackGroup):
    """Callbacks that no executor runs: their subscriptions are read by `Arrivals`."""

    def can_execute(self, _entity: Any) -> bool:
        """Never."""
        return False

    def beginning_execution(self, _entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, _entity: Any) -> None:
        """Nothing begins, so that nothing ends."""


class History:
    """Recent serialized messages of one publisher, by stamp; of a clock that was set back only the later ones."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=_KEPT)
        self._shown: bytes | None = None

    def add(self, stamp: int, message: bytes) -> None:
        """Takes a message of this stamp [ns]."""
        if self._kept and stamp < self._kept[-1][0]:
            self._kept.clear()
        self._kept.append((stamp, message))

    def newest(self) -> int | None:
        """Stamp of the newest message [ns]."""
        return self._kept[-1][0] if self._kept else None

    def at(self, time: int) -> tuple[int, bytes] | None:
        """Stamp [ns] and text of the newest message that is not after a time [ns]; None without one."""
        return next((entry for entry in reversed(self._kept) if entry[0] <= time), None)

    def to_show(self, time: int) -> bytes | None:
        """The message for a time [ns], if it is another one than at the last call.

        Where all messages are later, their clock is another one, and the newest is meant.
        """
        if not self._kept:
            return None
        _, message = self.at(time) or self._kept[-1]
        if message is self._shown:
            return None
        self._shown = message
        return message

    def clear(self) -> None:
        """Forgets all."""
        self._kept.clear()
        self._shown = None


class Polling:
    """A subscription that no executor reads.

    Args:
        node: that subscribes.
        kind: of messages.
        topic: its name.
        quality: of service.
        group: without an executor.
    """

    def __init__(self, node: Node, kind: type, topic: str, quality: QoSProfile, group: Polled) -> None:
        self._node, self._kind = node, kind
        self._subscription = node.create_subscription(
            kind, topic, lambda _message: None, quality, raw=True, callback_group=group
        )

    def read(self, message: bytes) -> Any:
        """A message of this topic, deserialized."""
        return deserialize_message(message, self._kind)

    def close(self) -> None:
        """Ends the subscription."""
        self._node.destroy_subscription(self._subscription)

    def _messages(self) -> Iterator[bytes]:
        """What has arrived since the last call."""
        handle = self._subscription.handle
        with handle:
            while (taken := handle.take_message(self._kind, True)) is not None:
                yield taken[0]


class Newest(Polling):
    """A subscription of which only the newest message counts."""

    def take(self) -> bytes | None:
        """The newest message since the last call, serialized; None without one."""
        newest = None
        for message in self._messages():
            newest = message
        return newest


class Arrivals(Polling):
    """A subscription to messages with a header as their first field, which is read by `take`.

    Attributes:
        history: of the messages, if one publisher sends them.
    """

    def __init__(self, node: Node, kind: type, topic: str, quality: QoSProfile, group: Polled) -> None:
        super().__init__(node, kind, topic, quality, group)
        self.history = History()

    def take(self) -> None:
        """Takes what has arrived since the last call."""
        for message in self._messages():
            self._keep(message)

    def _keep(self, message: bytes) -> None:
        self.history.add(first_stamp(message), message)


class TransformArrivals(Arrivals):
    """Arrivals of transforms, which several nodes publish; each sends the same frames in the same order.

    Attributes:
        histories: of the publishers, the one that spoke last at the end.
    """

    def __init__(self, node: Node, kind: type, topic: str, quality: QoSProfile, group: Polled) -> None:
        super().__init__(node, kind, topic, quality, group)
        self.histories: OrderedDict[tuple[int, str, str], History] = OrderedDict()

    def _keep(self, message: bytes) -> None:
        fields = Fields(message)
        if not fields.count():
            return
        stamp = fields.stamp()
        key = (len(message), fields.text(), fields.text())
        history = self.histories.setdefault(key, History())
        history.add(stamp, message)
        self.histories.move_to_end(key)
        if len(self.histories) > _PUBLISHERS:
            self.histories.popitem(last=False)
