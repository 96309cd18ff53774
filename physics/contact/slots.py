"""Slots: names of the contacts' places, by which impulses go from one step to the next.

A place where a contact may be has a number, its slot: each candidate on the ground has one or a few, and so has each
pair of shapes. A contact between shapes takes the slot with the nearest anchor, a point of the body: it continues the
contact of the last step at that place. Only the slots of the last step's contacts are stored.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel

# A contact that has moved by less than this share of the tolerance is at the same place.
_UNMOVED = 0.02


class Memory(NamedTuple):
    """The contacts of the last step, by ascending slot; the first `count[0]` rows are valid, the others are zero.

    Attributes:
        count: number of contacts, (1,).
        slot: of each contact.
        impulse: on its first body, world axes [N s], (contacts, 3).
        moment: impulse of its resistance against rotation, world axes [N m s], (contacts, 3).
        anchor: its point in the frame of the first body [m], (contacts, 3).
        buried: depth that its spring leaves out [m] (`burial`), (contacts,).
    """

    count: np.ndarray
    slot: np.ndarray
    impulse: np.ndarray
    moment: np.ndarray
    anchor: np.ndarray
    buried: np.ndarray


def make_memory(capacity: int) -> Memory:
    """A memory without contacts."""
    return Memory(
        count=np.zeros(1, dtype=np.int64),
        slot=np.zeros(capacity, dtype=np.int64),
        impulse=np.zeros((capacity, 3)),
        moment=np.zeros((capacity, 3)),
        anchor=np.zeros((capacity, 3)),
        buried=np.zeros(capacity),
    )


def with_capacity(memory: Memory, capacity: int) -> Memory:
    """The same memory with arrays for another number of contacts, at least as many as are stored."""
    count = int(memory.count[0])
    larger = make_memory(capacity)
    larger.count[0] = count
    for old, new in zip(memory[1:], larger[1:], strict=True):
        new[:count] = old[:count]
    return larger


@kernel
def first_from(memory: Memory, slot):
    """Index of the first stored contact whose slot is not below a given one."""
    first, end = 0, memory.count[0]
    while first < end:
        middle = (first + end) // 2
        if memory.slot[middle] < slot:
            first = middle + 1
        else:
            end = middle
    return first


@kernel
def stored_at(memory: Memory, slot, guess):
    """Index of the stored contact with a slot, -1 for none; `guess` is tried first."""
    if guess < memory.count[0] and memory.slot[guess] == slot:
        return guess
    k = first_from(memory, slot)
    return k if k < memory.count[0] and memory.slot[k] == slot else -1


@kernel
def clear_rows(memory: Memory, first, end):
    """Clears rows first to end - 1."""
    for k in range(first, end):
        memory.slot[k] = 0
        memory.buried[k] = 0.0
        for m in range(3):
            memory.impulse[k, m] = memory.moment[k, m] = memory.anchor[k, m] = 0.0


def forget(memory: Memory, gone: np.ndarray) -> None:
    """Removes contacts, given whether each of the stored ones is to go, (count,)."""
    stay = np.flatnonzero(~gone)
    for array in memory[1:]:
        array[: len(stay)] = array[stay]
        array[len(stay) :] = 0
    memory.count[0] = len(stay)


@kernel
def make_place(memory: Memory, slot):
    """Index of a new stored contact; contacts come nearly in the order of their slots."""
    k = memory.count[0]
    memory.count[0] = k + 1
    while k > 0 and memory.slot[k - 1] > slot:
        memory.slot[k] = memory.slot[k - 1]
        memory.buried[k] = memory.buried[k - 1]
        for m in range(3):
            memory.impulse[k, m] = memory.impulse[k - 1, m]
            memory.moment[k, m] = memory.moment[k - 1, m]
            memory.anchor[k, m] = memory.anchor[k - 1, m]
        k -= 1
    memory.slot[k] = slot
    return k


@kernel
def claim_slots(first, slots, count, anchor, tolerance, memory: Memory, claimed, slot):
    """Assigns a slot of its own to each of `count` contacts.

    A contact at the place of a stored one takes its slot. Of the others and the slots with an impulse that are left,
    those with the nearest anchors find each other, two by two, within `tolerance`. A contact without such a slot takes
    a free one without impulse, otherwise any free one.

    Args:
        first, slots: the slots are first to first + slots - 1.
        count: number of contacts, at most `slots`.
        anchor: of each contact in the frame of its body [m], (contacts, 3).
        tolerance: largest motion of a contact on the body [m].
        memory: of the last step.
        claimed: buffer, at least one flag for each slot.
        slot: result, (contacts,).
    """
    begin, end = first_from(memory, first), first_from(memory, first + slots)
    for s in range(slots):
        claimed[s] = False
    left = 0
    for c in range(count):
        slot[c] = -1
        k, _ = _nearest_stored(first, begin, end, anchor, c, _UNMOVED * tolerance, memory, claimed)
        if k >= 0:
            slot[c] = memory.slot[k]
            claimed[slot[c] - first] = True
        else:
            left += 1
    while left > 0:
        nearest, chosen, stored = math.inf, -1, -1
        for c in range(count):
            if slot[c] < 0:
                k, square = _nearest_stored(first, begin, end, anchor, c, tolerance, memory, claimed)
                if k >= 0 and square < nearest:
                    nearest, chosen, stored = square, c, k
        if chosen < 0:
            break
        slot[chosen] = memory.slot[stored]
        claimed[slot[chosen] - first] = True
        left -= 1
    for c in range(count):
        if slot[c] < 0:
            slot[c] = _free_slot(first, slots, memory, begin, end, claimed)
            claimed[slot[c] - first] = True


@inlined
def _nearest_stored(first, begin, end, anchor, c, tolerance, memory: Memory, claimed):
    """The stored contact with an impulse and a free slot that is nearest to contact c, and the square of its distance.

    It is -1 if none is within the tolerance.
    """
    nearest, stored = tolerance * tolerance, -1
    for k in range(begin, end):
        if not claimed[memory.slot[k] - first] and _has_impulse(memory, k):
            dx = memory.anchor[k, 0] - anchor[c, 0]
            dy = memory.anchor[k, 1] - anchor[c, 1]
            dz = memory.anchor[k, 2] - anchor[c, 2]
            square = dx * dx + dy * dy + dz * dz
            if square < nearest:
                nearest, stored = square, k
    return stored, nearest


@inlined
def _has_impulse(memory: Memory, k):
    """Whether a stored contact had an impulse in the last step."""
    return memory.impulse[k, 0] != 0.0 or memory.impulse[k, 1] != 0.0 or memory.impulse[k, 2] != 0.0


@kernel
def _free_slot(first, slots, memory: Memory, begin, end, claimed):
    """The first free slot without impulse, else the first free one; their contacts are stored from begin to end."""
    free, k = -1, begin
    for s in range(first, first + slots):
        while k < end and memory.slot[k] < s:
            k += 1
        if not claimed[s - first]:
            if k == end or memory.slot[k] > s or not _has_impulse(memory, k):
                return s
            if free < 0:
                free = s
    return free
