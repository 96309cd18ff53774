"""A measured run: what was measured, and how the simulated run that it is compared with is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grouser.identification.commanding import MeasuredCommands
from grouser.identification.series import Series
from grouser.physics.simulation.record import Record
from grouser.trials.measures import Measure


@dataclass(frozen=True)
class SampledSignal:
    """A signal over time.

    Attributes:
        name: of the signal.
        series: its samples, in SI; times since the simulation's start.
        sigma: standard deviation of its noise, a number or one for each sample; None: to be estimated.
    """

    name: str
    series: Series
    sigma: float | np.ndarray | None = None

    @property
    def values(self) -> np.ndarray:
        """What was measured, (samples,)."""
        return self.series.values

    def simulated(self, record: Record, delay: float) -> np.ndarray:
        """The same of a simulated run, linear between its samples; measured ones lag behind by `delay` [s]."""
        return np.interp(self.series.time - delay, record.time, record[self.name])


@dataclass(frozen=True)
class MeasuredNumber:
    """One number of a run, such as the mean of a signal.

    Attributes:
        measure: that makes it of a record.
        value: in SI.
        sigma: standard deviation of its error; None: to be estimated.
    """

    measure: Measure
    value: float
    sigma: float | None = None

    @property
    def name(self) -> str:
        """Of the measure."""
        return self.measure.name

    @property
    def values(self) -> np.ndarray:
        """What was measured, (1,)."""
        return np.array([self.value])

    def simulated(self, record: Record, delay: float) -> np.ndarray:
        """The same of a simulated run, (1,)."""
        return np.array([self.measure(record)])


@dataclass(frozen=True)
class MeasuredRun:
    """What was measured in one run.

    Attributes:
        name: for plots and messages.
        observations: what is compared.
        settings: of the trial, by address, for this run.
        commands: that drive the simulation; None: the trial's program.
        signals: that have to be recorded.
        every: interval of the recorded samples [steps].
        duration: that has to be simulated [s]; None: the trial's.
    """

    name: str
    observations: tuple[SampledSignal | MeasuredNumber, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    commands: MeasuredCommands | None = None
    signals: tuple[str, ...] = ()
    every: int = 1
    duration: float | None = None


@dataclass(frozen=True)
class Group:
    """All measured values of one name, through all runs: they have one sigma, and residuals of their own.

    Attributes:
        name: of the signal or measure.
        places: of its values among all, (values,).
        sigma: of each, (values,); None: to be estimated.
        sampled: whether these are samples over time.
    """

    name: str
    places: np.ndarray
    sigma: np.ndarray | None
    sampled: bool


def groups_of(runs: tuple[MeasuredRun, ...]) -> tuple[Group, ...]:
    """The values of all runs by name, in the order of `MeasuredRun.observations`."""
    places: dict[str, list[np.ndarray]] = {}
    sigmas: dict[str, list[np.ndarray]] = {}
    sampled: dict[str, bool] = {}
    count = 0
    for observation in (one for run in runs for one in run.observations):
        size = len(observation.values)
        places.setdefault(observation.name, []).append(np.arange(count, count + size))
        sigma = np.nan if observation.sigma is None else observation.sigma
        sigmas.setdefault(observation.name, []).append(np.broadcast_to(sigma, size))
        sampled[observation.name] = isinstance(observation, SampledSignal)
        count += size
    return tuple(
        Group(
            name,
            np.concatenate(own),
            None if np.isnan(given := np.concatenate(sigmas[name])).any() else given,
            sampled[name],
        )
        for name, own in places.items()
    )
