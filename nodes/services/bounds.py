"""Bounds in messages: their kinds, and bounding boxes of shapes."""

from collections.abc import Iterable
from enum import IntEnum

import numpy as np

from grouser.nodes.services.host import Shape
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix
from grouser.physics.description.data.shapes import Box, Cylinder, Mesh, PointSet, Sphere


class RegionType(IntEnum):
    """Kinds of regions, with the numbers of Bounds.msg."""

    EMPTY = 0
    BOX = 1
    CONVEX_HULL = 2
    SPHERE = 3


def box_around(shapes: Iterable[Shape], frame: Pose) -> tuple[np.ndarray, np.ndarray] | None:
    """Lower and upper corner of the bounding box of shapes along a frame's axes, in that frame, (3,) each.

    None without shapes.
    """
    turn, origin = matrix(frame.quaternion).T, np.array(frame.position)
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for shape in shapes:
        rotation, position = turn @ matrix(shape.pose.quaternion), turn @ (np.array(shape.pose.position) - origin)
        points, radius, disc = _skeleton(shape)
        places = points @ rotation.T + position
        # the extent of a disc along x, y and z is its radius times the sine of the angle of its axis
        reach = radius + disc * np.sqrt(np.maximum(1.0 - rotation[:, 2] ** 2, 0.0))
        lower, upper = np.minimum(lower, places.min(axis=0) - reach), np.maximum(upper, places.max(axis=0) + reach)
    return (lower, upper) if np.isfinite(lower).all() else None


def _skeleton(shape: Shape) -> tuple[np.ndarray, float, float]:
    """Points of a shape in its frame, (n, 3), and the radii of the ball and of the disc about z that sweep it out."""
    geometry = shape.geometry
    if isinstance(geometry, Box):
        signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
        return signs * geometry.size, 0.0, 0.0
    if isinstance(geometry, Mesh):
        return geometry.hull, 0.0, 0.0
    if isinstance(geometry, PointSet):
        return geometry.points, geometry.radius, 0.0
    if isinstance(geometry, Sphere):
        return np.zeros((1, 3)), geometry.radius, 0.0
    ends = np.array([[0.0, 0.0, -0.5 * geometry.length], [0.0, 0.0, 0.5 * geometry.length]])
    if isinstance(geometry, Cylinder):
        return ends, 0.0, geometry.radius
    return ends, geometry.radius, 0.0
