"""Checks of values that come from outside; each refuses with a `ParameterError` and returns the value as it is used."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from grouser.physics.base.errors import ParameterError

T = TypeVar("T")
# Largest coordinate [m], speed [m/s or rad/s] or other number without a range of its own.
VALUE_MAX = 1e9
# Largest length, extent or radius of a body [m].
SIZE_MAX = 1e6
# Largest count of steps in one call.
STEPS_MAX = 10**12
# Tolerance of the length of a quaternion, as a share: that of tf2.
_UNIT_TOLERANCE = 5e-3
# Deviation of the length of a quaternion that rounding explains; a larger one is normalised.
_ROUNDING = 1e-9
_NO_NUMBERS = (bool, np.bool_, str, bytes, bytearray)


def as_float(value: object) -> float:
    """A number as a float; NaN for what is none: a truth value, a text, an array."""
    if type(value) is float:
        return value
    if isinstance(value, _NO_NUMBERS) or (isinstance(value, np.ndarray) and value.ndim):
        return math.nan
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def require_type(name: str, value: Any, expected: Any, valid: str) -> Any:
    """Refuses a value of another type."""
    if not isinstance(value, expected):
        raise ParameterError(name, value, valid)
    return value


def require_range(name: str, value: object, lowest: float, highest: float, unit: str = "") -> float:
    """Refuses a number outside its range, NaN included."""
    number = as_float(value)
    if not lowest <= number <= highest:
        unit = f" {unit}" if unit else ""
        raise ParameterError(name, value, f"a number from {lowest:g} to {highest:g}{unit}")
    return number


def require_size(name: str, value: object) -> float:
    """Refuses what is no length above zero."""
    size = require_range(name, value, 0.0, SIZE_MAX, "m, above 0")
    if size == 0.0:
        raise ParameterError(name, value, f"above 0, at most {SIZE_MAX:g} m")
    return size


def require_count(name: str, value: object, lowest: int, highest: int, what: str = "") -> int:
    """Refuses what is no whole number of its range; a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not lowest <= value <= highest:
        raise ParameterError(name, value, f"a whole number{what}, from {lowest} to {highest:.15g}")
    return int(value)


def require_vector(name: str, value: Any, count: int, unit: str = "", highest: float = VALUE_MAX) -> tuple:
    """Refuses what is no list of `count` numbers of at most `highest`; returns a tuple of floats."""
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    if listed or (isinstance(value, np.ndarray) and value.ndim == 1):
        numbers = tuple(map(as_float, value))
        if len(numbers) == count and all(abs(number) <= highest for number in numbers):
            return numbers
    unit = f" {unit}" if unit else ""
    raise ParameterError(name, value, f"{count} numbers from {-highest:g} to {highest:g}{unit}")


def require_quaternion(name: str, value: object) -> tuple[float, float, float, float]:
    """Refuses what is no quaternion of length one; normalises one whose length is off by more than rounding."""
    x, y, z, w = require_vector(name, value, 4)
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if not abs(length - 1.0) <= _UNIT_TOLERANCE:
        raise ParameterError(name, value, f"x y z w of length 1; its length is {length:g}")
    if abs(length - 1.0) <= _ROUNDING:
        return x, y, z, w
    return x / length, y / length, z / length, w / length


def require_items(name: str, value: object, expected: type[T], valid: str) -> tuple[T, ...]:
    """Refuses what is no sequence of values of a type; returns a tuple."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping | np.ndarray):
        raise ParameterError(name, value, f"a list; each {valid}")
    return tuple(require_type(f"{name}[{number}]", item, expected, valid) for number, item in enumerate(value))


def require_mapping(name: str, value: object, valid: str) -> Mapping[Any, Any]:
    """Refuses what is no mapping."""
    return require_type(name, value, Mapping, valid)


def require_unique(name: str, names: Sequence[str]) -> None:
    """Refuses a name that is given twice."""
    twice = next((one for number, one in enumerate(names) if one in names[:number]), None)
    if twice is not None:
        raise ParameterError(name, twice, "names of which each is given once")
