"""The grains of a world between its ground, its obstacles and the links of a machine, as arrays."""

import functools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import matrix
from grouser.physics.blocks.masonry import block_names
from grouser.physics.blocks.room import System as BlocksRoom
from grouser.physics.contact.laws import LawTable
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER, HULL, POINTS, Shapes
from grouser.physics.contact.terrain import make_terrain
from grouser.physics.description.data.granular import GrainEmitter, GrainMaterial, GrainSink, GranularMedia, Surface
from grouser.physics.description.data.lumps import lump_mass
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground, Heightfield, World
from grouser.physics.granular.arrays import BODY_ARRAYS, State, System, make_state, with_capacity
from grouser.physics.granular.block_bodies import block_boundaries
from grouser.physics.granular.bodies import Ball, Bar, Boundary, Box, Hull, Mesh, Plane, SoilSurface, Solids, Vibration
from grouser.physics.granular.boundaries import make_boundaries
from grouser.physics.granular.filling import fill_volume
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.pairs import PairSurfaces, make_pairs
from grouser.physics.granular.room import Lumps
from grouser.physics.granular.room import System as Room
from grouser.physics.granular.settling import SKIN, settled
from grouser.physics.granular.size_classes import size_classes
from grouser.physics.granular.sources import WIDTH, Sources, no_sources
from grouser.physics.granular.time_step import check_step, default_step, shortest_times, soil_contact_time
from grouser.physics.soil.tiles import fill_natural_levels

# Name of the boundary of ground and obstacles, the first.
WORLD = "world"
# Lists get this much more room than the settled grains need [-], and boundary contacts this many for each grain.
_MORE, _CONTACTS = 1.5, 2
# Time at rest after which a grain falls asleep [s].
_REST_TIME = 0.05
# Time for which a lump sleeps before it becomes soil [s].
_RIPE_TIME = 0.2
_NO_LUMPS = Lumps(0, 0.0, 0.0, 0)
# Steps of the contacts within one of the machine, at most.
_MOST_STEPS = 1000


@functools.cache
def no_grains() -> Room:
    """Nothing: shared arrays without rows."""
    undamped = Surface(restitution=1.0)  # other ratios of damping are searched, by a package that takes long to import
    nothing = PairSurfaces((GrainMaterial("nothing", 1.0),), {}, undamped)
    system = System(make_pairs(nothing), make_boundaries((), ("nothing",), 1.0), np.zeros(3), 1.0, np.ones(1))
    return Room(system, make_state(system, 0), np.zeros(0, dtype=np.int64), 0, 0, 1, no_sources(), _NO_LUMPS)


def make_grains(machine: Machine, world: World, shapes: Shapes, blocks: BlocksRoom, step: float) -> Room:
    """The grains of a world.

    Args:
        machine: gives the materials of its links.
        world: with or without grains.
        shapes: of contacts: those of the links, and of the obstacles.
        blocks: of the world.
        step: of the machine [s].

    Raises:
        ParameterError: more grains than their volumes hold, or a step too long for their stiffness.
    """
    media = world.grains
    if media is None:
        return no_grains()
    table = _table(media)
    names = [material.name for material in table.materials]
    grains = _grains(media, world.ground)
    surface = _surfaces(machine, world, shapes, names)
    fixed = _world_boundaries(world, shapes, surface, names)
    beside = _block_boundaries(world, blocks, names)
    bodies = [*((-1, boundary) for boundary in (*fixed, *beside)), *_link_boundaries(machine, shapes, surface)]
    first_block, first_link = len(fixed), len(fixed) + len(beside)
    classes = size_classes(*np.transpose(media.radii))
    boundaries = make_boundaries([boundary for _, boundary in bodies], names, float(classes[-1]))
    sizes = [*map(_sphere_radii, grains), *(np.array([least]) for least, _ in media.radii[len(media.fills) :])]
    # lumps are of the last material
    kinds = [*(names.index(one.material) for one in media.owners), *[len(media.materials) - 1] * bool(media.lumps)]
    radius, numbers = np.concatenate(sizes), np.repeat(kinds, [len(one) for one in sizes])
    soils = world.soil.soils if world.soil else ()
    count = _substeps(media, table, radius, numbers, np.unique(boundaries.material), soils, step)
    rest = round(_REST_TIME * count / step) if media.sleeping and any(world.gravity) else 0
    cell = world.soil.cell if world.soil else 0.0
    body = np.array([number for number, _ in bodies], dtype=np.int64)
    lumps = _lumps(media, world.soil, step / count)
    if not media.fills:
        skin = SKIN * float(classes[0])
        system = System(make_pairs(table), boundaries, np.array(world.gravity), skin, classes, rest, cell)
        return Room(system, make_state(system, 0), body, first_block, first_link, count, _sources(media), lumps)
    still = [replace(boundary, vibration=None) for boundary in fixed]
    if world.ground is not None and world.soil is not None:
        # grains settle as if it were rigid
        still[0] = replace(
            still[0], shapes=[*_rigid_ground(world.ground, fixed[0].shapes[0].material), *still[0].shapes[1:]]
        )
    bed = settled(grains, table, [*still, *beside], world.gravity, step / count, media.settle)
    skin = bed.system.skin / float(bed.system.class_radius[0]) * float(classes[0])
    system = bed.system._replace(
        boundaries=boundaries, class_radius=classes, skin=skin, rest_steps=rest, soil_cell=cell
    )
    return Room(system, _start(system, bed.state), body, first_block, first_link, count, _sources(media), lumps)


def _lumps(media: GranularMedia, ground: SoilGround | None, step: float) -> Lumps:
    if ground is None or not media.lumps:
        return _NO_LUMPS
    return Lumps(len(media.materials) - 1, media.lumps, lump_mass(ground), round(_RIPE_TIME / step))


def _sources(media: GranularMedia) -> Sources:
    names = [material.name for material in media.materials]
    density = [material.density for material in media.materials]
    material = np.array([names.index(one.material) for one in media.emitters], dtype=np.int64)
    number = [
        [*one.radius, density[kind] * media.relative_mass(one), one.rate, one.begin, one.end, *one.velocity]
        for one, kind in zip(media.emitters, material, strict=True)
    ]
    return Sources(
        *_boxes(media.emitters),
        np.reshape(np.array(number, float), (-1, WIDTH)),
        material,
        np.array([one.seed for one in media.emitters], dtype=np.int64),
        *_emitted_clumps(media),
        *_boxes(media.sinks),
    )


def _emitted_clumps(media: GranularMedia) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Spheres of the clumps of emitters, as of `Sources`."""
    shapes = [media.shape_of(one) for one in media.emitters]
    count = [0 if shape is None else len(shape.spheres) for shape in shapes]
    sphere, share, inertia = [np.zeros((0, 4))], [np.zeros(0)], np.zeros((len(shapes), 3))
    for e, shape in enumerate(shapes):
        if shape is not None:
            sphere.append(np.column_stack([shape.body.centre, shape.body.radius]))
            share.append(shape.shares)
            inertia[e] = shape.body.inertia
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    return start, np.concatenate(sphere), np.concatenate(share), inertia


def _boxes(owners: Sequence[GrainEmitter | GrainSink]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotations, centres and half sides of boxes."""
    turn = np.reshape([matrix(one.pose.quaternion) for one in owners], (-1, 3, 3))
    centre = np.reshape(np.array([one.pose.position for one in owners], float), (-1, 3))
    return turn.astype(float), centre, np.reshape(0.5 * np.array([one.box.size for one in owners], float), (-1, 3))


def _table(media: GranularMedia) -> PairSurfaces:
    surfaces = {(pair.first, pair.second): pair.surface for pair in media.pairs}
    return PairSurfaces((*media.materials, media.boundary), surfaces, media.surface)


def _grains(media: GranularMedia, ground: Ground | None) -> list[Grains]:
    """The grains of each fill, loosely."""
    density = {material.name: material.density for material in media.materials}
    level = None if ground is None or ground.heightfield is None else functools.partial(_levels, ground)
    found = []
    for fill in media.fills:
        shape = media.shape_of(fill)
        reach = 1.0 if shape is None else shape.body.reach
        place, radius = fill_volume(fill, density[fill.material] * media.relative_mass(fill), level, reach)
        found.append(Grains(place, radius, fill.material, shape=shape, seed=fill.seed))
    return found


def _sphere_radii(grains: Grains) -> np.ndarray:
    """Radii of all spheres of a fill [m]."""
    radius = np.asarray(grains.radius)
    return radius if grains.shape is None else np.outer(radius, grains.shape.body.radius).ravel()


def _levels(ground: Ground, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Heights of the ground [m]."""
    level = np.zeros(len(x))
    fill_natural_levels(Packed(make_terrain(ground)), np.ascontiguousarray(x), np.ascontiguousarray(y), level)
    return level


def _substeps(media, table, radius, material, walls, soils, step) -> int:
    """Number of steps of the contacts in one of the machine."""
    contact, rayleigh = shortest_times(radius, material, table, walls, media.impact_speed, media.least_share)
    pressing = [one for one in radius if one != media.lumps]
    if soils and pressing:
        lightest = min(one.density for one in media.materials)
        contact = min(contact, soil_contact_time(soils, float(min(pressing)), lightest))
    given = media.contact_step
    longest = default_step(contact, rayleigh) if given is None else check_step(given, contact, rayleigh)
    count = math.ceil(step / longest - 1e-9)
    if count > _MOST_STEPS:
        raise ParameterError(
            "step", step, f"at most {_MOST_STEPS * longest:.3g} s: contacts of the grains need {longest:.3g} s; softer "
            "or larger grains allow longer steps"
        )  # fmt: skip
    return count


def require_short_step(
    room: Room, media: GranularMedia, radius: np.ndarray, material: np.ndarray, share: float, step: float
) -> None:
    """Refuses grains for whose contacts the steps of a simulation are too long.

    Args:
        room: with the number of its steps in one of the machine.
        media: of its world.
        radius, material: of the grains [m], numbers.
        share: least effective mass of a sphere of their clumps by that of the sphere alone [-].
        step: of the machine [s].

    Raises:
        ParameterError: it names the step that would do.
    """
    walls = np.unique(room.grains.boundaries.material)
    check_step(step / room.steps, *shortest_times(radius, material, _table(media), walls, media.impact_speed, share))


def _start(system: System, bed: State) -> State:
    """The settled grains between all boundaries, of which ground and obstacles are the first."""
    count = int(bed.number[0])
    contacts = int(bed.listed[1]) + _CONTACTS * count + 4 * len(system.boundaries.kind)
    empty = make_state(system, 0)
    bodies = {name: getattr(empty, name) for name in BODY_ARRAYS}
    pairs = max(math.ceil(_MORE * bed.listed[0]), len(bed.pair_other))
    start = with_capacity(bed, count, pairs, contacts, int(bed.clumps[0]))._replace(**bodies)
    start.stale[0], start.time[0], start.account[:] = 1, 0.0, 0.0
    if system.soil_cell > 0.0:
        # the contacts were those of rigid ground
        start.boundary_history[:] = 0.0
    return start


def _surfaces(machine: Machine, world: World, shapes: Shapes, names: list[str]) -> list[str]:
    """Material of each collision shape."""
    laws = LawTable(machine, world)
    material = [one.material if one.material in names else names[-1] for one in (*laws.links, *laws.obstacles)]
    obstacles = np.cumsum(shapes.link < 0) - 1
    owner = np.where(shapes.link >= 0, shapes.link, len(laws.links) + obstacles)
    return [material[number] for number in owner]


def _world_boundaries(world: World, shapes: Shapes, surface: list[str], names: list[str]) -> list[Boundary]:
    """The boundary of what stands still, then the obstacles that vibrate."""
    vibrations = {one.obstacle: one for one in world.grains.vibrations} if world.grains else {}
    numbers = np.flatnonzero(shapes.link < 0)
    still = [int(s) for s, one in zip(numbers, world.obstacles, strict=True) if one.name not in vibrations]
    ground = world.ground.material if world.ground and world.ground.material in names else names[-1]
    found = [Boundary(WORLD, [*_ground(world.ground, ground), *_solids(shapes, surface, still)])]
    for s, obstacle in zip(numbers, world.obstacles, strict=True):
        if (one := vibrations.get(obstacle.name)) is not None:
            vibration = Vibration(one.amplitude, 2.0 * math.pi * one.frequency, one.phase)
            found.append(Boundary(obstacle.name, _solids(shapes, surface, [int(s)]), vibration=vibration))
    return found


def _block_boundaries(world: World, blocks: BlocksRoom, names: list[str]) -> list[Boundary]:
    """The blocks of a world."""
    if world.blocks is None:
        return []
    material = world.blocks.surface_material if world.blocks.surface_material in names else names[-1]
    return block_boundaries(blocks, block_names(world.blocks), material)


def _link_boundaries(machine: Machine, shapes: Shapes, surface: list[str]) -> list[tuple[int, Boundary]]:
    """Bodies that have collision shapes."""
    found = []
    for body in np.unique(shapes.body[shapes.body >= 0]):
        own = np.flatnonzero(shapes.body == body)
        found.append((int(body), Boundary(machine.links[shapes.link[own[0]]].name, _solids(shapes, surface, own))))
    # links that are fixed to the world stand still, too
    fixed = np.flatnonzero((shapes.body < 0) & (shapes.link >= 0))
    if len(fixed):
        found.insert(0, (-1, Boundary("fixed links", _solids(shapes, surface, fixed))))
    return found


def _ground(ground: Ground | None, material: str) -> list[Plane | Mesh] | list[SoilSurface]:
    if ground is None:
        return []
    return _rigid_ground(ground, material) if ground.soil is None else [SoilSurface(material)]


def _rigid_ground(ground: Ground, material: str) -> list[Plane | Mesh]:
    if ground.heightfield is None:
        up = np.array(ground.normal) * math.copysign(1.0, ground.normal[2])
        return [Plane(ground.point, up, material)]
    field = ground.heightfield
    # what leaves the field falls onto a plane at its lowest height
    return [Mesh(_triangles(field), material), Plane((0.0, 0.0, float(field.heights.min())), (0.0, 0.0, 1.0), material)]


def _triangles(field: Heightfield) -> np.ndarray:
    """Triangles of a height field, two a cell, as contacts take it, (triangles, 3, 3)."""
    i, j = np.meshgrid(*(np.arange(n) for n in field.heights.shape), indexing="ij")
    point = np.stack([field.origin[0] + field.cell * i, field.origin[1] + field.cell * j, field.heights], axis=2)
    low, right, ahead, far = point[:-1, :-1], point[1:, :-1], point[:-1, 1:], point[1:, 1:]
    pairs = [np.stack([low, right, far], axis=2), np.stack([low, far, ahead], axis=2)]
    return np.concatenate([pair.reshape(-1, 3, 3) for pair in pairs])


def _solids(shapes: Shapes, surface: list[str], chosen: Sequence[int] | np.ndarray) -> list[Solids]:
    """Collision shapes, by their material."""
    of: dict[str, list] = {}
    for s in chosen:
        of.setdefault(surface[s], []).extend(_solids_of(shapes, int(s)))
    return [Solids(solids, name) for name, solids in of.items() if solids]


def _solids_of(shapes: Shapes, s: int) -> list[Ball | Bar | Box | Hull]:
    """Solids of a collision shape; points without a radius have none."""
    turn, at, size, kind = shapes.rotation[s], shapes.position[s], shapes.size[s], shapes.kind[s]
    if kind == BOX:
        return [Box(at, 2.0 * size, turn)]
    if kind == CAPSULE:
        return [Ball(at, size[0], 2.0 * size[1], turn)]
    if kind == CYLINDER:
        return [Bar(at, size[0], 2.0 * size[1], turn)]
    vertex = shapes.vertex @ turn.T + at
    if kind == HULL:
        corner = shapes.face_corner[shapes.face_start[s] : shapes.face_start[s + 1]]
        return [Hull(vertex[corner])]
    assert kind == POINTS
    if size[0] == 0.0:
        return []
    return [Ball(point, size[0]) for point in vertex[shapes.vertex_start[s] : shapes.vertex_start[s + 1]]]
