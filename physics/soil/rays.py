"""Intersection of rays with the deformed ground.

In opened tiles the surface consists of triangles between cell centres, split as those of a height field; elsewhere it
is the natural ground. Each tile that a ray may enter is copied once into a grid with the first cells beyond it.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.contact.rays import behind, between, border, cell_of, next_cell, ray_to_grid, ray_to_natural_ground
from grouser.physics.contact.terrain import BLOCK, Terrain
from grouser.physics.soil.tiles import SIDE, SURFACE, TILE, SoilState, surface_of, tile_at

# Blocks of cells along the side of a tile.
_BLOCKS = SIDE // BLOCK


class TileGrids(NamedTuple):
    """Grids of the opened tiles, filled when a ray first needs them.

    Attributes:
        bounds: rectangle around the tiles within reach: least x and y, greatest x and y [m], (4,).
        summit: upper bound of the surface of these [m], (1,).
        highest: maximum height of each tile's surface [m], NaN until it is filled, (tiles,).
        heights: of the centres of its cells and the first ones beyond [m], (tiles, SIDE + 1, SIDE + 1).
        crest: maximum height of each block of cells [m], (tiles, blocks, blocks).
    """

    bounds: np.ndarray
    summit: np.ndarray
    highest: np.ndarray
    heights: np.ndarray
    crest: np.ndarray


def make_tile_grids(tiles: int) -> TileGrids:
    """Grids for so many tiles, not yet surveyed."""
    return TileGrids(
        bounds=np.zeros(4),
        summit=np.zeros(1),
        highest=np.zeros(tiles),
        heights=np.empty((tiles, SIDE + 1, SIDE + 1)),
        crest=np.empty((tiles, _BLOCKS, _BLOCKS)),
    )


@kernel
def survey(terrain: Terrain, cell, state: SoilState, grids: TileGrids, x, y, reach, most):
    """Finds the tiles within reach of rays from one point: their bounding rectangle and their greatest height.

    Args:
        terrain: natural ground.
        cell: spacing of soft ground [m].
        state: its tiles.
        grids: of the tiles; `bounds` and `summit` are filled, and the tiles' own emptied.
        x, y: where the rays begin [m].
        reach: of the longest one [m].
        most: up to this many tiles are copied at once, for their greatest height.
    """
    bounds, side, count = grids.bounds, SIDE * cell, 0
    bounds[:2], bounds[2:] = math.inf, -math.inf
    grids.summit[0] = -math.inf
    grids.highest[: state.tile_count[0]] = math.nan
    for tile in range(state.tile_count[0]):
        low_x, low_y = state.tile_place[tile, 0] * side, state.tile_place[tile, 1] * side
        away_x, away_y = max(low_x - x, x - low_x - side), max(low_y - y, y - low_y - side)
        if max(away_x, away_y) > reach:
            continue
        count += 1
        bounds[0], bounds[2] = min(bounds[0], low_x), max(bounds[2], low_x + side)
        bounds[1], bounds[3] = min(bounds[1], low_y), max(bounds[3], low_y + side)
        if count <= most:
            _fill_grid(terrain, cell, state, grids, tile)
            grids.summit[0] = max(grids.summit[0], grids.highest[tile])
    if count > most:
        grids.summit[0] = math.inf


@kernel
def ray_to_ground(terrain: Terrain, cell, state: SoilState, grids: TileGrids, x, y, z, dx, dy, dz, end):
    """Distance up to `end` at which a ray is first on or below the ground, infinite if it stays above it [m].

    Args:
        terrain: natural ground.
        cell: spacing of soft ground [m].
        state: its tiles.
        grids: of the tiles, surveyed.
        x, y, z, dx, dy, dz: the ray in the world, its direction of unit length.
        end: [m].
    """
    bounds = grids.bounds
    near, last = between(bounds[0], bounds[2], x, dx, 0.0, end)
    near, last = between(bounds[1], bounds[3], y, dy, near, last)
    if near >= last:
        return ray_to_natural_ground(terrain, x, y, z, dx, dy, dz, 0.0, end)
    # above all tiles only the natural ground can be hit, beside the tiles; if it is not, that part is done
    low, high = behind(grids.summit[0] - z, dz, near, last)
    if low > high:
        low = last
    hit = ray_to_natural_ground(terrain, x, y, z, dx, dy, dz, 0.0, low)
    if hit == math.inf:
        near = low
    elif hit >= near:
        hit = math.inf
    side = SIDE * cell
    a, b = cell_of(x + near * dx, side), cell_of(y + near * dy, side)
    while hit == math.inf and near < last:
        far_x, far_y = border(x, dx, a, side), border(y, dy, b, side)
        far = max(min(far_x, far_y, last), near)
        tile = tile_at(state, a, b)
        if tile < 0:
            hit = ray_to_natural_ground(terrain, x, y, z, dx, dy, dz, near, far)
        else:
            if math.isnan(grids.highest[tile]):
                _fill_grid(terrain, cell, state, grids, tile)
            start, end_below = behind(grids.highest[tile] - z, dz, near, far)
            if start <= end_below:
                hit = ray_to_grid(
                    *(grids.heights[tile], grids.crest[tile], cell),
                    *(x - a * side, y - b * side, z, dx, dy, dz, start, end_below),
                )
        a, b = next_cell(far_x, far_y, dx, dy, a, b)
        near = far
    return hit if hit < math.inf else ray_to_natural_ground(terrain, x, y, z, dx, dy, dz, last, end)


@kernel
def _fill_grid(terrain: Terrain, cell, state: SoilState, grids: TileGrids, tile):
    """Fills the grid of a tile."""
    start = tile * TILE + SURFACE
    heights, crest = grids.heights[tile], grids.crest[tile]
    for i in range(SIDE):
        for j in range(SIDE):
            heights[i, j] = state.soil_cell[start + i * SIDE + j]
    first_i, first_j = state.tile_place[tile, 0] * SIDE, state.tile_place[tile, 1] * SIDE
    for k in range(SIDE + 1):
        heights[SIDE, k] = surface_of(terrain, cell, state, first_i + SIDE, first_j + k)
        heights[k, SIDE] = surface_of(terrain, cell, state, first_i + k, first_j + SIDE)
    highest = -math.inf
    for a in range(_BLOCKS):
        for b in range(_BLOCKS):
            most = -math.inf
            for i in range(a * BLOCK, (a + 1) * BLOCK + 1):
                for j in range(b * BLOCK, (b + 1) * BLOCK + 1):
                    most = max(most, heights[i, j])
            crest[a, b] = most
            highest = max(highest, most)
    grids.highest[tile] = highest
