"""The ground: a plane, or the surface over a grid of heights.

Each cell of the grid is two triangles, split by the diagonal from its corner (i, j) to (i + 1, j + 1). Beyond the grid
the border's heights continue outward: an index outside is replaced by the nearest one inside, so that no other code
handles the border.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.world import Ground

# Limit of the search for the surface beyond a shape, in cells [-].
_FARTHEST = 64
# Tolerance for nearest points at the border of their triangle, edge or range, as a share of the cell [-].
_BORDER = 1e-9
# Cells along a side of the blocks with a stored maximum height.
BLOCK = 4
# Directions to the surface within this angle (about one degree) are one contact: cosine.
_SAME_DIRECTION = 0.9998
# Points of the surface that a sphere may touch at the same time.
SPHERE_CONTACTS = 3


class Terrain(NamedTuple):
    """The ground.

    Attributes:
        point, normal: a point of the plane [m] and its unit normal, (3,).
        heights: over the grid [m], (n_x, n_y); empty for a plane.
        cell: spacing of the grid [m], (1,).
        origin: x and y of heights[0, 0] [m], (2,).
        highest: maximum height [m], (1,).
        crest: maximum height of each block of cells, borders included [m], (blocks, blocks).
        peak: whether a flat face could rest on a vertex of the grid, (n_x, n_y).
        types: index of the soil over a grid, -1 where the ground is rigid, (n_x, n_y); empty for rigid ground.
        types_cell: spacing of that grid [m], (1,).
        types_origin: x and y of types[0, 0] [m], (2,).
    """

    point: np.ndarray
    normal: np.ndarray
    heights: np.ndarray
    cell: np.ndarray
    origin: np.ndarray
    highest: np.ndarray
    crest: np.ndarray
    peak: np.ndarray
    types: np.ndarray
    types_cell: np.ndarray
    types_origin: np.ndarray


def make_terrain(ground: Ground | None) -> Terrain:
    """The ground as arrays; without a ground, a plane that no other code uses."""
    point: Vector3
    point, normal = (ground.point, ground.normal) if ground else ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    field = ground.heightfield if ground else None
    soil = ground.soil if ground else None
    types = np.zeros((0, 0)) if soil is None else np.zeros((1, 1)) if soil.types is None else soil.types
    heights = np.zeros((0, 0)) if field is None else np.array(field.heights, dtype=float)
    terrain = Terrain(
        point=np.array(point, dtype=float),
        normal=np.array(normal, dtype=float),
        heights=heights,
        cell=np.array([1.0 if field is None else field.cell]),
        origin=np.array((0.0, 0.0) if field is None else field.origin, dtype=float),
        highest=np.array([np.max(heights, initial=-np.inf)]),
        crest=_crests(heights),
        peak=_peaks(heights),
        types=np.array(types, dtype=np.int64),
        types_cell=np.array([1.0 if soil is None else soil.types_cell]),
        types_origin=np.array((0.0, 0.0) if soil is None else soil.types_origin, dtype=float),
    )
    for array in terrain:
        array.flags.writeable = False
    return terrain


def _crests(heights: np.ndarray) -> np.ndarray:
    """Maximum height of each block of cells."""
    crest = heights
    for axis in (0, 1):
        starts = np.arange(0, max(crest.shape[axis] - 1, 1), BLOCK)
        last = np.minimum(starts + BLOCK, crest.shape[axis] - 1)
        if crest.size:
            crest = np.maximum(np.maximum.reduceat(crest, starts, axis=axis), np.take(crest, last, axis=axis))
    return np.ascontiguousarray(crest)


def _peaks(heights: np.ndarray) -> np.ndarray:
    """Vertices that are not below the middle of any two opposite neighbours, and above the middle of some."""
    around = np.pad(heights, 1, mode="edge") if heights.size else np.zeros((2, 2))
    never_below = np.ones(heights.shape, dtype=np.bool_)
    above = np.zeros(heights.shape, dtype=np.bool_)
    # on an even slope a vertex differs from its neighbours' middle by rounding only
    rounding = 1e-12 * max(1.0, float(np.abs(heights).max(initial=0.0)))
    for i, j in ((1, 0), (0, 1), (1, 1)):
        n_x, n_y = heights.shape
        after = around[1 + i : 1 + i + n_x, 1 + j : 1 + j + n_y]
        before = around[1 - i : 1 - i + n_x, 1 - j : 1 - j + n_y]
        rise = 2.0 * heights - before - after
        never_below &= rise > -rounding
        above |= rise > rounding
    return never_below & above


@kernel
def cell_range(low, high, start, cell):
    """First and last index of the cells that overlap [low, high]."""
    return int(math.floor((low - start) / cell)), int(math.floor((high - start) / cell))


@kernel
def look_ahead(ahead, cell):
    """The distance to search, limited to a number of cells; NaN gives the limit."""
    if ahead < _FARTHEST * cell:
        return ahead
    return _FARTHEST * cell


@kernel
def height_at(heights, i, j):
    """Height of a vertex [m]; beyond the grid that of the nearest one."""
    return heights[min(max(i, 0), heights.shape[0] - 1), min(max(j, 0), heights.shape[1] - 1)]


@kernel
def type_at(terrain: Terrain, x, y):
    """Index of the soil at x, y of the world, -1 for rigid ground."""
    types, cell, origin = terrain.types, terrain.types_cell[0], terrain.types_origin
    if types.shape[0] == 0:
        return -1
    i, j = int(math.floor((x - origin[0]) / cell + 0.5)), int(math.floor((y - origin[1]) / cell + 0.5))
    return types[min(max(i, 0), types.shape[0] - 1), min(max(j, 0), types.shape[1] - 1)]


def ground_surface(ground: Ground | None, x: float, y: float) -> tuple[float, float, float, float]:
    """Height [m] and upward unit normal of the natural ground at a place; without a ground those of the plane z = 0."""
    if ground is None:
        return 0.0, 0.0, 0.0, 1.0
    if ground.heightfield is not None:
        field = ground.heightfield
        return surface_below(field.heights, field.cell, *field.origin, x, y)
    (px, py, pz), (nx, ny, nz) = ground.point, ground.normal
    return pz - (nx * (x - px) + ny * (y - py)) / nz, nx, ny, nz


@kernel
def surface_below(heights, cell, origin_x, origin_y, x, y):
    """Height [m] and unit normal of the surface at x, y."""
    u, v = (x - origin_x) / cell, (y - origin_y) / cell
    i, j = int(math.floor(u)), int(math.floor(v))
    u -= i
    v -= j
    corner, opposite = height_at(heights, i, j), height_at(heights, i + 1, j + 1)
    if v <= u:
        side = height_at(heights, i + 1, j)
        along_x, along_y = side - corner, opposite - side
    else:
        side = height_at(heights, i, j + 1)
        along_x, along_y = opposite - side, side - corner
    a, b = along_x / cell, along_y / cell
    scale = 1.0 / math.sqrt(1.0 + a * a + b * b)
    return corner + u * along_x + v * along_y, -a * scale, -b * scale, scale


@kernel
def crest_of(crest, i_first, i_last, j_first, j_last):
    """Upper bound of the heights of the vertices in a range of cells [m]."""
    highest = -math.inf
    for i in range(_block_of(i_first, crest.shape[0]), _block_of(i_last, crest.shape[0]) + 1):
        for j in range(_block_of(j_first, crest.shape[1]), _block_of(j_last, crest.shape[1]) + 1):
            highest = max(highest, crest[i, j])
    return highest


@kernel
def crest_at(crest, a, b):
    """Upper bound of the surface over a block [m]; beyond the grid that of the nearest block."""
    return crest[min(max(a, 0), crest.shape[0] - 1), min(max(b, 0), crest.shape[1] - 1)]


@kernel
def _block_of(cell, blocks):
    """Block that contains a cell."""
    return min(max(cell, 0) // BLOCK, blocks - 1)


@kernel
def nearest_to_sphere(heights, crest, cell, origin_x, origin_y, x, y, z, span, near):
    """Local minima of the distance from a point above the surface.

    On flat ground there is one, in a valley there are two or more. As each is a minimum over the whole surface, not
    over one triangle, the borders between triangles give no points of their own unless they are ridges. Below the
    surface the triangle above the point counts, extended to a plane.

    Args:
        heights, crest, cell, origin_x, origin_y: the grid.
        x, y, z: the point.
        span: radius of the search [m]; some points may be farther.
        near: result, unit vector from the surface to the point and distance along it, nearest first,
            (SPHERE_CONTACTS, 4).

    Returns:
        Number of points found.
    """
    height, nx, ny, nz = surface_below(heights, cell, origin_x, origin_y, x, y)
    if z <= height:
        near[0, 0], near[0, 1], near[0, 2], near[0, 3] = nx, ny, nz, (z - height) * nz
        return 1
    # the search radius: surface within `span` lies in a circle that shrinks with the height above the whole surface
    i_first, i_last = cell_range(x - span, x + span, origin_x, cell)
    j_first, j_last = cell_range(y - span, y + span, origin_y, cell)
    above = max(z - crest_of(crest, i_first, i_last, j_first, j_last), 0.0)
    if above >= span:
        return 0
    around = math.sqrt(span * span - above * above)
    i_first, i_last = cell_range(x - around, x + around, origin_x, cell)
    j_first, j_last = cell_range(y - around, y + around, origin_y, cell)
    count = 0
    for i in range(i_first, i_last + 1):
        # the point's coordinates from the cell's corner
        px = x - origin_x - i * cell
        away_x = max(-px, px - cell, 0.0)
        for j in range(j_first, j_last + 1):
            py = y - origin_y - j * cell
            away_y = max(-py, py - cell, 0.0)
            h00, h10 = height_at(heights, i, j), height_at(heights, i + 1, j)
            h01, h11 = height_at(heights, i, j + 1), height_at(heights, i + 1, j + 1)
            away_z = max(z - max(max(h00, h10), max(h01, h11)), 0.0)
            if away_x * away_x + away_y * away_y + away_z * away_z > span * span:
                continue
            pz = z - h00
            a, b, c = h10 - h00, h01 - h00, h11 - h00
            count = _face(px, py, pz, a, c - a, cell, True, near, count)
            count = _face(px, py, pz, c - b, b, cell, False, near, count)
            # the edges from the corner along x, along y and along the diagonal, with the third vertices on both sides
            if _on_edge(px, py, pz, cell, 0.0, a):
                below = height_at(heights, i, j - 1) - h00
                count = _edge(px, py, pz, cell, 0.0, a, cell, cell, c, 0.0, -cell, below, cell, near, count)
            if _on_edge(px, py, pz, 0.0, cell, b):
                before = height_at(heights, i - 1, j) - h00
                count = _edge(px, py, pz, 0.0, cell, b, cell, cell, c, -cell, 0.0, before, cell, near, count)
            if _on_edge(px, py, pz, cell, cell, c):
                count = _edge(px, py, pz, cell, cell, c, cell, 0.0, a, 0.0, cell, b, cell, near, count)
            if _is_corner_nearest(heights, i, j, px, py, pz, cell, h00, a, b, c):
                count = _keep(px, py, pz, near, count)
    return count


@kernel
def _face(px, py, pz, along_x, along_y, cell, lower, near, count):
    """Keeps the foot of the point on a triangle if it lies inside; returns the number of points kept.

    Args:
        px, py, pz: the point, from the cell's corner (i, j).
        along_x, along_y: rise of the triangle over one cell [m].
        lower: whether the triangle is the one at (i + 1, j), not at (i, j + 1).
        cell, near, count: see `nearest_to_sphere`.
    """
    a, b = along_x / cell, along_y / cell
    up = (pz - a * px - b * py) / (1.0 + a * a + b * b)
    u, v = px + up * a, py + up * b
    border = _BORDER * cell
    low, high = (v, u) if lower else (u, v)
    if up <= 0.0 or low < -border or high > cell + border or low > high + border:
        return count
    return _keep(-a * up, -b * up, up, near, count)


@kernel
def _on_edge(px, py, pz, ex, ey, ez):
    """Whether the foot of the point on the line from the corner to e lies between the two."""
    along, square = px * ex + py * ey + pz * ez, ex * ex + ey * ey + ez * ez
    return -_BORDER * square <= along <= (1.0 + _BORDER) * square


@kernel
def _edge(px, py, pz, ex, ey, ez, lx, ly, lz, rx, ry, rz, cell, near, count):
    """Keeps the foot of the point on an edge from the corner, if the triangles on both sides lead away from the point.

    Args:
        px, py, pz: the point, from the cell's corner (i, j).
        ex, ey, ez: the edge's other end; lx, ly, lz and rx, ry, rz: third vertices of the triangles on both sides.
        cell, near, count: see `nearest_to_sphere`.
    """
    along = (px * ex + py * ey + pz * ez) / (ex * ex + ey * ey + ez * ez)
    wx, wy, wz = px - along * ex, py - along * ey, pz - along * ez
    border = _BORDER * cell * cell
    left = wx * (lx - along * ex) + wy * (ly - along * ey) + wz * (lz - along * ez)
    right = wx * (rx - along * ex) + wy * (ry - along * ey) + wz * (rz - along * ez)
    if left > border or right > border:
        return count
    return _keep(wx, wy, wz, near, count)


@kernel
def _is_corner_nearest(heights, i, j, px, py, pz, cell, h00, a, b, c):
    """Whether the distance increases along all six edges from vertex (i, j)."""
    border = _BORDER * cell * cell
    if px * cell + pz * a > border or py * cell + pz * b > border or (px + py) * cell + pz * c > border:
        return False
    if pz * (height_at(heights, i - 1, j) - h00) - px * cell > border:
        return False
    if pz * (height_at(heights, i, j - 1) - h00) - py * cell > border:
        return False
    return -(px + py) * cell + pz * (height_at(heights, i - 1, j - 1) - h00) <= border


@kernel
def _keep(wx, wy, wz, near, count):
    """Inserts the vector w from the surface to the point into the sorted nearest ones; returns their number.

    Of two in nearly the same direction only the nearer one is kept.
    """
    distance = math.sqrt(wx * wx + wy * wy + wz * wz)
    if distance == 0.0:
        return count
    wx, wy, wz = wx / distance, wy / distance, wz / distance
    for k in range(count):
        if near[k, 0] * wx + near[k, 1] * wy + near[k, 2] * wz > _SAME_DIRECTION:
            if near[k, 3] <= distance:
                return count
            # drop the farther one
            for m in range(k, count - 1):
                for n in range(4):
                    near[m, n] = near[m + 1, n]
            count -= 1
            break
    at = count
    while at > 0 and near[at - 1, 3] > distance:
        at -= 1
    if at == near.shape[0]:
        return count
    last = min(count, near.shape[0] - 1)
    for m in range(last, at, -1):
        for n in range(4):
            near[m, n] = near[m - 1, n]
    near[at, 0], near[at, 1], near[at, 2], near[at, 3] = wx, wy, wz, distance
    return min(count + 1, near.shape[0])
