"""Values in Modbus registers: types, words and their order. Pure functions."""

import struct
from dataclasses import dataclass
from typing import Literal

WordOrder = Literal["big", "little"]
ADDRESS_MAX = 65535
READ_MAX = 125  # registers of one read request
WRITE_MAX = 123  # registers of one write request

# Of each type its form in bytes, big endian, and the values that it holds.
_FORMS: dict[str, tuple[str, float, float]] = {
    "u16": (">H", 0, 2**16 - 1),
    "i16": (">h", -(2**15), 2**15 - 1),
    "u32": (">I", 0, 2**32 - 1),
    "i32": (">i", -(2**31), 2**31 - 1),
    "f32": (">f", -(2.0 - 2.0**-23) * 2.0**127, (2.0 - 2.0**-23) * 2.0**127),
}
TYPES = tuple(_FORMS)


@dataclass(frozen=True)
class RegisterField:
    """A value in one or two registers.

    Attributes:
        register: address of the first, from 0, as it travels in a request.
        type: u16, i16, u32, i32 or f32.
        word_order: which word of 32 bits has the lower address: ``big``, the high one; ``little``, the low one.
    """

    register: int
    type: str = "i16"
    word_order: WordOrder = "big"

    def __str__(self) -> str:
        return str(self.register)

    @property
    def limits(self) -> tuple[float, float]:
        """Values that it can hold."""
        _, low, high = _FORMS[self.type]
        return low, high

    @property
    def count(self) -> int:
        """Number of its registers."""
        return struct.calcsize(_FORMS[self.type][0]) // 2

    @property
    def is_swapped(self) -> bool:
        """Whether the low word comes first."""
        return self.word_order == "little" and self.count == 2

    @property
    def last(self) -> int:
        """Address of its last register."""
        return self.register + self.count - 1


def form_of(field: RegisterField) -> str:
    """How `struct` has the registers of a field, big endian: of a swapped one as the number `to_swapped` makes."""
    return "I" if field.is_swapped else _FORMS[field.type][0][1:]


def to_swapped(field: RegisterField, number: float) -> int:
    """The bits of a number of a field whose low word comes first, as a u32 whose high word comes first."""
    (bits,) = struct.unpack(">I", struct.pack(_FORMS[field.type][0], number))
    return bits << 16 & 0xFFFFFFFF | bits >> 16


def from_swapped(field: RegisterField, bits: int) -> float:
    """The number of `to_swapped`; an f32 may be infinite or NaN."""
    return struct.unpack(_FORMS[field.type][0], struct.pack(">I", bits << 16 & 0xFFFFFFFF | bits >> 16))[0]
