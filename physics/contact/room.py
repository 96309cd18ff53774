"""Contacts in a step: detection, rows, and the stored impulses."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.base.labels import ANEW, SHAPE
from grouser.physics.base.phases import CONVEX_PAIRS, NOTHING
from grouser.physics.base.refusal import SMOOTH, Refused, present
from grouser.physics.constraints.work import account_contacts
from grouser.physics.contact.collide import (
    Collision,
    ContactWorkspace,
    convex_pairs_due,
    detect_contacts,
    make_contact_workspace,
    make_contacts,
    slot_count,
)
from grouser.physics.contact.contacts import Contacts
from grouser.physics.contact.restitution import limit_restitution
from grouser.physics.contact.rows import ContactRows, make_contact_rows, open_contact_rows
from grouser.physics.multibody.free_flight import mark_bridge


class State(NamedTuple):
    """Contact state for a restart.

    Attributes:
        count: number of contacts in the last step, (1,).
        slot: slots of these contacts; the first `count[0]` are valid.
        impulse: contact impulse of each slot in the last step, world axes [N s], (slots, 3).
        moment: impulse of its resistance against rotation, world axes [N m s], (slots, 3).
        anchor: contact point in the frame of its first body [m], (slots, 3).
        work: by the contacts of each shape [J].
        energy: in the springs of these contacts at the end of the last step [J].
    """

    count: np.ndarray
    slot: np.ndarray
    impulse: np.ndarray
    moment: np.ndarray
    anchor: np.ndarray
    work: np.ndarray
    energy: np.ndarray


# The slots' data are moved by pairs of shapes (`simulation.transfer`).
LABELS: Any = State(count=ANEW, slot=ANEW, impulse=ANEW, moment=ANEW, anchor=ANEW, work=ANEW, energy=SHAPE)


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
    slots, shapes = slot_count(collision), len(collision.shapes.kind)
    return State(
        count=np.zeros(1, dtype=np.int64),
        slot=np.zeros(slots, dtype=np.int64),
        impulse=np.zeros((slots, 3)),
        moment=np.zeros((slots, 3)),
        anchor=np.zeros((slots, 3)),
        work=np.zeros(shapes),
        energy=np.zeros(shapes),
    )


def make_workspace(collision: Collision, coordinates: int) -> Workspace:
    """Buffers of the right sizes."""
    rows = make_contact_rows(slot_count(collision), coordinates)
    return Workspace(make_contact_workspace(collision), make_contacts(collision), rows)


def acts(collision: Collision) -> bool:
    """Whether anything may touch."""
    return slot_count(collision) > 0


def refused(collision: Collision) -> Refused:
    """Contacts, which start and stop acting."""
    things = {
        "contacts with the ground": len(collision.candidates.body) > 0,
        "contacts of links with each other or with obstacles": len(collision.pairs.first) > 0,
    }
    return present(things, SMOOTH)


@kernel
def request(context: Context):
    """Requests the manifolds of convex pairs that may touch."""
    system, work = context.system, context.workspace
    step, kinematics = system.settings.step, work.multibody.kinematics
    due = convex_pairs_due(system.contact, kinematics, step, work.contact.detection)
    return CONVEX_PAIRS if due > 0 else NOTHING


@kernel
def detect(context: Context):
    """Finds the contacts."""
    system, work = context.system, context.workspace.contact
    kinematics, step = context.workspace.multibody.kinematics, system.settings.step
    detect_contacts(system.contact, kinematics, step, context.state.contact, work.detection, work.contacts)


@kernel
def open_rows(context: Context):
    """Opens the rows of the contacts."""
    system, motion, memory = context.system, context.workspace.multibody, context.state.contact
    work = context.workspace.contact
    open_contact_rows(
        *(system.multibody, system.contact, work.contacts, motion.kinematics, motion.factor, motion.u_start),
        *(system.settings.step, memory.impulse, memory.moment, work.rows),
    )


@kernel
def adjust(context: Context):
    """Lowers the restitution of contacts that gain energy."""
    motion = context.workspace.multibody
    return 1 if limit_restitution(context.workspace.contact.rows, motion.u_before, motion.u) else 0


@kernel
def commit(context: Context):
    """Stores the contacts' impulses in their slots, and clears those of the last step."""
    memory, rows, contacts = context.state.contact, context.workspace.contact.rows, context.workspace.contact.contacts
    touched = context.workspace.multibody.touched
    for c in range(memory.count[0]):
        slot = memory.slot[c]
        for k in range(3):
            memory.impulse[slot, k] = 0.0
            memory.moment[slot, k] = 0.0
    memory.count[0] = contacts.count[0]
    for c in range(contacts.count[0]):
        slot = contacts.slot[c]
        memory.slot[c] = slot
        if rows.impulse[c, 0] > 0.0:
            mark_bridge(context.system.multibody, contacts.body[c], contacts.other[c], touched)
        resists = rows.spinning[c] > 0.0 or rows.rolling[c] > 0.0
        for k in range(3):
            impulse = moment = 0.0
            for m in range(3):
                impulse += rows.impulse[c, m] * rows.frame[c, m, k]
                moment += rows.moment[c, m] * rows.frame[c, m, k]
            contacts.impulse[c, k] = impulse
            memory.impulse[slot, k] = impulse
            memory.moment[slot, k] = moment if resists else 0.0
            memory.anchor[slot, k] = contacts.anchor[c, k]


@kernel
def account(context: Context):
    """Adds the work of the contacts."""
    system, motion, work = context.system, context.workspace.multibody, context.workspace.contact
    account_contacts(
        *(system.contact.laws, work.contacts, work.rows, system.settings.step, motion.u_start, motion.u),
        *(context.state.contact.work, context.state.contact.energy),
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
