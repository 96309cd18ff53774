"""Places for the names of lines: beside the line, on nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grouser.circuit_drawing import shapes
from grouser.circuit_drawing.cells import Placed
from grouser.circuit_drawing.geometry import LineShape

SIZE = 8.0
_HEIGHT, _CLEAR, _STRIDE = 9.0, 1.5, 7.0


@dataclass(frozen=True)
class Label:
    """The name of a line: lower left corner of its text, which reads upwards if `upright`."""

    net: str
    x: float
    y: float
    upright: bool = False


def line_labels(rows: Sequence[Sequence[Placed]], lines: Mapping[str, LineShape]) -> list[Label]:
    """Returns a label for each line that has room for one: along its longest part, else beside another one."""
    taken = [
        (placed.x, placed.y, placed.x + placed.cell.width, placed.y + placed.cell.height)
        for row in rows
        for placed in row
        if placed.cell.field
    ]
    for line in lines.values():
        for part in line.segments:
            (x0, x1), (y0, y1) = sorted((part.x0, part.x1)), sorted((part.y0, part.y1))
            taken.append((x0 - _CLEAR, y0 - _CLEAR, x1 + _CLEAR, y1 + _CLEAR))
    labels = []
    # The shortest first: they have the fewest places.
    for net, line in sorted(lines.items(), key=lambda entry: _length(entry[1])):
        boxes = np.array(taken)
        for label, (x0, y0, x1, y1) in _places(net, line):
            hit = (boxes[:, 0] < x1) & (boxes[:, 2] > x0) & (boxes[:, 1] < y1) & (boxes[:, 3] > y0)
            if not hit.any():
                taken.append((x0, y0, x1, y1))
                labels.append(label)
                break
    return labels


def _length(line: LineShape) -> float:
    return sum(abs(part.x1 - part.x0) + abs(part.y1 - part.y0) for part in line.segments)


def _places(net: str, line: LineShape) -> Iterator[tuple[Label, tuple[float, float, float, float]]]:
    """Labels in the order of preference, with their rectangles."""
    width = shapes.text_width(net, SIZE)
    flat = sorted((part for part in line.segments if part.y0 == part.y1), key=lambda part: -abs(part.x1 - part.x0))
    steep = sorted((part for part in line.segments if part.x0 == part.x1), key=lambda part: -abs(part.y1 - part.y0))
    for part in flat:
        for x in _steps(part.x0, part.x1, width):
            for y in (part.y0 - _CLEAR, part.y0 + _HEIGHT + _CLEAR):
                yield Label(net, x, y - 2), (x, y - _HEIGHT, x + width, y)
    for part in steep:
        for y in _steps(part.y0, part.y1, _HEIGHT):
            for x in (part.x0 + 3, part.x0 - 3 - width):
                yield Label(net, x, y + _HEIGHT - 2), (x, y, x + width, y + _HEIGHT)
    for part in steep:
        for y in _steps(part.y0, part.y1, width):
            for x in (part.x0 + 2 + _HEIGHT, part.x0 - 2):
                yield Label(net, x - 2, y + width, True), (x - _HEIGHT, y, x, y + width)


def _steps(start: float, end: float, room: float) -> Iterator[float]:
    """Where something of a length may begin along a part of a line, from its middle outwards."""
    low, high = sorted((start, end))
    middle = 0.5 * (low + high - room)
    yield middle
    for number in range(1, int(0.5 * max(high - low - room, 0.0) / _STRIDE) + 1):
        yield middle + number * _STRIDE
        yield middle - number * _STRIDE
