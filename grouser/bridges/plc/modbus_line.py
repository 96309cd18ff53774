"""Modbus RTU on a serial line, at the side of the server: frames in bytes that come in any pieces.

A frame is a unit, a request and a CRC-16 (polynomial 0x8005 reflected, initial value 0xFFFF), low byte first. A request
tells by its function how long it is. What other units are asked and answer ends where the CRC over all of it is 0. What
is neither is thrown away when the line is silent for a while.
"""

from grouser.bridges.plc.modbus_listener import Answer
from grouser.bridges.plc.modbus_requests import READ_WRITE, WRITE

_SHORTEST, _LONGEST = 4, 256  # bytes of a frame
_PLAIN = 8  # bytes of the requests that have no byte that counts
# Functions with such a byte -> its place.
_COUNTS = {15: 6, WRITE: 6, READ_WRITE: 10}


def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0xA001 if byte & 1 else 0)
    return byte


_REMAINDERS = tuple(map(_remainder, range(256)))


def _check(data: bytes) -> int:
    """CRC-16/MODBUS: 0 for data with its own CRC at its end."""
    value = 0xFFFF
    for byte in data:
        value = value >> 8 ^ _REMAINDERS[(value ^ byte) & 0xFF]
    return value


def pack_line_frame(unit: int, body: bytes) -> bytes:
    """A frame of a unit and a request or an answer."""
    frame = bytes((unit,)) + body
    return frame + _check(frame).to_bytes(2, "little")


class LineServer:
    """Cuts a line into frames and answers those of a unit.

    Args:
        unit: which is answered.
        answer: makes the answer to a request.

    Attributes:
        refused: pieces that were no frames.
    """

    def __init__(self, unit: int, answer: Answer) -> None:
        self._unit, self._answer = unit, answer
        self._rest = b""
        self.refused = 0

    @property
    def is_waiting(self) -> bool:
        """Whether a part of a frame has arrived."""
        return bool(self._rest)

    def take(self, data: bytes) -> bytes:
        """Takes bytes; returns the answers to the frames that they complete."""
        rest, answers = self._rest + data, b""
        while length := self._length_of(rest):
            frame, rest = rest[:length], rest[length:]
            if frame[0] == self._unit:
                answers += pack_line_frame(self._unit, self._answer(frame[1:-2]))
        self._rest = rest[: _LONGEST + 1]  # one that is longer is none
        return answers

    def fall_silent(self) -> None:
        """Takes the news that the line is silent: what has arrived is no frame."""
        self.refused += bool(self._rest)
        self._rest = b""

    def _length_of(self, data: bytes) -> int:
        """How long the whole frame is that begins here; 0: it is not whole, or none."""
        if not data:
            return 0
        if data[0] == self._unit:
            length = _length_of_request(data)
            return length if length and len(data) >= length and not _check(data[:length]) else 0
        value = 0xFFFF
        for place, byte in enumerate(data[:_LONGEST], start=1):
            value = value >> 8 ^ _REMAINDERS[(value ^ byte) & 0xFF]
            if value == 0 and place >= _SHORTEST:
                return place
        return 0


def _length_of_request(data: bytes) -> int:
    """How long the request is that begins here; 0: not known yet."""
    if len(data) < 2:
        return 0
    place = _COUNTS.get(data[1])
    if place is None:
        return _PLAIN
    return place + 1 + data[place] + 2 if len(data) > place else 0
