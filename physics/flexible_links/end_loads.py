"""Static shapes of a beam under loads at its end, beside functions that do not contain them.

Modes of a free end have neither curvature nor shear there, so that sums of them converge slowly to the deflection under
a load at the end. With its static shape among the functions that deflection is exact, whatever the number of modes:
residual vectors, after MacNeal, "A hybrid method of component mode synthesis" (1971).
"""

from collections.abc import Callable

import numpy as np

from grouser.physics.flexible_links.quadrature import gauss_rule
from grouser.physics.flexible_links.shape_functions import ShapeFunctions

# Points of quadrature of a compliance, in each piece in which the stiffness is linear.
_POINTS = 16

_Function = Callable[[np.ndarray], np.ndarray]


class WithEndLoads:
    """Functions, and behind them the static shapes: of a moment and a force in bending, of a force or a moment else.

    Args:
        functions: of one kind of deformation.
        pieces: ends of the pieces in which the stiffness is linear, ascending from 0 to the length [m].
        stiffness: E I, E A or G J at places within the pieces, (n,) -> (n,).
        bends: whether the deformation is bending.
    """

    def __init__(self, functions: ShapeFunctions, pieces: np.ndarray, stiffness: _Function, bends: bool):
        self.count = functions.count + (2 if bends else 1)
        self.breakpoints, self.points = functions.breakpoints, functions.points
        self._functions, self._pieces, self._stiffness, self._bends = functions, pieces, stiffness, bends
        # of unit deflection under a uniform stiffness, so that all columns are of one size
        self._scale = stiffness(0.5 * pieces[:1] + 0.5 * pieces[1:2])[0]

    def values(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Values or derivatives; see `ShapeFunctions`."""
        static = self._bent(x, derivative) if self._bends else self._drawn(x, derivative)
        return np.hstack([self._functions.values(x, derivative), static])

    def _bent(self, x: np.ndarray, derivative: int) -> np.ndarray:
        length = self._pieces[-1]

        def curvature(s: np.ndarray) -> np.ndarray:
            share = self._scale / self._stiffness(s) / length**2
            return np.stack([share, share * (1.0 - s / length)], axis=-1)

        if derivative == 2:
            return curvature(x)
        # v' = int v'' ds, v = int (x - s) v'' ds = x v' - int s v'' ds
        slope = self._integral(x, curvature)
        if derivative == 1:
            return slope
        return x[:, None] * slope - self._integral(x, lambda s: s[:, None] * curvature(s))

    def _drawn(self, x: np.ndarray, derivative: int) -> np.ndarray:
        def strain(s: np.ndarray) -> np.ndarray:
            return (self._scale / self._stiffness(s) / self._pieces[-1])[:, None]

        return self._integral(x, strain) if derivative == 0 else strain(x)

    def _integral(self, x: np.ndarray, integrand: _Function) -> np.ndarray:
        """Integrals from the start to places in any order, (n, columns)."""
        ends = np.unique(np.concatenate([self._pieces, x]))
        place, weight = gauss_rule(ends, _POINTS)
        parts = (weight[:, None] * integrand(place)).reshape(len(ends) - 1, _POINTS, -1).sum(axis=1)
        total = np.vstack([np.zeros((1, parts.shape[1])), np.cumsum(parts, axis=0)])
        return total[np.searchsorted(ends, x)]
