"""Contacts in a step: detection, rows, and the stored impulses."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.base.labels import ANEW, SHAPE
from grouser.physics.base.phases import MORE_CONTACTS, NOTHING
from grouser.physics.base.refusal import SMOOTH, Refused, present
from grouser.physics.constraints.packed import resists_turning
from grouser.physics.constraints.work import account_contacts
from grouser.physics.contact.collide import (
    Capacity,
    Collision,
    ContactWorkspace,
    detect_contacts,
    find_near,
    first_capacity,
    has_room,
    make_contact_workspace,
    make_contacts,
    may_have_contacts,
)
from grouser.physics.contact.contacts import Contacts
from grouser.physics.contact.restitution import limit_restitution
from grouser.physics.contact.rows import ContactRows, make_contact_rows, open_contact_rows, widest_row
from grouser.physics.contact.slots import Memory, clear_rows, make_memory, make_place
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.free_flight import mark_bridge


class State(NamedTuple):
    """Contact state for a restart.

    Attributes:
        memory: the contacts of the last step.
        work: by the contacts of each shape [J].
        energy: in the springs of these contacts at the end of the last step [J].
    """

    memory: Memory
    work: np.ndarray
    energy: np.ndarray


# The memory is moved by pairs of shapes (`simulation.transfer`).
LABELS: Any = State(memory=Memory(*[ANEW] * len(Memory._fields)), work=ANEW, energy=SHAPE)


class Workspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        detection: buffers of contact detection.
        contacts: contacts of the step.
        rows: their rows.
    """

    detection: ContactWorkspace
    contacts: Contacts
    rows: ContactRows


def make_state(collision: Collision) -> State:
    """A state without contacts."""
    shapes = len(collision.shapes.kind)
    return State(make_memory(first_capacity(collision).contacts), np.zeros(shapes), np.zeros(shapes))


def make_workspace(collision: Collision, model: MultibodyModel, capacity: Capacity) -> Workspace:
    """Buffers of the right sizes."""
    rows = make_contact_rows(capacity.contacts, len(model.rate_damping), widest_row(model))
    return Workspace(make_contact_workspace(collision, capacity), make_contacts(collision, capacity), rows)


def acts(collision: Collision) -> bool:
    """Whether anything may touch."""
    return may_have_contacts(collision)


def refused(collision: Collision) -> Refused:
    """Contacts, which start and stop acting."""
    things = {
        "contacts with the ground": len(collision.candidates.body) > 0,
        "contacts of links with each other or with obstacles": len(collision.pairs.first) > 0,
    }
    return present(things, SMOOTH)


@kernel
def request(context: Context):
    """Lists the near pairs, and requests memory for them and their contacts."""
    system, work = context.system, context.workspace
    room = min(context.state.contact.memory.slot.shape[0], work.contact.contacts.slot.shape[0])
    room -= context.state.sleeping.contacts.memory.count[0]
    find_near(system.contact, work.multibody.kinematics, system.settings.step, work.contact.detection)
    return NOTHING if has_room(system.contact, room, work.contact.detection) else MORE_CONTACTS


@kernel
def detect(context: Context):
    """Finds the contacts."""
    system, work = context.system, context.workspace.contact
    kinematics, step = context.workspace.multibody.kinematics, system.settings.step
    detect_contacts(system.contact, kinematics, step, context.state.contact.memory, work.detection, work.contacts)


@kernel
def open_rows(context: Context):
    """Opens the rows of the contacts."""
    system, motion, memory = context.system, context.workspace.multibody, context.state.contact.memory
    work = context.workspace.contact
    open_contact_rows(
        *(system.multibody, system.contact, work.contacts, motion.kinematics, motion.factor, motion.u_start),
        *(system.settings.step, memory, work.rows),
    )


@kernel
def adjust(context: Context):
    """Lowers the restitution of contacts that gain energy."""
    motion, islands = context.workspace.multibody, context.workspace.constraints.islands
    limit_restitution(context.workspace.contact.rows, islands, motion.u_before, motion.u)


@kernel
def commit(context: Context):
    """Stores the contacts with their impulses in place of those of the last step."""
    rows, contacts = context.workspace.contact.rows, context.workspace.contact.contacts
    memory, touched = context.state.contact.memory, context.workspace.multibody.touched
    before, memory.count[0] = memory.count[0], 0
    for c in range(contacts.count[0]):
        stored = make_place(memory, contacts.slot[c])
        if rows.impulse[c, 0] > 0.0:
            mark_bridge(context.system.multibody, contacts.body[c], contacts.other[c], touched)
        memory.buried[stored] = rows.buried[c]
        resists = resists_turning(rows, c)
        for k in range(3):
            impulse = moment = 0.0
            for m in range(3):
                impulse += rows.impulse[c, m] * rows.frame[c, m, k]
                moment += rows.moment[c, m] * rows.frame[c, m, k]
            contacts.impulse[c, k] = impulse
            memory.impulse[stored, k] = impulse
            memory.moment[stored, k] = moment if resists else 0.0
            memory.anchor[stored, k] = contacts.anchor[c, k]
    clear_rows(memory, memory.count[0], before)


@kernel
def account(context: Context):
    """Adds the work of the contacts."""
    system, motion, work = context.system, context.workspace.multibody, context.workspace.contact
    account_contacts(
        *(system.contact.laws, work.contacts, work.rows, system.settings.step, motion.u_start, motion.u),
        *(work.detection.broad.idle, context.state.contact.work, context.state.contact.energy),
    )


def open_accounts(view: AccountView) -> None:
    """Springs of contacts owe what they hold."""
    state = view.state.contact
    state.work[:] = -state.energy


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Losses in the contacts of each link."""
    state, links, names = view.state.contact, view.system.contact.shapes.link, ledger.owners.link
    for shape, (work, held) in enumerate(zip(state.work, state.energy, strict=True)):
        ledger.add_loss(f"contacts of {names[links[shape]]}", -work - held)
