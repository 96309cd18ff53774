"""Soft ground under grains in the steps of a machine: opens its tiles, and wakes grains whose ground has moved.

It comes before the rooms of the soil, whose requests count the tiles that are open.
"""

import math

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.phases import MORE_TILES, NOTHING
from grouser.physics.contact.terrain import Terrain
from grouser.physics.granular.arrays import State
from grouser.physics.granular.room import System
from grouser.physics.granular.shapes import SOIL
from grouser.physics.granular.soft_ground import REACH, window
from grouser.physics.soil.tiles import SoilState, nearest_cell, open_tiles, surface_of

# Change of the ground's height that wakes a grain, by its radius [-].
_MOVED = 1e-3
# Column of `boundary_contact`: height of the ground that a grain lies on.
_HEIGHT = 3


def acts(system: System) -> bool:
    """Whether there are grains on soft ground, or may be."""
    return system.grains.soil_cell > 0.0 and len(system.body) > 0


@kernel
def request(context: Context):
    """Opens the tiles that grains may touch in the step, or requests larger arrays for them."""
    if context.workspace.granular.made[0] >= 0:
        return NOTHING
    state, cells, terrain = context.state.granular.grains, context.state.soil, context.system.contact.terrain
    unquiet = context.workspace.granular.grains.unquiet
    spacing, step = context.system.granular.grains.soil_cell, context.system.settings.step
    kind = context.system.granular.grains.boundaries.kind
    for i in range(state.number[0]):
        if not state.asleep[i] and not _open_below(terrain, spacing, state, i, step, cells):
            return MORE_TILES
    for i in range(state.number[0]):
        k = state.boundary_start[i]
        if k < state.boundary_start[i + 1] and kind[state.boundary_shape[k]] == SOIL:
            _follow_ground(terrain, spacing, state, i, k, cells, unquiet)
    return NOTHING


@kernel
def _open_below(terrain: Terrain, spacing, state: State, i, step: float, cells: SoilState):
    """Opens the tiles that a grain may touch in a step; returns whether there was room for them."""
    speed = math.sqrt(state.velocity[i, 0] ** 2 + state.velocity[i, 1] ** 2)
    reach = REACH * state.position[i, 3] + 2.0 * step * speed + spacing
    i_first, i_last, j_first, j_last = window(spacing, state.position[i, 0], state.position[i, 1], reach)
    return open_tiles(terrain, spacing, cells, i_first, i_last, j_first, j_last)


@inlined
def _follow_ground(terrain: Terrain, spacing, state: State, i, k, cells: SoilState, unquiet):
    """Notes the height of the ground below a grain; wakes one that sleeps when it has changed."""
    x, y, half = state.position[i, 0], state.position[i, 1], 0.5 * state.position[i, 3]
    height = _surface(terrain, spacing, x, y, cells)
    height += _surface(terrain, spacing, x - half, y, cells) + _surface(terrain, spacing, x + half, y, cells)
    height += _surface(terrain, spacing, x, y - half, cells) + _surface(terrain, spacing, x, y + half, cells)
    height *= 0.2
    if not state.asleep[i]:
        state.boundary_contact[k, _HEIGHT] = height
    elif abs(height - state.boundary_contact[k, _HEIGHT]) > _MOVED * state.position[i, 3]:
        state.asleep[i], state.still[i], unquiet[0] = False, 0, True


@inlined
def _surface(terrain: Terrain, spacing, x, y, cells: SoilState):
    return surface_of(terrain, spacing, cells, nearest_cell(x, spacing), nearest_cell(y, spacing))
