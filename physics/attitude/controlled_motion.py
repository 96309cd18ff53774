"""The motion of a controlled body on a pivot, by the classical Runge-Kutta method."""

from grouser.physics.base.kernel import kernel
from grouser.studies.attitude import rodrigues
from grouser.studies.attitude.control import ENERGY, control_torque, lyapunov
from grouser.studies.attitude.pivoted_body import angular_acceleration, gravity_direction
from grouser.studies.attitude.vectors import combined


@kernel
def run(law, body, gains, sigma_target, step, parts, sigma, omega, torque, value):
    """Fills rows 1, 2, … of a motion that begins with rows 0.

    The parameters of the energy law are never switched; those of the others are, after each part of a step, the ones
    nearer to the target.

    Args:
        law: of `control.LAWS`.
        body: a `PivotedBody`.
        gains: `control.Gains`.
        sigma_target: modified Rodrigues parameters of the target.
        step: time from row to row [s].
        parts: of which each step is made.
        sigma, omega: attitude, angular velocity [rad/s], (n, 3) each.
        torque: of the control [N m], (n, 3); row 0 is filled too.
        value: the Lyapunov function of the law, (n,); row 0 is filled too.
    """
    s, w = _row(sigma, 0), _row(omega, 0)
    for k in range(sigma.shape[0]):
        if k > 0:
            for _ in range(parts):
                s, w = _advanced(law, body, gains, sigma_target, step / parts, s, w)
                if law != ENERGY:
                    s = rodrigues.nearest_set(s, sigma_target)
        u = control_torque(law, body, gains, s, sigma_target, w)
        for i in range(3):
            sigma[k, i], omega[k, i], torque[k, i] = s[i], w[i], u[i]
        value[k] = lyapunov(law, body, gains, s, sigma_target, w)


@kernel
def _row(array, k):
    return array[k, 0], array[k, 1], array[k, 2]


@kernel
def _advanced(law, body, gains, target, h, s, w):
    """Attitude and angular velocity a step of length h later."""
    s1, w1 = _slope(law, body, gains, target, s, w)
    s2, w2 = _slope(law, body, gains, target, combined(1.0, s, 0.5 * h, s1), combined(1.0, w, 0.5 * h, w1))
    s3, w3 = _slope(law, body, gains, target, combined(1.0, s, 0.5 * h, s2), combined(1.0, w, 0.5 * h, w2))
    s4, w4 = _slope(law, body, gains, target, combined(1.0, s, h, s3), combined(1.0, w, h, w3))
    return _moved(s, h, s1, s2, s3, s4), _moved(w, h, w1, w2, w3, w4)


@kernel
def _slope(law, body, gains, target, s, w):
    """Derivatives of attitude and angular velocity."""
    torque = control_torque(law, body, gains, s, target, w)
    return rodrigues.rate_of(s, w), angular_acceleration(body, gravity_direction(s), w, torque)


@kernel
def _moved(y, h, a, b, c, d):
    return combined(1.0, combined(1.0, y, h / 6.0, combined(1.0, a, 1.0, d)), h / 3.0, combined(1.0, b, 1.0, c))
