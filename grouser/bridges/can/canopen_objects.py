"""Objects of an own CANopen node, and its SDO server (CiA 301): what a master reads and sets before it starts the node.

All objects fit a frame (expedited transfer); transfers in segments and blocks are answered by an abort.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

REQUEST, RESPONSE = 0x600, 0x580  # + node
DEVICE_TYPE, ERROR_REGISTER, HEARTBEAT_TIME, IDENTITY = 0x1000, 0x1001, 0x1017, 0x1018

_DOWNLOAD, _UPLOAD, _ABORT = 1, 2, 4  # the upper three bits of a request
_EXPEDITED, _SIZE_INDICATED = 2, 1
_IN_ABORT, _DOWNLOADED = 0x80, 0x60
_COMMAND_UNKNOWN = 0x0504_0001
_READ_ONLY = 0x0601_0002
_NO_OBJECT = 0x0602_0000
_WRONG_LENGTH = 0x0607_0010
_NO_SUBINDEX = 0x0609_0011
_TOO_HIGH, _TOO_LOW = 0x0609_0031, 0x0609_0032


@dataclass(frozen=True)
class Entry:
    """One value: an object's index and subindex have it.

    Attributes:
        size: 1 to 4 bytes; unsigned.
        read: returns it.
        write: takes it, in the range; None: it cannot be written.
        low, high: its range.
    """

    size: int
    read: Callable[[], int]
    write: Callable[[int], None] | None = None
    low: int = 0
    high: int = 0xFFFF_FFFF


def answer(objects: Mapping[tuple[int, int], Entry], request: bytes) -> bytes | None:
    """Answers a request of a client.

    Args:
        objects: by index and subindex.
        request: data of the frame.

    Returns:
        data of the answer; None: it needs none.
    """
    if len(request) != 8 or request[0] >> 5 == _ABORT:
        return None
    place = request[1:4]
    index, subindex = int.from_bytes(request[1:3], "little"), request[3]
    command = request[0] >> 5
    if command not in (_DOWNLOAD, _UPLOAD) or (command == _DOWNLOAD and not request[0] & _EXPEDITED):
        return _abort(place, _COMMAND_UNKNOWN)
    entry = objects.get((index, subindex))
    if entry is None:
        return _abort(place, _NO_SUBINDEX if any(one == index for one, _ in objects) else _NO_OBJECT)
    if command == _UPLOAD:
        flags = 0x40 | (4 - entry.size) << 2 | _EXPEDITED | _SIZE_INDICATED
        return bytes((flags,)) + place + entry.read().to_bytes(entry.size, "little").ljust(4, b"\0")
    if entry.write is None:
        return _abort(place, _READ_ONLY)
    if request[0] & _SIZE_INDICATED and 4 - (request[0] >> 2 & 3) != entry.size:
        return _abort(place, _WRONG_LENGTH)
    value = int.from_bytes(request[4 : 4 + entry.size], "little")
    if not entry.low <= value <= entry.high:
        return _abort(place, _TOO_HIGH if value > entry.high else _TOO_LOW)
    entry.write(value)
    return bytes((_DOWNLOADED,)) + place + bytes(4)


def _abort(place: bytes, code: int) -> bytes:
    return bytes((_IN_ABORT,)) + place + code.to_bytes(4, "little")
