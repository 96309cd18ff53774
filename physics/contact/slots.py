"""Slots: storage of the contacts' impulses from one step to the next.

Each pair of shapes has a few slots. A contact takes the slot with the nearest stored anchor, a point of the body: it
continues the contact of the last step at that place.
"""

from grouser.physics.base.kernel import kernel


@kernel
def claim_slots(first, slots, count, anchor, tolerance, memory_anchor, memory_impulse, claimed, slot):
    """Assigns a slot of its own to each of `count` contacts.

    A contact takes the free slot with an impulse and the nearest anchor within `tolerance`; without such a slot, a free
    one without impulse; otherwise any free one.

    Args:
        first, slots: the slots are first to first + slots - 1.
        count: number of contacts, at most `slots`.
        anchor: of each contact in the frame of its body [m], (contacts, 3).
        tolerance: largest motion of a contact on the body [m].
        memory_anchor, memory_impulse: stored anchors and impulses of the slots, (slots, 3).
        claimed: buffer, one flag for each slot.
        slot: result, (contacts,).
    """
    for s in range(first, first + slots):
        claimed[s] = False
    for c in range(count):
        slot[c] = -1
        nearest = tolerance * tolerance
        for s in range(first, first + slots):
            if not claimed[s] and _remembers(memory_impulse, s):
                dx = memory_anchor[s, 0] - anchor[c, 0]
                dy = memory_anchor[s, 1] - anchor[c, 1]
                dz = memory_anchor[s, 2] - anchor[c, 2]
                distance = dx * dx + dy * dy + dz * dz
                if distance < nearest:
                    nearest = distance
                    slot[c] = s
        if slot[c] >= 0:
            claimed[slot[c]] = True
    for c in range(count):
        if slot[c] < 0:
            slot[c] = _free_slot(first, slots, memory_impulse, claimed)
            claimed[slot[c]] = True


@kernel
def _remembers(memory_impulse, s):
    """Whether the slot had an impulse in the last step."""
    return memory_impulse[s, 0] != 0.0 or memory_impulse[s, 1] != 0.0 or memory_impulse[s, 2] != 0.0


@kernel
def _free_slot(first, slots, memory_impulse, claimed):
    """The first free slot without impulse, else the first free one."""
    free = -1
    for s in range(first, first + slots):
        if not claimed[s]:
            if not _remembers(memory_impulse, s):
                return s
            if free < 0:
                free = s
    return free
