"""Forces between grains that several threads share, with the bits of one.

Each thread computes the pairs of its share of the rows, and stores what acts on the second grain of each pair. Then
each sums these for its share of the grains, in the order in which one thread would have met them.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.granular.advance import DONE, NEEDS_ROOM, move_on
from grouser.physics.granular.arrays import State, System, Workspace
from grouser.physics.granular.forces import add_boundary_forces, add_pair_forces
from grouser.physics.granular.neighbours import rebuild
from grouser.physics.soil.laws import Soils
from grouser.physics.soil.tiles import SoilState


class ThreadedSteps:
    """Steps as `advance.run_steps`, of grains that do not sleep.

    Args:
        threads: at least two.
    """

    def __init__(self, threads: int):
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._pool_of = 0

    def run(self, system: Any, state: Any, work: Any, soils: Any, cells: Any, step: float, count: int, accounted: bool):
        """Makes steps; arguments and results as of `run_steps`."""
        made, ended = 0, DONE
        _list_back(state, work)
        while made < count and ended == DONE:
            if state.stale[0]:
                if not rebuild(system, state, work):
                    return made, NEEDS_ROOM
                _list_back(state, work)
            bounds = self._shares(state)
            self._share(partial(_add_pairs, system, state, work, step, accounted), bounds)
            self._share(partial(_add_reactions, state, work), bounds)
            ended = _complete(system, state, work, soils, cells, step, accounted)
            made += 1
        return made, ended

    def _shares(self, state: Any) -> list[int]:
        """First rows of shares with as many pairs each, and the end of the last."""
        rows = int(state.number[0])
        inner = np.linspace(0, int(state.listed[0]), self._threads + 1)[1:-1]
        return [0, *np.searchsorted(state.pair_start[:rows], inner).tolist(), rows]

    def _share(self, task: Callable[[int, int], None], bounds: list[int]) -> None:
        """Runs a task for all ranges of rows, the last of them here."""
        if self._pool is None or self._pool_of != os.getpid():  # a forked process does not have its parent's threads
            self._pool, self._pool_of = ThreadPoolExecutor(self._threads - 1), os.getpid()
        *others, own = pairwise(bounds)
        shares = [self._pool.submit(task, first, end) for first, end in others]
        task(*own)
        for share in shares:
            share.result()


@kernel
def _list_back(state: State, work: Workspace):
    """Lists the pairs of which each row is the second, in their order."""
    start, rows = work.back_start, state.number[0]
    for i in range(rows + 1):
        start[i] = 0
    for k in range(state.listed[0]):
        start[state.pair_other[k] + 1] += 1
    for i in range(rows):
        start[i + 1] += start[i]
    for k in range(state.listed[0]):
        j = state.pair_other[k]
        work.back_pair[start[j]] = k
        start[j] += 1
    # the first of each row has moved on to that of the next one
    for i in range(rows, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0


@partial(kernel, nogil=True)
def _add_pairs(system: System, state: State, work: Workspace, step: float, accounted, first, end):
    """Computes the pairs of some rows."""
    add_pair_forces(system, state, work, first, end, step, accounted, True)


@partial(kernel, nogil=True)
def _add_reactions(state: State, work: Workspace, first, end):
    """Adds up what acts on some grains as second ones, then the sum of their own pairs."""
    force, torque, reaction = work.force, work.torque, work.reaction
    for i in range(first, end):
        f0 = f1 = f2 = t0 = t1 = t2 = 0.0
        for m in range(work.back_start[i], work.back_start[i + 1]):
            k = work.back_pair[m]
            f0, f1, f2 = f0 - reaction[k, 0], f1 - reaction[k, 1], f2 - reaction[k, 2]
            t0, t1, t2 = t0 - reaction[k, 3], t1 - reaction[k, 4], t2 - reaction[k, 5]
        force[i, 0], force[i, 1], force[i, 2] = f0 + force[i, 0], f1 + force[i, 1], f2 + force[i, 2]
        torque[i, 0], torque[i, 1], torque[i, 2] = t0 + torque[i, 0], t1 + torque[i, 1], t2 + torque[i, 2]


@kernel
def _complete(
    system: System, state: State, work: Workspace, soils: Soils, cells: SoilState, step: float, accounted
):  # fmt: skip
    """Adds the forces of boundaries, and moves on."""
    add_boundary_forces(system, state, work, soils, cells, step, accounted)
    return move_on(system, state, work, step, accounted)
