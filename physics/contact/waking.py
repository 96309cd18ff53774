"""Waking of sleeping islands, and what is derived from the state of sleep (`sleeping_room`)."""

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.resting import take_up
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.kinematics import update_kinematics_of
from grouser.physics.multibody.spans import list_spans, span_all, span_of


@kernel
def wake_island(context: Context, leader):
    """Wakes the island of which a body is the first."""
    model, state, sleeping = context.system.multibody, context.state, context.state.sleeping
    for i in range(sleeping.asleep_with.shape[0]):
        if sleeping.asleep_with[i] == leader:
            sleeping.asleep_with[i] = -1
            sleeping.still[i] = 0
            kinematics = context.workspace.multibody.kinematics
            update_kinematics_of(model, span_of(model, i), state.q, state.v, kinematics)
    take_up(context.system.contact.shapes.body, sleeping.asleep_with, sleeping.contacts, state.contact.memory)
    mark_asleep(context)
    list_spans(model, context.workspace.sleeping.asleep, context.workspace.multibody.awake)


@kernel
def begin_sleeping(context: Context):
    """Finds who sleeps from the state, and wakes whom something outside the step has moved."""
    model, state, own = context.system.multibody, context.state, context.workspace.sleeping
    changed = False
    for i in range(own.asleep.shape[0]):
        changed = changed or (own.asleep[i] and state.sleeping.asleep_with[i] < 0)
    mark_asleep(context)
    for i in range(own.asleep.shape[0]):
        if own.asleep[i] and _was_moved(model, i, state.q, state.v, own.q):
            wake_island(context, state.sleeping.asleep_with[i])
            changed = True
    if changed:
        span_all(model, context.workspace.multibody.awake)


@inlined
def _was_moved(model: MultibodyModel, i, q, v, place):
    """Whether a body that sleeps has a velocity, or another position than it had."""
    span = span_of(model, i)
    for d in range(span.rate, span.rate_end):
        if v[d] != 0.0:
            return True
    for k in range(span.place, span.place_end):  # noqa: SIM110, kernels have no generators
        if q[k] != place[k]:
            return True
    return False


@kernel
def mark_asleep(context: Context):
    """Derives from the state which bodies and shapes the steps leave out."""
    model, own, state = context.system.multibody, context.workspace.sleeping, context.state
    broad, body = context.workspace.contact.detection.broad, context.system.contact.shapes.body
    for i in range(own.asleep.shape[0]):
        asleep = state.sleeping.asleep_with[i] >= 0
        if asleep and not own.asleep[i]:
            span = span_of(model, i)
            for k in range(span.place, span.place_end):
                own.q[k] = state.q[k]
        own.asleep[i] = asleep
    broad.active[0] = 0
    for s in range(body.shape[0]):
        broad.idle[s] = body[s] < 0 or own.asleep[body[s]]
        if not broad.idle[s]:
            broad.active[0] += 1
