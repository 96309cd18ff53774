"""Values in Modbus registers: types, words and their order. Pure functions."""

import math
import struct
from collections.abc import Sequence
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
    def last(self) -> int:
        """Address of its last register."""
        return self.register + self.count - 1


def encode(field: RegisterField, value: float) -> tuple[int, ...]:
    """Returns the registers of a value, in the order of their addresses.

    Args:
        field: where it goes.
        value: finite; an integer type gets the nearest one.

    Raises:
        ValueError: the field cannot hold it.
    """
    form, low, high = _FORMS[field.type]
    number = value if field.type == "f32" else (round(value) if math.isfinite(value) else math.nan)
    if not low <= number <= high:
        raise ValueError(f"{value:g} in register {field}: {field.type} holds {low:g} to {high:g}")
    words = struct.unpack(f">{field.count}H", struct.pack(form, number))
    return words if field.word_order == "big" else words[::-1]


def decode(field: RegisterField, words: Sequence[int]) -> float:
    """Returns the value in the registers of a field; an f32 may be infinite or NaN.

    Args:
        field: where they come from.
        words: its registers, in the order of their addresses.
    """
    ordered = words if field.word_order == "big" else words[::-1]
    return struct.unpack(_FORMS[field.type][0], struct.pack(f">{field.count}H", *ordered))[0]
