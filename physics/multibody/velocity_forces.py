"""Gravity and velocity products: Coriolis, centrifugal and gyroscopic forces in the middle of a step.

Velocity products do no work when they are taken at the mean of the rates before and after the step, C(q, (v + v')/2):
then their impulse keeps the kinetic energy of the pose q exactly. Taken at the start of the step they feed energy in,
without limit. The mean rates are therefore predicted from the last two steps (Adams and Bashforth's formula), which is
enough while no body turns far in a step. Where one does, an iteration finds the mean rates of the motion under all
forces but the rows' impulses, by Broyden's method for whitened velocities. Each block of the mass matrix has an
iteration of its own.
"""

from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import rotated_back
from grouser.physics.multibody.broyden import next_direction
from grouser.physics.multibody.elastic_link import is_link_in
from grouser.physics.multibody.factorisation import solve, solve_transposed
from grouser.physics.multibody.free_body import release_gyroscopic_force
from grouser.physics.multibody.jacobian import block_of
from grouser.physics.multibody.kinematics import body_twist, update_velocities_of
from grouser.physics.multibody.newton_euler import inverse_dynamics_of
from grouser.physics.multibody.spans import whole

if TYPE_CHECKING:
    from grouser.physics.model.multibody import MultibodyModel
    from grouser.physics.multibody.room import Workspace
    from grouser.physics.multibody.spans import Span

# A body that turns by less than this in a step needs no iteration [rad]: the energy of an oscillation of angle a per
# step grows by a^4/2 of itself, 3e-4 in a minute of steps of a millisecond.
_FAST = 0.01
# The iteration ends when a change of the velocity is below this share of it.
_CONVERGED = 1e-14
# After a change below this share, one that is this much larger is amplified rounding: with the origin tens of metres
# away, changes do not fall below `_CONVERGED`.
_ROUNDING, _AMPLIFIED = 1e-9, 10.0
# It has not converged when its last change exceeds this share.
_NOT_CONVERGED = 1e-6


@kernel
def bias_forces(model: "MultibodyModel", span: "Span", kinematics, still, wrench, motion, bias):
    """Generalised forces of gravity and velocity products, without the gyroscopic forces of lone free bodies.

    Args:
        model: the multibody system.
        span: the bodies.
        kinematics: with the rates of the velocity products.
        still: zeros, (coordinates,).
        wrench: buffer, (bodies, 6).
        motion: spatial accelerations of the bodies at zero coordinate acceleration, result, (bodies, 6).
        bias: result, (coordinates,).
    """
    inverse_dynamics_of(model, span, kinematics, still, wrench, motion, bias)
    release_gyroscopic_force(model, span, kinematics, motion, bias)


@inlined
def measure_turning(model: "MultibodyModel", span: "Span", kinematics, step: float, fast, turn, turning_body):
    """Finds how far bodies turn in a step; returns whether there are fast blocks.

    Args:
        model: the multibody system.
        span: the bodies.
        kinematics: with their twists.
        step: [s].
        fast: for the first coordinate of each block, whether a body that is not lone turns by more than `_FAST`,
            result, (coordinates,).
        turn: square of the largest rate of a body since it was cleared [rad2/s2], changed, (1,).
        turning_body: that body, (1,).
    """
    for d in range(span.rate, span.rate_end):
        fast[d] = False
    found = False
    most, twist = (_FAST / step) ** 2, kinematics.twist
    for i in range(span.body, span.body_end):
        square = twist[i, 3] ** 2 + twist[i, 4] ** 2 + twist[i, 5] ** 2
        if square > most:
            if not model.body_alone[i]:
                fast[block_of(model, i)[0]] = found = True
            if square > turn[0]:
                turn[0], turning_body[0] = square, i
    links, motion = model.elastic, kinematics.elastic
    for link in range(links.body.shape[0]):
        if links.turns[link] and is_link_in(links, link, span):
            frame = rotated_back(motion.rotation[link], *body_twist(twist, links.body[link])[3:])
            for p in range(links.station_start[link], links.station_start[link + 1]):
                w = motion.spin[p]
                square = (frame[0] + w[0]) ** 2 + (frame[1] + w[1]) ** 2 + (frame[2] + w[2]) ** 2
                if square > most:
                    fast[model.rate_first[links.rate[link]]] = found = True
    return found


@kernel
def _velocity_forces_at(model: "MultibodyModel", work: "Workspace", u, bias):
    """Bias force; where blocks iterate, at the mean of the rates at the start and those of the whitened velocity u."""
    rate, mean = work.discrete.change, work.velocity_ahead
    for d in range(mean.shape[0]):
        rate[d] = u[d]
    solve(model, work.factor, rate)
    for d in range(mean.shape[0]):
        if work.iterates[model.rate_first[d]]:
            mean[d] = 0.5 * (rate[d] + work.velocity_start[d])
    update_velocities_of(model, whole(model), mean, work.kinematics)
    bias_forces(model, whole(model), work.kinematics, work.still, work.wrench, work.motion, bias)


@kernel
def refine_bias_forces(model: "MultibodyModel", step: float, work: "Workspace"):
    """Takes the velocity products of the whitened velocity `work.u` in the fast blocks at the mean rates of the step.

    Args:
        model: the multibody system.
        step: [s].
        work: factorised, with the whitened velocity under `work.bias`; `u` is changed.

    Returns:
        -1, or the coordinate rate that still changed when the iteration did not converge.
    """
    u, discrete = work.u, work.discrete
    predicted, residual, direction = discrete.target, discrete.missing, discrete.direction
    for d in range(u.shape[0]):
        predicted[d] = u[d]
        work.iterates[d] = work.fast[d]
    unsettled = -1
    for rounds in range(direction.shape[0]):
        _velocity_forces_at(model, work, u, discrete.force)
        for d in range(u.shape[0]):
            residual[d] = step * (work.bias[d] - discrete.force[d])
        solve_transposed(model, work.factor, residual)
        for d in range(u.shape[0]):
            residual[d] += predicted[d] - u[d]
        searching, unsettled, first = False, -1, 0
        while first < u.shape[0]:
            last = model.rate_last[first]
            if work.iterates[first]:
                next_direction(direction, rounds, residual, first, last)
                change, size, worst = _change_block(direction, rounds, first, last, u)
                work.iterates[first] = change > _CONVERGED * size
                searching = searching or work.iterates[first]
                if change > _NOT_CONVERGED * size:
                    unsettled = worst
            first = last
        if not searching:
            break
    return unsettled


@inlined
def _change_block(direction, rounds, first, last, u):
    """Adds the change of a round to a block's velocity, unless it is amplified rounding.

    Returns:
        The largest change, 0 if none was added; the largest velocity; the coordinate that changes most.
    """
    change, before, size, worst = 0.0, 0.0, 0.0, first
    for d in range(first, last):
        if abs(direction[rounds, d]) > change:
            change, worst = abs(direction[rounds, d]), d
        before = max(before, abs(direction[rounds - 1, d]))
        size = max(size, abs(u[d]))
    if rounds > 0 and before <= _ROUNDING * size and change > _AMPLIFIED * before:
        return 0.0, size, worst
    size = 0.0
    for d in range(first, last):
        u[d] += direction[rounds, d]
        size = max(size, abs(u[d]))
    return change, size, worst
