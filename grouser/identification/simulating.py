"""Simulated counterparts of measured values, in processes."""

import functools
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

import numpy as np

from grouser.identification.measured_run import MeasuredRun
from grouser.identification.parameters import DELAY, FitParameter, settings_of
from grouser.physics.base.errors import GrouserError
from grouser.physics.simulation.record import Record
from grouser.trials.playing import record_played
from grouser.trials.trial import Trial


@dataclass(frozen=True)
class Comparison:
    """What is simulated: a run of a trial for each measured run.

    Attributes:
        trial: of all runs.
        runs: that were measured.
        parameters: that are fitted.
    """

    trial: Trial
    runs: tuple[MeasuredRun, ...]
    parameters: tuple[FitParameter, ...]

    def simulated(self, number: int, values: Mapping[str, Any]) -> np.ndarray:
        """The counterparts of the values of a measured run, in its order.

        Args:
            number: of the run.
            values: of the parameters, by address.

        Raises:
            GrouserError: the values are refused, or the simulation failed.
        """
        run = self.runs[number]
        record = self.record(number, values)
        return np.concatenate([one.simulated(record, values.get(DELAY, 0.0)) for one in run.observations])

    def record(self, number: int, values: Mapping[str, Any], span: float | None = None) -> Record:
        """Simulates a measured run; `span` [s] instead of its whole length. See `simulated`."""
        run = self.runs[number]
        settings = {**run.settings, **{name: value for name, value in values.items() if name != DELAY}}
        length = span if span is not None else run.duration
        trial = self.trial if length is None else replace(self.trial, duration=length)
        parts = trial.parts(settings)
        program = parts.program if run.commands is None else run.commands
        return record_played(trial.start(parts), program, parts.steps, run.signals, run.every * parts.step)


class Simulations:
    """Evaluates simulated values at points of the variables; used in a `with` statement.

    Args:
        comparison: what is simulated.
        processes: their number; 0: one for each core, 1: none but this one.

    Attributes:
        runs: number of simulated runs.
        problem: of the latest run that failed; "" for none.
    """

    def __init__(self, comparison: Comparison, processes: int = 0):
        self._comparison = comparison
        self._count = processes or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self.runs = 0
        self.problem = ""

    def __enter__(self) -> "Simulations":
        if self._count > 1:
            self._pool = ProcessPoolExecutor(
                self._count, get_context("spawn"), initializer=_begin, initargs=(self._comparison,)
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    @property
    def processes(self) -> int:
        """Their number."""
        return self._count

    def evaluate(self, points: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Simulated values of all runs at each point, (values,) each; infinite where one failed."""
        numbers = range(len(self._comparison.runs))
        tasks = [(number, settings_of(self._comparison.parameters, point)) for point in points for number in numbers]
        answers = self._answers(tasks)
        self.runs += len(tasks)
        found = []
        for first in range(0, len(answers), len(numbers)):
            own = answers[first : first + len(numbers)]
            failed = [answer for answer in own if isinstance(answer, str)]
            self.problem = failed[0] if failed else self.problem
            sizes = [sum(len(one.values) for one in run.observations) for run in self._comparison.runs]
            found.append(np.full(sum(sizes), np.inf) if failed else np.concatenate(own))
        return found

    def _answers(self, tasks: list[tuple[int, dict[str, Any]]]) -> list[Any]:
        if self._pool is None:
            return [_simulated(self._comparison, task) for task in tasks]
        return list(self._pool.map(_in_process, tasks))


def _simulated(comparison: Comparison, task: tuple[int, Mapping[str, Any]]) -> np.ndarray | str:
    """Simulated values; the reason where there are none. What the simulation warns of matters at the optimum only."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            values = comparison.simulated(*task)
    except GrouserError as error:
        return f"{error}"
    return values if np.isfinite(values).all() else "a simulated value is not finite"


_task: Callable[[tuple[int, Mapping[str, Any]]], np.ndarray | str] | None = None  # of a process of a pool


def _begin(comparison: Comparison) -> None:
    global _task
    _task = functools.partial(_simulated, comparison)


def _in_process(task: tuple[int, Mapping[str, Any]]) -> np.ndarray | str:
    assert _task is not None
    return _task(task)
