"""Loose soil that a tool carries: as much as its profile holds at the rake of its plate; what is too much falls out.

The volume above what it holds leaves within the time constant EMPTYING, over the lower one of the two edges of the
plate. What a tool holds is a table over its rake, from -180 degrees in equal steps around the circle.
"""

import math

from grouser.physics.base.kernel import inlined, kernel

# Solid mass [kg] and loose volume [m3] that a tool carries.
MASS, VOLUME = range(2)
BULK = 2
# Solid mass that a tool has loaded, caught and spilled [kg].
LOADED, CAUGHT, SPILLED = range(3)
# Time constant in which soil leaves [s]: chosen.
EMPTYING = 0.1
# A volume of this size leaves at once [m3].
_CRUMB = 1e-7


@inlined
def held_at(table, rake):
    """Value of a table over the rake [rad], between its entries in proportion."""
    count = table.shape[0]
    place = (rake + math.pi) / (2.0 * math.pi) * count
    before = int(math.floor(place))
    part = place - before
    return (1.0 - part) * table[before % count] + part * table[(before + 1) % count]


@inlined
def centre_at(table, rake, share, k):
    """Coordinate k of the centre of the soil in a tool, of a table as of `Holding` [m].

    Args:
        table: (rakes, parts + 1, 2).
        rake: of the plate [rad].
        share: of the volume that the tool holds at this rake [-].
        k: 0 along the plate, 1 below it.
    """
    parts = table.shape[1] - 1
    place = min(max(share, 0.0), 1.0) * parts
    below = min(int(place), parts - 1)
    part = place - below
    return (1.0 - part) * held_at(table[:, below, k], rake) + part * held_at(table[:, below + 1, k], rake)


@inlined
def fill(bulk, mass, volume, holds):
    """Loads soil as far as there is room.

    Args:
        bulk: of the tool, changed, (BULK,).
        mass, volume: of soil, solid mass [kg] and loose volume [m3].
        holds: loose volume that the tool holds [m3].

    Returns:
        Solid mass for which there is no room [kg].
    """
    share = min(max(holds - bulk[VOLUME], 0.0) / volume, 1.0) if volume > 0.0 else 0.0
    bulk[MASS] += share * mass
    bulk[VOLUME] += share * volume
    return (1.0 - share) * mass


@kernel
def spill(bulk, holds, step):
    """Solid mass that leaves a tool in a step of some length [s], above the volume that it holds [m3]."""
    excess = bulk[VOLUME] - holds
    if excess <= 0.0:
        return 0.0
    share = min(max(excess * -math.expm1(-step / EMPTYING), _CRUMB), excess) / bulk[VOLUME]
    mass = bulk[MASS] if share >= 1.0 else share * bulk[MASS]
    bulk[MASS] -= mass
    bulk[VOLUME] = 0.0 if share >= 1.0 else (1.0 - share) * bulk[VOLUME]
    return mass
