"""Sliding-mode control of where gravity points in the body's frame (after Zou and Ge, 2013).

With the direction of gravity Gamma and its target Gamma_d, the surface is s = omega - kappa Gamma_d x Gamma. The torque

    u = -J omega x omega - m g rho x Gamma + J (kappa Gamma_d x Gamma' - epsilon sat(s / layer) - alpha s)

makes s' = -epsilon sat(s / layer) - alpha s: outside the layer each component comes to zero in the time of
`reaching_time`. On the surface the body does not turn about the vertical, and the tangent of half the angle from Gamma
to Gamma_d decays as exp(-kappa t).
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.studies.attitude.pivoted_body import gravity_torque, gyroscopic_torque
from grouser.studies.attitude.vectors import combined, crossed, dot, times


@kernel
def surface(gains, gamma, gamma_target, omega):
    """s [rad/s]; arguments as of `control_torque`."""
    return combined(1.0, omega, -gains.sliding_rate, crossed(gamma_target, gamma))


@kernel
def control_torque(body, gains, gamma, gamma_target, omega):
    """The torque [N m].

    Args:
        body: a `PivotedBody`.
        gains: `Gains`: kappa is `sliding_rate` [1/s], epsilon `reaching` [rad/s2], alpha `reaching_rate` [1/s], and
            `layer` [rad/s].
        gamma, gamma_target: direction of gravity and its target.
        omega: angular velocity [rad/s].
    """
    s = surface(gains, gamma, gamma_target, omega)
    turned = crossed(gamma_target, crossed(gamma, omega))
    pull = (_saturated(s[0] / gains.layer), _saturated(s[1] / gains.layer), _saturated(s[2] / gains.layer))
    reach = combined(-gains.reaching, pull, -gains.reaching_rate, s)
    wanted = times(body.inertia, combined(gains.sliding_rate, turned, 1.0, reach))
    return combined(1.0, wanted, -1.0, combined(1.0, gyroscopic_torque(body, omega), 1.0, gravity_torque(body, gamma)))


@kernel
def lyapunov(gains, gamma, gamma_target, omega):
    """|s|² / 2 [rad2/s2]."""
    s = surface(gains, gamma, gamma_target, omega)
    return 0.5 * dot(s, s)


@kernel
def reaching_time(gains, s):
    """Time for a component of the surface to reach zero without layer: ln(1 + alpha |s| / epsilon) / alpha [s]."""
    return math.log1p(gains.reaching_rate * abs(s) / gains.reaching) / gains.reaching_rate


@kernel
def _saturated(x):
    return min(max(x, -1.0), 1.0)
