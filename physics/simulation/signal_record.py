"""Signals over time: recorded while a simulation steps."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.record import Record
from grouser.physics.simulation.signals import Signal, values_of


class SignalRecord(Record):
    """Signals of a simulation, sampled while it steps; `Simulation.record` makes it.

    The first sample is that of the time at which it begins. After a reset, or the restoring of an earlier state, the
    samples of later times are dropped: a record has one value for each time.

    Args:
        engine: of the simulation.
        signals: what is sampled.
        interval: of the samples [steps].
        stopped: called by `stop`.

    Attributes:
        names: of the columns: the signals as they were asked for.
        units: of each name; that of the time is "s".
    """

    def __init__(self, engine: Engine, signals: Sequence[Signal], interval: int, stopped: Callable[[Any], None]):
        self._engine, self._signals, self._interval, self._stopped = engine, signals, interval, stopped
        self._name({signal.name: signal.unit for signal in signals})
        self._steps: list[int] = []
        self._rows: list[list[float]] = []
        self._begin = engine.step_count
        self.sample()

    @property
    def time(self) -> np.ndarray:
        """Times of the samples [s], (samples,)."""
        return np.array(self._steps, dtype=float) * self._engine.step_size

    @property
    def values(self) -> np.ndarray:
        """All samples, (samples, signals)."""
        return np.array(self._rows, dtype=float).reshape(len(self._rows), len(self.names))

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if self._rows else "nothing yet"
        every = f"every {self._interval * self._engine.step_size:g} s"
        return f"<SignalRecord of {', '.join(self.names)}: {len(self)} samples, {span}, {every}>"

    def copy(self) -> Record:
        """The samples up to now, without the simulation."""
        return Record(self.time, self.values, {name: self.units[name] for name in self.names})

    def stop(self) -> None:
        """Ends the recording; the samples stay."""
        self._stopped(self)

    # --- called by the engine ---------------------------------------------------------------------------------------

    def steps_to_sample(self) -> int:
        """Steps to the next sample."""
        return self._interval - (self._engine.step_count - self._begin) % self._interval

    def sample(self) -> None:
        """Takes a sample if the present step is one of its steps."""
        step = self._engine.step_count
        if (step - self._begin) % self._interval == 0 and (not self._steps or step > self._steps[-1]):
            self._rows.append(values_of(self._signals))
            self._steps.append(step)

    def rewind(self) -> None:
        """Drops the samples of times after the present."""
        while self._steps and self._steps[-1] > self._engine.step_count:
            self._steps.pop()
            self._rows.pop()
        if not self._steps:
            self._begin = self._engine.step_count
            self.sample()
