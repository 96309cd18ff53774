"""Fields of fixed places and types in the bytes of a message, for protocols without a database.

A type is written ``u8``, ``i16``, ``f32``: unsigned, signed (two's complement) or floating, with the number of bits;
``be`` after it means most significant byte first. Integers have 1 to 64 bits and may begin at any bit; those with
``be``, and floats, fill whole bytes. Bits count from the least significant one of the first byte.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, isnan, nextafter

from grouser.bridges.decoded import Decoded, refused

_TYPE = re.compile(r"([uif])([1-9][0-9]?)(be)?")
_FLOATS = {32: "f", 64: "d"}


@dataclass(frozen=True)
class FieldType:
    """How bits are a number.

    Attributes:
        kind: ``u`` unsigned, ``i`` signed, ``f`` floating.
        bits: length.
        is_big_endian: most significant byte first.
    """

    kind: str
    bits: int
    is_big_endian: bool = False

    @classmethod
    def parse(cls, text: str) -> FieldType:
        """The type with a name such as ``u8`` or ``f32be``.

        Raises:
            ValueError: no such type; says what is valid.
        """
        match = _TYPE.fullmatch(text)
        if match:
            kind, bits, is_big_endian = match[1], int(match[2]), bool(match[3])
            if (bits in _FLOATS if kind == "f" else bits <= 64) and (bits % 8 == 0 or not is_big_endian):
                return cls(kind, bits, is_big_endian)
        raise ValueError(f"type {text}: valid is u or i with 1 to 64 bits, f32 or f64; be after it for whole bytes")

    @property
    def limits(self) -> tuple[float, float] | None:
        """Lowest and highest value, the nearest floats within; None: any float."""
        if self.kind == "f":
            return None
        lowest, highest = self._integers
        nearest = float(highest)
        return float(lowest), nearest if nearest <= highest else nextafter(nearest, 0.0)

    @property
    def _integers(self) -> tuple[int, int]:
        """Lowest and highest integer of `u` and `i`."""
        return (0, (1 << self.bits) - 1) if self.kind == "u" else (-(1 << self.bits - 1), (1 << self.bits - 1) - 1)

    def read(self, raw: int) -> float:
        """The number whose bits are `raw`, first byte lowest."""
        if self.is_big_endian:
            raw = int.from_bytes(raw.to_bytes(self.bits // 8, "little"), "big")
        if self.kind == "f":
            return struct.unpack("<" + _FLOATS[self.bits], raw.to_bytes(self.bits // 8, "little"))[0]
        if self.kind == "i" and raw >> self.bits - 1:
            raw -= 1 << self.bits
        return float(raw)

    def write(self, value: float) -> int:
        """The bits of a number, first byte lowest; integers are rounded.

        Raises:
            ValueError: outside `limits`, or not a finite number.
        """
        if not isfinite(value):
            raise ValueError(f"value {value}: valid are finite numbers")
        if self.kind == "f":
            try:
                raw = int.from_bytes(struct.pack("<" + _FLOATS[self.bits], value), "little")
            except OverflowError:
                raise ValueError(f"value {value}: does not fit f{self.bits}") from None
        else:
            lowest, highest = self._integers
            number = round(value)
            if not lowest <= number <= highest:
                raise ValueError(f"value {value}: valid is {lowest} to {highest}")
            raw = number & (1 << self.bits) - 1
        if self.is_big_endian:
            raw = int.from_bytes(raw.to_bytes(self.bits // 8, "little"), "big")
        return raw


@dataclass(frozen=True)
class PackedField:
    """A field at its place.

    Attributes:
        name: unique in its layout.
        first_bit: from the least significant bit of the first byte.
        type: how its bits are a number.
    """

    name: str
    first_bit: int
    type: FieldType

    @property
    def limits(self) -> tuple[float, float] | None:
        """Values that it can hold; None: any float."""
        return self.type.limits

    @property
    def mask(self) -> int:
        """Its bits; the least significant one is that of the first byte."""
        return (1 << self.type.bits) - 1 << self.first_bit

    def __str__(self) -> str:
        return self.name


class PackedLayout:
    """The fields of a message.

    Args:
        fields: their places may leave gaps, which are sent as `filler` and not looked at when received.
        length: of the message [bytes]; None: just long enough.
        filler: the bit in gaps, 0 or 1.

    Raises:
        ValueError: two fields overlap, or one lies outside the message.
    """

    def __init__(self, fields: tuple[PackedField, ...], length: int | None = None, filler: int = 0) -> None:
        needed = max((field.first_bit + field.type.bits for field in fields), default=0)
        self.length = -(-needed // 8) if length is None else length
        self.fields = {field.name: field for field in fields}
        self._empty = (1 << 8 * self.length) - 1 if filler else 0
        taken = 0
        for field in fields:
            mask = field.mask
            if field.type.is_big_endian and field.first_bit % 8:
                raise ValueError(f"field {field.name}: bit {field.first_bit}, a type with be begins at a whole byte")
            if taken & mask:
                raise ValueError(f"field {field.name}: bits {field.first_bit} and on are another field's as well")
            if mask >> 8 * self.length:
                raise ValueError(f"field {field.name}: ends after the {self.length} bytes of the message")
            taken |= mask

    def decode(self, data: bytes) -> Decoded:
        """Values by field; a message of another length is refused."""
        if len(data) != self.length:
            return refused("length")
        bits = int.from_bytes(data, "little")
        values = {}
        absent = set()
        for name, field in self.fields.items():
            value = field.type.read(bits >> field.first_bit & (1 << field.type.bits) - 1)
            if isfinite(value):
                values[name] = value
            else:
                absent.add(name)
        return Decoded(values, absent=frozenset(absent))

    def encode(self, values: Mapping[str, float]) -> bytes | None:
        """The bytes of a message; fields without a value are as gaps.

        Returns:
            None where a value is not a number, for which there is no code.

        Raises:
            ValueError: a value that its field cannot hold; names the field.
            KeyError: no such field.
        """
        if any(isnan(value) for value in values.values()):
            return None
        bits = self._empty
        for name, value in values.items():
            field = self.fields[name]
            try:
                raw = field.type.write(value)
            except ValueError as error:
                raise ValueError(f"field {name}: {error}") from None
            bits &= ~((1 << field.type.bits) - 1 << field.first_bit)
            bits |= raw << field.first_bit
        return bits.to_bytes(self.length, "little")
