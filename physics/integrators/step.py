"""One step of the simulation as a list of its phases."""

import math
from functools import partial

from grouser.physics.base.entry import Context, any_in_phase, call_entry_for_result, run_phase
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.phases import (
    ACCOUNT,
    ADVANCE,
    APPLY_FORCES,
    ASSEMBLE,
    COMMIT,
    CORRECT,
    DETECT,
    FACTORISE,
    HOLD,
    INTEGRATE,
    NOTHING,
    OPEN_ROWS,
    PREDICT,
    REQUEST,
    REVISE,
    SET_ROW_LAWS,
    SOLVE_IMPULSES,
)
from grouser.physics.multibody.kinematics import follow_origin, update_kinematics_of
from grouser.physics.multibody.spans import span_at


@partial(kernel, nogil=True)
def run_steps(count, context: Context):
    """Makes `count` steps, or stops after the first with a state that is not finite, or before one with a request.

    A step requests memory for more tiles of soft ground or more contacts (`simulation.capacity`); the next call
    continues.

    Args:
        count: number of steps.
        context: the simulation's, packed (`integrators.context.StepContext`, `base.packed.Packed`).

    Returns:
        Number of steps with finite results, and the request of the next one (`base.phases`).
    """
    state, motion = context.state, context.workspace.multibody
    ahead = motion.velocity_ahead
    for done in range(count):
        for k in range(motion.awake.number[0]):
            span = span_at(motion.awake, k)
            for d in range(span.rate, span.rate_end):
                ahead[d] = state.v[d] + 0.5 * state.multibody.rate_change[d]
            update_kinematics_of(context.system.multibody, span, state.q, ahead, motion.kinematics)
        follow_origin(context.system.multibody, motion.awake, state.q, motion.kinematics)
        for k in range(context.schedule.start[REQUEST], context.schedule.start[REQUEST + 1]):
            asked = call_entry_for_result(context.schedule.entry[k], context)
            if asked != NOTHING:
                return done, asked
        make_step(context)
        state.step_count[0] += 1
        if not is_finite(context):
            return done, NOTHING
    return count, NOTHING


@inlined
def make_step(context: Context):
    """One step, with the kinematics filled; `base.phases` describes the phases."""
    run_phase(context, DETECT)
    run_phase(context, APPLY_FORCES)
    first, searching = True, True
    while searching:
        run_phase(context, ASSEMBLE)
        run_phase(context, FACTORISE)
        run_phase(context, OPEN_ROWS)
        if first:
            # these change the state, and run only once in a step
            run_phase(context, PREDICT)
            run_phase(context, ADVANCE)
            run_phase(context, SET_ROW_LAWS)
            first = False
        run_phase(context, SOLVE_IMPULSES)
        searching = any_in_phase(context, REVISE)
    run_phase(context, COMMIT)
    run_phase(context, ACCOUNT)
    run_phase(context, CORRECT)
    run_phase(context, HOLD)
    run_phase(context, INTEGRATE)


@kernel
def is_finite(context: Context):
    """Whether positions, velocities and pressures of what the step has moved are finite numbers."""
    if context.workspace.granular.diverged[0] or context.workspace.blocks.diverged[0]:
        return False
    state, awake = context.state, context.workspace.multibody.awake
    for k in range(awake.number[0]):
        span = span_at(awake, k)
        for d in range(span.rate, span.rate_end):
            if not math.isfinite(state.v[d]):
                return False
        for d in range(span.place, span.place_end):
            if not math.isfinite(state.q[d]):
                return False
    for a in range(state.hydraulics.piston.shape[0]):
        if not math.isfinite(state.hydraulics.piston[a]):
            return False
    for line in range(state.hydraulics.pressure.shape[0]):  # noqa: SIM110, kernels have no generators
        if not math.isfinite(state.hydraulics.pressure[line]):
            return False
    return True
