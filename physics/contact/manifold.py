"""Contact points of two convex solids along the direction of their largest separation.

Seen along that direction, the corners of each solid that face the other one and are near enough to it span a polygon,
a line or a point (`facing`). The corners of the two polygons' overlap are the contact points, each with its own gap.
Where the overlap does not contain the nearest points (an edge across an edge, a rim), those are a contact, too.

The normal points to the first solid. Coordinates are those of a frame with the normal as its third axis and the nearest
point of the first solid as its origin.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import rotated
from grouser.physics.contact.contacts import CONTACT_MARGIN
from grouser.physics.contact.facing import facing_plane, find_outline, height_at, is_there
from grouser.physics.contact.reduction import BEARING, FEW_POINTS, FIRST_CORNER, NEAR, choose_corners
from grouser.physics.contact.shapes import HULL

if TYPE_CHECKING:
    from grouser.physics.contact.collide import ContactWorkspace
    from grouser.physics.contact.shapes import Shapes

# A face normal is preferred over another direction while its separation is smaller by at most this [m]; so is a corner
# of the overlap over the nearest points.
PREFERENCE = 1e-5
# Sine between two edges below which they touch along a line.
_PARALLEL = 0.05
# Points closer than this share of the smaller solid are merged.
_SAME_POINT = 1e-3
# Of two candidates that are equal but for rounding, the first one is taken.
_TIE = 1.0 + 1e-6
# Columns of a point of the overlap: coordinates and gap; while it is clipped, its side of the clipping edge.
_X, _Y, _Z, _GAP = range(4)
_INSIDE = _GAP


@kernel
def build_manifold(
    shapes: "Shapes", a, b, direction, distance, witness, reach, most, workspace: "ContactWorkspace", manifold
):
    """Fills `manifold` with the contact points of two convex solids along a direction.

    Args:
        shapes: of all solids.
        a, b: the two solids.
        direction: unit vector from the second solid to the first, (3,).
        distance: separation of the solids along it [m].
        witness: point of the first solid that is nearest to the second, (3,).
        reach: largest relevant gap [m].
        most: largest number of points.
        workspace: poses of the shapes, and buffers.
        manifold: result: point of the first solid, normal and gap, (most, 7).

    Returns:
        Number of points, and the smallest gap of those that do not come from the witness [m].
    """
    frame, overlap = workspace.frame, workspace.buffer[2]
    fill_frame(direction, frame)
    nearest = max(reach - distance, PREFERENCE)
    gx, gy, gz = rotated(workspace.rotation[a], FIRST_CORNER[0], FIRST_CORNER[1], FIRST_CORNER[2])
    gu = frame[0, 0] * gx + frame[0, 1] * gy + frame[0, 2] * gz
    gv = frame[1, 0] * gx + frame[1, 1] * gy + frame[1, 2] * gz
    if shapes.kind[a] != HULL and shapes.kind[b] != HULL:
        count, least = _overlap_corners(shapes, a, b, witness, reach, nearest, workspace)
        if distance < least - PREFERENCE:
            overlap[count, _X], overlap[count, _Y], overlap[count, _Z], overlap[count, _GAP] = 0.0, 0.0, 0.0, distance
            count += 1
        count = _spread(overlap, count, most, gu, gv)
        for k in range(count):
            _write_point(overlap[k], witness, frame, manifold[k])
        return count, least
    # first the points that bear, then those around them
    chosen, same, kept = workspace.chosen, _SAME_POINT * min(shapes.bound[a], shapes.bound[b]), 0
    bearing = min(nearest, BEARING)
    count, least = _overlap_corners(shapes, a, b, witness, reach, bearing, workspace)
    if distance < least - PREFERENCE:
        # what bears lies inside of the polygon: the lowest part of a bulge
        count, least = _overlap_corners(shapes, a, b, witness, reach, PREFERENCE, workspace)
        if distance < least - PREFERENCE:
            overlap[count, _X], overlap[count, _Y], overlap[count, _Z], overlap[count, _GAP] = 0.0, 0.0, 0.0, distance
            _write_point(overlap[count], witness, frame, manifold[0])
            kept = 1
        bear = min(most, FEW_POINTS)
        kept = _add_corners(overlap, count, bear, gu, gv, witness, frame, chosen, kept, same, manifold)
        count, _ = _overlap_corners(shapes, a, b, witness, reach, bearing, workspace)
    kept = _add_corners(overlap, count, most, gu, gv, witness, frame, chosen, kept, same, manifold)
    # slow solids come no nearer than the margin in a step; of fast ones all points within reach may touch
    few, near = min(most, FEW_POINTS), NEAR - max(distance, 0.0) if reach <= CONTACT_MARGIN else nearest
    if kept < few and near > BEARING:
        count, _ = _overlap_corners(shapes, a, b, witness, reach, near, workspace)
        kept = _add_corners(overlap, count, few, gu, gv, witness, frame, chosen, kept, same, manifold)
    return kept, least


@kernel
def _add_corners(overlap, count, most, gu, gv, witness, frame, chosen, kept, same, manifold):
    """Adds chosen points of the overlap to a manifold with `kept` points, except those closer than `same` to these.

    Returns:
        The number of points in the manifold, at most `most`.
    """
    fresh, row = 0, manifold[min(kept, manifold.shape[0] - 1)]
    for k in range(count if kept > 0 else 0):
        _write_point(overlap[k], witness, frame, row)
        if not _is_near(manifold, kept, row, same):
            for m in range(4):
                overlap[fresh, m] = overlap[k, m]
            fresh += 1
    number = choose_corners(overlap, fresh if kept > 0 else count, most - kept, gu, gv, chosen)
    for n in range(number):
        _write_point(overlap[chosen[n]], witness, frame, manifold[kept + n])
    return kept + number


@kernel
def _is_near(manifold, kept, row, same):
    """Whether a row's point is closer than `same` to one of the first points of a manifold."""
    near = False
    for k in range(kept):
        square = 0.0
        for m in range(3):
            square += (manifold[k, m] - row[m]) ** 2
        near |= square < same * same
    return near


@kernel
def _write_point(point, witness, frame, row):
    """Writes a point of the overlap as a row of a manifold."""
    for m in range(3):
        row[m] = witness[m] + point[_X] * frame[0, m] + point[_Y] * frame[1, m] + point[_Z] * frame[2, m]
        row[3 + m] = frame[2, m]
    row[6] = point[_GAP]


@kernel
def _overlap_corners(shapes: "Shapes", a, b, witness, reach, nearest, workspace: "ContactWorkspace"):
    """Fills the third buffer with the corners of the overlap of two solids that are within reach of each other.

    Args:
        shapes, a, b, witness, reach, workspace: see `build_manifold`.
        nearest: the outlines are those within this distance of the solids' extreme points [m].

    Returns:
        Number of corners, and the smallest gap of them [m].
    """
    rotation, position, frame, buffer = workspace.rotation, workspace.position, workspace.frame, workspace.buffer
    cap_a, cap_b, rim_a, rim_b = workspace.first_cap, workspace.second_cap, buffer[0], buffer[1]
    overlap, spare, same = buffer[2], buffer[3], _SAME_POINT * min(shapes.bound[a], shapes.bound[b])
    count_a, faces_a = find_outline(shapes, rotation, position, a, witness, frame, -1.0, nearest, cap_a, spare, rim_a)
    count_b, faces_b = find_outline(shapes, rotation, position, b, witness, frame, 1.0, nearest, cap_b, spare, rim_b)
    count = _overlap(rim_a, count_a, rim_b, count_b, overlap, spare)
    flat_a, base_a, slope_xa, slope_ya = facing_plane(shapes, rotation, position, a, witness, frame, -1.0)
    flat_b, base_b, slope_xb, slope_yb = facing_plane(shapes, rotation, position, b, witness, frame, 1.0)
    kept, least = 0, math.inf
    for k in range(count):
        x, y = overlap[k, _X], overlap[k, _Y]
        if flat_a:
            top = base_a + slope_xa * x + slope_ya * y
        else:
            top = height_at(shapes, rotation, position, a, witness, frame, x, y, -1.0, cap_a, faces_a)
        if flat_b:
            gap = top - (base_b + slope_xb * x + slope_yb * y)
        else:
            gap = top - height_at(shapes, rotation, position, b, witness, frame, x, y, 1.0, cap_b, faces_b)
        if gap < reach:
            # of points at the same place the deepest one is kept
            place = is_there(overlap, kept, x, y, same)
            if place < 0:
                place, kept = kept, kept + 1
            elif gap >= overlap[place, _GAP] - PREFERENCE:
                continue
            overlap[place, _X], overlap[place, _Y], overlap[place, _Z], overlap[place, _GAP] = x, y, top, gap
            least = min(least, gap)
    return kept, least


@kernel
def fill_frame(direction, frame):
    """Two tangents and the normal; a function of the normal alone."""
    nx, ny, nz = direction[0], direction[1], direction[2]
    if abs(nx) < 0.7:
        scale = 1.0 / math.sqrt(ny * ny + nz * nz)
        tx, ty, tz = 0.0, nz * scale, -ny * scale
    else:
        scale = 1.0 / math.sqrt(nx * nx + nz * nz)
        tx, ty, tz = -nz * scale, 0.0, nx * scale
    frame[0, 0], frame[0, 1], frame[0, 2] = tx, ty, tz
    frame[1, 0], frame[1, 1], frame[1, 2] = ny * tz - nz * ty, nz * tx - nx * tz, nx * ty - ny * tx
    frame[2, 0], frame[2, 1], frame[2, 2] = nx, ny, nz


@kernel
def _overlap(a, count_a, b, count_b, overlap, spare):
    """Corners of the overlap of two convex outlines; returns their number."""
    if count_a < 2 or count_b < 2:
        if count_a == 1 and count_b > 2:
            return _inside(a, b, count_b, overlap)
        return _inside(b, a, count_a, overlap) if count_b == 1 and count_a > 2 else 0
    if count_a == 2 and count_b == 2:
        return _common_stretch(a, b, overlap)
    if count_b == 2:
        return _clip(b, count_b, a, count_a, overlap, spare)
    return _clip(a, count_a, b, count_b, overlap, spare)


@kernel
def _inside(point, outline, sides, overlap):
    """Fills `overlap` with the first of the points if it is inside of a convex outline; 1 if so, else 0."""
    x, y = point[0, _X], point[0, _Y]
    for s in range(sides):
        after = s + 1 if s + 1 < sides else 0
        ax, ay = outline[s, _X], outline[s, _Y]
        if (outline[after, _X] - ax) * (y - ay) - (outline[after, _Y] - ay) * (x - ax) < 0.0:
            return 0
    overlap[0, _X], overlap[0, _Y] = x, y
    return 1


@kernel
def _common_stretch(a, b, overlap):
    """Ends of the common part of two parallel lines, or the point where two lines cross; returns their number."""
    ux, uy = a[1, _X] - a[0, _X], a[1, _Y] - a[0, _Y]
    vx, vy = b[1, _X] - b[0, _X], b[1, _Y] - b[0, _Y]
    square = ux * ux + uy * uy
    across = ux * vy - uy * vx
    if abs(across) > _PARALLEL * math.sqrt(square * (vx * vx + vy * vy)):
        wx, wy = b[0, _X] - a[0, _X], b[0, _Y] - a[0, _Y]
        share, other = (wx * vy - wy * vx) / across, (wx * uy - wy * ux) / across
        if not (0.0 <= share <= 1.0 and 0.0 <= other <= 1.0):
            return 0
        overlap[0, _X], overlap[0, _Y] = a[0, _X] + share * ux, a[0, _Y] + share * uy
        return 1
    one = (ux * (b[0, _X] - a[0, _X]) + uy * (b[0, _Y] - a[0, _Y])) / square
    other = (ux * (b[1, _X] - a[0, _X]) + uy * (b[1, _Y] - a[0, _Y])) / square
    low, high = max(min(one, other), 0.0), min(max(one, other), 1.0)
    if low > high:
        return 0
    overlap[0, _X], overlap[0, _Y] = a[0, _X] + low * ux, a[0, _Y] + low * uy
    overlap[1, _X], overlap[1, _Y] = a[0, _X] + high * ux, a[0, _Y] + high * uy
    return 2


@kernel
def _clip(subject, count, clipper, sides, overlap, spare):
    """Part of an outline inside a convex one (Sutherland and Hodgman 1974); returns its number of corners."""
    for k in range(count):
        spare[k, _X], spare[k, _Y] = subject[k, _X], subject[k, _Y]
    source, target, count = spare, overlap, np.uintp(count)
    for s in range(sides):
        ax, ay = clipper[s, _X], clipper[s, _Y]
        after = s + 1 if s + 1 < sides else 0
        bx, by = clipper[after, _X] - ax, clipper[after, _Y] - ay
        border = -1e-9 * (bx * bx + by * by)
        for k in range(count):
            source[k, _INSIDE] = bx * (source[k, _Y] - ay) - by * (source[k, _X] - ax)
        kept = np.uintp(0)
        for k in range(count):
            m = k + np.uintp(1) if k + np.uintp(1) < count else np.uintp(0)
            px, py, inside = source[k, _X], source[k, _Y], source[k, _INSIDE]
            inside_next = source[m, _INSIDE]
            if inside >= border:
                target[kept, _X], target[kept, _Y] = px, py
                kept += np.uintp(1)
            if (inside >= border) != (inside_next >= border):
                share = min(max(inside / (inside - inside_next), 0.0), 1.0)
                target[kept, _X] = px + share * (source[m, _X] - px)
                target[kept, _Y] = py + share * (source[m, _Y] - py)
                kept += np.uintp(1)
        source, target = target, source
        count = kept
        if count == 0:
            return 0
    # after an even number of sides the result is in the first buffer
    if sides % 2 == 0:
        for k in range(count):
            overlap[k, _X], overlap[k, _Y] = source[k, _X], source[k, _Y]
    return int(count)


@kernel
def _spread(points, count, most, gu, gv):
    """Moves the deepest point and those farthest from each other, at most `most` (2 or 4), to the front.

    Returns:
        Their number.
    """
    if count <= most:
        return count
    deepest = math.inf
    for k in range(count):
        deepest = min(deepest, points[k, _GAP])
    best, choice = -math.inf, 0
    for k in range(count):
        along = gu * points[k, _X] + gv * points[k, _Y]
        if points[k, _GAP] < deepest + PREFERENCE and along > best:
            best, choice = along, k
    _swap(points, 0, choice)
    best, choice = -math.inf, 1
    for k in range(1, count):
        square = (points[k, _X] - points[0, _X]) ** 2 + (points[k, _Y] - points[0, _Y]) ** 2
        if square > _TIE * best:
            best, choice = square, k
    _swap(points, 1, choice)
    if most == 2:
        return 2
    # the third makes the largest triangle with the first two, the fourth adds the largest area
    best, choice = -math.inf, 2
    for k in range(2, count):
        area = abs(_area(points, 0, 1, k))
        if area > _TIE * best:
            best, choice = area, k
    _swap(points, 2, choice)
    inward = math.copysign(1.0, _area(points, 0, 1, 2))
    best, choice = 0.0, -1
    for k in range(3, count):
        for side in range(3):
            area = -inward * _area(points, side, (side + 1) % 3, k)
            if area > _TIE * best:
                best, choice = area, k
    if choice < 0:
        return 3
    _swap(points, 3, choice)
    return 4


@kernel
def _area(points, k, m, n):
    """Twice the area of the triangle of three points, positive when it is counter-clockwise."""
    ux, uy = points[m, _X] - points[k, _X], points[m, _Y] - points[k, _Y]
    return ux * (points[n, _Y] - points[k, _Y]) - uy * (points[n, _X] - points[k, _X])


@kernel
def _swap(points, k, m):
    """Exchanges two points."""
    for column in range(4):
        points[k, column], points[m, column] = points[m, column], points[k, column]
