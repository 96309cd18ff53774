"""Contacts of boxes, cylinders, capsules and convex meshes with each other.

The largest separation of two solids along a direction is their distance, or, where they overlap, minus the depth of
the overlap. Face normals often prove it. Else the iterations of `nearest` find the direction for separate solids. For
solids whose distance is small beside their size it has few accurate digits, and overlapping ones have no nearest
points: they are moved apart along the best known direction, which is then replaced by that between their nearest
points. This never lowers the separation: with p the nearest point of the set of differences, moved by t along the unit
vector d, its separation along p / |p| is |p| - t d.p / |p|, and |p| is at least that along d after the move. The search
starts from the directions between slightly shrunk solids, between the middles, and, where they overlap deeply, from the
best face normal.

`manifold` finds the contact points along the direction. They are a function of the two poses and of the reach alone.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import rotated, rotated_back
from grouser.physics.contact.contacts import CONTACT_MARGIN
from grouser.physics.contact.manifold import PREFERENCE, build_manifold
from grouser.physics.contact.nearest import nearest_points
from grouser.physics.contact.pairs import CollisionPairs
from grouser.physics.contact.separation import (
    best_box_face,
    best_crossing,
    best_face,
    best_face_near,
    distance_along,
    support,
)
from grouser.physics.contact.shapes import BOX, CAPSULE, HULL, Shapes

if TYPE_CHECKING:
    from grouser.physics.contact.collide import ContactWorkspace
    from grouser.physics.multibody.kinematics import Kinematics

# The normals of more faces than this together are not tried all.
_MOST_FACES = 64
# Share by which meshes of more faces are shrunk at first.
_CORE = 0.002
# Shares by which solids are shrunk for a first direction, until they are apart; where that is deep.
_CORES, _DEEP = (0.002, 0.02, 0.1, 0.3, 0.6), 0.1
# Distance to which they are moved apart, as a share of the smaller one: at first, its factor, and the least.
_LIFT, _LOWERING, _SMALLEST_LIFT = 0.05, 0.1, 1e-4
# Most rounds, and gain below which one is the last [m].
_ROUNDS, _GAIN = 6, 1e-12
# Margin below a distance, for the tolerance of `manifold` [m].
_DISTANCE_ERROR = 1e-5


@kernel
def touch_convex(
    shapes: Shapes, pairs: CollisionPairs, p, kinematics: "Kinematics", step: float, workspace: "ContactWorkspace"
):
    """Fills `workspace.found` with the contact points of a pair of convex solids; returns their number.

    A separate pair is skipped until the relative motion of its solids may exceed their last distance. The two poses
    bound that motion by the displacement of the centre and the chord of the rotation at the bounding radius. The result
    equals that of solving the pair in every step.
    """
    rotation, place = workspace.rotation, workspace.position
    a, b, c = np.uintp(pairs.first[p]), np.uintp(pairs.second[p]), np.uintp(pairs.convex[p])
    small = a if shapes.bound[a] < shapes.bound[b] else b
    reach = _reach(kinematics.twist, shapes.body[a], shapes.body[b], place[small], shapes.bound[small], step)
    moved, turned = _relative_motion(
        rotation[a], place[a], rotation[b], place[b], workspace.solved_rotation[c], workspace.solved_position[c]
    )
    if workspace.distance[c] - _DISTANCE_ERROR - moved - turned * shapes.bound[b] > reach:
        return 0
    workspace.reach[c] = reach
    _store_pose(
        rotation[a], place[a], rotation[b], place[b], workspace.solved_rotation[c], workspace.solved_position[c]
    )
    distance = workspace.distance[c : c + 1]
    if shapes.part[a, 3] - shapes.part[a, 2] + shapes.part[b, 3] - shapes.part[b, 2] <= _MOST_FACES:
        number = _solve_by_faces(shapes, a, b, reach, pairs.slots[p], workspace, distance)
    else:
        number = _solve_by_near_faces(shapes, a, b, c, reach, pairs.slots[p], workspace, distance)
    if number >= 0:
        return number
    return search_convex(shapes, pairs, p, reach, workspace, distance)


@kernel
def search_convex(shapes: Shapes, pairs: CollisionPairs, p, reach: float, workspace: "ContactWorkspace", distance):
    """As `touch_convex`, by a search for the direction.

    Args:
        shapes, pairs, p: the pair, whose relative pose is stored.
        reach: largest relevant gap [m].
        workspace: with `found`, the result.
        distance: result, lower bound of the distance [m], (1,).
    """
    a, b, c = np.uintp(pairs.first[p]), np.uintp(pairs.second[p]), np.uintp(pairs.convex[p])
    workspace.searches[0] += 1
    distance[0] = _find_direction(shapes, a, b, c, reach, workspace)
    if distance[0] > reach:
        return 0
    return _build_pair_manifold(shapes, a, b, reach, pairs.slots[p], workspace)


@kernel
def _find_direction(shapes: Shapes, a, b, c, reach, workspace: "ContactWorkspace"):
    """Largest separation of two solids [m], at least a lower bound of it where it exceeds the reach.

    Args:
        shapes, a, b: the two solids.
        c: index of the pair among the convex ones, whose relative pose is stored.
        reach: largest relevant gap [m].
        workspace: `direction` and `witness` are results.
    """
    turn, place, simplex = workspace.solved_rotation[c], workspace.solved_position[c], workspace.simplex
    x, y, z = place[0], place[1], place[2]
    best, nx, ny, nz, wx, wy, wz = nearest_points(shapes, a, b, turn, x, y, z, 0.0, 0.0, 0.0, 0.0, reach, simplex)
    if best > reach:
        return best
    core_distance = best + _radii(shapes, a, b)
    if core_distance > _LIFT * min(shapes.bound[a], shapes.bound[b]):
        _place_result(workspace, a, nx, ny, nz, wx, wy, wz)
        return best
    if not core_distance > PREFERENCE:
        best, nx, ny, nz = _first_direction(shapes, a, b, turn, x, y, z, nx, ny, nz, workspace)
    return _improve_direction(shapes, a, b, turn, x, y, z, nx, ny, nz, best, workspace)


@kernel
def _improve_direction(shapes: Shapes, a, b, turn, x, y, z, nx, ny, nz, best, workspace: "ContactWorkspace"):
    """Improves a direction by moving the solids apart along it; returns the separation along the best one [m].

    Args:
        shapes, a, b: the two solids.
        turn, x, y, z: pose of the second solid in the frame of the first.
        nx, ny, nz: the direction, and `best`, the separation along it.
        workspace: `direction` and `witness` are results.
    """
    smaller = min(shapes.bound[a], shapes.bound[b])
    free, wx, wy, wz = _LIFT * smaller, 0.0, 0.0, 0.0
    # the iterations end at the nearest corners of polyhedra; for round solids another start costs digits
    known = 1.0 if _is_polyhedron(shapes.kind[a]) and _is_polyhedron(shapes.kind[b]) else 0.0
    for _ in range(_ROUNDS):
        lift = free - best
        _, ux, uy, uz, wx, wy, wz = nearest_points(
            *(shapes, a, b, turn, x - lift * nx, y - lift * ny, z - lift * nz),
            *(known * nx, known * ny, known * nz, 0.0, math.inf, workspace.simplex),
        )
        along = _along(shapes, a, b, turn, x, y, z, ux, uy, uz)
        gain = along - best
        if gain > 0.0:
            best, nx, ny, nz = along, ux, uy, uz
        if gain < _GAIN:
            break
        free = max(_LOWERING * free, _SMALLEST_LIFT * smaller)
    _place_result(workspace, a, nx, ny, nz, wx, wy, wz)
    return best


@kernel
def _place_result(workspace: "ContactWorkspace", a, nx, ny, nz, wx, wy, wz):
    """Writes direction and witness, given in the frame of the first solid."""
    r, at, direction, witness = workspace.rotation[a], workspace.position[a], workspace.direction, workspace.witness
    direction[0], direction[1], direction[2] = rotated(r, nx, ny, nz)
    wx, wy, wz = rotated(r, wx, wy, wz)
    witness[0], witness[1], witness[2] = at[0] + wx, at[1] + wy, at[2] + wz


@kernel
def _is_polyhedron(kind):
    """Whether a solid has flat faces only."""
    return kind in (BOX, HULL)


@kernel
def _radii(shapes: Shapes, a, b):
    """Sum of the radii of capsules [m]."""
    radii = shapes.size[a, 0] if shapes.kind[a] == CAPSULE else 0.0
    return radii + shapes.size[b, 0] if shapes.kind[b] == CAPSULE else radii


@kernel
def _first_direction(shapes: Shapes, a, b, turn, x, y, z, nx, ny, nz, workspace: "ContactWorkspace"):
    """The best direction that is known of touching or overlapping solids, and the separation along it [m].

    Args:
        shapes, a, b: the two solids.
        turn, x, y, z: pose of the second solid in the frame of the first.
        nx, ny, nz: direction between the nearest points, zero if they have none.
        workspace: poses, and buffers.
    """
    rotation, position, direction = workspace.rotation, workspace.position, workspace.direction
    part, middle = shapes.part, shapes.middle
    best = _along(shapes, a, b, turn, x, y, z, nx, ny, nz)
    # the separation of shrunk solids is a first guess of the depth
    for less in _CORES:
        _, ux, uy, uz, _, _, _ = nearest_points(
            shapes, a, b, turn, x, y, z, 0.0, 0.0, 0.0, less, math.inf, workspace.simplex
        )
        along = _along(shapes, a, b, turn, x, y, z, ux, uy, uz)
        if along > best:
            best, nx, ny, nz = along, ux, uy, uz
        if along > -math.inf:
            break
    bx, by, bz = rotated(turn, middle[b, 0], middle[b, 1], middle[b, 2])
    ux, uy, uz = middle[a, 0] - bx - x, middle[a, 1] - by - y, middle[a, 2] - bz - z
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    if length > 0.0:
        ux, uy, uz = ux / length, uy / length, uz / length
        along = _along(shapes, a, b, turn, x, y, z, ux, uy, uz)
        if along > best:
            best, nx, ny, nz = along, ux, uy, uz
    if less >= _DEEP or part[a, 3] - part[a, 2] + part[b, 3] - part[b, 2] <= _MOST_FACES:
        along = best_face(shapes, rotation, position, a, b, direction)
        if along > best:
            best = along
            nx, ny, nz = rotated_back(rotation[a], direction[0], direction[1], direction[2])
    if shapes.kind[a] == BOX and shapes.kind[b] == BOX:
        along = best_crossing(shapes, rotation, position, a, b, direction)
        if along > best:
            best = along
            nx, ny, nz = rotated_back(rotation[a], direction[0], direction[1], direction[2])
    if best == -math.inf:
        # concentric round solids
        nx, ny, nz = 0.0, 0.0, 1.0
        best = _along(shapes, a, b, turn, x, y, z, nx, ny, nz)
    return best, nx, ny, nz


@kernel
def _along(shapes: Shapes, a, b, turn, x, y, z, nx, ny, nz):
    """Separation of two solids along a unit vector in the frame of the first [m]; -inf along zero."""
    if nx == 0.0 and ny == 0.0 and nz == 0.0:
        return -math.inf
    ux, uy, uz = rotated_back(turn, nx, ny, nz)
    reach_b = support(shapes, b, ux, uy, uz)
    return -(nx * x + ny * y + nz * z) - support(shapes, a, -nx, -ny, -nz) - reach_b


@kernel
def _solve_by_faces(shapes: Shapes, a, b, reach, most, workspace: "ContactWorkspace", distance):
    """Solves a pair by its face normals, if they prove the result.

    The separation along a direction is at most the distance. Two solids are therefore apart if they are apart along a
    face normal; if a contact point along it has no larger gap than that, it is the distance. Overlapping solids must
    overlap as much along every other direction, too. This is certain if the overlap is negligible, or for boxes, for
    which all candidate directions are known (Gottschalk et al. 1996).

    Args:
        shapes, a, b: the two solids.
        reach, most: see `build_manifold`.
        workspace: with `found`, a result.
        distance: result, also for a separate pair.

    Returns:
        Number of contact points, -1 where the normals do not prove the result.
    """
    rotation, position, size, direction = workspace.rotation, workspace.position, shapes.size, workspace.direction
    if shapes.kind[a] == BOX and shapes.kind[b] == BOX:
        along = best_box_face(size[a], rotation[a], position[a], size[b], rotation[b], position[b], direction)
    else:
        along = best_face(shapes, rotation, position, a, b, direction)
    distance[0] = along
    if along > reach:
        return 0
    if along < -PREFERENCE:
        if shapes.kind[a] != BOX or shapes.kind[b] != BOX:
            return -1
        if best_crossing(shapes, rotation, position, a, b, workspace.frame[0]) > along + PREFERENCE:
            return -1
    if along == -math.inf:
        return -1
    # the centre of the first solid serves as witness; it must not become a contact point
    number, least = build_manifold(shapes, a, b, direction, along, position[a], reach, most, workspace, workspace.found)
    return -1 if least > along + PREFERENCE else number


@kernel
def _solve_by_near_faces(shapes: Shapes, a, b, c, reach, most, workspace: "ContactWorkspace", distance):
    """As `_solve_by_faces`, for meshes of many faces, by those near the direction between slightly shrunk solids.

    Shrunk about their middles, solids keep the directions of their faces and edges, and those that touch or overlap a
    little are apart. The separation along a direction found so, if possible a face normal, does not grow nearby if a
    contact point along it has no larger gap; else the direction is improved.

    Args:
        shapes, a, b, reach, most, workspace, distance: see there.
        c: index of the pair among the convex ones, whose relative pose is stored.

    Returns:
        Number of contact points, -1 for solids that overlap more.
    """
    turn, place, bound = workspace.solved_rotation[c], workspace.solved_position[c], shapes.bound
    x, y, z = place[0], place[1], place[2]
    # no point of a solid moves farther towards its middle
    shrinkage = 2.0 * _CORE * (bound[a] + bound[b])
    best, nx, ny, nz, wx, wy, wz = nearest_points(
        shapes, a, b, turn, x, y, z, 0.0, 0.0, 0.0, _CORE, reach + shrinkage, workspace.simplex
    )
    if best - shrinkage > reach:
        distance[0] = best - shrinkage
        return 0
    if not best > PREFERENCE:
        return -1
    given = _along(shapes, a, b, turn, x, y, z, nx, ny, nz)
    _place_result(workspace, a, nx, ny, nz, wx, wy, wz)
    along = best_face_near(
        shapes, workspace.rotation, workspace.position, a, b, workspace.direction, workspace.manifold_direction
    )
    if along < given - PREFERENCE:
        # an edge across an edge
        along = given
        for k in range(3):
            workspace.manifold_direction[k] = workspace.direction[k]
    distance[0] = along
    if along > reach:
        return 0
    number, least = build_manifold(
        *(shapes, a, b, workspace.manifold_direction, along, workspace.witness, reach, most, workspace),
        workspace.found,
    )
    if least <= along + PREFERENCE:
        return number
    distance[0] = _improve_direction(shapes, a, b, turn, x, y, z, nx, ny, nz, given, workspace)
    return 0 if distance[0] > reach else _build_pair_manifold(shapes, a, b, reach, most, workspace)


@kernel
def _store_pose(r_a, at_a, r_b, at_b, solved_rotation, solved_position):
    """Stores the pose of the second solid in the frame of the first."""
    for i in range(3):
        solved_position[i] = 0.0
        for j in range(3):
            solved_position[i] += r_a[j, i] * (at_b[j] - at_a[j])
            solved_rotation[i, j] = r_a[0, i] * r_b[0, j] + r_a[1, i] * r_b[1, j] + r_a[2, i] * r_b[2, j]


@kernel
def _reach(twist, body_a, body_b, place, bound, step: float):
    """Largest gap of two solids that may close within two steps [m].

    The motion along the line between their nearest points is the same for all points of this line. Points of either
    solid, or within the gap of it, approach the other one at most at the relative speed of its centre plus that of the
    rotation about it.

    Args:
        twist: of the bodies.
        body_a, body_b: the first moves; -1 is the world.
        place, bound: centre and bound of one of the solids; the smaller one gives the smaller result.
        step: [s].
    """
    x, y, z = place[0], place[1], place[2]
    vx, vy, vz = twist[body_a, 0], twist[body_a, 1], twist[body_a, 2]
    wx, wy, wz = twist[body_a, 3], twist[body_a, 4], twist[body_a, 5]
    if body_b >= 0:
        vx, vy, vz = vx - twist[body_b, 0], vy - twist[body_b, 1], vz - twist[body_b, 2]
        wx, wy, wz = wx - twist[body_b, 3], wy - twist[body_b, 4], wz - twist[body_b, 5]
    vx, vy, vz = vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x
    turning = math.sqrt(wx * wx + wy * wy + wz * wz)
    ahead = 2.0 * step * (math.sqrt(vx * vx + vy * vy + vz * vz) + turning * bound)
    remaining = 1.0 - 2.0 * step * turning
    return max(CONTACT_MARGIN, ahead / max(remaining, 0.1))


@kernel
def _relative_motion(r_a, at_a, r_b, at_b, solved_rotation, solved_position):
    """Motion of the second solid relative to the first: centre [m], and chord of the rotation at radius 1 [-]."""
    moved = turned = 0.0
    for k in range(3):
        now = 0.0
        for m in range(3):
            now += r_a[m, k] * (at_b[m] - at_a[m])
        moved += (now - solved_position[k]) ** 2
        for m in range(3):
            now = r_a[0, k] * r_b[0, m] + r_a[1, k] * r_b[1, m] + r_a[2, k] * r_b[2, m]
            turned += (now - solved_rotation[k, m]) ** 2
    # |R - R0| (Frobenius) is 2 sqrt(2) sin(angle / 2); points at radius 1 move by at most 2 sin(angle / 2)
    return math.sqrt(moved), math.sqrt(0.5 * turned)


@kernel
def _build_pair_manifold(shapes: Shapes, a, b, reach, most, workspace: "ContactWorkspace"):
    """Manifold of a pair along the direction found, or along the normal of a touching face.

    For touching solids the direction between their nearest points has no accurate digits. The separation along a face
    normal is exact, and no smaller than along other directions if that face touches.

    Args:
        shapes, a, b: the two solids.
        reach, most: see `build_manifold`.
        workspace: direction and witness found; `found` is the result.

    Returns:
        Number of points.
    """
    rotation, position, direction, used = (
        *(workspace.rotation, workspace.position),
        *(workspace.direction, workspace.manifold_direction),
    )
    given = distance_along(shapes, rotation, position, a, b, direction[0], direction[1], direction[2])
    distance = best_face_near(shapes, rotation, position, a, b, direction, used)
    number = 0
    for by_face in (True, False):
        if not by_face:
            distance = given
            for i in range(3):
                used[i] = direction[i]
        if distance < given - PREFERENCE:
            continue
        number, least = build_manifold(
            shapes, a, b, used, distance, workspace.witness, reach, most, workspace, workspace.found
        )
        if least <= distance + PREFERENCE or not by_face:
            break
    return number
