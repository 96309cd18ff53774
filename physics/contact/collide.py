"""The collision system, and contact detection in a step."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.packed import Packed
from grouser.physics.contact.broad_phase import BroadPhase, find_near_pairs, make_broad_phase
from grouser.physics.contact.candidates import PEAK_CONTACTS, GroundCandidates, make_ground_candidates
from grouser.physics.contact.contacts import CONTACT_MARGIN, Contacts, add_found, allocate_contacts
from grouser.physics.contact.convex import touch_convex
from grouser.physics.contact.ground import touch_field, touch_peaks, touch_plane
from grouser.physics.contact.hull_graph import Cap, make_cap
from grouser.physics.contact.hull_on_ground import touch_ground_with_hulls
from grouser.physics.contact.laws import ContactLaws, LawTable
from grouser.physics.contact.narrow import capsule_to_capsule, nearest_point, point_to_shape
from grouser.physics.contact.nearest import SIMPLEX_SHAPE
from grouser.physics.contact.pairs import (
    CAPSULES,
    CONVEX,
    POINTS_OF_FIRST,
    CollisionPairs,
    CollisionRules,
    make_collision_pairs,
    place_shapes,
)
from grouser.physics.contact.reduction import make_chosen
from grouser.physics.contact.shapes import POINTS, Shapes, make_shapes
from grouser.physics.contact.slots import Memory, make_memory
from grouser.physics.contact.terrain import SPHERE_CONTACTS, Terrain, make_terrain
from grouser.physics.contact.unmoved import (
    UnmovedOnGround,
    UnmovedPairs,
    is_still,
    make_unmoved_on_ground,
    make_unmoved_pairs,
    recall_points,
    store_points,
)
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.model.names import Names
from grouser.physics.multibody.kinematics import Kinematics, make_kinematics, update_kinematics

# Links that overlap by more than this at the start cannot be meant to touch [m].
_OVERLAP = 1e-3
# Pairs that are solved together when overlaps are sought.
_OVERLAPS_AT_ONCE = 1024
# Room for near pairs, and for contacts of pairs, at the start: at least, and for each shape.
_FIRST_PAIRS, _PAIRS_OF_SHAPE = 64, 4


class Collision(NamedTuple):
    """All constant data of contact detection."""

    shapes: Shapes
    candidates: GroundCandidates
    terrain: Terrain
    pairs: CollisionPairs
    laws: ContactLaws


class Capacity(NamedTuple):
    """How much a step can have at once; arrays are made larger when it needs more.

    Attributes:
        pairs: near pairs of shapes.
        contacts: contacts.
    """

    pairs: int
    contacts: int


class ContactWorkspace(NamedTuple):
    """Buffers of contact detection. They store results of earlier steps to save time; the contacts do not depend on it.

    Attributes:
        broad: near pairs of the step. Arrays for "near pairs" have a row for each of these, in this order.
        rotation, position: poses of the shapes, from the kinematics' origin, (shapes, 3, 3) and (shapes, 3) [m].
        speed: upper bound of the speeds of a shape's points [m/s].
        found: point, normal and gap of each contact point of one pair, (rows, 7).
        found_slot: slot of each of these where it is fixed, else -1.
        near: directions and distances of a sphere above a height field, (SPHERE_CONTACTS, 4).
        claimed: whether a contact has taken each slot of a pair or candidate.
        distance: lower bound of the distance of each convex pair when it was last solved [m].
        solved_rotation, solved_position: pose of its second shape in the frame of the first when it was last solved.
        reach: largest relevant gap of each convex pair when it was last solved [m].
        searches: number of convex pairs so far that their faces did not solve, (1,).
        simplex: of the iterations for a convex pair, SIMPLEX_SHAPE.
        direction: direction of its largest separation, from the second shape to the first, (3,).
        witness: point of the first shape that is nearest to the second, from the kinematics' origin [m], (3,).
        buffer: four lists of points in the plane, (4, points, 4).
        frame: two tangents and the normal, (3, 3).
        manifold_direction: direction of a manifold, (3,).
        first_cap, second_cap: vertices and faces of two meshes where they are nearest to each other.
        chosen, corner: corners that are kept of a polygon, (HULL_POINTS,).
        on_ground: what of meshes touched the ground when they were last still.
        touching: points of near pairs that were still.
    """

    broad: BroadPhase
    rotation: np.ndarray
    position: np.ndarray
    speed: np.ndarray
    found: np.ndarray
    found_slot: np.ndarray
    near: np.ndarray
    claimed: np.ndarray
    distance: np.ndarray
    solved_rotation: np.ndarray
    solved_position: np.ndarray
    reach: np.ndarray
    searches: np.ndarray
    simplex: np.ndarray
    direction: np.ndarray
    witness: np.ndarray
    buffer: np.ndarray
    frame: np.ndarray
    manifold_direction: np.ndarray
    first_cap: Cap
    second_cap: Cap
    chosen: np.ndarray
    corner: np.ndarray
    on_ground: UnmovedOnGround
    touching: UnmovedPairs


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
        MachineError: the joint that moves a surface does not have one coordinate of its own, or an obstacle is a point
            set.
    """
    return _assemble(machine, names, world, make_shapes(machine, names, world), CollisionRules(machine, names))


def exclude_overlaps(
    collision: Collision, machine: Machine, names: Names, model: MultibodyModel, world: World
) -> tuple[Collision, tuple[str, ...]]:
    """Removes the pairs of an object's links that overlap at the start; returns warnings about all overlaps."""
    shapes, pairs, rules = collision.shapes, collision.pairs, CollisionRules(machine, names)
    within: dict[frozenset[str], float] = {}
    between: dict[frozenset[str], float] = {}
    same = rules.same_object(shapes.link[pairs.first], shapes.link[pairs.second])
    # What does not move is the subject of `simulation.lifting`.
    both_move = (shapes.body[pairs.first] >= 0) & (shapes.body[pairs.second] >= 0)
    for overlap in find_overlaps(collision, model, model.q_initial, same | (both_move & bool(machine.members))):
        links = frozenset(shape_name(machine, world, shapes, shape) for shape in overlap[:2])
        found = within if same[pairs.number[overlap[:2]]] else between
        found[links] = max(found.get(links, 0.0), overlap.depth)
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


def may_have_contacts(collision: Collision) -> bool:
    """Whether anything may touch."""
    return ground_slots(collision) > 0 or len(collision.pairs.first) > 0


def ground_slots(collision: Collision) -> int:
    """Number of the slots of contacts with the ground, which come first."""
    candidates = collision.candidates
    return int(candidates.slots.sum() + PEAK_CONTACTS * len(candidates.peak_shape))


def slot_owners(collision: Collision, slot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two shapes of each slot's contact, -1 for the ground, (slots, 2); its number among the slots of these two."""
    pairs, shape = collision.pairs, _shapes_on_ground(collision)
    order = np.argsort(shape, kind="stable")
    number = np.zeros(len(shape), dtype=np.int64)
    number[order] = np.arange(len(shape)) - np.searchsorted(shape[order], shape[order])
    owners, numbers = np.full((len(slot), 2), -1), np.zeros(len(slot), dtype=np.int64)
    ground = slot < len(shape)
    owners[ground, 0], numbers[ground] = shape[slot[ground]], number[slot[ground]]
    pair = np.searchsorted(pairs.slot, slot[~ground], side="right") - 1
    owners[~ground, 0], owners[~ground, 1] = pairs.first[pair], pairs.second[pair]
    numbers[~ground] = slot[~ground] - pairs.slot[pair]
    return owners, numbers


def owned_slots(collision: Collision, owners: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The slot of each two shapes and number (`slot_owners`), -1 where there is none."""
    pairs, shape = collision.pairs, _shapes_on_ground(collision)
    order = np.argsort(shape, kind="stable")
    slots, (one, other) = np.full(len(owners), -1), owners.T
    ground = np.flatnonzero((one >= 0) & (other == -1))
    begin, end = (np.searchsorted(shape[order], one[ground] + k) for k in (0, 1))
    there = numbers[ground] < end - begin
    slots[ground[there]] = order[begin[there] + numbers[ground[there]]]
    both = np.flatnonzero((one >= 0) & (other >= 0))
    pair = pairs.number[one[both], other[both]]
    there = (pair >= 0) & (pairs.first[pair] == one[both]) & (numbers[both] < pairs.slots[pair])
    slots[both[there]] = pairs.slot[pair[there]] + numbers[both[there]]
    return slots


def _shapes_on_ground(collision: Collision) -> np.ndarray:
    """The shape of each slot of a contact with the ground."""
    candidates = collision.candidates
    return np.concatenate(
        [np.repeat(candidates.shape, candidates.slots), np.repeat(candidates.peak_shape, PEAK_CONTACTS)]
    )


def first_capacity(collision: Collision) -> Capacity:
    """Capacity at the start: all contacts with the ground, and some for each shape."""
    shapes, pairs = len(collision.shapes.kind), collision.pairs
    return Capacity(
        pairs=min(len(pairs.first), max(_FIRST_PAIRS, _PAIRS_OF_SHAPE * shapes)),
        contacts=int(collision.candidates.most[0])
        + min(int(pairs.slots.sum()), max(_FIRST_PAIRS, _PAIRS_OF_SHAPE * shapes)),
    )


def needed_capacity(collision: Collision, workspace: ContactWorkspace) -> Capacity:
    """Capacity for the near pairs of the step; a step has no more contacts than these and the ground may have."""
    pairs, contacts = workspace.broad.count.tolist()
    return Capacity(pairs, int(collision.candidates.most[0]) + contacts)


def make_contacts(collision: Collision, capacity: Capacity | None = None) -> Contacts:
    """Arrays for the contacts of a step."""
    return allocate_contacts((capacity or first_capacity(collision)).contacts)


def make_contact_workspace(collision: Collision, capacity: Capacity | None = None) -> ContactWorkspace:
    """Buffers for a collision system."""
    near = (capacity or first_capacity(collision)).pairs
    shapes, convex = collision.shapes, len(collision.pairs.convex_pair)
    vertices = int(np.diff(shapes.vertex_start).max(initial=0))
    rows = max(SPHERE_CONTACTS, PEAK_CONTACTS, int(collision.pairs.slots.max(initial=0)))
    return ContactWorkspace(
        broad=make_broad_phase(len(shapes.kind), near),
        rotation=np.zeros((len(shapes.kind), 3, 3)),
        position=np.zeros((len(shapes.kind), 3)),
        speed=np.zeros(len(shapes.kind)),
        found=np.zeros((rows, 7)),
        found_slot=np.zeros(rows, dtype=np.int64),
        near=np.zeros((SPHERE_CONTACTS, 4)),
        claimed=np.zeros(rows, dtype=np.bool_),
        distance=np.full(convex, -np.inf),
        solved_rotation=np.zeros((convex, 3, 3)),
        solved_position=np.zeros((convex, 3)),
        reach=np.zeros(convex),
        searches=np.zeros(1, dtype=np.int64),
        simplex=np.zeros(SIMPLEX_SHAPE),
        direction=np.zeros(3),
        witness=np.zeros(3),
        buffer=np.zeros((4, 2 * vertices + 8, 4)),  # also for all vertices of a mesh
        frame=np.zeros((3, 3)),
        manifold_direction=np.zeros(3),
        first_cap=make_cap(len(shapes.vertex), len(shapes.face)),
        second_cap=make_cap(len(shapes.vertex), len(shapes.face)),
        chosen=make_chosen(),
        corner=make_chosen(),
        on_ground=make_unmoved_on_ground(len(collision.candidates.hull_first)),
        touching=make_unmoved_pairs(near),
    )


def clear_convex_distances(workspace: ContactWorkspace) -> None:
    """Clears the stored distances of convex pairs; the contacts found do not depend on them."""
    workspace.distance[:] = -np.inf


@kernel
def find_near(collision: Collision, kinematics: Kinematics, step: float, workspace: ContactWorkspace):
    """Places the shapes, and lists the near pairs.

    It must be called first in every step, once the kinematics are filled.

    Args:
        collision: the collision system.
        kinematics: filled for the current state.
        step: [s].
        workspace: result.
    """
    shapes, pairs = collision.shapes, collision.pairs
    candidates = collision.candidates
    if pairs.first.shape[0] == 0 and candidates.peak_shape.shape[0] == 0 and candidates.hull_first.shape[0] == 0:
        return
    if workspace.broad.active[0] == 0:
        workspace.broad.count[0] = workspace.broad.count[1] = 0
        return
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
    find_near_pairs(shapes, pairs, workspace.position, workspace.speed, step, workspace.broad)


@kernel
def has_room(collision: Collision, room, workspace: ContactWorkspace):
    """Whether there is memory for the near pairs, and for all contacts that they and the ground may have.

    Args:
        collision: the collision system.
        room: number of contacts for which there is memory.
        workspace: after `find_near`.
    """
    pairs, broad = collision.pairs, workspace.broad
    if pairs.first.shape[0] == 0:
        return True
    return broad.count[0] <= broad.pair.shape[0] and collision.candidates.most[0] + broad.count[1] <= room


@inlined
def detect_contacts(
    collision: Collision,
    kinematics: Kinematics,
    step: float,
    memory: Memory,
    workspace: ContactWorkspace,
    contacts: Contacts,
):
    """Fills `contacts` with all contacts that exist or may begin within two steps.

    Args:
        collision: the collision system.
        kinematics: filled for the current state.
        step: [s].
        memory: the contacts of the last step.
        workspace: as `find_near` has left it in this step.
        contacts: result.
    """
    contacts.count[0] = 0
    if workspace.broad.active[0] == 0:
        return
    if collision.terrain.heights.shape[0] == 0:
        touch_plane(
            *(collision.candidates, collision.shapes, collision.terrain, kinematics, step),
            *(collision.pairs.first.shape[0] > 0, workspace, contacts),
        )
    else:
        _touch_height_field(collision, kinematics, step, memory, workspace, contacts)
    touch_ground_with_hulls(
        collision.candidates, collision.shapes, collision.terrain, kinematics, step, workspace, contacts
    )
    if collision.pairs.first.shape[0] > 0:
        touch_pairs(collision.shapes, collision.pairs, kinematics, step, memory, workspace, contacts)


@kernel
def _touch_height_field(
    collision: Collision,
    kinematics: Kinematics,
    step: float,
    memory: Memory,
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
    memory: Memory,
    workspace: ContactWorkspace,
    contacts: Contacts,
):
    """Adds the contacts between shapes, near pair by near pair."""
    for n in range(workspace.broad.count[0]):
        p = workspace.broad.pair[n]
        a, b = pairs.first[p], pairs.second[p]
        number = 0
        kind = pairs.kind[p]
        if kind == CONVEX:
            number = _touch_near(shapes, pairs, n, p, kinematics, step, workspace)
            for k in range(number):
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
def _touch_near(
    shapes: Shapes, pairs: CollisionPairs, n, p, kinematics: Kinematics, step: float, workspace: ContactWorkspace
):
    """As `touch_convex` for near pair n, which is p; does nothing while the solids do not move."""
    a, b, number = pairs.first[p], pairs.second[p], -1
    poses = workspace.rotation[a], workspace.position[a], workspace.rotation[b], workspace.position[b]
    still = is_still(workspace.speed[a] + workspace.speed[b])
    if still:
        number = recall_points(workspace.touching, n, p, *poses, workspace.found)
    if number < 0:
        number = touch_convex(shapes, pairs, p, kinematics, step, workspace)
        if still and number > 0:
            store_points(workspace.touching, n, p, *poses, workspace.found, number)
    return number


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
                reach + radius,
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
    pairs = make_collision_pairs(machine, rules, shapes, laws, slots, excluded)
    return Collision(shapes, candidates, make_terrain(world.ground), pairs, laws.arrays())


def find_overlaps(
    collision: Collision, model: MultibodyModel, q: np.ndarray, chosen: np.ndarray | None = None
) -> list[Overlap]:
    """Pairs that overlap by more than the tolerance at given positions, with the largest depth; without the ground.

    Args:
        collision, model: of the machine.
        q: positions.
        chosen: whether each pair counts; all when None.
    """
    pairs = collision.pairs
    chosen = np.full(len(pairs.first), True) if chosen is None else chosen
    if not chosen.any():
        return []
    kinematics = Packed(make_kinematics(model))
    update_kinematics(Packed(model), np.array(q), np.zeros(len(model.rate_damping)), kinematics)
    packed, capacity = Packed(collision), first_capacity(collision)
    workspace = Packed(make_contact_workspace(collision, capacity))
    find_near(packed, kinematics, 0.0, workspace)
    if workspace.broad.count[0] > capacity.pairs:
        capacity = capacity._replace(pairs=int(workspace.broad.count[0]))
        workspace = Packed(make_contact_workspace(collision, capacity))
        find_near(packed, kinematics, 0.0, workspace)
    near = workspace.broad.pair[: workspace.broad.count[0]]
    near, overlaps = near[chosen[near]], []
    capacity = capacity._replace(contacts=min(len(near), _OVERLAPS_AT_ONCE) * int(pairs.slots.max()))
    memory, contacts = Packed(make_memory(0)), Packed(make_contacts(collision, capacity))
    for begin in range(0, len(near), _OVERLAPS_AT_ONCE):
        some = near[begin : begin + _OVERLAPS_AT_ONCE]
        workspace.broad.pair[: len(some)], workspace.broad.count[0] = some, len(some)
        contacts.count[0] = 0
        touch_pairs(packed.shapes, packed.pairs, kinematics, 0.0, memory, workspace, contacts)
        overlaps += _overlaps_of(contacts)
    return overlaps


def _overlaps_of(contacts: Any) -> list[Overlap]:
    """The overlaps among packed contacts; those of a pair follow each other."""
    count = int(contacts.count[0])
    shape, other, gap = contacts.shape[:count], contacts.other_shape[:count], contacts.gap[:count]
    begins = np.flatnonzero(np.diff(shape, prepend=-1) | np.diff(other, prepend=-1))
    depth = -np.minimum.reduceat(gap, begins) if count else gap
    deep = depth > _OVERLAP
    return list(map(Overlap, shape[begins][deep].tolist(), other[begins][deep].tolist(), depth[deep].tolist()))
