"""Measured commands as a program of a trial."""

import math
from collections.abc import Collection, Mapping

import numpy as np

from grouser.identification.series import Series
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.names import closest

_ROUNDING = 1e-6  # of times [s]: seconds since 1970 are known so well as floats


class MeasuredCommands:
    """Commands of actuators by their samples; before the first one an actuator keeps its initial command.

    Args:
        series: samples by the name of a valve, a joint with a drive, or a twist; times since the simulation's start.
        linear: whether commands are linear between samples; otherwise each holds until the next.
    """

    def __init__(self, series: Mapping[str, Series], linear: bool = False):
        self._series, self._linear = dict(series), linear
        self._times = np.unique(np.concatenate([one.time for one in self._series.values()]))

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of what is commanded."""
        return tuple(self._series)

    def check(self, valves: Collection[str], drives: Collection[str], twist: Collection[str] = ()) -> None:
        """Refuses names that the machine does not have, and spools beyond their travel.

        Raises:
            ParameterError: an unknown name, or a valve's command outside of -1 to 1.
        """
        known = {*valves, *drives, *twist}
        for name, one in self._series.items():
            if name not in known:
                raise ParameterError("command", name, closest(name, known))
            most = float(np.abs(one.values).max())
            if name in valves and most > 1.0 + 1e-9:
                raise ParameterError(f"command of {name} ({one.name})", most, "-1 to 1; is it in %?")

    def values(self, time: float, initial: Mapping[str, float] | None = None) -> dict[str, float]:
        """The commands in force at a time [s]; those of a twist are zero before their first sample."""
        return {
            name: self._value(one, time) for name, one in self._series.items() if one.time[0] <= time + _ROUNDING
        }  # fmt: skip

    def constant_until(self, time: float) -> float:
        """When the commands may change next [s]; `time` itself between samples of linear ones."""
        following = int(np.searchsorted(self._times, time + _ROUNDING, side="right"))
        if following == len(self._times):
            return math.inf
        return time if self._linear and following > 0 else float(self._times[following])

    def _value(self, one: Series, time: float) -> float:
        if self._linear:
            return float(np.interp(time, one.time, one.values))
        return float(one.values[np.searchsorted(one.time, time + _ROUNDING, side="right") - 1])
