"""Parameters of a sweep: what is changed, and the values that it takes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grouser.physics.base.errors import ParameterError

_COUNT = 5  # Levels of a range in a grid.


@dataclass(frozen=True)
class Parameter:
    """What a sweep changes; one of `values`, a range or a distribution says to what.

    Attributes:
        name: of its column in the results.
        addresses: that get its value (`grouser.trials.settings`).
        values: in their order; those that are no numbers are categories.
        low, high: of a range, each value as likely.
        log: whether the range is even in the logarithm.
        count: levels of the range in a grid.
        distribution: name of a continuous distribution in `scipy.stats`.
        arguments: of the distribution, by name: loc, scale and its shapes.
    """

    name: str
    addresses: tuple[str, ...]
    values: tuple[Any, ...] = ()
    low: float = math.nan
    high: float = math.nan
    log: bool = False
    count: int = _COUNT
    distribution: str = ""
    arguments: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.distribution:
            # An impossible shape or scale gives NaN.
            if not math.isfinite(self.at(0.5)):
                raise ParameterError(self.name, dict(self.arguments), f"arguments of {self.distribution}")
        elif not self.values:
            if not self.low < self.high:
                raise ParameterError(self.name, [self.low, self.high], "a range with low < high")
            if self.log and self.low <= 0.0:
                raise ParameterError(self.name, self.low, "above 0, as log is true")

    @property
    def numeric(self) -> bool:
        """Whether all of its values are numbers."""
        return all(isinstance(value, int | float) and not isinstance(value, bool) for value in self.values)

    @property
    def examples(self) -> tuple[Any, ...]:
        """Values by which it is tried out before the first run: all categories, or one of the numbers."""
        return (self.at(0.5),) if self.numeric else self.values

    def at(self, share: float) -> Any:
        """The value below which the parameter is with a probability in [0, 1)."""
        if self.values:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        if self.distribution:
            return float(_frozen(self.distribution, self.arguments).ppf(share))
        if self.log:
            return float(self.low * (self.high / self.low) ** share)
        return float(self.low + (self.high - self.low) * share)

    def levels(self) -> tuple[Any, ...]:
        """Its values in a grid.

        Raises:
            ParameterError: it has a distribution.
        """
        if self.values:
            return self.values
        if self.distribution:
            raise ParameterError(self.name, self.distribution, "in a grid: values, or low and high with count")
        if self.count == 1:
            return (self.at(0.5),)
        return tuple(self.at(share) for share in np.linspace(0.0, 1.0, self.count).tolist())


def _frozen(name: str, arguments: Mapping[str, float]) -> Any:
    """A distribution of scipy with its arguments."""
    from scipy import stats

    family = getattr(stats, name, None)
    if not isinstance(family, stats.rv_continuous):
        raise ParameterError("distribution", name, "a continuous distribution of scipy.stats, such as norm or uniform")
    try:
        return family(**arguments)
    except TypeError as error:
        raise ParameterError("distribution", name, f"other arguments: {error}") from None
