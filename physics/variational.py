"""A variational integrator: second order, symplectic, time-reversible, momenta kept to rounding; for smooth trees.

The motion makes the sum of a discrete Lagrangian stationary,

    L_d(q0, q1) = sum over the bodies of (1/2h) sum m |x1 - x0|^2  -  h/2 (U(q0) + U(q1)),

in which every point of a body goes straight on, while the joints hold at both ends exactly: RATTLE (Andersen, 1983) on
the points of matter. For one body it is the integrator of Moser and Veselov (1991), with gravity that of Lee, Leok and
McClamroch (2005). Efforts, dampers and springs along coordinates join as forces of d'Alembert, half of their impulse at
either end; springs and dampers as they are in the middle of the coordinates' way, so that stiff ones are stable.

A step looks for the mean rates w whose way, q1 = q0 (+) h w, begins with the momenta that the state has. What is
missing takes linear time to find (`multibody.discrete_momentum`; compare Lee, Liu, Park and Srinivasa, 2016). The mass
matrix of the start stands for its derivative, and Broyden's updates improve on it as the rounds go. What is missing in
the end, less than positions resolve, goes into the momenta, so that they gather no error.

Pairs that close loops, and all that starts and stops acting, have no place here, nor have motors with their rotors:
`smooth`.
"""

from functools import partial

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.compliance.coordinates import engage_coordinates
from grouser.physics.constraints.rows import dot
from grouser.physics.constraints.work import account_dampers, account_drives, account_springs
from grouser.physics.drives.springs import aim_drives
from grouser.physics.integrators.step import is_finite, note_unsettled
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.discrete_momentum import (
    add_momenta,
    find_momenta,
    momenta_at_end,
    momenta_at_start,
)
from grouser.physics.multibody.factorisation import factorise, solve, solve_transposed
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import update_kinematics, update_positions
from grouser.physics.multibody.newton_euler import gather_forces

# The rounds end when the next change would move nothing by more than positions resolve [m, rad]; or when changes do not
# shrink any more, for rounding, where they are below this share of the largest rate or move next to nothing [m, rad].
_RESOLUTION = 1e-15
_ROUNDING, _NEGLIGIBLE = 1e-8, 1e-12
# A change that took away no more than this share of what was missing says little of the next one, at rounding nothing.
_FURTHEST = 0.5
# A step has not settled when its last round would change a rate by more than this share of the largest.
_UNSETTLED = 1e-6


@partial(kernel, nogil=True)
def run_variational_steps(count, machinery):
    """Makes `count` steps, or stops after the first that leaves the finite numbers; how many ended well."""
    system, state, command, workspace = machinery.system, machinery.state, machinery.command, machinery.workspace
    for done in range(count):
        make_variational_step(system, state, command, workspace)
        state.step_count[0] += 1
        if not is_finite(state):
            return done
    return count


@inlined
def make_variational_step(system, state, command, workspace):
    """One step."""
    model, step, motion, rate = system.model, system.settings.step, workspace.discrete, workspace.velocity_mean
    _set_out(system, state, command, workspace)
    rounds, change, largest, worst, searching = 0, np.inf, 0.0, 0, True
    while searching:
        before = change
        _find_missing(system, state, workspace)
        change, largest, worst = _next_change(model, workspace, rounds)
        rounds += 1
        small = step * change <= _RESOLUTION
        stuck = change > 0.5 * before and (change <= _ROUNDING * largest or step * change <= _NEGLIGIBLE)
        searching = not (small or stuck) and rounds < motion.direction.shape[0]
        if searching:
            for d in range(rate.shape[0]):
                rate[d] += motion.change[d]
    if change > _UNSETTLED * largest and step * change > _NEGLIGIBLE:
        note_unsettled(state, worst, workspace)
    _arrive(system, state, workspace)
    account_dampers(model.rate_damping, step, rate, rate, state.rate_work)
    account_springs(
        model,
        system.axial,
        state.q,
        rate,
        rate,
        step,
        0.5 * step,
        workspace.axial_spring,
        state.rate_work,
        state.axial_work,
    )
    account_drives(system.laws, step, workspace.effort, workspace.drive_spring, rate, rate, state.law_work)
    for k in range(state.q.shape[0]):
        state.q[k] = motion.q[k]
    for d in range(rate.shape[0]):
        state.v[d] = workspace.velocity[d]
    workspace.sweeps[0] = rounds
    workspace.sweeps[1] = max(workspace.sweeps[1], rounds)
    workspace.residual[0] = change / largest if largest > 0.0 else change
    workspace.residual[1] = max(workspace.residual[1], workspace.residual[0])


@inlined
def _set_out(system, state, command, workspace):
    """Kinematics, factor and efforts at the start, the momenta to begin with, and the first guess of the rates."""
    model, half, motion = system.model, 0.5 * system.settings.step, workspace.discrete
    kinematics, factor, force = workspace.kinematics, workspace.factor, motion.force
    update_kinematics(model, state.q, state.v, kinematics)
    momenta_at_start(model, kinematics, system.settings.step, motion.wrench, motion.target)
    mass_matrix(model, kinematics, workspace.composite, factor)
    force[:] = 0.0
    aim_drives(
        system.laws,
        system.drives,
        state.q,
        state.v,
        half,
        command,
        state.drive_memory,
        factor,
        force,
        workspace.drive_spring,
        workspace.drive_place,
        workspace.effort,
        workspace.drive_buffer,
    )
    # of this only the terms of the matrix are wanted: the forces are taken where the step leads
    engage_coordinates(
        model, system.axial, state.q, state.v, state.hysteresis, half, factor, force, workspace.axial_spring
    )
    stuck = factorise(model.pattern_start, model.pattern, factor)
    for d in range(force.shape[0]):
        workspace.velocity_start[d] = workspace.velocity_mean[d] = state.v[d]
    if stuck >= 0:
        motion.target[stuck] = np.nan


@inlined
def _find_missing(system, state, workspace):
    """Follows the way of the mean rates; the momenta that it should begin with, less those that it does."""
    model, step, motion, rate = system.model, system.settings.step, workspace.discrete, workspace.velocity_mean
    for k in range(state.q.shape[0]):
        motion.q[k] = state.q[k]
    integrate_positions(model, motion.q, rate, step)
    update_positions(model, motion.q, motion.ahead)
    find_momenta(model, workspace.kinematics, motion.ahead, step, motion.momentum)
    for i in range(motion.wrench.shape[0]):
        for k in range(6):
            motion.wrench[i, k] = motion.momentum[i, k]
    gather_forces(model, workspace.kinematics.column, motion.wrench, motion.missing)
    _push_along(system, state, workspace)
    for d in range(rate.shape[0]):
        motion.missing[d] = motion.target[d] + 0.5 * step * motion.force[d] - motion.missing[d]
    solve_transposed(model.pattern_start, model.pattern, workspace.factor, motion.missing)


@inlined
def _push_along(system, state, workspace):
    """Efforts, dampers and springs along the coordinates, in the middle of the way."""
    model, axial, motion, rate = system.model, system.axial, workspace.discrete, workspace.velocity_mean
    half, force = 0.5 * system.settings.step, motion.force
    for d in range(rate.shape[0]):
        force[d] = workspace.effort[d] - model.rate_damping[d] * rate[d]
    for k in range(model.spring_rate.shape[0]):
        d = model.spring_rate[k]
        force[d] -= model.spring_stiffness[k] * (state.q[model.spring_position[k]] + half * rate[d])
    for law in range(axial.rate_index.shape[0]):
        d = axial.rate_index[law]
        bent = state.q[axial.position_index[law]] + half * rate[d] - axial.rest_position[law]
        stiffness = axial.stiffness[law] + axial.cubic_stiffness[law] * bent * bent
        push = -stiffness * bent - axial.damping[law] * rate[d]
        force[d] += push
        # for the account: half a step's impulse, as of a spring of conductance one
        workspace.axial_spring[law, 0], workspace.axial_spring[law, 1] = 1.0, rate[d] + half * push


@inlined
def _next_change(model, workspace, rounds):
    """Broyden's next change of the rates (Kelley, 2003, section 3.2); largest change, largest rate, and whose change.

    In half-solved velocities the mass matrix is one, and so the first guess of the derivative.
    """
    motion, rate = workspace.discrete, workspace.velocity_mean
    direction, change = motion.direction, motion.change
    here = direction[rounds]
    for d in range(rate.shape[0]):
        here[d] = motion.missing[d]
    for k in range(rounds):
        gone = direction[k]
        share = dot(gone, here) / dot(gone, gone)
        if k < rounds - 1:
            gone = direction[k + 1]
            for d in range(rate.shape[0]):
                here[d] += share * gone[d]
        else:
            for d in range(rate.shape[0]):
                here[d] /= 1.0 - min(share, _FURTHEST)
    for d in range(rate.shape[0]):
        change[d] = here[d]
    solve(model.pattern_start, model.pattern, workspace.factor, change)
    most, largest, worst = 0.0, 0.0, 0
    for d in range(rate.shape[0]):
        if abs(change[d]) > most:
            most, worst = abs(change[d]), d
        largest = max(largest, abs(rate[d]))
    return most, largest, worst


@inlined
def _arrive(system, state, workspace):
    """Rates at the end from the momenta there, to which goes what is still missing."""
    model, step, motion, rate = system.model, system.settings.step, workspace.discrete, workspace.velocity_mean
    factor, velocity = workspace.factor, workspace.velocity
    solve(model.pattern_start, model.pattern, factor, motion.missing)
    add_momenta(model, workspace.kinematics, motion.missing, motion.twist, motion.momentum)
    for d in range(rate.shape[0]):
        rate[d] += motion.missing[d]
    _push_along(system, state, workspace)
    momenta_at_end(model, workspace.kinematics, motion.ahead, step, motion.momentum, motion.wrench, velocity)
    for d in range(rate.shape[0]):
        velocity[d] += 0.5 * step * motion.force[d]
    mass_matrix(model, motion.ahead, workspace.composite, factor)
    stuck = factorise(model.pattern_start, model.pattern, factor)
    if stuck >= 0:
        velocity[stuck] = np.nan
    solve_transposed(model.pattern_start, model.pattern, factor, velocity)
    solve(model.pattern_start, model.pattern, factor, velocity)
