"""Joystick messages of J1939-71: basic (BJM) and extended (EJM), both ways.

Layout, codes and repetition after the manuals of Danfoss JS6000 and JS1-H, Akron 6032 and Omnex R170. Bits count from
the least significant one of byte 1. An axis is a word of 16 bits: three statuses of two bits (neutral; left, back or
counterclockwise; right, forward or clockwise) and a position of 10 bits in thousandths. Right, forward and clockwise
are positive. A status is 0 no, 1 yes, 2 error, 3 not available; a position of 1022 is an error, 1023 not available.

Field names: BJM has `x`, `y`, `x_detent`, `y_detent` and `button_1` to `button_12`; EJM has `x` and `y` of the grip,
`theta`, `x_detent` and `y_detent`. Axes are in [-1, 1], detents and buttons 0 or 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, isnan

from grouser.bridges.decoded import Decoded, refused

LENGTH = 8  # [bytes]
PRIORITY = 3
REPETITION = 0.1  # [s] while nothing changes
CHANGE_REPETITION = 0.02  # [s], the shortest between two messages

# Parameter group numbers of BJM1 to BJM10 and EJM1 to EJM10.
BJM_PGNS = (64982, 64984, 64986, 64816, 64814, 64812, 64810, 64808, 64806, 64804)
EJM_PGNS = (64983, 64985, 64987, 64815, 64813, 64811, 64809, 64807, 64805, 64803)

# Suspect parameter numbers (SPN) of the axes of BJM1 and EJM1.
AXIS_SPNS = {
    (BJM_PGNS[0], "x"): 2660,
    (BJM_PGNS[0], "y"): 2661,
    (EJM_PGNS[0], "x"): 2662,
    (EJM_PGNS[0], "y"): 2663,
    (EJM_PGNS[0], "theta"): 2664,
}

# First bit of each field in the message.
BJM_AXES = {"x": 0, "y": 16}
EJM_AXES = {"x": 0, "y": 16, "theta": 32}
BJM_STATUSES = {
    "y_detent": 36,
    "x_detent": 38,
    **{f"button_{number}": 40 + 8 * ((number - 1) // 4) + 6 - 2 * ((number - 1) % 4) for number in range(1, 13)},
}
EJM_STATUSES = {"y_detent": 52, "x_detent": 54}

_NO, _YES, _ERROR, _ABSENT = range(4)
_FULL_POSITION = 1000
_ERROR_POSITION = 1022
_ABSENT_POSITION = 1023
_ERROR_AXIS = _ERROR | _ERROR << 2 | _ERROR << 4 | _ERROR_POSITION << 6


def layout_of(pgn: int) -> str | None:
    """Name of the layout that a parameter group has by its definition, `bjm` or `ejm`; None for other groups."""
    return "bjm" if pgn in BJM_PGNS else "ejm" if pgn in EJM_PGNS else None


def read_axis(word: int) -> float | str:
    """Position of an axis in [-1, 1]; or "error", "absent", or why the word is refused.

    Three statuses and a position can contradict each other. Only a word that is consistent is a position: 2001 of the
    65536 words are.

    Args:
        word: 16 bits, the first byte in the lower half.
    """
    neutral, negative, positive = word & 3, word >> 2 & 3, word >> 4 & 3
    position = word >> 6
    statuses = (neutral, negative, positive)
    if statuses == (_ABSENT, _ABSENT, _ABSENT) and position == _ABSENT_POSITION:
        return "absent"
    if _ERROR in statuses or position == _ERROR_POSITION:
        return "error"
    if position > _FULL_POSITION:
        return "axis position reserved"
    if _ABSENT in statuses:
        return "axis status not available"
    if sum(statuses) != 1:
        return "axis statuses contradict"
    if neutral and position:
        return "axis neutral while deflected"
    if not neutral and not position:
        return "axis deflected at position 0"
    return (-position if negative else position) / _FULL_POSITION


def write_axis(value: float | None) -> int:
    """The 16 bits of an axis.

    Args:
        value: in [-1, 1], rounded to thousandths; not a number for an error, None for an axis that there is not.

    Raises:
        ValueError: outside [-1, 1].
    """
    if value is None:
        return 0xFFFF
    if isnan(value):
        return _ERROR_AXIS
    position = round(value * _FULL_POSITION) if isfinite(value) else _ABSENT_POSITION
    if abs(position) > _FULL_POSITION:
        raise ValueError(f"axis {value}: valid is -1 to 1")
    return (position == 0) | (position < 0) << 2 | (position > 0) << 4 | abs(position) << 6


def decode_joystick(data: bytes, layout: str) -> Decoded:
    """Fields of a joystick message.

    Args:
        data: 8 bytes; another length is refused.
        layout: `bjm` or `ejm`.

    Returns:
        refused as a whole if one axis is refused, because such a sender is broken.
    """
    axes, statuses = _fields(layout)
    if len(data) != LENGTH:
        return refused("length")
    bits = int.from_bytes(data, "little")
    values: dict[str, float] = {}
    codes: dict[str, set[str]] = {"error": set(), "absent": set()}
    for name, first in axes.items():
        position = read_axis(bits >> first & 0xFFFF)
        if not isinstance(position, str):
            values[name] = position
        elif position in codes:
            codes[position].add(name)
        else:
            return refused(position)
    for name, first in statuses.items():
        status = bits >> first & 3
        if status in (_NO, _YES):
            values[name] = float(status)
        else:
            codes["error" if status == _ERROR else "absent"].add(name)
    return Decoded(values, frozenset(codes["error"]), frozenset(codes["absent"]))


def encode_joystick(values: Mapping[str, float], layout: str) -> bytes:
    """The 8 bytes of a joystick message; bits without a meaning are 1.

    Args:
        values: by field; a missing field is sent as not available, one that is not a number as an error. Detents and
            buttons count as pressed from 0.5 on.
        layout: `bjm` or `ejm`.

    Raises:
        ValueError: an unknown field, or an axis outside [-1, 1].
    """
    axes, statuses = _fields(layout)
    unknown = sorted(set(values) - set(axes) - set(statuses))
    if unknown:
        raise ValueError(f"field {unknown[0]}: {layout} has {', '.join((*axes, *statuses))}")
    bits = 0xFFFFFFFFFFFFFFFF
    for name, first in axes.items():
        bits &= ~(0xFFFF << first)
        bits |= write_axis(values.get(name)) << first
    for name, first in statuses.items():
        bits &= ~(3 << first)
        bits |= _write_status(values.get(name)) << first
    return bits.to_bytes(LENGTH, "little")


def field_names(layout: str) -> tuple[str, ...]:
    """Fields of a layout, `bjm` or `ejm`."""
    axes, statuses = _fields(layout)
    return (*axes, *statuses)


@dataclass(frozen=True)
class JoystickMessageField:
    """An axis, detent or button.

    Attributes:
        name: in its layout.
        limits: values that it can hold.
        mask: its bits; the least significant one is that of the first byte.
    """

    name: str
    limits: tuple[float, float]
    mask: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class JoystickCodec:
    """The codec of a layout.

    Attributes:
        layout: `bjm` or `ejm`.
        length: of a message [bytes].
    """

    layout: str
    length: int = LENGTH

    @cached_property
    def fields(self) -> dict[str, JoystickMessageField]:
        """Fields by name."""
        axes, statuses = _fields(self.layout)
        fields = {name: JoystickMessageField(name, (-1.0, 1.0), 0xFFFF << first) for name, first in axes.items()}
        return fields | {name: JoystickMessageField(name, (0.0, 1.0), 3 << first) for name, first in statuses.items()}

    def decode(self, data: bytes) -> Decoded:
        """As `decode_joystick`."""
        return decode_joystick(data, self.layout)

    def encode(self, values: Mapping[str, float]) -> bytes:
        """As `encode_joystick`."""
        return encode_joystick(values, self.layout)


def _fields(layout: str) -> tuple[dict[str, int], dict[str, int]]:
    return {"bjm": (BJM_AXES, BJM_STATUSES), "ejm": (EJM_AXES, EJM_STATUSES)}[layout]


def _write_status(value: float | None) -> int:
    if value is None:
        return _ABSENT
    if isnan(value):
        return _ERROR
    return _YES if value >= 0.5 else _NO
