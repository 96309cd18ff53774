"""The classical fourth-order Runge-Kutta method, R taken for nine numbers: coupled, and the published uncoupled one.

Uncoupled, the rate is moved on with the attitude held at the step's start, and the attitude with the rate held there:
two methods of fourth order that together are of first.
"""

from grouser.physics.base.kernel import embedded
from grouser.studies.attitude.body import angular_acceleration


@embedded
def runge_kutta_step(body, state, step, tx, ty, tz):
    """Makes a step of a body; arguments as of `lie_group_step`."""
    _step(body, state, state.rotation, state.rate, step, tx, ty, tz)


@embedded
def uncoupled_runge_kutta_step(body, state, step, tx, ty, tz):
    """Makes a step of rate and attitude, each with the other constant; arguments as of `lie_group_step`."""
    _step(body, state, state.start_rotation, state.start_rate, step, tx, ty, tz)


@embedded
def _step(body, state, felt_rotation, felt_rate, step, tx, ty, tz):
    """A step of R' = R w^ with the rate felt, and of Euler's equation for w' with the attitude felt."""
    whole, start, total, slope = state.whole, state.start, state.total, state.slope
    r, w = state.rotation, state.rate
    for i in range(12):
        start[i] = whole[i]
        total[i] = whole[i]
    for stage in range(4):
        x, y, z = felt_rate[0], felt_rate[1], felt_rate[2]
        for i in range(3):
            slope[3 * i] = r[i, 1] * z - r[i, 2] * y
            slope[3 * i + 1] = r[i, 2] * x - r[i, 0] * z
            slope[3 * i + 2] = r[i, 0] * y - r[i, 1] * x
        slope[9], slope[10], slope[11] = angular_acceleration(body, felt_rotation, w[0], w[1], w[2], tx, ty, tz)
        share = step / 6.0 if stage == 0 or stage == 3 else step / 3.0
        ahead = step if stage == 2 else 0.5 * step
        for i in range(12):
            total[i] += share * slope[i]
            whole[i] = start[i] + ahead * slope[i]
    for i in range(12):
        whole[i] = total[i]
