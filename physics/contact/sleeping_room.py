"""Sleep: islands of free bodies at rest take no part in the steps until something touches them.

A body is at rest while neither its velocity nor its displacement moves a point of it faster than ten times the
tolerance of the solver: what stands on rigid or elastic contacts is slower, and what slides, rolls, rocks or falls is
that slow for a moment only. An island sleeps when all its bodies have been at rest for half a second and are free: each
floats in the world, carries nothing, and no joint, spring, cylinder, wheel on soft ground or damper acts on it. A
machine never sleeps, nor does an island that it belongs to.

A body that sleeps has no velocity, and its contacts lie apart (`resting`). Its island wakes before the step in which
something awake touches it or will touch it within two steps, and then goes on with the impulses that it had.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.labels import ANEW
from grouser.physics.base.phases import MORE_CONTACTS, NOTHING
from grouser.physics.base.refusal import Refused
from grouser.physics.contact.collide import find_near, has_room, touch_pairs
from grouser.physics.contact.resting import Resting, lay_down, make_resting
from grouser.physics.contact.shapes import Shapes
from grouser.physics.contact.slots import Memory
from grouser.physics.contact.waking import mark_asleep, wake_island
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.spans import list_spans, span_at

if TYPE_CHECKING:
    from grouser.physics.constraints.islands import Islands

# A body is at rest below this speed, in tolerances of the solver.
REST_SPEED = 10.0
# Time for which all bodies of an island are at rest before they sleep [s].
REST_TIME = 0.5


class System(NamedTuple):
    """The bodies that may sleep; arrays without entries where none may.

    Attributes:
        body: of each coordinate rate the body that may sleep, -1 for others, (coordinates,).
        reach: largest distance of a point of such a body from its frame's origin [m], -1 for others, (bodies,).
    """

    body: np.ndarray
    reach: np.ndarray


class State(NamedTuple):
    """Sleep for a restart; arrays without entries where no body may sleep.

    Attributes:
        still: steps for which each body has been at rest, (bodies,).
        asleep_with: first body of the island that each sleeping body belongs to, -1 for bodies that are awake,
            (bodies,).
        contacts: of the sleeping bodies.
    """

    still: np.ndarray
    asleep_with: np.ndarray
    contacts: Resting


LABELS: Any = State(ANEW, ANEW, Resting(Memory(*[ANEW] * len(Memory._fields)), *[ANEW] * (len(Resting._fields) - 1)))


class Workspace(NamedTuple):
    """Buffers of sleep.

    Attributes:
        asleep: whether each body sleeps, (bodies,).
        q: positions in which the bodies sleep: one that is no longer there was moved from outside.
        contact_of: contact of each stored row, (contacts,).
    """

    asleep: np.ndarray
    q: np.ndarray
    contact_of: np.ndarray


def make_sleeping(model: MultibodyModel, shapes: Shapes, held: np.ndarray, held_rates: np.ndarray) -> System:
    """The bodies that may sleep.

    Args:
        model, shapes: of the machine.
        held: bodies on which more than contacts and gravity acts; -1, the world, does not count.
        held_rates: coordinate rates along which something acts.
    """
    body = np.full(len(model.rate_damping), -1, dtype=np.int64)
    reach = np.full(len(model.body_parent), -1.0)
    ends = np.zeros(len(reach))
    moving = shapes.body >= 0
    farthest = np.linalg.norm(shapes.position, axis=1) + shapes.bound
    np.maximum.at(ends, shapes.body[moving], farthest[moving])
    alone = np.flatnonzero(model.body_alone & ~np.isin(np.arange(len(reach)), held))
    first = model.column_rate[model.column_start[alone]]
    rates = first[:, np.newaxis] + np.arange(6)
    free = ~((model.rate_damping[rates] != 0.0) | np.isin(rates, held_rates)).any(axis=1)
    free &= (model.rate_first[first] == first) & (model.rate_last[first] == first + 6)
    body[rates[free]] = alone[free, np.newaxis]
    reach[alone[free]] = ends[alone[free]]
    return System(body, reach) if (body >= 0).any() else no_sleeping()


def no_sleeping() -> System:
    """No body may sleep."""
    return System(np.zeros(0, dtype=np.int64), np.zeros(0))


def make_state(system: System, capacity: int) -> State:
    """All bodies are awake.

    Args:
        system: the bodies that may sleep.
        capacity: number of contacts for which there is memory.
    """
    bodies = len(system.reach)
    return State(
        still=np.zeros(bodies, dtype=np.int64),
        asleep_with=np.full(bodies, -1, dtype=np.int64),
        contacts=make_resting(capacity if bodies else 0),
    )


def make_workspace(system: System, model: MultibodyModel, capacity: int) -> Workspace:
    """Buffers of the right sizes; arguments as of `make_state`."""
    bodies = len(system.reach)
    return Workspace(
        asleep=np.zeros(bodies, dtype=np.bool_),
        q=np.array(model.q_initial) if bodies else np.zeros(0),
        contact_of=np.zeros(capacity if bodies else 0, dtype=np.int64),
    )


def acts(system: System) -> bool:
    """Whether any body may sleep."""
    return len(system.reach) > 0


def refused(system: System) -> Refused:
    """Nothing: where there are no contacts, nothing sleeps."""
    return {}


# --- the step -------------------------------------------------------------------------------------------------------


@kernel
def request(context: Context):
    """Wakes the islands that something awake touches, and lists the near pairs again where there were such.

    Bodies that have fallen asleep since the last request are in a span until now: the kinematics have their last pose.
    """
    state = context.state.sleeping
    list_spans(context.system.multibody, context.workspace.sleeping.asleep, context.workspace.multibody.awake)
    while _wake_touched(context):
        system, work = context.system, context.workspace
        room = min(context.state.contact.memory.slot.shape[0], work.contact.contacts.slot.shape[0])
        find_near(system.contact, work.multibody.kinematics, system.settings.step, work.contact.detection)
        if not has_room(system.contact, room - state.contacts.memory.count[0], work.contact.detection):
            return MORE_CONTACTS
    return NOTHING


@kernel
def integrate(context: Context):
    """Counts the steps at rest, and lays the islands down that have been at rest for long enough."""
    system, state, islands = context.system, context.state.sleeping, context.workspace.constraints.islands
    _count_rest(context)
    needed = np.int64(np.ceil(REST_TIME / system.settings.step))
    slept = False
    for island in range(islands.count[0]):
        if _has_rested(system.sleeping, state.still, islands, island, needed):
            _stop_island(context, island)
            slept = True
    if slept:
        work = context.workspace
        lay_down(
            *(system.contact.shapes.body, state.asleep_with, work.contact.contacts, work.sleeping.contact_of),
            *(context.state.contact.memory, state.contacts),
        )
        mark_asleep(context)


@inlined
def _count_rest(context: Context):
    """Counts for how many steps each awake body has been at rest."""
    model, own, still = context.system.multibody, context.system.sleeping, context.state.sleeping.still
    motion = context.workspace.multibody
    slow = (REST_SPEED * context.system.settings.tolerance) ** 2
    for k in range(motion.awake.number[0]):
        span = span_at(motion.awake, k)
        for i in range(span.body, span.body_end):
            if own.reach[i] >= 0.0:
                first, reach = model.column_rate[model.column_start[i]], own.reach[i]
                fastest = max(_speed(motion.velocity, first, reach), _speed(motion.displacement, first, reach))
                still[i] = still[i] + 1 if fastest < slow else 0


@inlined
def _speed(rates, first, reach):
    """Square of an upper bound of the speeds of a free body's points, up to a factor of two [m2/s2].

    Args:
        rates: coordinate rates.
        first: the body's first one.
        reach: of its points [m].
    """
    linear = rates[first] ** 2 + rates[first + 1] ** 2 + rates[first + 2] ** 2
    angular = rates[first + 3] ** 2 + rates[first + 4] ** 2 + rates[first + 5] ** 2
    return max(linear, reach * reach * angular)


@inlined
def _has_rested(own: System, still, islands: "Islands", island, needed):
    """Whether an island has free bodies only that have all been at rest for the steps needed."""
    k = islands.rate_start[island]
    while k < islands.rate_start[island + 1]:
        body = own.body[islands.rate[k]]
        if body < 0 or still[body] < needed:
            return False
        k += 6
    return True


@inlined
def _stop_island(context: Context, island):
    """Puts the bodies of an island to sleep."""
    own, state, motion = context.system.sleeping, context.state, context.workspace.multibody
    islands = context.workspace.constraints.islands
    first = islands.rate_start[island]
    leader = own.body[islands.rate[first]]
    for k in range(first, islands.rate_start[island + 1]):
        d = islands.rate[k]
        state.sleeping.asleep_with[own.body[d]] = leader
        state.v[d] = state.multibody.rate_change[d] = 0.0
        motion.velocity[d] = motion.velocity_start[d] = motion.velocity_mean[d] = motion.velocity_ahead[d] = 0.0
        motion.u[d] = motion.u_start[d] = motion.u_before[d] = 0.0
        motion.displacement[d] = motion.precession[d] = 0.0


@kernel
def _wake_touched(context: Context):
    """Wakes the islands that something awake touches or will touch within two steps; whether there are any."""
    contact, asleep = context.system.contact, context.workspace.sleeping.asleep
    kinematics, work = context.workspace.multibody.kinematics, context.workspace.contact
    body, pairs, broad = contact.shapes.body, contact.pairs, work.detection.broad
    near, count = broad.count[0], 0
    for n in range(near):
        p = broad.found[n] = broad.pair[n]
        if _sleeps(asleep, body[pairs.first[p]]) or _sleeps(asleep, body[pairs.second[p]]):
            broad.pair[count] = p
            count += 1
    if count == 0:
        return False
    # the contacts of these pairs alone
    broad.count[0], work.contacts.count[0] = count, 0
    step, memory = context.system.settings.step, context.state.contact.memory
    touch_pairs(contact.shapes, pairs, kinematics, step, memory, work.detection, work.contacts)
    broad.count[0] = near
    for n in range(near):
        broad.pair[n] = broad.found[n]
    woke = False
    for c in range(work.contacts.count[0]):
        for i in (work.contacts.body[c], work.contacts.other[c]):
            if _sleeps(asleep, i):
                wake_island(context, context.state.sleeping.asleep_with[i])
                woke = True
    return woke


@inlined
def _sleeps(asleep, body):
    """Whether a body sleeps; the world, -1, does not."""
    return body >= 0 and asleep[body]
