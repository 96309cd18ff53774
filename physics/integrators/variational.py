"""A variational integrator: second order, symplectic, time-reversible, momenta kept to rounding; for smooth trees.

The motion makes the sum of a discrete Lagrangian stationary,

    L_d(q0, q1) = sum over the bodies of (1/2h) sum m |x1 - x0|^2  -  h/2 (U(q0) + U(q1)),

where the points of each body move in straight lines, while the joints hold exactly at both ends: RATTLE (Andersen,
1983) on material points. For one body it is the integrator of Moser and Veselov (1991), with gravity that of Lee, Leok
and McClamroch (2005). Efforts, dampers and springs along coordinates are forces of d'Alembert, half of their impulse at
each end; springs and dampers act at the mean coordinate of the step, so that stiff ones are stable.

A step searches for the mean rates w for which the motion to q1 = q0 (+) h w starts with the momenta of the state. The
residual is found in linear time (`multibody.discrete_momentum`; compare Lee, Liu, Park and Srinivasa, 2016). The mass
matrix of the start approximates its derivative, and Broyden's updates improve the approximation. The final residual,
below the resolution of positions, is added to the momenta, so that they accumulate no error.

Loop joints, motors with rotors, and all that starts and stops acting are refused: `smooth`.
"""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.compliance.coordinates import apply_coordinate_springs
from grouser.physics.constraints.diagnostics import record_convergence, record_nonconvergence
from grouser.physics.constraints.work import account_dampers, account_drives, account_springs
from grouser.physics.drives.springs import linearise_drives
from grouser.physics.integrators.step import is_finite
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.broyden import next_direction
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.discrete_momentum import (
    add_momenta,
    find_momenta,
    momenta_at_end,
    momenta_at_start,
)
from grouser.physics.multibody.factorisation import factorise, solve, solve_transposed
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import place_links_of, update_kinematics, update_positions_of
from grouser.physics.multibody.newton_euler import gather_forces
from grouser.physics.multibody.spans import every_body, whole

if TYPE_CHECKING:
    from grouser.physics.integrators.context import State, StepContext, System, Workspace
    from grouser.physics.model.command import Command

# The search ends when the next change would move nothing by more than positions resolve [m, rad]; or when changes no
# longer shrink, because of rounding, and are below this share of the largest rate or move next to nothing [m, rad].
_RESOLUTION = 1e-15
_ROUNDING, _NEGLIGIBLE = 1e-8, 1e-12
# A step has not converged when its last round would change a rate by more than this share of the largest.
_NOT_CONVERGED = 1e-6
# With a larger share than this the step has no solution: the motion that goes on from it gains energy without limit.
_UNSOLVED = 1e-3


@partial(kernel, nogil=True)
def run_variational_steps(count, context: "StepContext"):
    """Makes `count` steps, or stops before the first that cannot be solved, or after one that is not finite.

    Returns:
        Number of finite steps.
    """
    system, state, command, workspace = context.system, context.state, context.command, context.workspace
    for done in range(count):
        if not make_variational_step(system, state, command, workspace):
            return done
        state.step_count[0] += 1
        if not is_finite(context):
            return done
    return count


@inlined
def make_variational_step(system: "System", state: "State", command: "Command", workspace: "Workspace"):
    """One step; returns whether it could be solved. If not, the state is that before it."""
    model, step, motion, rate = (
        system.multibody,
        system.settings.step,
        workspace.multibody.discrete,
        workspace.multibody.velocity_mean,
    )
    _prepare_start(system, state, command, workspace)
    rounds, change, largest, worst, searching = 0, np.inf, 0.0, 0, True
    while searching:
        before = change
        _find_residual(system, state, workspace)
        change, largest, worst = _next_change(model, workspace, rounds)
        rounds += 1
        small = step * change <= _RESOLUTION
        stalled = change > 0.5 * before and (change <= _ROUNDING * largest or step * change <= _NEGLIGIBLE)
        searching = not (small or stalled) and rounds < motion.direction.shape[0]
        if searching:
            for d in range(rate.shape[0]):
                rate[d] += motion.change[d]
    if change > _NOT_CONVERGED * largest and step * change > _NEGLIGIBLE:
        record_nonconvergence(state, worst, workspace.constraints)
        if change > _UNSOLVED * largest:
            return False
    _find_end_rates(system, state, workspace)
    account_dampers(model.rate_damping, step, rate, rate, state.springs.rate_work)
    account_springs(
        model,
        system.springs,
        state.q,
        rate,
        rate,
        step,
        0.5 * step,
        workspace.springs.law,
        state.springs.rate_work,
        state.springs.work,
    )
    account_drives(
        system.joints.laws, step, workspace.joints.effort, workspace.joints.drive_spring, rate, rate, state.joints.work
    )
    for k in range(state.q.shape[0]):
        state.q[k] = motion.q[k]
    for d in range(rate.shape[0]):
        state.v[d] = workspace.multibody.velocity[d]
    record_convergence(rounds, change / largest if largest > 0.0 else change, workspace.constraints)
    return True


@inlined
def _prepare_start(system: "System", state: "State", command: "Command", workspace: "Workspace"):
    """Kinematics, factor, efforts and momenta at the start, and the first guess of the mean rates."""
    model, half, motion = system.multibody, 0.5 * system.settings.step, workspace.multibody.discrete
    kinematics, factor, force = workspace.multibody.kinematics, workspace.multibody.factor, motion.force
    update_kinematics(model, state.q, state.v, kinematics)
    momenta_at_start(model, kinematics, system.settings.step, motion.wrench, motion.target)
    mass_matrix(model, kinematics, workspace.multibody.composite, factor)
    force[:] = 0.0
    linearise_drives(
        system.joints.laws,
        system.joints.drives,
        state.q,
        state.v,
        half,
        command,
        state.joints.drive_memory,
        factor,
        force,
        workspace.joints.drive_spring,
        workspace.joints.drive_place,
        workspace.joints.effort,
        workspace.joints.drive_buffer,
    )
    # only the matrix terms are used here: `_apply_coordinate_forces` finds the forces
    apply_coordinate_springs(
        model, system.springs, state.q, state.v, state.springs.hysteresis, half, factor, force, workspace.springs.law
    )
    singular = factorise(model, kinematics, factor)
    for d in range(force.shape[0]):
        workspace.multibody.velocity_start[d] = workspace.multibody.velocity_mean[d] = state.v[d]
    if singular >= 0:
        motion.target[singular] = np.nan


@inlined
def _find_residual(system: "System", state: "State", workspace: "Workspace"):
    """Residual of the mean rates: the momenta of the state, less those that the motion with these rates starts with."""
    model, step, motion, rate = (
        system.multibody,
        system.settings.step,
        workspace.multibody.discrete,
        workspace.multibody.velocity_mean,
    )
    for k in range(state.q.shape[0]):
        motion.q[k] = state.q[k]
    integrate_positions(model, motion.q, rate, step)
    update_positions_of(model, every_body(model), motion.q, motion.ahead)
    find_momenta(model, workspace.multibody.kinematics, motion.ahead, step, motion.momentum)
    for i in range(motion.wrench.shape[0]):
        for k in range(6):
            motion.wrench[i, k] = motion.momentum[i, k]
    gather_forces(model, workspace.multibody.kinematics.column, motion.wrench, motion.missing)
    _apply_coordinate_forces(system, state, workspace)
    for d in range(rate.shape[0]):
        motion.missing[d] = motion.target[d] + 0.5 * step * motion.force[d] - motion.missing[d]
    solve_transposed(model, workspace.multibody.factor, motion.missing)


@inlined
def _apply_coordinate_forces(system: "System", state: "State", workspace: "Workspace"):
    """Efforts, dampers and springs along the coordinates, at the mean coordinate and rate of the step."""
    model, springs, motion, rate = (
        system.multibody,
        system.springs,
        workspace.multibody.discrete,
        workspace.multibody.velocity_mean,
    )
    half, force = 0.5 * system.settings.step, motion.force
    for d in range(rate.shape[0]):
        force[d] = workspace.joints.effort[d] - model.rate_damping[d] * rate[d]
    for k in range(model.spring_rate.shape[0]):
        d = model.spring_rate[k]
        force[d] -= model.spring_stiffness[k] * (state.q[model.spring_position[k]] + half * rate[d])
    for law in range(springs.rate_index.shape[0]):
        d = springs.rate_index[law]
        deflection = state.q[springs.position_index[law]] + half * rate[d] - springs.rest_position[law]
        stiffness = springs.stiffness[law] + springs.cubic_stiffness[law] * deflection * deflection
        effort = -stiffness * deflection - springs.damping[law] * rate[d]
        force[d] += effort
        # for the account: half a step's impulse, as of a spring of conductance one
        workspace.springs.law[law, 0], workspace.springs.law[law, 1] = 1.0, rate[d] + half * effort


@inlined
def _next_change(model: MultibodyModel, workspace: "Workspace", rounds):
    """Broyden's next change of the rates (Kelley, 2003, section 3.2); largest change, largest rate, changed coordinate.

    For whitened velocities the mass matrix is the identity, which is the first guess of the derivative.
    """
    motion, rate, change = (
        workspace.multibody.discrete,
        workspace.multibody.velocity_mean,
        workspace.multibody.discrete.change,
    )
    next_direction(motion.direction, rounds, motion.missing, 0, motion.missing.shape[0])
    for d in range(rate.shape[0]):
        change[d] = motion.direction[rounds, d]
    solve(model, workspace.multibody.factor, change)
    most, largest, worst = 0.0, 0.0, 0
    for d in range(rate.shape[0]):
        if abs(change[d]) > most:
            most, worst = abs(change[d]), d
        largest = max(largest, abs(rate[d]))
    return most, largest, worst


@inlined
def _find_end_rates(system: "System", state: "State", workspace: "Workspace"):
    """Rates at the end from the momenta there, to which the final residual is added."""
    model, step, motion, rate = (
        system.multibody,
        system.settings.step,
        workspace.multibody.discrete,
        workspace.multibody.velocity_mean,
    )
    factor, velocity = workspace.multibody.factor, workspace.multibody.velocity
    solve(model, factor, motion.missing)
    add_momenta(model, workspace.multibody.kinematics, motion.missing, motion.twist, motion.momentum)
    for d in range(rate.shape[0]):
        rate[d] += motion.missing[d]
    _apply_coordinate_forces(system, state, workspace)
    momenta_at_end(model, workspace.multibody.kinematics, motion.ahead, step, motion.momentum, motion.wrench, velocity)
    for d in range(rate.shape[0]):
        velocity[d] += 0.5 * step * motion.force[d]
    place_links_of(model, whole(model), motion.q, motion.ahead)
    mass_matrix(model, motion.ahead, workspace.multibody.composite, factor)
    singular = factorise(model, motion.ahead, factor)
    if singular >= 0:
        velocity[singular] = np.nan
    solve_transposed(model, factor, velocity)
    solve(model, factor, velocity)
