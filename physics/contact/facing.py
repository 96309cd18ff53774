"""The part of a convex solid that faces another one: its outline along the contact normal, and its height.

Faces within 45 degrees of the normal face the other solid; their corners alone may be contact points. Corners of the
far side may also be near enough on a thin solid, and be outermost when it is tilted: they must not replace the true
ones. Only a solid without such a face (a box on its corner, a cylinder on its side) has all its corners tried.

Coordinates are those of a frame with the normal as its third axis. A solid's side is 1 where the normal leaves it, and
-1 where it enters.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import rotated, rotated_back
from grouser.physics.contact.hull_graph import Cap, clear_cap, find_cap
from grouser.physics.contact.separation import support
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER, HULL

if TYPE_CHECKING:
    from grouser.physics.contact.shapes import Shapes

# Columns of a point in the plane: coordinates, and a number that goes with it.
X, Y, TAG = 0, 1, 2
# Cosine between a face's normal and the contact normal above which the face touches.
_FACING = 0.7
# Sine between normal and axis above which a cylinder touches with one point of its rim.
_TILTED = 1e-3
# Cosine between a face's normal and the contact normal below which the face bounds no contact point.
_STEEP = 1e-2
# The same for the formulae of round surfaces, which divide by it.
_EDGE_ON = 1e-6
# Corners closer than this in the contact plane lie on the same line along the normal [m].
_ROUNDING = 1e-9


@kernel
def facing_axis(kind, x, y, z):
    """Axis of the flat face of a box or cylinder that faces along the unit vector x, y, z of its frame; -1 for none."""
    x, y, z = abs(x), abs(y), abs(z)
    if kind == CYLINDER:
        return 2 if z >= _FACING else -1
    if kind != BOX or max(x, y, z) < _FACING:
        return -1
    if x >= y and x >= z:
        return 0
    return 1 if y >= z else 2


@kernel
def facing_plane(shapes: "Shapes", rotation, position, s, witness, frame, side):
    """Plane of the flat face of a box or cylinder that faces the other solid.

    Args:
        shapes, rotation, position, s: the solid.
        witness, frame: origin and axes.
        side: see above.

    Returns:
        Whether there is one; its height at the origin [m], and its slopes along the two tangents.
    """
    r = rotation[s]
    lx, ly, lz = rotated_back(r, frame[2, 0], frame[2, 1], frame[2, 2])
    axis = facing_axis(shapes.kind[s], lx, ly, lz)
    if axis < 0:
        return False, 0.0, 0.0, 0.0
    k = np.uintp(axis)
    along = lx if axis == 0 else ly if axis == 1 else lz
    half = shapes.size[s, 1] if shapes.kind[s] == CYLINDER else shapes.size[s, k]
    x, y, z = r[0, k], r[1, k], r[2, k]
    centre = x * (position[s, 0] - witness[0]) + y * (position[s, 1] - witness[1]) + z * (position[s, 2] - witness[2])
    return (
        True,
        (centre + side * math.copysign(half, along)) / along,
        -(x * frame[0, 0] + y * frame[0, 1] + z * frame[0, 2]) / along,
        -(x * frame[1, 0] + y * frame[1, 1] + z * frame[1, 2]) / along,
    )


@kernel
def find_outline(shapes: "Shapes", rotation, position, s, witness, frame, side, nearest, cap: Cap, spare, outline):
    """Convex outline, seen along the normal, of a solid's facing corners within `nearest` of its extreme point.

    Args:
        shapes, rotation, position, s: the solid.
        witness, frame: origin and axes.
        side: see above.
        nearest: [m].
        cap: result for a mesh, its faces there, for `height_at`; else a buffer.
        spare: buffer.
        outline: result, counter-clockwise.

    Returns:
        Number of points, and of the faces in `cap`.
    """
    r, kind, size, part, vertex = rotation[s], shapes.kind[s], shapes.size[s], shapes.part, shapes.vertex
    ox, oy, oz = position[s, 0] - witness[0], position[s, 1] - witness[1], position[s, 2] - witness[2]
    lx, ly, lz = rotated_back(r, side * frame[2, 0], side * frame[2, 1], side * frame[2, 2])
    axis = facing_axis(kind, lx, ly, lz)
    if kind == BOX and axis >= 0:
        return _face_of_box(size, r, ox, oy, oz, lx, ly, lz, axis, frame, side, nearest, outline), 0
    lowest = support(shapes, s, lx, ly, lz) - nearest
    if kind == HULL:
        count, faces = _corners_of_hull(shapes, s, r, ox, oy, oz, lx, ly, lz, lowest, frame, cap, spare)
        sort_points(spare, count)
        return convex_outline(spare, count, outline), faces
    begin, end, count = part[s, 0], part[s, 1], 0
    if kind == CYLINDER:
        count = _lines_of_cylinder(size, r, ox, oy, oz, lx, ly, lz, axis, lowest, frame, spare)
        # the rim of the face, in the second half of the corners for the upper one; on its side it has no corners
        middle = (begin + end) // 2
        begin, end = (end, end) if axis < 0 else (middle, end) if lz > 0.0 else (begin, middle)
    elif kind == CAPSULE:
        lowest -= size[0]
    for v in range(begin, end):
        x, y, z = vertex[v, 0], vertex[v, 1], vertex[v, 2]
        if lx * x + ly * y + lz * z >= lowest:
            count = _add_corner(r, ox, oy, oz, x, y, z, frame, spare, count)
    sort_points(spare, count)
    return convex_outline(spare, count, outline), 0


@kernel
def _corners_of_hull(shapes: "Shapes", s, r, ox, oy, oz, lx, ly, lz, lowest, frame, cap: Cap, points):
    """Fills `points` with a mesh's corners of facing faces above a level, all of its corners there if it has none.

    Returns:
        Number of points, and of the faces in `cap`.
    """
    face, vertex = shapes.face, shapes.vertex
    vertices, faces = find_cap(shapes, s, lx, ly, lz, lowest, cap)
    count = 0
    for only_facing in (True, False):
        if count > 0:
            break
        for n in range(faces):
            f = cap.face[n]
            if only_facing and face[f, 0] * lx + face[f, 1] * ly + face[f, 2] * lz < _FACING:
                continue
            for k in range(3):
                v = shapes.face_corner[f, k]
                if cap.seen_vertex[v]:
                    # each corner once
                    cap.seen_vertex[v] = False
                    count = _add_corner(r, ox, oy, oz, vertex[v, 0], vertex[v, 1], vertex[v, 2], frame, points, count)
    clear_cap(cap, vertices, faces)
    return count, faces


@kernel
def height_at(shapes: "Shapes", rotation, position, s, witness, frame, x, y, side, cap: Cap, faces):
    """Height of a solid's surface at x, y [m]: where the normal leaves it (side 1) or enters it (-1).

    Of a mesh only the faces of `find_outline` count: they alone come as near to the other solid as its corners.
    """
    px = witness[0] + x * frame[0, 0] + y * frame[1, 0] - position[s, 0]
    py = witness[1] + x * frame[0, 1] + y * frame[1, 1] - position[s, 1]
    pz = witness[2] + x * frame[0, 2] + y * frame[1, 2] - position[s, 2]
    px, py, pz = rotated_back(rotation[s], px, py, pz)
    nx, ny, nz = rotated_back(rotation[s], frame[2, 0], frame[2, 1], frame[2, 2])
    kind, face = shapes.kind[s], shapes.face
    if kind == CYLINDER:
        return _height_of_cylinder(shapes.size[s], px, py, pz, nx, ny, nz, side)
    if kind == CAPSULE:
        return _height_of_capsule(shapes.size[s], px, py, pz, nx, ny, nz, side)
    is_hull = kind == HULL
    least, first = side * math.inf, shapes.part[s, 2]
    for k in range(faces if is_hull else shapes.part[s, 3] - first):
        f = cap.face[k] if is_hull else first + k
        along = face[f, 0] * nx + face[f, 1] * ny + face[f, 2] * nz
        if side * along > _STEEP:
            plane = (face[f, 3] - face[f, 0] * px - face[f, 1] * py - face[f, 2] * pz) / along
            least = min(least, plane) if side > 0.0 else max(least, plane)
    return least


@kernel
def is_there(points, count, x, y, same):
    """Index of the first of the points that is closer to x, y than `same`, -1 for none."""
    for k in range(count):
        if (points[k, X] - x) ** 2 + (points[k, Y] - y) ** 2 < same * same:
            return k
    return -1


@kernel
def _face_of_box(size, r, ox, oy, oz, lx, ly, lz, axis, frame, side, nearest, outline):
    """Fills `outline` with the corners of a box's face within `nearest` of its lowest one; their number."""
    along = lx if axis == 0 else ly if axis == 1 else lz
    i, j, k = np.uintp((axis + 1) % 3), np.uintp((axis + 2) % 3), np.uintp(axis)
    if side * along < 0.0:
        # seen from its other side the corners run the other way round
        i, j = j, i
    step_i = abs(lx if i == 0 else ly if i == 1 else lz) * size[i]
    rise_i = (lx if i == 0 else ly if i == 1 else lz) * size[i]
    rise_j = (lx if j == 0 else ly if j == 1 else lz) * size[j]
    lowest = step_i + abs(rise_j) - nearest
    half = math.copysign(size[k], along)
    ox, oy, oz = ox + half * r[0, k], oy + half * r[1, k], oz + half * r[2, k]
    x = frame[0, 0] * ox + frame[0, 1] * oy + frame[0, 2] * oz
    y = frame[1, 0] * ox + frame[1, 1] * oy + frame[1, 2] * oz
    xi = size[i] * (frame[0, 0] * r[0, i] + frame[0, 1] * r[1, i] + frame[0, 2] * r[2, i])
    yi = size[i] * (frame[1, 0] * r[0, i] + frame[1, 1] * r[1, i] + frame[1, 2] * r[2, i])
    xj = size[j] * (frame[0, 0] * r[0, j] + frame[0, 1] * r[1, j] + frame[0, 2] * r[2, j])
    yj = size[j] * (frame[1, 0] * r[0, j] + frame[1, 1] * r[1, j] + frame[1, 2] * r[2, j])
    count = 0
    if -rise_i - rise_j >= lowest:
        outline[count, X], outline[count, Y] = x - xi - xj, y - yi - yj
        count += 1
    if rise_i - rise_j >= lowest:
        outline[count, X], outline[count, Y] = x + xi - xj, y + yi - yj
        count += 1
    if rise_i + rise_j >= lowest:
        outline[count, X], outline[count, Y] = x + xi + xj, y + yi + yj
        count += 1
    if rise_j - rise_i >= lowest:
        outline[count, X], outline[count, Y] = x - xi + xj, y - yi + yj
        count += 1
    _begin_with_lowest(outline, count)
    return count


@kernel
def _begin_with_lowest(outline, count):
    """Shifts points around, so that the one with the lowest x, then y, is the first, as in `convex_outline`."""
    first = 0
    for k in range(1, count):
        x, y = outline[k, X], outline[k, Y]
        if x < outline[first, X] or (x == outline[first, X] and y < outline[first, Y]):
            first = k
    for _ in range(first):
        x, y = outline[0, X], outline[0, Y]
        for k in range(1, count):
            outline[k - 1, X], outline[k - 1, Y] = outline[k, X], outline[k, Y]
        outline[count - 1, X], outline[count - 1, Y] = x, y


@kernel
def _lines_of_cylinder(size, r, ox, oy, oz, lx, ly, lz, axis, lowest, frame, points):
    """Adds the ends of a cylinder's line nearest to the other solid; on its face, if tilted, the one of this face."""
    across = math.sqrt(lx * lx + ly * ly)
    count = 0
    if across > _TILTED:
        x, y = size[0] * lx / across, size[0] * ly / across
        for k in range(2):
            z = size[1] if k == 1 else -size[1]
            if (axis < 0 or z * lz > 0.0) and lx * x + ly * y + lz * z >= lowest:
                count = _add_corner(r, ox, oy, oz, x, y, z, frame, points, count)
    return count


@kernel
def _add_corner(r, ox, oy, oz, x, y, z, frame, points, count):
    """Appends the corner x, y, z of a solid with rotation r and centre o, unless it is there; the number of points."""
    x, y, z = rotated(r, x, y, z)
    x, y, z = x + ox, y + oy, z + oz
    u = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
    v = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
    if is_there(points, count, u, v, _ROUNDING) >= 0:
        return count
    points[count, X], points[count, Y] = u, v
    return count + 1


@kernel
def sort_points(points, count):
    """Sorts points, with their third column, by x, then y, in place."""
    for k in range(1, count):
        x, y, tag = points[k, X], points[k, Y], points[k, TAG]
        m = k
        while m > 0 and (points[m - 1, X] > x or (points[m - 1, X] == x and points[m - 1, Y] > y)):
            points[m, X], points[m, Y], points[m, TAG] = points[m - 1, X], points[m - 1, Y], points[m - 1, TAG]
            m -= 1
        points[m, X], points[m, Y], points[m, TAG] = x, y, tag


@kernel
def convex_outline(points, count, outline):
    """Convex hull of sorted points (Andrew's monotone chain), counter-clockwise; its number of points."""
    kept, base = 0, 1
    for k in range(2 * count - 1):
        point = points[k if k < count else 2 * count - 2 - k]
        if k == count:
            base = kept
        while kept > base and not _turns_left(outline[kept - 2], outline[kept - 1], point):
            kept -= 1
        outline[kept, X], outline[kept, Y], outline[kept, TAG] = point[X], point[Y], point[TAG]
        kept += 1
    # the chain ends at its first point
    return kept - 1 if kept > 1 else kept


@kernel
def _turns_left(a, b, c):
    """Whether the path a, b, c turns left by more than rounding."""
    ux, uy, vx, vy = b[X] - a[X], b[Y] - a[Y], c[X] - a[X], c[Y] - a[Y]
    return ux * vy - uy * vx > 1e-7 * math.sqrt((ux * ux + uy * uy) * (vx * vx + vy * vy))


@kernel
def _height_of_cylinder(size, px, py, pz, nx, ny, nz, side):
    """Where the line p + h n enters (side -1) or leaves (1) a cylinder along z; the nearest point if it misses."""
    height = side * math.inf
    if abs(nz) > _EDGE_ON:
        height = (side * math.copysign(size[1], nz) - pz) / nz
    square = nx * nx + ny * ny
    if square > _EDGE_ON * _EDGE_ON:
        middle = -(px * nx + py * ny) / square
        ux, uy = px + middle * nx, py + middle * ny
        wall = middle + side * math.sqrt(max(size[0] * size[0] - ux * ux - uy * uy, 0.0) / square)
        height = min(height, wall) if side > 0.0 else max(height, wall)
    return height


@kernel
def _height_of_capsule(size, px, py, pz, nx, ny, nz, side):
    """Where the line p + h n enters (side -1) or leaves (1) a capsule along z; the nearest point if it misses."""
    end = side * math.copysign(size[1], nz)
    square = nx * nx + ny * ny
    if square > _EDGE_ON * _EDGE_ON:
        middle = -(px * nx + py * ny) / square
        ux, uy = px + middle * nx, py + middle * ny
        wall = middle + side * math.sqrt(max(size[0] * size[0] - ux * ux - uy * uy, 0.0) / square)
        end = pz + wall * nz
        if abs(end) <= size[1]:
            return wall
        end = math.copysign(size[1], end)
    pz -= end
    middle = -(px * nx + py * ny + pz * nz)
    ux, uy, uz = px + middle * nx, py + middle * ny, pz + middle * nz
    return middle + side * math.sqrt(max(size[0] * size[0] - ux * ux - uy * uy - uz * uz, 0.0))
