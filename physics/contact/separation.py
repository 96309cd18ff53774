"""Separation of two convex solids along a direction, and the directions that may be those of the largest one.

The separation along a unit vector from the second solid to the first is negative where the solids overlap along it. It
is at most their distance, and equal to it along the direction between their nearest points.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import rotated, rotated_back
from grouser.physics.contact.hull_graph import highest_vertex
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER, HULL

if TYPE_CHECKING:
    from grouser.physics.contact.shapes import Shapes

# Only the faces next to a direction are tried: minimum cosine between face normal and direction.
_SAME_SIDE = 0.9
# Sine between two edges of boxes below which their cross product is no direction to test.
_PARALLEL_EDGES = 1e-6


@kernel
def support(shapes: "Shapes", s, x, y, z):
    """Support function of solid s along the unit vector x, y, z of its own frame [m]."""
    kind = shapes.kind[s]
    if kind == BOX:
        return abs(x) * shapes.size[s, 0] + abs(y) * shapes.size[s, 1] + abs(z) * shapes.size[s, 2]
    if kind == CYLINDER:
        return math.sqrt(x * x + y * y) * shapes.size[s, 0] + abs(z) * shapes.size[s, 1]
    if kind == CAPSULE:
        return abs(z) * shapes.size[s, 1] + shapes.size[s, 0]
    far = highest_vertex(shapes, s, x, y, z)
    return shapes.vertex[far, 0] * x + shapes.vertex[far, 1] * y + shapes.vertex[far, 2] * z


@kernel
def distance_along(shapes: "Shapes", rotation, position, a, b, nx, ny, nz):
    """Separation of two solids along a unit vector from the second to the first [m], negative where they overlap."""
    centres = (
        nx * (position[a, 0] - position[b, 0])
        + ny * (position[a, 1] - position[b, 1])
        + nz * (position[a, 2] - position[b, 2])
    )
    x, y, z = rotated_back(rotation[a], -nx, -ny, -nz)
    reach_a = support(shapes, a, x, y, z)
    x, y, z = rotated_back(rotation[b], nx, ny, nz)
    return centres - reach_a - support(shapes, b, x, y, z)


@kernel
def best_face(shapes: "Shapes", rotation, position, a, b, direction):
    """Largest separation of two solids along a face normal of either [m], -inf without any.

    Args:
        shapes: of the two solids.
        rotation, position: their poses.
        a, b: the two solids.
        direction: result, from the second solid to the first; unchanged if there is none.
    """
    best, faces_a = -math.inf, shapes.part[a, 3] - shapes.part[a, 2]
    for k in range(faces_a + shapes.part[b, 3] - shapes.part[b, 2]):
        s, side, f = a, -1.0, shapes.part[a, 2] + k
        if k >= faces_a:
            s, side, f = b, 1.0, shapes.part[b, 2] + k - faces_a
        x, y, z = _face_direction(shapes, rotation, s, f, side)
        distance = _distance_along_normal(shapes, rotation, position, a, b, side, f, x, y, z)
        if distance > best:
            best = distance
            direction[0], direction[1], direction[2] = x, y, z
    return best


@kernel
def best_face_near(shapes: "Shapes", rotation, position, a, b, near, direction):
    """As `best_face`, of the faces that may touch where the solids are nearest along the direction `near`.

    Of a mesh these are the faces at its vertex there, of another solid those within `_SAME_SIDE` of the direction.
    """
    nx, ny, nz = near[0], near[1], near[2]
    best = -math.inf
    for side in (-1.0, 1.0):
        s = a if side < 0.0 else b
        first, end, far = shapes.part[s, 2], shapes.part[s, 3], np.uintp(0)
        if shapes.kind[s] == HULL:
            x, y, z = rotated_back(rotation[s], side * nx, side * ny, side * nz)
            far = highest_vertex(shapes, s, x, y, z)
            first, end = shapes.graph.face_start[far], shapes.graph.face_start[far + np.uintp(1)]
        for k in range(first, end):
            f = shapes.graph.face[k] if shapes.kind[s] == HULL else k
            x, y, z = _face_direction(shapes, rotation, s, f, side)
            if x * nx + y * ny + z * nz < _SAME_SIDE:
                continue
            distance = _distance_along_normal(shapes, rotation, position, a, b, side, f, x, y, z)
            if distance > best:
                best = distance
                direction[0], direction[1], direction[2] = x, y, z
    return best


@kernel
def _distance_along_normal(shapes: "Shapes", rotation, position, a, b, side, f, x, y, z):
    """As `distance_along`, along the normal x, y, z of face f: of solid a for the side -1, of b for 1."""
    centres = (
        x * (position[a, 0] - position[b, 0])
        + y * (position[a, 1] - position[b, 1])
        + z * (position[a, 2] - position[b, 2])
    )
    other = b if side < 0.0 else a
    lx, ly, lz = rotated_back(rotation[other], -side * x, -side * y, -side * z)
    return centres - shapes.face[f, 3] - support(shapes, other, lx, ly, lz)


@kernel
def _face_direction(shapes: "Shapes", rotation, s, f, side):
    """Normal of face f of solid s, or against it for the side -1, world axes."""
    return rotated(rotation[s], side * shapes.face[f, 0], side * shapes.face[f, 1], side * shapes.face[f, 2])


@kernel
def best_box_face(size_a, r_a, at_a, size_b, r_b, at_b, direction):
    """Largest separation of two boxes along a face normal of either [m] (Gottschalk et al. 1996).

    Args:
        size_a, r_a, at_a, size_b, r_b, at_b: half extents and poses of the two boxes.
        direction: result, from the second box to the first.
    """
    dx, dy, dz = at_b[0] - at_a[0], at_b[1] - at_a[1], at_b[2] - at_a[2]
    reach_b0 = reach_b1 = reach_b2 = 0.0
    best, axis, sign = -math.inf, 0, 1.0
    for k in range(3):
        i = np.uintp(k)
        ux, uy, uz = r_a[0, i], r_a[1, i], r_a[2, i]
        c0 = abs(ux * r_b[0, 0] + uy * r_b[1, 0] + uz * r_b[2, 0])
        c1 = abs(ux * r_b[0, 1] + uy * r_b[1, 1] + uz * r_b[2, 1])
        c2 = abs(ux * r_b[0, 2] + uy * r_b[1, 2] + uz * r_b[2, 2])
        reach_b0, reach_b1, reach_b2 = reach_b0 + c0 * size_a[i], reach_b1 + c1 * size_a[i], reach_b2 + c2 * size_a[i]
        along = ux * dx + uy * dy + uz * dz
        separation = abs(along) - size_a[i] - (c0 * size_b[0] + c1 * size_b[1] + c2 * size_b[2])
        if separation > best:
            best, axis, sign = separation, k, -math.copysign(1.0, along)
    for k in range(3):
        i = np.uintp(k)
        reach = reach_b0 if k == 0 else reach_b1 if k == 1 else reach_b2
        along = r_b[0, i] * dx + r_b[1, i] * dy + r_b[2, i] * dz
        separation = abs(along) - size_b[i] - reach
        if separation > best:
            best, axis, sign = separation, 3 + k, -math.copysign(1.0, along)
    for k in range(3):
        direction[k] = sign * (r_a[k, axis] if axis < 3 else r_b[k, axis - 3])
    return best


@kernel
def best_crossing(shapes: "Shapes", rotation, position, a, b, direction):
    """Largest separation of two boxes along a cross product of their edges [m]; fills `direction` if there is one."""
    best = -math.inf
    for i in range(3):
        ux, uy, uz = rotation[a, 0, i], rotation[a, 1, i], rotation[a, 2, i]
        for j in range(3):
            vx, vy, vz = rotation[b, 0, j], rotation[b, 1, j], rotation[b, 2, j]
            x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            length = math.sqrt(x * x + y * y + z * z)
            if length > _PARALLEL_EDGES:
                x, y, z = x / length, y / length, z / length
                for _ in range(2):
                    distance = distance_along(shapes, rotation, position, a, b, x, y, z)
                    if distance > best:
                        best = distance
                        direction[0], direction[1], direction[2] = x, y, z
                    x, y, z = -x, -y, -z
    return best
