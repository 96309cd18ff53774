"""Nearest points of two convex solids, by the iterations of Gilbert, Johnson and Keerthi (1988).

The differences of all points of two convex solids form a convex set; its point nearest to the origin is the difference
of their nearest points. The iterations keep at most four points of the set, with which they span the nearest one:
each round adds the farthest point against it. A capsule is the line between its ends, with its radius taken off after.

All is in the frame of the first solid, so that rounding does not depend on where the pair is in the world.
"""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import rotated, rotated_back
from grouser.physics.contact.hull_graph import highest_vertex
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER

if TYPE_CHECKING:
    from grouser.physics.contact.shapes import Shapes

# Columns of a point of the simplex: difference of points of the two solids, from 0; point of the first; weight.
_POINT, _WEIGHT = 3, 6
SIMPLEX_SHAPE = (4, 7)
# Most rounds. Polyhedra need less than twenty; round solids halve the error some forty times.
_MOST_ROUNDS = 64
# Distance, as a share of the solids' size, at which they meet, and error at which a round is the last.
_MEETING, _ERROR = 1e-13, 1e-13
# A distance that is more than enough is returned once its bounds are as near to each other as this.
_CLEAR = 0.8
# Share of the largest volume or area with the same edges below which a simplex is flat.
_FLAT = 1e-14


@kernel
def nearest_points(shapes: "Shapes", a, b, turn, x, y, z, start_x, start_y, start_z, less, enough, simplex):
    """Distance of two convex solids, one of them at any place, and their nearest points.

    Args:
        shapes: of the two solids.
        a, b: the two solids.
        turn: rotation of the second, in the frame of the first, (3, 3).
        x, y, z: its origin there [m].
        start_x, start_y, start_z: a direction like that from the second to the first, or zero: the better, the fewer
            iterations.
        less: share by which both are shrunk about their middles.
        enough: of a larger distance, a lower bound will do [m].
        simplex: buffer, SIMPLEX_SHAPE.

    Returns:
        Lower bound of the distance, which is exact up to `enough` [m]: the separation along a unit vector; this vector,
        from the second solid to the first, zero where they meet; the first solid's nearest point. A capsule has a
        direction until its axis is met: its distance is then negative. Elsewhere 0 means that they overlap or touch.
    """
    middle, bound = shapes.middle, shapes.bound
    ax, ay, az = middle[a, 0], middle[a, 1], middle[a, 2]
    vx, vy, vz = start_x, start_y, start_z
    is_difference = vx == 0.0 and vy == 0.0 and vz == 0.0
    if is_difference:
        bx, by, bz = rotated(turn, middle[b, 0], middle[b, 1], middle[b, 2])
        vx, vy, vz = ax - bx - x, ay - by - y, az - bz - z
    px, py, pz = ax, ay, az
    rounding = bound[a] + bound[b]
    radius_a, radius_b = _radius(shapes, a, less), _radius(shapes, b, less)
    radii, lower, count = radius_a + radius_b, -math.inf, 0
    nx = ny = nz = 0.0
    for _ in range(_MOST_ROUNDS):
        length = math.sqrt(vx * vx + vy * vy + vz * vz)
        if length <= _MEETING * rounding:
            return -radii, 0.0, 0.0, 0.0, px, py, pz
        dx, dy, dz = vx / length, vy / length, vz / length
        ax, ay, az = _farthest(shapes, a, less, -dx, -dy, -dz)
        ux, uy, uz = rotated_back(turn, dx, dy, dz)
        bx, by, bz = _farthest(shapes, b, less, ux, uy, uz)
        bx, by, bz = rotated(turn, bx, by, bz)
        wx, wy, wz = ax - bx - x, ay - by - y, az - bz - z
        along = dx * wx + dy * wy + dz * wz
        if along > lower:
            lower, nx, ny, nz = along, dx, dy, dz
        if is_difference and lower - radii > enough and lower > _CLEAR * length:
            break
        if is_difference and length - along <= _ERROR * (rounding + length):
            break
        if _is_in(simplex, count, wx, wy, wz):
            break
        _add(simplex, count, wx, wy, wz, ax, ay, az)
        before = count
        count, ux, uy, uz = _reduce(simplex, before + 1)
        if count == 4:
            return -radii, 0.0, 0.0, 0.0, px, py, pz
        # the first direction is not that to a point of the simplex
        if before > 0 and not ux * ux + uy * uy + uz * uz < length * length:
            break
        vx, vy, vz, is_difference = ux, uy, uz, True
        px = py = pz = 0.0
        for k in range(count):
            px += simplex[k, _WEIGHT] * simplex[k, _POINT]
            py += simplex[k, _WEIGHT] * simplex[k, _POINT + 1]
            pz += simplex[k, _WEIGHT] * simplex[k, _POINT + 2]
    return lower - radii, nx, ny, nz, px - radius_a * nx, py - radius_a * ny, pz - radius_a * nz


@kernel
def _radius(shapes: "Shapes", s, less):
    """Radius around the line of a capsule [m]."""
    return (1.0 - less) * shapes.size[s, 0] if shapes.kind[s] == CAPSULE else 0.0


@kernel
def _farthest(shapes: "Shapes", s, less, x, y, z):
    """The farthest point along x, y, z of shape s, or of a capsule's line; shrunk about its middle."""
    kind, size, middle = shapes.kind[s], shapes.size, shapes.middle
    if kind == BOX:
        px, py, pz = math.copysign(size[s, 0], x), math.copysign(size[s, 1], y), math.copysign(size[s, 2], z)
    elif kind == CYLINDER:
        across = math.sqrt(x * x + y * y)
        scale = size[s, 0] / across if across > 0.0 else 0.0
        px, py, pz = scale * x, scale * y, math.copysign(size[s, 1], z)
    elif kind == CAPSULE:
        px, py, pz = 0.0, 0.0, math.copysign(size[s, 1], z)
    else:
        far = highest_vertex(shapes, s, x, y, z)
        px, py, pz = shapes.vertex[far, 0], shapes.vertex[far, 1], shapes.vertex[far, 2]
    return (
        px + less * (middle[s, 0] - px),
        py + less * (middle[s, 1] - py),
        pz + less * (middle[s, 2] - pz),
    )


@kernel
def _is_in(simplex, count, x, y, z):
    """Whether the simplex has the difference x, y, z."""
    there = False
    for k in range(count):
        there |= simplex[k, 0] == x and simplex[k, 1] == y and simplex[k, 2] == z
    return there


@kernel
def _add(simplex, count, wx, wy, wz, ax, ay, az):
    """Writes a point of the simplex: difference, and point of the first solid."""
    simplex[count, 0], simplex[count, 1], simplex[count, 2] = wx, wy, wz
    simplex[count, 3], simplex[count, 4], simplex[count, 5] = ax, ay, az


@kernel
def _reduce(simplex, count):
    """Finds the point of a simplex nearest to the origin, and removes the points that do not span it.

    Returns:
        Number of points left, with their weights in the simplex; 4 if the origin is inside. The nearest point.
    """
    if count == 1:
        simplex[0, _WEIGHT] = 1.0
    elif count == 2:
        first, second = _on_line(simplex, 0, 1)
        simplex[0, _WEIGHT], simplex[1, _WEIGHT] = first, second
    elif count == 3:
        i, j, k = _widest_first(simplex, 0, 1, 2)
        first, second, third = _on_triangle(simplex, i, j, k)
        simplex[i, _WEIGHT], simplex[j, _WEIGHT], simplex[k, _WEIGHT] = first, second, third
    elif _is_inside(simplex):
        return 4, 0.0, 0.0, 0.0
    kept, x, y, z = 0, 0.0, 0.0, 0.0
    for k in range(count):
        weight = simplex[k, _WEIGHT]
        if weight > 0.0:
            x, y, z = x + weight * simplex[k, 0], y + weight * simplex[k, 1], z + weight * simplex[k, 2]
            if kept < k:
                for m in range(7):
                    simplex[kept, m] = simplex[k, m]
            kept += 1
    return kept, x, y, z


@kernel
def _widest_first(simplex, i, j, k):
    """Three points in an order that begins at their widest angle, from which rounding matters least."""
    ij, jk, ki = _square(simplex, i, j), _square(simplex, j, k), _square(simplex, k, i)
    if jk >= ij and jk >= ki:
        return i, j, k
    return (j, k, i) if ki >= ij else (k, i, j)


@kernel
def _square(simplex, i, j):
    """Square of the distance between two points."""
    square = 0.0
    for m in range(3):
        square += (simplex[i, m] - simplex[j, m]) ** 2
    return square


@kernel
def _on_line(simplex, i, j):
    """Weights of two points for the nearest point of the line between them."""
    x, y, z = simplex[j, 0] - simplex[i, 0], simplex[j, 1] - simplex[i, 1], simplex[j, 2] - simplex[i, 2]
    along = -(x * simplex[i, 0] + y * simplex[i, 1] + z * simplex[i, 2])
    share = min(max(along / (x * x + y * y + z * z), 0.0), 1.0)
    return 1.0 - share, share


@kernel
def _on_triangle(simplex, i, j, k):
    """Weights of three points for the nearest point of their triangle."""
    ux, uy, uz = simplex[j, 0] - simplex[i, 0], simplex[j, 1] - simplex[i, 1], simplex[j, 2] - simplex[i, 2]
    vx, vy, vz = simplex[k, 0] - simplex[i, 0], simplex[k, 1] - simplex[i, 1], simplex[k, 2] - simplex[i, 2]
    pu = -(simplex[i, 0] * ux + simplex[i, 1] * uy + simplex[i, 2] * uz)
    pv = -(simplex[i, 0] * vx + simplex[i, 1] * vy + simplex[i, 2] * vz)
    uu, vv, uv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, ux * vx + uy * vy + uz * vz
    across, foot_u, foot_v = uu * vv - uv * uv, pu * vv - pv * uv, pv * uu - pu * uv
    if across > _FLAT * uu * vv and foot_u >= 0.0 and foot_v >= 0.0 and foot_u + foot_v <= across:
        return 1.0 - (foot_u + foot_v) / across, foot_u / across, foot_v / across
    # on one of the three sides
    first, second = _on_line(simplex, i, j)
    best, nearest = (first, second, 0.0), _nearness(simplex, i, j, k, first, second, 0.0)
    first, second = _on_line(simplex, i, k)
    square = _nearness(simplex, i, j, k, first, 0.0, second)
    if square < nearest:
        best, nearest = (first, 0.0, second), square
    first, second = _on_line(simplex, j, k)
    if _nearness(simplex, i, j, k, 0.0, first, second) < nearest:
        best = (0.0, first, second)
    return best


@kernel
def _nearness(simplex, i, j, k, first, second, third):
    """Square of the distance of a weighted mean of three points."""
    square = 0.0
    for m in range(3):
        square += (first * simplex[i, m] + second * simplex[j, m] + third * simplex[k, m]) ** 2
    return square


@kernel
def _is_inside(simplex):
    """Whether the origin is inside of four points; if not, their weights are those of the nearest point."""
    nearest, outside = math.inf, False
    best = (0, 0, 0, 0.0, 0.0, 0.0)
    for left in range(4):
        i, j, k = (1, 2, 3) if left == 0 else (0, 2, 3) if left == 1 else (0, 1, 3) if left == 2 else (0, 1, 2)
        i, j, k = _widest_first(simplex, i, j, k)
        if not _is_beyond(simplex, i, j, k, left):
            continue
        outside = True
        first, second, third = _on_triangle(simplex, i, j, k)
        square = _nearness(simplex, i, j, k, first, second, third)
        if square < nearest:
            nearest, best = square, (i, j, k, first, second, third)
    if not outside:
        return True
    for k in range(4):
        simplex[k, _WEIGHT] = 0.0
    i, j, k, first, second, third = best
    simplex[i, _WEIGHT], simplex[j, _WEIGHT], simplex[k, _WEIGHT] = first, second, third
    return False


@kernel
def _is_beyond(simplex, i, j, k, left):
    """Whether the plane of three points separates the origin from the fourth, or contains the fourth."""
    ux, uy, uz = simplex[j, 0] - simplex[i, 0], simplex[j, 1] - simplex[i, 1], simplex[j, 2] - simplex[i, 2]
    vx, vy, vz = simplex[k, 0] - simplex[i, 0], simplex[k, 1] - simplex[i, 1], simplex[k, 2] - simplex[i, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    x, y, z = simplex[left, 0] - simplex[i, 0], simplex[left, 1] - simplex[i, 1], simplex[left, 2] - simplex[i, 2]
    height = nx * x + ny * y + nz * z
    origin = -(nx * simplex[i, 0] + ny * simplex[i, 1] + nz * simplex[i, 2])
    if height * height <= _FLAT * (nx * nx + ny * ny + nz * nz) * (x * x + y * y + z * z):
        return True
    return origin * height < 0.0
