"""Samples over time."""

from dataclasses import dataclass

import numpy as np

from grouser.physics.base.errors import ParameterError


@dataclass(frozen=True)
class Series:
    """Samples of a number.

    Attributes:
        name: where they are from, for messages.
        time: rising [s], (samples,).
        values: (samples,).

    Raises:
        ParameterError: no samples, times that do not rise, or a number that is not finite.
    """

    name: str
    time: np.ndarray
    values: np.ndarray

    def __post_init__(self) -> None:
        if len(self.time) == 0:
            raise ParameterError(self.name, "nothing", "at least one sample")
        for what, numbers in (("time", self.time), ("value", self.values)):
            bad = np.nonzero(~np.isfinite(numbers))[0]
            if len(bad):
                valid = f"finite numbers; remove {'them' if len(bad) > 1 else 'it'} from the data"
                raise ParameterError(f"{what} of sample {bad[0]} of {self.name}", float(numbers[bad[0]]), valid)
        back = np.nonzero(np.diff(self.time) <= 0.0)[0]
        if len(back):
            first = back[0]
            valid = f"after {self.time[first]:.9g} s, the time of the sample before it; sort the data, or take one part"
            raise ParameterError(f"time of sample {first + 1} of {self.name}", float(self.time[first + 1]), valid)

    def between(self, begin: float, end: float) -> "Series | None":
        """The samples from `begin` to `end` [s], both included; None if there are none."""
        chosen = (self.time >= begin) & (self.time <= end)
        return Series(self.name, self.time[chosen], self.values[chosen]) if chosen.any() else None

    def shifted(self, by: float, size: float = 1.0) -> "Series":
        """The samples at other times [s], and times a factor."""
        return Series(self.name, self.time + by, self.values * size)
