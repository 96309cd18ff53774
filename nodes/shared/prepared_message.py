"""Messages of which only stamps and poses change, serialized once.

rclpy converts and serializes a message under the interpreter's lock: of 160 markers for 2.4 ms, in which no other
thread of the process sends. Writing the numbers into the bytes takes far less.
"""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose
from rclpy.serialization import serialize_message

from grouser.nodes.shared.messages import set_stamp

_STAMP, _POSE = struct.Struct("=iI"), struct.Struct("=7d")
_MARK = 0x5A17  # of stamps while their places are looked for


class PreparedMessage:
    """The bytes of a message, which `rclpy` publishes as it does the message.

    Args:
        message: its layout and all that does not change.
        stamps: stamps in it, each of which may be in several places; all get the same time.
        poses: poses in it.
    """

    def __init__(self, message: Any, stamps: Sequence[Time], poses: Sequence[Pose]) -> None:
        for stamp in stamps:
            stamp.sec, stamp.nanosec = _MARK, _MARK
        marks = np.arange(1.0, 7.0 * len(poses) + 1.0).reshape(-1, 7) + 1.0 / 3.0
        for pose, row in zip(poses, marks.tolist(), strict=True):
            position, turn = pose.position, pose.orientation
            position.x, position.y, position.z, turn.x, turn.y, turn.z, turn.w = row
        data = serialize_message(message)
        self._data = np.frombuffer(data, np.uint8).copy()
        self._poses = _bytes_at([data.index(_POSE.pack(*row)) for row in marks.tolist()], _POSE.size)
        self._stamps = _bytes_at(_places(data, _STAMP.pack(_MARK, _MARK)), _STAMP.size)

    def filled(self, nanoseconds: int, poses: np.ndarray) -> bytes:
        """Returns the message.

        Args:
            nanoseconds: of all stamps.
            poses: position [m] and quaternion x y z w of each pose, (poses, 7).
        """
        stamp = Time()
        set_stamp(stamp, nanoseconds)
        self._data[self._stamps] = np.frombuffer(_STAMP.pack(stamp.sec, stamp.nanosec), np.uint8)
        self._data[self._poses] = np.ascontiguousarray(poses, dtype=float).view(np.uint8)
        return self._data.tobytes()


def _places(data: bytes, pattern: bytes) -> list[int]:
    places = [data.index(pattern)]
    while (place := data.find(pattern, places[-1] + len(pattern))) >= 0:
        places.append(place)
    return places


def _bytes_at(places: Sequence[int], size: int) -> np.ndarray:
    """Indices of all bytes of fields that begin at some places, (fields, bytes)."""
    return np.array(places, dtype=int).reshape(-1, 1) + np.arange(size)
