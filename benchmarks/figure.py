"""A measured figure, and the measurement of two programs on a busy machine."""

import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numba

from grouser import __version__


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


def as_json(figures: Sequence[Figure], skipped: Mapping[str, str]) -> dict[str, Any]:
    """All figures, with the computer that they were measured on."""
    return {
        "grouser": __version__,
        "machine": {"processor": _processor(), "python": platform.python_version(), "numba": numba.__version__},
        "figures": [
            {
                "name": figure.name,
                "value": figure.value,
                "unit": figure.unit,
                "peer": figure.peer or None,
                "peer_value": figure.peer_value,
                "ratio": figure.ratio,
                "details": figure.details,
                "targets": [asdict(target) | {"met": target.met} for target in figure.targets],
                "reason": figure.reason or None,
            }
            for figure in figures
        ],
        "skipped": skipped,
    }


def _processor() -> str:
    """The processor's name, as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]}, {len(names)} threads" if names else platform.processor()
