"""Contacts of sleeping bodies: with their impulses they go on where they were when the bodies wake."""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact import slots
from grouser.physics.contact.contacts import Contacts
from grouser.physics.contact.slots import Memory, clear_rows, make_memory


class Resting(NamedTuple):
    """The contacts of sleeping bodies; those of an island by ascending slot. Rows without a contact are zero.

    Attributes:
        memory: as of the contacts of the last step, which do not include these.
        shape, other_shape: index into the shapes, -1 for the ground.
        normal: unit normal towards the first shape, world axes, (contacts, 3).
        gap: distance along the normal [m].
    """

    memory: Memory
    shape: np.ndarray
    other_shape: np.ndarray
    normal: np.ndarray
    gap: np.ndarray


def make_resting(capacity: int) -> Resting:
    """No contacts."""
    return Resting(
        memory=make_memory(capacity),
        shape=np.zeros(capacity, dtype=np.int64),
        other_shape=np.zeros(capacity, dtype=np.int64),
        normal=np.zeros((capacity, 3)),
        gap=np.zeros(capacity),
    )


def with_capacity(resting: Resting, capacity: int) -> Resting:
    """The same contacts in arrays for another number of them, at least as many as there are."""
    count = int(resting.memory.count[0])
    larger = make_resting(capacity)._replace(memory=slots.with_capacity(resting.memory, capacity))
    for old, new in zip(resting[1:], larger[1:], strict=True):
        new[:count] = old[:count]
    return larger


@kernel
def lay_down(shape_body, asleep_with, contacts: Contacts, contact_of, memory: Memory, resting: Resting):
    """Moves the stored contacts of bodies that sleep from the memory of the last step to the resting ones.

    Args:
        shape_body: body of each shape.
        asleep_with: of each body, -1 while it is awake.
        contacts: of the step that has just been stored.
        contact_of: buffer, (contacts,).
        memory, resting: changed; there is room in `resting` for all contacts of the step.
    """
    stored = -1
    for c in range(contacts.count[0]):
        stored = slots.stored_at(memory, contacts.slot[c], stored + 1)
        contact_of[stored] = c
    before, kept = memory.count[0], 0
    for k in range(before):
        c = contact_of[k]
        if asleep_with[shape_body[contacts.shape[c]]] >= 0:
            new = resting.memory.count[0]
            resting.memory.count[0] = new + 1
            _copy_row(memory, k, resting.memory, new)
            resting.shape[new], resting.other_shape[new] = contacts.shape[c], contacts.other_shape[c]
            resting.gap[new] = contacts.gap[c]
            for m in range(3):
                resting.normal[new, m] = contacts.normal[c, m]
        else:
            if kept < k:
                _copy_row(memory, k, memory, kept)
            kept += 1
    memory.count[0] = kept
    clear_rows(memory, kept, before)


@kernel
def take_up(shape_body, asleep_with, resting: Resting, memory: Memory):
    """Moves the contacts of one island that has woken to the memory of the last step, as if it had not slept.

    Args:
        shape_body: body of each shape.
        asleep_with: of each body, -1 when it is awake.
        resting, memory: changed; there is room in `memory` for all contacts.
    """
    before, moved = resting.memory.count[0], 0
    for k in range(before):
        if asleep_with[shape_body[resting.shape[k]]] < 0:
            moved += 1
    place, last = memory.count[0] + moved - 1, memory.count[0] - 1
    memory.count[0] += moved
    for k in range(before - 1, -1, -1):
        if asleep_with[shape_body[resting.shape[k]]] < 0:
            while last >= 0 and memory.slot[last] > resting.memory.slot[k]:
                _copy_row(memory, last, memory, place)
                last -= 1
                place -= 1
            _copy_row(resting.memory, k, memory, place)
            place -= 1
    kept = 0
    for k in range(before):
        if asleep_with[shape_body[resting.shape[k]]] >= 0:
            if kept < k:
                _copy_row(resting.memory, k, resting.memory, kept)
                resting.shape[kept], resting.other_shape[kept] = resting.shape[k], resting.other_shape[k]
                resting.gap[kept] = resting.gap[k]
                for m in range(3):
                    resting.normal[kept, m] = resting.normal[k, m]
            kept += 1
    resting.memory.count[0] = kept
    clear_rows(resting.memory, kept, before)
    for k in range(kept, before):
        resting.shape[k] = resting.other_shape[k] = 0
        resting.gap[k] = resting.normal[k, 0] = resting.normal[k, 1] = resting.normal[k, 2] = 0.0


@inlined
def _copy_row(source: Memory, k, target: Memory, place):
    """Copies one stored contact."""
    target.slot[place] = source.slot[k]
    target.buried[place] = source.buried[k]
    for m in range(3):
        target.impulse[place, m] = source.impulse[k, m]
        target.moment[place, m] = source.moment[k, m]
        target.anchor[place, m] = source.anchor[k, m]
