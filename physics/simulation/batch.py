"""Copies of a machine that step together on all cores.

Each thread steps its share of the copies in one call of compiled code. The threads are Python's, and the compiled
code runs without the interpreter's lock.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

from grouser.physics.base.checks import STEPS_MAX, require_count
from grouser.physics.base.kernel import kernel
from grouser.physics.base.memory import require_memory
from grouser.physics.base.packed import packed_at
from grouser.physics.base.phases import NOTHING
from grouser.physics.base.trees import copy_into, element, leaves, stacked
from grouser.physics.integrators.context import State
from grouser.physics.integrators.midpoint import run_midpoint_steps
from grouser.physics.integrators.step import run_steps
from grouser.physics.integrators.variational import run_variational_steps
from grouser.physics.model.command import Command
from grouser.physics.simulation.capacity import StateCapacity, capacity_of, with_capacity
from grouser.physics.simulation.engine import Buffers, Engine, parts_to_samples

Copy = TypeVar("Copy")


@partial(kernel, nogil=True)
def _run_copies(first, last, remaining, running, asks, context, addresses):
    """Steps the running copies from first to last - 1; `remaining` is the number of steps left of each."""
    for i in range(first, last):
        if running[i]:
            done, asks[i] = run_steps(remaining[i], packed_at(context, addresses[i]))
            remaining[i] -= done


@partial(kernel, nogil=True)
def _run_midpoint_copies(first, last, remaining, running, asks, context, addresses):
    """The same by the midpoint rule, which has no `ask` phase."""
    for i in range(first, last):
        if running[i]:
            remaining[i] -= run_midpoint_steps(remaining[i], packed_at(context, addresses[i]))


@partial(kernel, nogil=True)
def _run_variational_copies(first, last, remaining, running, asks, context, addresses):
    """The same by the variational integrator, which has no `ask` phase."""
    for i in range(first, last):
        if running[i]:
            remaining[i] -= run_variational_steps(remaining[i], packed_at(context, addresses[i]))


_COPIES_MAX = 1_000_000
_THREADS_MAX = 1024
# By integrator.
_RUNS: dict[str, Callable[..., None]] = {
    "semi_implicit": _run_copies,
    "implicit_midpoint": _run_midpoint_copies,
    "variational": _run_variational_copies,
}


class Batch(Generic[Copy]):
    """Copies of a simulation that step together; each is a `Simulation` of its own to command, read and reset.

    Args:
        engine: what is copied, with its state and commands.
        count: number of copies.
        simulation_on: makes the simulation that stands on a copy of the engine.

    Attributes:
        simulations: the copies.
        state, command: all copies' states and commands, stacked along the first axis of every array; they may be read
            and written in place of `simulations[i].state`.

    Raises:
        ParameterError: a count below one, or more copies than the memory holds.
    """

    def __init__(self, engine: Engine, count: int, simulation_on: Callable[[Engine], Copy]):
        copies = require_count("count", count, 1, _COPIES_MAX, " of copies")
        require_memory("count", copies, sum(leaf.nbytes for leaf in leaves(engine.buffers)), "a copy")
        buffers: Buffers = stacked([engine.buffers] * copies)
        self.state: State = buffers.state
        self.command: Command = buffers.command
        self._engines: list[Engine] = [engine.on_buffers(element(buffers, i)) for i in range(copies)]
        self.simulations: tuple[Copy, ...] = tuple(map(simulation_on, self._engines))
        self._run: Callable[..., None] = _RUNS[engine.setup.integrator]
        self._find_copies()
        self._pool: ThreadPoolExecutor | None = None
        self._pool_of: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self.simulations)

    def __iter__(self) -> Iterator[Copy]:
        return iter(self.simulations)

    def __repr__(self) -> str:
        return f"<Batch of {len(self)}: {self.simulations[0]!r}>"

    def __getitem__(self, index: int) -> Copy:
        require_count("index", index, -len(self), len(self) - 1)
        return self.simulations[index]

    def step(self, count: int = 1, threads: int | None = None, copies: Iterable[int] | None = None) -> None:
        """Makes `count` steps of the copies; the result does not depend on the number of threads.

        Args:
            count: number of steps.
            threads: as many as there are cores when None.
            copies: numbers of those that step; all when None.

        Raises:
            ParameterError: a count that is negative or not whole, no thread, or a copy that does not exist.
            BusyError: another thread steps a copy, or replaces its state.
            DivergenceError: a copy's state is no longer finite; the others have made their steps.
        """
        steps = require_count("count", count, 0, STEPS_MAX, " of steps")
        threads = len(os.sched_getaffinity(0)) if threads is None else threads
        threads = require_count("threads", threads, 1, _THREADS_MAX)
        numbers = range(len(self)) if copies is None else copies
        chosen = np.unique([require_count("copy", number, 0, len(self) - 1) for number in numbers]).astype(np.int64)
        engines = [self._engines[copy] for copy in chosen]
        with ExitStack() as held:
            for engine in self._engines:
                held.enter_context(engine.exclusive)
            for part in parts_to_samples(engines, steps):
                for engine, left in zip(engines, self._make_steps(part, threads, chosen), strict=True):
                    engine.finish_steps(left)
                    engine.sample()

    def _make_steps(self, steps: int, threads: int, chosen: np.ndarray) -> list[int]:
        """Steps the chosen copies; returns the number of steps that were not made of each."""
        if any(engine.context is not context for engine, context in zip(self._engines, self._contexts, strict=True)):
            self._share_states([capacity_of(engine.state) for engine in self._engines])
        for copy in chosen:
            self._engines[copy].begin_steps()
        remaining = np.full(len(chosen), steps)
        running, asks = np.full(len(chosen), True), np.full(len(chosen), NOTHING)
        while running.any():
            self._run_all(min(threads, len(chosen)), remaining, running, asks, self._addresses[chosen])
            if (asks != NOTHING).any():
                self._make_room(chosen, asks)
            running[:] = asks != NOTHING
            asks[:] = NOTHING
        return remaining.tolist()

    def _make_room(self, chosen, asks):
        """Answers the requests of the chosen copies for memory."""
        rooms = [capacity_of(engine.state) for engine in self._engines]
        for copy, ask in zip(chosen, asks, strict=True):
            if ask != NOTHING:
                rooms[copy] = self._engines[copy].make_room(ask)
        self._share_states(rooms)

    def _share_states(self, rooms: list[StateCapacity]) -> None:
        """Puts the states of all copies into the stack, with room for the greatest of these capacities."""
        capacity = StateCapacity(*np.max(rooms, axis=0).tolist())
        states = [with_capacity(engine.state, capacity) for engine in self._engines]
        self.state = self.state._replace(
            soil=stacked([state.soil for state in states]),
            contact=stacked([state.contact for state in states]),
            sleeping=stacked([state.sleeping for state in states]),
            granular=stacked([state.granular for state in states]),
        )
        for i, (engine, state) in enumerate(zip(self._engines, states, strict=True)):
            own = element(self.state, i)
            copy_into(state, own)
            engine.use_state(own)
        self._find_copies()

    def _find_copies(self):
        """Stores the packed trees of all copies, which a copy replaces when its state gets other arrays."""
        self._contexts = [engine.context for engine in self._engines]
        self._addresses = np.array([context.address for context in self._contexts])

    def _run_all(self, threads, remaining, running, asks, addresses):
        """Distributes the copies with these addresses over the threads."""
        arguments = (remaining, running, asks, self._contexts[0], addresses)
        if threads == 1:
            self._run(0, len(addresses), *arguments)
            return
        pool_of = threads, os.getpid()  # a forked process does not have its parent's threads
        if self._pool is None or self._pool_of != pool_of:
            self._pool, self._pool_of = ThreadPoolExecutor(threads), pool_of
        bounds = np.linspace(0, len(addresses), threads + 1).round().astype(int).tolist()
        shares = [self._pool.submit(self._run, first, last, *arguments) for first, last in pairwise(bounds)]
        for share in shares:
            share.result()
