"""Colour scales of quantities, and their legends as HTML."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Colour = tuple[int, int, int]  # red, green, blue; 0 to 255

# From dark blue over green to yellow and red: lightness rises, then falls, so that both ends stand out.
STOPS: tuple[Colour, ...] = ((40, 54, 110), (44, 122, 168), (72, 170, 120), (226, 200, 60), (214, 60, 36))
_STEPS = 64  # colours of a scale
_GAMMA = 2.2  # of colours on a screen


@dataclass(frozen=True)
class ColourScale:
    """Colours for values from zero up.

    Attributes:
        name: of the quantity.
        unit: that its legend gives.
        per_unit: of the unit in SI.
        largest: value of the last colour, in SI.
    """

    name: str
    unit: str
    per_unit: float
    largest: float

    def colours(self, values: np.ndarray) -> np.ndarray:
        """Colours of values in SI, (n, 3): red, green and blue from 0 to 255; beyond the scale those of its ends."""
        share = np.clip(np.nan_to_num(values) / self.largest, 0.0, 1.0)
        return _TABLE[np.rint(share * (_STEPS - 1)).astype(np.intp)]

    def colour(self, value: float) -> Colour:
        """Colour of a value in SI."""
        share = 0.0 if math.isnan(value) else min(max(value / self.largest, 0.0), 1.0)
        return _COLOURS[round(share * (_STEPS - 1))]

    def legend(self) -> str:
        """The scale with its quantity and its values, as HTML."""
        stops = ", ".join("#{:02x}{:02x}{:02x}".format(*colour) for colour in _TABLE[:: _STEPS // 9].tolist())
        ticks = "".join(
            f"<span>{_number(share * self.largest / self.per_unit)}{f' {self.unit}' if share == 1.0 else ''}</span>"
            for share in (0.0, 0.5, 1.0)
        )
        return (
            f'<div style="{_TEXT}"><div>{self.name}</div>'
            f'<div style="height:10px;background:linear-gradient(to right, {stops})"></div>'
            f'<div style="display:flex;justify-content:space-between">{ticks}</div></div>'
        )


def linear(colours: np.ndarray) -> np.ndarray:
    """Colours of instances, which the browser takes for linear ones, 0 to 255."""
    return np.rint(255.0 * (colours / 255.0) ** _GAMMA).astype(np.uint8)


def swatches(rows: Sequence[tuple[Colour, str]]) -> str:
    """A legend of single colours, each with its meaning, as HTML."""
    lines = "".join(
        f'<div><span style="display:inline-block;width:10px;height:10px;margin-right:6px;'
        f'background:rgb{colour}"></span>{meaning}</div>'
        for colour, meaning in rows
    )
    return f'<div style="{_TEXT}">{lines}</div>'


_TEXT = "font-size:12px;padding:2px 12px 6px"


def _number(value: float) -> str:
    return f"{value:.3g}"


def _table() -> np.ndarray:
    places = np.linspace(0.0, len(STOPS) - 1, _STEPS)
    channels = [np.interp(places, np.arange(len(STOPS)), channel) for channel in np.array(STOPS, dtype=float).T]
    return np.rint(np.stack(channels, axis=1)).astype(np.uint8)


_TABLE = _table()
_COLOURS: tuple[Colour, ...] = tuple((red, green, blue) for red, green, blue in _TABLE.tolist())
