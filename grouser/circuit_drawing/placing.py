"""Order of the cells in their rows, and their places from left to right."""

import math
from collections import defaultdict
from collections.abc import Sequence

from grouser.circuit_drawing.cells import Placed
from grouser.circuit_drawing.exchanging import cost, exchange
from grouser.circuit_drawing.rows import terminals

_GAP = 16.0
_SMOOTHING, _SWEEPS = 60, 6
_REACHES = (1, 1, 1, 3, 3, 3)  # of the exchanges, round after round


def place(rows: Sequence[list[Placed]]) -> None:
    """Orders the cells of each row, mirrors what is the wrong way round, and sets `x`."""
    _order(rows)
    for row in rows:
        _pack(row)
    best, kept = math.inf, []
    for reach in _REACHES:
        for sweep in range(_SWEEPS):
            _mirror(rows)
            for row in rows if sweep % 2 == 0 else reversed(rows):
                _align(rows, row)
        if (found := cost(rows)) < best:
            best, kept = found, [(list(row), [(placed.x, placed.mirrored) for placed in row]) for row in rows]
        exchange(rows, reach)
    for row, (cells, places) in zip(rows, kept, strict=True):
        row[:] = cells
        for placed, (x, mirrored) in zip(cells, places, strict=True):
            placed.x, placed.mirrored = x, mirrored
    left = min(placed.x for row in rows for placed in row)
    for row in rows:
        for placed in row:
            placed.x -= left


def _order(rows: Sequence[list[Placed]]) -> None:
    """Sorts the rows by the mean of what each cell is joined to; that of the directional valves is given."""
    cells = [placed for row in rows for placed in row]
    fixed = _valves(cells) or max(rows, key=len)
    place_of = {id(placed): 0.5 * len(fixed) for placed in cells}
    place_of.update((id(placed), float(number)) for number, placed in enumerate(fixed))
    members: dict[tuple[int, str], list[Placed]] = defaultdict(list)
    for channel, nets in terminals(rows).items():
        for net, its in nets.items():
            members[channel, net] = [end.placed for end in its]
    joined = defaultdict(list)
    for ends in members.values():
        for placed in ends:
            joined[id(placed)].append(ends)
    held = {id(placed) for placed in fixed}
    for _ in range(_SMOOTHING):
        for placed in cells:
            if id(placed) in held:
                continue
            total = weight = 0.0
            for ends in joined[id(placed)]:
                others = len(ends) - 1
                if others:
                    share = 1.0 / others**2
                    total += share * (sum(place_of[id(each)] for each in ends) - place_of[id(placed)])
                    weight += share * others
            if weight:
                place_of[id(placed)] = total / weight
    for row in rows:
        row.sort(key=lambda placed: place_of[id(placed)])


def _valves(cells: Sequence[Placed]) -> list[Placed]:
    """The directional valves, by the number of shuttle valves between their load pressure and the pump."""
    front = {port.net for placed in cells if placed.cell.field == "pumps" for port in placed.ports if port.signal}
    shuttles = [placed for placed in cells if placed.cell.field == "shuttle_valves"]
    distance: dict[str, int] = {}
    while front:
        distance.update(dict.fromkeys(front, len(distance)))
        reached = {port.net for placed in shuttles for port in placed.ports if _nets(placed) & front}
        front = reached - distance.keys()

    def key(placed: Placed) -> int:
        return min((distance[port.net] for port in placed.ports if port.net in distance), default=len(distance))

    return sorted((placed for placed in cells if placed.cell.field == "valves"), key=key)


def _nets(placed: Placed) -> set[str]:
    return {port.net for port in placed.ports}


def _pack(row: Sequence[Placed]) -> None:
    x = 0.0
    for placed in row:
        placed.x = x
        x += placed.cell.width + _GAP


def _wishes(rows: Sequence[list[Placed]]) -> dict[int, list[tuple[float, float]]]:
    """For each cell the places that its lines would be straight at, with weights."""
    wishes = defaultdict(list)
    for nets in terminals(rows).values():
        for ends in nets.values():
            for end in ends:
                others = [other.x for other in ends if other.placed is not end.placed]
                if others:
                    wish = sum(others) / len(others) - end.port.x
                    wishes[id(end.placed)].append((wish, 1.0 / len(others) ** 2))
    return wishes


def _align(rows: Sequence[list[Placed]], row: Sequence[Placed]) -> None:
    """Moves the cells of a row to the weighted median of their wishes, in their order and without overlap.

    Isotonic regression by the pooling of adjacent violators.
    """
    wishes = _wishes(rows)
    start = 0.0
    blocks: list[tuple[float, list[tuple[float, float]], list[tuple[Placed, float]]]] = []
    for placed in row:
        its = [(wish - start, share) for wish, share in wishes[id(placed)]] or [(placed.x - start, 1e-3)]
        blocks.append((_median(its), its, [(placed, start)]))
        start += placed.cell.width + _GAP
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            _, its, cells = blocks.pop()
            _, others, before = blocks.pop()
            blocks.append((_median(others + its), others + its, before + cells))
    for offset, _, cells in blocks:
        for placed, begin in cells:
            placed.x = offset + begin


def _median(wishes: list[tuple[float, float]]) -> float:
    """The weighted median of places with weights."""
    wishes = sorted(wishes)
    half = 0.5 * sum(share for _, share in wishes)
    for place_, share in wishes:
        half -= share
        if half <= 1e-12:
            return place_
    return wishes[-1][0]


def _mirror(rows: Sequence[list[Placed]]) -> None:
    """Mirrors shuttle valves, and relief valves between two lines, where that shortens their lines."""
    wishes: dict[int, dict[str, float]] = defaultdict(dict)
    for nets in terminals(rows).values():
        for net, ends in nets.items():
            for end in ends:
                others = [other.x for other in ends if other.placed is not end.placed]
                if others:
                    wishes[id(end.placed)][net] = sum(others) / len(others)
    for row in rows:
        for placed in row:
            if placed.cell.field in ("shuttle_valves", "relief_valves"):
                lengths = [
                    sum(abs(placed.x + port.x - wishes[id(placed)].get(port.net, placed.x + port.x)) for port in ports)
                    for ports in placed.cell.ports
                ]
                placed.mirrored = lengths[1] < lengths[0]
