"""Shapes of boundaries: the nearest point of each, in the axes of its body."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import Boundaries, State

# Kinds of shapes, and their numbers in `Boundaries.value`. PLANE, solid behind it: a point (3), outward normal (3).
# PLATE, thin: centre (3), normal (3), inner and outer radius. CYLINDER, thin: centre (3), axis (3), radius, half its
# length. MESH, thin, and SOLIDS (`solids`), which a grain may touch at several points: lowest and highest corner of
# their box (3 each). SOIL, the surface of soft ground, anywhere: no numbers.
PLANE, PLATE, CYLINDER, SOIL, MESH, SOLIDS = range(6)


@inlined
def to_body(state: State, b, x, y, z):
    """A point in the axes of a body."""
    turn, place = state.body_rotation, state.body_position
    e0, e1, e2 = x - place[b, 0], y - place[b, 1], z - place[b, 2]
    return (
        turn[b, 0, 0] * e0 + turn[b, 1, 0] * e1 + turn[b, 2, 0] * e2,
        turn[b, 0, 1] * e0 + turn[b, 1, 1] * e1 + turn[b, 2, 1] * e2,
        turn[b, 0, 2] * e0 + turn[b, 1, 2] * e1 + turn[b, 2, 2] * e2,
    )


@inlined
def to_world_axes(state: State, b, v0, v1, v2):
    """A vector of a body, in world axes."""
    turn = state.body_rotation
    return (
        turn[b, 0, 0] * v0 + turn[b, 0, 1] * v1 + turn[b, 0, 2] * v2,
        turn[b, 1, 0] * v0 + turn[b, 1, 1] * v1 + turn[b, 1, 2] * v2,
        turn[b, 2, 0] * v0 + turn[b, 2, 1] * v1 + turn[b, 2, 2] * v2,
    )


@kernel
def shape_gap(boundaries: Boundaries, s, point):
    """Least distance of a point from a shape that is possible: from the box of a mesh or solids [m]."""
    if boundaries.kind[s] == SOIL:
        return 0.0
    if boundaries.kind[s] >= MESH:
        box, square = boundaries.value, 0.0
        for c in range(3):
            outside = max(box[s, c] - point[c], point[c] - box[s, 3 + c], 0.0)
            square += outside * outside
        return math.sqrt(square)
    _, _, _, distance = nearest(boundaries, s, point)
    return distance


@inlined
def nearest(boundaries: Boundaries, s, point):
    """Normal towards a point from the nearest point of a plane, plate or cylinder, and their distance.

    Args:
        boundaries, s: the shape.
        point: in the axes of its body [m].

    Returns:
        Unit normal (3), and the distance [m]; below zero behind a plane.
    """
    value, kind = boundaries.value, boundaries.kind[s]
    e0, e1, e2 = point[0] - value[s, 0], point[1] - value[s, 1], point[2] - value[s, 2]
    a0, a1, a2 = value[s, 3], value[s, 4], value[s, 5]
    along = e0 * a0 + e1 * a1 + e2 * a2
    if kind == PLANE:
        return a0, a1, a2, along
    # the point's distance from the axis, and that of the nearest point of the shape
    r0, r1, r2 = e0 - along * a0, e1 - along * a1, e2 - along * a2
    radius = math.sqrt(r0 * r0 + r1 * r1 + r2 * r2)
    if kind == PLATE:
        aside = radius - min(max(radius, value[s, 6]), value[s, 7])
        beside = along
    else:
        aside = radius - value[s, 6]
        beside = along - min(max(along, -value[s, 7]), value[s, 7])
    distance = math.sqrt(aside * aside + beside * beside)
    if distance == 0.0 or (radius == 0.0 and aside != 0.0):
        # on the surface, or on the axis, where no side is nearer
        return a0, a1, a2, max(distance, abs(aside))
    share = aside / radius / distance if radius > 0.0 else 0.0
    beside /= distance
    return share * r0 + beside * a0, share * r1 + beside * a1, share * r2 + beside * a2, distance


@inlined
def nearest_of_triangle(corner, t, point):
    """Nearest point of a triangle.

    The foot of the perpendicular where it lies inside, else the nearest point of an edge.

    Args:
        corner, t: corners of triangles, (triangles, 9) [m], and which triangle.
        point: [m].
    """
    a0, a1, a2 = corner[t, 0], corner[t, 1], corner[t, 2]
    u0, u1, u2 = corner[t, 3] - a0, corner[t, 4] - a1, corner[t, 5] - a2
    v0, v1, v2 = corner[t, 6] - a0, corner[t, 7] - a1, corner[t, 8] - a2
    p0, p1, p2 = point[0] - a0, point[1] - a1, point[2] - a2
    uu, uv, vv = u0 * u0 + u1 * u1 + u2 * u2, u0 * v0 + u1 * v1 + u2 * v2, v0 * v0 + v1 * v1 + v2 * v2
    pu, pv = p0 * u0 + p1 * u1 + p2 * u2, p0 * v0 + p1 * v1 + p2 * v2
    area = uu * vv - uv * uv
    s, r = vv * pu - uv * pv, uu * pv - uv * pu
    if s >= 0.0 and r >= 0.0 and s + r <= area:
        s, r = s / area, r / area
    else:
        # along the edges from the first corner, and along the third
        s, r = min(max(pu / uu, 0.0), 1.0), 0.0
        least = s * (s * uu - 2.0 * pu)
        other = min(max(pv / vv, 0.0), 1.0)
        far = other * (other * vv - 2.0 * pv)
        if far < least:
            s, r, least = 0.0, other, far
        third = min(max((pv - pu + uu - uv) / (uu - 2.0 * uv + vv), 0.0), 1.0)
        s3 = 1.0 - third
        far = s3 * s3 * uu + 2.0 * s3 * third * uv + third * third * vv - 2.0 * (s3 * pu + third * pv)
        if far < least:
            s, r = s3, third
    return a0 + s * u0 + r * v0, a1 + s * u1 + r * v1, a2 + s * u2 + r * v2
