"""Serialized messages read field by field: only the fields that are drawn, and no Python objects for the others.

Common Data Representation (OMG, CORBA 3.0, 15.3) as ROS 2 sends it: a number begins at a multiple of its size, counted
from behind four bytes that tell the byte order.
"""

import struct
from collections.abc import Iterator

HEADER = 4  # bytes in front of a serialized message that tell its byte order


class Fields:
    """Reads the fields of a message in their order.

    Args:
        message: serialized.
        place: of the first field that is read.
    """

    def __init__(self, message: bytes, place: int = HEADER) -> None:
        self._message, self.place = message, place
        self._order = byte_order(message)

    def count(self) -> int:
        """A 32-bit number, such as the length of a list."""
        self._align(4)
        (number,) = struct.unpack_from(f"{self._order}I", self._message, self.place)
        self.place += 4
        return int(number)

    def stamp(self) -> int:
        """A time [ns]."""
        self._align(4)
        self.place += 8
        return _stamp_at(self._message, self._order, self.place - 8)

    def text(self) -> str:
        """A text."""
        end = self.count() + self.place  # with a zero at its end
        text, self.place = self._message[self.place : end - 1], end
        return text.decode()

    def pose(self) -> tuple[float, ...]:
        """Seven 64-bit numbers: x, y, z of a position and x, y, z, w of a quaternion."""
        self._align(8)
        numbers = struct.unpack_from(f"{self._order}7d", self._message, self.place)
        self.place += 56
        return numbers

    def _align(self, size: int) -> None:
        self.place += (HEADER - self.place) % size


def byte_order(message: bytes) -> str:
    """Byte order of a serialized message, as `struct` has it."""
    return "<" if message[1] & 1 else ">"


def first_stamp(message: bytes) -> int:
    """Time of a serialized message whose first field is a header [ns]."""
    return _stamp_at(message, byte_order(message), HEADER)


def _stamp_at(message: bytes, order: str, place: int) -> int:
    seconds, nanoseconds = struct.unpack_from(f"{order}iI", message, place)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


def transforms(message: bytes) -> Iterator[tuple[str, str, tuple[float, ...]]]:
    """Parent, child and pose of each transform of a serialized tf2_msgs/TFMessage."""
    fields = Fields(message)
    for _ in range(fields.count()):
        fields.stamp()
        yield fields.text(), fields.text(), fields.pose()


def odometry(message: bytes) -> tuple[str, tuple[float, ...]]:
    """Child frame and pose of a serialized nav_msgs/Odometry."""
    fields = Fields(message)
    fields.stamp()
    fields.text()
    return fields.text(), fields.pose()


def last_numbers(message: bytes, count: int) -> tuple[float, ...]:
    """The last 64-bit numbers of a serialized message that ends with them, such as the force and torque of a wrench."""
    return struct.unpack_from(f"{byte_order(message)}{count}d", message, len(message) - 8 * count)
