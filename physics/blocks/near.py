"""Driven blocks that are near the others, and blocks that start inside each other."""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.blocks.contacts import deform, may_touch
from grouser.physics.blocks.separation import least_overlap
from grouser.physics.blocks.turning import place_block

# Distance within which a driven block is near, beyond twice the way of both [m].
_MARGIN = 1e-3


@kernel
def find_near(system, state, work, free, first_link, time: float):
    """Marks which of the driven blocks from a number on may touch a free one within a time.

    Args:
        system, state, work: of the assembly; `near` of the work is changed.
        free: number of free blocks, which are the first.
        first_link: first of the driven blocks that move.
        time: [s].

    Returns:
        Whether one is near.
    """
    _lay_out(system, state, work)
    fastest = 0.0
    for block in range(free):
        fastest = max(fastest, _speed(state, work, block))
    found = False
    for link in range(first_link, work.near.shape[0]):
        margin = _MARGIN + 2.0 * time * (fastest + _speed(state, work, link))
        near = False
        for block in range(free):
            if _gap(work.box[block], work.box[link]) < margin:
                near = True
                break
        work.near[link] = near
        found = found or near
    return found


@kernel
def deepest_overlap(system, state, work):
    """The two blocks that overlap most where they are, of those that may touch.

    Args:
        system, state, work: of the assembly.

    Returns:
        Both blocks, and by how much they overlap [m]; 0 where none do.
    """
    _lay_out(system, state, work)
    one, two, deepest = 0, 0, 0.0
    for first in range(work.near.shape[0]):
        for second in range(first + 1, work.near.shape[0]):
            if may_touch(system, state, work, first, second):
                separation, _, _, _, _ = least_overlap(system.shapes, work, first, second)
                if -separation > deepest:
                    one, two, deepest = first, second, -separation
    return one, two, deepest


@kernel
def _lay_out(system, state, work):
    """Places all blocks, with their corners and bounds."""
    for block in range(work.near.shape[0]):
        work.near[block] = True
        place_block(system, state, work, block)
        deform(system.shapes, state, work, block)


@kernel
def _speed(state, work, block):
    """Largest speed of a block's points, at most [m/s]."""
    velocity, spin, box = state.velocity[block], state.angular_velocity[block], work.box[block]
    speed = turning = size = 0.0
    for axis in range(3):
        speed += velocity[axis] * velocity[axis]
        turning += spin[axis] * spin[axis]
        size += (box[3 + axis] - box[axis]) * (box[3 + axis] - box[axis])
    return math.sqrt(speed) + math.sqrt(turning * size)


@kernel
def _gap(box, other):
    """Largest distance of two bounds along an axis [m]."""
    gap = -math.inf
    for axis in range(3):
        gap = max(gap, box[axis] - other[3 + axis], other[axis] - box[3 + axis])
    return gap
