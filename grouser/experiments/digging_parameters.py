"""Parameters of experiments with tools in soil: lists of numbers, which are taken item by item."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from grouser.experiments.protocol import Parameter
from grouser.physics.base.errors import ParameterError
from grouser.physics.digging.wedge import CutSoil

# Largest number of items of a list.
_MOST = 10_000


def numbers(default: float, unit: str, description: str, least: float, greatest: float) -> Parameter:
    """A list of numbers in a range; a single number is a list of one."""
    convert = numbers_within(least, greatest, unit, _MOST)
    return Parameter([default], unit, f"{description}: {_range(least, greatest, unit)}", convert=convert)


def numbers_within(
    least: float, greatest: float, unit: str = "-", most: float = math.inf
) -> Callable[[list], list[float]]:
    """A conversion that takes a list of numbers in a range, at most so many."""

    def convert(value: list) -> list[float]:
        if not 0 < len(value) <= most or not all(
            type(item) in (int, float) and least <= item <= greatest for item in value
        ):
            raise ValueError(_range(least, greatest, unit))
        return [float(item) for item in value]

    return convert


def _range(least: float, greatest: float, unit: str) -> str:
    return f"numbers from {least:g} to {greatest:g}" + (f" [{unit}]" if unit != "-" else "")


def cut_soil_of(row: Mapping[str, float]) -> CutSoil:
    """The soil of a row of `SOIL`."""
    friction, tool_friction = math.radians(row["friction_angle_deg"]), math.radians(row["tool_friction_deg"])
    return CutSoil(row["density"], friction, row["cohesion"], tool_friction, row["adhesion"])


SOIL = {
    "friction_angle_deg": numbers(28.0, "deg", "phi", 0.0, 50.0),
    "tool_friction_deg": numbers(20.0, "deg", "delta, between tool and soil", 0.0, 50.0),
    "cohesion": numbers(6e3, "Pa", "c", 0.0, 1e6),
    "adhesion": numbers(1.5e3, "Pa", "c_a, between tool and soil", 0.0, 1e6),
    "density": numbers(1700.0, "kg/m3", "rho", 1.0, 5000.0),
    "gravity": numbers(9.81, "m/s2", "g", 0.0, 1e3),
}


def rows_of(parameters: Mapping[str, Any], names: Sequence[str]) -> Iterator[dict[str, float]]:
    """The sets of numbers that lists stand for: one for each item; lists of one hold for all.

    Raises:
        ParameterError: lists of several lengths.
    """
    count = max(len(parameters[name]) for name in names)
    for name in names:
        if len(parameters[name]) not in (1, count):
            longest = next(other for other in names if len(parameters[other]) == count)
            raise ParameterError(name, parameters[name], f"one number, or {count} as {longest} has")
    for k in range(count):
        yield {name: parameters[name][k if len(parameters[name]) > 1 else 0] for name in names}


def varied(parameters: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of the parameters that has several values, for the axis of a plot; the first of all if none has."""
    return next((name for name in names if len(set(parameters[name])) > 1), names[0])
