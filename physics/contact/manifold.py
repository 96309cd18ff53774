"""Contact points of two convex solids along the direction of their largest separation.

Seen along that direction, the corners of each solid that are near enough to the other one span a polygon, a line or a
point. The corners of the two polygons' overlap are the contact points, each with its own gap. Where the overlap does
not contain the nearest points (an edge across an edge, a rim), those are a contact, too.

The normal points to the first solid. Coordinates are those of a frame with the normal as its third axis and the nearest
point of the first solid as its origin.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import rotated, rotated_back
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER

# A face normal is preferred over another direction while its separation is smaller by at most this [m]; so is a corner
# of the overlap over the nearest points.
PREFERENCE = 1e-5
# Cosine of normal and axis above which a cylinder touches with its end, not with its side; sine above which it touches
# with one point of its rim.
_ON_END = 0.7
_TILTED = 1e-3
# Faces are seen edge-on when their normal's component along the contact normal is below this.
_EDGE_ON = 1e-6
# Sine between two edges of boxes below which their cross product is no direction to test.
_PARALLEL_EDGES = 1e-6
# Sine between two edges below which they touch along a line.
_PARALLEL = 0.05
# Points closer than this share of the smaller solid are merged.
_SAME_POINT = 1e-3
# Corners closer than this in the contact plane lie on the same line along the normal [m].
_ROUNDING = 1e-9
# A direction in the first solid's frame that is parallel to no edge of common solids. Among equally deep corners the
# one farthest along it is taken first, so that rounding does not decide.
_FIRST_CORNER = (0.36, 0.48, 0.8)
# Of two candidates that are equal but for rounding, the first one is taken.
_TIE = 1.0 + 1e-6
# Columns of a point of the overlap: coordinates and gap.
_X, _Y, _Z, _GAP = range(4)


@kernel
def build_manifold(
    kind,
    size,
    bound,
    part,
    vertex,
    face,
    rotation,
    position,
    a,
    b,
    direction,
    distance,
    witness,
    reach,
    most,
    buffer,
    frame,
    manifold,
):
    """Fills `manifold` with the contact points of two convex solids along a direction.

    Args:
        kind, size, bound, part, vertex, face: of all shapes.
        rotation, position: their poses.
        a, b: the two solids.
        direction: unit vector from the second solid to the first, (3,).
        distance: separation of the solids along it [m].
        witness: point of the first solid that is nearest to the second, (3,).
        reach: largest relevant gap [m].
        most: largest number of points.
        buffer, frame: see `ContactWorkspace`.
        manifold: result: point of the first solid, normal and gap, (most, 7).

    Returns:
        Number of points, and the smallest gap of those that do not come from the witness [m].
    """
    _fill_frame(direction, frame)
    nearest, same = max(reach - distance, PREFERENCE), _SAME_POINT * min(bound[a], bound[b])
    overlap, spare = buffer[2], buffer[3]
    count_a = _outline(kind, size, part, vertex, rotation, position, a, witness, frame, -1.0, nearest, spare, buffer[0])
    count_b = _outline(kind, size, part, vertex, rotation, position, b, witness, frame, 1.0, nearest, spare, buffer[1])
    count = _overlap(buffer[0], count_a, buffer[1], count_b, overlap, spare)
    kept, least = 0, math.inf
    for k in range(count):
        x, y = overlap[k, _X], overlap[k, _Y]
        top = _surface(kind, size, part, face, rotation, position, a, witness, frame, x, y, -1.0)
        gap = top - _surface(kind, size, part, face, rotation, position, b, witness, frame, x, y, 1.0)
        if gap < reach and not _is_there(overlap, kept, x, y, same):
            overlap[kept, _X], overlap[kept, _Y], overlap[kept, _Z], overlap[kept, _GAP] = x, y, top, gap
            least = min(least, gap)
            kept += 1
    if distance < least - PREFERENCE:
        overlap[kept, _X], overlap[kept, _Y], overlap[kept, _Z], overlap[kept, _GAP] = 0.0, 0.0, 0.0, distance
        kept += 1
    kept = _spread(overlap, kept, most, frame, rotation[a])
    for k in range(kept):
        for m in range(3):
            manifold[k, m] = (
                witness[m] + overlap[k, _X] * frame[0, m] + overlap[k, _Y] * frame[1, m] + overlap[k, _Z] * frame[2, m]
            )
            manifold[k, 3 + m] = frame[2, m]
        manifold[k, 6] = overlap[k, _GAP]
    return kept, least


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
    """Separation of two solids along a unit vector from the second to the first [m], negative where they overlap.

    It is at most their distance, and equal to it along the direction between their nearest points.
    """
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
        kind, size, part, vertex, face, rotation, position, a, b: see `build_manifold`.
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
def best_crossing(kind, size, part, vertex, rotation, position, a, b):
    """Largest separation of two boxes along a cross product of their edges [m]."""
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
                    best = max(best, distance)
                    x, y, z = -x, -y, -z
    return best


@kernel
def _fill_frame(direction, frame):
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
def _outline(kind, size, part, vertex, rotation, position, s, witness, frame, side, nearest, spare, outline):
    """Convex outline, seen along the normal, of the corners that lie within `nearest` of a solid's extreme point.

    Args:
        kind, size, part, vertex, rotation, position, s: the solid.
        witness, frame: origin and axes.
        side: 1 where the normal leaves the solid, -1 where it enters.
        nearest: [m].
        spare: buffer.
        outline: result, counter-clockwise.

    Returns:
        Number of points.
    """
    r, radius, half_length, first = rotation[s], size[s, 0], size[s, 1], part[s, 0]
    ox, oy, oz = position[s, 0] - witness[0], position[s, 1] - witness[1], position[s, 2] - witness[2]
    lx, ly, lz = rotated_back(r, side * frame[2, 0], side * frame[2, 1], side * frame[2, 2])
    extreme = support(kind, size, part, vertex, s, lx, ly, lz)
    across = math.sqrt(lx * lx + ly * ly)
    fixed, lowest = part[s, 1] - first, 0
    if kind[s] == CYLINDER:
        # on its side a cylinder touches along its line nearest to the other solid, tilted with an end of that line
        fixed, lowest = 0 if abs(lz) < _ON_END else fixed, 2 if across > _TILTED else 0
    count = 0
    for k in range(fixed + lowest):
        if k < fixed:
            x, y, z = vertex[first + k, 0], vertex[first + k, 1], vertex[first + k, 2]
        else:
            x, y, z = radius * lx / across, radius * ly / across, half_length if k > fixed else -half_length
        height = lx * x + ly * y + lz * z
        if kind[s] == CAPSULE:
            height += radius
        if height >= extreme - nearest:
            x, y, z = rotated(r, x, y, z)
            x, y, z = x + ox, y + oy, z + oz
            u = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
            v = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
            if not _is_there(spare, count, u, v, _ROUNDING):
                spare[count, _X], spare[count, _Y] = u, v
                count += 1
    _sort(spare, count)
    return _convex_outline(spare, count, outline)


@kernel
def _sort(points, count):
    """Sorts points by x, then y, in place."""
    for k in range(1, count):
        x, y = points[k, _X], points[k, _Y]
        m = k
        while m > 0 and (points[m - 1, _X] > x or (points[m - 1, _X] == x and points[m - 1, _Y] > y)):
            points[m, _X], points[m, _Y] = points[m - 1, _X], points[m - 1, _Y]
            m -= 1
        points[m, _X], points[m, _Y] = x, y


@kernel
def _convex_outline(points, count, outline):
    """Convex hull of sorted points (Andrew's monotone chain), counter-clockwise; its number of points."""
    kept, base = 0, 1
    for k in range(2 * count - 1):
        point = points[k if k < count else 2 * count - 2 - k]
        if k == count:
            base = kept
        while kept > base and not _turns_left(outline[kept - 2], outline[kept - 1], point):
            kept -= 1
        outline[kept, _X], outline[kept, _Y] = point[_X], point[_Y]
        kept += 1
    # the chain ends at its first point
    return kept - 1 if kept > 1 else kept


@kernel
def _turns_left(a, b, c):
    """Whether the path a, b, c turns left by more than rounding."""
    ux, uy, vx, vy = b[_X] - a[_X], b[_Y] - a[_Y], c[_X] - a[_X], c[_Y] - a[_Y]
    return ux * vy - uy * vx > 1e-7 * math.sqrt((ux * ux + uy * uy) * (vx * vx + vy * vy))


@kernel
def _overlap(a, count_a, b, count_b, overlap, spare):
    """Corners of the overlap of two convex outlines, none for a single point; returns their number."""
    if count_a < 2 or count_b < 2:
        return 0
    if count_a == 2 and count_b == 2:
        return _common_stretch(a, b, overlap)
    if count_b == 2:
        return _clip(b, count_b, a, count_a, overlap, spare)
    return _clip(a, count_a, b, count_b, overlap, spare)


@kernel
def _common_stretch(a, b, overlap):
    """Ends of the common part of two parallel lines; nothing if the lines cross."""
    ux, uy = a[1, _X] - a[0, _X], a[1, _Y] - a[0, _Y]
    vx, vy = b[1, _X] - b[0, _X], b[1, _Y] - b[0, _Y]
    square = ux * ux + uy * uy
    if abs(ux * vy - uy * vx) > _PARALLEL * math.sqrt(square * (vx * vx + vy * vy)):
        return 0
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
    source, target = spare, overlap
    for s in range(sides):
        ax, ay = clipper[s, _X], clipper[s, _Y]
        bx, by = clipper[(s + 1) % sides, _X] - ax, clipper[(s + 1) % sides, _Y] - ay
        border = -1e-9 * (bx * bx + by * by)
        kept = 0
        for k in range(count):
            px, py = source[k, _X], source[k, _Y]
            qx, qy = source[(k + 1) % count, _X], source[(k + 1) % count, _Y]
            inside = bx * (py - ay) - by * (px - ax)
            inside_next = bx * (qy - ay) - by * (qx - ax)
            if inside >= border:
                target[kept, _X], target[kept, _Y] = px, py
                kept += 1
            if (inside >= border) != (inside_next >= border):
                share = min(max(inside / (inside - inside_next), 0.0), 1.0)
                target[kept, _X], target[kept, _Y] = px + share * (qx - px), py + share * (qy - py)
                kept += 1
        source, target = target, source
        count = kept
        if count == 0:
            return 0
    # after an even number of sides the result is in the first buffer
    if sides % 2 == 0:
        for k in range(count):
            overlap[k, _X], overlap[k, _Y] = source[k, _X], source[k, _Y]
    return count


@kernel
def _is_there(points, count, x, y, same):
    """Whether one of the points is closer to x, y than `same`."""
    there = False
    for k in range(count):
        there |= (points[k, _X] - x) ** 2 + (points[k, _Y] - y) ** 2 < same * same
    return there


@kernel
def _surface(kind, size, part, face, rotation, position, s, witness, frame, x, y, side):
    """Height of a solid's surface along the normal at x, y: where the normal leaves it (side 1) or enters it (-1)."""
    px = witness[0] + x * frame[0, 0] + y * frame[1, 0] - position[s, 0]
    py = witness[1] + x * frame[0, 1] + y * frame[1, 1] - position[s, 1]
    pz = witness[2] + x * frame[0, 2] + y * frame[1, 2] - position[s, 2]
    px, py, pz = rotated_back(rotation[s], px, py, pz)
    nx, ny, nz = rotated_back(rotation[s], frame[2, 0], frame[2, 1], frame[2, 2])
    if kind[s] == CYLINDER:
        return _surface_of_cylinder(size[s], px, py, pz, nx, ny, nz, side)
    if kind[s] == CAPSULE:
        return _surface_of_capsule(size[s], px, py, pz, nx, ny, nz, side)
    height = side * math.inf
    for f in range(part[s, 2], part[s, 3]):
        along = face[f, 0] * nx + face[f, 1] * ny + face[f, 2] * nz
        if side * along > _EDGE_ON:
            plane = (face[f, 3] - face[f, 0] * px - face[f, 1] * py - face[f, 2] * pz) / along
            height = min(height, plane) if side > 0.0 else max(height, plane)
    return height


@kernel
def _surface_of_cylinder(size, px, py, pz, nx, ny, nz, side):
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
def _surface_of_capsule(size, px, py, pz, nx, ny, nz, side):
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


@kernel
def _spread(points, count, most, frame, r_a):
    """Moves the deepest point and those farthest from each other, at most `most` (2 or 4), to the front.

    Returns:
        Their number.
    """
    if count <= most:
        return count
    deepest = math.inf
    for k in range(count):
        deepest = min(deepest, points[k, _GAP])
    gx, gy, gz = rotated(r_a, _FIRST_CORNER[0], _FIRST_CORNER[1], _FIRST_CORNER[2])
    gu = frame[0, 0] * gx + frame[0, 1] * gy + frame[0, 2] * gz
    gv = frame[1, 0] * gx + frame[1, 1] * gy + frame[1, 2] * gz
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
