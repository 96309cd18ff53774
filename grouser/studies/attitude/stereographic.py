"""An attitude as (w, z): direction of the body's z axis, and rotation about it.

The body is turned by z about the inertial z axis, then by the shortest way to where its own z axis points. With
v = R^T e_z, the inertial axis seen from the body, the complex w = (v_y - i v_x) / (1 + v_z) is its stereographic
projection: |w| = tan(half the angle between the axes). An axis that points the opposite way is at infinity.

Tsiotras and Longuski, A new parameterization of the attitude kinematics, J. Astronautical Sciences 43 (1995):

    w' = -i omega_z w + (omega + conj(omega) w²) / 2,   z' = omega_z + Im(omega conj(w)),   omega = omega_x + i omega_y,

so that d/dt ln(1 + |w|²) = Re(omega conj(w)).
"""

import math

from grouser.physics.base.kernel import kernel


@kernel
def from_quaternion(q):
    """Real and imaginary part of w, and z in [-pi, pi] [rad], of a unit quaternion (x, y, z, w) of either sign."""
    x, y, z, real = q
    if real < 0.0:
        x, y, z, real = -x, -y, -z, -real
    square = z * z + real * real
    return (x * real + y * z) / square, (y * real - x * z) / square, 2.0 * math.atan2(z, real)
