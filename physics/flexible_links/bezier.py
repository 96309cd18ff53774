"""Bezier curves: Bernstein polynomials of one degree over the whole beam."""

import numpy as np

from grouser.physics.flexible_links.b_spline import spline_values


class BezierCurve:
    """Transverse functions: those of the control points but the first two, which the clamped start holds."""

    held = 2

    def __init__(self, size: int, length: float):
        self.count = size + 1 - self.held
        self.breakpoints = np.array([0.0, length])
        self.points = size + 2
        self._degree = size

    def values(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Values or derivatives; see `ShapeFunctions`."""
        return spline_values(x, self.breakpoints, self._degree, derivative)[:, self.held :]


class BezierLine(BezierCurve):
    """Functions of axial displacement and twist: those of the control points but the first."""

    held = 1
