"""Measured runs of files: CSV, recordings of grouser, ROS bags."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from grouser.identification.bag_file import read_fields
from grouser.identification.commanding import MeasuredCommands
from grouser.identification.csv_file import CsvFile
from grouser.identification.measured_run import MeasuredNumber, MeasuredRun, SampledSignal
from grouser.identification.recorded_run import read_recording
from grouser.identification.series import Series
from grouser.identification.units import unit_size
from grouser.physics.base.errors import ParameterError
from grouser.trials.measures import Measure
from grouser.trials.trial import Trial

_FINER = 5  # samples of the simulation between two measured ones, where times do not fall on steps
_ROUNDING = 1e-6  # of times [steps]


@dataclass(frozen=True)
class NumberSpecification:
    """Where a number is in a file, and its unit.

    Attributes:
        column: of a CSV file.
        topic, field: of a ROS bag; "" elsewhere.
        unit: one of `units.UNITS`; "" for that of the signal in SI.
        factor: SI value of 1, for what has no unit there.
        sigma: of its noise in the same unit: a number, or the name of a column.
    """

    column: str = ""
    topic: str = ""
    field: str = ""
    unit: str = ""
    factor: float = 1.0
    sigma: float | str | None = None

    def size(self, name: str, si_unit: str | None) -> float:
        """SI value of 1; ParameterError for a unit of another quantity than `si_unit`."""
        return self.factor * (unit_size(name, self.unit, si_unit) if self.unit else 1.0)


@dataclass(frozen=True)
class FileSpecification:
    """What is taken out of a file.

    Attributes:
        path: of the file, or of the folder of a bag.
        time: column of the times, in CSV files.
        signals: that were measured over time, by name.
        commands: by actuator.
        values: measures, and where their values are: each line of the file is a run.
        settings: of the trial, by address: values, or the column with that of each line.
        linear: whether commands are linear between samples.
        initial_data: whether joints begin where they were measured first.
        begin, end: of the part that counts, by the file's time [s]; None: all.
        every: interval of the samples of a recording [s]; None: every step.
    """

    path: Path
    time: NumberSpecification
    signals: Mapping[str, NumberSpecification]
    commands: Mapping[str, NumberSpecification]
    values: Mapping[str, tuple[Measure, NumberSpecification]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    linear: bool = False
    initial_data: bool = False
    begin: float | None = None
    end: float | None = None
    every: float | None = None


def read_runs(
    file: FileSpecification, trial: Trial, start: Mapping[str, Any], delays: tuple[float, float] = (0.0, 0.0)
) -> list[MeasuredRun]:
    """Returns the runs of a file: one with signals over time, or one for each line of values.

    Args:
        file: what is taken of it.
        trial: that simulates them.
        start: settings with which the trial runs.
        delays: bounds of the delay of measured signals [s].

    Raises:
        ParameterError: data that cannot be read, are of another quantity, or do not overlap with the trial.
        MachineError: the trial is refused, or a recording cannot be read.
    """
    return _runs_of_lines(file, trial, start) if file.values else [_run_over_time(file, trial, start, delays)]


def _runs_of_lines(file: FileSpecification, trial: Trial, start: Mapping[str, Any]) -> list[MeasuredRun]:
    table = CsvFile(file.path)
    columns = {
        address: table.numbers(one.column) * one.size(address, None)
        for address, one in file.settings.items()
        if isinstance(one, NumberSpecification)
    }
    numbers = {name: table.numbers(one.column) for name, (_, one) in file.values.items()}
    sigmas = {
        name: table.numbers(one.sigma) if isinstance(one.sigma, str) else np.full(len(table), one.sigma or math.nan)
        for name, (_, one) in file.values.items()
    }
    runs: list[MeasuredRun] = []
    units: dict[str, str] = {}
    every = 1 if trial.every is None else max(round(trial.every / _step(trial)), 1)
    for line in range(len(table)):
        where = f"line {line + 2} of {file.path.name}"
        settings = {**file.settings, **{address: float(values[line]) for address, values in columns.items()}}
        for address, value in settings.items():
            if isinstance(value, float) and math.isnan(value):
                raise ParameterError(f"{address} in {where}", "nothing", "a number")
        units = units or trial.check({**settings, **start})
        observations: list[SampledSignal | MeasuredNumber] = []
        for name, (measure, one) in file.values.items():
            # the unit of an integral, a time or a function is not that of the signal
            same = measure.reduction in ("initial", "final", "mean", "rms", "maximum", "minimum", "range")
            size = one.size(name, units.get(measure.signal) if same else None)
            if not math.isnan(numbers[name][line]):
                sigma = _sigma(float(sigmas[name][line]), size, f"{name} in {where}")
                observations.append(MeasuredNumber(measure, float(numbers[name][line]) * size, sigma))
        if observations:
            runs.append(MeasuredRun(where, tuple(observations), settings, signals=trial.record, every=every))
    return runs


def _run_over_time(
    file: FileSpecification, trial: Trial, start: Mapping[str, Any], delays: tuple[float, float]
) -> MeasuredRun:
    units = trial.check({**file.settings, **start})
    signals, commands, sigmas = _samples(file, units)
    if commands and trial.program is not None:
        raise ParameterError("program", trial.program, "none beside measured commands, which drive the simulation")
    begin = min(one.time[0] for one in (*signals.values(), *commands.values())) if file.begin is None else file.begin
    end = min(math.inf if file.end is None else file.end, begin + trial.duration)
    step = _step(trial)
    # with any delay within its bounds a sample has to fall into the simulated time
    first = begin + max(delays[1], 0.0)
    observations: list[SampledSignal | MeasuredNumber] = []
    settings = dict(file.settings)
    for name, one in signals.items():
        chosen = (one.time >= first - _ROUNDING * step) & (one.time <= end + _ROUNDING * step)
        if not chosen.any():
            valid = f"samples between {first:g} and {end:g} s, which the trial simulates"
            raise ParameterError(f"time of {one.name}", f"{one.time[0]:g} to {one.time[-1]:g} s", valid)
        part = Series(one.name, one.time[chosen] - begin, one.values[chosen])
        sigma = sigmas[name]
        observations.append(SampledSignal(name, part, sigma[chosen] if isinstance(sigma, np.ndarray) else sigma))
        if file.initial_data and "." not in name:
            settings[f"machine.initial_position.{name}.position"] = float(one.values[one.time >= begin][0])
    times = np.concatenate([one.series.time for one in observations if isinstance(one, SampledSignal)])
    every = _interval(times, step, delays != (0.0, 0.0))
    last = float(times.max()) + max(0.0, -delays[0])
    return MeasuredRun(
        file.path.name,
        tuple(observations),
        settings,
        _commands(commands, begin, file.linear),
        tuple(dict.fromkeys((*trial.record, *signals))),
        every,
        max(math.ceil(last / (every * step) - _ROUNDING), 1) * every * step,
    )


def _step(trial: Trial) -> float:
    return float(trial.settings.get("step", trial.step))


def _samples(
    file: FileSpecification, units: Mapping[str, str]
) -> tuple[dict[str, Series], dict[str, Series], dict[str, float | np.ndarray | None]]:
    """Signals and commands in SI, and the sigmas of the signals."""
    sizes = {name: one.size(name, units.get(name)) for name, one in file.signals.items()}
    sizes_of_commands = {name: one.size(name, None) for name, one in file.commands.items()}
    sigmas: dict[str, float | np.ndarray | None] = {
        name: _sigma(one.sigma, sizes[name], name)
        for name, one in file.signals.items()
        if not isinstance(one.sigma, str)
    }
    if _is_bag(file):
        wanted = {(one.topic, one.field) for one in (*file.signals.values(), *file.commands.values())}
        fields = read_fields(file.path, sorted(wanted))
        signals = {name: fields[one.topic, one.field] for name, one in file.signals.items()}
        commands = {name: fields[one.topic, one.field] for name, one in file.commands.items()}
    elif file.path.suffix == ".mcap":
        signals, commands = read_recording(file.path, file.signals, file.commands, file.every)
    else:
        table = CsvFile(file.path)
        time = file.time.column, file.time.size("time", "s")
        signals = {name: table.series(*time, one.column, 1.0) for name, one in file.signals.items()}
        commands = {name: table.series(*time, one.column, 1.0) for name, one in file.commands.items()}
        for name, one in file.signals.items():
            if isinstance(one.sigma, str):
                there = ~np.isnan(table.numbers(one.column))
                sigmas[name] = table.numbers(one.sigma)[there] * sizes[name]
    for name in file.signals:
        if name not in sigmas:
            raise ParameterError(f"sigma of {name}", file.signals[name].sigma, "a number: only CSV files have columns")
    return (
        {name: one.shifted(0.0, sizes[name]) for name, one in signals.items()},
        {name: one.shifted(0.0, sizes_of_commands[name]) for name, one in commands.items()},
        sigmas,
    )


def _is_bag(file: FileSpecification) -> bool:
    return any(one.topic for one in (*file.signals.values(), *file.commands.values()))


def _commands(commands: Mapping[str, Series], begin: float, linear: bool) -> MeasuredCommands | None:
    """Commands since the simulation's start; the last one before it is in force there."""
    shifted = {}
    for name, one in commands.items():
        first = max(int(np.searchsorted(one.time, begin, side="right")) - 1, 0)
        time = one.time[first:] - begin
        if not linear:
            time = np.maximum(time, 0.0)
        shifted[name] = Series(one.name, time, one.values[first:])
    return MeasuredCommands(shifted, linear) if shifted else None


def _interval(times: np.ndarray, step: float, delayed: bool) -> int:
    """Interval of the simulation's samples [steps]: measured times fall on them, or several between two of those."""
    steps = times / step
    whole = np.round(steps).astype(int)
    if not delayed and np.abs(steps - whole).max() < 1e-3:
        return max(int(np.gcd.reduce(whole)), 1)
    gaps = np.diff(np.unique(times))
    return max(int(np.median(gaps) / step / _FINER), 1) if len(gaps) else 1


def _sigma(sigma: float | str | None, size: float, name: str) -> float | None:
    if sigma is None or (isinstance(sigma, float) and math.isnan(sigma)):
        return None
    if isinstance(sigma, str) or sigma <= 0.0:
        raise ParameterError(f"sigma of {name}", sigma, "a number above 0")
    return sigma * abs(size)
