"""The rows of a step and the impulses that satisfy all of them."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.entry import Context, run_phase
from grouser.physics.base.kernel import kernel
from grouser.physics.base.labels import RATE, ROW
from grouser.physics.base.phases import ADJUST
from grouser.physics.constraints.diagnostics import record_convergence, record_nonconvergence
from grouser.physics.constraints.impulses import solve_positions, solve_rows, warm_start
from grouser.physics.constraints.islands import Islands, begin_round, find_islands, is_revised, make_islands
from grouser.physics.constraints.newton import Newton, make_newton
from grouser.physics.constraints.position_limits import limit_corrections
from grouser.physics.constraints.rows import Rows, make_rows, spring_impulse
from grouser.physics.multibody.factorisation import multiply_of, solve_of
from grouser.physics.multibody.spans import span_at

# Sweeps of the position pass; the next step corrects the remaining error.
_POSITION_SWEEPS = 20


class State(NamedTuple):
    """State of the solver for a restart.

    Attributes:
        row_impulse: impulse of every possible row in the last step, by slot: joint laws, without those of drives and
            bristles, then cylinders and motors, then shovels [N s or N m s].
        by_newton: of each coordinate rate: whether Newton's method solved its island exactly in the last step.
    """

    row_impulse: np.ndarray
    by_newton: np.ndarray


LABELS: Any = State(row_impulse=ROW, by_newton=RATE)


class Workspace(NamedTuple):
    """Buffers of the solver.

    Attributes:
        rows: of actuators, joints and shovels; those of contacts belong to `contact`.
        islands: of the step.
        newton: buffers of Newton's method.
        first_impulse: impulses of the actuators' rows at the start of the attempt.
        row_shift, contact_shift: impulses of the position pass.
        whitened: buffer, (coordinates,).
        sweeps: of the island of the last step that took most, most since cleared, (2,).
        residual: of the last step, largest since cleared [m/s or rad/s], (2,).
        unsettled: number of the first step that did not converge, 0 for none, -1 once it has been reported; the
            coordinate rate that changed most in its last round; the number of such steps, and of those whose sweeps
            ended at their limit, (3,).
    """

    rows: Rows
    islands: Islands
    newton: Newton
    first_impulse: np.ndarray
    row_shift: np.ndarray
    contact_shift: np.ndarray
    whitened: np.ndarray
    sweeps: np.ndarray
    residual: np.ndarray
    unsettled: np.ndarray


def make_state(rows: int, coordinates: int) -> State:
    """A state without impulses, for numbers of possible rows and of coordinate rates."""
    return State(np.zeros(rows), np.zeros(coordinates, dtype=np.bool_))


def make_workspace(rows: int, slots: int, coordinates: int) -> Workspace:
    """Buffers for numbers of possible rows, of contact slots and of coordinates."""
    return Workspace(
        rows=make_rows(rows, coordinates),
        islands=make_islands(rows, slots, coordinates),
        newton=make_newton(rows, slots, coordinates),
        first_impulse=np.zeros(rows),
        row_shift=np.zeros(rows),
        contact_shift=np.zeros(slots),
        whitened=np.zeros(coordinates),
        sweeps=np.zeros(2, dtype=np.int64),
        residual=np.zeros(2),
        unsettled=np.zeros(3, dtype=np.int64),
    )


@kernel
def detect(context: Context):
    """Clears the rows and the number of sweeps, and recalls how the islands were solved."""
    work = context.workspace.constraints
    work.rows.count[0] = 0
    work.sweeps[0] = 0
    for d in range(work.newton.used.shape[0]):
        work.newton.used_before[d] = context.state.constraints.by_newton[d]
    work.islands.revised[:] = True


@kernel
def assemble(context: Context):
    """Keeps the actuators' rows, which come first; all others are opened again.

    Islands that are not revised start from the same impulses as in the last attempt.
    """
    work = context.workspace.constraints
    rows = work.rows
    rows.count[0] = rows.joint_end[0] = context.system.hydraulics.geometry.valve.shape[0]
    for r in range(rows.count[0]):
        if is_revised(work.islands, rows.first[r]):
            work.first_impulse[r] = rows.impulse[r]
        else:
            rows.impulse[r] = work.first_impulse[r]
    work.islands.revised[:] = False
    work.newton.used[:] = False


@kernel
def open_rows(context: Context):
    """Finds the islands, and adds the impulses of the last step to the velocity."""
    work, model, contact_rows = context.workspace.constraints, context.system.multibody, context.workspace.contact.rows
    find_islands(model.rate_first, model.rate_last, work.rows, contact_rows, work.islands)
    warm_start(work.rows, contact_rows, context.workspace.multibody.u)


@kernel
def solve_impulses(context: Context):
    """Solves the impulses of all rows, and the coordinate rates with them.

    Islands whose rows `adjust` changes are solved again, the others are not.
    """
    model, settings = context.system.multibody, context.system.settings
    work, motion = context.workspace.constraints, context.workspace.multibody
    islands = work.islands
    islands.changed[: islands.count[0]] = True
    begin_round(islands)
    searching = True
    while searching:
        most_sweeps = 1
        for island in range(islands.count[0]):
            if islands.due[island]:
                sweeps, islands.residual[island] = solve_rows(
                    *(model.rate_first, model.rate_last, work.rows, context.workspace.contact.rows),
                    *(islands, island, work.newton, motion.u, settings.tolerance, settings.most_sweeps),
                )
                most_sweeps = max(most_sweeps, sweeps)
        work.sweeps[0] += most_sweeps
        for k in range(motion.awake.number[0]):
            span = span_at(motion.awake, k)
            for d in range(span.rate, span.rate_end):
                motion.velocity[d] = motion.u[d]
            solve_of(model, span, motion.factor, motion.velocity)
        run_phase(context, ADJUST)
        searching = begin_round(islands)
    work.residual[0] = 0.0
    for island in range(islands.count[0]):
        work.residual[0] = max(work.residual[0], islands.residual[island])


@kernel
def commit(context: Context):
    """Stores the impulses for the next step's warm start, how they were found, and the solver's figures."""
    work, motion = context.workspace.constraints, context.workspace.multibody
    rows, laws = work.rows, context.system.joints.laws
    stored = context.state.constraints.row_impulse
    record_convergence(work.sweeps[0], work.residual[0], work)
    if motion.unsettled[0] >= 0:
        record_nonconvergence(context.state, motion.unsettled[0], work)
    elif work.residual[0] > context.system.settings.tolerance:
        # sweeps ended at their limit
        work.unsettled[2] += 1
    for d in range(work.newton.used.shape[0]):
        context.state.constraints.by_newton[d] = work.newton.used[d]
    stored[:] = 0.0
    for r in range(rows.count[0]):
        slot = rows.slot[r]
        stored[slot] = rows.impulse[r]
        if slot < laws.rate_index.shape[0]:
            stored[slot] -= spring_impulse(rows, r, motion.velocity[laws.rate_index[slot]])


@kernel
def correct(context: Context):
    """Displacement: adds the velocity, and removes the position errors of all rows."""
    model, settings = context.system.multibody, context.system.settings
    work, motion = context.workspace.constraints, context.workspace.multibody
    for k in range(motion.awake.number[0]):
        span = span_at(motion.awake, k)
        if motion.has_precession[0]:
            multiply_of(model, span, motion.factor, motion.precession, work.whitened)
            for d in range(span.rate, span.rate_end):
                motion.displacement[d] += work.whitened[d]
        for d in range(span.rate, span.rate_end):
            motion.displacement[d] += motion.u[d]
    for island in range(work.islands.count[0]):
        solve_positions(
            *(work.rows, context.workspace.contact.rows, work.islands, island, motion.displacement),
            *(settings.tolerance, _POSITION_SWEEPS, work.row_shift, work.contact_shift),
        )
    for k in range(motion.awake.number[0]):
        span = span_at(motion.awake, k)
        solve_of(model, span, motion.factor, motion.displacement)
        limit_corrections(model, span, motion.velocity, motion.precession, settings.step, motion.displacement)
