"""Frames on a serial line or in a datagram.

A frame is a version (u8, 1), a kind (u8), a counter (u16), the sender's time in milliseconds (u32), the payload, and
a CRC-16/IBM-3740 over all of it (u16); little endian. On a line it is packed by consistent overhead byte stuffing
(Cheshire and Baker 1999), which leaves no zero, and a zero ends it. A datagram holds one packed frame without the zero.
"""

import struct
from dataclasses import dataclass

from cobs import cobs

from grouser.bridges.checksums import crc16

VERSION = 1
COMMAND, MEASUREMENT, ACKNOWLEDGE, FAULT = 1, 2, 3, 4  # kinds
HIGHEST_LENGTH = 254  # [bytes] of a packed frame, without the zero
_HEAD = struct.Struct("<BBHI")
_CHECK = struct.Struct("<H")
# One byte of packing in 254.
HIGHEST_PAYLOAD = HIGHEST_LENGTH - 1 - _HEAD.size - _CHECK.size  # [bytes]


@dataclass(frozen=True)
class Frame:
    """A frame.

    Attributes:
        kind: `COMMAND`, `MEASUREMENT`, `ACKNOWLEDGE` or `FAULT`; senders may have others.
        counter: one more with each frame of a kind, modulo 65536.
        time: of the sender [ms], modulo 2^32.
        payload: as the mapping lists it.
    """

    kind: int
    counter: int
    time: int
    payload: bytes


def pack_frame(frame: Frame) -> bytes:
    """The packed frame, without the zero at its end.

    Raises:
        ValueError: a payload that is too long.
    """
    if len(frame.payload) > HIGHEST_PAYLOAD:
        raise ValueError(f"payload of {len(frame.payload)} bytes: valid is 0 to {HIGHEST_PAYLOAD}")
    body = _HEAD.pack(VERSION, frame.kind, frame.counter, frame.time) + frame.payload
    return cobs.encode(body + _CHECK.pack(crc16(body)))


def unpack_frame(packed: bytes) -> Frame | str:
    """The frame, or why it is refused in a few words.

    Args:
        packed: without the zero at its end.
    """
    if len(packed) > HIGHEST_LENGTH:
        return "length"
    try:
        body = cobs.decode(packed)
    except cobs.DecodeError:
        return "packing"
    if len(body) < _HEAD.size + _CHECK.size:
        return "length"
    (check,) = _CHECK.unpack_from(body, len(body) - _CHECK.size)
    if check != crc16(body[: -_CHECK.size]):
        return "checksum"
    version, kind, counter, time = _HEAD.unpack_from(body)
    if version != VERSION:
        return "version"
    return Frame(kind, counter, time, body[_HEAD.size : -_CHECK.size])


class Splitter:
    """Cuts the bytes of a line into pieces, of whatever size they arrive.

    Args:
        end: the byte that ends a piece.
        highest_length: of a piece without its end [bytes]; a longer one is thrown away up to its end.

    Attributes:
        oversized: pieces that were thrown away.
    """

    def __init__(self, end: bytes, highest_length: int) -> None:
        self._end = end
        self._highest_length = highest_length
        self._rest = b""
        self._is_throwing_away = False
        self.oversized = 0

    def split(self, data: bytes) -> list[bytes]:
        """Takes bytes; returns the pieces that they complete, without their ends and without empty ones."""
        *complete, rest = (self._rest + data).split(self._end)
        if complete and self._is_throwing_away:
            del complete[0]
            self._is_throwing_away = False
        self.oversized += sum(len(piece) > self._highest_length for piece in complete)
        if len(rest) > self._highest_length and not self._is_throwing_away:
            self.oversized += 1
            self._is_throwing_away = True
        self._rest = b"" if self._is_throwing_away else rest
        return [piece for piece in complete if 0 < len(piece) <= self._highest_length]
