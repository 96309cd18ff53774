"""The implicit midpoint rule: second order, time-reversible, without damping of its own, for smooth mechanisms.

A step is an implicit Euler half step to its middle, v_m = v + h/2 M(q_m)^-1 F(q_m, v_m) with q_m = q + h/2 v_m on the
Lie group, iterated until it stands, and the same again by extrapolation: v' = 2 v_m - v, q' = q + h v_m. Springs and
dampers are part of the half step's matrix. Rigid pairs close over the whole step, and their speed at its end is taken
away by a projection, without which their reactions would swing from step to step (compare RATTLE, Andersen 1983).

Nothing that starts and stops acting has a place here: `smooth`.
"""

from functools import partial

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
from grouser.physics.constraints.diagnostics import note_convergence, note_unsettled
from grouser.physics.constraints.work import account_dampers, account_drives, account_loops, account_springs
from grouser.physics.drives.springs import linearise_drives
from grouser.physics.integrators.step import is_finite
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.factorisation import factorise, solve, solve_transposed
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import update_kinematics, update_positions
from grouser.physics.multibody.newton_euler import inverse_dynamics

# The iteration ends when no rate changes by more than this share of the largest; when it changes by less than that
# share and gains nothing more, for rounding; and after so many rounds anyway.
_SETTLED = 1e-13
_ROUNDING = 1e-8
_MOST_ROUNDS = 30
# A step has not settled when its last round changes a rate by more than this share of the largest, and what it moves by
# more than rounding in stiff springs, which is all that a machine at rest does [m, rad].
_UNSETTLED, _NEGLIGIBLE = 1e-6, 1e-12


@partial(kernel, nogil=True)
def run_midpoint_steps(count, context):
    """Makes `count` steps, or stops after the first that leaves the finite numbers; how many ended well."""
    system, state, command, workspace = context.system, context.state, context.command, context.workspace
    for done in range(count):
        make_midpoint_step(system, state, command, workspace)
        state.step_count[0] += 1
        if not is_finite(state):
            return done
    return count


@inlined
def make_midpoint_step(system, state, command, workspace):
    """One step."""
    model, pairs, step = system.multibody, system.loops, system.settings.step
    kinematics, pair_rows, middle = workspace.multibody.kinematics, workspace.loops.rows, workspace.multibody.velocity
    update_positions(model, state.q, kinematics)
    measure_loops(model, pairs, kinematics, pair_rows.motion)
    for p in range(workspace.loops.deflection_start.shape[0]):
        for k in range(6):
            workspace.loops.deflection_start[p, k] = pair_rows.motion.deflection[p, k]
    for d in range(middle.shape[0]):
        workspace.multibody.velocity_start[d] = state.v[d]
        middle[d] = state.v[d]
    rounds, change, gains, worst = 0, np.inf, True, 0
    while rounds < _MOST_ROUNDS and change > _SETTLED and (gains or change > _ROUNDING):
        rounds += 1
        before = change
        change, worst = _improve_middle(system, state, command, workspace)
        gains = change < 0.5 * before
    if change > _UNSETTLED:
        largest = 0.0
        for d in range(middle.shape[0]):
            largest = max(largest, abs(middle[d]))
        if step * change * largest > _NEGLIGIBLE:
            note_unsettled(state, worst, workspace.constraints)
    pair_rows.impulse[:] = 0.0
    commit_loop_impulses(middle, 2.0, pair_rows)
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
    account_loops(pairs.row_loop, pair_rows.impulse, pair_rows.motion.jacobian, middle, state.loops.work)
    for d in range(middle.shape[0]):
        state.v[d] = 2.0 * middle[d] - state.v[d]
    integrate_positions(model, state.q, middle, step)
    _still_rigid_pairs(system, state, workspace)
    note_convergence(rounds, change, workspace.constraints)
    for d in range(middle.shape[0]):
        middle[d] = state.v[d]


@inlined
def _improve_middle(system, state, command, workspace):
    """Finds the rates in the middle again from the place that they lead to; largest relative change, and whose."""
    model, pairs, half = system.multibody, system.loops, 0.5 * system.settings.step
    kinematics, middle, mass, force = (
        workspace.multibody.kinematics,
        workspace.multibody.velocity,
        workspace.multibody.factor,
        workspace.multibody.force,
    )
    for d in range(workspace.multibody.q_middle.shape[0]):
        workspace.multibody.q_middle[d] = state.q[d]
    integrate_positions(model, workspace.multibody.q_middle, middle, half)
    update_kinematics(model, workspace.multibody.q_middle, middle, kinematics)
    mass_matrix(model, kinematics, workspace.multibody.composite, mass)
    inverse_dynamics(
        model, kinematics, workspace.multibody.still, workspace.multibody.wrench, workspace.multibody.motion, force
    )
    for d in range(force.shape[0]):
        force[d] = -force[d]
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
    measure_loops(model, pairs, kinematics, workspace.loops.rows.motion)
    linearise_loops_at_middle(
        model, pairs, kinematics, workspace.loops.deflection_start, mass, middle, half, workspace.loops.rows
    )
    add_loop_rows(pairs, state.v, half, workspace.loops.rows, mass, force)
    stuck = factorise(model.pattern_start, model.pattern, mass)
    if stuck >= 0:
        force[stuck] = np.nan
    solve_transposed(model.pattern_start, model.pattern, mass, force)
    solve(model.pattern_start, model.pattern, mass, force)
    change, largest, worst = 0.0, 0.0, 0
    for d in range(middle.shape[0]):
        better = state.v[d] + half * force[d]
        if abs(better - middle[d]) > change:
            change, worst = abs(better - middle[d]), d
        largest = max(largest, abs(better))
        middle[d] = better
    return change / largest if largest > 0.0 else change, worst


@inlined
def _still_rigid_pairs(system, state, workspace):
    """Takes the rigid pairs' speeds at the end of the step away."""
    model, kinematics, mass, force = (
        system.multibody,
        workspace.multibody.kinematics,
        workspace.multibody.factor,
        workspace.multibody.force,
    )
    if not system.loops.row_rigid.any():
        return
    update_positions(model, state.q, kinematics)
    measure_loops(model, system.loops, kinematics, workspace.loops.rows.motion)
    mass_matrix(model, kinematics, workspace.multibody.composite, mass)
    force[:] = 0.0
    project_loop_velocity(model, system.loops, kinematics, mass, state.v, workspace.loops.rows, force)
    factorise(model.pattern_start, model.pattern, mass)
    solve_transposed(model.pattern_start, model.pattern, mass, force)
    solve(model.pattern_start, model.pattern, mass, force)
    for d in range(force.shape[0]):
        state.v[d] += force[d]
    commit_loop_impulses(state.v, 1.0, workspace.loops.rows)
