"""Where blocks and their bounds are, how far these are apart, and blocks that start inside each other."""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.blocks.contacts import deform, may_touch
from grouser.physics.blocks.field_contacts import depth_in_field
from grouser.physics.blocks.separation import least_overlap
from grouser.physics.blocks.turning import place_block


@kernel
def deepest_overlap(system, state, work):
    """The two blocks that overlap most where they are, of those that may touch.

    Args:
        system, state, work: of the assembly.

    Returns:
        Both blocks, and by how much they overlap [m]; 0 where none do.
    """
    work.active[:] = True
    for block in range(work.active.shape[0]):
        lay_out(system, state, work, block)
    one, two, deepest = 0, 0, 0.0
    for first in range(work.active.shape[0]):
        for second in range(first + 1, work.active.shape[0]):
            if may_touch(system, state, work, first, second):
                if second == system.field_block:
                    depth = depth_in_field(system, work, first)
                else:
                    depth = -least_overlap(system.shapes, work, first, second)[0]
                if depth > deepest:
                    one, two, deepest = first, second, depth
    return one, two, deepest


@kernel
def lay_out(system, state, work, block):
    """Places a block, with its corners and bounds."""
    place_block(system, state, work, block)
    deform(system.shapes, state, work, block)


@kernel
def largest_speed(state, work, block):
    """Largest speed of a block's points, at most [m/s]."""
    velocity, spin, box = state.velocity[block], state.angular_velocity[block], work.box[block]
    speed = turning = size = 0.0
    for axis in range(3):
        speed += velocity[axis] * velocity[axis]
        turning += spin[axis] * spin[axis]
        size += (box[3 + axis] - box[axis]) * (box[3 + axis] - box[axis])
    return math.sqrt(speed) + math.sqrt(turning * size)


@kernel
def gap(box, other):
    """Largest distance of two bounds along an axis [m]."""
    apart = -math.inf
    for axis in range(3):
        apart = max(apart, box[axis] - other[3 + axis], other[axis] - box[3 + axis])
    return apart
