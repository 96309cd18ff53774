"""Convex solids of a boundary: the nearest point of each, in the axes of its body; behind its surface it is solid."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import Boundaries
from grouser.physics.granular.shapes import nearest_of_triangle

# Kinds of solids: a ball and a capsule, a round bar, a box, a polyhedron.
BALL, BAR, BOX, HULL = range(4)
# Columns of `Boundaries.solid`: centre (3), radius of the sphere around it; radius and half length (BALL, with half
# spheres at its ends, BAR), half sides (BOX), or first and end of its faces (HULL) (3); rotation to the axes of the
# body (9).
BOUND, SIZE, TURN = 3, 4, 7
WIDTH = 16


@kernel
def nearest_of_solid(boundaries: Boundaries, p, y):
    """Normal towards a point from the nearest point of a solid's surface, and their distance.

    Args:
        boundaries, p: the solid.
        y: the point, in the axes of the body [m].

    Returns:
        Unit normal (3), and the distance [m], below zero inside.
    """
    kind, value = boundaries.solid_kind[p], boundaries.solid
    if kind == HULL:
        return _nearest_of_hull(boundaries, int(value[p, SIZE]), int(value[p, SIZE + 1]), y)
    e0, e1, e2 = y[0] - value[p, 0], y[1] - value[p, 1], y[2] - value[p, 2]
    t = TURN
    x0 = value[p, t] * e0 + value[p, t + 3] * e1 + value[p, t + 6] * e2
    x1 = value[p, t + 1] * e0 + value[p, t + 4] * e1 + value[p, t + 7] * e2
    x2 = value[p, t + 2] * e0 + value[p, t + 5] * e1 + value[p, t + 8] * e2
    if kind == BOX:
        n0, n1, n2, distance = _nearest_of_box(value[p, SIZE], value[p, SIZE + 1], value[p, SIZE + 2], x0, x1, x2)
    elif kind == BAR:
        n0, n1, n2, distance = _nearest_of_bar(value[p, SIZE], value[p, SIZE + 1], x0, x1, x2)
    else:
        half = value[p, SIZE + 1]
        n0, n1, n2, distance = _from_point(x0, x1, x2 - min(max(x2, -half), half), value[p, SIZE])
    return (
        value[p, t] * n0 + value[p, t + 1] * n1 + value[p, t + 2] * n2,
        value[p, t + 3] * n0 + value[p, t + 4] * n1 + value[p, t + 5] * n2,
        value[p, t + 6] * n0 + value[p, t + 7] * n1 + value[p, t + 8] * n2,
        distance,
    )


@inlined
def _from_point(e0, e1, e2, radius):
    """Normal and distance of a sphere about the origin."""
    length = math.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
    if length == 0.0:
        return 0.0, 0.0, 1.0, -radius
    return e0 / length, e1 / length, e2 / length, length - radius


@inlined
def _nearest_of_box(a0, a1, a2, x0, x1, x2):
    """Normal and distance of a box with these half sides."""
    d0, d1, d2 = abs(x0) - a0, abs(x1) - a1, abs(x2) - a2
    s0, s1, s2 = math.copysign(1.0, x0), math.copysign(1.0, x1), math.copysign(1.0, x2)
    if d0 <= 0.0 and d1 <= 0.0 and d2 <= 0.0:
        if d0 >= d1 and d0 >= d2:
            return s0, 0.0, 0.0, d0
        if d1 >= d2:
            return 0.0, s1, 0.0, d1
        return 0.0, 0.0, s2, d2
    return _from_point(s0 * max(d0, 0.0), s1 * max(d1, 0.0), s2 * max(d2, 0.0), 0.0)


@inlined
def _nearest_of_bar(radius, half, x0, x1, x2):
    """Normal and distance of a round bar along z."""
    r = math.sqrt(x0 * x0 + x1 * x1)
    c0, c1 = (x0 / r, x1 / r) if r > 0.0 else (1.0, 0.0)
    beside, beyond, side = r - radius, abs(x2) - half, math.copysign(1.0, x2)
    if beside > 0.0 and beyond > 0.0:
        distance = math.sqrt(beside * beside + beyond * beyond)
        return c0 * beside / distance, c1 * beside / distance, side * beyond / distance, distance
    if beside > beyond:
        return c0, c1, 0.0, beside
    return 0.0, 0.0, side, beyond


@inlined
def _nearest_of_hull(boundaries: Boundaries, first, end, y):
    """Normal and distance of a polyhedron: of the nearest of its faces that look towards the point."""
    plane, farthest, chosen = boundaries.hull_plane, -1e300, first
    for f in range(first, end):
        along = plane[f, 0] * y[0] + plane[f, 1] * y[1] + plane[f, 2] * y[2] - plane[f, 3]
        if along > farthest:
            farthest, chosen = along, f
    n0, n1, n2, distance = plane[chosen, 0], plane[chosen, 1], plane[chosen, 2], farthest
    if farthest > 0.0:
        least = 1e300
        for f in range(first, end):
            if plane[f, 0] * y[0] + plane[f, 1] * y[1] + plane[f, 2] * y[2] > plane[f, 3]:
                q0, q1, q2 = nearest_of_triangle(boundaries.hull_triangle, f, y)
                e0, e1, e2 = y[0] - q0, y[1] - q1, y[2] - q2
                square = e0 * e0 + e1 * e1 + e2 * e2
                if square < least and square > 0.0:
                    least = square
                    distance = math.sqrt(square)
                    n0, n1, n2 = e0 / distance, e1 / distance, e2 / distance
    return n0, n1, n2, distance
