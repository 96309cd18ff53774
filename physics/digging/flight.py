"""Soil in the air: lots that fall freely until they meet the ground, where they are loose soil.

A lot is a row of LOT numbers: solid mass [kg]; place [m] and velocity [m/s] of the middle of the lip that it left; from
there to the left end of the lip, horizontally [m]; and its age [s]. Soil that leaves within a hundredth of a second
joins a lot, with mass, momentum and centre of mass of both.
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.relaxation import wake_cells
from grouser.physics.soil.strata import lay_on
from grouser.physics.soil.tiles import SoilState, nearest_cell, surface_of

MASS, X, Y, Z, VELOCITY_X, VELOCITY_Y, VELOCITY_Z, HALF_X, HALF_Y, AGE = range(10)
LOT = 10
# Lots that a tool may have in the air: a fall of 20 m.
LOTS = 256
_JOINS = 0.01


@kernel
def release(mass, lot, air, count):
    """Adds soil to what is in the air.

    Args:
        mass: that leaves a tool [kg].
        lot: its row, mass and age are not used.
        air: lots of the tool, the newest last, changed, (LOTS, LOT).
        count: number of lots, changed, (1,).
    """
    last = count[0] - 1
    if last >= 0 and (air[last, AGE] < _JOINS or last + 1 == air.shape[0]):
        share = mass / (air[last, MASS] + mass)
        for k in range(X, AGE):
            air[last, k] += share * (lot[k] - air[last, k])
        air[last, MASS] += mass
        return
    count[0] += 1
    for k in range(LOT):
        air[last + 1, k] = lot[k]
    air[last + 1, MASS], air[last + 1, AGE] = mass, 0.0


@kernel
def fall(ground: SoftGround, step, air, count, state: SoilState):
    """Moves the lots of a tool; those that meet the ground become loose soil there.

    Args:
        ground: natural ground and its soils.
        step: [s].
        air, count: lots, and their number, changed.
        state: of the soil, changed.
    """
    spacing, gravity, kept = ground.spacing, ground.gravity, 0
    for n in range(count[0]):
        lot = air[n]
        lot[X] += step * lot[VELOCITY_X]
        lot[Y] += step * lot[VELOCITY_Y]
        lot[Z] += step * (lot[VELOCITY_Z] - 0.5 * step * gravity)
        lot[VELOCITY_Z] -= step * gravity
        lot[AGE] += step
        i, j = nearest_cell(lot[X], spacing), nearest_cell(lot[Y], spacing)
        if lot[Z] <= surface_of(ground.terrain, spacing, state, i, j):
            _land(ground, lot, state)
        else:
            for k in range(LOT):
                air[kept, k] = lot[k]
            kept += 1
    count[0] = kept


@inlined
def _land(ground: SoftGround, lot, state: SoilState):
    """Lays a lot on the cells below the lip, evenly."""
    spacing = ground.spacing
    parts = max(int(2.0 * math.sqrt(lot[HALF_X] ** 2 + lot[HALF_Y] ** 2) / spacing + 0.5), 1)
    of_cell = lot[MASS] / (parts * spacing * spacing)
    for part in range(parts):
        place = (2 * part + 1) / parts - 1.0
        i = nearest_cell(lot[X] + place * lot[HALF_X], spacing)
        j = nearest_cell(lot[Y] + place * lot[HALF_Y], spacing)
        lay_on(ground, i, j, of_cell, state)
        wake_cells(ground, state, i, i, j, j)
