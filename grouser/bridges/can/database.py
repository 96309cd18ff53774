"""Messages of a CAN database (DBC and other formats that cantools reads)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, isnan
from pathlib import Path
from struct import unpack
from typing import Any

import cantools
from cantools.database.can import Database, Message, Signal

from grouser.bridges.decoded import Decoded, refused

# J1939-71: of an unsigned parameter of so many bits the highest raw values are codes, not measurements. For each
# length: the first raw value that is none, and the range of those that are errors.
_CODES = {
    2: (2, range(2, 3)),
    4: (14, range(14, 15)),
    8: (0xFB, range(0xFE, 0xFF)),
    10: (1001, range(1022, 1023)),
    16: (0xFB00, range(0xFE00, 0xFF00)),
    32: (0xFB000000, range(0xFE000000, 0xFF000000)),
}


def load_database(path: Path) -> Database:
    """Reads a database; its messages are found by name.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no database, or contradicts itself, such as a signal beyond the end of its message.
    """
    try:
        database = cantools.database.load_file(path, database_format=None, strict=True)
    except (cantools.database.Error, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(database, Database):
        raise ValueError(f"{path}: describes diagnostics, not messages")
    return database


@dataclass(frozen=True)
class DatabaseField:
    """A signal of a message.

    Attributes:
        signal: of the database.
        codes: of J1939-71 for its length, as in `_CODES`; None: it has none.
    """

    signal: Signal
    codes: tuple[int, range] | None = None

    @cached_property
    def limits(self) -> tuple[float, float] | None:
        """Physical values that it can hold beside codes; None for a float."""
        signal = self.signal
        if signal.is_float:
            return None
        if signal.is_signed:
            raw = (-(1 << signal.length - 1), (1 << signal.length - 1) - 1)
        else:
            raw = (0, (self.codes[0] if self.codes else 1 << signal.length) - 1)
        low, high = sorted(self.physical(value) for value in raw)
        return low, high

    def physical(self, raw: float) -> float:
        """The physical value of a raw one."""
        return float(self.signal.conversion.raw_to_scaled(raw, False))  # type: ignore[arg-type]

    def raw(self, value: float | None) -> float | None:
        """The raw value of a physical one: None is not available, NaN an error.

        Returns:
            None for NaN where there is no code for it.

        Raises:
            ValueError: outside `limits`.
        """
        if value is None:
            return (1 << self.signal.length) - 1 if self.codes else 0
        if isnan(value):
            return self.codes[1].start if self.codes else None
        raw = self.signal.conversion.numeric_scaled_to_raw(value)
        if self.limits is not None and not self.limits[0] <= self.physical(raw) <= self.limits[1]:
            raise ValueError(f"value {value}, valid is {self.limits[0]:g} to {self.limits[1]:g}")
        return raw

    @property
    def mask(self) -> int:
        """Its bits; the least significant one is that of the first byte."""
        bit, mask = self.signal.start, 0
        for _ in range(self.signal.length):
            mask |= 1 << bit
            if self.signal.byte_order == "little_endian":
                bit += 1
            else:  # from the most significant bit on; the next byte begins with its highest
                bit += -1 if bit % 8 else 15
        return mask

    def __str__(self) -> str:
        return self.signal.name


@dataclass(frozen=True)
class _Place:
    """Where the bits of a signal are in the bytes of its message, taken as one number.

    cantools decodes any message; this one, made for a message once, takes a third of its time.

    Attributes:
        is_little: the number's least significant byte is the first one; else the last one.
        shift: of its lowest bit.
        ones: its bits, from bit 0 on.
        top: its sign bit, of a signed one, from bit 0 on; else 0.
        form: of a float for `struct`; "": it is whole.
    """

    is_little: bool
    shift: int
    ones: int
    top: int
    form: str

    def raw_in(self, number: int) -> float:
        """The raw value."""
        bits = number >> self.shift & self.ones
        if self.form:
            return unpack(self.form, bits.to_bytes(self.ones.bit_length() // 8, "big"))[0]
        return (bits ^ self.top) - self.top


def _place_of(signal: Signal, length: int) -> _Place:
    is_little = signal.byte_order == "little_endian"
    byte, bit = divmod(signal.start, 8)
    shift = signal.start if is_little else 8 * (length - byte) - 8 + bit + 1 - signal.length
    form = {16: ">e", 32: ">f", 64: ">d"}[signal.length] if signal.is_float else ""
    return _Place(is_little, shift, (1 << signal.length) - 1, 1 << signal.length - 1 if signal.is_signed else 0, form)


@dataclass(frozen=True)
class DatabaseCodec:
    """A message of a database.

    Attributes:
        message: of the database, without multiplexing.
        has_codes: whether the highest raw values of unsigned signals are the codes of J1939-71.
    """

    message: Message
    has_codes: bool

    @property
    def length(self) -> int:
        """Of the message [bytes]."""
        return self.message.length

    @cached_property
    def fields(self) -> Mapping[str, DatabaseField]:
        """Signals by name."""
        return {signal.name: DatabaseField(signal, self._codes(signal)) for signal in self.message.signals}

    @cached_property
    def _places(self) -> list[tuple[str, DatabaseField, _Place]]:
        return [(name, field, _place_of(field.signal, self.length)) for name, field in self.fields.items()]

    def decode(self, data: bytes) -> Decoded:
        """Physical values by signal; a message of another length is refused."""
        if len(data) != self.message.length:
            return refused("length")
        values: dict[str, float] = {}
        errors, absent = set(), set()
        little, big = int.from_bytes(data, "little"), int.from_bytes(data, "big")
        for name, field, place in self._places:
            number = place.raw_in(little if place.is_little else big)
            if field.codes is not None and number >= field.codes[0]:
                (errors if number in field.codes[1] else absent).add(name)
            elif isfinite(number):
                values[name] = field.physical(number)
            else:
                absent.add(name)
        return Decoded(values, frozenset(errors), frozenset(absent))

    def encode(self, values: Mapping[str, float]) -> bytes | None:
        """The bytes of a message.

        Args:
            values: physical, by signal. A missing one is sent as not available where there are codes, else as the raw
                value 0; one that is not a number as an error.

        Returns:
            None where a value is not a number and there is no code for that.

        Raises:
            ValueError: a value that its signal cannot hold; names the signal.
        """
        raw: dict[str, Any] = {}
        for name, field in self.fields.items():
            try:
                raw[name] = field.raw(values.get(name))
            except ValueError as error:
                raise ValueError(f"field {name}: {error}") from None
        if None in raw.values():
            return None
        return self.message.encode(raw, scaling=False, padding=self.has_codes, strict=False)

    def _codes(self, signal: Signal) -> tuple[int, range] | None:
        is_coded = self.has_codes and not signal.is_signed and not signal.is_float
        return _CODES.get(signal.length) if is_coded else None
