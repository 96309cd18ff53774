"""Tracks of the lines in a channel between two rows.

A net in a channel is a trunk along the channel with a branch to each of its terminals. Trunks that overlap have tracks
of their own; their order is the one with the fewest crossings that moves of single trunks find.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grouser.circuit_drawing.cells import Terminal

_APART = 8.0  # between trunks on the same track, and branches side by side
_OVERLAP = 1000  # crossings that one branch upon another counts as

# Terminals of a net in a channel: x, and whether each comes from below.
Branches = Sequence[tuple[float, bool]]


@dataclass(frozen=True)
class Trunk:
    """A net in a channel.

    Attributes:
        net: its name.
        ends: its terminals.
        track: 0 is the lowest; None: all terminals are above one another, and the line is straight.
    """

    net: str
    ends: tuple[Terminal, ...]
    track: int | None

    @property
    def reach(self) -> tuple[float, float]:
        """The trunk's ends."""
        places = [end.x for end in self.ends]
        return min(places), max(places)

    @property
    def branches(self) -> Branches:
        """The terminals, without what they belong to."""
        return [(end.x, end.from_below) for end in self.ends]


def routed(nets: Mapping[str, Sequence[Terminal]]) -> list[Trunk]:
    """Returns the trunks of a channel, lowest track first."""
    trunks = [Trunk(net, tuple(ends), None) for net, ends in nets.items() if len(ends) > 1]
    straight = [trunk for trunk in trunks if trunk.reach[1] - trunk.reach[0] < 0.5]
    bent = [trunk for trunk in trunks if trunk.reach[1] - trunk.reach[0] >= 0.5]
    bent = _ordered(bent)
    tracks: list[Trunk] = []
    for trunk in bent:
        low, high = trunk.reach
        beneath = [each.track for each in tracks if each.reach[0] < high + _APART and each.reach[1] > low - _APART]
        tracks.append(
            Trunk(trunk.net, trunk.ends, 1 + max((track for track in beneath if track is not None), default=-1))
        )
    return straight + tracks


def _ordered(trunks: list[Trunk]) -> list[Trunk]:
    """The order from below, by moving one trunk after another to its best place."""
    cost = [
        [crossings(lower.branches, upper.branches) if lower is not upper else 0 for upper in trunks] for lower in trunks
    ]
    order = sorted(range(len(trunks)), key=lambda number: sum(cost[number]) - sum(row[number] for row in cost))
    improved = True
    while improved:
        improved = False
        for number in list(order):
            at = order.index(number)
            change, best, best_at = 0, 0, at
            for place in range(at - 1, -1, -1):
                change += cost[number][order[place]] - cost[order[place]][number]
                if change < best:
                    best, best_at = change, place
            change = 0
            for place in range(at + 1, len(order)):
                change += cost[order[place]][number] - cost[number][order[place]]
                if change < best:
                    best, best_at = change, place
            if best < 0:
                order.insert(best_at, order.pop(at))
                improved = True
    return [trunks[number] for number in order]


def crossings(lower: Branches, upper: Branches) -> int:
    """Returns the crossings of two nets in a channel if the trunk of the first is below that of the second."""
    count = 0
    low, high = min(upper)[0] - _APART / 2, max(upper)[0] + _APART / 2
    for x, from_below in lower:
        if not from_below:
            count += low < x < high
            count += _OVERLAP * any(below and abs(other - x) < _APART / 2 for other, below in upper)
    low, high = min(lower)[0] - _APART / 2, max(lower)[0] + _APART / 2
    for x, from_below in upper:
        if from_below:
            count += low < x < high
    return count
