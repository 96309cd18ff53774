"""Regions of space, and their intersection with shapes, by the library coal."""

from collections.abc import Iterable
from typing import Any

import coal
import numpy as np

from grouser.nodes.services.bounds import RegionType
from grouser.nodes.services.host import Shape
from grouser.nodes.services.request_error import Reason, RequestError
from grouser.physics.description.data.rotation import matrix
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, Sphere

# A hull is flat if its corners lie this near to one plane, as a share of its size.
_FLATNESS = 1e-9


class Region:
    """A part of space in the world frame.

    Args:
        kind: its number in the message.
        points: that define it, (n, 3): see Bounds.msg.

    Raises:
        RequestError: the kind is not known, or its points do not make one.
    """

    def __init__(self, kind: int, points: np.ndarray) -> None:
        if kind not in (RegionType.BOX, RegionType.CONVEX_HULL, RegionType.SPHERE):
            raise RequestError(Reason.FEATURE_UNSUPPORTED, f"bounds of type {kind} are not known")
        if not np.isfinite(points).all():
            raise _refusal("finite numbers")
        self._pose = coal.Transform3s()
        if kind == RegionType.SPHERE:
            if len(points) != 2 or not points[1, 0] >= 0.0:
                raise _refusal("a sphere's centre, and its radius as x of the second point")
            self._solid: Any = coal.Sphere(points[1, 0])
            self._pose.setTranslation(points[0])
        elif kind == RegionType.BOX:
            if len(points) != 2:
                raise _refusal("two corners of a box")
            self._solid = coal.Box(*np.abs(points[0] - points[1]).tolist())
            self._pose.setTranslation(points.mean(axis=0))
        else:
            self._solid = _hull(points)

    def meets(self, shapes: Iterable[Shape]) -> bool:
        """Whether any of these shapes reaches into the region, or touches it."""
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        for shape in shapes:
            for solid, position in _solids(shape):
                pose = coal.Transform3s()
                pose.setRotation(matrix(shape.pose.quaternion))
                pose.setTranslation(position)
                result.clear()
                if coal.collide(self._solid, self._pose, solid, pose, request, result):
                    return True
        return False


def _solids(shape: Shape) -> list[tuple[Any, np.ndarray]]:
    """The convex solids of a shape as coal knows them, and where each is in the world."""
    geometry, place = shape.geometry, np.array(shape.pose.position)
    if isinstance(geometry, Box):
        return [(coal.Box(*geometry.size), place)]
    if isinstance(geometry, Sphere):
        return [(coal.Sphere(geometry.radius), place)]
    if isinstance(geometry, Cylinder):
        return [(coal.Cylinder(geometry.radius, geometry.length), place)]
    if isinstance(geometry, Capsule):
        return [(coal.Capsule(geometry.radius, geometry.length), place)]
    if isinstance(geometry, Mesh):
        return [(_hull(geometry.hull), place)]
    points = geometry.points @ matrix(shape.pose.quaternion).T + place
    return [(coal.Sphere(geometry.radius), point) for point in points]


def _hull(points: np.ndarray) -> Any:
    """The convex hull of points for coal."""
    corners, faces = _faces(points)
    vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for corner in corners:
        vertices.append(corner)
    for face in faces:
        triangles.append(coal.Triangle(*face))
    return coal.Convex(vertices, triangles)


def _faces(points: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    """Corners of the convex hull of points, (m, 3), and triangles between them, of any orientation."""
    from scipy.spatial import ConvexHull, QhullError  # takes long to import, and few regions are hulls

    centred = points - points.mean(axis=0)
    _, extents, axes = np.linalg.svd(centred, full_matrices=False)
    if len(points) < 3 or not extents[1] > _FLATNESS * extents[0]:
        raise _refusal("three or more corners of a hull that are not on one line")
    try:
        if len(points) == 3 or extents[2] <= _FLATNESS * extents[0]:
            corners = points[ConvexHull(centred @ axes[:2].T).vertices]
            return corners, [[0, k, k + 1] for k in range(1, len(corners) - 1)]
        hull = ConvexHull(points)
    except QhullError as error:
        raise _refusal(f"corners of a hull: {str(error).splitlines()[0]}") from None
    number = np.zeros(len(points), dtype=int)
    number[hull.vertices] = np.arange(len(hull.vertices))
    return points[hull.vertices], number[hull.simplices].tolist()


def _refusal(valid: str) -> RequestError:
    return RequestError(Reason.OPERATION_FAILED, f"the bounds are not valid: {valid} are needed")
