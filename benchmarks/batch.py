"""How well many copies of a machine share two cores.

Other programs on the machine take their part of the cores. A loop that needs nothing but a core is measured in the same
turns: it tells what two threads could reach at that time, and its efficiency on an idle machine is one.
"""

import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from grouser.benchmarks.figure import Figure, SkippedError
from grouser.benchmarks.stepping import MOTIONS, Grouser
from grouser.physics.kernel import kernel

DESCRIPTION = "copies of the rover driving in a batch: efficiency of two threads on two cores, by the clock"

_COPIES = 32
_STEPS = 200
_REPEATS = 15
_SETTLING_STEPS = 1000
_THREADS = 2
_ROUNDS = 10_000_000  # of the loop


@partial(kernel, nogil=True)
def spin(rounds):
    """A loop that needs nothing but a core."""
    number = 0.0
    for i in range(rounds):
        number = (0.5 * number + i) % 3.0
    return number


def run() -> list[Figure]:
    """Measures one thread and two in turns.

    Raises:
        SkippedError: there are not two cores.
    """
    cores = len(os.sched_getaffinity(0))
    if cores < _THREADS:
        raise SkippedError(f"needs {_THREADS} cores; this process may use {cores}")
    rover = Grouser("rover").simulation
    rover.step(_SETTLING_STEPS)
    batch = rover.batch(_COPIES)
    for copy in batch.simulations:
        copy.command.update(MOTIONS["rover"].commands(0.0))
    batch.step(_STEPS)
    spin(1)
    start = [copy.base_pose()[0] for copy in batch.simulations]
    with ThreadPoolExecutor(_THREADS) as pool:
        works: dict[str, Callable[[], object]] = {
            "one": lambda: batch.step(_STEPS, threads=1),
            "two": lambda: batch.step(_STEPS, threads=_THREADS),
            "loop, one": lambda: spin(_ROUNDS),
            "loop, two": lambda: list(pool.map(spin, [_ROUNDS // _THREADS] * _THREADS)),
        }
        clock: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(_REPEATS):
            for name, work in works.items():
                clock[name].append(_clock(work))
    one, two, loop_one, loop_two = (statistics.median(taken) for taken in clock.values())
    moved = [np.linalg.norm(copy.base_pose()[0] - at) for copy, at in zip(batch.simulations, start, strict=True)]
    microseconds = 1e6 / (_COPIES * _STEPS)
    details = {
        "copies": _COPIES,
        "steps a call": _STEPS,
        "step of a copy, one thread [µs]": one * microseconds,
        "step of a copy, two threads [µs]": two * microseconds,
        "efficiency of the fastest calls": min(clock["one"]) / (_THREADS * min(clock["two"])),
        "efficiency of a loop that needs nothing but a core": loop_one / (_THREADS * loop_two),
        "load of the machine, last minute": os.getloadavg()[0],
        "least way of a copy meanwhile [m]": float(min(moved)),
    }
    return [Figure("efficiency, batch on two cores", one / (_THREADS * two), "", details=details)]


def _clock(work: Callable[[], object]) -> float:
    """Time that the clock on the wall shows for a work [s]."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
