"""Emitters, which make grains, and sinks, in which they end."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import State, Workspace
from grouser.physics.granular.clump_births import add_clump, place_grain, place_spheres, random_turn
from grouser.physics.granular.free_places import is_free

# Columns of `Sources.number`: least and largest radius [m], density [kg/m3], rate [1/s], begin and end [s], velocity
# (3) [m/s].
_LEAST, _LARGEST, _DENSITY, _RATE, _BEGIN, _END, _VELOCITY = range(7)
WIDTH = 9
# Places that an emitter tries in a step in which it finds none, and the first random number of a clump's orientation.
_TRIALS, _TURN = 8, 40


class Sources(NamedTuple):
    """Emitters and sinks, each a box.

    Attributes:
        rotation, centre, half: of each emitter's box: matrix to the world, centre [m], half sides [m],
            (emitters, 3, 3), (emitters, 3), (emitters, 3).
        number: of each emitter, (emitters, 9).
        material: of its grains, (emitters,).
        seed: of its random numbers, (emitters,).
        sphere_start: first sphere of each emitter's clumps in `sphere`, (emitters + 1,); single grains have none.
        sphere: centres in the principal axes, and radii, for clumps of radius 1, (spheres, 4).
        share: of each sphere in the mass of its clump, (spheres,).
        inertia: principal moments of these clumps by their mass, (emitters, 3).
        sink_rotation, sink_centre, sink_half: of the boxes of the sinks.
    """

    rotation: np.ndarray
    centre: np.ndarray
    half: np.ndarray
    number: np.ndarray
    material: np.ndarray
    seed: np.ndarray
    sphere_start: np.ndarray
    sphere: np.ndarray
    share: np.ndarray
    inertia: np.ndarray
    sink_rotation: np.ndarray
    sink_centre: np.ndarray
    sink_half: np.ndarray


def no_sources() -> Sources:
    """Neither emitters nor sinks."""
    whole = np.zeros(0, dtype=np.int64)
    boxes = np.zeros((0, 3, 3)), np.zeros((0, 3)), np.zeros((0, 3))
    clumps = np.zeros(1, dtype=np.int64), np.zeros((0, 4)), np.zeros(0), np.zeros((0, 3))
    return Sources(*boxes, np.zeros((0, WIDTH)), whole, whole, *clumps, *boxes)


@kernel
def emit(context: Context):
    """Makes the grains and clumps that are due, where they touch neither grains nor boundaries.

    A grain for which there is no place stays due, and those of its emitter after it: the next step tries other places.
    It keeps its radius, whatever other emitters make meanwhile.

    Args:
        context: its grains get the new ones behind their last ones; bodies are where they are at the time.

    Returns:
        Whether there was room; if not, `needed` says for how many grains and clumps there must be, and another call
        goes on.
    """
    sources, own = context.system.granular.sources, context.state.granular
    state, emitted, work = own.grains, own.emitted, context.workspace.granular.grains
    steps, step = context.state.step_count[0], context.system.settings.step
    for e in range(emitted.shape[0]):
        tried = _due(sources, e, (steps - 1) * step)
        for _ in range(_due(sources, e, steps * step) - emitted[e]):
            if not _has_room(sources, e, state, work):
                return False
            again = steps if emitted[e] < tried else 0
            if not _emit_one(context, e, emitted[e], again):
                break
            emitted[e] += 1
    return True


@inlined
def _has_room(sources: Sources, e, state: State, work: Workspace):
    """Whether there is room for what an emitter makes next; if not, notes what is needed."""
    spheres = sources.sphere_start[e + 1] - sources.sphere_start[e]
    grains, clumps = state.number[0] + max(spheres, 1), state.clumps[0] + min(spheres, 1)
    if grains <= state.position.shape[0] and clumps <= state.clump_position.shape[0]:
        return True
    work.needed[2], work.needed[3] = grains, clumps
    return False


@inlined
def _due(sources: Sources, e, time):
    """Number of grains that an emitter should have made."""
    number = sources.number
    lasted = min(time, number[e, _END]) - number[e, _BEGIN]
    return int(math.floor(lasted * number[e, _RATE] + 1e-9)) if lasted > 0.0 else 0


@kernel
def _emit_one(context: Context, e, count, again):
    """Makes a grain or clump at a random place that is free; returns whether there is one among some trials.

    Places are others for each `again`: the number of the step, 0 in the first in which the grain is due.
    """
    sources, state = context.system.granular.sources, context.state.granular.grains
    number, n, first, end = sources.number, state.number[0], sources.sphere_start[e], sources.sphere_start[e + 1]
    least, largest = number[e, _LEAST], number[e, _LARGEST]
    seed = sources.seed[e]
    radius = least + (largest - least) * _random(seed, e, count, 0, 0)
    turn = random_turn(
        _random(seed, e, count, _TURN, 0),
        _random(seed, e, count, _TURN + 1, 0),
        _random(seed, e, count, _TURN + 2, 0),
    )
    for trial in range(_TRIALS):
        x0 = (2.0 * _random(seed, e, count, 4 * trial + 1, again) - 1.0) * sources.half[e, 0]
        x1 = (2.0 * _random(seed, e, count, 4 * trial + 2, again) - 1.0) * sources.half[e, 1]
        x2 = (2.0 * _random(seed, e, count, 4 * trial + 3, again) - 1.0) * sources.half[e, 2]
        axes, centre = sources.rotation, sources.centre
        place = (
            centre[e, 0] + axes[e, 0, 0] * x0 + axes[e, 0, 1] * x1 + axes[e, 0, 2] * x2,
            centre[e, 1] + axes[e, 1, 0] * x0 + axes[e, 1, 1] * x1 + axes[e, 1, 2] * x2,
            centre[e, 2] + axes[e, 2, 0] * x0 + axes[e, 2, 1] * x1 + axes[e, 2, 2] * x2,
        )
        if first == end:
            place_grain(state, n, place, radius)
        else:
            place_spheres(state, n, place, turn, radius, sources.sphere, first, end)
        free = True
        for i in range(n, n + max(end - first, 1)):
            free = free and is_free(context, i, n)
        if free:
            mass = number[e, _DENSITY] * 4.0 / 3.0 * math.pi * radius**3
            velocity = number[e, _VELOCITY], number[e, _VELOCITY + 1], number[e, _VELOCITY + 2]
            if first == end:
                enter_grain(state, mass, sources.material[e], velocity, -1)
            else:
                clump = add_clump(state, place, turn, velocity, mass, radius, sources.inertia, e)
                for s in range(first, end):
                    enter_grain(state, mass * sources.share[s], sources.material[e], velocity, clump)
            return True
    return False


@inlined
def enter_grain(state: State, mass, material, velocity, clump):
    """Enters a grain, or a sphere of a clump, whose place and radius are set in the row after the last one.

    Args:
        state: of the grains.
        mass: [kg].
        material: its number.
        velocity: [m/s].
        clump: number of the clump; -1 for none.
    """
    n = state.number[0]
    radius = state.position[n, 3]
    state.velocity[n, 3], state.spin[n, 3] = 1.0 / mass, 2.5 / (mass * radius * radius)
    for c in range(3):
        state.velocity[n, c] = velocity[c]
        state.spin[n, c], state.rest[n, c] = 0.0, math.inf
    state.material[n], state.ident[n] = material, state.born[0]
    state.still[n], state.asleep[n], state.clump[n] = 0, False, clump
    state.pair_start[n + 1], state.boundary_start[n + 1] = state.pair_start[n], state.boundary_start[n]
    state.born[0] += 1
    state.number[0] += 1
    state.stale[0] = 1


@inlined
def _random(seed, e, count, draw, again):
    """A number from 0 to 1 that these determine (SplitMix64, Steele et al., 2014)."""
    key = (again << 32) + count * 131 + draw + 1 + e * 8191
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.uint64(key)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def drain(sources: Sources, state: State):
    """Takes the grains and clumps away whose centres are in a sink, and wakes those that they touched.

    Returns:
        Number of grains taken away, and their mass [kg].
    """
    gone, mass = 0, 0.0
    for i in range(state.number[0]):
        place = state.position if state.clump[i] < 0 else state.clump_position
        row = i if state.clump[i] < 0 else state.clump[i]
        if state.ident[i] >= 0 and _is_in_sink(sources, place, row):
            state.ident[i] = -1
            gone += 1
            mass += 1.0 / state.velocity[i, 3]
    if gone > 0:
        state.stale[0] = 1
        wake_beside_gone(state)
    return gone, mass


@kernel
def wake_beside_gone(state: State):
    """Wakes the grains that touch one whose `ident` is -1."""
    for i in range(state.number[0]):
        for k in range(state.pair_start[i], state.pair_start[i + 1]):
            j = state.pair_other[k]
            if state.pair_history[k, 3] > 0.0 and (state.ident[i] < 0) != (state.ident[j] < 0):
                stays = j if state.ident[i] < 0 else i
                state.asleep[stays], state.still[stays] = False, 0


@inlined
def _is_in_sink(sources: Sources, place, i):
    for s in range(sources.sink_half.shape[0]):
        inside = True
        e0, e1, e2 = (
            place[i, 0] - sources.sink_centre[s, 0],
            place[i, 1] - sources.sink_centre[s, 1],
            place[i, 2] - sources.sink_centre[s, 2],
        )
        turn = sources.sink_rotation
        for c in range(3):
            along = turn[s, 0, c] * e0 + turn[s, 1, c] * e1 + turn[s, 2, c] * e2
            inside = inside and abs(along) <= sources.sink_half[s, c]
        if inside:
            return True
    return False
