"""Grains and clumps that an emitter makes: their places and rows."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import rotation_matrix
from grouser.physics.granular.arrays import State


@kernel
def random_turn(u, v, w):
    """Quaternion (x, y, z, w) of a random rotation, all equally probable (Shoemake, 1992), by numbers from 0 to 1."""
    a, b, v, w = math.sqrt(1.0 - u), math.sqrt(u), 2.0 * math.pi * v, 2.0 * math.pi * w
    return a * math.sin(v), a * math.cos(v), b * math.sin(w), b * math.cos(w)


@inlined
def place_grain(state: State, n, place, radius):
    """Sets place and radius [m] of row n."""
    for c in range(3):
        state.position[n, c] = place[c]
    state.position[n, 3] = radius


@kernel
def place_spheres(state: State, n, place, turn, radius, sphere, first, end):
    """Sets places and radii of the spheres of a clump, from row n on.

    Args:
        state: of the grains.
        n: row behind all others.
        place: of the centre of mass [m].
        turn: quaternion of the principal axes.
        radius: of a sphere of the clump's volume [m].
        sphere: centres and radii of spheres by this radius, (spheres, 4).
        first, end: those of the clump.
    """
    r = rotation_matrix(turn[0], turn[1], turn[2], turn[3])
    for s in range(first, end):
        i = n + s - first
        for c in range(3):
            state.offset[i, c] = radius * sphere[s, c]
        o0, o1, o2 = state.offset[i, 0], state.offset[i, 1], state.offset[i, 2]
        state.position[i, 0] = place[0] + r[0] * o0 + r[1] * o1 + r[2] * o2
        state.position[i, 1] = place[1] + r[3] * o0 + r[4] * o1 + r[5] * o2
        state.position[i, 2] = place[2] + r[6] * o0 + r[7] * o1 + r[8] * o2
        state.position[i, 3] = radius * sphere[s, 3]


@kernel
def add_clump(state: State, place, turn, velocity, mass, radius, inertia, e):
    """Enters a clump that does not turn; returns its number.

    Args:
        state: of the grains, with room for it.
        place, turn, radius: as of `place_spheres`.
        velocity: [m/s].
        mass: [kg].
        inertia, e: principal moments by the mass, of clumps of radius 1, (rows, 3), and the row that counts.
    """
    c = state.clumps[0]
    for k in range(3):
        state.clump_position[c, k], state.clump_velocity[c, k] = place[k], velocity[k]
        state.clump_momentum[c, k], state.clump_inertia[c, k] = 0.0, mass * radius * radius * inertia[e, k]
    for k in range(4):
        state.clump_turn[c, k] = turn[k]
    state.clump_velocity[c, 3] = 1.0 / mass
    state.clumps[0] += 1
    return c
