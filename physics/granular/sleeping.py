"""Grains that sleep: they stay where they are, and cost next to nothing, until something that moves touches them.

A grain is at rest while its speed stays below 0.001 sqrt(g R) and the force that is left on it below 0.001 m g. After
`System.rest_steps` steps at rest it falls asleep, if all grains that it touches have been at rest for half as many.
It wakes when a grain that it touches, or touched a step ago, has moved by 0.001 R since that was last at rest, and when
a body that it touches moves. It keeps the memory of its contacts, so that a heap goes on as it was. Grains that sleep
still press on bodies other than the first, which is the world. The spheres of a clump sleep and wake together.
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import State, System, Workspace

# Speed by that of a fall by the radius, and force by the weight, of a grain at rest [-].
_SPEED, _FORCE = 1e-3, 1e-3
# Way that wakes a neighbour, by the radius, and speed of a body that wakes what it touches, as `_SPEED` [-].
_WAY, _BODY_SPEED = 1e-3, 1e-2
# More steps than any grain has been at rest for.
_LONG = 2**62


@inlined
def wake_beside(state: State, work: Workspace, i, j):
    """Marks a grain that sleeps for waking, if the other of two that touch, which is awake, has moved."""
    sleeper, other = (i, j) if state.asleep[i] else (j, i)
    square = 0.0
    for c in range(3):
        square += (state.position[other, c] - state.rest[other, c]) ** 2
    way = _WAY * state.position[other, 3]
    if square > way * way:
        work.woken[sleeper] = True


@inlined
def wake_on_body(system: System, state: State, work: Workspace, b, i, speed):
    """Marks a grain that sleeps on a body for waking, if the body moves with this velocity where they touch."""
    square = speed[0] * speed[0] + speed[1] * speed[1] + speed[2] * speed[2]
    if square > _BODY_SPEED**2 * _fall(system) * state.position[i, 3]:
        work.woken[i] = True


@kernel
def count_rest(system: System, state: State, work: Workspace):
    """Wakes the grains marked, and counts the steps for which the others have been at rest."""
    fall = _fall(system)
    half = system.rest_steps // 2
    for i in range(state.number[0]):
        if state.asleep[i]:
            if work.woken[i]:
                state.asleep[i], state.still[i] = False, 0
                work.woken[i], work.unquiet[0] = False, True
            continue
        speed = force = 0.0
        weight = 1.0 / state.velocity[i, 3]
        for c in range(3):
            speed += state.velocity[i, c] ** 2
            force += (work.force[i, c] + weight * system.gravity[c]) ** 2
        turning = (state.spin[i, 0] ** 2 + state.spin[i, 1] ** 2 + state.spin[i, 2] ** 2) * state.position[i, 3] ** 2
        slow = max(speed, turning) < _SPEED**2 * fall * state.position[i, 3]
        if slow and force < (_FORCE * weight * fall) ** 2:
            state.still[i] += 1
            if state.still[i] == half:
                _note_rest(state, i)
        else:
            state.still[i] = 0
    if state.clumps[0] > 0:
        agree_on_rest(state, work)


@kernel
def agree_on_rest(state: State, work: Workspace):
    """Spheres of a clump have been at rest for as long as the one that moved last, and wake together."""
    still, awake = work.clump_mark, work.clump_awake
    for c in range(state.clumps[0]):
        still[c], awake[c] = _LONG, False
    for i in range(state.number[0]):
        c = state.clump[i]
        if c >= 0:
            still[c] = min(still[c], state.still[i])
            awake[c] = awake[c] or not state.asleep[i]
    for i in range(state.number[0]):
        c = state.clump[i]
        if c >= 0:
            state.still[i] = still[c]
            if awake[c] and state.asleep[i]:
                state.asleep[i], work.unquiet[0] = False, True


@kernel
def fall_asleep(system: System, state: State, work: Workspace):
    """Lets the grains fall asleep that have been at rest for long enough, with all that they touch."""
    least, half = system.rest_steps, system.rest_steps // 2
    # whether each must stay awake, in the buffer of those that wake
    stays = work.woken
    for i in range(state.number[0]):
        for k in range(state.pair_start[i], state.pair_start[i + 1]):
            j = state.pair_other[k]
            if state.pair_history[k, 3] > 0.0:
                stays[i] = stays[i] or (not state.asleep[j] and state.still[j] < half)
                stays[j] = stays[j] or (not state.asleep[i] and state.still[i] < half)
    if state.clumps[0] > 0:
        _stay_together(state, work, stays)
    for i in range(state.number[0]):
        if not state.asleep[i] and not stays[i] and state.still[i] >= least:
            state.asleep[i] = work.unquiet[0] = True
            _note_rest(state, i)
            for c in range(3):
                state.velocity[i, c] = state.spin[i, c] = 0.0
            if state.clump[i] >= 0:
                for c in range(3):
                    state.clump_velocity[state.clump[i], c] = state.clump_momentum[state.clump[i], c] = 0.0
        stays[i] = False


@kernel
def _stay_together(state: State, work: Workspace, stays):
    """Marks all spheres of a clump of which one must stay awake."""
    awake = work.clump_awake
    for c in range(state.clumps[0]):
        awake[c] = False
    for i in range(state.number[0]):
        if state.clump[i] >= 0:
            awake[state.clump[i]] = awake[state.clump[i]] or stays[i]
    for i in range(state.number[0]):
        if state.clump[i] >= 0:
            stays[i] = awake[state.clump[i]]


@kernel
def find_quiet(system: System, state: State, work: Workspace):
    """Finds the grains that need no forces: they sleep, with those in their list, and are near the world alone."""
    body = system.boundaries.body
    for i in range(state.number[0]):
        quiet = state.asleep[i]
        if quiet:
            for k in range(state.pair_start[i], state.pair_start[i + 1]):
                quiet = quiet and state.asleep[state.pair_other[k]]
            for k in range(state.boundary_start[i], state.boundary_start[i + 1]):
                quiet = quiet and body[state.boundary_shape[k]] == 0
        work.quiet[i] = quiet
    work.unquiet[0] = False


@inlined
def _note_rest(state: State, i):
    for c in range(3):
        state.rest[i, c] = state.position[i, c]


@inlined
def _fall(system: System):
    """Acceleration of gravity [m/s2]."""
    g = system.gravity
    return math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
