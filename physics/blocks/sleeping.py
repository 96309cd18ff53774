"""Blocks that sleep: they stay where they are, and cost next to nothing, until something that moves comes near.

Blocks that a bond holds together, or that are near each other, are one cluster. A cluster in which no block moves, and
to which no link is near, counts the steps of the machine; where clusters meet, the least count is that of all. After
`System.rest_steps` it sleeps. It wakes when a link comes near one of its blocks, or a block that is awake: both are one
cluster then; and when the load of grains on one of its blocks is no longer what that bore when it was last awake, to a
twentieth of its weight. What sleeps follows from the state alone.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.blocks.near import gap, largest_speed, lay_out
from grouser.physics.blocks.points import copy_row

# Distance within which two blocks are near, beyond twice the way of both in a step [m].
_MARGIN = 1e-3
# Change of the load of grains that wakes a block, by its weight [-].
_CHANGE = 0.05


@kernel
def wake(own, state, work, time: float):
    """Finds the clusters that are awake and the links that are near them, and stops all other blocks.

    Args:
        own, state, work: of the room; clusters and what is active are changed.
        time: step of the machine [s].

    Returns:
        Whether any block is awake.
    """
    active = work.blocks.active
    work.cluster[:] = -1
    _lay_out_moving(own, state, work)
    for link in range(own.first_link, active.shape[0]):
        active[link] = False
        for block in range(own.free):
            if _near(work, link, block, time):
                active[link] = True
                _gather(own, state, work, block, time)
                work.rested[work.cluster[block]] = -1
    for block in range(own.free):
        if _rests(own, state, block) and _is_loaded_anew(own, state, work, block):
            _gather(own, state, work, block, time)
            work.rested[work.cluster[block]] = -1
    found = False
    for block in range(own.free):
        if not _rests(own, state, block):
            _gather(own, state, work, block, time)
        active[block] = work.cluster[block] >= 0
        if active[block]:
            found = True
            copy_row(state.borne, block, work.blocks.load, block)
        else:
            _stop(state.blocks, block)
    return found


@kernel
def count_rest(own, state, work):
    """Counts the steps for which the clusters that are awake have been at rest.

    Returns:
        Whether all speeds are finite.
    """
    finite = True
    for block in range(own.free):
        if work.cluster[block] >= 0:
            speed = _speed(own, state.blocks, block)
            finite = finite and math.isfinite(speed)
            if speed > own.rest_speed:
                work.rested[work.cluster[block]] = -1
    for block in range(own.free):
        if work.cluster[block] >= 0:
            state.still[block] = work.rested[work.cluster[block]] + 1
    return finite


@kernel
def _rests(own, state, block):
    """Whether a block has been at rest for so long that it may sleep."""
    return own.rest_steps > 0 and state.still[block] >= own.rest_steps


@kernel
def _is_loaded_anew(own, state, work, block):
    """Whether the load on a block has changed since it was awake: moments count by its radius of gyration."""
    force = moment = weight = 0.0
    for axis in range(3):
        force += (work.blocks.load[block, axis] - state.borne[block, axis]) ** 2
        moment += (work.blocks.load[block, 3 + axis] - state.borne[block, 3 + axis]) ** 2
        weight += (own.blocks.bodies.mass[block] * own.blocks.laws.gravity[axis]) ** 2
    return max(force, moment / _square_of_gyration(own, block)) > _CHANGE**2 * weight


@kernel
def _lay_out_moving(own, state, work):
    """Bounds and speeds of links and free blocks; those that may sleep have not moved."""
    blocks = work.blocks
    for block in range(blocks.active.shape[0]):
        if block < own.free and _rests(own, state, block):
            copy_row(blocks.box, block, state.bounds, block)
            work.speed[block] = 0.0
        elif block < own.free or block >= own.first_link:
            lay_out(own.blocks, state.blocks, blocks, block)
            work.speed[block] = largest_speed(state.blocks, blocks, block)
            if block < own.free:
                copy_row(state.bounds, block, blocks.box, block)


@kernel
def _near(work, one, other, time):
    """Whether two blocks may touch within a step."""
    box = work.blocks.box
    return gap(box[one], box[other]) < _MARGIN + 2.0 * time * (work.speed[one] + work.speed[other])


@kernel
def _gather(own, state, work, first, time):
    """Gathers the cluster of a block, unless it is known."""
    if work.cluster[first] >= 0:
        return
    work.cluster[first], work.rested[first] = first, state.still[first]
    work.queue[0], count, done = first, 1, 0
    while done < count:
        block = work.queue[done]
        done += 1
        for other in range(own.free):
            if work.cluster[other] < 0 and (_bonded(own, state, block, other) or _near(work, block, other, time)):
                work.cluster[other], work.queue[count] = first, other
                work.rested[first] = min(work.rested[first], state.still[other])
                count += 1


@kernel
def _bonded(own, state, one, other):
    joint = own.blocks.joints.between[one, other]
    return joint >= 0 and state.blocks.live[joint]


@kernel
def _speed(own, state, block):
    """Speed of a block's centre, or of its surface by its rotation where that is faster [m/s]."""
    radius = _square_of_gyration(own, block)
    speed = turning = 0.0
    for axis in range(3):
        speed += state.velocity[block, axis] * state.velocity[block, axis]
        turning += state.angular_velocity[block, axis] * state.angular_velocity[block, axis]
    return math.sqrt(max(speed, radius * turning)) if math.isfinite(speed + radius * turning) else math.inf


@kernel
def _square_of_gyration(own, block):
    """Square of the radius of gyration about the three axes together [m2]."""
    inertia = own.blocks.bodies.inertia[block]
    return (inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) / own.blocks.bodies.mass[block]


@kernel
def _stop(state, block):
    state.velocity[block, :] = 0.0
    state.angular_velocity[block, :] = 0.0
    state.angular_momentum[block, :] = 0.0
    state.rate[block, :] = 0.0
