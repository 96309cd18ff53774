"""Intersections of rays with shapes, in closed form, and with the ground, cell by cell.

A ray is a point and a unit direction. The result is the distance from that point to the first hit, infinity without
one. A ray that starts inside a shape hits it at distance zero.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER, POINTS
from grouser.physics.contact.terrain import BLOCK, Terrain, crest_at, height_at


@kernel
def ray_to_shape(kind, size, vertex, first, end, face, face_first, face_end, x, y, z, dx, dy, dz):
    """Distance at which a ray hits a shape [m].

    Args:
        kind, size, vertex, face: see `Shapes`.
        first, end, face_first, face_end: the shape's vertices and faces.
        x, y, z, dx, dy, dz: the ray in the shape's frame.
    """
    if kind == POINTS:
        nearest = math.inf
        for v in range(first, end):
            nearest = min(
                nearest, _to_sphere(size[0], x - vertex[v, 0], y - vertex[v, 1], z - vertex[v, 2], dx, dy, dz)
            )
        return nearest
    if kind == BOX:
        near, far = between(-size[0], size[0], x, dx, -math.inf, math.inf)
        near, far = between(-size[1], size[1], y, dy, near, far)
        near, far = between(-size[2], size[2], z, dz, near, far)
        return entry(near, far)
    if kind == CYLINDER:
        return _to_cylinder(size[0], size[1], x, y, z, dx, dy, dz)
    if kind == CAPSULE:
        ends = min(
            _to_sphere(size[0], x, y, z - size[1], dx, dy, dz), _to_sphere(size[0], x, y, z + size[1], dx, dy, dz)
        )
        return min(ends, _to_cylinder(size[0], size[1], x, y, z, dx, dy, dz))
    near, far = -math.inf, math.inf
    for f in range(face_first, face_end):
        nx, ny, nz = face[f, 0], face[f, 1], face[f, 2]
        near, far = behind(face[f, 3] - nx * x - ny * y - nz * z, nx * dx + ny * dy + nz * dz, near, far)
    return entry(near, far)


@kernel
def entry(near, far):
    """Start of a ray's part from `near` to `far` inside a shape; infinite where there is none ahead."""
    return max(near, 0.0) if near <= far and far >= 0.0 else math.inf


@kernel
def behind(space, rate, near, far):
    """The part from `near` to `far` of a ray behind a plane at the distance `space`, approached at `rate`.

    `far` is less than `near` if there is none.
    """
    if rate > 0.0:
        return near, min(far, space / rate)
    if rate < 0.0:
        return max(near, space / rate), far
    return (near, far) if space >= 0.0 else (math.inf, -math.inf)


@kernel
def between(low, high, x, dx, near, far):
    """The part from `near` to `far` of a ray where its coordinate x is between two values; as for `behind`."""
    near, far = behind(high - x, dx, near, far)
    return behind(x - low, -dx, near, far)


@kernel
def _to_sphere(radius, x, y, z, dx, dy, dz):
    """Distance at which a ray hits a sphere about the origin."""
    along = -(x * dx + y * dy + z * dz)
    # its point nearest to the centre
    wx, wy, wz = x + along * dx, y + along * dy, z + along * dz
    square = radius * radius - wx * wx - wy * wy - wz * wz
    if square < 0.0:
        return math.inf
    half = math.sqrt(square)
    return entry(along - half, along + half)


@kernel
def _to_cylinder(radius, half_length, x, y, z, dx, dy, dz):
    """Distance at which a ray hits a cylinder about the z axis."""
    near, far = between(-half_length, half_length, z, dz, -math.inf, math.inf)
    across = dx * dx + dy * dy
    along = 0.0 if across == 0.0 else -(x * dx + y * dy) / across
    wx, wy = x + along * dx, y + along * dy
    square = radius * radius - wx * wx - wy * wy
    if square < 0.0:
        return math.inf
    if across > 0.0:
        half = math.sqrt(square / across)
        near, far = max(near, along - half), min(far, along + half)
    return entry(near, far)


@kernel
def ray_to_natural_ground(terrain: Terrain, x, y, z, dx, dy, dz, start, end):
    """Distance from `start` to `end` at which a ray first is on or below the initial ground [m]."""
    if terrain.heights.shape[0] > 0:
        return _to_field(terrain, x, y, z, dx, dy, dz, start, end)
    point, normal = terrain.point, terrain.normal
    above = normal[0] * (x - point[0]) + normal[1] * (y - point[1]) + normal[2] * (z - point[2])
    rate = normal[0] * dx + normal[1] * dy + normal[2] * dz
    if above + start * rate <= 0.0:
        return start
    return -above / rate if above + end * rate <= 0.0 else math.inf


@kernel
def _to_field(terrain: Terrain, x, y, z, dx, dy, dz, start, end):
    """The same for a height field."""
    start, end = behind(terrain.highest[0] - z, dz, start, end)
    x, y = x - terrain.origin[0], y - terrain.origin[1]
    return ray_to_grid(terrain.heights, terrain.crest, terrain.cell[0], x, y, z, dx, dy, dz, start, end)


@kernel
def ray_to_grid(heights, crest, cell, x, y, z, dx, dy, dz, start, end):
    """Distance from `start` to `end` at which a ray first is on or below the surface over a grid [m].

    Walks blocks of cells, and the cells of blocks that the ray may enter.

    Args:
        heights, crest, cell: as of `Terrain`.
        x, y, z, dx, dy, dz: the ray, from the grid's first vertex.
        start, end: the part of the ray that counts.
    """
    side = BLOCK * cell
    near = start
    a, b = cell_of(x + near * dx, side), cell_of(y + near * dy, side)
    while near < end:
        far_x, far_y = border(x, dx, a, side), border(y, dy, b, side)
        far = max(min(far_x, far_y, end), near)
        if min(z + near * dz, z + far * dz) <= crest_at(crest, a, b):
            hit = _to_cells(heights, cell, x, y, z, dx, dy, dz, near, far)
            if hit < math.inf:
                return hit
        a, b = next_cell(far_x, far_y, dx, dy, a, b)
        near = far
    return math.inf


@kernel
def _to_cells(heights, cell, x, y, z, dx, dy, dz, near, end):
    """The same within a block, cell by cell."""
    i, j = cell_of(x + near * dx, cell), cell_of(y + near * dy, cell)
    while True:
        far_x, far_y = border(x, dx, i, cell), border(y, dy, j, cell)
        far = max(min(far_x, far_y, end), near)
        hit = meet_cell(
            *(height_at(heights, i, j), height_at(heights, i + 1, j)),
            *(height_at(heights, i, j + 1), height_at(heights, i + 1, j + 1)),
            *(x / cell - i, y / cell - j, z, dx / cell, dy / cell, dz, near, far),
        )
        if hit < math.inf or far >= end:
            return hit
        i, j = next_cell(far_x, far_y, dx, dy, i, j)
        near = far


@kernel
def cell_of(x, cell):
    """Index of the cell that contains x, measured from the border of the first cell."""
    return int(math.floor(x / cell))


@kernel
def border(x, dx, i, cell):
    """Distance at which a ray from x along dx leaves cell i, infinite if it never does."""
    if dx > 0.0:
        return ((i + 1) * cell - x) / dx
    return (i * cell - x) / dx if dx < 0.0 else math.inf


@kernel
def next_cell(far_x, far_y, dx, dy, i, j):
    """The next cell of a ray that leaves cell (i, j) at the distance `far_x` or `far_y`."""
    if far_x <= far_y:
        return i + (1 if dx > 0.0 else -1), j
    return i, j + (1 if dy > 0.0 else -1)


@kernel
def meet_cell(h00, h10, h01, h11, u, v, z, du, dv, dz, near, far):
    """Distance at which a ray first is on or below the two triangles of a cell, infinite if it stays above them.

    Its height above them changes at a constant rate on each side of the diagonal.

    Args:
        h00, h10, h01, h11: heights of the cell's corners [m].
        u, v, z, du, dv, dz: the ray; u and v from the corner, in cells.
        near, far: the part of the ray over the cell.
    """
    above = _above_cell(h00, h10, h01, h11, u + near * du, v + near * dv, z + near * dz)
    if above <= 0.0:
        return near
    diagonal = (v - u) / (du - dv) if du != dv else math.inf
    if near < diagonal < far:
        after = _above_cell(h00, h10, h01, h11, u + diagonal * du, v + diagonal * dv, z + diagonal * dz)
        if after <= 0.0:
            return near + (diagonal - near) * above / (above - after)
        near, above = diagonal, after
    after = _above_cell(h00, h10, h01, h11, u + far * du, v + far * dv, z + far * dz)
    return near + (far - near) * above / (above - after) if after <= 0.0 else math.inf


@kernel
def _above_cell(h00, h10, h01, h11, u, v, z):
    """Height above the triangle of a cell that contains u, v."""
    if v <= u:
        return z - h00 - u * (h10 - h00) - v * (h11 - h10)
    return z - h00 - v * (h01 - h00) - u * (h11 - h01)
