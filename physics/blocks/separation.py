"""Where two convex blocks overlap least: along the normal of a face, or across two edges (separating axes)."""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import cross
from grouser.physics.blocks.points import copy_row

# An edge pair, or a face of the second block, is taken only where its overlap is below this share of the other's: faces
# that lie on each other stay with the first block's face.
_CLEARLY = 0.95
# Square of the sine of the angle below which edges are parallel and have no direction across them.
_PARALLEL = 1e-6


@kernel
def least_overlap(shapes, work, first, second):
    """The axes of the least overlap of two blocks.

    Args:
        shapes: of the system.
        work: with vertices and normals of the deformed blocks in the world.
        first, second: blocks.

    Returns:
        Separation along the normal of the best face [m], 0 or more where the blocks are apart; the face, and whether it
        is of the second block; edges of the first and of the second block between which they overlap less than along
        this face, or -1.
    """
    separation, face = _best_face(shapes, work, first, second)
    if separation >= 0.0:
        return separation, face, False, -1, -1
    other, face_other = _best_face(shapes, work, second, first)
    of_second = other > _CLEARLY * separation
    if of_second:
        separation, face = other, face_other
    if separation >= 0.0:
        return separation, face, of_second, -1, -1
    across, one, two = _best_edges(shapes, work, first, second, _CLEARLY * separation)
    if across >= 0.0:
        return across, face, of_second, -1, -1
    return separation, face, of_second, one, two


@kernel
def _best_face(shapes, work, block, other):
    """Largest height of all of the other block above a face of the block, and the face."""
    best, chosen = -math.inf, 0
    for face in range(shapes.face_start[block], shapes.face_start[block + 1]):
        normal, origin = work.normal[face], work.vertex[shapes.loop[shapes.loop_start[face]]]
        lowest = math.inf
        for vertex in range(shapes.vertex_start[other], shapes.vertex_start[other + 1]):
            place = work.vertex[vertex]
            height = (
                normal[0] * (place[0] - origin[0])
                + normal[1] * (place[1] - origin[1])
                + normal[2] * (place[2] - origin[2])
            )
            lowest = min(lowest, height)
        if lowest > best:
            best, chosen = lowest, face
        if best >= 0.0:
            break
    return best, chosen


@kernel
def _best_edges(shapes, work, first, second, above):
    """Largest separation of two edges that is above a value, and these edges; -inf and -1 where there is none.

    Only edges whose directions of outward normals cross on the unit sphere bound the sum of both shapes.
    """
    best, chosen, matched = -math.inf, -1, -1
    for one in range(shapes.edge_start[first], shapes.edge_start[first + 1]):
        start = work.vertex[shapes.edge[one, 0]]
        left, right = work.normal[shapes.edge[one, 2]], work.normal[shapes.edge[one, 3]]
        for other in range(shapes.edge_start[second], shapes.edge_start[second + 1]):
            their_left, their_right = work.normal[shapes.edge[other, 2]], work.normal[shapes.edge[other, 3]]
            if not _arcs_cross(left, right, their_left, their_right):
                continue
            begin = work.vertex[shapes.edge[other, 0]]
            nx, ny, nz = edge_axis(shapes, work, one, other)
            gap = nx * (begin[0] - start[0]) + ny * (begin[1] - start[1]) + nz * (begin[2] - start[2])
            if gap > best and gap > above and nx * nx + ny * ny + nz * nz > 0.0:
                best, chosen, matched = gap, one, other
    return best, chosen, matched


@kernel
def _arcs_cross(a, b, c, d):
    """Whether the arc of normals from a to b crosses that from -c to -d."""
    bx, by, bz = cross(b[0], b[1], b[2], a[0], a[1], a[2])
    dx, dy, dz = cross(d[0], d[1], d[2], c[0], c[1], c[2])
    cba = -(c[0] * bx + c[1] * by + c[2] * bz)
    dba = -(d[0] * bx + d[1] * by + d[2] * bz)
    adc = a[0] * dx + a[1] * dy + a[2] * dz
    bdc = b[0] * dx + b[1] * dy + b[2] * dz
    return cba * dba < 0.0 and adc * bdc < 0.0 and cba * bdc > 0.0


@kernel
def edge_axis(shapes, work, one, other):
    """Unit vector across two edges, out of the block of the first one; zero where they are parallel."""
    start, end = work.vertex[shapes.edge[one, 0]], work.vertex[shapes.edge[one, 1]]
    begin, stop = work.vertex[shapes.edge[other, 0]], work.vertex[shapes.edge[other, 1]]
    left, right = work.normal[shapes.edge[one, 2]], work.normal[shapes.edge[one, 3]]
    dx, dy, dz = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    ex, ey, ez = stop[0] - begin[0], stop[1] - begin[1], stop[2] - begin[2]
    nx, ny, nz = cross(dx, dy, dz, ex, ey, ez)
    square = nx * nx + ny * ny + nz * nz
    if square <= _PARALLEL * (dx * dx + dy * dy + dz * dz) * (ex * ex + ey * ey + ez * ez):
        return 0.0, 0.0, 0.0
    length = math.sqrt(square)
    if nx * (left[0] + right[0]) + ny * (left[1] + right[1]) + nz * (left[2] + right[2]) < 0.0:
        length = -length
    return nx / length, ny / length, nz / length


@kernel
def edge_points(shapes, work, one, other):
    """Nearest points of the lines of two edges in the world, (x, y, z, x, y, z), of the first and the second edge."""
    p, q = work.vertex[shapes.edge[one, 0]], work.vertex[shapes.edge[other, 0]]
    p_end, q_end = work.vertex[shapes.edge[one, 1]], work.vertex[shapes.edge[other, 1]]
    ux, uy, uz = p_end[0] - p[0], p_end[1] - p[1], p_end[2] - p[2]
    vx, vy, vz = q_end[0] - q[0], q_end[1] - q[1], q_end[2] - q[2]
    wx, wy, wz = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    uw, vw = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
    determinant = uu * vv - uv * uv
    s = (uw * vv - vw * uv) / determinant
    t = (uw * uv - vw * uu) / determinant
    return p[0] + s * ux, p[1] + s * uy, p[2] + s * uz, q[0] + t * vx, q[1] + t * vy, q[2] + t * vz


@kernel
def facing(shapes, work, block, nx, ny, nz):
    """The face of a block that looks most against a direction."""
    least, chosen = math.inf, 0
    for face in range(shapes.face_start[block], shapes.face_start[block + 1]):
        normal = work.normal[face]
        along = nx * normal[0] + ny * normal[1] + nz * normal[2]
        if along < least:
            least, chosen = along, face
    return chosen


@kernel
def deepest_corner(shapes, work, face, other):
    """The corner of the other block that lies deepest below a face, and its depth [m]."""
    normal, origin = work.normal[face], work.vertex[shapes.loop[shapes.loop_start[face]]]
    deepest, chosen = -math.inf, shapes.vertex_start[other]
    for vertex in range(shapes.vertex_start[other], shapes.vertex_start[other + 1]):
        depth = 0.0
        for axis in range(3):
            depth -= normal[axis] * (work.vertex[vertex, axis] - origin[axis])
        if depth > deepest:
            deepest, chosen = depth, vertex
    return chosen, deepest


@kernel
def clip_to_face(shapes, work, face, incident):
    """Clips a polygon by the sides of a face.

    Args:
        shapes: of the system.
        work: its first clipped polygon takes the result.
        face: whose sides cut.
        incident: face that is cut.

    Returns:
        Number of corners of the result.
    """
    count = take_face(shapes, work, incident)
    normal = work.normal[face]
    begin, size = shapes.loop_start[face], shapes.loop_start[face + 1] - shapes.loop_start[face]
    for side in range(size):
        start = work.vertex[shapes.loop[begin + side]]
        end = work.vertex[shapes.loop[begin + (side + 1) % size]]
        outward = cross(end[0] - start[0], end[1] - start[1], end[2] - start[2], normal[0], normal[1], normal[2])
        count = clip_side(work, count, start, outward)
    return count


@kernel
def clip_side(work, count, start, outward):
    """Cuts off what is outside of a plane from the first clipped polygon.

    Args:
        work: its first clipped polygon is cut.
        count: of its corners.
        start: a point of the plane.
        outward: vector out of it, of any length.

    Returns:
        Number of corners of the result.
    """
    source, target = work.clipped[0], work.clipped[1]
    kept = 0
    for k in range(count):
        point, following = source[k], source[(k + 1) % count]
        here = there = 0.0
        for axis in range(3):
            here += outward[axis] * (point[axis] - start[axis])
            there += outward[axis] * (following[axis] - start[axis])
        if here <= 0.0:
            copy_row(target, kept, source, k)
            kept += 1
        if (here < 0.0 and there > 0.0) or (here > 0.0 and there < 0.0):
            share = here / (here - there)
            for axis in range(3):
                target[kept, axis] = point[axis] + share * (following[axis] - point[axis])
            kept += 1
    for k in range(kept):
        copy_row(source, k, target, k)
    return kept


@kernel
def take_face(shapes, work, face):
    """Makes a face the first clipped polygon; returns the number of its corners."""
    begin, count = shapes.loop_start[face], shapes.loop_start[face + 1] - shapes.loop_start[face]
    for k in range(count):
        copy_row(work.clipped[0], k, work.vertex, shapes.loop[begin + k])
    return count


@kernel
def overlap(shapes, work, face, other):
    """Clips the face of the other block that looks at a face, and shares the area of the contact among its corners.

    The area is that of the polygon seen along the normal, and at least that of a corner: a quarter of the smaller face.

    Args:
        shapes: of the system.
        work: its first clipped polygon takes the corners, `tributary` their areas.
        face: that the other block lies over.
        other: block.

    Returns:
        Number of corners, and the area [m2].
    """
    normal = work.normal[face]
    incident = facing(shapes, work, other, normal[0], normal[1], normal[2])
    count = clip_to_face(shapes, work, face, incident)
    least = 0.25 * min(shapes.area[face], shapes.area[incident])
    area = share_area(work.clipped[0], count, normal, work.tributary)
    if area >= least:
        return count, area
    for k in range(count):
        work.tributary[k] = work.tributary[k] * least / area if area > 0.0 else least / count
    return count, least


@kernel
def share_area(polygon, count, normal, areas):
    """Area of a polygon seen along a normal [m2]; each corner gets half of the triangles beside it and the middle."""
    cx = cy = cz = 0.0
    for k in range(count):
        cx += polygon[k, 0] / count
        cy += polygon[k, 1] / count
        cz += polygon[k, 2] / count
        areas[k] = 0.0
    total = 0.0
    for k in range(count):
        after = (k + 1) % count
        here, there = polygon[k], polygon[after]
        ax, ay, az = cross(here[0] - cx, here[1] - cy, here[2] - cz, there[0] - cx, there[1] - cy, there[2] - cz)
        quarter = 0.25 * abs(ax * normal[0] + ay * normal[1] + az * normal[2])
        areas[k] += quarter
        areas[after] += quarter
        total += 2.0 * quarter
    return total
