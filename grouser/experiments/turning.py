"""Common parts of the experiments with rotating bodies."""

import math
from itertools import count

import numpy as np

from grouser.experiments.protocol import Parameter

# Points of a curve, at most.
_POINTS = 100_000
# Share of its range by which a curve may go on between two points: of a sine, an eighth of its period.
_COARSE = math.pi / 8.0


def vector(default: list[float], unit: str, description: str) -> Parameter:
    """Three numbers."""
    return Parameter(default, unit, description, convert=read_three)


def read_three(value: list) -> list[float]:
    """Three finite numbers.

    Raises:
        ValueError: they are not.
    """
    if len(value) != 3 or not all(type(item) in (int, float) and math.isfinite(item) for item in value):
        raise ValueError("three finite numbers")
    return [float(item) for item in value]


def thinning(steps: int, points: int = _POINTS) -> int:
    """Number of steps between two points of a curve: 1, or the least of 2, 5, 10, 20 ...

    That gives at most so many points.
    """
    choices = (mantissa * 10**power for power in count() for mantissa in (1, 2, 5))
    return next(every for every in choices if steps <= every * points)


def mean_period(time: np.ndarray, value: np.ndarray, slope: np.ndarray, level: float) -> float | None:
    """Mean time between rises of a curve through a level; None where there are less than two, or points too far apart.

    Args:
        time: (n,), evenly spaced.
        value, slope: of the curve, (n,): cubic between two points.
        level: best where the curve is steep.
    """
    before = np.flatnonzero((value[:-1] < level) & (value[1:] >= level))
    step = time[1] - time[0]
    if len(before) < 2 or step * np.abs(slope).max() > _COARSE * np.ptp(value):
        return None
    ends = before[[0, -1]]
    start, end = value[ends], value[ends + 1]
    out, into = step * slope[ends], step * slope[ends + 1]
    low, high = np.zeros(2), np.ones(2)
    for _ in range(60):
        s = 0.5 * (low + high)
        rise = end - start
        cubic = start + s * (out + s * (3.0 * rise - 2.0 * out - into + s * (out + into - 2.0 * rise)))
        below = cubic < level
        low, high = np.where(below, s, low), np.where(below, high, s)
    first, last = time[ends] + low * step
    return float((last - first) / (len(before) - 1))
