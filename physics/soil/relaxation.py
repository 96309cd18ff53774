"""Slides of loose soil, and of faces that are too high, over the cells whose surroundings have changed.

The cells of a tile that may slide are a rectangle, part of the state; a tile without one costs nothing. Loose soil
slides down slopes steeper than its angle of repose. Undisturbed soil stands at any slope up to the height of a vertical
face (Rankine). A higher face fails: what lies above the plane at 45 deg + phi / 2 through its foot becomes loose.

A plate in the soil holds what lies ahead of it: nothing slides through two rows of cells behind its edge. To their
neighbours these rows have the height of the cells beyond them on the same side of the plate.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.laws import Soils
from grouser.physics.soil.slopes import SLIDING, find_flows
from grouser.physics.soil.strata import (
    add_loose,
    failure_slope,
    loose_density,
    loosen,
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
_RESTS = 1e-3
# A cell that a plate overlaps by less than this share of it is beside the plate [-].
_TOUCHES = 1e-6
# Cells along a side of the largest window: a tile and one cell more on each side.
_WINDOW = SIDE + 2
# Columns of a plate: middle of its edge, horizontal unit vector ahead, half the width, half the thickness behind the
# edge.
PLATE_X, PLATE_Y, AHEAD_X, AHEAD_Y, HALF_WIDTH, HALF_THICKNESS = range(6)
PLATE = 6


class RelaxationWorkspace(NamedTuple):
    """Buffers of a sweep over a tile.

    Attributes:
        place: index of the LEVEL of the cells of the window, (cells,).
        surface: their heights [m], (cells,).
        loose: thickness of their loose soil [m], (cells,).
        density: of their soil when it is loose [kg/m3], (cells,).
        steepest: their greatest stable height differences [m], (cells,).
        flows: excess heights, as of `find_flows` [m], then the mass that slides [kg/m2], (2, cells).
        rise: of the cells by what slides [m], (cells,).
        steep: whether the undisturbed soil of the next cell in the row or in the column is so much higher or lower than
            that of each cell that loose soil would slide, (cells,).
    """

    place: np.ndarray
    surface: np.ndarray
    loose: np.ndarray
    density: np.ndarray
    steepest: np.ndarray
    flows: np.ndarray
    rise: np.ndarray
    steep: np.ndarray


def make_relaxation_workspace() -> RelaxationWorkspace:
    """Buffers for a whole tile."""
    cells = _WINDOW * _WINDOW
    return RelaxationWorkspace(
        place=np.zeros(cells, dtype=np.int64),
        surface=np.zeros(cells),
        loose=np.zeros(cells),
        density=np.zeros(cells),
        steepest=np.full(cells, math.inf),
        flows=np.zeros((2, cells)),
        rise=np.zeros(cells),
        steep=np.zeros(cells, dtype=np.bool_),
    )


@kernel
def wake_cells(ground: SoftGround, state: SoilState, i_first, i_last, j_first, j_last):
    """Marks the cells of a rectangle and those around it as ones that may slide; opens their tiles."""
    i_first, i_end, j_first, j_end = i_first - 1, i_last + 2, j_first - 1, j_last + 2
    for a in range(i_first // SIDE, (i_end - 1) // SIDE + 1):
        for b in range(j_first // SIDE, (j_end - 1) // SIDE + 1):
            marked = state.tile_restless[open_tile(ground.terrain, ground.spacing, state, a, b)]
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
def relax_soil(ground: SoftGround, plates, state: SoilState, work: RelaxationWorkspace):
    """Makes the sweeps of a step over all cells that may slide.

    Args:
        ground: natural ground and its soils.
        plates: rows of PLATE numbers, of plates in the soil.
        state: of the soil, changed.
        work: buffers.
    """
    for _ in range(SWEEPS):
        for tile in range(state.tile_count[0]):
            if state.tile_restless[tile, 0] < state.tile_restless[tile, 1]:
                _relax_tile(ground, plates, state, tile, work)


@kernel
def _relax_tile(ground: SoftGround, plates, state: SoilState, tile, work: RelaxationWorkspace):
    """One sweep over the restless cells of a tile, each with the next one in its row and in its column."""
    marked, spacing = state.tile_restless[tile], ground.spacing
    i, j = state.tile_place[tile, 0] * SIDE + marked[0] - 1, state.tile_place[tile, 1] * SIDE + marked[2] - 1
    rows, columns = marked[1] - marked[0] + 2, marked[3] - marked[2] + 2
    marked[:] = 0
    cells, rests = rows * columns, _RESTS * spacing
    place, surface, loose, steepest = (
        work.place[:cells],
        work.surface[:cells],
        work.loose[:cells],
        work.steepest[:cells],
    )
    open_window(ground.terrain, spacing, state, i, j, rows, columns, place)
    _gather(ground.soils, spacing, state.soil_cell, place, work)
    for p in range(plates.shape[0]):
        _hold_behind(plates[p], spacing, i, j, rows, columns, state.soil_cell, place, surface, steepest)
    find_flows(surface, steepest, columns, work.flows)
    _close_border(work.flows, rows, columns)
    _limit_flows(rests, loose, work.density, work.flows[0], 1)
    _limit_flows(rests, loose, work.density, work.flows[1], columns)
    _slide(ground, i, j, rows, columns, state, work)
    _fail_faces(ground, i, j, rows, columns, state, work)


@kernel
def _gather(soils: Soils, spacing, cell, place, work: RelaxationWorkspace):
    """Fills the buffers of a window."""
    k, of_soil, greatest = -1, 0.0, 0.0
    surface, loose, density, steepest = work.surface, work.loose, work.density, work.steepest
    for n in range(place.shape[0]):
        at = place[n]
        surface[n], loose[n] = cell[at + SURFACE], cell[at + LOOSE]
        soil = soil_of(cell, at)
        if soil != k:
            k, of_soil, greatest = soil, loose_density(soils, soil), spacing * soils.repose[soil]
        density[n], steepest[n] = of_soil, greatest


@inlined
def _close_border(flows, rows, columns):
    """Leaves the pairs whose first cell is restless: without that of the border."""
    flows[:, :columns] = 0.0
    flows[:, (rows - 1) * columns : rows * columns] = 0.0
    for i in range(1, rows - 1):
        flows[:, i * columns] = 0.0
        flows[:, (i + 1) * columns - 1] = 0.0


@kernel
def _limit_flows(rests, loose, density, flows, step):
    """Turns excess heights into the mass of loose soil that slides: of a cell no more than it has, in four directions.

    Args:
        rests: excess height and thickness of loose soil that stay [m].
        loose, density: of the cells.
        flows: towards a cell from the next one, excess heights [m], then masses [kg/m2].
        step: from a cell to the next one.
    """
    next_loose, next_density = loose[step:], density[step:]
    for n in range(next_loose.shape[0]):
        # all values are read first: choosing among them then needs no branches
        excess, here, there, of_here, of_there = flows[n], loose[n], next_loose[n], density[n], next_density[n]
        giving = there if excess > 0.0 else here
        height = min(SLIDING * abs(excess), 0.25 * giving)
        mass = height * of_there if excess > 0.0 else -height * of_here
        moves = (abs(excess) > rests) & (giving > rests)
        flows[n] = mass if moves else 0.0


@kernel
def _slide(ground: SoftGround, i_first, j_first, rows, columns, state: SoilState, work: RelaxationWorkspace):
    """Moves the soil that slides, and marks where some has moved."""
    cell, place, rise = state.soil_cell, work.place, work.rise
    _find_rises(work.flows, work.density, columns, rise[: rows * columns])
    top, bottom, left, right = rows, -1, columns, -1
    for i in range(1, rows):
        first, last = -1, -1
        for j in range(1, columns):
            n = i * columns + j
            if rise[n] != 0.0:
                add_loose(cell, place[n], rise[n])
                last = j
                first = j if first < 0 else first
        if last >= 0:
            top, bottom, left, right = min(top, i), i, min(left, first), max(right, last)
    if bottom >= 0:
        wake_cells(ground, state, i_first + top, i_first + bottom, j_first + left, j_first + right)


@kernel
def _find_rises(flows, density, columns, rise):
    """Rise of each cell by the masses that slide [m], but for those of the first row and its neighbour."""
    along_row, along_column, of_here = flows[0, columns + 1 :], flows[1, columns + 1 :], density[columns + 1 :]
    from_left, from_below, inner = flows[0, columns:], flows[1, 1:], rise[columns + 1 :]
    for at in range(inner.shape[0]):
        mass = (along_row[at] - from_left[at]) + (along_column[at] - from_below[at])
        inner[at] = mass / of_here[at]


@kernel
def _fail_faces(ground: SoftGround, i_first, j_first, rows, columns, state: SoilState, work: RelaxationWorkspace):
    """Lets those faces fail that are too high to stand."""
    surface, loose, steepest = work.surface, work.loose, work.steepest
    _find_steep(surface[: rows * columns], loose, steepest, columns, work.steep)
    soil, stands = -1, math.inf
    for i in range(1, rows - 1):
        for n in range(i * columns + 1, (i + 1) * columns - 1):
            if not work.steep[n]:
                continue
            for side in range(2):
                other = n + columns if side == 1 else n + 1
                drop = (surface[other] - loose[other]) - (surface[n] - loose[n])
                if abs(drop) <= max(steepest[n], steepest[other]):
                    continue
                foot, face, sign = (n, other, 1) if drop > 0.0 else (other, n, -1)
                k = int(state.soil_cell[work.place[face] + TYPE])
                if k != soil:
                    # over a cell, no less than at repose
                    soil, stands = k, (1.0 + _RESTS) * _standing(ground, k) if k >= 0 else math.inf
                height = surface[face] - loose[face] - surface[foot]
                if height > stands:
                    p, q = i_first + foot // columns, j_first + foot % columns
                    di, dj = sign * side, sign * (1 - side)
                    _fail_face(ground, state, surface[foot], p, q, di, dj)


@kernel
def _find_steep(surface, loose, steepest, columns, steep):
    """Finds the cells from which undisturbed soil is steeper than loose soil stands, in their row or their column."""
    right, right_loose, right_steepest = surface[1:], loose[1:], steepest[1:]
    above, above_loose, above_steepest = surface[columns:], loose[columns:], steepest[columns:]
    for n in range(above.shape[0]):
        bank = surface[n] - loose[n]
        along_row = abs((right[n] - right_loose[n]) - bank) > max(steepest[n], right_steepest[n])
        along_column = abs((above[n] - above_loose[n]) - bank) > max(steepest[n], above_steepest[n])
        steep[n] = along_row | along_column


@inlined
def _standing(ground: SoftGround, k):
    """Height at which a face between two cells stands, no less than at repose [m]."""
    return max(standing_height(ground.soils, k, ground.gravity), ground.spacing * ground.soils.repose[k])


@inlined
def _hold_behind(plate, spacing, i_first, j_first, rows, columns, cell, place, surface, steepest):
    """Stops slides through the cells behind the edge of a plate; they get the heights of those on either side."""
    x, y, ahead_x, ahead_y = plate[PLATE_X], plate[PLATE_Y], plate[AHEAD_X], plate[AHEAD_Y]
    half, thick = plate[HALF_WIDTH] + (0.5 - _TOUCHES) * spacing, 2.0 * plate[HALF_THICKNESS]
    reach_x, reach_y = half * abs(ahead_y) + thick * abs(ahead_x), half * abs(ahead_x) + thick * abs(ahead_y)
    low_i, high_i = max(_cell_above(x - reach_x, spacing) - i_first, 0), _cell_above(x + reach_x, spacing) - i_first
    low_j, high_j = max(_cell_above(y - reach_y, spacing) - j_first, 0), _cell_above(y + reach_y, spacing) - j_first
    for i in range(low_i, min(high_i, rows)):
        for j in range(low_j, min(high_j, columns)):
            dx, dy = (i_first + i) * spacing - x, (j_first + j) * spacing - y
            along, across = dx * ahead_x + dy * ahead_y, dy * ahead_x - dx * ahead_y
            if -thick < along <= 0.0 and abs(across) < half:
                n = i * columns + j
                steepest[n] = math.inf
                forward = (0.5 if along > -0.5 * thick else -1.5) * thick - along
                p, q = i + int(round(forward * ahead_x / spacing)), j + int(round(forward * ahead_y / spacing))
                if 0 <= p < rows and 0 <= q < columns:
                    surface[n] = cell[place[p * columns + q] + SURFACE]


@inlined
def _cell_above(coordinate, spacing):
    """The first cell whose centre is not below a coordinate."""
    return int(math.ceil(coordinate / spacing))


@kernel
def _fail_face(ground: SoftGround, state: SoilState, foot, i, j, di, dj):
    """Loosens the soil above the plane of failure of a face that is too high.

    Args:
        ground: natural ground and its soils.
        state: of the soil, changed.
        foot: height at the foot of the face [m].
        i, j: cell at the foot.
        di, dj: step from it to the first cell of the face.
    """
    soils, terrain, spacing, cell = ground.soils, ground.terrain, ground.spacing, state.soil_cell
    at = open_cell_of(terrain, spacing, state, i + di, j + dj)
    k = int(cell[at + TYPE])
    rise = min(failure_slope(soils, k) * spacing, _standing(ground, k))
    behind = 1
    while cell[at + TYPE] == k and undisturbed_top(cell, at) > foot + behind * rise and behind <= SIDE:
        loosen(soils, cell, at, undisturbed_top(cell, at) - foot - behind * rise)
        behind += 1
        at = open_cell_of(terrain, spacing, state, i + behind * di, j + behind * dj)
    last_i, last_j = i + behind * di, j + behind * dj
    wake_cells(ground, state, min(i, last_i), max(i, last_i), min(j, last_j), max(j, last_j))
