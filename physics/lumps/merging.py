"""Lumps that have come to rest on soft ground become loose soil, each in the four cells around it.

Lumps that are near each other do so together, once all have slept for a time and none is near anything but lumps and
soft ground: soil that rises beside a lump would throw it up.
"""

import math

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.moving import ground_of
from grouser.physics.granular.shapes import SOIL
from grouser.physics.soil.relaxation import wake_cells
from grouser.physics.soil.strata import lay_on
from grouser.physics.soil.tiles import open_tiles

# Steps between two searches.
_OFTEN = 20


@inlined
def is_due(context: Context):
    """Whether lumps may become soil in this step."""
    return context.state.step_count[0] % _OFTEN == 0


@kernel
def open_tiles_below(context: Context):
    """Opens the tiles that lumps change when they become soil; returns whether there was room for them."""
    state, soil, terrain = context.state.granular.grains, context.state.soil, context.system.contact.terrain
    spacing = context.system.granular.grains.soil_cell
    for r in range(state.number[0]):
        if _is_ripe(context, r):
            i, j = int(math.floor(state.position[r, 0] / spacing)), int(math.floor(state.position[r, 1] / spacing))
            if not open_tiles(terrain, spacing, soil, i - 1, i + 2, j - 1, j + 2):
                return False
    return True


@kernel
def merge_lumps(context: Context, due):
    """Counts for how long lumps sleep, and, if that is due, turns groups of them into soil."""
    state, own = context.state.granular.grains, context.system.granular
    ripe = 0
    for r in range(state.number[0]):
        if state.asleep[r]:
            state.still[r] += own.steps
            ripe += due and _is_ripe(context, r)
    if ripe == 0:
        return
    stays = context.workspace.granular.grains.cell
    for r in range(state.number[0]):
        stays[r] = 0 if _is_ripe(context, r) and _is_on_soil_alone(context, r) else 1
    _keep_neighbours(context, stays)
    ground = ground_of(context)
    for r in range(state.number[0]):
        if stays[r] == 0:
            _become_soil(context, ground, r)
            state.stale[0] = 1


@inlined
def _is_ripe(context: Context, r):
    """Whether the grain of a row is a lump that has slept for long enough."""
    state, own = context.state.granular.grains, context.system.granular
    return (
        state.asleep[r]
        and state.ident[r] >= 0
        and state.material[r] == own.lumps.material
        and state.still[r] >= own.grains.rest_steps + own.lumps.ripe
    )


@inlined
def _is_on_soil_alone(context: Context, r):
    """Whether no boundary but soft ground is near a grain."""
    state, kind = context.state.granular.grains, context.system.granular.grains.boundaries.kind
    alone = True
    for k in range(state.boundary_start[r], state.boundary_start[r + 1]):
        alone = alone and kind[state.boundary_shape[k]] == SOIL
    return alone


@inlined
def _keep_neighbours(context: Context, stays):
    """Marks all grains that are near, over any number of others, one that stays."""
    state, changed = context.state.granular.grains, True
    while changed:
        changed = False
        for r in range(state.number[0]):
            for k in range(state.pair_start[r], state.pair_start[r + 1]):
                other = state.pair_other[k]
                if stays[r] != stays[other]:
                    stays[r] = stays[other] = 1
                    changed = True


@inlined
def _become_soil(context: Context, ground, r):
    """Lays the mass of a lump on the four cells around its centre, more on the nearer ones."""
    state, spacing = context.state.granular.grains, ground.spacing
    mass = 1.0 / state.velocity[r, 3] / (spacing * spacing)
    u, v = state.position[r, 0] / spacing, state.position[r, 1] / spacing
    i, j = int(math.floor(u)), int(math.floor(v))
    u, v = u - i, v - j
    lay_on(ground, i, j, (1.0 - u) * (1.0 - v) * mass, context.state.soil)
    lay_on(ground, i + 1, j, u * (1.0 - v) * mass, context.state.soil)
    lay_on(ground, i, j + 1, (1.0 - u) * v * mass, context.state.soil)
    lay_on(ground, i + 1, j + 1, u * v * mass, context.state.soil)
    wake_cells(ground, context.state.soil, i, i + 1, j, j + 1)
    state.ident[r] = -1
