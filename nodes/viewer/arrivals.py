"""Messages as they arrive: taken once a picture, kept serialized and by stamp, deserialized only where they are drawn.

A usual spin wakes up for every message and deserializes it; a machine with twenty links publishes two thousand wrenches
a second.
"""

import struct
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

_KEPT = 128  # messages of a topic: over a second at 100 Hz
_PUBLISHERS = 64  # of transforms that are told apart
_HEADER = 4  # bytes in front of a serialized message that tell its byte order


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


class Arrivals:
    """A subscription that is read by `take`.

    Args:
        node: that subscribes.
        kind: of messages; with a header as its first field.
        topic: its name.
        quality: of service.
        group: without an executor.

    Attributes:
        history: of the messages, if one publisher sends them.
    """

    def __init__(self, node: Node, kind: type, topic: str, quality: QoSProfile, group: Polled) -> None:
        self._node, self._kind = node, kind
        self._subscription = node.create_subscription(
            kind, topic, lambda _message: None, quality, raw=True, callback_group=group
        )
        self.history = History()

    def take(self) -> bool:
        """Takes what has arrived since the last call; returns whether there was something."""
        arrived = False
        for message in self._messages():
            self._keep(message)
            arrived = True
        return arrived

    def read(self, message: bytes) -> Any:
        """A message of this topic, deserialized."""
        return deserialize_message(message, self._kind)

    def close(self) -> None:
        """Ends the subscription."""
        self._node.destroy_subscription(self._subscription)

    def _messages(self) -> Iterator[bytes]:
        handle = self._subscription.handle
        with handle:
            while (taken := handle.take_message(self._kind, True)) is not None:
                yield taken[0]

    def _keep(self, message: bytes) -> None:
        self.history.add(_stamp(message, _HEADER), message)


class TransformArrivals(Arrivals):
    """Arrivals of transforms, which several nodes publish; each sends the same frames in the same order.

    Attributes:
        histories: of the publishers, the one that spoke last at the end.
    """

    def __init__(self, node: Node, kind: type, topic: str, quality: QoSProfile, group: Polled) -> None:
        super().__init__(node, kind, topic, quality, group)
        self.histories: OrderedDict[tuple[int, bytes], History] = OrderedDict()

    def _keep(self, message: bytes) -> None:
        if not struct.unpack_from(_order(message) + "I", message, _HEADER)[0]:  # no transforms
            return
        names = _HEADER + 12
        key = (len(message), message[names : _text_end(message, _text_end(message, names))])
        history = self.histories.setdefault(key, History())
        history.add(_stamp(message, _HEADER + 4), message)
        self.histories.move_to_end(key)
        if len(self.histories) > _PUBLISHERS:
            self.histories.popitem(last=False)


def last_numbers(message: bytes, count: int) -> np.ndarray:
    """The last 64-bit numbers of a serialized message that ends with them, such as the force and torque of a wrench."""
    return np.frombuffer(message, dtype=f"{_order(message)}f8", count=count, offset=len(message) - 8 * count)


def _order(message: bytes) -> str:
    """Byte order of a serialized message, as `struct` has it."""
    return "<" if message[1] & 1 else ">"


def _stamp(message: bytes, place: int) -> int:
    """The stamp [ns] that begins at a place of a serialized message."""
    seconds, nanoseconds = struct.unpack_from(_order(message) + "iI", message, place)
    return seconds * 1_000_000_000 + nanoseconds


def _text_end(message: bytes, place: int) -> int:
    """Where a text of a serialized message ends that begins at a place, or up to three bytes behind it, aligned."""
    start = _HEADER + -(-(place - _HEADER) // 4) * 4
    return start + 4 + int(struct.unpack_from(_order(message) + "I", message, start)[0])
