"""Distances between boxes, cylinders, capsules and convex meshes, by the library coal.

Coal is called outside of the compiled step, and only for pairs that may be near: see `find_due_pairs`. It gives the
direction of the largest separation of two solids; `manifold` finds the contact points along it.
"""

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from grouser.physics.base.errors import MachineError
from grouser.physics.base.kernel import kernel
from grouser.physics.contact.contacts import CONTACT_MARGIN
from grouser.physics.contact.manifold import PREFERENCE, build_manifold
from grouser.physics.contact.pairs import CONVEX, CollisionPairs
from grouser.physics.contact.separation import best_box_face, best_crossing, best_face, distance_along
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER, Shapes

if TYPE_CHECKING:
    from grouser.physics.contact.collide import ContactWorkspace
    from grouser.physics.multibody.kinematics import Kinematics

# Pairs with more faces than this are left to coal at once.
_MOST_FACES = 64
# Only the faces next to coal's direction are tried: minimum cosine between face normal and direction.
_SAME_SIDE = 0.9
_NO_DIRECTION = (0.0, 0.0, 0.0)
# Tolerance of coal's iterations [m]. The direction's error is about the square root of tolerance / size.
_TOLERANCE = 1e-10
# Shrinkage of the solids that keeps them apart; initial separation, both as shares of the size; factor of the
# separation from one attempt to the next; number of attempts.
_CORE, _LIFT, _LOWERING, _LIFTS = 0.05, 0.05, 0.1, 3
# Margin below coal's distance, for the tolerances of its iterations and of `manifold` [m].
_DISTANCE_ERROR = 1e-5


class ConvexNarrowPhase:
    """Solves the pairs of convex solids that are due.

    Coal's iterations find the direction well for separate solids. For touching solids it has no accurate digits, and
    for slightly overlapping ones the expanding polytope often ends on a wrong side. For solids that are not apart the
    first one is therefore moved away along the best known direction, and coal is called again at decreasing
    separations. The search starts from coal's own direction, that of slightly shrunk solids, and that between the
    centres.

    Args:
        shapes, pairs: of the collision system.

    Raises:
        MachineError: coal is not installed.
    """

    def __init__(self, shapes: Shapes, pairs: CollisionPairs):
        self._shapes, self._pairs = shapes, pairs
        try:
            coal = import_module("coal")
        except ImportError as error:
            raise MachineError(
                "boxes, cylinders, capsules and meshes that touch each other need the package coal",
                remedy="pip install coal, or disable these collisions",
            ) from error
        used = np.unique([pairs.first[pairs.convex_pair], pairs.second[pairs.convex_pair]]).tolist()
        self._solid = {shape: _geometry(coal, shapes, shape, 0.0) for shape in used}
        self._core = {shape: _geometry(coal, shapes, shape, _CORE) for shape in used}
        self._pose = {shape: coal.Transform3s() for shape in used}
        self._moved = coal.Transform3s()
        self._distance = coal.distance
        self._request = coal.DistanceRequest(True)
        self._request.gjk_tolerance = _TOLERANCE
        self._result = coal.DistanceResult()

    def prepare(self, workspace) -> None:
        """Compiles everything that an answer needs: the first contact must not wait for the compiler."""
        workspace.due_count[0] = 0
        pair = self._pairs.convex_pair[0]
        self._along(workspace, *self._shapes_of(pair), np.array([0.0, 0.0, 1.0]))
        _build_manifolds(self._shapes, self._pairs, workspace)

    def answer(self, workspace) -> None:
        """Writes the manifold of every pair in `workspace.due`.

        Args:
            workspace: after `find_due_pairs` in this step.
        """
        for n in workspace.due[: workspace.due_count[0]].tolist():
            pair = workspace.broad.pair[n]
            a, b = self._shapes_of(pair)
            for shape in (a, b):
                self._pose[shape].setRotation(workspace.rotation[shape])
                self._pose[shape].setTranslation(workspace.position[shape])
            distance = self._measure(self._solid, a, b, self._pose[a])
            workspace.touching[n] = not distance > workspace.reach[n]
            if workspace.touching[n]:
                distance = self._find_direction(workspace, n, a, b, distance)
            workspace.distance[self._pairs.convex[pair]] = distance
        _build_manifolds(self._shapes, self._pairs, workspace)

    def _shapes_of(self, pair: int) -> tuple[int, int]:
        """The two shapes of a pair."""
        return int(self._pairs.first[pair]), int(self._pairs.second[pair])

    def _measure(self, solids: dict[int, Any], a: int, b: int, pose: Any) -> float:
        """Distance of two solids [m], the first at a given pose; fills the result."""
        self._result.clear()
        return self._distance(solids[a], pose, solids[b], self._pose[b], self._request, self._result)

    def _find_direction(self, workspace, n: int, a: int, b: int, distance: float) -> float:
        """Writes the direction of the largest separation, from the second solid to the first; returns the separation.

        Coal's last result must be that of the pair; its normals point from the first solid to the second.
        """
        direction = -self._result.normal
        best = self._along(workspace, a, b, direction)
        # the separation along any direction is at most the distance: a direction that reaches it is the best
        if not best >= distance - PREFERENCE > 0.0:
            between = workspace.position[a] - workspace.position[b]
            # a copy: the result's normal is a view, which the next measurement changes
            starts = [self._result.normal.copy(), between / max(np.linalg.norm(between), 1e-300)]
            self._measure(self._core, a, b, self._pose[a])
            for start in (*starts, -self._result.normal):
                along = self._along(workspace, a, b, start)
                if along > best:
                    best, direction = along, start
        if best == -math.inf:
            direction = np.array([0.0, 0.0, 1.0])
            best = self._along(workspace, a, b, direction)
        self._moved.setRotation(workspace.rotation[a])
        free = _LIFT * float(min(self._shapes.bound[a], self._shapes.bound[b]))
        for _ in range(_LIFTS):
            offset = (free - best) * direction
            self._moved.setTranslation(workspace.position[a] + offset)
            self._measure(self._solid, a, b, self._moved)
            workspace.witness[n] = self._result.getNearestPoint1() - offset
            along = self._along(workspace, a, b, -self._result.normal)
            gain = along - best
            if gain > 0.0:
                best, direction = along, -self._result.normal
            if abs(gain) < _TOLERANCE:
                break
            free *= _LOWERING
        workspace.direction[n] = direction
        # coal may fail for solids of very different sizes, with numbers up to infinity
        if not np.abs(workspace.witness[n] - workspace.position[a]).max() <= 1.01 * self._shapes.bound[a]:
            workspace.witness[n] = self._last_vertex(workspace, a, direction)
        return best

    def _last_vertex(self, workspace, shape: int, direction: np.ndarray) -> np.ndarray:
        """The vertex of a shape that is farthest against a direction, from the kinematics' origin."""
        vertices = self._shapes.vertex[self._shapes.vertex_start[shape] : self._shapes.vertex_start[shape + 1]]
        placed = workspace.position[shape] + vertices @ workspace.rotation[shape].T
        return placed[np.argmin(placed @ direction)]

    def _along(self, workspace, a: int, b: int, direction: np.ndarray) -> float:
        """Separation of two solids along a direction [m], -inf if it is not a unit vector."""
        if not abs(direction @ direction - 1.0) < 1e-6:
            return -math.inf
        shapes = self._shapes
        return distance_along(
            *(shapes.kind, shapes.size, shapes.part, shapes.vertex, workspace.rotation, workspace.position),
            *(a, b, *direction.tolist()),
        )


def _geometry(coal: Any, shapes: Shapes, shape: int, less: float) -> Any:
    """A shape as a geometry of coal, shrunk by a share of its size."""
    kind, size = shapes.kind[shape], shapes.size[shape]
    if kind == BOX:
        return coal.Box(*(2.0 * (size - less * size.min())).tolist())
    if kind == CYLINDER:
        radius, half_length = (size[:2] - less * size[:2].min()).tolist()
        return coal.Cylinder(radius, 2.0 * half_length)
    if kind == CAPSULE:
        return coal.Capsule((1.0 - less) * size[0], 2.0 * size[1])
    first, end = shapes.vertex_start[shape], shapes.vertex_start[shape + 1]
    vertices = shapes.vertex[first:end]
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in vertices + less * (vertices.mean(axis=0) - vertices):
        points.append(vertex)
    for corner in (shapes.face_corner[shapes.face_start[shape] : shapes.face_start[shape + 1]] - first).tolist():
        triangles.append(coal.Triangle(*corner))
    return coal.Convex(points, triangles)


@kernel
def find_due_pairs(
    shapes: Shapes, pairs: CollisionPairs, kinematics: "Kinematics", step: float, workspace: "ContactWorkspace"
):
    """Lists in `workspace.due` the near pairs of convex solids that coal must solve; returns their number.

    A separate pair is skipped until the relative motion of its solids may exceed their last distance. The two poses
    bound that motion by the displacement of the centre and the chord of the rotation at the bounding radius. Pairs with
    touching faces need no coal either: see `_solve_by_faces`. The result equals that of solving every pair in every
    step.
    """
    due = 0
    rotation, place = workspace.rotation, workspace.position
    for n in range(np.uintp(workspace.broad.count[0])):
        p = np.uintp(workspace.broad.pair[n])
        if pairs.kind[p] != CONVEX:
            continue
        workspace.manifold_count[n] = 0
        a, b, c = np.uintp(pairs.first[p]), np.uintp(pairs.second[p]), np.uintp(pairs.convex[p])
        small = a if shapes.bound[a] < shapes.bound[b] else b
        reach = _reach(kinematics.twist, shapes.body[a], shapes.body[b], place[small], shapes.bound[small], step)
        moved, turned = _relative_motion(
            rotation[a], place[a], rotation[b], place[b], workspace.solved_rotation[c], workspace.solved_position[c]
        )
        if workspace.distance[c] - _DISTANCE_ERROR - moved - turned * shapes.bound[b] > reach:
            continue
        workspace.reach[n] = reach
        _store_pose(
            rotation[a], place[a], rotation[b], place[b], workspace.solved_rotation[c], workspace.solved_position[c]
        )
        if shapes.part[a, 3] - shapes.part[a, 2] + shapes.part[b, 3] - shapes.part[b, 2] > _MOST_FACES:
            solved = False
        else:
            solved = _solve_by_faces(
                shapes.kind,
                shapes.size,
                shapes.bound,
                shapes.part,
                shapes.vertex,
                shapes.face,
                shapes.face_corner,
                rotation,
                place,
                a,
                b,
                reach,
                pairs.slots[p],
                workspace.buffer,
                workspace.frame,
                workspace.direction[n],
                workspace.distance[c : c + 1],
                workspace.manifold[n],
                workspace.manifold_count[n : n + 1],
            )
        if not solved:
            workspace.due[due] = n
            due += 1
    workspace.due_count[0] = due
    return due


@kernel
def _solve_by_faces(
    kind,
    size,
    bound,
    part,
    vertex,
    face,
    face_corner,
    rotation,
    position,
    a,
    b,
    reach,
    most,
    buffer,
    frame,
    direction,
    distance,
    manifold,
    count,
):
    """Solves a pair by its face normals, if they prove the result.

    The separation along a direction is at most the distance. Two solids are therefore apart if they are apart along a
    face normal; if a contact point along it has no larger gap than that, it is the distance. Overlapping solids must
    overlap as much along every other direction, too. This is certain if the overlap is negligible, or for boxes, for
    which all candidate directions are known (Gottschalk et al. 1996).

    Args:
        kind, size, bound, part, vertex, face, face_corner, rotation, position, a, b: see `build_manifold`.
        reach, most, buffer, frame: see there.
        direction, distance, manifold, count: results; the last three also for a separate pair.

    Returns:
        Whether the pair is solved.
    """
    if kind[a] == BOX and kind[b] == BOX:
        along = best_box_face(size[a], rotation[a], position[a], size[b], rotation[b], position[b], direction)
    else:
        along = best_face(kind, size, part, vertex, face, rotation, position, a, b, _NO_DIRECTION, -1.0, direction)
    distance[0] = along
    if along > reach:
        return True
    if along < -PREFERENCE:
        if kind[a] != BOX or kind[b] != BOX:
            return False
        if best_crossing(kind, size, part, vertex, rotation, position, a, b) > along + PREFERENCE:
            return False
    if along == -math.inf:
        return False
    # the centre of the first solid serves as witness; it must not become a contact point
    number, least = build_manifold(
        kind,
        size,
        bound,
        part,
        vertex,
        face,
        face_corner,
        rotation,
        position,
        a,
        b,
        direction,
        along,
        position[a],
        reach,
        most,
        buffer,
        frame,
        manifold,
    )
    if least > along + PREFERENCE:
        return False
    count[0] = number
    return True


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
def _build_manifolds(shapes: Shapes, pairs: CollisionPairs, workspace: "ContactWorkspace"):
    """Builds the manifolds of the due pairs that touch."""
    for k in range(workspace.due_count[0]):
        n = workspace.due[k]
        p = workspace.broad.pair[n]
        if workspace.touching[n]:
            workspace.manifold_count[n] = _build_pair_manifold(
                shapes.kind,
                shapes.size,
                shapes.bound,
                shapes.part,
                shapes.vertex,
                shapes.face,
                shapes.face_corner,
                workspace.rotation,
                workspace.position,
                np.uintp(pairs.first[p]),
                np.uintp(pairs.second[p]),
                workspace.direction[n],
                workspace.manifold_direction,
                workspace.witness[n],
                workspace.reach[n],
                pairs.slots[p],
                workspace.buffer,
                workspace.frame,
                workspace.manifold[n],
            )


@kernel
def _build_pair_manifold(
    kind,
    size,
    bound,
    part,
    vertex,
    face,
    face_corner,
    rotation,
    position,
    a,
    b,
    direction,
    manifold_direction,
    witness,
    reach,
    most,
    buffer,
    frame,
    manifold,
):
    """Manifold of a pair along coal's direction, or along the normal of a touching face.

    For touching solids the direction between their nearest points has no accurate digits. The separation along a face
    normal is exact, and no smaller than along other directions if that face touches.

    Args:
        kind, size, bound, part, vertex, face, face_corner, rotation, position, a, b: see `build_manifold`.
        direction: from the second solid to the first.
        manifold_direction: result, the direction of the manifold.
        witness, reach, most, buffer, frame, manifold: see `build_manifold`.

    Returns:
        Number of points.
    """
    given = distance_along(kind, size, part, vertex, rotation, position, a, b, direction[0], direction[1], direction[2])
    distance = best_face(
        kind, size, part, vertex, face, rotation, position, a, b, direction, _SAME_SIDE, manifold_direction
    )
    for by_face in (True, False):
        if not by_face:
            distance = given
            for i in range(3):
                manifold_direction[i] = direction[i]
        if distance < given - PREFERENCE:
            continue
        number, least = build_manifold(
            kind,
            size,
            bound,
            part,
            vertex,
            face,
            face_corner,
            rotation,
            position,
            a,
            b,
            manifold_direction,
            distance,
            witness,
            reach,
            most,
            buffer,
            frame,
            manifold,
        )
        if least <= distance + PREFERENCE or not by_face:
            break
    return number
