"""Commands over time, as the experiments' `command` parameters give them: a list of [time, value]."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np


def read_schedule(value: Any) -> list[list[float]]:
    """Checks a list of [time, value] pairs; for use as a `Parameter`'s `convert`.

    Returns:
        The pairs as floats.

    Raises:
        ValueError: no pairs, numbers that are not finite, or times that run backwards.
    """
    valid = "a list of [time, value] pairs with finite numbers and times that do not decrease"
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) == 0:
        raise ValueError(valid)
    pairs: list[list[float]] = []
    for pair in value:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise ValueError(valid)
        if any(isinstance(item, bool) or not isinstance(item, (int, float)) for item in pair):
            raise ValueError(valid)
        if not all(map(math.isfinite, pair)):
            raise ValueError(valid)
        pairs.append([float(pair[0]), float(pair[1])])
    if any(later[0] < earlier[0] for earlier, later in pairwise(pairs)):
        raise ValueError(valid)
    return pairs


def schedule_value(schedule: Sequence[Sequence[float]], time: float) -> float:
    """Returns the value in force at `time`: linear between the pairs, the first before them, the last after them.

    Two pairs at one time make a step; at that time the later one holds.
    """
    times = [pair[0] for pair in schedule]
    after = int(np.searchsorted(times, time, side="right"))
    if after == 0:
        return float(schedule[0][1])
    if after == len(schedule):
        return float(schedule[-1][1])
    (start, first), (end, last) = schedule[after - 1], schedule[after]
    return float(first + (last - first) * (time - start) / (end - start))
