"""Shapes of flexible links in pieces across the elastic axis, so that they bend with it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, PointSet
from grouser.physics.description.urdf.hulls import HullError, bounded_hull

_PARALLEL = 1.0 - 1e-6
# Share of a shape's length below which a piece is left out.
_SLIVER = 1e-6

Piece = tuple[int, Pose, Geometry]


class Axis(NamedTuple):
    """The elastic axis in the link frame, and where shapes are cut.

    Attributes:
        start: [m], (3,).
        direction: unit vector, (3,).
        cuts: places along the axis, ascending [m]; piece k is between cuts k - 1 and k, piece 0 before the first.
    """

    start: np.ndarray
    direction: np.ndarray
    cuts: np.ndarray

    def along(self, points: np.ndarray) -> np.ndarray:
        """Places of points of the link frame along the axis [m], (n,)."""
        return (points - self.start) @ self.direction

    def spans(self, low: float, high: float) -> Iterator[tuple[int, float, float]]:
        """Pieces of an interval: number and ends."""
        ends = np.array([low, *self.cuts[(self.cuts > low) & (self.cuts < high)], high])
        for begin, end in pairwise(ends):
            if end - begin > _SLIVER * (high - low):
                yield int(np.searchsorted(self.cuts, 0.5 * (begin + end))), float(begin), float(end)


def cut_shape(geometry: Geometry, pose: Pose, axis: Axis) -> list[Piece]:
    """Pieces of a shape: number of the piece, pose in the link frame and geometry.

    Boxes, cylinders and capsules along the axis, hulls of meshes and point sets are cut; the pieces of a capsule are
    capsules. Other shapes, and the triangles of visual meshes, stay whole, at the piece of their origin.
    """
    turn, centre = matrix(pose.quaternion), np.array(pose.position)
    along = turn.T @ axis.direction
    if isinstance(geometry, Box) and np.abs(along).max() >= _PARALLEL:
        side = int(np.abs(along).argmax())
        return [
            (number, place, Box(tuple(np.where(np.arange(3) == side, length, geometry.size).tolist())))
            for number, place, length in _straight(pose, centre, geometry.size[side], axis)
        ]
    if isinstance(geometry, Cylinder | Capsule) and abs(along[2]) >= _PARALLEL:
        return [
            (number, place, replace(geometry, length=length))
            for number, place, length in _straight(pose, centre, geometry.length, axis)
        ]
    if isinstance(geometry, PointSet):
        numbers = np.searchsorted(axis.cuts, axis.along(centre + geometry.points @ turn.T))
        return [
            (int(k), pose, replace(geometry, points=_fixed(geometry.points[numbers == k]))) for k in np.unique(numbers)
        ]
    if isinstance(geometry, Mesh) and len(geometry.hull):
        return list(_hull_pieces(geometry, pose, axis.along(centre + geometry.hull @ turn.T), axis))
    return [(int(np.searchsorted(axis.cuts, axis.along(centre[None])[0])), pose, geometry)]


def _straight(pose: Pose, centre: np.ndarray, length: float, axis: Axis) -> Iterator[tuple[int, Pose, float]]:
    """Pieces of a prism along the axis: number, pose and length."""
    middle = float(axis.along(centre[None])[0])
    for number, begin, end in axis.spans(middle - 0.5 * length, middle + 0.5 * length):
        x, y, z = (centre + (0.5 * (begin + end) - middle) * axis.direction).tolist()
        yield number, replace(pose, position=(x, y, z)), end - begin


def _hull_pieces(mesh: Mesh, pose: Pose, places: np.ndarray, axis: Axis) -> Iterator[Piece]:
    """Pieces of a hull, whose vertices are at these places along the axis."""
    points = mesh.hull
    for number, begin, end in axis.spans(float(places.min()), float(places.max())):
        inside = points[(places >= begin) & (places <= end)]
        cut = np.concatenate([inside, *(_crossings(points, places, level) for level in (begin, end))])
        try:
            hull = bounded_hull(np.unique(cut, axis=0))
        except HullError:
            continue
        yield number, pose, replace(mesh, hull=_fixed(hull.vertices))


def _crossings(points: np.ndarray, places: np.ndarray, level: float) -> np.ndarray:
    """Where the lines between points on both sides of a plane cross it: they hold the corners of the hull's section."""
    below, above = places < level, places > level
    low, high = points[below][:, None], points[above][None]
    share = (level - places[below])[:, None] / (places[above][None] - places[below][:, None])
    return (low + share[..., None] * (high - low)).reshape(-1, 3)


def _fixed(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
