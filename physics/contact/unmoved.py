"""Contact points of shapes that have not moved by a bit since these were found.

What rests moves by less than the rounding of its position from step to step. Contact points are a function of the poses
and, while nothing can close a gap within two steps, of nothing else: those found are used again, and are the same to
the last bit as if they were found anew.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.contact.reduction import HULL_POINTS

# Faster shapes have moved in the next step [m/s]. In two steps, slower ones close no gap that counts.
_STILL = 1e-10


class UnmovedOnGround(NamedTuple):
    """Vertices of meshes that touch the ground, by the mesh.

    Attributes:
        origin: of the kinematics, (meshes, 3) [m].
        pose: rotation, row by row, and position of the mesh (`store_pose`), (meshes, 12).
        number: of the vertices.
        vertex: these, (meshes, HULL_POINTS).
    """

    origin: np.ndarray
    pose: np.ndarray
    number: np.ndarray
    vertex: np.ndarray


class UnmovedPairs(NamedTuple):
    """Contact points of pairs of convex solids, by the place of the pair in the list of near ones.

    Attributes:
        pair: the pair, -1 for none.
        pose, other_pose: of its two solids (`store_pose`), (near pairs, 12).
        number: of the points.
        found: point, normal and gap of each, (near pairs, HULL_POINTS, 7).
    """

    pair: np.ndarray
    pose: np.ndarray
    other_pose: np.ndarray
    number: np.ndarray
    found: np.ndarray


def make_unmoved_on_ground(meshes: int) -> UnmovedOnGround:
    """Nothing is stored."""
    return UnmovedOnGround(
        origin=np.zeros((meshes, 3)),
        pose=np.zeros((meshes, 12)),
        number=np.zeros(meshes, dtype=np.int64),
        vertex=np.zeros((meshes, HULL_POINTS), dtype=np.int64),
    )


def make_unmoved_pairs(near: int) -> UnmovedPairs:
    """Nothing is stored."""
    return UnmovedPairs(
        pair=np.full(near, -1),
        pose=np.zeros((near, 12)),
        other_pose=np.zeros((near, 12)),
        number=np.zeros(near, dtype=np.int64),
        found=np.zeros((near, HULL_POINTS, 7)),
    )


@kernel
def is_still(speed):
    """Whether a shape may have the same pose in the next step; `speed` is the largest of its points [m/s]."""
    return speed < _STILL


@kernel
def is_at(pose, k, rotation, position):
    """Whether pose k is this one, to the last bit."""
    for i in range(3):
        if pose[k, 9 + i] != position[i]:
            return False
    for i in range(3):
        for j in range(3):
            if pose[k, 3 * i + j] != rotation[i, j]:
                return False
    return True


@kernel
def store_pose(pose, k, rotation, position):
    """Makes this one pose k."""
    for i in range(3):
        pose[k, 9 + i] = position[i]
        for j in range(3):
            pose[k, 3 * i + j] = rotation[i, j]


@kernel
def recall_vertices(unmoved: UnmovedOnGround, h, origin, rotation, position, chosen):
    """Copies the stored vertices of mesh h to `chosen`; returns their number, -1 where the mesh has moved."""
    for i in range(3):
        if unmoved.origin[h, i] != origin[i]:
            return -1
    if not is_at(unmoved.pose, h, rotation, position):
        return -1
    for k in range(unmoved.number[h]):
        chosen[k] = unmoved.vertex[h, k]
    return unmoved.number[h]


@kernel
def store_vertices(unmoved: UnmovedOnGround, h, origin, rotation, position, chosen, number):
    """Stores the vertices of mesh h that touch the ground."""
    for i in range(3):
        unmoved.origin[h, i] = origin[i]
    store_pose(unmoved.pose, h, rotation, position)
    unmoved.number[h] = number
    for k in range(number):
        unmoved.vertex[h, k] = chosen[k]


@kernel
def recall_points(unmoved: UnmovedPairs, n, p, r_a, at_a, r_b, at_b, found):
    """Copies the stored points of pair p at place n to `found`; returns their number, -1 where a solid has moved."""
    same = unmoved.pair[n] == p and is_at(unmoved.pose, n, r_a, at_a) and is_at(unmoved.other_pose, n, r_b, at_b)
    if not same:
        return -1
    for k in range(unmoved.number[n]):
        for m in range(7):
            found[k, m] = unmoved.found[n, k, m]
    return unmoved.number[n]


@kernel
def store_points(unmoved: UnmovedPairs, n, p, r_a, at_a, r_b, at_b, found, number):
    """Stores the points of pair p at place n."""
    unmoved.pair[n], unmoved.number[n] = p, number
    store_pose(unmoved.pose, n, r_a, at_a)
    store_pose(unmoved.other_pose, n, r_b, at_b)
    for k in range(number):
        for m in range(7):
            unmoved.found[n, k, m] = found[k, m]
