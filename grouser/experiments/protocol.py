"""Protocol of an experiment: one module with `DESCRIPTION`, `PARAMETERS`, `REFERENCE`, `run` and `plot`.

    DESCRIPTION = "A hydraulic cylinder lifts a load (Strashnov and Mironenko, 2023)."

    PARAMETERS = {
        "load_mass": Parameter(100.0, "kg", "mass that is lifted", minimum=0.0),
        "scheme": Parameter("semi_implicit", "-", "pressure integration", choices=("split", "semi_implicit")),
    }

    def run(load_mass, scheme) -> Result: ...

    REFERENCE = {"t": "time", "xp": "position"}

    def plot(parameters, result, figure, reference): ...

`run` takes every parameter by name. `plot` draws the paper's axes on a matplotlib figure; `parameters` are the
arguments of `run`, `reference` holds tables of reference values, or none. `REFERENCE` has the columns of them that the
plot draws, and which result each is; the first is the one that the others are over. No experiment knows its references:
they are data (`grouser.references`). A new experiment is one file and one line in the registry of
`grouser.experiments`.
"""

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from grouser.experiments.drawing import Reference
from grouser.physics.base.errors import ParameterError

_MOST_STEPS = 10_000_000
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a word", list: "a list"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of an experiment; the type of the default is the type of its values.

    Attributes:
        default: a float (whole numbers are taken too), an int, a bool, a str, or a list of any form (a single number
            is taken for a list of one).
        unit: SI unit, "-" for none.
        description: its meaning.
        minimum, maximum: valid range of a number; None: open.
        above_minimum: whether the minimum itself is out of range.
        choices: valid values, where they can be listed.
        convert: for checks beyond a range: takes the value, returns the argument of `run`, or raises ValueError with
            the valid values.
    """

    default: float | int | bool | str | list
    unit: str = "-"
    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above_minimum: bool = False
    choices: tuple[float | int | str, ...] = ()
    convert: Callable[[Any], Any] | None = None

    def check(self, name: str, value: Any) -> Any:
        """Returns `value` as this parameter's type.

        Args:
            name: of the parameter, for the message.
            value: from YAML or Python.

        Raises:
            ParameterError: another type, not finite, or out of range.
        """
        typed = self._typed(name, value)
        if self.choices and typed not in self.choices:
            raise ParameterError(name, value, "choose " + " or ".join(str(choice) for choice in self.choices))
        if isinstance(typed, (int, float)) and not isinstance(typed, bool):
            low, high = self.minimum, self.maximum
            too_low = low is not None and (typed <= low if self.above_minimum else typed < low)
            if too_low or (high is not None and typed > high):
                raise ParameterError(name, value, self.valid())
        if self.convert is not None:
            try:
                return self.convert(typed)
            except ValueError as problem:
                raise ParameterError(name, value, str(problem)) from None
        return typed

    def valid(self) -> str:
        """The valid values in words."""
        if self.choices:
            return "one of " + ", ".join(str(choice) for choice in self.choices)
        kind = _KINDS[type(self.default)]
        bounds = []
        if self.minimum is not None:
            bounds.append(f"above {self.minimum:g}" if self.above_minimum else f"at least {self.minimum:g}")
        if self.maximum is not None:
            bounds.append(f"at most {self.maximum:g}")
        unit = f" [{self.unit}]" if self.unit != "-" else ""
        return kind + unit + (", " + " and ".join(bounds) if bounds else "")

    def _typed(self, name: str, value: Any) -> Any:
        kind = type(self.default)
        if kind in (int, float):
            if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
                raise ParameterError(name, value, self.valid())
            if not _is_finite(value) or (kind is int and value != int(value)):
                raise ParameterError(name, value, self.valid())
            return kind(value)
        if kind is list and isinstance(value, (list, tuple, np.ndarray)):
            return list(value)
        if kind is list and isinstance(value, (int, float)) and not isinstance(value, bool):
            return [value]
        if not isinstance(value, kind):
            raise ParameterError(name, value, self.valid())
        return value


def positive(default: float, unit: str, description: str) -> Parameter:
    """A number above zero."""
    return Parameter(default, unit, description, minimum=0.0, above_minimum=True)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        # A whole number beyond the range of a double.
        return False


@dataclass(frozen=True)
class Result:
    """Results of an experiment.

    Attributes:
        results: numbers, strings, booleans, lists or arrays by name; None for events that did not occur. Lists whose
            names begin with `sweep_` are the columns of a table, and are printed as one.
        units: SI units by the same names.
    """

    results: Mapping[str, Any]
    units: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.results[name]


class Experiment(Protocol):
    """The module of one experiment."""

    DESCRIPTION: str
    PARAMETERS: Mapping[str, Parameter]
    REFERENCE: Mapping[str, str]

    def run(self, **parameters: Any) -> Result:
        """Runs it with every parameter given."""

    def plot(self, parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
        """Draws the paper's axes with the results and, if given, the reference curves."""


def complete_parameters(experiment: Experiment, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a value for every parameter of an experiment: the given ones, checked, else the defaults.

    Raises:
        ParameterError: an unknown name, with the closest match, or a bad value.
    """
    for name, value in given.items():
        if name not in experiment.PARAMETERS:
            close = difflib.get_close_matches(name, experiment.PARAMETERS, n=1)
            hint = f"did you mean '{close[0]}'?" if close else "there are " + ", ".join(experiment.PARAMETERS)
            raise ParameterError(name, value, f"no such parameter; {hint}")
    declared = experiment.PARAMETERS
    return {name: parameter.check(name, given.get(name, parameter.default)) for name, parameter in declared.items()}


def count_steps(parameters: Mapping[str, Any]) -> int:
    """Number of steps of a run, by its parameters `step` and `duration`.

    Raises:
        ParameterError: a duration shorter than a step, or of more steps than there is room for.
    """
    duration, step = parameters["duration"], parameters["step"]
    if not step <= duration <= _MOST_STEPS * step:
        valid = f"from one step, {step:g}, to {_MOST_STEPS:.0e} steps, {_MOST_STEPS * step:g}"
        raise ParameterError("duration", duration, valid)
    return round(duration / step)


def as_json(name: str, parameters: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """Returns the contents of ``--json`` in plain Python types, without results that are None.

    Raises:
        ParameterError: a result is not finite, which JSON cannot hold.
    """
    results = {key: _plain(key, value) for key, value in result.results.items() if value is not None}
    return {
        "experiment": name,
        "parameters": {key: _plain(key, value) for key, value in parameters.items()},
        "results": results,
        "units": {key: result.units.get(key, "-") for key in results},
    }


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(name, item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(name, value, "results must be finite numbers")
    return value
