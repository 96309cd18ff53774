"""Panels that are small where an integrand changes fast, and the nodes within them."""

from collections.abc import Iterable

import numpy as np
from numpy.polynomial import legendre

# Nodes of a panel.
_NODES = 5


def graded_panels(length: float, centres: Iterable[tuple[float, float]], longest: float = np.inf) -> np.ndarray:
    """Edges of panels on [0, length] that double their length with the distance from some points.

    Args:
        length: of the interval, above zero.
        centres: the points, each with the distance at which its finest panel ends, above zero.
        longest: greatest length of a panel.

    Returns:
        The edges, ascending, (panels + 1,).
    """
    edges = [0.0, length]
    for centre, finest in centres:
        if 0.0 <= centre <= length:
            edges.append(centre)
        distance = finest
        while distance < length:
            edges.extend(edge for edge in (centre - distance, centre + distance) if 0.0 < edge < length)
            distance *= 2.0
    coarse = np.unique(edges)
    coarse = coarse[np.append(True, np.diff(coarse) > 1e-12 * length)]
    coarse[-1] = length
    pieces = np.maximum(np.ceil(np.diff(coarse) / longest), 1.0).astype(int)
    starts = [
        low + (high - low) * np.arange(count) / count
        for low, high, count in zip(coarse[:-1], coarse[1:], pieces, strict=True)
    ]
    return np.append(np.concatenate(starts), length)


def gauss_nodes(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss in panels, each (nodes,)."""
    nodes, weights = legendre.leggauss(2 * _NODES)
    sizes = np.diff(edges)
    return (
        (edges[:-1, None] + 0.5 * sizes[:, None] * (nodes + 1.0)).ravel(),
        (0.5 * sizes[:, None] * weights).ravel(),
    )


def _radau() -> tuple[np.ndarray, np.ndarray]:
    top = np.zeros(_NODES + 1)
    top[-2:] = 1.0, -1.0
    nodes = np.sort(legendre.legroots(top).real)
    nodes[-1] = 1.0
    # Integrals of Legendre polynomials from the left end to each node, and the coefficients of the nodes' values.
    integrals = np.array([legendre.legval(nodes, legendre.legint(row, lbnd=-1.0)) for row in np.eye(_NODES)]).T
    matrix = 0.5 * integrals @ np.linalg.inv(legendre.legvander(nodes, _NODES - 1))
    return 0.5 * (nodes + 1.0), matrix


# Nodes of Radau IIA in [0, 1] and the integrals from 0 to each of them of what has given values at all; the last line
# has the weights. The method damps what decays faster than its panels resolve (Hairer and Wanner 1996, section IV.5).
RADAU_NODES, RADAU_MATRIX = _radau()
