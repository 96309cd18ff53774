"""Slides of loose soil, and of faces that are too high, over the cells whose surroundings have changed.

The cells of a tile that may slide are a rectangle, part of the state; a tile without one costs nothing. Loose soil
slides down slopes steeper than its angle of repose. Undisturbed soil stands at any slope up to the height of a vertical
face (Rankine). A higher face fails: what lies above the plane at 45 deg + phi / 2 through its foot becomes loose.

A plate in the soil holds what lies ahead of it: nothing slides through the row of cells behind its edge.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import Terrain
from grouser.physics.soil.laws import Soils
from grouser.physics.soil.slopes import SLIDING, find_flows
from grouser.physics.soil.strata import (
    failure_slope,
    loosen,
    slide_loose,
    soil_of,
    standing_height,
    undisturbed_top,
)
from grouser.physics.soil.tiles import (
    LOOSE,
    SIDE,
    SURFACE,
    TYPE,
    SoilState,
    open_cell_of,
    open_tile,
    open_window,
)

# Sweeps of a step.
SWEEPS = 3
# Excess height that stays, by the spacing of cells [-].
_RESTS = 1e-4
# Cells along a side of the largest window: a tile and one cell more on each side.
_WINDOW = SIDE + 2
# Columns of a plate: a point of its edge, the horizontal unit vector ahead, half the width, thickness behind the edge.
PLATE_X, PLATE_Y, AHEAD_X, AHEAD_Y, HALF_WIDTH, THICKNESS = range(6)
PLATE = 6


class RelaxationWorkspace(NamedTuple):
    """Buffers of a sweep over a tile.

    Attributes:
        place: index of the LEVEL of the cells of the window, (cells,).
        surface: their heights [m], (cells,).
        steepest: their greatest stable height differences [m], (cells,).
        flows: excess heights, as of `find_flows` [m], (2, cells).
    """

    place: np.ndarray
    surface: np.ndarray
    steepest: np.ndarray
    flows: np.ndarray


def make_relaxation_workspace() -> RelaxationWorkspace:
    """Buffers for a whole tile."""
    cells = _WINDOW * _WINDOW
    return RelaxationWorkspace(
        np.zeros(cells, dtype=np.int64), np.zeros(cells), np.full(cells, math.inf), np.zeros((2, cells))
    )


@kernel
def wake_cells(terrain: Terrain, spacing, state: SoilState, i_first, i_last, j_first, j_last):
    """Marks the cells of a rectangle and those around it as ones that may slide; opens their tiles."""
    i_first, i_end, j_first, j_end = i_first - 1, i_last + 2, j_first - 1, j_last + 2
    for a in range(i_first // SIDE, (i_end - 1) // SIDE + 1):
        for b in range(j_first // SIDE, (j_end - 1) // SIDE + 1):
            marked = state.tile_restless[open_tile(terrain, spacing, state, a, b)]
            low_i, high_i = max(i_first - a * SIDE, 0), min(i_end - a * SIDE, SIDE)
            low_j, high_j = max(j_first - b * SIDE, 0), min(j_end - b * SIDE, SIDE)
            if marked[0] == marked[1]:
                marked[0], marked[1], marked[2], marked[3] = low_i, high_i, low_j, high_j
            else:
                marked[0], marked[1] = min(marked[0], low_i), max(marked[1], high_i)
                marked[2], marked[3] = min(marked[2], low_j), max(marked[3], high_j)


@kernel
def count_restless(state: SoilState):
    """Number of tiles in which soil may slide."""
    count = 0
    for tile in range(state.tile_count[0]):
        if state.tile_restless[tile, 0] < state.tile_restless[tile, 1]:
            count += 1
    return count


@kernel
def tiles_of_slides(state: SoilState):
    """Most tiles that the slides of a step may open: around each restless tile, and behind faces there."""
    return 24 * count_restless(state)


@kernel
def relax_soil(soils: Soils, terrain: Terrain, spacing, gravity, plates, state: SoilState, work: RelaxationWorkspace):
    """Makes the sweeps of a step over all cells that may slide.

    Args:
        soils, terrain: the ground.
        spacing: of its cells [m].
        gravity: [m/s2].
        plates: rows of PLATE numbers, of plates in the soil.
        state: of the soil, changed.
        work: buffers.
    """
    for _ in range(SWEEPS):
        for tile in range(state.tile_count[0]):
            if state.tile_restless[tile, 0] < state.tile_restless[tile, 1]:
                _relax_tile(soils, terrain, spacing, gravity, plates, state, tile, work)


@kernel
def _relax_tile(soils: Soils, terrain: Terrain, spacing, gravity, plates, state: SoilState, tile, work):
    """One sweep over the restless cells of a tile, each with the next one in its row and in its column."""
    marked, cell = state.tile_restless[tile], state.soil_cell
    i_first, j_first = (
        state.tile_place[tile, 0] * SIDE + marked[0] - 1,
        state.tile_place[tile, 1] * SIDE + marked[2] - 1,
    )
    rows, columns = marked[1] - marked[0] + 2, marked[3] - marked[2] + 2
    marked[:] = 0
    place, surface, steepest = work.place[: rows * columns], work.surface[: rows * columns], work.steepest
    open_window(terrain, spacing, state, i_first, j_first, rows, columns, place)
    for n in range(rows * columns):
        surface[n] = cell[place[n] + SURFACE]
        steepest[n] = spacing * soils.repose[soil_of(cell, place[n])]
    for p in range(plates.shape[0]):
        _hold_behind(plates[p], spacing, i_first, j_first, rows, columns, cell, place, surface, steepest)
    find_flows(surface, steepest[: rows * columns], columns, work.flows)
    top, bottom, left, right = rows, -1, columns, -1
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            n = i * columns + j
            for side in range(2):
                other = n + columns if side == 1 else n + 1
                moved = _slide_between(soils, spacing, cell, place[n], place[other], work.flows[side, n])
                if steepest[n] < math.inf and steepest[other] < math.inf:
                    drop = undisturbed_top(cell, place[other]) - undisturbed_top(cell, place[n])
                    if abs(drop) > min(steepest[n], steepest[other]):
                        foot, sign = (n, 1) if drop > 0.0 else (other, -1)
                        p, q, height = i_first + foot // columns, j_first + foot % columns, cell[place[foot] + SURFACE]
                        di, dj = sign * side, sign * (1 - side)
                        moved |= _fail_face(soils, terrain, spacing, gravity, state, height, p, q, di, dj)
                if moved:
                    top, bottom = min(top, i), max(bottom, i + side)
                    left, right = min(left, j), max(right, j + 1 - side)
    if bottom >= 0:
        wake_cells(terrain, spacing, state, i_first + top, i_first + bottom, j_first + left, j_first + right)


@inlined
def _slide_between(soils: Soils, spacing, cell, here, there, excess):
    """Moves loose soil between two cells by an excess height of the second one; returns whether any moved."""
    if abs(excess) <= _RESTS * spacing:
        return False
    source, target = (there, here) if excess > 0.0 else (here, there)
    if cell[source + LOOSE] <= _RESTS * spacing:
        return False
    slide_loose(soils, cell, source, target, SLIDING * abs(excess))
    return True


@inlined
def _hold_behind(plate, spacing, i_first, j_first, rows, columns, cell, place, surface, steepest):
    """Stops slides through the cells behind the edge of a plate; they get the height of the cells ahead of it."""
    x, y, ahead_x, ahead_y = plate[PLATE_X], plate[PLATE_Y], plate[AHEAD_X], plate[AHEAD_Y]
    half, thick = plate[HALF_WIDTH] + 0.5 * spacing, plate[THICKNESS]
    reach_x, reach_y = half * abs(ahead_y) + thick * abs(ahead_x), half * abs(ahead_x) + thick * abs(ahead_y)
    low_i, high_i = max(_cell_above(x - reach_x, spacing) - i_first, 0), _cell_above(x + reach_x, spacing) - i_first
    low_j, high_j = max(_cell_above(y - reach_y, spacing) - j_first, 0), _cell_above(y + reach_y, spacing) - j_first
    for i in range(low_i, min(high_i, rows)):
        for j in range(low_j, min(high_j, columns)):
            dx, dy = (i_first + i) * spacing - x, (j_first + j) * spacing - y
            along, across = dx * ahead_x + dy * ahead_y, dy * ahead_x - dx * ahead_y
            if -thick < along <= 0.0 and abs(across) <= half:
                n = i * columns + j
                steepest[n] = math.inf
                forward = thick - along
                p, q = i + int(round(forward * ahead_x / spacing)), j + int(round(forward * ahead_y / spacing))
                if 0 <= p < rows and 0 <= q < columns:
                    surface[n] = cell[place[p * columns + q] + SURFACE]


@inlined
def _cell_above(coordinate, spacing):
    """The first cell whose centre is not below a coordinate."""
    return int(math.ceil(coordinate / spacing))


@kernel
def _fail_face(soils: Soils, terrain: Terrain, spacing, gravity, state: SoilState, foot, i, j, di, dj):
    """Loosens the soil above the plane of failure of a face that is too high.

    Args:
        soils, terrain, spacing, gravity: the ground.
        state: of the soil, changed.
        foot: height at the foot of the face [m].
        i, j: cell at the foot.
        di, dj: step from it to the first cell of the face.

    Returns:
        Whether the face failed.
    """
    cell = state.soil_cell
    face = open_cell_of(terrain, spacing, state, i + di, j + dj)
    k = int(cell[face + TYPE])
    if k < 0:
        return False
    stands = max(standing_height(soils, k, gravity), spacing * soils.repose[k])
    if undisturbed_top(cell, face) - foot <= (1.0 + _RESTS) * stands:
        return False
    rise = min(failure_slope(soils, k) * spacing, stands)
    behind, at = 1, face
    while cell[at + TYPE] == k and undisturbed_top(cell, at) > foot + behind * rise and behind <= SIDE:
        loosen(soils, cell, at, undisturbed_top(cell, at) - foot - behind * rise)
        behind += 1
        at = open_cell_of(terrain, spacing, state, i + behind * di, j + behind * dj)
    last_i, last_j = i + behind * di, j + behind * dj
    wake_cells(terrain, spacing, state, min(i, last_i), max(i, last_i), min(j, last_j), max(j, last_j))
    return True
