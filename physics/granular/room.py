"""Grains in the steps of a machine.

Before each step the contacts of the grains make steps of their own, between bodies that move on with the velocities at
the beginning of the step; the bodies get their impulses (`multibody.impulse_exchange`), and so do blocks
(`block_bodies`). `Workspace.stiffest` tells the largest k H^2/m.
"""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.labels import ANEW, WHOLE
from grouser.physics.base.phases import MORE_GRAIN_CONTACTS, NOTHING
from grouser.physics.base.refusal import SMOOTH, Refused, present
from grouser.physics.granular import arrays
from grouser.physics.granular.advance import DIVERGED, NEEDS_ROOM, clear_reactions, note_travel, run_steps
from grouser.physics.granular.block_bodies import place_blocks, push_blocks
from grouser.physics.granular.place_body import move_body_to
from grouser.physics.granular.sources import Sources, drain, emit
from grouser.physics.multibody.impulse_exchange import add_work, apply_impulses, read_work

# Room that lists get beyond what they need [-].
_MORE = 1.5


class Lumps(NamedTuple):
    """The grains that soil becomes where it is cut.

    Attributes:
        material: their number.
        radius, mass: of each [m, kg]; no mass: soil becomes none.
        ripe: steps of the contacts for which they sleep before they become soil.
    """

    material: int
    radius: float
    mass: float
    ripe: int


class System(NamedTuple):
    """Grains and boundaries.

    Attributes:
        grains: laws and boundaries: first ground and obstacles, then what vibrates, blocks and links.
        start: the grains at the start.
        body: of the machine for each boundary, -1 for the world, (boundaries,).
        first_block: first boundary that is a block; those up to `first_link` are.
        first_link: first boundary that belongs to the machine.
        steps: of the contacts in one of the machine.
        sources: emitters and sinks.
        lumps: what soil becomes.
    """

    grains: arrays.System
    start: arrays.State
    body: np.ndarray
    first_block: int
    first_link: int
    steps: int
    sources: Sources
    lumps: Lumps


class State(NamedTuple):
    """Grains, and accounts.

    Attributes:
        grains: all that a restart of the grains needs.
        emitted: number of grains that each emitter has made, (emitters,).
        drained: number of grains that ended in sinks, and their mass [kg], (2,).
        work: of the grains on each boundary's body since the accounts were opened [J], (boundaries,).
    """

    grains: arrays.State
    emitted: np.ndarray
    drained: np.ndarray
    work: np.ndarray


LABELS: Any = State(arrays.State(*[ANEW] * len(arrays.State._fields)), WHOLE, WHOLE, ANEW)


class Workspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        grains: of the grains; `impulse` is what they have given the bodies in the last step.
        made: steps of the contacts that are made before the next step; -1: it has not begun, (1,).
        diverged: whether a grain's position is no longer finite, (1,).
        stiffest: largest k H^2/m so far, and the boundary, (2,).
    """

    grains: arrays.Workspace
    made: np.ndarray
    diverged: np.ndarray
    stiffest: np.ndarray


def make_state(system: System) -> State:
    """The grains at the start."""
    return State(
        grains=arrays.State(*(array.copy() for array in system.start)),
        emitted=np.zeros(len(system.sources.seed), dtype=np.int64),
        drained=np.zeros(2),
        work=np.zeros(len(system.body)),
    )


def make_workspace(system: System, state: State | None = None) -> Workspace:
    """Buffers for a state, by default that at the start."""
    grains = system.start if state is None else state.grains
    return Workspace(
        arrays.make_workspace(system.grains, grains), np.full(1, -1), np.zeros(1, dtype=np.bool_), np.zeros(2)
    )


def mass_of_lumps(system: System, state: State) -> float:
    """Mass of the grains that soil has become [kg]."""
    grains = state.grains
    count = int(grains.number[0]) if system.lumps.mass > 0.0 else 0
    lumps = (grains.ident[:count] >= 0) & (grains.material[:count] == system.lumps.material)
    return float((1.0 / grains.velocity[:count][lumps, 3]).sum())


def acts(system: System) -> bool:
    """Whether there are grains, or may be."""
    return len(system.body) > 0


def refused(system: System) -> Refused:
    """Refused by smooth integrators: contacts of grains begin and end."""
    return present({"grains": acts(system)}, SMOOTH)


# --- the step -------------------------------------------------------------------------------------------------------


@kernel
def request(context: Context):
    """Moves the grains on by a step of the machine; asks for room where their lists have none, and then goes on."""
    own, state, work = context.system.granular, context.state.granular.grains, context.workspace.granular
    soils = context.system.soil.soils
    if work.made[0] < 0:
        _place_links(context)
        place_blocks(context)
        note_travel(own.grains, state)
        if not emit(context):
            return MORE_GRAIN_CONTACTS
        clear_reactions(state, work.grains)
        work.made[0] = 0
    step = context.system.settings.step / own.steps
    while work.made[0] < own.steps:
        made, ended = run_steps(
            own.grains, state, work.grains, soils, context.state.soil, step, own.steps - work.made[0], False
        )
        work.made[0] += made
        if ended == NEEDS_ROOM:
            return MORE_GRAIN_CONTACTS
        if ended == DIVERGED:
            work.diverged[0] = True
            break
    if own.sources.sink_half.shape[0] > 0:
        gone, mass = drain(own.sources, state)
        context.state.granular.drained[0] += gone
        context.state.granular.drained[1] += mass
    push_blocks(context)
    return NOTHING


@inlined
def _place_links(context: Context):
    """Moves the boundaries of links to the bodies at the beginning of the step, and gives them their velocities."""
    own, motion = context.system.granular, context.workspace.multibody.kinematics
    origin = motion.origin
    for b in range(own.body.shape[0]):
        i = own.body[b]
        if i < 0:
            continue
        at, turn, twist = motion.position[i], motion.rotation[i], motion.twist[i]
        rotation = (
            *(turn[0, 0], turn[0, 1], turn[0, 2]),
            *(turn[1, 0], turn[1, 1], turn[1, 2]),
            *(turn[2, 0], turn[2, 1], turn[2, 2]),
        )
        w0, w1, w2 = twist[3], twist[4], twist[5]
        velocity = (
            twist[0] + w1 * at[2] - w2 * at[1],
            twist[1] + w2 * at[0] - w0 * at[2],
            twist[2] + w0 * at[1] - w1 * at[0],
        )
        place = origin[0] + at[0], origin[1] + at[1], origin[2] + at[2]
        move_body_to(context.state.granular.grains, b, place, rotation, (*velocity, w0, w1, w2))


@kernel
def apply_forces(context: Context):
    """Adds the impulses of the grains to the force."""
    own, work = context.system.granular, context.workspace.granular
    apply_impulses(context, own.body, work.grains.impulse, work.grains.stiffening, work.stiffest)
    work.made[0] = -1


@kernel
def account(context: Context):
    """Adds the work of the grains on the bodies."""
    own, work = context.system.granular, context.workspace.granular.grains
    add_work(context, own.body, work.impulse, work.stiffening, context.state.granular.work)


# --- outside of the step --------------------------------------------------------------------------------------------


def open_accounts(view: AccountView) -> None:
    """No work yet."""
    view.state.granular.work[...] = 0.0


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Work of the grains on each body, by the name of its first link."""
    read_work(view, ledger, "grains", view.system.granular.body, view.state.granular.work)


def clear_outputs(work: Workspace) -> None:
    """Forgets the last step, and one that has begun."""
    work.made[0], work.diverged[0], work.stiffest[0] = -1, False, 0.0
    work.grains.impulse[:], work.grains.stiffening[:], work.grains.woken[:] = 0.0, 0.0, False
    work.grains.unquiet[0] = True


def needed_capacity(state: State, work: Workspace) -> tuple[int, int, int, int]:
    """Room that `request` asks for, and some more: grains, pairs, boundary contacts and clumps."""
    grains, pairs, contacts, clumps = arrays.capacity_of(state.grains)
    needed = [int(_MORE * count) + 16 for count in work.grains.needed]
    return max(grains, needed[2]), max(pairs, needed[0]), max(contacts, needed[1]), max(clumps, needed[3])


def with_room(system: System, state: State, work: Workspace) -> Workspace:
    """Buffers as large as a state, with the impulses so far."""
    larger = make_workspace(system, state)
    for name in ("impulse", "reference", "stiffening"):
        getattr(larger.grains, name)[:] = getattr(work.grains, name)
    return larger._replace(made=work.made, diverged=work.diverged, stiffest=work.stiffest)


def has_room(state: State, work: Workspace) -> bool:
    """Whether buffers are as large as a state."""
    return arrays.capacity_of(state.grains) == arrays.capacity_of(work.grains.next)
