"""Checks of the input of a motion."""

import math
from typing import Any

import numpy as np

from grouser.physics.base.checks import STEPS_MAX, as_float, require_count
from grouser.physics.base.errors import ParameterError


def three(name: str, value: Any) -> np.ndarray:
    """A vector of three finite numbers.

    Raises:
        ParameterError: it is not.
    """
    vector = finite(name, value)
    if vector.shape != (3,):
        raise ParameterError(name, value, "three numbers")
    return vector


def finite(name: str, value: Any) -> np.ndarray:
    """An array of finite numbers.

    Raises:
        ParameterError: it is not.
    """
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, value, "numbers") from None
    if not np.isfinite(array).all():
        raise ParameterError(name, array.tolist(), "finite numbers")
    return array


def check_steps(step: float, steps: int, every: int) -> None:
    """Checks the length of a step, their number, and how many lie between two points of a result.

    Raises:
        ParameterError: a step that is not above 0, or numbers that are not whole.
    """
    if not 0.0 < as_float(step) < math.inf:
        raise ParameterError("step", step, "above 0 s")
    require_count("steps", steps, 0, STEPS_MAX)
    require_count("every", every, 1, STEPS_MAX)
