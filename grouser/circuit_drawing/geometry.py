"""Where the rows and lines of a drawing are, in pixels; y points down."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grouser.circuit_drawing.cells import Placed, Terminal
from grouser.circuit_drawing.routing import Trunk

_TRACK, _ROOM = 13.0, 14.0
_EMPTY, _WIDE = 10.0, 38.0  # heights of a channel without bends


@dataclass(frozen=True)
class Segment:
    """A straight part of a line, along one of the axes; `signal` if it ends at a port of a pressure signal."""

    x0: float
    y0: float
    x1: float
    y1: float
    signal: bool = False


@dataclass(frozen=True)
class LineShape:
    """The parts of a line, and its connections, as points."""

    segments: tuple[Segment, ...]
    dots: tuple[tuple[float, float], ...]


def line_shapes(
    rows: Sequence[Sequence[Placed]], channels: Mapping[int, Sequence[Trunk]], wide: bool = False
) -> dict[str, LineShape]:
    """Sets `y` of all cells, and returns the shapes of the lines by name; `wide` if values have room beside them."""
    bottoms, row_sides = _heights(rows, channels, _WIDE if wide else _EMPTY)
    segments: dict[str, list[Segment]] = defaultdict(list)
    dots: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row, (top, bottom) in zip(rows, row_sides, strict=True):
        for placed in row:
            if not placed.cell.field:
                port = placed.ports[0]
                x = placed.x + port.x
                segments[port.net].append(Segment(x, top, x, bottom, port.signal))
    for channel, trunks in channels.items():
        for trunk in trunks:
            y = bottoms[channel] - _ROOM - (trunk.track or 0) * _TRACK
            for end in trunk.ends:
                stop = y if trunk.track is not None else bottoms[channel]
                segments[trunk.net].append(Segment(end.x, _port_y(end, row_sides), end.x, stop, end.port.signal))
            if trunk.track is not None:
                low, high = trunk.reach
                segments[trunk.net].append(Segment(low, y, high, y, all(end.port.signal for end in trunk.ends)))
                dots[trunk.net] += [(x, y) for x in _connections(trunk)]
    return {net: LineShape(tuple(parts), tuple(dots[net])) for net, parts in segments.items()}


def _heights(
    rows: Sequence[Sequence[Placed]], channels: Mapping[int, Sequence[Trunk]], empty: float
) -> tuple[dict[int, float], list[tuple[float, float]]]:
    """The lower side of each channel, and the upper and lower side of each row; sets `y` of the cells."""
    y, bottoms, sides = 0.0, {}, []
    for number in range(len(rows), -1, -1):
        tracks = [trunk.track + 1 for trunk in channels.get(number, ()) if trunk.track is not None]
        y += 2 * _ROOM + (max(tracks) - 1) * _TRACK if tracks else empty
        bottoms[number] = y
        if number:
            row = rows[number - 1]
            height = max(placed.cell.height for placed in row)
            for placed in row:
                sidedness = {port.above for port in placed.ports}
                share = 0.0 if sidedness == {True} else 1.0 if sidedness == {False} else 0.5
                placed.y = y + share * (height - placed.cell.height)
            sides.append((y, y + height))
            y += height
    return bottoms, sides[::-1]


def _port_y(end: Terminal, row_sides: Sequence[tuple[float, float]]) -> float:
    if not end.placed.cell.field:
        return row_sides[end.placed.row][0 if end.from_below else 1]
    return end.placed.y + end.port.y


def _connections(trunk: Trunk) -> list[float]:
    """Where at least three parts of the trunk's line meet."""
    meeting: dict[float, int] = defaultdict(int)
    low, high = trunk.reach
    for end in trunk.ends:
        meeting[end.x] += 1
    return [x for x, branches in meeting.items() if branches + (x > low) + (x < high) >= 3]
