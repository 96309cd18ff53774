"""Convex hulls with few vertices: exact where they are small, else a subset of the vertices with a measured error.

Contacts cost as much as the hulls have vertices, and scans or finely tessellated parts have tens of thousands. The
subset begins with the extents along the axes and the outlines of the flat faces, on which a body stands. Then the
points that lie farthest outside are added, some for each round, until the error is small or the vertices are used up.
"""

from typing import NamedTuple

import numpy as np

# Vertices of a hull. Collision libraries number a vertex's neighbours with eight bits.
MOST_VERTICES = 240
# Largest error of a simplified hull as a share of the extent in each principal direction, unless MOST_VERTICES are
# reached first.
TOLERANCE = 1e-3
# Below this share of the largest principal extent points are flat: their hull is found in the plane or on the line.
_FLATNESS = 1e-9
# The exact hull of more points, all on a sphere, would take seconds and hundreds of megabytes.
_EXACT_POINTS = 100_000
# Flat faces: their number; least area, as a share of the squared extent; distance of their points from the plane, as a
# share of the extent along the normal; most vertices of an outline; steps of the normals by which triangles are
# gathered. Coordinates of single precision add a share of the largest extent to that distance.
_FACES, _FACE_AREA, _FACE_DEPTH, _OUTLINE, _NORMAL_STEPS = 64, 3e-3, 1e-5, 32, 1000.0
_SINGLE = 1e-7
# Of more hull points, only the farthest ones in a grid of directions are chosen from: cells along the edge of a cube.
_MOST_CANDIDATES, _DIRECTION_CELLS = 20_000, 60
# A round adds points that lie outside by more than this share of the largest distance.
_ROUND_SHARE = 0.4
# An extent below this share of the largest one is not stretched: contacts take such a hull as flat.
_THINNEST = 1e-6
# Points are on a face to this share of their largest coordinate.
_ROUNDING = 1e-12
# Numbers of a matrix of points by faces, which bounds the memory.
_CHUNK = 4_000_000


class HullError(Exception):
    """Points that have no hull; the text gives the reason."""


class Hull(NamedTuple):
    """Convex hull of points.

    Attributes:
        vertices: (n, 3), a subset of the points.
        error: upper bound of the distance by which the points lie outside, in the points' unit; 0 for an exact hull.
    """

    vertices: np.ndarray
    error: float


def bounded_hull(points: np.ndarray, triangles: np.ndarray | None = None) -> Hull:
    """Returns the hull of points in space, in a plane, on a line or at one place, with at most MOST_VERTICES vertices.

    Args:
        points: (n, 3), finite, at least one; without repetitions.
        triangles: corners of the triangles between the points, (m, 3, 3), whose flat faces are kept; None for none.

    Raises:
        HullError: the points have no hull.
    """
    centred = points - points.mean(axis=0)
    _, extents, axes = np.linalg.svd(centred, full_matrices=False)
    rank = int(np.count_nonzero(extents > _FLATNESS * max(extents[0], 1e-300)))
    along = centred @ axes[:rank].T
    if rank == 0:
        return Hull(points[:1], 0.0)
    if rank == 1:
        return Hull(points[np.sort([along[:, 0].argmin(), along[:, 0].argmax()])], 0.0)
    corners = np.arange(len(points))
    if len(points) <= _EXACT_POINTS:
        corners = np.sort(_convex_hull(along).vertices)
        if len(corners) <= MOST_VERTICES:
            return Hull(points[corners], 0.0)
    # In stretched axes all extents are one: a thin part keeps its shape as well as a thick one.
    spans = np.ptp(along, axis=0)
    stretched = along[corners] / np.maximum(spans, _THINNEST * spans.max())
    seeds = _extreme(centred[corners], np.concatenate([np.eye(3), axes[:rank]]))
    if triangles is not None and rank == 3:
        outlines = _flat_outlines(points[corners], triangles, float(np.ptp(points, axis=0).max()))
        seeds = np.concatenate([seeds, outlines])
    chosen = _select(stretched, seeds, MOST_VERTICES)
    return Hull(points[corners[chosen]], _distance_outside(along[corners], chosen))


def _select(points: np.ndarray, seeds: np.ndarray, most: int) -> np.ndarray:
    """Indices of points whose hull contains all points to TOLERANCE, at most `most`.

    Args:
        points: in the plane or in space, (n, 2) or (n, 3), with extents of about one.
        seeds: indices of points on the hull that are taken first.
        most: more than the seeds.
    """
    chosen = _spanning(points, seeds)
    left = _in_each_direction(points) if len(points) > _MOST_CANDIDATES else np.arange(len(points))
    while True:
        hull = _convex_hull(points[chosen])
        excess, face = _farthest_face(points[left], hull.equations)
        outside = excess > TOLERANCE
        left, excess, face = left[outside], excess[outside], face[outside]
        if len(left) == 0 or len(chosen) >= most:
            return np.sort(chosen[hull.vertices])
        order = np.lexsort((left, -excess))
        _, first = np.unique(face[order], return_index=True)  # the farthest point of each face
        farthest = order[np.sort(first)]
        farthest = farthest[excess[farthest] >= _ROUND_SHARE * excess.max()]
        chosen = np.union1d(chosen, left[farthest[: most - len(chosen)]])


def _in_each_direction(points: np.ndarray) -> np.ndarray:
    """Indices of the points that are farthest from the middle of the extents, in each cell of a grid of directions."""
    ray = points - 0.5 * (points.min(axis=0) + points.max(axis=0))
    largest = np.abs(ray).max(axis=1)
    share = ray / np.maximum(largest, 1e-300)[:, None]
    cells = np.clip(((share + 1.0) * 0.5 * _DIRECTION_CELLS).astype(np.int64), 0, _DIRECTION_CELLS - 1)
    number = cells @ _DIRECTION_CELLS ** np.arange(points.shape[1])
    order = np.lexsort((-np.linalg.norm(ray, axis=1), number))
    return np.sort(order[np.unique(number[order], return_index=True)[1]])


def _distance_outside(points: np.ndarray, chosen: np.ndarray) -> float:
    """Largest distance of points from the hull of some of them, in the points' unit."""
    hull = _convex_hull(points[chosen])
    farthest = 0.0
    rows = max(1, _CHUNK // len(hull.equations))
    for start in range(0, len(points), rows):
        part = points[start : start + rows]
        above = part @ hull.equations[:, :-1].T + hull.equations[:, -1]
        # The nearest point of the hull is on a face that is seen from the point.
        point, face = np.nonzero(above > _ROUNDING * np.abs(part).max())
        if len(point):
            _, first = np.unique(point, return_index=True)
            distance = _distance_from_face(part[point], hull.points[hull.simplices[face]])
            farthest = max(farthest, float(np.minimum.reduceat(distance, first).max()))
    return farthest


def _farthest_face(points: np.ndarray, equations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Largest distance of each point above the planes of the faces, negative inside, and the face."""
    excess, face = np.empty(len(points)), np.empty(len(points), dtype=np.int64)
    rows = max(1, _CHUNK // len(equations))
    for start in range(0, len(points), rows):
        part = slice(start, start + rows)
        above = points[part] @ equations[:, :-1].T + equations[:, -1]
        face[part] = above.argmax(axis=1)
        excess[part] = np.take_along_axis(above, face[part, None], axis=1)[:, 0]
    return excess, face


def _distance_from_face(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Distance of points from segments or triangles, one each, (n,).

    Args:
        points: (n, d).
        faces: corners, (n, d, d).
    """
    if points.shape[1] == 3:
        from trimesh.triangles import closest_point

        nearest = closest_point(faces, points)
    else:
        start, span = faces[:, 0], faces[:, 1] - faces[:, 0]
        share = np.einsum("ij,ij->i", points - start, span) / np.einsum("ij,ij->i", span, span)
        nearest = start + np.clip(share, 0.0, 1.0)[:, None] * span
    return np.linalg.norm(points - nearest, axis=1)


def _flat_outlines(points: np.ndarray, triangles: np.ndarray, size: float) -> np.ndarray:
    """Indices of the outlines of the largest flat faces on the hull, at most half of MOST_VERTICES."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    area = 0.5 * np.linalg.norm(normal, axis=1)
    normal, area = normal[area > 0.0], area[area > 0.0]
    bins = np.round(normal / (2.0 * area[:, None]) * _NORMAL_STEPS).astype(np.int64) + 2 * int(_NORMAL_STEPS)
    keys = (bins[:, 0] << 40) + (bins[:, 1] << 20) + bins[:, 2]
    _, number = np.unique(keys, return_inverse=True)
    areas = np.bincount(number, area)
    sums = np.stack([np.bincount(number, normal[:, k]) for k in range(3)], axis=1)
    found = np.zeros(0, dtype=np.int64)
    for one in np.argsort(-areas, kind="stable")[:_FACES]:
        if areas[one] < _FACE_AREA * size**2 or len(found) > MOST_VERTICES // 2 - _OUTLINE:
            break
        direction = sums[one] / np.linalg.norm(sums[one])
        height = points @ direction
        on = np.flatnonzero(height.max() - height <= _FACE_DEPTH * np.ptp(height) + _SINGLE * size)
        found = np.union1d(found, on[_outline(points[on], size)])
    return found


def _outline(points: np.ndarray, size: float) -> np.ndarray:
    """Indices of the outline of points in a plane; none where they span no area."""
    centred = points - points.mean(axis=0)
    _, extents, axes = np.linalg.svd(centred, full_matrices=False)
    if len(extents) < 3 or extents[1] < 1e-3 * size:
        return np.zeros(0, dtype=np.int64)
    flat = centred @ axes[:2].T
    corners = np.sort(_convex_hull(flat).vertices)
    rim = flat[corners] / np.ptp(flat, axis=0)
    return corners[_select(rim, _extreme(rim, np.eye(2)), _OUTLINE)]


def _extreme(points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Indices of the first and last points along each direction."""
    along = points @ directions.T
    return np.unique([along.argmin(axis=0), along.argmax(axis=0)])


def _spanning(points: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """The seeds, with points that make them span the plane or the space."""
    seeds = np.unique(seeds)
    for _ in range(points.shape[1]):
        offset = points - points[seeds[0]]
        _, extents, axes = np.linalg.svd(offset[seeds], full_matrices=True)
        if len(extents) == points.shape[1] and extents[-1] > _FLATNESS * extents[0]:
            break
        seeds = np.union1d(seeds, np.abs(offset @ axes[-1]).argmax())
    return seeds


def _convex_hull(points: np.ndarray):
    from scipy.spatial import ConvexHull, QhullError

    try:
        return ConvexHull(points)
    except QhullError as error:
        raise HullError(f"it has no convex hull: {str(error).splitlines()[0]}") from error
