"""How far above the ground a shovel is: as long as it has not come down by that, soil need not be looked at."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.plate import ALONG_X, ALONG_Y, ALONG_Z, UP_X, UP_Y, UP_Z, X, Y, Z
from grouser.physics.digging.tools import Tools
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.tiles import SoilState, nearest_cell, surface_of

# Steps after which it is measured, and after which it is forgotten: wheels may heave soil below a shovel meanwhile.
OFTEN, FORGOTTEN = 20, 100
# Cells are looked at so far around a shovel: it is not known to be further above them [m].
_AROUND = 0.25


@inlined
def way_of(tools: Tools, t, old, new):
    """Farthest that a point of a shovel can have moved between two poses [m]."""
    place, along, up = 0.0, 0.0, 0.0
    for k in range(3):
        place += (new[X + k] - old[X + k]) ** 2
        along += (new[ALONG_X + k] - old[ALONG_X + k]) ** 2
        up += (new[UP_X + k] - old[UP_X + k]) ** 2
    turned = math.sqrt(along) + math.sqrt(up)
    return math.sqrt(place) + tools.reach[t] * turned


@kernel
def clearance_of(ground: SoftGround, tools: Tools, t, pose, state: SoilState):
    """Way that a shovel can move in any direction without touching the ground; not above 0 where it may touch [m]."""
    spacing, around = ground.spacing, tools.reach[t] + _AROUND
    below = pose[ALONG_Y] * pose[UP_X] - pose[ALONG_X] * pose[UP_Y]
    extent = tools.extent[t]
    low = pose[Z] - 0.5 * tools.width[t] * abs(pose[ALONG_Z])
    low += min(extent[0] * pose[UP_Z], extent[1] * pose[UP_Z]) + min(extent[2] * below, 0.0)
    i_first, i_last = nearest_cell(pose[X] - around, spacing), nearest_cell(pose[X] + around, spacing)
    j_first, j_last = nearest_cell(pose[Y] - around, spacing), nearest_cell(pose[Y] + around, spacing)
    highest = -math.inf
    for i in range(i_first, i_last + 1):
        for j in range(j_first, j_last + 1):
            highest = max(highest, surface_of(ground.terrain, spacing, state, i, j))
    return min(low - highest, _AROUND)
