"""Assumed modes: vibration modes of a uniform beam, clamped at its start and free at its end."""

import numpy as np

# Points of Gauss quadrature beyond one a radian of the highest function: the products converge faster than any power.
_POINTS = 16


class ClampedFreeModes:
    """Bending modes: cosh z - cos z - s (sinh z - sin z), z = l x / length, with cos l cosh l = -1.

    The growing and the decaying exponential are kept apart, so that high modes lose no digits.
    """

    def __init__(self, size: int, length: float):
        self.count = size
        self.breakpoints = np.array([0.0, length])
        wave = (np.arange(size) + 0.5) * np.pi
        for _ in range(20):
            decay = 1.0 / np.cosh(wave)
            wave = wave + (np.cos(wave) + decay) / (np.sin(wave) + decay * np.tanh(wave))
        self.points = int(wave[-1]) + _POINTS
        self._wave, self._length = wave, length
        end = np.exp(-wave)
        # (1 - s) / 2 exp(wave): factor of the exponential that grows towards the end
        self._grow = (np.sin(wave) - np.cos(wave) - end) / (1.0 - end**2 + 2.0 * end * np.sin(wave))
        self._shrink = self._grow * end

    def values(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Values or derivatives; see `ShapeFunctions`."""
        z = np.outer(x / self._length, self._wave)
        grow, decay = self._grow * np.exp(z - self._wave), (1.0 - self._shrink) * np.exp(-z)
        sine, cosine, s = np.sin(z), np.cos(z), 1.0 - 2.0 * self._shrink
        if derivative == 0:
            value = grow + decay - cosine + s * sine
        elif derivative == 1:
            value = grow - decay + sine + s * cosine
        else:
            value = grow + decay + cosine - s * sine
        return value * (self._wave / self._length) ** derivative


class ClampedFreeWaves:
    """Axial and torsional modes: sin((k - 1/2) pi x / length)."""

    def __init__(self, size: int, length: float):
        self.count = size
        self.breakpoints = np.array([0.0, length])
        self._wave = (np.arange(size) + 0.5) * np.pi / length
        self.points = int(size * np.pi) + _POINTS

    def values(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Values or derivatives; see `ShapeFunctions`."""
        z = np.outer(x, self._wave)
        return np.sin(z) if derivative == 0 else self._wave * np.cos(z)
