"""What plots of experiments share: reference curves in contrast and with their tolerance, and zooms of dense curves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

_FEW = 40  # Points up to this number are drawn as markers, more as a line.
_GAP = 20.0  # times the smaller distance of the neighbours: no line joins samples that are so far apart.
_COLOR = "black"


@dataclass(frozen=True)
class ReferenceTable:
    """Reference values in columns.

    Attributes:
        columns: by name; the names of an experiment are those of its `REFERENCE`.
        tolerance: half the width of the band around a column in its unit, where one is known.
    """

    columns: Mapping[str, np.ndarray]
    tolerance: Mapping[str, np.ndarray] = field(default_factory=dict)


Reference = tuple[ReferenceTable, ...]


def draw_reference(
    panel: Any, reference: Reference, across: str, name: str, scale: float = 1.0, across_scale: float = 1.0
) -> bool:
    """Draws a column of the reference over another one, from each table that has both.

    Args:
        panel: matplotlib axes.
        reference: tables, or none.
        across: name of the column along x.
        name: name of the column along y.
        scale: factor from the column's unit to that of the axis.
        across_scale: the same for x.

    Returns:
        Whether there was something to draw.
    """
    labelled = any(text == "reference" for text in panel.get_legend_handles_labels()[1])
    drawn = False
    for table in reference:
        if not {across, name} <= set(table.columns):
            continue
        x, y = across_scale * table.columns[across], scale * table.columns[name]
        half = abs(scale) * table.tolerance[name] if name in table.tolerance else None
        for part in _unbroken(next(iter(table.columns.values()))):
            label = None if labelled or drawn else "reference"
            band = None if half is None else half[part]
            if part.stop - part.start > _FEW:
                panel.plot(x[part], y[part], "--", color=_COLOR, linewidth=0.9, label=label, zorder=3)
                if band is not None:
                    edges = y[part] - band, y[part] + band
                    panel.fill_between(x[part], *edges, color=_COLOR, alpha=0.15, linewidth=0.0)
            else:
                style = {"markersize": 8, "markeredgewidth": 1.2, "linewidth": 1.0, "capsize": 3, "zorder": 3}
                panel.errorbar(x[part], y[part], band, fmt="+", color=_COLOR, label=label, **style)
            drawn = True
    return drawn


def _unbroken(places: np.ndarray) -> list[slice]:
    """Parts of a sampled curve that lines may join: where samples are much farther apart than around it, one ends."""
    ways = np.abs(np.diff(places))
    if len(ways) < 3:
        return [slice(0, len(places))]
    around = np.minimum(np.append(ways[1:], np.inf), np.insert(ways[:-1], 0, np.inf))
    ends = [0, *(np.flatnonzero(ways > _GAP * around) + 1).tolist(), len(places)]
    return [slice(start, end) for start, end in pairwise(ends)]


def zoom(panel: Any, start: float, end: float) -> None:
    """Shows a part of the lines of a panel again, enlarged, in a corner of it.

    Args:
        panel: matplotlib axes whose lines are drawn.
        start: of the part along x.
        end: of it.
    """
    inset = panel.inset_axes((0.4, 0.07, 0.57, 0.4))
    for line in panel.get_lines():
        x, y = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
        part = (x >= start) & (x <= end)
        inset.plot(x[part], y[part], line.get_linestyle(), color=line.get_color(), linewidth=0.9)
    inset.set_xlim(start, end)
    inset.tick_params(labelsize="x-small")
    inset.set_title(f"{start:.4g} to {end:.4g}", fontsize="x-small", pad=2.0)
