"""Falling soil that a bucket or the bed of a truck catches: what passes through its opening from outside."""

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.flight import LOT, VELOCITY_X, VELOCITY_Y, VELOCITY_Z
from grouser.physics.digging.flight import MASS as LOT_MASS
from grouser.physics.digging.flight import X as LOT_X
from grouser.physics.digging.flight import Y as LOT_Y
from grouser.physics.digging.flight import Z as LOT_Z
from grouser.physics.digging.plate import ALONG_X, ALONG_Y, ALONG_Z, UP_X, UP_Y, UP_Z, X, Y, Z, normal_of
from grouser.physics.digging.tools import Tools


@kernel
def catch(tools: Tools, t, old, new, step, gravity, loose_density, air, count, bulk, gained):
    """Takes the lots that pass through the opening of a bucket in a step out of the air, and loads them.

    Args:
        tools, t: the bucket.
        old, new: poses of its plate at both ends of the step, (POSE,).
        step: [s].
        gravity: downwards [m/s2].
        loose_density: of the soil in the air [kg/m3].
        air, count: lots of another tool, changed.
        bulk: of the bucket, solid mass and loose volume, changed, (2,).
        gained: momentum that comes with them, and its moment about the world's origin, added to, (6,).
    """
    kept = 0
    for n in range(count[0]):
        lot = air[n]
        x, y, z = lot[LOT_X], lot[LOT_Y], lot[LOT_Z]
        vx, vy, vz = lot[VELOCITY_X], lot[VELOCITY_Y], lot[VELOCITY_Z] - 0.5 * step * gravity
        end_x, end_y, end_z = x + step * vx, y + step * vy, z + step * vz
        before, after = _height_above(old, x, y, z), _height_above(new, end_x, end_y, end_z)
        caught = False
        if before >= 0.0 > after:
            part = step * before / (before - after)
            dx, dy, dz = x + part * vx - new[X], y + part * vy - new[Y], z + part * vz - new[Z]
            up = dx * new[UP_X] + dy * new[UP_Y] + dz * new[UP_Z]
            along = dx * new[ALONG_X] + dy * new[ALONG_Y] + dz * new[ALONG_Z]
            caught = 0.0 <= up <= tools.opening[t] and abs(along) <= 0.5 * tools.width[t]
        if caught:
            mass = lot[LOT_MASS]
            px, py, pz = mass * vx, mass * vy, mass * (vz - 0.5 * step * gravity)
            gained[0] += px
            gained[1] += py
            gained[2] += pz
            gained[3] += end_y * pz - end_z * py
            gained[4] += end_z * px - end_x * pz
            gained[5] += end_x * py - end_y * px
            bulk[0] += mass
            bulk[1] += mass / loose_density
        else:
            for k in range(LOT):
                air[kept, k] = lot[k]
            kept += 1
    count[0] = kept


@inlined
def _height_above(pose, x, y, z):
    """Distance of a place from a plate, on the side on which soil is cut [m]."""
    nx, ny, nz = normal_of(pose)
    return (x - pose[X]) * nx + (y - pose[Y]) * ny + (z - pose[Z]) * nz
