"""Axes and buttons as fields of a mapping: calibration, dead band and curve."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Rest = Literal["middle", "low"]


@dataclass(frozen=True)
class AxisRange:
    """Raw values of an axis, as the device or the mapping says."""

    low: int
    high: int


@dataclass(frozen=True)
class AxisField:
    """An axis.

    Attributes:
        name: in the mapping: ``ABS_X``, with its side where it has one.
        code: of the event.
        rest: where the axis is when nobody touches it: in the middle, or at its low end as a trigger.
        side: "" or the half that counts, ``negative`` or ``positive``: a cross whose halves are buttons.
        low, centre, high: calibration, raw; None: low and high as the device says, the centre in their middle, the
            upper of two.
        dead_band: share of the way that counts as none, in [0, 1); the rest is stretched.
        exponent: of the way, > 0: above 1 it is finer near the middle.
        inverted: whether the sign turns.
    """

    name: str
    code: int
    rest: Rest = "middle"
    side: str = ""
    low: int | None = None
    centre: int | None = None
    high: int | None = None
    dead_band: float = 0.0
    exponent: float = 1.0
    inverted: bool = False

    @property
    def limits(self) -> tuple[float, float]:
        """-1 to 1, or 0 to 1 of an axis that has one direction."""
        return (0.0, 1.0) if self.side or self.rest == "low" else (-1.0, 1.0)

    def value(self, raw: int, device: AxisRange) -> float:
        """Returns the deflection, in `limits`."""
        low = device.low if self.low is None else self.low
        high = device.high if self.high is None else self.high
        if self.rest == "low":
            share = (raw - low) / (high - low) if high > low else 0.0
            share = 1.0 - share if self.inverted else share
            return self._shaped(max(share, 0.0))
        centre = (low + high + 1) // 2 if self.centre is None else self.centre
        half = high - centre if raw >= centre else centre - low
        share = (raw - centre) / half if half > 0 else 0.0
        share = self._shaped(-share if self.inverted else share)
        return max(0.0, share if self.side == "positive" else -share) if self.side else share

    def _shaped(self, share: float) -> float:
        beyond = (min(abs(share), 1.0) - self.dead_band) / (1.0 - self.dead_band)
        return math.copysign(beyond**self.exponent, share) if beyond > 0.0 else 0.0

    def __str__(self) -> str:
        return f"{self.name} {self.side}" if self.side else self.name


@dataclass(frozen=True)
class ButtonField:
    """A button: 0, or 1 while it is pressed."""

    name: str
    code: int

    @property
    def limits(self) -> tuple[float, float]:
        """0 and 1."""
        return 0.0, 1.0

    def __str__(self) -> str:
        return self.name


# Fields of what is sent: the heavy and the light motor of a pad; and forces, with the kernel's directions of effects.
RUMBLES = ("rumble_strong", "rumble_weak")
FORCES = {"force_x": 0xC000, "force_y": 0x0000}


@dataclass(frozen=True)
class FeedbackField:
    """Strength of a motor, of `RUMBLES` or `FORCES`."""

    name: str

    @property
    def limits(self) -> tuple[float, float]:
        """0 to 1 of a rumble, -1 to 1 of a force."""
        return (0.0 if self.name in RUMBLES else -1.0), 1.0

    def __str__(self) -> str:
        return self.name


JoystickField = AxisField | ButtonField


def values_of(
    fields: tuple[JoystickField, ...],
    axes: Mapping[int, int],
    buttons: Mapping[int, bool],
    ranges: Mapping[int, AxisRange],
) -> dict[str, float]:
    """Returns the values of fields by name.

    Args:
        fields: of a message.
        axes: code -> raw value of the axes that are known; others are at rest.
        buttons: code -> whether it is pressed; others are not.
        ranges: code -> range of the device's axes.
    """
    values = {}
    for field in fields:
        if isinstance(field, ButtonField):
            values[str(field)] = float(buttons.get(field.code, False))
        elif field.code in axes and field.code in ranges:
            values[str(field)] = field.value(axes[field.code], ranges[field.code])
        else:
            values[str(field)] = 0.0
    return values
