"""Size classes of grains: each holds radii from half of its largest."""

import numpy as np


def size_classes(least: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Largest radius of each size class, ascending [m].

    The last class begins at the largest radius of all, the one before it at the largest radius below half of that, and
    so on: radii that differ by up to a factor of two are one class.

    Args:
        least, largest: of ranges of radii, or of single grains [m], (ranges,).
    """
    found: list[float] = []
    while len(largest):
        found.append(float(largest.max()))
        below = least < 0.5 * found[-1]
        least, largest = least[below], np.minimum(largest[below], 0.5 * found[-1])
    return np.array(found[::-1])
