"""Storage of soft ground in tiles, only where a wheel has been.

The cell (i, j) is the square around x = i cell, y = j cell. Tiles of SIDE x SIDE cells are stored in one array, in the
order of first use, and a hash table finds them. The cost of a step depends neither on the size of the map nor on the
number of tiles.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import Terrain, surface_below, type_at

# Cells per side of a tile.
SIDE = 32
_CELLS = SIDE * SIDE
# Layers of a tile, each _CELLS numbers: reference level of the sinkage [m]; sinkage and pressure at the last yield [m,
# Pa] (visco-elasto-plastic law: plastic sinkage, unused); height of the unloaded surface [m]; shear state along x and y
# of the horizontal plane [-]; index of the soil, -1 for rigid ground; thickness of the loose soil on top, part of the
# height [m]; by how much wheels and tracks have lowered the surface, by compaction or aside [m].
LEVEL, SINKAGE, PRESSURE, SURFACE, SHEAR_X, SHEAR_Y, TYPE, LOOSE, PRESSED = (layer * _CELLS for layer in range(9))
TILE = 9 * _CELLS
_FIRST_TILES = 32


class SoilState(NamedTuple):
    """State of soft ground and of the wheels on it.

    Attributes:
        tile_count: number of opened tiles, (1,).
        tile_place: indices (a, b) of each tile, (tiles, 2).
        tile_table: hash table of the tiles, index + 1, 0 for none.
        tile_restless: cells of each tile whose soil may slide: first row, row after the last, first column, column
            after the last, (tiles, 4); empty ranges for none.
        soil_cell: layers of the tiles.
        wheel_motion: the soil's memory of each wheel's motion: speed of the rim, of the wheel ahead and to the left,
            over the fastest of them, and the rolled state, -1 (back) to 1, (wheels, 4) [-].
        rim_shear: shear of the soil at equal steps around each wheel, along the rim and across, (wheels, steps, 2) [-].
        wheel_sinkage: deepest sinkage of the patch under each wheel of the level `stress` [m], (wheels,).
        wheel_elastic: of the soil under each wheel of the level `stress`: elastic energy of pressure and of shear [J],
            and the way back along which the pressure in front of the wheel vanishes [m], (wheels, 3).
        soil_work: work of the soil under each wheel on the machine [J], (wheels,).
        moved_soil: volume displaced by each wheel [m3], (wheels,).
    """

    tile_count: np.ndarray
    tile_place: np.ndarray
    tile_table: np.ndarray
    tile_restless: np.ndarray
    soil_cell: np.ndarray
    wheel_motion: np.ndarray
    rim_shear: np.ndarray
    wheel_sinkage: np.ndarray
    wheel_elastic: np.ndarray
    soil_work: np.ndarray
    moved_soil: np.ndarray


def make_tiles(capacity: int) -> dict[str, np.ndarray]:
    """Fields of `SoilState` for tiles, none of them opened."""
    return {
        "tile_count": np.zeros(1, dtype=np.int64),
        "tile_place": np.zeros((capacity, 2), dtype=np.int64),
        "tile_table": np.zeros(4 * capacity, dtype=np.int64),
        "tile_restless": np.zeros((capacity, 4), dtype=np.int64),
        "soil_cell": np.zeros(capacity * TILE),
    }


def first_capacity(tiles_of_a_step: int) -> int:
    """Initial number of tiles in the arrays, a power of two."""
    return 1 << (max(_FIRST_TILES, 4 * tiles_of_a_step) - 1).bit_length() if tiles_of_a_step else 1


def tiles_of_window(side: int) -> int:
    """Most tiles that a window with this number of cells per side can touch."""
    return (side // SIDE + 2) ** 2


def with_capacity(state: SoilState, capacity: int) -> SoilState:
    """The same state with arrays for another number of tiles, at least as many as are opened."""
    count = int(state.tile_count[0])
    room = make_tiles(capacity)
    room["tile_count"][0] = count
    room["tile_place"][:count] = state.tile_place[:count]
    room["tile_restless"][:count] = state.tile_restless[:count]
    room["soil_cell"][: count * TILE] = state.soil_cell[: count * TILE]
    _fill_table(count, room["tile_place"], room["tile_table"])
    return state._replace(**room)


def with_room(state: SoilState, tiles: int) -> SoilState:
    """The state with arrays for a number of tiles more than are opened; the same where they are large enough."""
    needed = int(state.tile_count[0]) + tiles
    return state if needed <= len(state.tile_place) else with_capacity(state, 1 << (needed - 1).bit_length())


@kernel
def _slot_of(place, table, a, b):
    """Slot of the hash table with tile (a, b), or the free one for it."""
    mask = table.shape[0] - 1
    mixed = (a * 73856093) ^ (b * 19349663)
    slot = (mixed ^ (mixed >> 15)) & mask
    while table[slot] != 0 and (place[table[slot] - 1, 0] != a or place[table[slot] - 1, 1] != b):
        slot = (slot + 1) & mask
    return slot


@kernel
def tile_at(state: SoilState, a, b):
    """Index of tile (a, b), -1 if it is not opened."""
    return state.tile_table[_slot_of(state.tile_place, state.tile_table, a, b)] - 1


@kernel
def _fill_table(count, place, table):
    """Enters tiles into an empty table."""
    for tile in range(count):
        table[_slot_of(place, table, place[tile, 0], place[tile, 1])] = tile + 1


@kernel
def open_tile(terrain: Terrain, cell, state: SoilState, a, b):
    """Index of tile (a, b); opens it at the terrain's natural level if it is new."""
    slot = _slot_of(state.tile_place, state.tile_table, a, b)
    if state.tile_table[slot] != 0:
        return state.tile_table[slot] - 1
    tile = state.tile_count[0]
    state.tile_count[0] = tile + 1
    state.tile_place[tile, 0], state.tile_place[tile, 1], state.tile_table[slot] = a, b, tile + 1
    for i in range(SIDE):
        for j in range(SIDE):
            x, y = (a * SIDE + i) * cell, (b * SIDE + j) * cell
            at = tile * TILE + i * SIDE + j
            state.soil_cell[at + LEVEL] = state.soil_cell[at + SURFACE] = natural_level(terrain, x, y)
            state.soil_cell[at + TYPE] = type_at(terrain, x, y)
    return tile


@kernel
def open_cell(terrain: Terrain, cell, state: SoilState, x, y):
    """Index of the LEVEL of the cell at x, y; opens its tile."""
    return open_cell_of(terrain, cell, state, nearest_cell(x, cell), nearest_cell(y, cell))


@inlined
def nearest_cell(coordinate, cell):
    """Number of the cell that has a coordinate."""
    return int(math.floor(coordinate / cell + 0.5))


@kernel
def open_cell_of(terrain: Terrain, cell, state: SoilState, i, j):
    """Index of the LEVEL of the cell (i, j); opens its tile."""
    a, b = i // SIDE, j // SIDE
    return open_tile(terrain, cell, state, a, b) * TILE + (i - a * SIDE) * SIDE + j - b * SIDE


@kernel
def open_tiles(terrain: Terrain, cell, state: SoilState, i_first, i_last, j_first, j_last):
    """Opens the tiles of the cells of a rectangle; returns whether there was room for them."""
    for a in range(i_first // SIDE, i_last // SIDE + 1):
        for b in range(j_first // SIDE, j_last // SIDE + 1):
            if tile_at(state, a, b) < 0:
                if state.tile_count[0] == state.tile_place.shape[0]:
                    return False
                open_tile(terrain, cell, state, a, b)
    return True


# No tile, as of `same_or_next_tile`.
NO_TILE = (1 << 62, 1 << 62, 0)


@inlined
def same_or_next_tile(terrain: Terrain, cell, state: SoilState, i, j, tile):
    """The tile of cell (i, j), which is the last one's more often than not; opens it.

    Args:
        terrain: natural ground.
        cell: spacing [m].
        state: of the soil.
        i, j: the cell.
        tile: of the last cell, or `NO_TILE`.

    Returns:
        Its two numbers, and the index of the LEVEL of a cell (0, 0) in it.
    """
    a, b = i // SIDE, j // SIDE
    if a == tile[0] and b == tile[1]:
        return tile
    return a, b, open_tile(terrain, cell, state, a, b) * TILE - (a * SIDE + b) * SIDE


@inlined
def cell_in(tile, i, j):
    """Index of the LEVEL of the cell (i, j), whose tile is that of `same_or_next_tile`."""
    return tile[2] + i * SIDE + j


@kernel
def cell_of(state: SoilState, i, j):
    """Index of the LEVEL of the cell (i, j); -1 where its tile is not opened."""
    a, b = i // SIDE, j // SIDE
    tile = tile_at(state, a, b)
    return tile * TILE + (i - a * SIDE) * SIDE + j - b * SIDE if tile >= 0 else -1


@kernel
def natural_level(terrain: Terrain, x, y):
    """Height of the natural ground at x, y [m]."""
    if terrain.heights.shape[0] > 0:
        height, _, _, _ = surface_below(terrain.heights, terrain.cell[0], terrain.origin[0], terrain.origin[1], x, y)
        return height
    point, normal = terrain.point, terrain.normal
    return point[2] - (normal[0] * (x - point[0]) + normal[1] * (y - point[1])) / normal[2]


@kernel
def surface_of(terrain: Terrain, cell, state: SoilState, i, j):
    """Present height of the centre of cell (i, j) [m]."""
    at = cell_of(state, i, j)
    return state.soil_cell[at + SURFACE] if at >= 0 else natural_level(terrain, i * cell, j * cell)


@kernel
def fill_natural_levels(terrain: Terrain, x, y, level):
    """Heights of the natural ground at many points [m]."""
    for n in range(x.shape[0]):
        level[n] = natural_level(terrain, x[n], y[n])


@kernel
def open_window(terrain: Terrain, cell, state: SoilState, i_first, j_first, rows, columns, place):
    """Finds the cells of a rectangle in `state.soil_cell`; opens the tiles that it touches.

    Args:
        terrain: natural ground.
        cell: spacing [m].
        state: of the soil, with capacity for the tiles.
        i_first, j_first, rows, columns: the rectangle.
        place: result, row by row: index of the LEVEL of each cell.
    """
    i = i_first
    while i < i_first + rows:
        a = i // SIDE
        i_end = min((a + 1) * SIDE, i_first + rows)
        j = j_first
        while j < j_first + columns:
            b = j // SIDE
            j_end = min((b + 1) * SIDE, j_first + columns)
            start = open_tile(terrain, cell, state, a, b) * TILE - a * _CELLS - b * SIDE
            for p in range(i, i_end):
                to = (p - i_first) * columns - j_first
                for q in range(j, j_end):
                    place[to + q] = start + p * SIDE + q
            j = j_end
        i = i_end


@inlined
def unloaded_sinkage(unloading, slope, sinkage, pressure):
    """Plastic sinkage after unloading [m]; the elastic rebound is p_u / (k_0 + A_u z_u)."""
    return sinkage - pressure / (unloading + slope * sinkage)
