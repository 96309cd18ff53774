"""What is fitted: values by address within bounds, and the variables from 0 to 1 by which the search sees them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grouser.physics.base.checks import require_range
from grouser.physics.base.errors import ParameterError

DELAY = "delay"
_DECADE = 10.0


@dataclass(frozen=True)
class FitParameter:
    """A value that is fitted.

    Attributes:
        name: of the parameter; `DELAY` is by how much the measured signals lag behind the commands [s].
        lower, upper: bounds, in the unit of the setting.
        start: where the first search begins; None: in the middle of the variable.
        logarithmic: whether the variable is the logarithm of the value; None: where both bounds are positive and span
            a decade.
        addresses: of the settings of the trial that have this value (`grouser.trials.settings`); (): `name` is one.

    Raises:
        ParameterError: bounds that are not in order, a start outside, or a logarithm of what is not positive.
    """

    name: str
    lower: float
    upper: float
    start: float | None = None
    logarithmic: bool | None = None
    addresses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_range(self.name, self.lower, -1e300, 1e300)
        require_range(self.name, self.upper, -1e300, 1e300)
        if not self.lower < self.upper:
            raise ParameterError(self.name, f"from {self.lower:g} to {self.upper:g}", "bounds that rise")
        if self.logarithmic is None:
            object.__setattr__(self, "logarithmic", self.lower > 0.0 and self.upper >= _DECADE * self.lower)
        if self.logarithmic and self.lower <= 0.0:
            raise ParameterError(self.name, self.lower, "a lower bound above 0, as its scale is logarithmic")
        if self.start is None:
            object.__setattr__(self, "start", self.value(0.5))
        require_range(f"{self.name} start", self.start, self.lower, self.upper)

    def settings(self, value: float) -> dict[str, float]:
        """Settings by address that give the parameter a value."""
        return dict.fromkeys(self.addresses or (self.name,), value)

    def value(self, variable: float) -> float:
        """Value for a variable; 0 is the lower bound, 1 the upper."""
        if self.logarithmic:
            exponent = variable * math.log(self.upper / self.lower)
            return self.lower * math.exp(exponent) if exponent < math.log(1e300) else math.inf
        return self.lower + variable * (self.upper - self.lower)

    def variable(self, value: float) -> float:
        """Variable for a value."""
        if self.logarithmic:
            return math.log(value / self.lower) / math.log(self.upper / self.lower)
        return (value - self.lower) / (self.upper - self.lower)


def settings_of(parameters: Sequence[FitParameter], variables: np.ndarray) -> dict[str, Any]:
    """Settings by address for the variables, (parameters,)."""
    settings: dict[str, Any] = {}
    for parameter, variable in zip(parameters, variables, strict=True):
        settings |= parameter.settings(parameter.value(float(variable)))
    return settings
