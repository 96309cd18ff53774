"""Soft ground in tiles: only where a wheel has been is anything kept.

The cell (i, j) is the square around x = i cell, y = j cell. Tiles of SIDE x SIDE cells lie side by side in one array,
in the order in which they were first needed, and a hash table finds them. What driving costs depends on neither how
large the map is nor how much of it is kept.
"""

import math

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import surface_below, type_at
from grouser.physics.integrators.context import State

# Cells to a side of a tile.
SIDE = 32
_CELLS = SIDE * SIDE
# Layers of a tile, each _CELLS numbers: level that sinkage is measured from [m]; where the cell yielded last, its
# sinkage and pressure (of the visco-elasto-plastic law: plastic sinkage, and nothing) [m, Pa]; the surface when nothing
# presses on it [m]; shear state along x and y of the horizontal plane [-]; index of the soil, -1 for rigid ground.
LEVEL, SINKAGE, PRESSURE, SURFACE, SHEAR_X, SHEAR_Y, TYPE = (layer * _CELLS for layer in range(7))
TILE = 7 * _CELLS
_FIRST_TILES = 32


def make_tiles(capacity: int) -> dict[str, np.ndarray]:
    """Room for tiles, none of them opened, as the fields of `State` that hold them."""
    return {
        "tile_count": np.zeros(1, dtype=np.int64),
        "tile_place": np.zeros((capacity, 2), dtype=np.int64),
        "tile_table": np.zeros(4 * capacity, dtype=np.int64),
        "soil_cell": np.zeros(capacity * TILE),
    }


def first_capacity(tiles_of_a_step: int) -> int:
    """Tiles to begin with: a power of two."""
    return 1 << (max(_FIRST_TILES, 4 * tiles_of_a_step) - 1).bit_length() if tiles_of_a_step else 1


def tiles_of_window(side: int) -> int:
    """Most tiles that a window of so many cells to a side can touch."""
    return (side // SIDE + 2) ** 2


def with_capacity(state: State, capacity: int) -> State:
    """The same state with room for another number of tiles, no fewer than it has."""
    count = int(state.tile_count[0])
    room = make_tiles(capacity)
    room["tile_count"][0] = count
    room["tile_place"][:count] = state.tile_place[:count]
    room["soil_cell"][: count * TILE] = state.soil_cell[: count * TILE]
    _fill_table(count, room["tile_place"], room["tile_table"])
    return state._replace(**room)


@kernel
def _slot_of(place, table, a, b):
    """Slot of the hash table that holds tile (a, b), or that is free for it."""
    mask = table.shape[0] - 1
    mixed = (a * 73856093) ^ (b * 19349663)
    slot = (mixed ^ (mixed >> 15)) & mask
    while table[slot] != 0 and (place[table[slot] - 1, 0] != a or place[table[slot] - 1, 1] != b):
        slot = (slot + 1) & mask
    return slot


@kernel
def tile_at(state, a, b):
    """Index of tile (a, b), -1 if it was never opened."""
    return state.tile_table[_slot_of(state.tile_place, state.tile_table, a, b)] - 1


@kernel
def _fill_table(count, place, table):
    """Enters tiles into an empty table."""
    for tile in range(count):
        table[_slot_of(place, table, place[tile, 0], place[tile, 1])] = tile + 1


@kernel
def _open_tile(terrain, cell, state, a, b):
    """Index of tile (a, b), laid out as the terrain is where it is new."""
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
def open_cell(terrain, cell, state, x, y):
    """Index of the LEVEL of the cell at x, y; its tile is opened."""
    i, j = int(math.floor(x / cell + 0.5)), int(math.floor(y / cell + 0.5))
    a, b = i // SIDE, j // SIDE
    return _open_tile(terrain, cell, state, a, b) * TILE + (i - a * SIDE) * SIDE + j - b * SIDE


@kernel
def natural_level(terrain, x, y):
    """Height of the ground at x, y before anything has happened to it [m]."""
    if terrain.heights.shape[0] > 0:
        height, _, _, _ = surface_below(terrain.heights, terrain.cell[0], terrain.origin[0], terrain.origin[1], x, y)
        return height
    point, normal = terrain.point, terrain.normal
    return point[2] - (normal[0] * (x - point[0]) + normal[1] * (y - point[1])) / normal[2]


@kernel
def fill_natural_levels(terrain, x, y, level):
    """Heights of the ground at many places before anything has happened to it [m]."""
    for n in range(x.shape[0]):
        level[n] = natural_level(terrain, x[n], y[n])


@kernel
def open_window(terrain, cell, state, i_first, j_first, rows, columns, place):
    """Where in `state.soil_cell` the cells of a rectangle are; opens the tiles that it touches.

    Args:
        terrain: natural ground.
        cell: spacing [m].
        state: with room for its tiles.
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
            start = _open_tile(terrain, cell, state, a, b) * TILE - a * _CELLS - b * SIDE
            for p in range(i, i_end):
                to = (p - i_first) * columns - j_first
                for q in range(j, j_end):
                    place[to + q] = start + p * SIDE + q
            j = j_end
        i = i_end


@inlined
def set_back(unloading, slope, sinkage, pressure):
    """Plastic sinkage that stays when a cell is let go [m]: what it sprang back is p_u / (k_0 + A_u z_u)."""
    return sinkage - pressure / (unloading + slope * sinkage)
