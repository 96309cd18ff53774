"""Which pairs of shapes may touch, and which of them are near enough to be solved.

An *object* is a set of links held together by joints. Links of different objects may touch, and so may links and
obstacles. Within an object two links may not touch if a joint connects their bodies, if the machine excludes the pair,
or if it excludes all pairs of its links. Machines in a shared simulation are different objects.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.contact.contacts import CONTACT_MARGIN
from grouser.physics.contact.laws import LawTable
from grouser.physics.contact.shapes import CAPSULE, POINTS, Shapes
from grouser.physics.description.data.machine import Machine
from grouser.physics.model.multibody import Names

# Methods for a pair: points of the first or second shape against the other, two capsules, two convex solids.
POINTS_OF_FIRST, POINTS_OF_SECOND, CAPSULES, CONVEX = range(4)
_CAPSULE_CONTACTS = 3
# Contacts of two convex solids, and of a convex solid and a capsule.
CONVEX_CONTACTS = 4
_LINE_CONTACTS = 2


class CollisionPairs(NamedTuple):
    """Pairs of shapes that may touch, in the order in which their contacts are listed.

    Attributes:
        first, second: the two shapes; the first one's body moves.
        kind: POINTS_OF_FIRST, POINTS_OF_SECOND, CAPSULES or CONVEX.
        law: index into the laws.
        slot, slots: first slot and number of slots; for points one slot each.
        size: bound of the smaller shape [m].
        convex: index of the pair among those of convex solids, -1 for others.
        convex_pair: the pairs of convex solids, (convex pairs,).
    """

    first: np.ndarray
    second: np.ndarray
    kind: np.ndarray
    law: np.ndarray
    slot: np.ndarray
    slots: np.ndarray
    size: np.ndarray
    convex: np.ndarray
    convex_pair: np.ndarray


class CollisionRules:
    """Which links may touch each other.

    Args:
        machine: provides joints, loop joints and exclusions.
        names: of its bodies.
    """

    def __init__(self, machine: Machine, names: Names):
        self._member = {link.name: machine.member_of(link.name) for link in machine.links}
        bodies = zip(machine.links, names.link_body.tolist(), strict=True)
        # all fixed links are one body of each machine
        self._body = {link.name: (self._member[link.name], body) for link, body in bodies}
        roots = [(member.prefix, member.machine) for member in machine.members] or [("", machine)]
        self._worlds = {f"{prefix}{one.root}" for prefix, one in roots if one.root == "world" and not one.floating_base}
        compliant = {joint.joint for joint in machine.compliant_joints}
        bases = {member.joint for member in machine.members}
        held = [
            (joint.parent, joint.child)
            for joint in machine.joints
            if joint.name not in bases and (joint.type != "floating" or joint.name in compliant)
        ]
        held += [(loop.parent.link, loop.child.link) for loop in machine.loop_joints]
        self._adjacent = {frozenset((self._body[one], self._body[other])) for one, other in held}
        self._disabled = {frozenset((pair.link1, pair.link2)) for pair in machine.disabled_collisions}
        self._enabled = [one.self_collision.enabled for _, one in roots]
        self._object = self._find_objects(machine, held)

    def same_object(self, one: str, other: str) -> bool:
        """Whether joints hold two links together; the link `world` connects nothing."""
        return self._object[one] == self._object[other]

    def may_touch(self, one: str, other: str) -> bool:
        """Whether two links may touch each other."""
        body, other_body = self._body[one], self._body[other]
        if body == other_body or frozenset((one, other)) in self._disabled:
            return False
        if frozenset((body, other_body)) in self._adjacent:
            return False
        return self._enabled[self._member[one]] or not self.same_object(one, other)

    def _find_objects(self, machine: Machine, held: list[tuple[str, str]]) -> dict[str, str]:
        """The representative link of each link's object."""
        leader = {link.name: link.name for link in machine.links}

        def find(name: str) -> str:
            while leader[name] != name:
                name = leader[name]
            return name

        for one, other in held:
            if self._worlds.isdisjoint((one, other)):
                leader[find(one)] = find(other)
        return {name: find(name) for name in leader}


def make_collision_pairs(
    machine: Machine,
    rules: CollisionRules,
    shapes: Shapes,
    laws: LawTable,
    first_slot: int,
    excluded: frozenset[frozenset[str]] = frozenset(),
) -> tuple[CollisionPairs, int]:
    """All pairs of shapes that may touch, and the number of slots up to their last one.

    Args:
        machine: provides the links' names.
        rules: decide which links may touch.
        shapes: of links and obstacles.
        laws: collects the contact laws.
        first_slot: number of slots before the pairs.
        excluded: further pairs of links that may not touch.
    """
    links = [machine.links[link].name if link >= 0 else "" for link in shapes.link]
    rows, sizes = [], []
    obstacle = np.cumsum(shapes.link < 0) - 1
    material = [
        laws.links[link] if link >= 0 else laws.obstacles[number]
        for link, number in zip(shapes.link, obstacle, strict=True)
    ]
    slot, convex = first_slot, 0
    for one, other in itertools.combinations(range(len(links)), 2):
        if shapes.body[one] < 0 and shapes.body[other] < 0:
            continue
        name, other_name = links[one], links[other]
        if name and other_name and (frozenset((name, other_name)) in excluded or not rules.may_touch(name, other_name)):
            continue
        kinds = {int(shapes.kind[one]), int(shapes.kind[other])}
        if kinds == {POINTS} and shapes.size[one, 0] == 0.0 and shapes.size[other, 0] == 0.0:
            continue
        first, second = (one, other) if shapes.body[one] >= 0 else (other, one)
        kind, slots = _kind_and_slots(shapes, first, second)
        law = laws.between(material[first], material[second])
        size = min(shapes.bound[first], shapes.bound[second])
        rows.append((first, second, kind, law, slot, slots, convex if kind == CONVEX else -1))
        sizes.append(size)
        slot += slots
        convex += kind == CONVEX
    table = np.array(rows, dtype=np.int64).reshape(-1, 7).T.copy()
    pairs = CollisionPairs(
        first=table[0],
        second=table[1],
        kind=table[2],
        law=table[3],
        slot=table[4],
        slots=table[5],
        size=np.array(sizes, dtype=float),
        convex=table[6],
        convex_pair=np.flatnonzero(table[2] == CONVEX).astype(np.int64),
    )
    for array in pairs:
        array.flags.writeable = False
    return pairs, slot


def _kind_and_slots(shapes: Shapes, first: int, second: int) -> tuple[int, int]:
    """Method for a pair, and its largest number of contacts."""
    kind, other = shapes.kind[first], shapes.kind[second]
    points = [int(shapes.vertex_start[s + 1] - shapes.vertex_start[s]) for s in (first, second)]
    if kind == POINTS and (other != POINTS or points[0] >= points[1]):
        return POINTS_OF_FIRST, points[0]
    if other == POINTS:
        return POINTS_OF_SECOND, points[1]
    if kind == CAPSULE and other == CAPSULE:
        return CAPSULES, _CAPSULE_CONTACTS
    return CONVEX, _LINE_CONTACTS if CAPSULE in (kind, other) else CONVEX_CONTACTS


@kernel
def place_shapes(body, turn, offset, bound, origin, rotation, position, twist, placed, place, speed):
    """Places all shapes, and finds an upper bound of the speeds of each one's points.

    Args:
        body, turn, offset, bound: of the shapes.
        origin, rotation, position, twist: from the kinematics.
        placed: result, world from shape, (shapes, 3, 3).
        place: result, from the kinematics' origin [m], (shapes, 3).
        speed: result [m/s], (shapes,).
    """
    for s in range(body.shape[0]):
        i = body[s]
        if i < 0:
            for k in range(3):
                place[s, k] = offset[s, k] - origin[k]
                for m in range(3):
                    placed[s, k, m] = turn[s, k, m]
            continue
        r = rotation[i]
        for k in range(3):
            place[s, k] = position[i, k] + r[k, 0] * offset[s, 0] + r[k, 1] * offset[s, 1] + r[k, 2] * offset[s, 2]
            for m in range(3):
                placed[s, k, m] = r[k, 0] * turn[s, 0, m] + r[k, 1] * turn[s, 1, m] + r[k, 2] * turn[s, 2, m]
        wx, wy, wz = twist[i, 3], twist[i, 4], twist[i, 5]
        vx = twist[i, 0] + wy * place[s, 2] - wz * place[s, 1]
        vy = twist[i, 1] + wz * place[s, 0] - wx * place[s, 2]
        vz = twist[i, 2] + wx * place[s, 1] - wy * place[s, 0]
        turning = math.sqrt(wx * wx + wy * wy + wz * wz)
        speed[s] = math.sqrt(vx * vx + vy * vy + vz * vz) + turning * bound[s]


@kernel
def may_meet(a, b, bound, place, speed, step: float):
    """Whether two shapes may touch within two steps, judged by their bounding spheres."""
    reach = bound[a] + bound[b] + max(CONTACT_MARGIN, 2.0 * step * (speed[a] + speed[b]))
    dx, dy, dz = place[a, 0] - place[b, 0], place[a, 1] - place[b, 1], place[a, 2] - place[b, 2]
    return dx * dx + dy * dy + dz * dz < reach * reach
