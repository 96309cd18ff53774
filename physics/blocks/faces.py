"""Faces that touch: their overlap, and the Gauss points of its springs."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from grouser.physics.blocks.polyhedron import Polyhedron

# Sine of the angle and share of the extent by which touching faces may be off each other, and the least area of an
# overlap as a share of the smaller face.
ALIGNMENT = 1e-6
_LEAST_OVERLAP = 1e-9
_NODES = {1: np.array([-1.0, 1.0]) / np.sqrt(3.0), 2: np.array([-1.0, 0.0, 1.0]) * np.sqrt(0.6)}
_WEIGHTS = {1: np.array([1.0, 1.0]), 2: np.array([5.0, 8.0, 5.0]) / 9.0}
# Outer end of the cell of each node: where the stress of the cell is largest.
_ENDS = {1: np.array([-1.0, 1.0]), 2: np.array([-1.0, 0.0, 1.0])}


class Joint(NamedTuple):
    """Two faces that touch.

    Attributes:
        blocks: numbers of the first and the second one.
        frame: normal out of the first block and two tangents as rows, (3, 3).
        points: Gauss points, (p, 3) [m], grouped by the quadrilaterals of the overlap.
        areas: of each, (p,) [m2].
    """

    blocks: tuple[int, int]
    frame: np.ndarray
    points: np.ndarray
    areas: np.ndarray


def find_joints(shapes: Sequence[Polyhedron], order: int) -> Iterator[Joint]:
    """Finds all pairs of faces that touch.

    Args:
        shapes: of the blocks.
        order: of their modes: 2 x 2 points for 1, 3 x 3 for 2.
    """
    lower = np.array([shape.vertices.min(axis=0) for shape in shapes])
    upper = np.array([shape.vertices.max(axis=0) for shape in shapes])
    slack = ALIGNMENT * (upper - lower).max(axis=1)
    for first, shape in enumerate(shapes):
        gap = np.maximum(lower[first + 1 :] - upper[first], lower[first] - upper[first + 1 :]).max(axis=1)
        for second in (first + 1 + np.flatnonzero(gap <= np.minimum(slack[first], slack[first + 1 :]))).tolist():
            for overlap, normal in _touching(shape, shapes[second], min(slack[first], slack[second])):
                frame = _frame(normal)
                yield Joint((first, second), frame, *gauss_points(overlap, order))


def gauss_points(outline: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points of a convex polygon in space and their areas; other than quadrilaterals are divided into some.

    Args:
        outline: corners, (k, 3).
        order: 1: 2 x 2 points a quadrilateral; 2: 3 x 3.
    """
    parts = [_quadrilateral_points(part, order) for part in _quadrilaterals(outline)]
    points, areas = (np.concatenate(column) for column in zip(*parts, strict=True))
    return points, areas


def cell_ends(order: int) -> np.ndarray:
    """Values at the outer ends of the cells of a quadrilateral by those at its Gauss points, (g, g).

    The polynomial through the Gauss points is continued to the edge: exact for bending.
    """
    nodes, ends = _NODES[order], _ENDS[order]
    along = np.ones((len(ends), len(nodes)))
    for place in range(len(nodes)):
        for other in range(len(nodes)):
            if other != place:
                along[:, place] *= (ends - nodes[other]) / (nodes[place] - nodes[other])
    return np.kron(along, along)


def _touching(first: Polyhedron, second: Polyhedron, slack: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Overlap and normal of each pair of faces that touch."""
    against = np.linalg.norm(first.normals[:, np.newaxis] + second.normals[np.newaxis], axis=2)
    for one, other in zip(*np.nonzero(against < ALIGNMENT), strict=True):
        normal, outline = first.normals[one], first.outline(one)
        distances = (second.outline(other) - outline[0]) @ normal
        if np.abs(distances).max() > slack:
            continue
        overlap = _clip(second.outline(other)[::-1] - distances[::-1, np.newaxis] * normal, outline, normal)
        if len(overlap) >= 3 and _area(overlap, normal) > _LEAST_OVERLAP * _area(outline, normal):
            yield overlap, normal


def _clip(subject: np.ndarray, window: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Part of a convex polygon inside another one in its plane, both counter-clockwise about the normal."""
    tiny = _LEAST_OVERLAP * np.ptp(window, axis=0).max()
    for start, end in zip(window, np.roll(window, -1, axis=0), strict=True):
        inward = np.cross(normal, end - start)
        heights = (subject - start) @ (inward / np.linalg.norm(inward))
        kept = []
        for point, height, following, next_height in zip(
            subject, heights, np.roll(subject, -1, axis=0), np.roll(heights, -1), strict=True
        ):
            if height >= -tiny:
                kept.append(point)
            if (height < -tiny and next_height > tiny) or (height > tiny and next_height < -tiny):
                kept.append(point + height / (height - next_height) * (following - point))
        subject = np.array(kept).reshape(-1, 3)
    return subject


def _area(outline: np.ndarray, normal: np.ndarray) -> float:
    return 0.5 * float(np.cross(outline, np.roll(outline, -1, axis=0)).sum(axis=0) @ normal)


def _frame(normal: np.ndarray) -> np.ndarray:
    first = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
    first /= np.linalg.norm(first)
    return np.array([normal, first, np.cross(normal, first)])


def _quadrilaterals(outline: np.ndarray) -> Iterator[np.ndarray]:
    if len(outline) == 4:
        yield outline
        return
    middle = outline.mean(axis=0)
    ahead = 0.5 * (outline + np.roll(outline, -1, axis=0))
    for corner, after, before in zip(outline, ahead, np.roll(ahead, 1, axis=0), strict=True):
        yield np.array([corner, after, middle, before])


def _quadrilateral_points(corners: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = _NODES[order], _WEIGHTS[order]
    u, v = (grid.ravel() for grid in np.meshgrid(nodes, nodes, indexing="ij"))
    shares = 0.25 * np.array([(1 - u) * (1 - v), (1 + u) * (1 - v), (1 + u) * (1 + v), (1 - u) * (1 + v)])
    along = 0.25 * np.array([-(1 - v), 1 - v, 1 + v, -(1 + v)])
    across = 0.25 * np.array([-(1 - u), -(1 + u), 1 + u, 1 - u])
    areas = np.linalg.norm(np.cross(along.T @ corners, across.T @ corners), axis=1)
    return shares.T @ corners, np.outer(weights, weights).ravel() * areas
