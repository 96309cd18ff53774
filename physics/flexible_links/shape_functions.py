"""What a discretisation of a beam gives: functions of the place along it, from which its deflections are composed."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np


class ShapeFunctions(Protocol):
    """Functions of the place x along a beam, zero at its start x = 0.

    Transverse functions have a zero slope there as well: the beam is clamped to its link's frame.

    Attributes:
        count: number of functions.
        breakpoints: ascending from 0 to the length [m]; between two of them every function is smooth.
        points: of Gauss quadrature between two breakpoints, which integrate the product of two functions and a linear
            one to rounding.
    """

    count: int
    breakpoints: np.ndarray
    points: int

    def values(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Values, or derivatives with respect to x, at places along the beam.

        Args:
            x: places [m], (n,), from 0 to the length.
            derivative: 0, 1 or 2; 0 or 1 for axial and torsional functions.

        Returns:
            Shape (n, count).
        """
        ...


class Discretisation(NamedTuple):
    """A way to choose the functions; a new one is a file and a row in `discretisations`.

    Attributes:
        transverse: makes the functions of one bending direction from the size and the length [m].
        along: makes the functions of axial displacement, or of twist, from their number and the length [m].
    """

    transverse: Callable[[int, float], ShapeFunctions]
    along: Callable[[int, float], ShapeFunctions]
