"""The collision system, and contact detection in a step."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.packed import Packed
from grouser.physics.contact.contacts import CONTACT_MARGIN, Contacts, add_found, allocate_contacts
from grouser.physics.contact.convex import ConvexNarrowPhase, find_due_pairs
from grouser.physics.contact.ground import (
    PEAK_CONTACTS,
    GroundCandidates,
    make_ground_candidates,
    touch_field,
    touch_peaks,
    touch_plane,
)
from grouser.physics.contact.laws import ContactLaws, LawTable
from grouser.physics.contact.narrow import capsule_to_capsule, nearest_point, point_to_shape
from grouser.physics.contact.pairs import (
    CAPSULES,
    CONVEX,
    CONVEX_CONTACTS,
    POINTS_OF_FIRST,
    CollisionPairs,
    CollisionRules,
    make_collision_pairs,
    may_meet,
    place_shapes,
)
from grouser.physics.contact.shapes import POINTS, Shapes, make_shapes
from grouser.physics.contact.terrain import SPHERE_CONTACTS, Terrain, make_terrain
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.physics.model.multibody import MultibodyModel, Names
from grouser.physics.multibody.kinematics import Kinematics, make_kinematics, update_kinematics

if TYPE_CHECKING:
    from grouser.physics.contact.room import State

# Links that overlap by more than this at the start cannot be meant to touch [m].
_OVERLAP = 1e-3


class Collision(NamedTuple):
    """All constant data of contact detection."""

    shapes: Shapes
    candidates: GroundCandidates
    terrain: Terrain
    pairs: CollisionPairs
    laws: ContactLaws


class ContactWorkspace(NamedTuple):
    """Buffers of contact detection. They store results of earlier steps to save time; the contacts do not depend on it.

    Attributes:
        rotation, position: poses of the shapes, from the kinematics' origin, (shapes, 3, 3) and (shapes, 3) [m].
        speed: upper bound of the speeds of a shape's points [m/s].
        found: point, normal and gap of each contact point of one pair, (rows, 7).
        found_slot: slot of each of these where it is fixed, else -1.
        near: directions and distances of a sphere above a height field, (SPHERE_CONTACTS, 4).
        claimed: whether a contact has taken each slot.
        due: pairs of convex solids to solve, as indices into `convex_pair`; the first `due_count[0]` are valid.
        reach: largest relevant gap of each convex pair [m].
        distance: lower bound of its distance when it was last solved [m].
        solved_rotation, solved_position: pose of its second shape in the frame of the first when it was last solved.
        touching: whether it was found within reach.
        direction: direction of its largest separation, from the second shape to the first.
        witness: point of the first shape that is nearest to the second, from the kinematics' origin [m].
        manifold: its contact points as in `found`, (convex pairs, CONVEX_CONTACTS, 7).
        manifold_count: number of its contact points in this step.
        buffer: four lists of points in the plane, (4, points, 4).
        frame: two tangents and the normal, (3, 3).
        manifold_direction: direction of a manifold, (3,).
    """

    rotation: np.ndarray
    position: np.ndarray
    speed: np.ndarray
    found: np.ndarray
    found_slot: np.ndarray
    near: np.ndarray
    claimed: np.ndarray
    due: np.ndarray
    due_count: np.ndarray
    reach: np.ndarray
    distance: np.ndarray
    solved_rotation: np.ndarray
    solved_position: np.ndarray
    touching: np.ndarray
    direction: np.ndarray
    witness: np.ndarray
    manifold: np.ndarray
    manifold_count: np.ndarray
    buffer: np.ndarray
    frame: np.ndarray
    manifold_direction: np.ndarray


class Overlap(NamedTuple):
    """Two overlapping shapes.

    Attributes:
        shape, other: their indices.
        depth: of the overlap [m].
    """

    shape: int
    other: int
    depth: float


def make_collision(machine: Machine, names: Names, world: World) -> Collision:
    """Collision system of a machine and its world.

    Raises:
        MachineError: the joint that moves a surface does not have one coordinate of its own, an obstacle is a point
            set, or pairs of convex solids may touch and coal is not installed.
    """
    return _assemble(machine, names, world, make_shapes(machine, names, world), CollisionRules(machine, names))


def exclude_overlaps(
    collision: Collision, machine: Machine, names: Names, model: MultibodyModel, world: World
) -> tuple[Collision, tuple[str, ...]]:
    """Removes the pairs of an object's links that overlap at the start; returns warnings about all overlaps."""
    shapes, rules = collision.shapes, CollisionRules(machine, names)
    within: dict[frozenset[str], float] = {}
    between: dict[frozenset[str], float] = {}
    for overlap in find_overlaps(collision, model, model.q_initial):
        one, other = (shape_name(machine, world, shapes, shape) for shape in overlap[:2])
        of_links = shapes.link[overlap.shape] >= 0 and shapes.link[overlap.other] >= 0
        if of_links and rules.same_object(one, other):
            within[frozenset((one, other))] = max(within.get(frozenset((one, other)), 0.0), overlap.depth)
        elif machine.members:
            between[frozenset((one, other))] = max(between.get(frozenset((one, other)), 0.0), overlap.depth)
    if within:
        collision = _assemble(machine, names, world, shapes, rules, frozenset(within))
    warnings = [
        f'{what}"{one}" and "{other}" overlap by {1000.0 * depth:.1f} mm at the start: they {how}'
        for what, found, how in (("links ", within, "do not touch each other"), ("", between, "push each other apart"))
        for (one, other), depth in sorted((tuple(sorted(pair)), depth) for pair, depth in found.items())
    ]
    return collision, tuple(warnings)


def shape_name(machine: Machine, world: World, shapes: Shapes, shape: int) -> str:
    """Name of a shape's link or obstacle; "ground" for -1."""
    if shape < 0:
        return "ground"
    if shapes.link[shape] >= 0:
        return machine.links[shapes.link[shape]].name
    return world.obstacles[shape - len(shapes.kind)].name


def slot_count(collision: Collision) -> int:
    """Number of slots that store impulses."""
    candidates, pairs = collision.candidates, collision.pairs
    return int(candidates.slots.sum() + PEAK_CONTACTS * len(candidates.peak_shape) + pairs.slots.sum())


def slot_shapes(collision: Collision) -> np.ndarray:
    """The two shapes of each slot's contact, -1 for the ground, (slots, 2)."""
    candidates, pairs = collision.candidates, collision.pairs
    ground = np.concatenate(
        [np.repeat(candidates.shape, candidates.slots), np.repeat(candidates.peak_shape, PEAK_CONTACTS)]
    )
    shapes = np.full((len(ground), 2), -1)
    shapes[:, 0] = ground
    return np.concatenate([shapes, np.repeat(np.stack([pairs.first, pairs.second], axis=1), pairs.slots, axis=0)])


def make_contacts(collision: Collision) -> Contacts:
    """Arrays for a contact in every slot."""
    return allocate_contacts(slot_count(collision))


def make_contact_workspace(collision: Collision) -> ContactWorkspace:
    """Buffers for a collision system."""
    shapes, convex = collision.shapes, len(collision.pairs.convex_pair)
    vertices = int(np.diff(shapes.vertex_start).max(initial=0))
    rows = max(SPHERE_CONTACTS, PEAK_CONTACTS, int(collision.pairs.slots.max(initial=0)))
    return ContactWorkspace(
        rotation=np.zeros((len(shapes.kind), 3, 3)),
        position=np.zeros((len(shapes.kind), 3)),
        speed=np.zeros(len(shapes.kind)),
        found=np.zeros((rows, 7)),
        found_slot=np.zeros(rows, dtype=np.int64),
        near=np.zeros((SPHERE_CONTACTS, 4)),
        claimed=np.zeros(slot_count(collision), dtype=np.bool_),
        due=np.zeros(convex, dtype=np.int64),
        due_count=np.zeros(1, dtype=np.int64),
        reach=np.zeros(convex),
        distance=np.full(convex, -np.inf),
        solved_rotation=np.zeros((convex, 3, 3)),
        solved_position=np.zeros((convex, 3)),
        touching=np.zeros(convex, dtype=np.bool_),
        direction=np.zeros((convex, 3)),
        witness=np.zeros((convex, 3)),
        manifold=np.zeros((convex, CONVEX_CONTACTS, 7)),
        manifold_count=np.zeros(convex, dtype=np.int64),
        buffer=np.zeros((4, 2 * vertices + 8, 4)),
        frame=np.zeros((3, 3)),
        manifold_direction=np.zeros(3),
    )


def clear_convex_distances(workspace: ContactWorkspace) -> None:
    """Clears the stored distances of convex pairs; the contacts found do not depend on them."""
    workspace.distance[:] = -np.inf


@kernel
def convex_pairs_due(collision: Collision, kinematics: Kinematics, step: float, workspace: ContactWorkspace):
    """Places the shapes, and lists the pairs of convex solids that `ConvexNarrowPhase.answer` must solve.

    It must be called first in every step, once the kinematics are filled.

    Args:
        collision: the collision system.
        kinematics: filled for the current state.
        step: [s].
        workspace: result.

    Returns:
        Number of due pairs; if it is zero, `detect_contacts` may follow at once.
    """
    shapes = collision.shapes
    if collision.pairs.first.shape[0] == 0 and collision.candidates.peak_shape.shape[0] == 0:
        return 0
    place_shapes(
        shapes.body,
        shapes.rotation,
        shapes.position,
        shapes.bound,
        kinematics.origin,
        kinematics.rotation,
        kinematics.position,
        kinematics.twist,
        workspace.rotation,
        workspace.position,
        workspace.speed,
    )
    return find_due_pairs(shapes, collision.pairs, kinematics, step, workspace)


@inlined
def detect_contacts(
    collision: Collision,
    kinematics: Kinematics,
    step: float,
    state: "State",
    workspace: ContactWorkspace,
    contacts: Contacts,
):
    """Fills `contacts` with all contacts that exist or may begin within two steps.

    Args:
        collision: the collision system.
        kinematics: filled for the current state.
        step: [s].
        state: stored impulses and anchors of the slots.
        workspace: as `convex_pairs_due` has left it in this step, with its due pairs solved.
        contacts: result.
    """
    contacts.count[0] = 0
    memory = (state.anchor, state.impulse)
    if collision.terrain.heights.shape[0] == 0:
        touch_plane(collision.candidates, collision.terrain, kinematics, step, contacts)
    else:
        _touch_height_field(collision, kinematics, step, memory, workspace, contacts)
    if collision.pairs.first.shape[0] > 0:
        touch_pairs(collision.shapes, collision.pairs, kinematics, step, memory, workspace, contacts)


@kernel
def _touch_height_field(
    collision: Collision,
    kinematics: Kinematics,
    step: float,
    memory: tuple[np.ndarray, np.ndarray],
    workspace: ContactWorkspace,
    contacts: Contacts,
):
    """Adds the contacts with a height field."""
    candidates, shapes, terrain = collision.candidates, collision.shapes, collision.terrain
    touch_field(candidates, terrain, kinematics, step, memory, workspace, contacts)
    touch_peaks(candidates, shapes, terrain, kinematics, step, memory, workspace, contacts)


@kernel
def touch_pairs(
    shapes: Shapes,
    pairs: CollisionPairs,
    kinematics: Kinematics,
    step: float,
    memory: tuple[np.ndarray, np.ndarray],
    workspace: ContactWorkspace,
    contacts: Contacts,
):
    """Adds the contacts between shapes, pair by pair."""
    for p in range(pairs.first.shape[0]):
        a, b = pairs.first[p], pairs.second[p]
        if not may_meet(a, b, shapes.bound, workspace.position, workspace.speed, step):
            continue
        number = 0
        kind = pairs.kind[p]
        if kind == CONVEX:
            c = pairs.convex[p]
            number = workspace.manifold_count[c]
            for k in range(number):
                for m in range(7):
                    workspace.found[k, m] = workspace.manifold[c, k, m]
                workspace.found_slot[k] = -1
        elif kind == CAPSULES:
            number = capsule_to_capsule(
                shapes.size[a],
                workspace.rotation[a],
                workspace.position[a],
                shapes.size[b],
                workspace.rotation[b],
                workspace.position[b],
                workspace.found,
            )
            for k in range(number):
                workspace.found_slot[k] = -1
        else:
            reach = max(CONTACT_MARGIN, 2.0 * step * (workspace.speed[a] + workspace.speed[b]))
            of_first = kind == POINTS_OF_FIRST
            number = _touch_points(
                shapes,
                a if of_first else b,
                b if of_first else a,
                of_first,
                pairs.slot[p],
                reach,
                workspace.rotation,
                workspace.position,
                workspace.found,
                workspace.found_slot,
            )
        if number > 0:
            slot, slots, size, law = pairs.slot[p], pairs.slots[p], pairs.size[p], pairs.law[p]
            body, other = shapes.body[a], shapes.body[b]
            add_found(number, contacts, kinematics, step, workspace, memory, slot, slots, size, body, other, a, b, law)


@inlined
def _touch_points(shapes: Shapes, owner, other, owner_first, slot, reach, rotation, position, found, found_slot):
    """Fills `found` with the points of one shape that are within `reach` of another; returns their number.

    Each point stores its impulse in a slot of its own; of another point set it touches the nearest point only.
    """
    count = 0
    r_o, r = rotation[owner], rotation[other]
    radius = shapes.size[owner, 0]
    first = shapes.vertex_start[owner]
    for v in range(first, shapes.vertex_start[owner + 1]):
        lx, ly, lz = shapes.vertex[v, 0], shapes.vertex[v, 1], shapes.vertex[v, 2]
        # from the other shape's origin, world axes
        x = position[owner, 0] - position[other, 0] + r_o[0, 0] * lx + r_o[0, 1] * ly + r_o[0, 2] * lz
        y = position[owner, 1] - position[other, 1] + r_o[1, 0] * lx + r_o[1, 1] * ly + r_o[1, 2] * lz
        z = position[owner, 2] - position[other, 2] + r_o[2, 0] * lx + r_o[2, 1] * ly + r_o[2, 2] * lz
        px = r[0, 0] * x + r[1, 0] * y + r[2, 0] * z
        py = r[0, 1] * x + r[1, 1] * y + r[2, 1] * z
        pz = r[0, 2] * x + r[1, 2] * y + r[2, 2] * z
        if shapes.kind[other] == POINTS:
            distance, ux, uy, uz = nearest_point(
                shapes.vertex, shapes.vertex_start[other], shapes.vertex_start[other + 1], px, py, pz
            )
            distance -= shapes.size[other, 0]
        else:
            distance, ux, uy, uz = point_to_shape(
                shapes.kind[other],
                shapes.size[other],
                shapes.vertex,
                shapes.face,
                shapes.face_corner,
                shapes.face_start[other],
                shapes.face_start[other + 1],
                px,
                py,
                pz,
            )
        if distance - radius < reach:
            nx = r[0, 0] * ux + r[0, 1] * uy + r[0, 2] * uz
            ny = r[1, 0] * ux + r[1, 1] * uy + r[1, 2] * uz
            nz = r[2, 0] * ux + r[2, 1] * uy + r[2, 2] * uz
            # the point on the first shape's surface; the normal points to the first shape
            back, side = (radius, 1.0) if owner_first else (distance, -1.0)
            found[count, 0] = position[other, 0] + x - back * nx
            found[count, 1] = position[other, 1] + y - back * ny
            found[count, 2] = position[other, 2] + z - back * nz
            found[count, 3], found[count, 4], found[count, 5] = side * nx, side * ny, side * nz
            found[count, 6] = distance - radius
            found_slot[count] = slot + v - first
            count += 1
    return count


def _assemble(machine, names, world, shapes, rules, excluded=frozenset()) -> Collision:
    """The collision system without the excluded pairs of links."""
    laws = LawTable(machine, world)
    candidates, slots = make_ground_candidates(machine, names, world, shapes, laws)
    pairs, _ = make_collision_pairs(machine, rules, shapes, laws, slots, excluded)
    return Collision(shapes, candidates, make_terrain(world.ground), pairs, laws.arrays())


def find_overlaps(collision: Collision, model: MultibodyModel, q: np.ndarray) -> list[Overlap]:
    """Pairs that overlap by more than the tolerance at given positions; the ground does not count."""
    if len(collision.pairs.first) == 0:
        return []
    kinematics = Packed(make_kinematics(model))
    update_kinematics(Packed(model), np.array(q), np.zeros(len(model.rate_damping)), kinematics)
    packed, contacts = Packed(collision), Packed(make_contacts(collision))
    workspace = Packed(make_contact_workspace(collision))
    if convex_pairs_due(packed, kinematics, 0.0, workspace):
        ConvexNarrowPhase(collision.shapes, collision.pairs).answer(workspace)
    memory = (np.zeros((slot_count(collision), 3)), np.zeros((slot_count(collision), 3)))
    touch_pairs(packed.shapes, packed.pairs, kinematics, 0.0, memory, workspace, contacts)
    return [
        Overlap(int(contacts.shape[c]), int(contacts.other_shape[c]), -float(contacts.gap[c]))
        for c in range(contacts.count[0])
        if contacts.gap[c] < -_OVERLAP
    ]
