"""Semi-implicit Euler steps in Euler angles, R = Rz(phi) Rx(theta) Rz(psi): singular where sin(theta) vanishes.

    w' = w + h J^-1 (J w x w + rho x R^T m g + torque),    angles' = angles + h rates(angles, w')

Called symplectic in the literature on the heavy top; w is no momentum of the angles, and the steps are not symplectic.
"""

import math

from grouser.physics.base.kernel import embedded
from grouser.studies.attitude.body import angular_acceleration


@embedded
def euler_angles_step(body, state, step, tx, ty, tz):
    """Makes a step of a body; arguments as of `lie_group_step`.

    Returns:
        Whether the step went through the singularity: sin(theta) is zero, or of another sign than before.
    """
    w, angles = state.rate, state.angles
    ax, ay, az = angular_acceleration(body, state.rotation, w[0], w[1], w[2], tx, ty, tz)
    w[0] += step * ax
    w[1] += step * ay
    w[2] += step * az
    sine, cosine = math.sin(angles[2]), math.cos(angles[2])
    before = math.sin(angles[1])
    precession = (w[0] * sine + w[1] * cosine) / before
    nutation = w[0] * cosine - w[1] * sine
    spin = w[2] - precession * math.cos(angles[1])
    angles[0] += step * precession
    angles[1] += step * nutation
    angles[2] += step * spin
    set_rotation(state)
    return not before * math.sin(angles[1]) > 0.0


@embedded
def set_rotation(state):
    """The rotation that the angles make."""
    r, angles = state.rotation, state.angles
    s, c = math.sin(angles[0]), math.cos(angles[0])
    t, d = math.sin(angles[1]), math.cos(angles[1])
    u, e = math.sin(angles[2]), math.cos(angles[2])
    r[0, 0], r[0, 1], r[0, 2] = c * e - s * d * u, -c * u - s * d * e, s * t
    r[1, 0], r[1, 1], r[1, 2] = s * e + c * d * u, -s * u + c * d * e, -c * t
    r[2, 0], r[2, 1], r[2, 2] = t * u, t * e, d
