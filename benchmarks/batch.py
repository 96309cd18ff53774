"""Parallel efficiency of a batch on two cores.

Wall time is measured, alternately with one thread and with two. Other programs would distort it: between the pairs a
loop that only computes shows whether both cores are free, and a pair counts if they were before and after it. The
details have the figures of all pairs.
"""

import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from grouser.benchmarks.figure import Figure, SkippedError
from grouser.benchmarks.stepping import MOTIONS, Grouser
from grouser.physics.base.kernel import kernel

DESCRIPTION = "copies of the rover driving in a batch: efficiency of two threads on two cores, by the clock"

_COPIES = 32
_STEPS = 1000  # a call; it takes about as long as the loop
_SETTLING_STEPS = 1000
_THREADS = 2
_ROUNDS = 10_000_000  # of the loop
_PAIRS_WANTED = 11
_PAIRS_MOST = 40
_FREE = 0.95  # least efficiency of the loop


@dataclass(frozen=True)
class _Pair:
    """The same work with one thread and with two: times on the clock and of the processor [s]."""

    one: float
    one_processor: float
    two: float
    two_processor: float

    @property
    def efficiency(self) -> float:
        return self.one / (_THREADS * self.two)


@partial(kernel, nogil=True)
def spin(rounds):
    """A loop that only computes."""
    number = 0.0
    for i in range(rounds):
        number = (0.5 * number + i) % 3.0
    return number


def run() -> list[Figure]:
    """Measures one thread and two alternately.

    Raises:
        SkippedError: there are not two cores, or other programs use them.
    """
    cores = len(os.sched_getaffinity(0))
    if cores < _THREADS:
        raise SkippedError(f"needs {_THREADS} cores; this process may use {cores}")
    rover = Grouser("rover").simulation
    rover.step(_SETTLING_STEPS)
    batch = rover.batch(_COPIES)
    for copy in batch.simulations:
        copy.command.update(MOTIONS["rover"].commands(0.0))
    batch.step(_SETTLING_STEPS)
    start = [copy.base_pose()[0] for copy in batch.simulations]
    pairs, loops, counted = _measure(lambda threads: batch.step(_STEPS, threads=threads))
    if len(counted) < _PAIRS_WANTED:
        raise SkippedError(f"other programs left {_THREADS} cores free for {len(counted)} of {len(pairs)} pairs only")
    moved = [np.linalg.norm(copy.base_pose()[0] - at) for copy, at in zip(batch.simulations, start, strict=True)]
    efficiencies = sorted(pair.efficiency for pair in counted)
    lower, middle, upper = statistics.quantiles(efficiencies, n=4)
    microseconds = 1e6 / (_COPIES * _STEPS)
    details = {
        "copies": _COPIES,
        "steps a call": _STEPS,
        "step of a copy, one thread [µs]": microseconds * statistics.median(pair.one for pair in counted),
        "step of a copy, two threads [µs]": microseconds * statistics.median(pair.two for pair in counted),
        "lower quartile": lower,
        "upper quartile": upper,
        "processor time, one thread by two": statistics.median(
            pair.one_processor / pair.two_processor for pair in counted
        ),
        "share of the cores in use": statistics.median(pair.two_processor / (_THREADS * pair.two) for pair in counted),
        "pairs counted": len(counted),
        "pairs": len(pairs),
        "median of all pairs": statistics.median(pair.efficiency for pair in pairs),
        "efficiency of a loop that needs nothing but a core": statistics.median(loops),
        "least way of a copy meanwhile [m]": float(min(moved)),
    }
    return [Figure("efficiency, batch on two cores", middle, "", details=details)]


def _measure(work: Callable[[int], object]) -> tuple[list[_Pair], list[float], list[_Pair]]:
    """Measures until enough pairs count.

    Args:
        work: takes the number of threads.

    Returns:
        All pairs, the efficiencies of the loop around them, and the pairs that count.
    """
    pairs: list[_Pair] = []
    counted: list[_Pair] = []
    spin(1)
    with ThreadPoolExecutor(_THREADS) as pool:
        loops = [_loop(pool)]
        while len(counted) < _PAIRS_WANTED and len(pairs) < _PAIRS_MOST:
            # The order alternates, so that a changing load favours neither.
            order = (1, _THREADS) if len(pairs) % 2 else (_THREADS, 1)
            taken = {threads: _times(partial(work, threads)) for threads in order}
            pairs.append(_Pair(*taken[1], *taken[_THREADS]))
            loops.append(_loop(pool))
            if min(loops[-2:]) >= _FREE:
                counted.append(pairs[-1])
    return pairs, loops, counted


def _loop(pool: ThreadPoolExecutor) -> float:
    """Efficiency of the loop."""
    one, _ = _times(lambda: spin(_ROUNDS))
    two, _ = _times(lambda: list(pool.map(spin, [_ROUNDS // _THREADS] * _THREADS)))
    return one / (_THREADS * two)


def _times(work: Callable[[], object]) -> tuple[float, float]:
    """Time on the clock and of the processor, all threads together [s]."""
    began, processor_began = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - processor_began
