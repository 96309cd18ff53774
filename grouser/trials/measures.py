"""Measures: numbers made of the signals that a run has recorded."""

import hashlib
import importlib
import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from grouser.physics.base.errors import GrouserError, ParameterError
from grouser.physics.simulation.record import Record


def _mean(time: np.ndarray, values: np.ndarray) -> float:
    span = float(time[-1] - time[0])
    return float(trapezoid(values, time)) / span if span > 0.0 else float(values[-1])


def _crossings(time: np.ndarray, values: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Times at which a signal passes a level, interpolated, and whether it rises there."""
    above = values >= level
    at = np.nonzero(above[1:] != above[:-1])[0]
    share = (level - values[at]) / (values[at + 1] - values[at])
    return time[at] + share * (time[at + 1] - time[at]), above[at + 1]


def _time_of(time: np.ndarray, values: np.ndarray, level: float) -> float:
    if values[0] == level:
        return float(time[0])
    times, _ = _crossings(time, values, level)
    return float(times[0]) if len(times) else math.nan


def _period(time: np.ndarray, values: np.ndarray, level: float) -> float:
    times, rising = _crossings(time, values, _mean(time, values) if math.isnan(level) else level)
    times = times[rising]
    return float(times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else math.nan


# Name: number of times [s], values and level.
REDUCTIONS: dict[str, Callable[[np.ndarray, np.ndarray, float], float]] = {
    "initial": lambda time, values, level: float(values[0]),
    "final": lambda time, values, level: float(values[-1]),
    "mean": lambda time, values, level: _mean(time, values),
    "rms": lambda time, values, level: math.sqrt(_mean(time, values**2)),
    "maximum": lambda time, values, level: float(values.max()),
    "minimum": lambda time, values, level: float(values.min()),
    "range": lambda time, values, level: float(np.ptp(values)),
    "integral": lambda time, values, level: float(trapezoid(values, time)),
    "time_of_maximum": lambda time, values, level: float(time[values.argmax()]),
    "time_of_minimum": lambda time, values, level: float(time[values.argmin()]),
    "time_of": _time_of,
    "period": _period,
}
WITH_LEVEL = ("time_of", "period")


class MeasureError(GrouserError):
    """A run whose measure has no value."""


@dataclass(frozen=True)
class Measure:
    """A number made of a record.

    Attributes:
        name: of the number.
        reduction: one of `REDUCTIONS`; "" for a function.
        signal: that it reduces.
        function: ``module:function`` or ``/path/file.py:function``, which takes the `Record` and returns the number.
        start, end: the part of the record that counts [s].
        level: that ``time_of`` waits for; crossed upwards once in each ``period``, NaN for the mean.
    """

    name: str
    reduction: str = ""
    signal: str = ""
    function: str = ""
    start: float = -math.inf
    end: float = math.inf
    level: float = math.nan

    def __call__(self, record: Record) -> float:
        """The number.

        Raises:
            MeasureError: the record has no samples in that time, the level is not reached, or a function returns
                what is no finite number.
        """
        if self.function:
            value = load_function(self.function)(record)
        else:
            chosen = (record.time >= self.start) & (record.time <= self.end)
            if not chosen.any():
                raise MeasureError(f"measure {self.name}: nothing is recorded from {self.start:g} to {self.end:g} s")
            value = REDUCTIONS[self.reduction](record.time[chosen], record[self.signal][chosen], self.level)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise MeasureError(f"measure {self.name} is {self._reason(value)}")
        return number

    def _reason(self, value: Any) -> str:
        if self.reduction == "time_of":
            return f"not there: {self.signal} does not reach {self.level:g}"
        if self.reduction == "period":
            return f"not there: {self.signal} does not rise twice through its level"
        return f"{value!r}, no finite number"


def load_function(reference: str) -> Callable[..., Any]:
    """Returns a Python function.

    Args:
        reference: ``module:function`` or ``file.py:function``.

    Raises:
        ParameterError: there is no such file, module or function, or its import fails.
    """
    return _load_function(reference, _digest(reference))


def _digest(reference: str) -> str:
    file = reference.rpartition(":")[0]
    path = Path(file)
    return hashlib.sha256(path.read_bytes()).hexdigest() if file.endswith(".py") and path.is_file() else ""


@lru_cache(64)
def _load_function(reference: str, digest: str) -> Callable[..., Any]:
    home, colon, name = reference.rpartition(":")
    valid = "module:function or file.py:function"
    if not colon or not home or not name:
        raise ParameterError("function", reference, valid)
    try:
        if home.endswith(".py"):
            spec = importlib.util.spec_from_file_location(f"grouser_function_{digest[:16]}", home)
            if spec is None or spec.loader is None or not Path(home).is_file():
                raise ParameterError("function", reference, f"{valid}; there is no file {home}")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(home)
    except ParameterError:
        raise
    except Exception as error:  # a file of the user's may fail in any way
        raise ParameterError("function", reference, f"importable: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise ParameterError("function", reference, f"{valid}; {home} has no function {name}")
    return function
