"""Many copies of a machine at once, over the cores.

A thread takes its share of the copies in one crossing into compiled code. The threads are Python's, and the compiled
code runs without the interpreter's lock.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from numbers import Integral
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.kernel import kernel
from grouser.physics.base.packed import Packed, packed_at
from grouser.physics.base.phases import CONVEX_PAIRS, MORE_TILES, NOTHING
from grouser.physics.integrators.midpoint import run_midpoint_steps
from grouser.physics.integrators.step import run_steps
from grouser.physics.integrators.variational import run_variational_steps
from grouser.physics.soil.tiles import with_capacity


class Steppable(Protocol):
    """What a batch needs of a simulation; see `simulation.Simulation`."""

    integrator: str
    state: Any

    @property
    def machinery(self) -> Packed: ...
    def buffers(self) -> tuple[Any, ...]: ...
    def on_buffers(self, *buffers: Any) -> Any: ...
    def begin_steps(self) -> None: ...
    def answer(self, asked: int) -> None: ...
    def use_state(self, state: Any) -> None: ...
    def finish_steps(self, left: int) -> None: ...


Copy = TypeVar("Copy", bound=Steppable)


def stacked(tree, count: int):
    """`count` copies of every array in nested tuples, along a new first axis."""
    if isinstance(tree, np.ndarray):
        return np.stack([tree] * count)
    return type(tree)(*[stacked(part, count) for part in tree])


def part_of(tree, i):
    """Element i of every array in nested tuples, along the first axis."""
    if isinstance(tree, np.ndarray):
        return tree[i]
    return type(tree)(*[part_of(part, i) for part in tree])


@partial(kernel, nogil=True)
def _run_copies(first, last, remaining, running, answered, asks, machinery, addresses):
    """Steps the running ones of the copies first to last - 1 as far as they go; `remaining` is what is left to do."""
    for i in range(first, last):
        if running[i]:
            done, asks[i] = run_steps(remaining[i], answered[i], packed_at(machinery, addresses[i]))
            remaining[i] -= done


@partial(kernel, nogil=True)
def _run_midpoint_copies(first, last, remaining, running, answered, asks, machinery, addresses):
    """The same by the midpoint rule, which never asks."""
    for i in range(first, last):
        if running[i]:
            remaining[i] -= run_midpoint_steps(remaining[i], packed_at(machinery, addresses[i]))


@partial(kernel, nogil=True)
def _run_variational_copies(first, last, remaining, running, answered, asks, machinery, addresses):
    """The same by the variational integrator, which never asks."""
    for i in range(first, last):
        if running[i]:
            remaining[i] -= run_variational_steps(remaining[i], packed_at(machinery, addresses[i]))


# By integrator.
_RUNS: dict[str, Callable[..., None]] = {
    "semi_implicit": _run_copies,
    "implicit_midpoint": _run_midpoint_copies,
    "variational": _run_variational_copies,
}


class Batch(Generic[Copy]):
    """Copies of a simulation that step together; each is a `Simulation` of its own to command, read and reset.

    Args:
        simulation: what is copied, with its state and commands.
        count: number of copies.

    Attributes:
        simulations: the copies.
        state, command: all copies' states and commands, stacked along the first axis of every array; they may be read
            and written in place of `simulations[i].state`.

    Raises:
        ParameterError: a count below one.
    """

    def __init__(self, simulation: Copy, count: int):
        if not isinstance(count, Integral) or count < 1:
            raise ParameterError("count", count, "a whole number of copies, at least 1")
        buffers: tuple[Any, ...] = tuple(stacked(tree, count) for tree in simulation.buffers())
        self.state: Any = buffers[0]
        self.command: Any = buffers[1]
        self.simulations: tuple[Copy, ...] = tuple(
            simulation.on_buffers(*[part_of(tree, i) for tree in buffers]) for i in range(count)
        )
        self._run: Callable[..., None] = _RUNS[simulation.integrator]
        self._find_copies()
        self._pool: ThreadPoolExecutor | None = None
        self._pool_size: int = 0

    def __len__(self) -> int:
        return len(self.simulations)

    def __getitem__(self, index: int) -> Copy:
        return self.simulations[index]

    def step(self, count: int = 1, threads: int | None = None) -> None:
        """Makes `count` steps of every copy; the result does not depend on the number of threads.

        Args:
            count: number of steps.
            threads: as many as there are cores when None.

        Raises:
            ParameterError: a negative count, or no thread.
            DivergenceError: a copy's state is no longer finite; the others have made their steps.
        """
        if not isinstance(count, Integral) or count < 0:
            raise ParameterError("count", count, "a whole number of steps, at least 0")
        threads = len(os.sched_getaffinity(0)) if threads is None else threads
        if not isinstance(threads, Integral) or threads < 1:
            raise ParameterError("threads", threads, "a whole number, at least 1")
        for simulation in self.simulations:
            simulation.begin_steps()
        copies = len(self)
        remaining = np.full(copies, int(count))
        running, answered, asks = np.full(copies, True), np.full(copies, False), np.full(copies, NOTHING)
        while running.any():
            self._run_all(min(threads, copies), remaining, running, answered, asks)
            answered[:] = asks == CONVEX_PAIRS
            for i in np.flatnonzero(answered):
                self.simulations[i].answer(CONVEX_PAIRS)
            if (asks == MORE_TILES).any():
                self._make_room()
            running[:] = asks != NOTHING
            asks[:] = NOTHING
        for simulation, left in zip(self.simulations, remaining.tolist(), strict=True):
            simulation.finish_steps(left)

    def _make_room(self):
        """Twice as much room for tiles of soft ground in every copy."""
        tiles = 2 * self.state.tile_place.shape[1]
        states = [with_capacity(copy.state, tiles) for copy in self.simulations]
        self.state = type(self.state)(*map(np.stack, zip(*states, strict=True)))
        for i, copy in enumerate(self.simulations):
            copy.use_state(part_of(self.state, i))
        self._find_copies()

    def _find_copies(self):
        """Takes note of where the copies are."""
        machineries = [copy.machinery for copy in self.simulations]
        self._arguments: tuple[Any, ...] = (machineries[0], np.array([packed.address for packed in machineries]))

    def _run_all(self, threads, remaining, running, answered, asks):
        """Shares the copies out to the threads."""
        arguments = (remaining, running, answered, asks, *self._arguments)
        if threads == 1:
            self._run(0, len(self), *arguments)
            return
        if self._pool is None or self._pool_size != threads:
            self._pool, self._pool_size = ThreadPoolExecutor(threads), threads
        bounds = np.linspace(0, len(self), threads + 1).round().astype(int).tolist()
        shares = [self._pool.submit(self._run, first, last, *arguments) for first, last in pairwise(bounds)]
        for share in shares:
            share.result()
