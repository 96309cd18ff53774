"""The implicit midpoint rule: second order, time-reversible, without damping of its own, for smooth mechanisms.

A step is an implicit Euler half step to its middle, v_m = v + h/2 M(q_m)^-1 F(q_m, v_m) with q_m = q + h/2 v_m on the
Lie group, iterated to convergence, and an extrapolation to its end: v' = 2 v_m - v, q' = q + h v_m. Springs and dampers
are part of the half step's matrix. Rigid loop joints close over the whole step. A projection removes their speed at
its end, without which their reactions would oscillate from step to step (compare RATTLE, Andersen 1983).

Nothing may start or stop acting: `smooth`.
"""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.compliance.coordinates import apply_coordinate_springs
from grouser.physics.compliance.loop_rows import (
    add_loop_rows,
    commit_loop_impulses,
    linearise_loops_at_middle,
    project_loop_velocity,
)
from grouser.physics.compliance.loops import measure_loops
from grouser.physics.compliance.springs import hysteresis_after
from grouser.physics.constraints.diagnostics import record_convergence, record_nonconvergence
from grouser.physics.constraints.work import account_dampers, account_drives, account_loops, account_springs
from grouser.physics.drives.springs import linearise_drives
from grouser.physics.integrators.step import is_finite
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.broyden import next_direction
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.factorisation import factorise, solve, solve_transposed
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import update_kinematics_of, update_positions_of
from grouser.physics.multibody.newton_euler import inverse_dynamics
from grouser.physics.multibody.spans import whole

if TYPE_CHECKING:
    from grouser.physics.integrators.context import State, StepContext, System, Workspace
    from grouser.physics.model.command import Command

# The iteration ends when no rate changes by more than this share of the largest; when the change is below the second
# share and no longer halves, because of rounding; and after this number of rounds.
_CONVERGED = 1e-13
_ROUNDING = 1e-8
_MOST_ROUNDS = 30
# With a factor that is kept, changes shrink by a factor of hundreds a round: the iteration ends when the next change
# would be below this share of the largest rate.
_FORESEEN = 1e-10
# A step has not converged when its last round changes a rate by more than this share of the largest, and a position by
# more than rounding in stiff springs, which is all that moves a machine at rest [m, rad].
_NOT_CONVERGED, _NEGLIGIBLE = 1e-6, 1e-12


@partial(kernel, nogil=True)
def run_midpoint_steps(count, context: "StepContext"):
    """Makes `count` steps, or stops after the first with a state that is not finite; number of finite steps."""
    system, state, command, workspace = context.system, context.state, context.command, context.workspace
    for done in range(count):
        make_midpoint_step(system, state, command, workspace)
        state.step_count[0] += 1
        if not is_finite(context):
            return done
    return count


@inlined
def make_midpoint_step(system: "System", state: "State", command: "Command", workspace: "Workspace"):
    """One step."""
    model, loops, step = system.multibody, system.loops, system.settings.step
    kinematics, loop_rows, middle = workspace.multibody.kinematics, workspace.loops.rows, workspace.multibody.velocity
    if loops.axis.shape[0] > 0:
        update_positions_of(model, whole(model), state.q, kinematics)
        measure_loops(model, loops, kinematics, loop_rows.motion)
    for p in range(workspace.loops.deflection_start.shape[0]):
        for k in range(6):
            workspace.loops.deflection_start[p, k] = loop_rows.motion.deflection[p, k]
    for d in range(middle.shape[0]):
        workspace.multibody.velocity_start[d] = state.v[d]
        middle[d] = state.v[d]
    if _keeps_factor(system):
        rounds, change, worst = _search_middle(system, state, command, workspace)
    else:
        rounds, change, shrinks, worst = 0, np.inf, True, 0
        while rounds < _MOST_ROUNDS and change > _CONVERGED and (shrinks or change > _ROUNDING):
            rounds += 1
            before = change
            change, worst = _iterate_middle(system, state, command, workspace)
            shrinks = change < 0.5 * before
    if change > _NOT_CONVERGED:
        largest = 0.0
        for d in range(middle.shape[0]):
            largest = max(largest, abs(middle[d]))
        if step * change * largest > _NEGLIGIBLE:
            record_nonconvergence(state, worst, workspace.constraints)
    loop_rows.impulse[:] = 0.0
    commit_loop_impulses(loops, middle, 2.0, loop_rows)
    for law in range(system.springs.rate_index.shape[0]):
        speed = middle[system.springs.rate_index[law]]
        state.springs.hysteresis[law] = hysteresis_after(
            system.springs, law, state.springs.hysteresis[law], speed, speed, step
        )
    account_dampers(model.rate_damping, step, middle, middle, state.springs.rate_work)
    account_springs(
        model,
        system.springs,
        state.q,
        middle,
        middle,
        step,
        0.5 * step,
        workspace.springs.law,
        state.springs.rate_work,
        state.springs.work,
    )
    account_drives(
        system.joints.laws,
        step,
        workspace.joints.effort,
        workspace.joints.drive_spring,
        middle,
        middle,
        state.joints.work,
    )
    account_loops(
        *(loops.row_loop, loops.rate_start, loops.rate),
        *(loop_rows.impulse, loop_rows.motion.jacobian, middle, state.loops.work),
    )
    for d in range(middle.shape[0]):
        if _keeps_factor(system):
            state.multibody.rate_change[d] = 2.0 * (middle[d] - state.v[d])
        state.v[d] = 2.0 * middle[d] - state.v[d]
    integrate_positions(model, state.q, middle, step)
    _project_velocity(system, state, workspace)
    record_convergence(rounds, change, workspace.constraints)
    for d in range(middle.shape[0]):
        middle[d] = state.v[d]


@inlined
def _iterate_middle(system: "System", state: "State", command: "Command", workspace: "Workspace"):
    """One round of the iteration for the rates in the middle; largest relative change, and its coordinate."""
    model, loops, half = system.multibody, system.loops, 0.5 * system.settings.step
    kinematics, middle, mass, force = (
        workspace.multibody.kinematics,
        workspace.multibody.velocity,
        workspace.multibody.factor,
        workspace.multibody.force,
    )
    _place_middle(model, state, half, workspace)
    mass_matrix(model, kinematics, workspace.multibody.composite, mass)
    inverse_dynamics(
        model, kinematics, workspace.multibody.still, workspace.multibody.wrench, workspace.multibody.motion, force
    )
    for d in range(force.shape[0]):
        force[d] = -force[d]
        workspace.multibody.bias[d] = force[d]
    apply_coordinate_springs(
        model, system.springs, state.q, state.v, state.springs.hysteresis, half, mass, force, workspace.springs.law
    )
    linearise_drives(
        system.joints.laws,
        system.joints.drives,
        state.q,
        state.v,
        half,
        command,
        state.joints.drive_memory,
        mass,
        force,
        workspace.joints.drive_spring,
        workspace.joints.drive_place,
        workspace.joints.effort,
        workspace.joints.drive_buffer,
    )
    measure_loops(model, loops, kinematics, workspace.loops.rows.motion)
    linearise_loops_at_middle(
        model, loops, kinematics, workspace.loops.deflection_start, mass, middle, half, workspace.loops.rows
    )
    add_loop_rows(model, loops, state.v, half, workspace.loops.rows, mass, force)
    for d in range(force.shape[0]):
        # the part that does not depend on the rates in the middle, for `_search_middle`
        workspace.multibody.bias[d] = force[d] - workspace.multibody.bias[d]
    singular = factorise(model, kinematics, mass)
    if singular >= 0:
        force[singular] = np.nan
    solve_transposed(model, mass, force)
    solve(model, mass, force)
    change, largest, worst = 0.0, 0.0, 0
    for d in range(middle.shape[0]):
        rate = state.v[d] + half * force[d]
        if abs(rate - middle[d]) > change:
            change, worst = abs(rate - middle[d]), d
        largest = max(largest, abs(rate))
        middle[d] = rate
    return change / largest if largest > 0.0 else change, worst


@inlined
def _place_middle(model: MultibodyModel, state: "State", half, workspace: "Workspace"):
    """Kinematics in the middle of the step, at its rates."""
    q_middle, middle = workspace.multibody.q_middle, workspace.multibody.velocity
    for d in range(q_middle.shape[0]):
        q_middle[d] = state.q[d]
    integrate_positions(model, q_middle, middle, half)
    update_kinematics_of(model, whole(model), q_middle, middle, workspace.multibody.kinematics)


@inlined
def _keeps_factor(system: "System"):
    """Whether the factor of the first round serves the whole step: with elastic links, and without loop joints."""
    return system.multibody.elastic.body.shape[0] > 0 and system.loops.row_loop.shape[0] == 0


@inlined
def _search_middle(system: "System", state: "State", command: "Command", workspace: "Workspace"):
    """Finds the rates in the middle by one round with a new factor, and Broyden's method with that factor.

    The equations of motion of a round are those at its positions and rates, for its acceleration a = (v_m - v) / (h/2):
    to find what is missing takes a time linear in the coordinates of a link, a new mass matrix their square. The first
    guess of the rates is that of constant acceleration.

    Returns:
        Number of rounds; the relative change that another one would make, at most; and its coordinate.
    """
    model, half, work = system.multibody, 0.5 * system.settings.step, workspace.multibody
    middle, factor, residual, acceleration = work.velocity, work.factor, work.discrete.missing, work.discrete.change
    direction = work.discrete.direction
    for d in range(middle.shape[0]):
        middle[d] += 0.5 * state.multibody.rate_change[d]
    change, worst = _iterate_middle(system, state, command, workspace)
    rounds, before, foreseen = 1, 0.0, np.inf
    while rounds < _MOST_ROUNDS and foreseen > _FORESEEN:
        _place_middle(model, state, half, workspace)
        for d in range(middle.shape[0]):
            acceleration[d] = (middle[d] - state.v[d]) / half
        inverse_dynamics(model, work.kinematics, acceleration, work.wrench, work.motion, residual)
        for d in range(middle.shape[0]):
            residual[d] = work.bias[d] - factor.along[d] * acceleration[d] - residual[d]
        solve_transposed(model, factor, residual)
        next_direction(direction, rounds - 1, residual, 0, middle.shape[0])
        for d in range(middle.shape[0]):
            residual[d] = direction[rounds - 1, d]
        solve(model, factor, residual)
        change, largest, worst = 0.0, 0.0, 0
        for d in range(middle.shape[0]):
            moved = half * residual[d]
            if abs(moved) > change:
                change, worst = abs(moved), d
            middle[d] += moved
            largest = max(largest, abs(middle[d]))
        if largest > 0.0:
            change /= largest
        rounds += 1
        if rounds > 2 and change > 0.5 * before and change <= _ROUNDING:
            foreseen = change
            break
        # the first change tells nothing of the next one
        foreseen = change * min(1.0, change / before) if rounds > 2 else change
        before = change
    return rounds, foreseen, worst


@inlined
def _project_velocity(system: "System", state: "State", workspace: "Workspace"):
    """Removes the speeds of the rigid loop joints at the end of the step."""
    model, kinematics, mass, force = (
        system.multibody,
        workspace.multibody.kinematics,
        workspace.multibody.factor,
        workspace.multibody.force,
    )
    if not system.loops.row_rigid.any():
        return
    update_positions_of(model, whole(model), state.q, kinematics)
    measure_loops(model, system.loops, kinematics, workspace.loops.rows.motion)
    mass_matrix(model, kinematics, workspace.multibody.composite, mass)
    force[:] = 0.0
    project_loop_velocity(model, system.loops, kinematics, mass, state.v, workspace.loops.rows, force)
    factorise(model, kinematics, mass)
    solve_transposed(model, mass, force)
    solve(model, mass, force)
    for d in range(force.shape[0]):
        state.v[d] += force[d]
    commit_loop_impulses(system.loops, state.v, 1.0, workspace.loops.rows)
