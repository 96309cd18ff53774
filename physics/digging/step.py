"""What a tool does to soil by a motion: it cuts, loads what it holds, pushes the rest ahead, and spills."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.bulk import BULK, fill, spill
from grouser.physics.digging.cutting import DEPTH, MASS, VOLUME, cut_soil, lay_ahead
from grouser.physics.digging.flight import (
    HALF_X,
    HALF_Y,
    LOT,
    LOTS,
    VELOCITY_X,
    release,
)
from grouser.physics.digging.plate import ALONG_X, ALONG_Y, UP_X, UP_Z, X, Y, Z, ahead, plan_length
from grouser.physics.soil.ground import SoftGround
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


class Tool(NamedTuple):
    """A tool in soil.

    Attributes:
        width: of the cutting edge [m].
        opening: height of the plate, from the cutting edge to the top edge [m].
    """

    width: float
    opening: float


class Load(NamedTuple):
    """Soil of a tool.

    Attributes:
        bulk: that it carries, (BULK,).
        air: that it has dropped and that has not landed, (LOTS, LOT).
        air_count: number of lots in the air, (1,).
    """

    bulk: np.ndarray
    air: np.ndarray
    air_count: np.ndarray


def make_load() -> Load:
    """An empty tool."""
    return Load(np.zeros(BULK), np.zeros((LOTS, LOT)), np.zeros(1, dtype=np.int64))


class ToolWorkspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        plate: row of `relax_soil` that holds soil ahead of the tool, (PLATE,).
        lot: soil that leaves it, (LOT,).
        cut: what `cut_soil` finds, (CUT,).
    """

    plate: np.ndarray
    lot: np.ndarray
    cut: np.ndarray


@kernel
def tiles_of_tool(ground: SoftGround, tool: Tool, old, new):
    """Most tiles that a tool may open in a step between two poses, beside the slides."""
    way = math.sqrt((new[X] - old[X]) ** 2 + (new[Y] - old[Y]) ** 2 + (new[Z] - old[Z]) ** 2)
    side = max(tool.width, tool.opening) + way
    across = int(side / (ground.spacing * SIDE)) + 3
    # of the swept area with the pile ahead, and of a lot that lands elsewhere
    return 4 * across * across


@kernel
def dig(ground: SoftGround, tool: Tool, room, step, old, new, state: SoilState, load: Load, work: ToolWorkspace):
    """Advances soil and load by the motion of a tool; what falls and slides follows with that of all tools.

    Args:
        ground: natural ground and its soils.
        tool: the tool.
        room: loose volume that it holds at the new pose [m3].
        step: [s].
        old, new: poses of its plate at both ends of the step, (POSE,).
        state: of the soil, changed.
        load: of the tool, changed.
        work: filled.

    Returns:
        Solid mass that it has loaded, and that it has spilled [kg].
    """
    loaded = 0.0
    cut_soil(ground, tool.width, old, new, state, work.cut)
    mass = work.cut[MASS]
    if mass > 0.0:
        left = fill(load.bulk, mass, work.cut[VOLUME], room)
        loaded = mass - left
        if left > 0.0:
            length = max(_PILE * work.cut[DEPTH], _SHORTEST_PILE * ground.spacing)
            lay_ahead(ground, tool.width, new, left, length, state)
    spilled = spill(load.bulk, room, step)
    if spilled > 0.0:
        _fill_lip(tool, step, old, new, work.lot)
        release(spilled, work.lot, load.air, load.air_count)
    fill_plate(ground, tool, new, state, work.plate)
    return loaded, spilled


@inlined
def _fill_lip(tool: Tool, step, old, new, lot):
    """Place and velocity of the lower edge of the plate, as the row of a lot."""
    height = tool.opening if new[UP_Z] < 0.0 else 0.0
    for k in range(3):
        lot[1 + k] = new[X + k] + height * new[UP_X + k]
        lot[VELOCITY_X + k] = (lot[1 + k] - old[X + k] - height * old[UP_X + k]) / step
    lot[HALF_X], lot[HALF_Y] = 0.5 * tool.width * new[ALONG_X], 0.5 * tool.width * new[ALONG_Y]


@inlined
def fill_plate(ground: SoftGround, tool: Tool, pose, state: SoilState, plate):
    """The plate as it holds soil ahead of it; of no thickness while its edge is above the ground."""
    spacing = ground.spacing
    fx, fy = ahead(pose)
    i, j = nearest_cell(pose[X] + spacing * fx, spacing), nearest_cell(pose[Y] + spacing * fy, spacing)
    buried = surface_of(ground.terrain, spacing, state, i, j) > pose[Z]
    plate[PLATE_X], plate[PLATE_Y], plate[AHEAD_X], plate[AHEAD_Y] = pose[X], pose[Y], fx, fy
    plate[HALF_WIDTH] = 0.5 * tool.width * plan_length(pose)
    plate[HALF_THICKNESS] = spacing * (abs(fx) + abs(fy)) if buried else 0.0
