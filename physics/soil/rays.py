"""Intersection of rays with the deformed ground.

In opened tiles the surface consists of triangles between cell centres, split as those of a height field; elsewhere it
is the natural ground.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.contact.rays import behind, between, border, cell_of, meet_cell, next_cell, ray_to_natural_ground
from grouser.physics.contact.terrain import Terrain
from grouser.physics.soil.tiles import SIDE, SURFACE, TILE, SoilState, natural_level, tile_at


@kernel
def fill_bounds(state: SoilState, cell, bounds):
    """Fills the bounding rectangle of all opened tiles: least x and y, greatest x and y [m], (4,)."""
    bounds[:2], bounds[2:] = math.inf, -math.inf
    for tile in range(state.tile_count[0]):
        for k in range(2):
            low = state.tile_place[tile, k] * SIDE * cell
            bounds[k] = min(bounds[k], low)
            bounds[2 + k] = max(bounds[2 + k], low + SIDE * cell)


@kernel
def ray_to_ground(terrain: Terrain, cell, state: SoilState, bounds, crest, x, y, z, dx, dy, dz, end):
    """Distance up to `end` at which a ray is first on or below the ground, infinite if it stays above it [m].

    Args:
        terrain: natural ground.
        cell: spacing of soft ground [m].
        state: its tiles.
        bounds: their bounding rectangle, see `fill_bounds`.
        crest: greatest height of each tile's surface [m], NaN until it is first needed; filled.
        x, y, z, dx, dy, dz: the ray in the world, its direction of unit length.
        end: [m].
    """
    near, last = between(bounds[0], bounds[2], x, dx, 0.0, end)
    near, last = between(bounds[1], bounds[3], y, dy, near, last)
    if near >= last:
        return ray_to_natural_ground(terrain, x, y, z, dx, dy, dz, 0.0, end)
    hit = ray_to_natural_ground(terrain, x, y, z, dx, dy, dz, 0.0, near)
    side = SIDE * cell
    a, b = cell_of(x + near * dx, side), cell_of(y + near * dy, side)
    while hit == math.inf and near < last:
        far_x, far_y = border(x, dx, a, side), border(y, dy, b, side)
        far = max(min(far_x, far_y, last), near)
        tile = tile_at(state, a, b)
        if tile < 0:
            hit = ray_to_natural_ground(terrain, x, y, z, dx, dy, dz, near, far)
        else:
            highest = _crest_of_tile(terrain, cell, state, crest, tile)
            start, end_below = behind(highest - z, dz, near, far)
            if start <= end_below:
                hit = _to_cells(terrain, cell, state, x, y, z, dx, dy, dz, start, end_below)
        a, b = next_cell(far_x, far_y, dx, dy, a, b)
        near = far
    return hit if hit < math.inf else ray_to_natural_ground(terrain, x, y, z, dx, dy, dz, last, end)


@kernel
def _to_cells(terrain: Terrain, cell, state: SoilState, x, y, z, dx, dy, dz, near, end):
    """`ray_to_ground` from cell to cell of opened tiles."""
    i, j = cell_of(x + near * dx, cell), cell_of(y + near * dy, cell)
    while True:
        far_x, far_y = border(x, dx, i, cell), border(y, dy, j, cell)
        far = max(min(far_x, far_y, end), near)
        hit = meet_cell(
            *(_surface(terrain, cell, state, i, j), _surface(terrain, cell, state, i + 1, j)),
            *(_surface(terrain, cell, state, i, j + 1), _surface(terrain, cell, state, i + 1, j + 1)),
            *(x / cell - i, y / cell - j, z, dx / cell, dy / cell, dz, near, far),
        )
        if hit < math.inf or far >= end:
            return hit
        i, j = next_cell(far_x, far_y, dx, dy, i, j)
        near = far


@kernel
def _surface(terrain: Terrain, cell, state: SoilState, i, j):
    """Present height of the centre of cell (i, j) [m]."""
    a, b = i // SIDE, j // SIDE
    tile = tile_at(state, a, b)
    if tile < 0:
        return natural_level(terrain, i * cell, j * cell)
    return state.soil_cell[tile * TILE + SURFACE + (i - a * SIDE) * SIDE + j - b * SIDE]


@kernel
def _crest_of_tile(terrain: Terrain, cell, state: SoilState, crest, tile):
    """Greatest height of a tile's surface, up to the centres of the first cells beyond it [m]."""
    if math.isnan(crest[tile]):
        start = tile * TILE + SURFACE
        highest = state.soil_cell[start]
        for c in range(start, start + SIDE * SIDE):
            highest = max(highest, state.soil_cell[c])
        i, j = state.tile_place[tile, 0] * SIDE, state.tile_place[tile, 1] * SIDE
        for k in range(SIDE + 1):
            highest = max(highest, _surface(terrain, cell, state, i + SIDE, j + k))
            highest = max(highest, _surface(terrain, cell, state, i + k, j + SIDE))
        crest[tile] = highest
    return crest[tile]
