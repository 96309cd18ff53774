"""Distances between simple shapes in closed form: points and spheres to any shape, capsule to capsule.

Distances are signed: inside a shape they are negative, and the normal is that of the nearest face.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER, HULL

# Square of the sine of the angle between axes below which capsules touch along a line (0.1 rad).
_PARALLEL = 0.01
# Depth by which a crossing of nearly parallel capsules must exceed that of their ends to be a contact [m].
_DEEPER = 1e-5


@kernel
def point_to_shape(kind, size, vertex, face, face_corner, face_first, face_end, x, y, z, enough=math.inf):
    """Distance of a point from a shape [m], and the shape's outward unit normal there.

    Args:
        kind, size: of the shape.
        vertex, face, face_corner: of all shapes.
        face_first, face_end: faces of this shape.
        x, y, z: the point in the shape's frame [m].
        enough: of a larger distance, a lower bound above this will do [m].
    """
    if kind == BOX:
        return point_to_box(x, y, z, size[0], size[1], size[2])
    if kind == CYLINDER:
        return point_to_cylinder(x, y, z, size[0], size[1])
    if kind == CAPSULE:
        return point_to_capsule(x, y, z, size[0], size[1])
    if kind == HULL:
        return point_to_hull(x, y, z, vertex, face, face_corner, face_first, face_end, enough)
    return point_to_capsule(x, y, z, size[0], 0.0)


@kernel
def point_to_capsule(x, y, z, radius, half_length):
    """Distance from a capsule along z, and outward normal; from a sphere when the half length is 0."""
    z -= min(max(z, -half_length), half_length)
    distance = math.sqrt(x * x + y * y + z * z)
    if distance == 0.0:
        # on the axis every perpendicular direction is equivalent
        return -radius, 1.0, 0.0, 0.0
    return distance - radius, x / distance, y / distance, z / distance


@kernel
def nearest_point(vertex, first, end, x, y, z):
    """Distance of a point from the nearest of the vertices first to end - 1, and unit vector from that vertex."""
    square, wx, wy, wz = math.inf, 0.0, 0.0, 0.0
    for v in range(first, end):
        dx, dy, dz = x - vertex[v, 0], y - vertex[v, 1], z - vertex[v, 2]
        length = dx * dx + dy * dy + dz * dz
        if length < square:
            square, wx, wy, wz = length, dx, dy, dz
    distance = math.sqrt(square)
    if distance == 0.0:
        return 0.0, 0.0, 0.0, 1.0
    return distance, wx / distance, wy / distance, wz / distance


@kernel
def point_to_box(x, y, z, half_x, half_y, half_z):
    """Distance from a box, and outward normal."""
    dx, dy, dz = abs(x) - half_x, abs(y) - half_y, abs(z) - half_z
    sx, sy, sz = math.copysign(1.0, x), math.copysign(1.0, y), math.copysign(1.0, z)
    if dx <= 0.0 and dy <= 0.0 and dz <= 0.0:
        if dx >= dy and dx >= dz:
            return dx, sx, 0.0, 0.0
        if dy >= dz:
            return dy, 0.0, sy, 0.0
        return dz, 0.0, 0.0, sz
    dx, dy, dz = max(dx, 0.0), max(dy, 0.0), max(dz, 0.0)
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    return distance, sx * dx / distance, sy * dy / distance, sz * dz / distance


@kernel
def point_to_cylinder(x, y, z, radius, half_length):
    """Distance from a cylinder along z, and outward normal."""
    across = math.sqrt(x * x + y * y)
    ux, uy = (x / across, y / across) if across > 0.0 else (1.0, 0.0)
    side, end = across - radius, abs(z) - half_length
    sz = math.copysign(1.0, z)
    if side <= 0.0 and end <= 0.0:
        if side >= end:
            return side, ux, uy, 0.0
        return end, 0.0, 0.0, sz
    side, end = max(side, 0.0), max(end, 0.0)
    distance = math.sqrt(side * side + end * end)
    return distance, ux * side / distance, uy * side / distance, sz * end / distance


@kernel
def point_to_hull(x, y, z, vertex, face, face_corner, face_first, face_end, enough=math.inf):
    """Distance from a convex polyhedron with triangular faces, and outward normal; `enough` as of `point_to_shape`."""
    depth, inner = -math.inf, face_first
    for f in range(face_first, face_end):
        height = face[f, 0] * x + face[f, 1] * y + face[f, 2] * z - face[f, 3]
        if height > depth:
            depth, inner = height, f
    if depth <= 0.0 or depth > enough:
        return depth, face[inner, 0], face[inner, 1], face[inner, 2]
    square, wx, wy, wz = math.inf, 0.0, 0.0, 0.0
    for f in range(face_first, face_end):
        if face[f, 0] * x + face[f, 1] * y + face[f, 2] * z > face[f, 3]:
            dx, dy, dz = _from_triangle(vertex, face_corner[f], x, y, z)
            length = dx * dx + dy * dy + dz * dz
            if length < square:
                square, wx, wy, wz = length, dx, dy, dz
    if square == 0.0:
        return depth, face[inner, 0], face[inner, 1], face[inner, 2]
    distance = math.sqrt(square)
    return distance, wx / distance, wy / distance, wz / distance


@kernel
def _from_triangle(vertex, corner, x, y, z):
    """Vector to a point from the nearest point of a triangle (Ericson 2005, section 5.1.5)."""
    a, b, c = vertex[corner[0]], vertex[corner[1]], vertex[corner[2]]
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    px, py, pz = x - a[0], y - a[1], z - a[2]
    uu, vv, uv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, ux * vx + uy * vy + uz * vz
    pu, pv = px * ux + py * uy + pz * uz, px * vx + py * vy + pz * vz
    # s, t: coordinates of the nearest point along the sides from a
    s, t = 0.0, 0.0
    across = uu * vv - uv * uv
    foot_s, foot_t = pu * vv - pv * uv, pv * uu - pu * uv
    if foot_s >= 0.0 and foot_t >= 0.0 and foot_s + foot_t <= across:
        s, t = foot_s / across, foot_t / across
    elif pu <= 0.0 and pv <= 0.0:
        pass
    else:
        # on one of the three sides: the nearest of their nearest points
        best = math.inf
        for side in range(3):
            if side == 0:
                e, g = min(max(pu / uu, 0.0), 1.0), 0.0
            elif side == 1:
                e, g = 0.0, min(max(pv / vv, 0.0), 1.0)
            else:
                g = min(max((uu - uv - pu + pv) / (uu - 2.0 * uv + vv), 0.0), 1.0)
                e = 1.0 - g
            dx, dy, dz = px - e * ux - g * vx, py - e * uy - g * vy, pz - e * uz - g * vz
            length = dx * dx + dy * dy + dz * dz
            if length < best:
                best, s, t = length, e, g
    return px - s * ux - t * vx, py - s * uy - t * vy, pz - s * uz - t * vz


@kernel
def nearest_on_segments(rx, ry, rz, ux, uy, uz, half_u, vx, vy, vz, half_v):
    """Nearest points of two segments: coordinates s and t from their centres along their unit directions u and v.

    Args:
        rx, ry, rz: from the first centre to the second [m].
        ux, uy, uz, half_u, vx, vy, vz, half_v: directions and half lengths.
    """
    b = ux * vx + uy * vy + uz * vz
    d = ux * rx + uy * ry + uz * rz
    e = vx * rx + vy * ry + vz * rz
    across = 1.0 - b * b
    s = min(max((d - b * e) / across if across > 1e-12 else d, -half_u), half_u)
    t = min(max(b * s - e, -half_v), half_v)
    return min(max(b * t + d, -half_u), half_u), t


@kernel
def capsule_to_capsule(size_a, r_a, at_a, size_b, r_b, at_b, found):
    """Contact points of two capsules: their nearest points, or the ends of the part where they are parallel.

    Args:
        size_a, r_a, at_a, size_b, r_b, at_b: the two capsules and their poses.
        found: result, point of the first, normal from the second to the first and gap, (3 or more, 7).

    Returns:
        Number of points found.
    """
    rx, ry, rz = at_b[0] - at_a[0], at_b[1] - at_a[1], at_b[2] - at_a[2]
    ux, uy, uz = r_a[0, 2], r_a[1, 2], r_a[2, 2]
    vx, vy, vz = r_b[0, 2], r_b[1, 2], r_b[2, 2]
    half_a, half_b = size_a[1], size_b[1]
    s, t = nearest_on_segments(rx, ry, rz, ux, uy, uz, half_a, vx, vy, vz, half_b)
    b = ux * vx + uy * vy + uz * vz
    if 1.0 - b * b < _PARALLEL:
        d = ux * rx + uy * ry + uz * rz
        e = vx * rx + vy * ry + vz * rz
        low, high = max(-half_a, d - half_b * abs(b)), min(half_a, d + half_b * abs(b))
        if low < high:
            for k in range(2):
                end = low if k == 0 else high
                other_end = min(max(b * end - e, -half_b), half_b)
                _capsule_point(size_a, r_a, at_a, size_b, r_b, at_b, end, other_end, found[k])
            _capsule_point(size_a, r_a, at_a, size_b, r_b, at_b, s, t, found[2])
            return 3 if found[2, 6] < min(found[0, 6], found[1, 6]) - _DEEPER else 2
    _capsule_point(size_a, r_a, at_a, size_b, r_b, at_b, s, t, found[0])
    return 1


@kernel
def _capsule_point(size_a, r_a, at_a, size_b, r_b, at_b, s, t, row):
    """Fills a row with the contact between the points s and t of two capsules' axes."""
    dx = at_a[0] + s * r_a[0, 2] - at_b[0] - t * r_b[0, 2]
    dy = at_a[1] + s * r_a[1, 2] - at_b[1] - t * r_b[1, 2]
    dz = at_a[2] + s * r_a[2, 2] - at_b[2] - t * r_b[2, 2]
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    if distance > 0.0:
        nx, ny, nz = dx / distance, dy / distance, dz / distance
    else:
        nx, ny, nz = r_a[0, 0], r_a[1, 0], r_a[2, 0]
    row[0] = at_a[0] + s * r_a[0, 2] - size_a[0] * nx
    row[1] = at_a[1] + s * r_a[1, 2] - size_a[0] * ny
    row[2] = at_a[2] + s * r_a[2, 2] - size_a[0] * nz
    row[3], row[4], row[5] = nx, ny, nz
    row[6] = distance - size_a[0] - size_b[0]
