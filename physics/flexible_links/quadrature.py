"""Gauss quadrature over the smooth pieces of a beam."""

import numpy as np


def gauss_rule(pieces: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and weights of Gauss-Legendre quadrature in each piece.

    Args:
        pieces: ends of the pieces, ascending (pieces + 1,).
        points: in each piece; polynomials of degree 2 points - 1 are integrated exactly.

    Returns:
        Places and weights, ascending, (pieces * points,) each.
    """
    place, weight = np.polynomial.legendre.leggauss(points)
    half = 0.5 * np.diff(pieces)
    middle = 0.5 * (pieces[:-1] + pieces[1:])
    return (middle[:, None] + half[:, None] * place).ravel(), (half[:, None] * weight).ravel()


def merged(*pieces: np.ndarray) -> np.ndarray:
    """Ends of the pieces between all of the given ends, ascending; ends within rounding of each other are one."""
    ends = np.unique(np.concatenate(pieces))
    apart = np.diff(ends) > 1e-12 * ends[-1]
    return np.concatenate([ends[:-1][apart], ends[-1:]])
