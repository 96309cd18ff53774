"""A step of a tool in soil whose motion is known: it cuts, loads what it holds, pushes the rest ahead, and spills."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import Terrain
from grouser.physics.digging.bulk import held_at, load, spill
from grouser.physics.digging.cutting import DEPTH, MASS, VOLUME, cut_soil, lay_ahead
from grouser.physics.digging.flight import (
    HALF_X,
    HALF_Y,
    VELOCITY_X,
    fall,
    release,
)
from grouser.physics.digging.plate import ALONG_X, ALONG_Y, UP_X, UP_Z, X, Y, Z, ahead, plan_length, rake
from grouser.physics.soil.laws import Soils
from grouser.physics.soil.relaxation import (
    AHEAD_X,
    AHEAD_Y,
    HALF_THICKNESS,
    HALF_WIDTH,
    PLATE_X,
    PLATE_Y,
)
from grouser.physics.soil.tiles import SIDE, SoilState, nearest_cell, surface_of

# What is pushed ahead lies within this length, by the depth of the edge, and by the spacing of cells [-].
_PILE, _SHORTEST_PILE = 2.0, 1.5


@kernel
def tiles_of_tool(spacing, width, old, new):
    """Most tiles that a tool may open in a step, beside the slides.

    Args:
        spacing: of the cells [m].
        width: of the edge [m].
        old, new: poses of the plate at both ends of the step.
    """
    side = width + math.sqrt((new[X] - old[X]) ** 2 + (new[Y] - old[Y]) ** 2 + (new[Z] - old[Z]) ** 2)
    across = int(side / (spacing * SIDE)) + 3
    # of the swept area with the pile ahead, and of a lot that lands elsewhere
    return 4 * across * across


@kernel
def dig(
    soils: Soils,
    terrain: Terrain,
    spacing,
    gravity,
    step,
    width,
    opening,
    holds,
    old,
    new,
    state: SoilState,
    bulk,
    air,
    air_count,
    plate,
    lot,
    cut,
):
    """Advances soil and load by the motion of a tool; slides follow with those of all tools.

    Args:
        soils, terrain, spacing: the ground.
        gravity: [m/s2].
        step: [s].
        width, opening: of the tool: length of the cutting edge, and height of the plate [m].
        holds: loose volume that it holds, over the rake [m3], (rakes,).
        old, new: poses of its plate at both ends of the step, (POSE,).
        state: of the soil, changed.
        bulk: of the tool, changed, (BULK,).
        air, air_count: what it has in the air, changed, (LOTS, LOT) and (1,).
        plate: the row of `relax_soil` that holds soil ahead of it, filled, (PLATE,).
        lot: buffer, (LOT,).
        cut: what `cut_soil` finds, filled, (CUT,).
    """
    cut_soil(soils, terrain, spacing, width, old, new, state, cut)
    room = held_at(holds, rake(new))
    if cut[MASS] > 0.0:
        left = load(bulk, cut[MASS], cut[VOLUME], room)
        if left > 0.0:
            length = max(_PILE * cut[DEPTH], _SHORTEST_PILE * spacing)
            lay_ahead(soils, terrain, spacing, width, new, left, length, state)
    spilled = spill(bulk, room, step)
    if spilled > 0.0:
        _fill_lip(width, opening, step, old, new, lot)
        release(spilled, lot, air, air_count)
    if air_count[0] > 0:
        fall(soils, terrain, spacing, gravity, step, air, air_count, state)
    _fill_plate(terrain, spacing, width, new, state, plate)


@inlined
def _fill_lip(width, opening, step, old, new, lot):
    """Place and velocity of the lower edge of the plate, as the row of a lot."""
    height = opening if new[UP_Z] < 0.0 else 0.0
    for k in range(3):
        lot[1 + k] = new[X + k] + height * new[UP_X + k]
        lot[VELOCITY_X + k] = (lot[1 + k] - old[X + k] - height * old[UP_X + k]) / step
    lot[HALF_X], lot[HALF_Y] = 0.5 * width * new[ALONG_X], 0.5 * width * new[ALONG_Y]


@inlined
def _fill_plate(terrain: Terrain, spacing, width, pose, state: SoilState, plate):
    """The plate as it holds soil ahead of it; of no thickness while its edge is above the ground."""
    fx, fy = ahead(pose)
    i, j = nearest_cell(pose[X] + spacing * fx, spacing), nearest_cell(pose[Y] + spacing * fy, spacing)
    buried = surface_of(terrain, spacing, state, i, j) > pose[Z]
    plate[PLATE_X], plate[PLATE_Y], plate[AHEAD_X], plate[AHEAD_Y] = pose[X], pose[Y], fx, fy
    plate[HALF_WIDTH] = 0.5 * width * plan_length(pose)
    plate[HALF_THICKNESS] = spacing * (abs(fx) + abs(fy)) if buried else 0.0
