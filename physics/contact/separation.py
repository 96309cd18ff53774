"""Separation of two convex solids along a direction, and the directions that may be those of the largest one.

The separation along a unit vector from the second solid to the first is negative where the solids overlap along it. It
is at most their distance, and equal to it along the direction between their nearest points.
"""

import math

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import rotated, rotated_back
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER

# Sine between two edges of boxes below which their cross product is no direction to test.
_PARALLEL_EDGES = 1e-6


@kernel
def support(kind, size, part, vertex, s, x, y, z):
    """Support function of solid s along the unit vector x, y, z of its own frame [m]."""
    if kind[s] == BOX:
        return abs(x) * size[s, 0] + abs(y) * size[s, 1] + abs(z) * size[s, 2]
    if kind[s] == CYLINDER:
        return math.sqrt(x * x + y * y) * size[s, 0] + abs(z) * size[s, 1]
    if kind[s] == CAPSULE:
        return abs(z) * size[s, 1] + size[s, 0]
    farthest = -math.inf
    for v in range(part[s, 0], part[s, 1]):
        farthest = max(farthest, vertex[v, 0] * x + vertex[v, 1] * y + vertex[v, 2] * z)
    return farthest


@kernel
def distance_along(kind, size, part, vertex, rotation, position, a, b, nx, ny, nz):
    """Separation of two solids along a unit vector from the second to the first [m], negative where they overlap."""
    centres = (
        nx * (position[a, 0] - position[b, 0])
        + ny * (position[a, 1] - position[b, 1])
        + nz * (position[a, 2] - position[b, 2])
    )
    x, y, z = rotated_back(rotation[a], -nx, -ny, -nz)
    reach_a = support(kind, size, part, vertex, a, x, y, z)
    x, y, z = rotated_back(rotation[b], nx, ny, nz)
    return centres - reach_a - support(kind, size, part, vertex, b, x, y, z)


@kernel
def best_face(kind, size, part, vertex, face, rotation, position, a, b, near, least, direction):
    """Largest separation of two solids along a face normal of either [m], -inf without any; fills `direction`.

    Args:
        kind, size, part, vertex, face: of all shapes.
        rotation, position: their poses.
        a, b: the two solids.
        near, least: only normals with a component of at least `least` along the vector `near` are tried.
        direction: result, from the second solid to the first; unchanged if there is none.
    """
    nx, ny, nz = near[0], near[1], near[2]
    best, faces_a = -math.inf, part[a, 3] - part[a, 2]
    for k in range(faces_a + part[b, 3] - part[b, 2]):
        if k < faces_a:
            f = part[a, 2] + k
            x, y, z = rotated(rotation[a], -face[f, 0], -face[f, 1], -face[f, 2])
        else:
            f = part[b, 2] + k - faces_a
            x, y, z = rotated(rotation[b], face[f, 0], face[f, 1], face[f, 2])
        if x * nx + y * ny + z * nz < least:
            continue
        distance = distance_along(kind, size, part, vertex, rotation, position, a, b, x, y, z)
        if distance > best:
            best = distance
            direction[0], direction[1], direction[2] = x, y, z
    return best


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
def best_crossing(kind, size, part, vertex, rotation, position, a, b, direction):
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
                    distance = distance_along(kind, size, part, vertex, rotation, position, a, b, x, y, z)
                    if distance > best:
                        best = distance
                        direction[0], direction[1], direction[2] = x, y, z
                    x, y, z = -x, -y, -z
    return best
