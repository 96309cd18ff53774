"""Places for the names of lines, and for values that a page writes: beside the line or element, on nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np

from grouser.circuit_drawing import shapes
from grouser.circuit_drawing.cells import Placed
from grouser.circuit_drawing.geometry import LineShape

T = TypeVar("T")
SIZE = 8.0
_HEIGHT, _CLEAR, _STRIDE = 9.0, 1.5, 7.0


# Widest values that have room: of a line, and of an element.
LINE_VALUE, ELEMENT_VALUE = "8888 bar 888.8 l/min", "888.8 l/min"
# Elements that have a value: the position of a spool, or a flow.
_VALUED = ("valves", "pumps", "cylinders", "hydraulic_motors")

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Label:
    """A text: its lower left corner; it reads upwards if `upright`."""

    x: float
    y: float
    upright: bool = False


class Labels:
    """Places of texts on the paper that cells and lines leave free.

    Args:
        rows: cells with their places.
        lines: shapes of the lines.
    """

    def __init__(self, rows: Sequence[Sequence[Placed]], lines: Mapping[str, LineShape]) -> None:
        self._cells = [placed for row in rows for placed in row if placed.cell.field]
        # The shortest first: they have the fewest places.
        self._lines = dict(sorted(lines.items(), key=lambda entry: _length(entry[1])))
        self._taken: list[Box] = [
            (placed.x, placed.y, placed.x + placed.cell.width, placed.y + placed.cell.height) for placed in self._cells
        ]
        for line in lines.values():
            for part in line.segments:
                (x0, x1), (y0, y1) = sorted((part.x0, part.x1)), sorted((part.y0, part.y1))
                self._taken.append((x0 - _CLEAR, y0 - _CLEAR, x1 + _CLEAR, y1 + _CLEAR))

    def names(self) -> dict[str, Label]:
        """Returns a place for the name of each line that has room: along its longest part, else beside another one."""
        return self._first({net: _places(shapes.text_width(net, SIZE), line) for net, line in self._lines.items()})

    def line_values(self, names: Mapping[str, Label]) -> dict[str, Label]:
        """Returns a place for the values of each line that has room: at its name, else likewise."""
        width = shapes.text_width(LINE_VALUE, SIZE)
        return self._first(
            {
                net: chain(_at_name(names[net], width) if net in names else (), _places(width, line))
                for net, line in self._lines.items()
            }
        )

    def element_values(self) -> dict[Placed, Label]:
        """Returns a place for the value of each element that has one and room."""
        width = shapes.text_width(ELEMENT_VALUE, SIZE)
        return self._first({one: _around(one, width) for one in self._cells if one.cell.field in _VALUED})

    def _first(self, wanted: Mapping[T, Iterator[tuple[Label, Box]]]) -> dict[T, Label]:
        """The first free place of each, which is taken from then on."""
        labels = {}
        for owner, places in wanted.items():
            boxes = np.array(self._taken)
            for label, (x0, y0, x1, y1) in places:
                hit = (boxes[:, 0] < x1) & (boxes[:, 2] > x0) & (boxes[:, 1] < y1) & (boxes[:, 3] > y0)
                if not hit.any():
                    self._taken.append((x0, y0, x1, y1))
                    labels[owner] = label
                    break
        return labels


def _length(line: LineShape) -> float:
    return sum(abs(part.x1 - part.x0) + abs(part.y1 - part.y0) for part in line.segments)


def _at_name(name: Label, width: float) -> Iterator[tuple[Label, Box]]:
    """Labels above and below the name of a line, with their rectangles."""
    for way in (-_HEIGHT, _HEIGHT) if not name.upright else ():
        label = Label(name.x, name.y + way)
        yield label, (label.x, label.y + 2 - _HEIGHT, label.x + width, label.y + 2)


def _around(placed: Placed, width: float) -> Iterator[tuple[Label, Box]]:
    """Labels along the sides of a cell, with their rectangles."""
    left, right = placed.x, placed.x + placed.cell.width
    top, bottom = placed.y, placed.y + placed.cell.height
    for x in _steps(left, right, width):
        for y in (bottom, top - _HEIGHT):
            yield Label(x, y + _HEIGHT - 2), (x, y, x + width, y + _HEIGHT)
    for y in _steps(top, bottom, _HEIGHT):
        for x in (right + 2, left - 2 - width):
            yield Label(x, y + _HEIGHT - 2), (x, y, x + width, y + _HEIGHT)


def _places(width: float, line: LineShape) -> Iterator[tuple[Label, Box]]:
    """Labels of a width in the order of preference, with their rectangles."""
    flat = sorted((part for part in line.segments if part.y0 == part.y1), key=lambda part: -abs(part.x1 - part.x0))
    steep = sorted((part for part in line.segments if part.x0 == part.x1), key=lambda part: -abs(part.y1 - part.y0))
    for part in flat:
        for x in _steps(part.x0, part.x1, width):
            for y in (part.y0 - _CLEAR, part.y0 + _HEIGHT + _CLEAR):
                yield Label(x, y - 2), (x, y - _HEIGHT, x + width, y)
    for part in steep:
        for y in _steps(part.y0, part.y1, _HEIGHT):
            for x in (part.x0 + 3, part.x0 - 3 - width):
                yield Label(x, y + _HEIGHT - 2), (x, y, x + width, y + _HEIGHT)
    for part in steep:
        for y in _steps(part.y0, part.y1, width):
            for x in (part.x0 + 2 + _HEIGHT, part.x0 - 2):
                yield Label(x - 2, y + width, True), (x - _HEIGHT, y, x, y + width)


def _steps(start: float, end: float, room: float) -> Iterator[float]:
    """Where something of a length may begin along a part of a line, from its middle outwards."""
    low, high = sorted((start, end))
    middle = 0.5 * (low + high - room)
    yield middle
    for number in range(1, int(0.5 * max(high - low - room, 0.0) / _STRIDE) + 1):
        yield middle + number * _STRIDE
        yield middle - number * _STRIDE
