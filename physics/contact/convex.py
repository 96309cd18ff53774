"""Distances between boxes, cylinders, capsules and convex meshes, by the library coal.

Coal is asked outside of the compiled step, and only for pairs that may be near: see `find_due_pairs`. It gives the
direction in which two solids are farthest apart; the points at which they touch are then those of `manifold`.
"""

import math
from importlib import import_module
from typing import Any

import numpy as np

from grouser.physics.base.errors import MachineError
from grouser.physics.base.kernel import kernel
from grouser.physics.contact.contacts import CONTACT_MARGIN
from grouser.physics.contact.manifold import PREFERENCE, best_crossing, best_face, build_manifold, distance_along
from grouser.physics.contact.pairs import Pairs, may_meet
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER, Shapes

# Solids with more faces than this together are left to coal at once.
_MOST_FACES = 64
# Of the faces next to the direction that coal finds, only those are tried that look this much along it: cosine.
_SAME_SIDE = 0.9
_NO_DIRECTION = (0.0, 0.0, 0.0)
# How far coal iterates [m]. The direction is known to about the root of its share of the size.
_TOLERANCE = 1e-10
# How much smaller the solids are made that are still apart, how far a solid is moved away at first, as shares of the
# size, how much less each next time, and how often.
_CORE, _LIFT, _LOWERING, _LIFTS = 0.05, 0.05, 0.1, 3
# A distance counts as so much less than coal says, as its iterations, and those of `manifold`, end somewhere [m].
_DISTANCE_ERROR = 1e-5


class ConvexNarrowPhase:
    """Answers for the pairs of convex solids that are due.

    Coal's iterations find the direction between solids well when these are apart. When they touch it has no digits
    left, and when they overlap by little the expanding polytope often ends on a wrong side. Solids that are not apart
    are therefore asked about with the first one moved away along the best direction that is known, and again at smaller
    distances. The directions to begin with are coal's own, that of solids made a little smaller, which are still apart,
    and that between the middles.

    Args:
        shapes, pairs: of the collision system.

    Raises:
        MachineError: coal is not installed.
    """

    def __init__(self, shapes: Shapes, pairs: Pairs):
        self._shapes, self._pairs = shapes, pairs
        self._first = pairs.first[pairs.convex_pair].tolist()
        self._second = pairs.second[pairs.convex_pair].tolist()
        try:
            coal = import_module("coal")
        except ImportError as error:
            raise MachineError(
                "boxes, cylinders, capsules and meshes that touch each other need the package coal",
                remedy="pip install coal, or disable these collisions",
            ) from error
        used = sorted({*self._first, *self._second})
        self._solid = {shape: _geometry(coal, shapes, shape, 0.0) for shape in used}
        self._core = {shape: _geometry(coal, shapes, shape, _CORE) for shape in used}
        self._pose = {shape: coal.Transform3s() for shape in used}
        self._moved = coal.Transform3s()
        self._distance = coal.distance
        self._request = coal.DistanceRequest(True)
        self._request.gjk_tolerance = _TOLERANCE
        self._result = coal.DistanceResult()

    def prepare(self, workspace) -> None:
        """Has all that an answer takes compiled now: the first contact must not wait for it."""
        workspace.due_count[0] = 0
        self._along(workspace, self._first[0], self._second[0], np.array([0.0, 0.0, 1.0]))
        _build_manifolds(self._shapes, self._pairs, workspace)

    def answer(self, workspace) -> None:
        """Writes the manifold of every pair in `workspace.due`.

        Args:
            workspace: in which `find_due_pairs` has just listed them.
        """
        due = workspace.due[: workspace.due_count[0]].tolist()
        for shape in {*[self._first[c] for c in due], *[self._second[c] for c in due]}:
            self._pose[shape].setRotation(workspace.rotation[shape])
            self._pose[shape].setTranslation(workspace.position[shape])
        for c in due:
            a, b = self._first[c], self._second[c]
            distance = self._ask(self._solid, a, b, self._pose[a])
            workspace.touching[c] = not distance > workspace.reach[c]
            workspace.distance[c] = distance
            if workspace.touching[c]:
                self._find_direction(workspace, c, a, b)
        _build_manifolds(self._shapes, self._pairs, workspace)

    def _ask(self, solids: dict[int, Any], a: int, b: int, pose: Any) -> float:
        """Distance of two solids [m], the first in some pose; fills the result."""
        self._result.clear()
        return self._distance(solids[a], pose, solids[b], self._pose[b], self._request, self._result)

    def _find_direction(self, workspace, c: int, a: int, b: int) -> None:
        """Writes the direction from the second solid to the first along which they are farthest apart.

        Coal has just been asked about the pair; its normals point from the first solid to the second.
        """
        direction = -self._result.normal
        best = self._along(workspace, a, b, direction)
        # no direction between solids that are apart is longer than their distance: one that is as long is the best
        if not best >= workspace.distance[c] - PREFERENCE > 0.0:
            between = workspace.position[a] - workspace.position[b]
            starts = [self._result.normal, between / max(np.linalg.norm(between), 1e-300)]
            self._ask(self._core, a, b, self._pose[a])
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
            way = (free - best) * direction
            self._moved.setTranslation(workspace.position[a] + way)
            self._ask(self._solid, a, b, self._moved)
            workspace.witness[c] = self._result.getNearestPoint1() - way
            along = self._along(workspace, a, b, -self._result.normal)
            gain = along - best
            if gain > 0.0:
                best, direction = along, -self._result.normal
            if abs(gain) < _TOLERANCE:
                break
            free *= _LOWERING
        workspace.direction[c] = direction
        workspace.distance[c] = best

    def _along(self, workspace, a: int, b: int, direction: np.ndarray) -> float:
        """Distance of two solids along a direction [m], -inf for none."""
        if not abs(direction @ direction - 1.0) < 1e-6:
            return -math.inf
        shapes = self._shapes
        return distance_along(
            *(shapes.kind, shapes.size, shapes.part, shapes.vertex, workspace.rotation, workspace.position),
            *(a, b, *direction.tolist()),
        )


def _geometry(coal: Any, shapes: Shapes, shape: int, less: float) -> Any:
    """A shape as coal knows it, smaller by a share of its size."""
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
def find_due_pairs(shapes, pairs, kinematics, step, workspace):
    """Lists in `workspace.due` the pairs of convex solids that coal must be asked about; their number.

    A pair that was found apart is left alone until one solid may have moved, as seen from the other, by what was free
    between them. How far it has moved is read off the two poses: no more than its middle has, and the chord of its
    rotation at its radius. Where faces touch, coal is not needed either: see `_solve_by_faces`. The answer is the same
    as if every pair were solved in every step.
    """
    due = 0
    rotation, place = workspace.rotation, workspace.position
    for c in range(pairs.convex_pair.shape[0]):
        workspace.manifold_count[c] = 0
        p = pairs.convex_pair[c]
        a, b = pairs.first[p], pairs.second[p]
        if not may_meet(a, b, shapes.bound, place, workspace.speed, step):
            continue
        reach = _reach(kinematics.twist, shapes.body[a], shapes.body[b], place[b], shapes.bound[b], step)
        moved, turned = _moved(
            rotation[a], place[a], rotation[b], place[b], workspace.asked_rotation[c], workspace.asked_position[c]
        )
        if workspace.distance[c] - _DISTANCE_ERROR - moved - turned * shapes.bound[b] > reach:
            continue
        workspace.reach[c] = reach
        _keep_pose(
            rotation[a], place[a], rotation[b], place[b], workspace.asked_rotation[c], workspace.asked_position[c]
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
                rotation,
                place,
                a,
                b,
                reach,
                pairs.slots[p],
                workspace.buffer,
                workspace.frame,
                workspace.direction[c],
                workspace.distance[c : c + 1],
                workspace.manifold[c],
                workspace.manifold_count[c : c + 1],
            )
        if not solved:
            workspace.due[due] = c
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
    """Solves a pair by the normals of its faces, if that gives the answer for certain.

    The distance along a direction is never more than the distance itself. So two solids are apart if they are along the
    normal of a face; and if along it there is a point at which they are no farther apart than that, it is the distance.
    Solids that overlap must do so along every other direction, too, by no less: it is certain if they overlap by next
    to nothing, or if they are boxes, for which all directions in question are known (Gottschalk et al. 1996).

    Args:
        kind, size, bound, part, vertex, face, rotation, position, a, b: see `build_manifold`.
        reach, most, buffer, frame: see there.
        direction, distance, manifold, count: results; the last three also if the pair is apart.

    Returns:
        Whether the pair is solved.
    """
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
    # the middle of the first solid serves as origin; as a point of contact it does not count
    number, least = build_manifold(
        kind,
        size,
        bound,
        part,
        vertex,
        face,
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
def _keep_pose(r_a, at_a, r_b, at_b, asked_rotation, asked_position):
    """Keeps the pose of the second solid as seen from the first."""
    for i in range(3):
        asked_position[i] = 0.0
        for j in range(3):
            asked_position[i] += r_a[j, i] * (at_b[j] - at_a[j])
            asked_rotation[i, j] = r_a[0, i] * r_b[0, j] + r_a[1, i] * r_b[1, j] + r_a[2, i] * r_b[2, j]


@kernel
def _reach(twist, body_a, body_b, place_b, bound_b, step):
    """How far apart two solids may be that touch within two steps [m].

    Points of the second solid, or no farther from it than that, approach the first at most by their middle's speed and
    that of turning about it.
    """
    x, y, z = place_b[0], place_b[1], place_b[2]
    vx, vy, vz = twist[body_a, 0], twist[body_a, 1], twist[body_a, 2]
    wx, wy, wz = twist[body_a, 3], twist[body_a, 4], twist[body_a, 5]
    if body_b >= 0:
        vx, vy, vz = vx - twist[body_b, 0], vy - twist[body_b, 1], vz - twist[body_b, 2]
        wx, wy, wz = wx - twist[body_b, 3], wy - twist[body_b, 4], wz - twist[body_b, 5]
    vx, vy, vz = vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x
    turning = math.sqrt(wx * wx + wy * wy + wz * wz)
    ahead = 2.0 * step * (math.sqrt(vx * vx + vy * vy + vz * vz) + turning * bound_b)
    left = 1.0 - 2.0 * step * turning
    return max(CONTACT_MARGIN, ahead / max(left, 0.1))


@kernel
def _moved(r_a, at_a, r_b, at_b, asked_rotation, asked_position):
    """How far the second solid has moved as seen from the first: its middle [m], and the chord of its turn [-]."""
    way = turn = 0.0
    for k in range(3):
        now = 0.0
        for m in range(3):
            now += r_a[m, k] * (at_b[m] - at_a[m])
        way += (now - asked_position[k]) ** 2
        for m in range(3):
            now = r_a[0, k] * r_b[0, m] + r_a[1, k] * r_b[1, m] + r_a[2, k] * r_b[2, m]
            turn += (now - asked_rotation[k, m]) ** 2
    # |R - R0| (Frobenius) is 2 sqrt(2) sin(angle / 2); no point at radius 1 moves by more than 2 sin(angle / 2)
    return math.sqrt(way), math.sqrt(0.5 * turn)


@kernel
def _build_manifolds(shapes, pairs, workspace):
    """Manifolds of the due pairs that touch."""
    for k in range(workspace.due_count[0]):
        c = workspace.due[k]
        p = pairs.convex_pair[c]
        if workspace.touching[c]:
            workspace.manifold_count[c] = _settle(
                shapes.kind,
                shapes.size,
                shapes.bound,
                shapes.part,
                shapes.vertex,
                shapes.face,
                workspace.rotation,
                workspace.position,
                pairs.first[p],
                pairs.second[p],
                workspace.direction[c],
                workspace.settled,
                workspace.witness[c],
                workspace.reach[c],
                pairs.slots[p],
                workspace.buffer,
                workspace.frame,
                workspace.manifold[c],
            )


@kernel
def _settle(
    kind,
    size,
    bound,
    part,
    vertex,
    face,
    rotation,
    position,
    a,
    b,
    direction,
    settled,
    witness,
    reach,
    most,
    buffer,
    frame,
    manifold,
):
    """Manifold of a pair along the direction that coal has found, or along the normal of a face that touches.

    Where solids touch, the direction between their nearest points has no digits left. The distance along a face's
    normal is exact, and no smaller than along others if it is a face that touches.

    Args:
        kind, size, bound, part, vertex, face, rotation, position, a, b: see `build_manifold`.
        direction: from the second solid to the first.
        settled: result, the direction of the manifold.
        witness, reach, most, buffer, frame, manifold: see `build_manifold`.

    Returns:
        Number of points.
    """
    given = distance_along(kind, size, part, vertex, rotation, position, a, b, direction[0], direction[1], direction[2])
    distance = best_face(kind, size, part, vertex, face, rotation, position, a, b, direction, _SAME_SIDE, settled)
    for by_face in (True, False):
        if not by_face:
            distance = given
            for i in range(3):
                settled[i] = direction[i]
        if distance < given - PREFERENCE:
            continue
        number, least = build_manifold(
            kind,
            size,
            bound,
            part,
            vertex,
            face,
            rotation,
            position,
            a,
            b,
            settled,
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
