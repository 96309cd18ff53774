"""Soil that a shovel carries, as mass on its body: a ball of the volume at the centre that the shovel's tilt gives it.

The ball's inertia joins that of the body. As soil comes, goes and shifts, momentum is kept: the difference of what the
body carries is an impulse on it.
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.bulk import MASS, VOLUME
from grouser.physics.digging.closing import place_of, room_of
from grouser.physics.digging.plate import rake
from grouser.physics.digging.tools import Tools

# Mass [kg], centre in the body frame [m], and moment of inertia about it [kg m2].
CARRIED = 5


@kernel
def place_load(tools: Tools, t, pose, closure, bulk, carried):
    """Finds what a shovel carries at a pose of its plate.

    Args:
        tools, t: the shovel.
        pose: (POSE,).
        closure: share to which others close it.
        bulk: mass and loose volume.
        carried: result, (CARRIED,).
    """
    mass, volume = bulk[MASS], bulk[VOLUME]
    carried[:] = 0.0
    if mass <= 0.0:
        return
    tilt = rake(pose)
    room = room_of(tools, t, tilt, closure)
    share = volume / room if room > 0.0 else 1.0
    up, below = place_of(tools, t, tilt, share, closure, 0), place_of(tools, t, tilt, share, closure, 1)
    a, u = tools.along[t], tools.up[t]
    carried[0] = mass
    carried[1] = tools.edge[t, 0] + up * u[0] - below * (a[1] * u[2] - a[2] * u[1])
    carried[2] = tools.edge[t, 1] + up * u[1] - below * (a[2] * u[0] - a[0] * u[2])
    carried[3] = tools.edge[t, 2] + up * u[2] - below * (a[0] * u[1] - a[1] * u[0])
    carried[4] = 0.4 * mass * (0.75 * volume / math.pi) ** (2.0 / 3.0)


@inlined
def centre_of(carried, rotation, position, body):
    """Centre of what a body carries, from the origin, world axes [m]."""
    r, p = rotation[body], position[body]
    x, y, z = carried[1], carried[2], carried[3]
    return (
        p[0] + r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        p[1] + r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        p[2] + r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )


@kernel
def add_inertia(carried, rotation, position, body, inertia):
    """Adds the inertia of what a body carries to its own about the origin, in the order of `spatial`."""
    mass, turning = carried[0], carried[4]
    x, y, z = centre_of(carried, rotation, position, body)
    row = inertia[body]
    row[0] += turning + mass * (y * y + z * z)
    row[1] -= mass * x * y
    row[2] -= mass * x * z
    row[3] += turning + mass * (x * x + z * z)
    row[4] -= mass * y * z
    row[5] += turning + mass * (x * x + y * y)
    row[6] += mass * x
    row[7] += mass * y
    row[8] += mass * z
    row[9] += mass


@inlined
def momentum_of(carried, rotation, position, body, twist):
    """Momentum of what a body carries, and its moment about the origin, at the body's twist; six numbers."""
    mass, turning = carried[0], carried[4]
    x, y, z = centre_of(carried, rotation, position, body)
    px = mass * (twist[0] + twist[4] * z - twist[5] * y)
    py = mass * (twist[1] + twist[5] * x - twist[3] * z)
    pz = mass * (twist[2] + twist[3] * y - twist[4] * x)
    return (
        px,
        py,
        pz,
        y * pz - z * py + turning * twist[3],
        z * px - x * pz + turning * twist[4],
        x * py - y * px + turning * twist[5],
    )
