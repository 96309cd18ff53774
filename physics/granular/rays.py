"""Rays to grains: a grid whose cells list the grains in them, and the walk of a ray through its cells."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.contact.rays import behind, border, cell_of
from grouser.physics.granular.arrays import State

# Side of a cell by the mean radius, and its growth where there would be too many cells or items [-].
_SIDE, _WIDER = 4.0, 1.26
# Cells by grains, at least so many; cells that a grain may be in.
_CELLS, _LEAST = 8, 64
_SHARED = 8


class GrainGrid(NamedTuple):
    """Grains by cells.

    Attributes:
        low, high: lowest and highest corner [m], (3,).
        side: of the cells [m], (1,).
        size: cells along the axes, (3,); zeros without grains.
        start: first item of each cell, (cells + 1,).
        item: rows of grains, (items,).
    """

    low: np.ndarray
    high: np.ndarray
    side: np.ndarray
    size: np.ndarray
    start: np.ndarray
    item: np.ndarray


def make_grain_grid(grains: int) -> GrainGrid:
    """A grid for a number of grains."""
    whole = np.int64
    return GrainGrid(
        np.zeros(3),
        np.zeros(3),
        np.ones(1),
        np.zeros(3, whole),
        np.zeros(_CELLS * grains + _LEAST + 1, whole),
        np.zeros(_SHARED * grains, whole),
    )


@kernel
def sort_into_cells(state: State, grid: GrainGrid):
    """Fills a grid that is large enough with the grains of a state."""
    n, position = state.number[0], state.position
    grid.size[:] = 0
    if n == 0:
        return
    total = 0.0
    for c in range(3):
        grid.low[c], grid.high[c] = math.inf, -math.inf
    for i in range(n):
        total += position[i, 3]
        for c in range(3):
            grid.low[c] = min(grid.low[c], position[i, c] - position[i, 3])
            grid.high[c] = max(grid.high[c], position[i, c] + position[i, 3])
    side, cells = _SIDE * total / n, grid.start.shape[0] - 1
    while (
        _along(grid, side, 0) * _along(grid, side, 1) * _along(grid, side, 2) > float(cells)
        or _items(state, grid, side) > grid.item.shape[0]
    ):
        side *= _WIDER
    grid.side[0] = side
    for c in range(3):
        grid.size[c] = int(_along(grid, side, c))
    grid.start[:] = 0
    _list(state, grid, False)
    for k in range(cells):
        grid.start[k + 1] += grid.start[k]
    _list(state, grid, True)
    # the first items have moved on to the next cells' first ones
    for k in range(cells, 0, -1):
        grid.start[k] = grid.start[k - 1]
    grid.start[0] = 0


@kernel
def _along(grid: GrainGrid, side, c):
    """Number of cells along an axis."""
    return math.floor((grid.high[c] - grid.low[c]) / side) + 1.0


@kernel
def _items(state: State, grid: GrainGrid, side):
    """Number of cells that the grains are in, each counted for each grain."""
    position, low, items = state.position, grid.low, 0
    for i in range(state.number[0]):
        cells, radius = 1, position[i, 3]
        for c in range(3):
            first, last = position[i, c] - radius - low[c], position[i, c] + radius - low[c]
            cells *= int(last / side) - int(first / side) + 1
        items += cells
    return items


@kernel
def _list(state: State, grid: GrainGrid, stored):
    """Counts the grains of each cell for the one after it, or stores them from its first item on."""
    position, low, side = state.position, grid.low, grid.side[0]
    for i in range(state.number[0]):
        radius = position[i, 3]
        a0, b0 = int((position[i, 0] - radius - low[0]) / side), int((position[i, 0] + radius - low[0]) / side)
        a1, b1 = int((position[i, 1] - radius - low[1]) / side), int((position[i, 1] + radius - low[1]) / side)
        a2, b2 = int((position[i, 2] - radius - low[2]) / side), int((position[i, 2] + radius - low[2]) / side)
        for c2 in range(a2, b2 + 1):
            for c1 in range(a1, b1 + 1):
                for c0 in range(a0, b0 + 1):
                    k = (c2 * grid.size[1] + c1) * grid.size[0] + c0
                    if stored:
                        grid.item[grid.start[k]] = i
                        grid.start[k] += 1
                    else:
                        grid.start[k + 1] += 1


@kernel
def ray_to_grains(state: State, grid: GrainGrid, x, y, z, dx, dy, dz, end):
    """Distance up to `end` at which a ray meets a grain, infinite without one [m].

    Args:
        state: the grains.
        grid: of them.
        x, y, z, dx, dy, dz: the ray in the world.
        end: distance up to which it counts [m].
    """
    if grid.size[0] == 0:
        return math.inf
    side, near, far = grid.side[0], 0.0, end
    place, way = (x - grid.low[0], y - grid.low[1], z - grid.low[2]), (dx, dy, dz)
    for c in range(3):
        near, far = behind(grid.size[c] * side - place[c], way[c], near, far)
        near, far = behind(place[c], -way[c], near, far)
    if near > far:
        return math.inf
    i = min(max(cell_of(place[0] + near * dx, side), 0), grid.size[0] - 1)
    j = min(max(cell_of(place[1] + near * dy, side), 0), grid.size[1] - 1)
    k = min(max(cell_of(place[2] + near * dz, side), 0), grid.size[2] - 1)
    while 0 <= i < grid.size[0] and 0 <= j < grid.size[1] and 0 <= k < grid.size[2]:
        t0, t1, t2 = border(place[0], dx, i, side), border(place[1], dy, j, side), border(place[2], dz, k, side)
        leaving = min(t0, t1, t2)
        nearest, number = math.inf, (k * grid.size[1] + j) * grid.size[0] + i
        for item in range(grid.start[number], grid.start[number + 1]):
            nearest = min(nearest, _to_grain(state.position, grid.item[item], x, y, z, dx, dy, dz))
        # a grain in several cells may be met in a later one only
        if nearest <= leaving * (1.0 + 1e-12):
            return nearest if nearest <= end else math.inf
        if leaving >= far:
            break
        if t0 == leaving:
            i += 1 if dx > 0.0 else -1
        elif t1 == leaving:
            j += 1 if dy > 0.0 else -1
        else:
            k += 1 if dz > 0.0 else -1
    return math.inf


@kernel
def _to_grain(position, i, x, y, z, dx, dy, dz):
    """Distance at which a ray enters a grain, zero inside of it."""
    ex, ey, ez, radius = position[i, 0] - x, position[i, 1] - y, position[i, 2] - z, position[i, 3]
    along = ex * dx + ey * dy + ez * dz
    wx, wy, wz = ex - along * dx, ey - along * dy, ez - along * dz
    square = radius * radius - wx * wx - wy * wy - wz * wz
    if square < 0.0:
        return math.inf
    half = math.sqrt(square)
    return max(along - half, 0.0) if along + half >= 0.0 else math.inf
