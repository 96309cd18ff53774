"""A measured figure, and the measurement of two programs on a busy machine."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


class SkippedError(Exception):
    """A benchmark cannot run here; the message has the reason."""


@dataclass(frozen=True)
class Target:
    """What a measured quantity is meant to reach.

    Attributes:
        name: of the quantity, with its unit.
        value: measured.
        limit: the largest value wanted, or the least.
        at_least: whether the limit is the least.
    """

    name: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the value is within the limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def text(self) -> str:
        """The quantity, its value and its limit."""
        return f"{self.name} {self.value:.3g} (at {'least' if self.at_least else 'most'} {self.limit:g})"


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        name: what was measured.
        value: of grouser; None where it cannot be measured, and `reason` says why.
        unit: of `value`, and of `peer_value`.
        peer: program of comparison; "" for none.
        peer_value: of the peer, in the same run.
        details: conditions, tolerances, checks that both did the same.
        targets: what is meant to be reached.
        reason: of a missing value.
    """

    name: str
    value: float | None
    unit: str
    peer: str = ""
    peer_value: float | None = None
    details: Mapping[str, float | int | str] = field(default_factory=dict)
    targets: tuple[Target, ...] = ()
    reason: str = ""

    @property
    def ratio(self) -> float | None:
        """grouser's value by the peer's: below one, grouser takes less."""
        return None if self.value is None or self.peer_value is None else self.value / self.peer_value


def cpu_time(work: Callable[[], object]) -> float:
    """Processor time of `work` [s]: that of other programs does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def alternating_medians(repeats: int, *works: Callable[[], object]) -> list[float]:
    """Median processor time of each work [s], measured alternately."""
    return [statistics.median(taken) for taken in alternating_times(repeats, *works)]


def alternating_times(repeats: int, *works: Callable[[], object]) -> list[list[float]]:
    """Processor times of each work [s], measured alternately, so that a slow spell of the machine affects all."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for work, taken in zip(works, times, strict=True):
            taken.append(cpu_time(work))
    return times
