"""Elastic contacts that begin with a depth: at the start of a simulation, or after a machine was placed.

The spring of such a contact would hold an energy that nobody put in. It acts on the part of the depth that lies beyond
the buried one only, and the buried depth decays at a bounded speed: the bodies are lifted out, and not thrown.

A contact begins with a depth where the last step had no contact between the same two shapes: contacts are listed
before they close. A further contact point of two shapes that touch already is buried as deep as the deepest of them.
"""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import kernel
from grouser.physics.contact.candidates import PEAK_CONTACTS
from grouser.physics.contact.slots import Memory, first_from

if TYPE_CHECKING:
    from grouser.physics.contact.collide import Collision

# Largest speed at which a buried depth decays [m/s].
PUSH_OUT_SPEED = 0.1
# Time in which the last of it decays [s].
_DECAY_TIME = 0.05
# Speed of the vibration about the position of rest that a contact may begin with [m/s].
_FREE_SPEED = 0.1
# A buried depth below this is over [m].
_OVER = 1e-9


@kernel
def buried_depth(
    collision: "Collision",
    memory: Memory,
    stored,
    slot,
    shape,
    other,
    gap,
    approach,
    stiffness,
    inverse_mass,
    gravity,
    step: float,
):
    """Depth of an elastic contact that its spring leaves out in this step [m].

    A contact that begins keeps the depth of its rest under the weight of its effective mass, and that of a vibration
    of `_FREE_SPEED` about it; what is more is buried.

    Args:
        collision: the collision system.
        memory: the contacts of the last step.
        stored: index of the contact among these, -1 for none.
        slot, shape, other: of the contact.
        gap: [m].
        approach: normal speed [m/s].
        stiffness: [N/m].
        inverse_mass: along the normal [1/kg].
        gravity: [m/s2].
        step: [s].
    """
    depth = -gap
    if depth <= 0.0:
        return 0.0
    if stored >= 0:
        before = memory.buried[stored]
        if before == 0.0:
            return 0.0
        left = before - step * min(PUSH_OUT_SPEED, before / _DECAY_TIME)
        return 0.0 if left < _OVER else min(left, depth)
    remembered = _deepest_between(collision, memory, slot, shape, other)
    if remembered >= 0.0:
        return min(remembered, depth)
    if inverse_mass <= 0.0:
        return 0.0
    moved = max(-approach, 0.0) * step
    free = gravity / (stiffness * inverse_mass) + _FREE_SPEED / math.sqrt(stiffness * inverse_mass)
    return max(depth - moved - free, 0.0)


@kernel
def _deepest_between(collision: "Collision", memory: Memory, slot, shape, other):
    """Greatest buried depth among the last step's contacts of two shapes, or of one with the ground; -1 without any."""
    pairs, candidates = collision.pairs, collision.candidates
    if other >= 0 or shape < 0:
        pair, above = 0, pairs.slot.shape[0]
        while above - pair > 1:
            middle = (pair + above) // 2
            if pairs.slot[middle] <= slot:
                pair = middle
            else:
                above = middle
        return _deepest_in(memory, pairs.slot[pair], pairs.slot[pair] + pairs.slots[pair])
    deepest = -1.0
    for c in range(candidates.shape.shape[0]):
        if candidates.shape[c] == shape:
            first = candidates.slot[c]
            deepest = max(deepest, _deepest_in(memory, first, first + candidates.slots[c]))
    for c in range(candidates.peak_shape.shape[0]):
        if candidates.peak_shape[c] == shape:
            first = candidates.peak_slot[c]
            deepest = max(deepest, _deepest_in(memory, first, first + PEAK_CONTACTS))
    return deepest


@kernel
def _deepest_in(memory: Memory, first, end):
    """Greatest buried depth among stored slots first to end - 1; -1 without any."""
    deepest = -1.0
    for k in range(first_from(memory, first), memory.count[0]):
        if memory.slot[k] >= end:
            break
        deepest = max(deepest, memory.buried[k])
    return deepest
