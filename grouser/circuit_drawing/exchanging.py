"""Fewer crossings and shorter lines by other orders of the rows."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from grouser.circuit_drawing.cells import Placed
from grouser.circuit_drawing.routing import Branches, crossings
from grouser.circuit_drawing.rows import channel_of

_CROSSING = 600.0  # length of line that is as bad as a crossing [px]
_PASSES = 6

# Cells and numbers of their ports, by channel and net.
_Ends = dict[int, dict[str, list[tuple[Placed, int]]]]


def exchange(rows: Sequence[list[Placed]], reach: int) -> None:
    """Moves cells past their neighbours while that gives fewer crossings or shorter lines.

    Args:
        rows: with `x` set; the distances between the cells are kept.
        reach: number of neighbours that a cell moves past at most.
    """
    ends = _ends(rows)
    for _ in range(_PASSES):
        improved = False
        for row in rows:
            for first in range(len(row) - 1):
                for last in range(first + 1, min(first + reach, len(row) - 1) + 1):
                    cells = row[first : last + 1]
                    for order in (cells[1:] + cells[:1], cells[-1:] + cells[:-1])[: last - first]:
                        improved |= _improved(ends, row, first, order)
        if not improved:
            return


def cost(rows: Sequence[Sequence[Placed]]) -> float:
    """Returns the length of all lines along the channels, and for each crossing a length that is as bad."""
    ends = _ends(rows)
    return _cost(ends, {channel: set(nets) for channel, nets in ends.items()})


def _ends(rows: Sequence[Sequence[Placed]]) -> _Ends:
    ends: _Ends = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for placed in row:
            for number, port in enumerate(placed.ports):
                ends[channel_of(placed, port)][port.net].append((placed, number))
    return ends


def _improved(ends: _Ends, row: list[Placed], first: int, order: list[Placed]) -> bool:
    """Puts some cells of a row into another order if that is better."""
    cells = row[first : first + len(order)]
    places = [placed.x for placed in cells]
    gaps = [right.x - left.x - left.cell.width for left, right in pairwise(cells)]
    moved: dict[int, set[str]] = defaultdict(set)
    for placed in cells:
        for port in placed.ports:
            moved[channel_of(placed, port)].add(port.net)
    before, x = _cost(ends, moved), places[0]
    for placed, gap in zip(order, [*gaps, 0.0], strict=True):
        placed.x = x
        x += placed.cell.width + gap
    if _cost(ends, moved) < before - 1e-6:
        row[first : first + len(order)] = order
        return True
    for placed, x in zip(cells, places, strict=True):
        placed.x = x
    return False


def _cost(ends: _Ends, moved: dict[int, set[str]]) -> float:
    """Lengths of some nets in their channels, and their crossings with all others there."""
    cost = 0.0
    for channel, nets in moved.items():
        branches = {net: _branches(its) for net, its in ends[channel].items()}
        reaches = {net: (min(its)[0], max(its)[0]) for net, its in branches.items()}
        for net in nets:
            low, high = reaches[net]
            cost += high - low
            for other, its in branches.items():
                if other == net or (other in nets and other < net):
                    continue
                if reaches[other][0] < high and reaches[other][1] > low:
                    cost += _CROSSING * min(crossings(branches[net], its), crossings(its, branches[net]))
    return cost


def _branches(ends: Sequence[tuple[Placed, int]]) -> Branches:
    return [(placed.x + placed.ports[number].x, placed.ports[number].above) for placed, number in ends]
