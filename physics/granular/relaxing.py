"""Overlaps at the start: grains that begin inside each other or in boundaries are pushed apart before anything runs."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import State, System, Workspace
from grouser.physics.granular.clump_motion import follow_spheres
from grouser.physics.granular.manifold import DEPTH, NORMAL, find_points
from grouser.physics.granular.shapes import MESH, nearest, to_body, to_world_axes

# Overlap that a start may have, by the smaller radius; deeper ones are relaxed, to below the second [-].
MOST_OVERLAP, TOUCHING = 0.1, 0.01
# Longest push of a pair in a sweep, by the smaller radius [-]: a longer one may end behind a thin boundary.
_PUSH = 0.2
# Angle between successive directions on a golden spiral [rad].
_GOLDEN = math.pi * (3.0 - math.sqrt(5.0))


@kernel
def push_apart(system: System, state: State, work: Workspace, pushes):
    """Looks at all listed contacts in their order, and moves what overlaps apart, at most until it touches.

    The grains of a pair move in the inverse ratio of their masses, boundaries not at all. Clumps move
    with their spheres, and do not turn. The lists are stale after it where a grain has moved by half the skin.

    Args:
        system, state, work: of the grains; boundaries are rigid.
        pushes: whether grains are moved.

    Returns:
        Pairs of grains, and grains and boundaries, that overlapped by more than `MOST_OVERLAP`; the sum of all overlaps
        and the largest, by the smaller radius [-]; number of a grain with it, and of the other, -1 for a boundary.
    """
    pairs = edges = 0
    first = second = -1
    total = largest = 0.0
    for i in range(state.number[0]):
        for k in range(state.pair_start[i], state.pair_start[i + 1]):
            j = state.pair_other[k]
            share = _part_grains(state, i, j, pushes)
            pairs += share > MOST_OVERLAP
            total += share
            if share > largest:
                largest, first, second = share, state.ident[i], state.ident[j]
        k, end = state.boundary_start[i], state.boundary_start[i + 1]
        while k < end:
            s = state.boundary_shape[k]
            share = _part_from_shape(system, state, work, i, s, pushes)
            edges += share > MOST_OVERLAP
            total += share
            if share > largest:
                largest, first, second = share, state.ident[i], -1
            k += system.boundaries.slots[s]
    if pushes:
        if state.clumps[0] > 0:
            follow_spheres(state, work)
        _mark_stale(system, state)
    return pairs, edges, total, largest, first, second


@inlined
def _part_grains(state: State, i, j, pushes):
    """Moves two grains apart; returns their overlap before it, by the smaller radius, 0 for none."""
    position = state.position
    e0, e1, e2 = position[i, 0] - position[j, 0], position[i, 1] - position[j, 1], position[i, 2] - position[j, 2]
    both, square = position[i, 3] + position[j, 3], e0 * e0 + e1 * e1 + e2 * e2
    if square >= both * both:
        return 0.0
    distance = math.sqrt(square)
    overlap = both - distance
    if pushes:
        if distance > 0.0:
            n0, n1, n2 = e0 / distance, e1 / distance, e2 / distance
        else:
            # one place for both: any direction that differs from pair to pair
            angle = _GOLDEN * (state.ident[i] + state.ident[j])
            n0, n1, n2 = 0.8 * math.cos(angle), 0.8 * math.sin(angle), 0.6
        way = min(overlap, _PUSH * min(position[i, 3], position[j, 3])) / (state.velocity[i, 3] + state.velocity[j, 3])
        _move(state, i, way * state.velocity[i, 3], n0, n1, n2)
        _move(state, j, -way * state.velocity[j, 3], n0, n1, n2)
    return overlap / min(position[i, 3], position[j, 3])


@inlined
def _part_from_shape(system: System, state: State, work: Workspace, i, s, pushes):
    """Moves a grain out of a shape, where it is deepest; returns its overlap before it, by the radius."""
    boundaries, b, radius = system.boundaries, system.boundaries.body[s], state.position[i, 3]
    if boundaries.kind[s] >= MESH:
        overlap, n0, n1, n2 = 0.0, 0.0, 0.0, 0.0
        if find_points(boundaries, s, state, i, work) > 0:
            found = work.manifold
            overlap, n0, n1, n2 = found[0, DEPTH], found[0, NORMAL], found[0, NORMAL + 1], found[0, NORMAL + 2]
    else:
        place = to_body(state, b, state.position[i, 0], state.position[i, 1], state.position[i, 2])
        n0, n1, n2, distance = nearest(boundaries, s, place)
        overlap = max(radius - distance, 0.0)
    if pushes and overlap > 0.0:
        m0, m1, m2 = to_world_axes(state, b, n0, n1, n2)
        _move(state, i, overlap, m0, m1, m2)
    return overlap / radius


@inlined
def _move(state: State, i, way, n0, n1, n2):
    state.position[i, 0] += way * n0
    state.position[i, 1] += way * n1
    state.position[i, 2] += way * n2


@inlined
def _mark_stale(system: System, state: State):
    farthest = 0.0
    for i in range(state.number[0]):
        square = 0.0
        for c in range(3):
            square += (state.position[i, c] - state.built[i, c]) ** 2
        farthest = max(farthest, square)
    if farthest > 0.25 * system.skin * system.skin:
        state.stale[0] = 1
