"""Bounding boxes of collision shapes."""

from collections.abc import Iterable

import numpy as np

from grouser.physics.contact.shapes import CAPSULE, CYLINDER, POINTS, Shapes


def bounds_of(
    shapes: Shapes, chosen: Iterable[int], rotation: np.ndarray, position: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Least and greatest coordinates of some shapes along the world's axes [m], (3,) each; None for no shape.

    Args:
        shapes: all of them.
        chosen: indices of those to include.
        rotation, position: of the bodies in the world, (bodies, 3, 3) and (bodies, 3) [m]; the last entry is the world.
    """
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for s in chosen:
        turn = rotation[shapes.body[s]] @ shapes.rotation[s]
        middle = position[shapes.body[s]] + rotation[shapes.body[s]] @ shapes.position[s]
        if shapes.kind[s] == CYLINDER:
            radius, half_length = shapes.size[s, :2]
            along = turn[:, 2]
            reach = np.abs(along) * half_length + radius * np.sqrt(np.maximum(1.0 - along**2, 0.0))
            least, greatest = middle - reach, middle + reach
        else:
            radius = shapes.size[s, 0] if shapes.kind[s] in (POINTS, CAPSULE) else 0.0
            corners = middle + shapes.vertex[shapes.vertex_start[s] : shapes.vertex_start[s + 1]] @ turn.T
            least = corners.min(axis=0, initial=np.inf) - radius
            greatest = corners.max(axis=0, initial=-np.inf) + radius
        lower, upper = np.minimum(lower, least), np.maximum(upper, greatest)
    return (lower, upper) if np.all(lower <= upper) else None
