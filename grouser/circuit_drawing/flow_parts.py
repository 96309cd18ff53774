"""Parts of a drawn line with one flow each, by the ports that lie beyond them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from grouser.circuit_drawing.cells import Placed
from grouser.circuit_drawing.geometry import LineShape, Segment

Point = tuple[float, float]
# Parts of a line from point to point, by the names of the ports beyond their second point.
FlowParts = Mapping[tuple[str, ...], Sequence[tuple[Point, Point]]]


def flow_parts(net: str, shape: LineShape, rows: Iterable[Iterable[Placed]]) -> FlowParts:
    """Divides a line where it branches.

    What the ports beyond a part take flows through it. A part of a closed loop has no side beyond it and is left out.

    Args:
        net: name of the line.
        shape: its shape.
        rows: cells with their places.
    """
    ports: dict[Point, list[str]] = defaultdict(list)
    for row in rows:
        for placed in row:
            for port in placed.ports:
                if placed.cell.field and port.net == net:
                    place = _point(placed.x + port.x, placed.y + port.y)
                    ports[place].append(f"{placed.cell.field}/{placed.cell.name}/{port.name}")
    edges = _edges(shape.segments, ports)
    near: dict[Point, list[Point]] = defaultdict(list)
    for start, end in edges:
        near[start].append(end)
        near[end].append(start)
    parts: dict[tuple[str, ...], list[tuple[Point, Point]]] = defaultdict(list)
    for start, end in edges:
        beyond = _reached(end, start, near)
        if start not in beyond:
            parts[tuple(sorted(name for point in beyond for name in ports.get(point, ())))].append((start, end))
    return parts


def _edges(segments: Iterable[Segment], ports: Iterable[Point]) -> list[tuple[Point, Point]]:
    """The segments, cut wherever another one ends or a port is."""
    ends = [(_point(part.x0, part.y0), _point(part.x1, part.y1)) for part in segments]
    cuts = {point for end in ends for point in end} | set(ports)
    edges = set()
    for start, end in ends:
        (left, right), (top, bottom) = sorted((start[0], end[0])), sorted((start[1], end[1]))
        within = sorted((x, y) for x, y in cuts if left <= x <= right and top <= y <= bottom)
        edges |= set(pairwise(within))
    return sorted(edges)


def _reached(start: Point, without: Point, near: Mapping[Point, Sequence[Point]]) -> set[Point]:
    """Points that are reached from one of an edge's ends without the edge."""
    reached, ahead = {start}, [start]
    while ahead:
        point = ahead.pop()
        for other in near[point]:
            if other not in reached and (point, other) != (start, without):
                reached.add(other)
                ahead.append(other)
    return reached


def _point(x: float, y: float) -> Point:
    return round(x, 1), round(y, 1)
