"""Which pairs of shapes may touch, and where the shapes are.

An *object* is a set of links held together by joints. Links of different objects may touch, and so may links and
obstacles. Within an object two links may not touch if a joint connects their bodies, if the machine excludes the pair,
or if it excludes all pairs of its links. Machines in a shared simulation are different objects.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.contact.laws import LawTable
from grouser.physics.contact.reduction import HULL_POINTS
from grouser.physics.contact.shapes import CAPSULE, HULL, POINTS, Shapes
from grouser.physics.description.data.machine import Machine
from grouser.physics.model.names import Names

# Methods for a pair: points of the first or second shape against the other, two capsules, two convex solids.
POINTS_OF_FIRST, POINTS_OF_SECOND, CAPSULES, CONVEX = range(4)
_CAPSULE_CONTACTS = 3
# Contacts of two convex solids without meshes, and of a convex solid and a capsule.
CONVEX_CONTACTS = 4
_LINE_CONTACTS = 2


class CollisionPairs(NamedTuple):
    """Pairs of shapes that may touch, in the order in which their contacts are listed.

    Attributes:
        first, second: the two shapes; the first one's body moves.
        kind: POINTS_OF_FIRST, POINTS_OF_SECOND, CAPSULES or CONVEX.
        law: index into the laws.
        slot, slots: first slot and number of slots; for points one slot each. The slots of the ground come first.
        size: bound of the smaller shape [m].
        convex: index of the pair among those of convex solids, -1 for others.
        convex_pair: the pairs of convex solids, (convex pairs,).
        number: pair of each two shapes, -1 for none, (shapes, shapes).
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
    number: np.ndarray


class CollisionRules:
    """Which links may touch each other.

    Args:
        machine: provides joints, loop joints and exclusions.
        names: of its bodies.
    """

    def __init__(self, machine: Machine, names: Names):
        member = {link.name: machine.member_of(link.name) for link in machine.links}
        # all fixed links are one body of each machine
        bodies = list(zip(member.values(), names.link_body.tolist(), strict=True))
        numbers = {body: number for number, body in enumerate(dict.fromkeys(bodies))}
        body = {link.name: numbers[body] for link, body in zip(machine.links, bodies, strict=True)}
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
        self._disabled = {frozenset((pair.link1, pair.link2)) for pair in machine.disabled_collisions}
        enabled = [one.self_collision.enabled for _, one in roots]
        leaders = self._find_objects(machine, held)
        # of each link: its body, whether its machine's links may touch each other, and its object's representative
        self._index = {link.name: number for number, link in enumerate(machine.links)}
        self._number = np.array(list(body.values()))
        self._touches_itself = np.array([enabled[number] for number in member.values()])
        self._leader = np.array([self._index[leader] for leader in leaders.values()])
        self._held = {frozenset((body[one], body[other])) for one, other in held}

    def same_object(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Whether joints hold two links together, pair by pair; the link `world` connects nothing.

        Args:
            one, other: indices of the links, -1 for an obstacle.
        """
        return (one >= 0) & (other >= 0) & (self._leader[one] == self._leader[other])

    def may_touch(self, one: np.ndarray, other: np.ndarray, excluded: Iterable[frozenset[str]] = ()) -> np.ndarray:
        """Whether links may touch each other, pair by pair; obstacles touch all links.

        Args:
            one, other: indices of the links, -1 for an obstacle.
            excluded: further pairs of links that may not.
        """
        index, body = self._index, self._number
        apart = [[index[name] for name in pair] for pair in (*self._disabled, *excluded) if pair <= index.keys()]
        allowed = (body[one] != body[other]) & (self._touches_itself[one] | ~self.same_object(one, other))
        allowed &= ~_among(apart, one, other) & ~_among(self._held, body[one], body[other])
        return allowed | (one < 0) | (other < 0)

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


def _among(pairs: Collection[Collection[int]], one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Whether each two numbers, in any order, are among some pairs of numbers."""
    wide = 1 + max(one.max(initial=0), other.max(initial=0), *(number for pair in pairs for number in pair), 0)
    keys = [min(pair) * wide + max(pair) for pair in pairs]
    return np.isin(np.minimum(one, other) * wide + np.maximum(one, other), keys)


def make_collision_pairs(
    machine: Machine,
    rules: CollisionRules,
    shapes: Shapes,
    laws: LawTable,
    first_slot: int,
    excluded: frozenset[frozenset[str]] = frozenset(),
) -> CollisionPairs:
    """All pairs of shapes that may touch.

    Args:
        machine: provides the links' names.
        rules: decide which links may touch.
        shapes: of links and obstacles.
        laws: collects the contact laws.
        first_slot: number of slots before the pairs.
        excluded: further pairs of links that may not touch.
    """
    one, other = np.triu_indices(len(shapes.kind), 1)
    bare = (shapes.kind == POINTS) & (shapes.size[:, 0] == 0.0)
    chosen = ((shapes.body[one] >= 0) | (shapes.body[other] >= 0)) & ~(bare[one] & bare[other])
    one, other = one[chosen], other[chosen]
    chosen = rules.may_touch(shapes.link[one], shapes.link[other], excluded)
    one, other = one[chosen], other[chosen]
    moves = shapes.body[one] >= 0
    first, second = np.where(moves, one, other), np.where(moves, other, one)
    kind, slots = _kinds_and_slots(shapes, first, second)
    number = np.full((len(shapes.kind), len(shapes.kind)), -1, dtype=np.int32)
    number[first, second] = number[second, first] = np.arange(len(first))
    is_convex = kind == CONVEX
    pairs = CollisionPairs(
        first=first.astype(np.int64),
        second=second.astype(np.int64),
        kind=kind,
        law=_laws_of(machine, shapes, laws, first, second),
        slot=first_slot + np.cumsum(slots) - slots,
        slots=slots,
        size=np.minimum(shapes.bound[first], shapes.bound[second]),
        convex=np.where(is_convex, np.cumsum(is_convex) - 1, -1).astype(np.int64),
        convex_pair=np.flatnonzero(is_convex).astype(np.int64),
        number=number,
    )
    for array in pairs:
        array.flags.writeable = False
    return pairs


def _kinds_and_slots(shapes: Shapes, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Method for each pair, and its largest number of contacts."""
    kind, other = shapes.kind[first], shapes.kind[second]
    points = np.diff(shapes.vertex_start)
    cases = {
        POINTS_OF_FIRST: (kind == POINTS) & ((other != POINTS) | (points[first] >= points[second])),
        POINTS_OF_SECOND: other == POINTS,
        CAPSULES: (kind == CAPSULE) & (other == CAPSULE),
    }
    line, hull = (kind == CAPSULE) | (other == CAPSULE), (kind == HULL) | (other == HULL)
    convex = np.select([line, hull], [_LINE_CONTACTS, HULL_POINTS], CONVEX_CONTACTS)
    slots = [points[first], points[second], _CAPSULE_CONTACTS, convex]
    method = np.select(list(cases.values()), list(cases), CONVEX)
    return method.astype(np.int64), np.select(list(cases.values()), slots[:-1], slots[-1]).astype(np.int64)


def _laws_of(machine: Machine, shapes: Shapes, laws: LawTable, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Law of each pair; new laws are numbered in the order of the pairs."""
    obstacle = np.cumsum(shapes.link < 0) - 1
    given = [
        laws.links[link] if link >= 0 else laws.obstacles[number]
        for link, number in zip(shapes.link, obstacle, strict=True)
    ]
    # the law depends on everything but the name of the link
    kinds = [replace(material, link="") for material in given]
    distinct = list(dict.fromkeys(kinds))
    place = {kind: number for number, kind in enumerate(distinct)}
    material = np.array([place[kind] for kind in kinds], dtype=np.int64)
    combination = material[first] * len(distinct) + material[second]
    keys, earliest, which = np.unique(combination, return_index=True, return_inverse=True)
    law = np.zeros(len(keys), dtype=np.int64)
    for k in np.argsort(earliest):
        one, other = divmod(int(keys[k]), len(distinct))
        law[k] = laws.between(distinct[one], distinct[other])
    return law[which]


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
