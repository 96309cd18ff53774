"""Histogram of durations: how often, the median, the slowest of a hundred and the worst."""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

# Edges of the classes [s]: 1, 2 and 5 times the powers of ten from 1 us to 5 s.
EDGES = tuple(factor * 10.0**power for power in range(-6, 1) for factor in (1.0, 2.0, 5.0))
_KEPT = 20000  # latest durations, of which median and percentile are taken


@dataclass(frozen=True)
class Distribution:
    """Figures of durations [s]; zeros for none.

    Attributes:
        count: of durations.
        p50, p99: median, and the 99th percentile (the smallest duration that 99 in 100 do not exceed), of the latest.
        largest: of all.
        edges, counts: of the classes; the first count is of durations below the first edge, the last one of those from
            the last edge on.
    """

    count: int
    p50: float
    p99: float
    largest: float
    edges: tuple[float, ...]
    counts: tuple[int, ...]


class Histogram:
    """Collects durations."""

    def __init__(self) -> None:
        self._counts = [0] * (len(EDGES) + 1)
        self._latest: deque[float] = deque(maxlen=_KEPT)
        self._largest = 0.0

    def add(self, duration: float) -> None:
        """Adds a duration [s]."""
        self._counts[bisect_right(EDGES, duration)] += 1
        self._latest.append(duration)
        self._largest = max(self._largest, duration)

    def distribution(self) -> Distribution:
        """Returns the figures so far."""
        latest = sorted(self._latest)
        counts = tuple(self._counts)
        return Distribution(sum(counts), _share(latest, 50), _share(latest, 99), self._largest, EDGES, counts)


def distribution_of(durations: Sequence[float]) -> Distribution:
    """Returns the figures of some durations [s]."""
    histogram = Histogram()
    for duration in durations:
        histogram.add(duration)
    return histogram.distribution()


def _share(ascending: Sequence[float], per_cent: int) -> float:
    """The smallest value that so many per cent do not exceed."""
    return ascending[-(-len(ascending) * per_cent // 100) - 1] if ascending else 0.0
