"""The blocks of a world between its ground, its obstacles and the links of a machine, as arrays."""

import functools
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

import grouser.physics.blocks
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.kept_states import keep, key_of, recall
from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import matrix
from grouser.physics.blocks.assembly import Assembly
from grouser.physics.blocks.building import NO_FIELD, Block, FieldBelow, make_state, make_system, make_workspace
from grouser.physics.blocks.interface import make_laws
from grouser.physics.blocks.modes import make_modes
from grouser.physics.blocks.near import deepest_overlap
from grouser.physics.blocks.polyhedron import Polyhedron, make_box, make_hull, make_polyhedron
from grouser.physics.blocks.room import System as Room
from grouser.physics.blocks.stiffness import critical_step, rubble_step
from grouser.physics.blocks.system import State, System
from grouser.physics.blocks.walls import make_wall
from grouser.physics.contact.shapes import CAPSULE, POINTS, Shapes
from grouser.physics.contact.terrain import Terrain, make_terrain
from grouser.physics.description.data.blocks import BlockMaterial, Blocks, BlockWall, Interface, LooseBlock
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Ground, World

# Half the sides and the thickness of the slab that is the ground [m].
_GROUND, _THICKNESS = 500.0, 10.0
# Share of the critical step that a step of the blocks takes.
_SAFE = 0.9
# Steps of the blocks within one of the machine, at most.
_MOST_STEPS = 1000
# More of them are told.
_MANY_STEPS = 50
# Blocks that start deeper inside each other than this share of the least extent of either are refused.
_DEEPEST = 0.01
# Blocks are at rest below this share of the speed of a fall by the least of them [-], and sleep after this time [s].
_REST, _REST_TIME = 0.01, 0.2
# Kind of state that is kept.
_WALLS = "walls"


class Placed(NamedTuple):
    """A shape of ground, obstacles or links as a driven block, and the body that it belongs to, -1 for the world."""

    block: Block
    body: int


@functools.cache
def no_blocks() -> Room:
    """Nothing: shared arrays without rows."""
    one = Block("nothing", make_box("nothing", (0, 0, 0), (1, 1, 1)), driven=True)
    wall = BlockWall("nothing", (1.0, 1.0, 1.0), (1, 1, 1))
    system = _system([one], Blocks(BlockMaterial(1.0, 0.0, 1.0), Interface(1.0, 1.0), (wall,)), (0.0, 0.0, 0.0))
    empty, start = _without_rows(system), _without_rows(make_state(system))
    nothing = np.zeros(0, dtype=np.int64)
    return Room(empty, start, 0, 0, nothing, nothing, 1, 1, 0, 0.0)


def make_blocks(machine: Machine, world: World, shapes: Shapes, step: float) -> Room:
    """The blocks of a world.

    Args:
        machine: gives the names of its links.
        world: with or without blocks.
        shapes: of contacts: those of the links, and of the obstacles.
        step: of the machine [s].

    Raises:
        ParameterError: a block that is not convex, blocks that start inside each other, or a step too long for them.
    """
    blocks = world.blocks
    if blocks is None:
        return no_blocks()
    free = list(_free_blocks(blocks))
    placed = list(_placed(machine, world, shapes))
    still = [one.block for one in placed if one.body < 0]
    links = [one for one in placed if one.body >= 0]
    terrain = make_terrain(world.ground)
    _require_apart([*free, *still], blocks, world.gravity, _field(terrain, len(free)))
    everything = [*free, *still, *(one.block for one in links)]
    system = _system(everything, blocks, world.gravity, _field(terrain, len(free)))
    start = _start(system, free, still, world, blocks)
    longest = critical_step(system, start)
    body = np.unique(np.array([one.body for one in links], dtype=np.int64))
    fall = math.sqrt(float(np.linalg.norm(world.gravity)) * min(_least_extent(block.shape) for block in free))
    return Room(
        blocks=system,
        start=start,
        free=len(free),
        first_link=len(free) + len(still),
        row=np.searchsorted(body, [one.body for one in links]).astype(np.int64),
        body=body,
        steps=_steps(step, longest),
        rubble_steps=_steps(step, max(rubble_step(system, start), longest)),
        rest_steps=math.ceil(_REST_TIME / step) if blocks.sleeping and any(world.gravity) else 0,
        rest_speed=_REST * fall,
    )


def warn_many_steps(room: Room, step: float) -> tuple[str, ...]:
    """A warning of blocks that need many steps in one of the machine [s]."""
    if room.steps <= _MANY_STEPS:
        return ()
    remedy = "lower stiffnesses and stiffness_damping, or larger blocks, need fewer"
    return (f"the blocks take {room.steps} steps of {step / room.steps:.2g} s in each of the machine: {remedy}",)


def block_names(blocks: Blocks | None) -> tuple[str, ...]:
    """Names of the blocks of a world, in the order of their numbers."""
    return () if blocks is None else tuple(block.name for block in _free_blocks(blocks))


def block_shapes(blocks: Blocks | None) -> tuple[Polyhedron, ...]:
    """Shapes of the blocks of a world where they start [m], in the order of their numbers."""
    return () if blocks is None else tuple(block.shape for block in _free_blocks(blocks))


def require_clear(names: Sequence[str], extents: Sequence[float], overlap: tuple[int, int, float]) -> None:
    """Refuses blocks that start inside each other, or inside something else.

    Args:
        names: of all blocks.
        extents: least one of each [m].
        overlap: both blocks that overlap most, and by how much [m].

    Raises:
        ParameterError: with both names.
    """
    first, second, depth = overlap
    if depth > _DEEPEST * min(extents[first], extents[second]):
        valid = f"a place outside of {names[second]}: they overlap by {depth:.3g} m"
        raise ParameterError(f"place of block '{names[first]}'", names[second], valid)


def least_extents(blocks: System) -> list[float]:
    """Least extent along the axes of each block [m]."""
    starts = blocks.shapes.vertex_start
    return [float(np.ptp(blocks.shapes.vertex[first:end], axis=0).min()) for first, end in pairwise(starts.tolist())]


# --- shapes ---------------------------------------------------------------------------------------------------------


def _free_blocks(blocks: Blocks) -> Iterator[Block]:
    for wall in blocks.walls:
        length, width = (wall.size[axis] * wall.counts[axis] for axis in (0, 1))
        corner = (-0.5 * length, -0.5 * width, 0.0)
        for block in make_wall(wall.counts, wall.size, corner, staggered=wall.staggered, name=wall.name):
            yield Block(block.name, _moved(block.shape, wall.pose))
    for loose in blocks.loose:
        yield Block(loose.name, _moved(_loose_shape(loose), loose.pose), bonded=False)


def _loose_shape(loose: LooseBlock) -> Polyhedron:
    if isinstance(loose.geometry, Box):
        half = [0.5 * length for length in loose.geometry.size]
        return make_box(loose.name, [-length for length in half], half)
    if not loose.geometry.faces:
        return make_hull(loose.name, np.array(loose.geometry.vertices))
    return make_polyhedron(loose.name, np.array(loose.geometry.vertices), loose.geometry.faces)


def _moved(shape: Polyhedron, pose: Pose) -> Polyhedron:
    return _turned(shape, matrix(pose.quaternion), np.array(pose.position))


def _turned(shape: Polyhedron, turn: np.ndarray, place: np.ndarray) -> Polyhedron:
    return Polyhedron(shape.vertices @ turn.T + place, shape.faces, shape.normals @ turn.T)


def _placed(machine: Machine, world: World, shapes: Shapes) -> Iterator[Placed]:
    """Ground, obstacles and links; those of moving links in the axes of their bodies."""
    if world.ground is not None:
        flat = world.ground.heightfield is None
        yield Placed(Block("the ground", _ground(world.ground), driven=True, bonded=flat), -1)
    obstacles = iter(world.obstacles)
    for s, (link, body) in enumerate(zip(shapes.link.tolist(), shapes.body.tolist(), strict=True)):
        name = f"link '{machine.links[link].name}'" if link >= 0 else f"obstacle '{next(obstacles).name}'"
        points = _points(shapes, s)
        if len(points) >= 4:
            hull = _turned(make_hull(name, points), shapes.rotation[s], shapes.position[s])
            yield Placed(Block(name, hull, driven=True, bonded=link < 0), body)


def _points(shapes: Shapes, s: int) -> np.ndarray:
    """Corners of the hull of a collision shape in its own axes; round ones by a ball of twenty faces."""
    points = shapes.vertex[shapes.vertex_start[s] : shapes.vertex_start[s + 1]]
    radius = shapes.size[s, 0] if shapes.kind[s] in (CAPSULE, POINTS) else 0.0
    if radius == 0.0:
        return points
    golden = 0.5 * (1.0 + math.sqrt(5.0))
    pairs = [(one, other * golden) for one in (-1.0, 1.0) for other in (-1.0, 1.0)]
    ball = np.array([np.roll((0.0, *pair), turn) for pair in pairs for turn in range(3)])
    ball *= radius / np.linalg.norm(ball[0])
    return (points[:, np.newaxis] + ball).reshape(-1, 3)


def _ground(ground: Ground) -> Polyhedron:
    """A slab below the plane of the ground; a box around a height field."""
    if ground.heightfield is not None:
        heights = ground.heightfield.heights
        low, high = float(heights.min()) - _THICKNESS, float(heights.max())
        return make_box("the ground", (-_GROUND, -_GROUND, low), (_GROUND, _GROUND, high))
    up = np.array(ground.normal) / np.linalg.norm(ground.normal)
    along = np.cross((0.0, 1.0, 0.0), up)
    along /= np.linalg.norm(along)
    slab = make_box("the ground", (-_GROUND, -_GROUND, -_THICKNESS), (_GROUND, _GROUND, 0.0))
    return _turned(slab, np.column_stack([along, np.cross(up, along), up]), np.array(ground.point))


def _least_extent(shape: Polyhedron) -> float:
    return float(np.ptp(shape.vertices, axis=0).min())


# --- arrays ---------------------------------------------------------------------------------------------------------


def _field(terrain: Terrain, block: int) -> FieldBelow:
    """The height field of the ground, which is that driven block."""
    return FieldBelow(terrain, block) if terrain.heights.size else NO_FIELD


def _system(members: Sequence[Block], blocks: Blocks, gravity: Sequence[float], field: FieldBelow = NO_FIELD) -> System:
    laws = make_laws(
        blocks.interface,
        gravity,
        blocks.mass_damping,
        blocks.stiffness_damping,
        rigid_rubble=blocks.rubble == "rigid",
    )
    modes = [make_modes(one.shape, blocks.material, blocks.order) for one in members]
    return make_system(members, modes, blocks.order, laws, field)


def _without_rows(tree):
    """The same tree with arrays of no rows."""
    return type(tree)(
        *(
            part[:0] if isinstance(part, np.ndarray) else _without_rows(part) if isinstance(part, tuple) else part
            for part in tree
        )
    )


def _require_apart(members: list[Block], blocks: Blocks, gravity: Sequence[float], field: FieldBelow) -> None:
    system = _system(members, blocks, gravity, field)
    state = make_state(system)
    overlap = deepest_overlap(*map(Packed, (system, state, make_workspace(system, state))))
    names = [one.name for one in members]
    require_clear(names, least_extents(system), overlap)


def _start(system: System, free: list[Block], still: list[Block], world: World, blocks: Blocks) -> State:
    """The blocks at the start: walls in equilibrium on ground and obstacles, without the loose blocks."""
    start = make_state(system)
    wall = [block for block in free if block.bonded]
    if not (blocks.relax and wall and any(world.gravity)):
        return start
    if world.grains is not None and not _bonds_hold(system, len(wall)):
        return start
    relaxed = _relaxed([*wall, *still], blocks, world.gravity, _field(system.field, len(wall)))
    count, own = len(wall), len(wall) + len(still)
    for name in ("displacement", "quaternion", "q"):
        getattr(start, name)[:count] = getattr(relaxed, name)[:count]
    for name in ("bonded", "slip", "live"):
        getattr(start, name)[:] = getattr(relaxed, name)
    number = np.concatenate([np.arange(count), len(free) + np.arange(len(still))])
    contacts = int(relaxed.contact_count[0])
    first, second = np.divmod(relaxed.contact_pair[:contacts], own)
    start.contact_count[0] = contacts
    start.contact_pair[:contacts] = number[first] * len(start.displacement) + number[second]
    start.contact_point[:contacts] = relaxed.contact_point[:contacts]
    start.contact_shear[:contacts] = relaxed.contact_shear[:contacts]
    return start


def _bonds_hold(system: System, count: int) -> bool:
    """Whether bonds, one after the other, connect each of the first blocks with something that stands still."""
    held, pairs = system.bodies.driven.copy(), system.joints.blocks
    before = -1
    while before != held.sum():
        before = held.sum()
        held[pairs[held[pairs].any(axis=1)]] = True
    return bool(held[:count].all())


def _relaxed(members: list[Block], blocks: Blocks, gravity: Sequence[float], field: FieldBelow) -> State:
    """A wall in equilibrium, found once and kept."""
    assembly = Assembly(members, blocks.material, blocks.interface, order=blocks.order, gravity=gravity, field=field)
    key = key_of(grouser.physics.blocks, (_system(members, blocks, gravity, field), assembly.state))
    kept = recall(_WALLS, key, State)
    if kept is None:
        assembly.relax()
        keep(_WALLS, key, assembly.state)
        return assembly.state
    return kept


def _steps(step: float, longest: float) -> int:
    """Number of steps of the blocks in one of the machine."""
    count = math.ceil(step / (_SAFE * longest) - 1e-9)
    if count > _MOST_STEPS:
        raise ParameterError(
            "step", step, f"at most {_MOST_STEPS * _SAFE * longest:.3g} s: the blocks need {_SAFE * longest:.3g} s; "
            "lower normal_stiffness, shear_stiffness, youngs_modulus or stiffness_damping, or larger blocks, allow "
            "longer steps"
        )  # fmt: skip
    return count
