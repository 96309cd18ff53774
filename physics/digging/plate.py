"""The plate that separates soil: from the cutting edge up to the top edge of a blade, or of a filled bucket.

A pose of it is a row of POSE numbers in the world: the middle of the cutting edge [m], the unit vector along the edge,
to the left where soil is cut ahead, and the unit vector up the plate, normal to the edge. The soil that is cut lies on
the side of the normal along x up.
"""

import math

from grouser.physics.base.kernel import inlined

X, Y, Z, ALONG_X, ALONG_Y, ALONG_Z, UP_X, UP_Y, UP_Z = range(9)
POSE = 9
# An edge whose direction is closer to vertical than this, as a cosine, cuts nothing.
STEEPEST_EDGE = 1e-3


@inlined
def plan_length(pose):
    """Length of the edge's unit vector seen from above [-]."""
    return math.sqrt(pose[ALONG_X] * pose[ALONG_X] + pose[ALONG_Y] * pose[ALONG_Y])


@inlined
def ahead(pose):
    """Horizontal unit vector normal to the edge, ahead; zero for a vertical edge."""
    length = plan_length(pose)
    if length < STEEPEST_EDGE:
        return 0.0, 0.0
    return pose[ALONG_Y] / length, -pose[ALONG_X] / length


@inlined
def rake(pose):
    """Angle of the plate from the horizontal direction back, upwards: 90 degrees for an upright plate [rad]."""
    ahead_x, ahead_y = ahead(pose)
    return math.atan2(pose[UP_Z], -(pose[UP_X] * ahead_x + pose[UP_Y] * ahead_y))


@inlined
def normal_of(pose):
    """Unit normal of the plate, on the side on which soil is cut."""
    return (
        pose[ALONG_Y] * pose[UP_Z] - pose[ALONG_Z] * pose[UP_Y],
        pose[ALONG_Z] * pose[UP_X] - pose[ALONG_X] * pose[UP_Z],
        pose[ALONG_X] * pose[UP_Y] - pose[ALONG_Y] * pose[UP_X],
    )


@inlined
def faces_motion(old, new):
    """Whether the plate moves towards the side on which soil is cut."""
    nx, ny, nz = normal_of(new)
    return (new[X] - old[X]) * nx + (new[Y] - old[Y]) * ny + (new[Z] - old[Z]) * nz > 0.0
