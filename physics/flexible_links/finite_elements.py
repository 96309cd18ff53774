"""Finite elements of equal length: cubic Hermite functions for bending, linear ones for axial motion and twist."""

import numpy as np


class HermiteElements:
    """Deflection and slope of each node but the clamped one; between nodes the deflection is cubic."""

    def __init__(self, size: int, length: float):
        self.count = 2 * size
        self.breakpoints = np.linspace(0.0, length, size + 1)
        self.points = 5
        self._element = length / size

    def values(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Values or derivatives; see `ShapeFunctions`."""
        h, element, s = self._element, *_elements(x, self._element, self.count // 2)
        parts = {
            0: (1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)),
            1: ((6 * s**2 - 6 * s) / h, 1 - 4 * s + 3 * s**2, (6 * s - 6 * s**2) / h, 3 * s**2 - 2 * s),
            2: ((12 * s - 6) / h**2, (6 * s - 4) / h, (6 - 12 * s) / h**2, (6 * s - 2) / h),
        }[derivative]
        return _scattered(element, parts, 2, self.count)


class LinearElements:
    """Value of each node but the clamped one; between nodes it is linear."""

    def __init__(self, size: int, length: float):
        self.count = size
        self.breakpoints = np.linspace(0.0, length, size + 1)
        self.points = 3
        self._element = length / size

    def values(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Values or derivatives; see `ShapeFunctions`."""
        element, s = _elements(x, self._element, self.count)
        slope = np.full(len(s), 1.0 / self._element)
        return _scattered(element, (1.0 - s, s) if derivative == 0 else (-slope, slope), 1, self.count)


def _elements(x: np.ndarray, length: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Element of each place, and the place in it from 0 to 1."""
    element = np.clip(np.floor(x / length).astype(int), 0, count - 1)
    return element, x / length - element


def _scattered(element: np.ndarray, parts: tuple[np.ndarray, ...], stride: int, count: int) -> np.ndarray:
    """Values of an element's functions in the columns of its nodes; those of the clamped node are left out."""
    values = np.zeros((len(element), count + stride))
    rows = np.arange(len(element))
    for k, part in enumerate(parts):
        values[rows, stride * element + k] = part
    return values[:, stride:]
