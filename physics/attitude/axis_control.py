"""Proportional and derivative control of the body's z axis and the turn about it, by (w, z) (`stereographic`).

V = E - E_d + k (ln(1 + |w|²) + z²/2), of the attitude as seen from the target, is changed by the torque u at the rate
u · omega + k (Re(omega conj(w)) + z (omega_z + Im(omega conj(w)))). So

    u_x + i u_y = -k (1 + i z) w - c (omega_x + i omega_y),   u_z = -k z - c omega_z   make   V' = -c |omega|²,

for any inertia. It is stable where gravity is compensated, E then being the kinetic energy alone, or the centre of mass
below the pivot in the target. The axis never comes to point the opposite way, where V is infinite.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import quaternion_product
from grouser.studies.attitude import rodrigues, stereographic
from grouser.studies.attitude.pivoted_body import gravity_torque, kinetic_energy, potential_energy
from grouser.studies.attitude.vectors import combined


@kernel
def deviation(sigma, sigma_target):
    """Real and imaginary part of w, and z [rad], of an attitude as seen from the target."""
    x, y, z, w = rodrigues.to_quaternion(sigma)
    tx, ty, tz, tw = rodrigues.to_quaternion(sigma_target)
    return stereographic.from_quaternion(quaternion_product(-tx, -ty, -tz, tw, x, y, z, w))


@kernel
def control_torque(body, gains, sigma, sigma_target, gamma, omega):
    """The torque [N m].

    Args:
        body: a `PivotedBody`.
        gains: `Gains`: k is `attitude` [N m], c `damping` [N m s].
        sigma, sigma_target: attitude and target.
        gamma: direction of gravity.
        omega: angular velocity [rad/s].
    """
    p, q, z = deviation(sigma, sigma_target)
    spring = combined(-gains.attitude, (p - z * q, q + z * p, z), -gains.damping, omega)
    compensation = 1.0 if gains.gravity_compensation else 0.0
    return combined(1.0, spring, -compensation, gravity_torque(body, gamma))


@kernel
def lyapunov(body, gains, sigma, sigma_target, gamma, gamma_target, omega):
    """V [J]; arguments as of `control_torque`, `gamma_target` being the direction of gravity in the target."""
    p, q, z = deviation(sigma, sigma_target)
    energy = kinetic_energy(body, omega)
    if not gains.gravity_compensation:
        energy += potential_energy(body, gamma) - potential_energy(body, gamma_target)
    return energy + gains.attitude * (math.log1p(p * p + q * q) + 0.5 * z * z)
