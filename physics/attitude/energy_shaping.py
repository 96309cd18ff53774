"""Passivity based control to an attitude, by modified Rodrigues parameters (after Tian and Ge, 2015).

V = k_E (E - E_d) + k |sigma - sigma_d|² / 2, with the energy E of the body and that at rest in the target, changes by a
torque tau = G^T tau_s at the rate k_E tau_s · sigma' + k (sigma - sigma_d) · sigma'. So

    tau_s = -(k (sigma - sigma_d) + lambda sigma') / k_E   makes   V' = -lambda |sigma'|².

Gravity stays as it is, and a target is stable only where k outweighs what k_E times the potential energy does to V:
with the centre of mass below the pivot; above it with gravity compensated, E then being the kinetic energy alone. The
set is that which is continuous in time: switching it would change V.
"""

from grouser.physics.base.kernel import kernel
from grouser.studies.attitude import rodrigues
from grouser.studies.attitude.pivoted_body import gravity_torque, kinetic_energy, potential_energy
from grouser.studies.attitude.vectors import combined, dot


@kernel
def control_torque(body, gains, sigma, sigma_target, gamma, omega):
    """The torque [N m].

    Args:
        body: a `PivotedBody`.
        gains: `Gains`: k_E is `energy`, k `attitude` [J], lambda `damping` [J s].
        sigma, sigma_target: attitude and target.
        gamma: direction of gravity.
        omega: angular velocity [rad/s].
    """
    deviation, rate = combined(1.0, sigma, -1.0, sigma_target), rodrigues.rate_of(sigma, omega)
    effort = combined(-gains.attitude / gains.energy, deviation, -gains.damping / gains.energy, rate)
    compensation = 1.0 if gains.gravity_compensation else 0.0
    return combined(1.0, rodrigues.torque_of(sigma, effort), -compensation, gravity_torque(body, gamma))


@kernel
def lyapunov(body, gains, sigma, sigma_target, gamma, gamma_target, omega):
    """V [J]; arguments as of `control_torque`, `gamma_target` being the direction of gravity in the target."""
    deviation = combined(1.0, sigma, -1.0, sigma_target)
    energy = kinetic_energy(body, omega)
    if not gains.gravity_compensation:
        energy += potential_energy(body, gamma) - potential_energy(body, gamma_target)
    return gains.energy * energy + 0.5 * gains.attitude * dot(deviation, deviation)
