"""Rows of a circuit's elements, and the ways of its lines through them.

Row 0 is the lowest. Channel c, for the lines, is below row c; the last one is above the last row.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from grouser.circuit_drawing.cells import Cell, Placed, Port, Terminal
from grouser.circuit_drawing.element_cells import way_cell

_ACTUATORS = ("cylinders", "hydraulic_motors")


def rows_of(cells: Sequence[Cell]) -> list[list[Placed]]:
    """Returns the rows: whatever a line leaves upwards is below whatever it reaches from below, where that is possible.

    Directional valves share a row, and actuators the highest one.
    """
    below = _below(cells)
    floor = [0] * len(cells)
    rank = _lowest(below, floor)
    valves = [number for number, cell in enumerate(cells) if cell.field == "valves"]
    for number in valves:
        floor[number] = max(rank[valve] for valve in valves)
    rank = _lowest(below, floor)
    for number, cell in enumerate(cells):
        if cell.field in _ACTUATORS:
            rank[number] = max(rank)
    _lift(cells, below, rank)
    levels = {level: row for row, level in enumerate(sorted(set(rank)))}
    rows: list[list[Placed]] = [[] for _ in levels]
    for cell, level in zip(cells, rank, strict=True):
        rows[levels[level]].append(Placed(cell, levels[level]))
    _add_ways(rows)
    return rows


def terminals(rows: Iterable[Iterable[Placed]]) -> dict[int, dict[str, list[Terminal]]]:
    """Returns the terminals of each net in each channel."""
    channels: dict[int, dict[str, list[Terminal]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for placed in row:
            for port in placed.ports:
                found = Terminal(placed.x + port.x, port.above, placed, port)
                channels[channel_of(placed, port)][port.net].append(found)
    return channels


def channel_of(placed: Placed, port: Port) -> int:
    """Returns the channel that a port opens into."""
    return placed.row + (1 if port.above else 0)


def _below(cells: Sequence[Cell]) -> Mapping[int, list[int]]:
    """The cells directly below each cell, without those that would close a cycle."""
    leaving, reached = defaultdict(list), defaultdict(list)
    for number, cell in enumerate(cells):
        for port in cell.ports[0]:
            (leaving if port.above else reached)[port.net].append(number)
    wanted = defaultdict(list)
    for net, upper in reached.items():
        for number in upper:
            wanted[number] += [lower for lower in leaving[net] if lower != number]
    below: dict[int, list[int]] = defaultdict(list)
    state = [0] * len(cells)  # 1 while the cells below it are followed, 2 afterwards
    for start in range(len(cells)):
        ahead = [(start, iter(wanted[start]))] if state[start] == 0 else []
        state[start] = state[start] or 1
        while ahead:
            number, lower = ahead[-1]
            following = next(lower, None)
            if following is None:
                state[number] = 2
                ahead.pop()
            elif state[following] != 1:
                below[number].append(following)
                if state[following] == 0:
                    state[following] = 1
                    ahead.append((following, iter(wanted[following])))
    return below


def _lowest(below: Mapping[int, list[int]], floor: Sequence[int]) -> list[int]:
    """The lowest rank of each cell, at least its floor and above all below it."""
    rank = list(floor)
    changed = True
    while changed:
        changed = False
        for number, lower in below.items():
            needed = max((rank[each] + 1 for each in lower), default=0)
            if needed > rank[number]:
                rank[number], changed = needed, True
    return rank


def _lift(cells: Sequence[Cell], below: Mapping[int, list[int]], rank: list[int]) -> None:
    """Moves what is below something up to it, but pumps."""
    above = defaultdict(list)
    for number, lower in below.items():
        for each in lower:
            above[each].append(number)
    for number in sorted(range(len(cells)), key=lambda number: -rank[number]):
        if above[number] and cells[number].field not in ("pumps", "valves"):
            rank[number] = max(rank[number], min(rank[each] for each in above[number]) - 1)


def _add_ways(rows: Sequence[list[Placed]]) -> None:
    """Adds the way of each net through the rows between its channels."""
    channels, signal = defaultdict(set), defaultdict(lambda: True)
    for row in rows:
        for placed in row:
            for port in placed.ports:
                channels[port.net].add(channel_of(placed, port))
                signal[port.net] = signal[port.net] and port.signal
    for net, its in channels.items():
        for number in range(min(its), max(its)):
            rows[number].append(Placed(way_cell(net, signal[net]), number))
