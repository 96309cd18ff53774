"""Heaps of loose soil on soft ground at the start."""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.strata import add_loose, soil_of
from grouser.physics.soil.tiles import (
    SURFACE,
    SoilState,
    natural_level,
    nearest_cell,
    open_cell_of,
    tiles_of_window,
    with_room,
)


def with_heaps(ground: SoftGround, soil: SoilGround, state: SoilState) -> SoilState:
    """The state with the heaps of a world, at rest.

    Args:
        ground: natural ground.
        soil: with the heaps.
        state: of the soil, with capacity for one more tile; it is changed.
    """
    for heap in soil.heaps:
        state = with_room(state, 1)
        slope = _slope_at(ground, *heap.place, state)
        height = heap.height_at(math.atan(slope))
        reach = math.ceil(height / slope / ground.spacing)
        state = with_room(state, tiles_of_window(2 * reach))
        _raise_cone(ground, *heap.place, height, slope, reach, state)
    return state


@kernel
def _slope_at(ground: SoftGround, x, y, state: SoilState):
    """Tangent of the angle of repose of the soil at a place [-]."""
    i, j = nearest_cell(x, ground.spacing), nearest_cell(y, ground.spacing)
    return ground.soils.repose[soil_of(state.soil_cell, open_cell_of(ground.terrain, ground.spacing, state, i, j))]


@kernel
def _raise_cone(ground: SoftGround, x, y, height, slope, reach, state: SoilState):
    """Lays loose soil up to a cone over all cells that are lower, within some cells of its top."""
    spacing, top = ground.spacing, natural_level(ground.terrain, x, y) + height
    i, j = nearest_cell(x, spacing), nearest_cell(y, spacing)
    for p in range(i - reach, i + reach + 1):
        for q in range(j - reach, j + reach + 1):
            at = open_cell_of(ground.terrain, spacing, state, p, q)
            lacking = top - slope * math.hypot(p * spacing - x, q * spacing - y) - state.soil_cell[at + SURFACE]
            if lacking > 0.0:
                add_loose(state.soil_cell, at, lacking)
