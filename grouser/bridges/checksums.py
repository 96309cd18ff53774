"""Checksums and counters in the bytes of a message, by profile: what a transport checks and writes.

Profiles: ``e2e_5`` and ``e2e_11`` are the AUTOSAR E2E profiles 5 and 11 (both data id bytes), ``j1939_tsc1`` is the one
of SAE J1939-71 TSC1 (SPN 4206, 4207).
"""

from binascii import crc_hqx
from functools import cache
from typing import Protocol

from grouser.bridges.counters import MODULI


class Profile(Protocol):
    """Where counter and checksum are in a message, and how the checksum is made."""

    length_min: int

    def counter(self, data: bytes) -> int:
        """Returns the counter of a message of at least `length_min` bytes; whether it is valid, RollingCounter says."""

    def is_intact(self, data: bytes, identifier: int, data_id: int) -> bool:
        """Returns whether the checksum fits.

        Args:
            data: the message, at least `length_min` bytes.
            identifier: of a CAN frame, 29 bits; only for ``j1939_tsc1``.
            data_id: as in `ChecksumRule`; only for the e2e profiles.
        """

    def protect(self, data: bytes, counter: int, identifier: int, data_id: int) -> bytes:
        """Returns the message with counter and checksum written into their places."""


class _Tsc1:
    """Byte 8: the counter in the low four bits, the checksum in the high ones."""

    length_min = 8

    def counter(self, data):
        return data[7] & 15

    def is_intact(self, data, identifier, data_id):
        return data[7] >> 4 == self._checksum(data, self.counter(data), identifier)

    def protect(self, data, counter, identifier, data_id):
        return data[:7] + bytes([self._checksum(data, counter, identifier) << 4 | counter])

    def _checksum(self, data, counter, identifier):
        total = sum(data[:7]) + counter + sum(identifier.to_bytes(4, "big"))
        return ((total >> 6 & 3) + (total >> 3) + total) & 7


class _EndToEnd5:
    """CRC-16/IBM-3740, little endian, in bytes 1 and 2 and the counter in byte 3; over what follows and the data id."""

    length_min = 3

    def counter(self, data):
        return data[2]

    def is_intact(self, data, identifier, data_id):
        return int.from_bytes(data[:2], "little") == self._checksum(data[2:], data_id)

    def protect(self, data, counter, identifier, data_id):
        rest = bytes([counter]) + data[3:]
        return self._checksum(rest, data_id).to_bytes(2, "little") + rest

    def _checksum(self, rest, data_id):
        return crc16(rest + data_id.to_bytes(2, "little"))


class _EndToEnd11:
    """CRC-8 of polynomial 1D in byte 1, the counter in the low half of byte 2; over the data id and what follows."""

    length_min = 2

    def counter(self, data):
        return data[1] & 15

    def is_intact(self, data, identifier, data_id):
        return data[0] == self._checksum(data[1:], data_id)

    def protect(self, data, counter, identifier, data_id):
        rest = bytes([data[1] & 0xF0 | counter]) + data[2:]
        return bytes([self._checksum(rest, data_id)]) + rest

    def _checksum(self, rest, data_id):
        return crc8(data_id.to_bytes(2, "little") + rest)


PROFILES: dict[str, Profile] = {"j1939_tsc1": _Tsc1(), "e2e_5": _EndToEnd5(), "e2e_11": _EndToEnd11()}


def next_counter(profile: str, counter: int) -> int:
    """Returns the counter of the message after the one with `counter`."""
    return (counter + 1) % MODULI[profile]


def crc16(data: bytes) -> int:
    """CRC-16/IBM-3740: polynomial 0x1021, initial value 0xFFFF, most significant bit first."""
    return crc_hqx(data, 0xFFFF)


def crc8(data: bytes) -> int:
    """CRC-8 with the polynomial 0x1D, the initial value 0 and no inversion at the end."""
    table, value = _crc8_table(), 0
    for byte in data:
        value = table[value ^ byte]
    return value


@cache
def _crc8_table() -> tuple[int, ...]:
    """Remainders of the 256 bytes."""
    remainders = []
    for value in range(256):
        for _ in range(8):
            value = (value << 1 ^ 0x1D if value & 0x80 else value << 1) & 0xFF
        remainders.append(value)
    return tuple(remainders)
