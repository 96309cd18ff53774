"""B-splines of third degree over segments of equal length, with open (clamped) knots.

After de Boor, "A Practical Guide to Splines" (1978), chapters IX and X.
"""

import numpy as np

DEGREE = 3


class SplineCurve:
    """Transverse functions: those of the control points but the first two, which the clamped start holds."""

    def __init__(self, size: int, length: float):
        self.count = size + DEGREE - 2
        self.breakpoints = np.linspace(0.0, length, size + 1)
        self.points = DEGREE + 2

    def values(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Values or derivatives; see `ShapeFunctions`."""
        return spline_values(x, self.breakpoints, DEGREE, derivative)[:, 2:]


class SplineLine:
    """Functions of axial displacement and twist; of lower degree if there are fewer than three."""

    def __init__(self, size: int, length: float):
        self.count = size
        self._degree = min(DEGREE, size)
        self.breakpoints = np.linspace(0.0, length, size - self._degree + 2)
        self.points = self._degree + 2

    def values(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Values or derivatives; see `ShapeFunctions`."""
        return spline_values(x, self.breakpoints, self._degree, derivative)[:, 1:]


def spline_values(x: np.ndarray, breakpoints: np.ndarray, degree: int, derivative: int) -> np.ndarray:
    """Values or derivatives of all B-splines of a degree over an interval.

    Args:
        x: places, (n,).
        breakpoints: ends of the segments, ascending.
        degree: of the polynomials; with one segment they are Bernstein's.
        derivative: its order, at most the degree.

    Returns:
        Shape (n, segments + degree).
    """
    knots = np.concatenate([[breakpoints[0]] * degree, breakpoints, [breakpoints[-1]] * degree])
    last = len(breakpoints) - 2
    segment = np.clip(np.searchsorted(breakpoints, x, side="right") - 1, 0, last)
    values = np.zeros((len(x), len(knots) - 1))
    values[np.arange(len(x)), segment + degree] = 1.0
    for order in range(1, degree + 1):
        span = knots[order:] - knots[:-order]
        scale = np.divide(1.0, span, out=np.zeros_like(span), where=span > 0.0)
        if order <= degree - derivative:
            rising = (x[:, None] - knots[:-order]) * scale
            values = rising[:, :-1] * values[:, :-1] + (1.0 - rising[:, 1:]) * (scale[1:] > 0.0) * values[:, 1:]
        else:
            values = order * (scale[:-1] * values[:, :-1] - scale[1:] * values[:, 1:])
    return values
