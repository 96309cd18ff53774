"""The arrays of an assembly, from its blocks and their modes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from grouser.physics.blocks.faces import cell_ends, find_joints
from grouser.physics.blocks.modes import Modes, mode_shapes
from grouser.physics.blocks.polyhedron import Polyhedron, edges
from grouser.physics.blocks.system import Bodies, Joints, Laws, Loads, Shapes, State, System, Workspace
from grouser.physics.contact.terrain import Terrain, make_terrain

# Contacts that there is room for, for each block, and corners of a clipped polygon beyond those of the largest faces.
_ROOM, _CORNERS = 100, 4
# Corners of the parts of a face over the two triangles of a cell.
_CORNERS_OF_CELL = 10


@dataclass(frozen=True)
class Block:
    """A block where it starts.

    Attributes:
        name: unique.
        shape: in the world [m].
        driven: whether it moves as it is told, as floors, walls and tools do.
        bonded: whether it is bonded to others that are, where their faces touch at the start.
    """

    name: str
    shape: Polyhedron
    driven: bool = False
    bonded: bool = True


class FieldBelow(NamedTuple):
    """A height field below the blocks, and the driven block that stands for it."""

    terrain: Terrain
    block: int


# Blocks without a height field.
NO_FIELD = FieldBelow(make_terrain(None), -1)


def make_system(
    blocks: Sequence[Block], modes: Sequence[Modes], order: int, laws: Laws, field: FieldBelow = NO_FIELD
) -> System:
    """All that never changes.

    Args:
        blocks: at least one.
        modes: of each.
        order: of the modes.
        laws: of joints, contacts and motion.
        field: below the blocks.
    """
    free = np.array([not block.driven for block in blocks])

    def of_free(values: Sequence) -> np.ndarray:
        array = np.array(values, dtype=float)
        array[~free] = 0.0
        return _frozen(array)

    centres = np.array([part.centre for part in modes])
    bodies = Bodies(
        driven=_frozen(~free),
        start=_frozen(centres),
        mass=of_free([part.mass for part in modes]),
        inertia=of_free([part.inertia for part in modes]),
        inverse_inertia=of_free([np.linalg.inv(part.inertia) for part in modes]),
        coefficients=of_free([part.coefficients for part in modes]),
        stiffness=of_free([part.stiffness for part in modes]),
    )
    joints = _make_joints(blocks, bodies, centres, order, laws.cohesion > 0.0 or laws.tensile_strength > 0.0)
    shapes, loads = _make_shapes(blocks, bodies, centres), make_loads(bodies, [], [], [], np.ones(1))
    return System(bodies, joints, shapes, loads, laws, field.terrain, field.block)


def make_loads(bodies: Bodies, blocks: Sequence[int], points: Sequence, forces: Sequence, factor: np.ndarray) -> Loads:
    """Forces at material points.

    Args:
        bodies: of the system.
        blocks: number of the block of each force.
        points: from the centre [m].
        forces: in the world [N].
        factor: of all of them, (1,), which may change.
    """
    owners, places = np.array(blocks, dtype=np.int64), np.array(points, dtype=float).reshape(-1, 3)
    shapes = [
        mode_shapes(bodies.coefficients[owner], place[np.newaxis])[0]
        for owner, place in zip(owners, places, strict=True)
    ]
    phi = np.array(shapes).reshape(len(owners), 3, bodies.stiffness.shape[1])
    vectors = np.array(forces, dtype=float).reshape(-1, 3)
    return Loads(_frozen(owners), _frozen(places), _frozen(phi), _frozen(vectors), factor)


def make_state(system: System) -> State:
    """The blocks at rest where they start, all bonds unbroken."""
    count, width = system.bodies.stiffness.shape
    points, room = len(system.joints.area), _ROOM * count + _room_on_field(system)
    return State(
        time=np.zeros(1),
        displacement=np.zeros((count, 3)),
        quaternion=np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)),
        velocity=np.zeros((count, 3)),
        angular_velocity=np.zeros((count, 3)),
        angular_momentum=np.zeros((count, 3)),
        q=np.zeros((count, width)),
        rate=np.zeros((count, width)),
        bonded=np.ones(points, dtype=bool),
        slip=np.zeros((points, 2)),
        live=np.ones(len(system.joints.blocks), dtype=bool),
        contact_count=np.zeros(1, dtype=np.int64),
        contact_pair=np.zeros(room, dtype=np.int64),
        contact_point=np.zeros((room, 3)),
        contact_shear=np.zeros((room, 3)),
        impulse=np.zeros((count, 6)),
        lost=np.zeros(3),
    )


def make_workspace(system: System, state: State) -> Workspace:
    """Buffers of a step."""
    count, width = state.q.shape
    points, room = len(system.joints.area), len(state.contact_pair)
    shapes = system.shapes
    largest = int(np.diff(shapes.loop_start).max(initial=0))
    return Workspace(
        position=np.zeros((count, 3)),
        rotation=np.zeros((count, 3, 3)),
        force=np.zeros((count, 3)),
        torque=np.zeros((count, 3)),
        modal=np.zeros((count, width)),
        jump=np.zeros((points, 6)),
        point_force=np.zeros((points, 3)),
        active=np.ones(count, dtype=bool),
        joint_count=np.zeros(count, dtype=np.int64),
        vertex=np.zeros_like(shapes.vertex),
        box=np.zeros((count, 6)),
        normal=np.zeros((len(shapes.area), 3)),
        clipped=np.zeros((2, 2 * largest + _CORNERS, 3)),
        tributary=np.zeros(2 * largest + _CORNERS),
        shape=np.zeros((2, 3, width)),
        found_pair=np.zeros(room, dtype=np.int64),
        found_point=np.zeros((room, 3)),
        found_shear=np.zeros((room, 3)),
        used=np.zeros(room, dtype=bool),
        spring_energy=np.zeros(1),
        contact_force=np.zeros(2),
        stiffening=np.zeros(count),
        load=np.zeros((count, 6)),
    )


def triangles_of(shapes: Shapes, block: int) -> np.ndarray:
    """Triangles of the undeformed surface of a block, from its centre in its axes, (triangles, 3, 3) [m]."""
    faces = range(*shapes.face_start[block : block + 2])
    loops = [shapes.loop[slice(*shapes.loop_start[face : face + 2])].tolist() for face in faces]
    return shapes.vertex[[(loop[0], *pair) for loop in loops for pair in pairwise(loop[1:])]]


def _room_on_field(system: System) -> int:
    """Contacts that there is room for on the triangles of a height field."""
    if system.field_block < 0:
        return 0
    cell, starts = float(system.field.cell[0]), system.shapes.vertex_start.tolist()
    spans = [np.sort(np.ptp(system.shapes.vertex[first:end], axis=0))[1:] for first, end in pairwise(starts)]
    free = [span for span, driven in zip(spans, system.bodies.driven, strict=True) if not driven]
    return sum(_CORNERS_OF_CELL * math.ceil(np.prod(span / cell + 1.0)) for span in free)


def _make_joints(blocks: Sequence[Block], bodies: Bodies, centres: np.ndarray, order: int, bonded: bool) -> Joints:
    found = [
        joint
        for joint in (find_joints([block.shape for block in blocks], order) if bonded else ())
        if all(blocks[number].bonded for number in joint.blocks)
        and not all(blocks[number].driven for number in joint.blocks)
    ]
    between = np.full((len(blocks), len(blocks)), -1, dtype=np.int64)
    points, shapes = [np.zeros((0, 2, 3))], [np.zeros((0, 2, 3, bodies.stiffness.shape[1]))]
    for number, joint in enumerate(found):
        between[joint.blocks] = between[joint.blocks[::-1]] = number
        material = [joint.points - centres[block] for block in joint.blocks]
        phi = [
            mode_shapes(bodies.coefficients[block], places)
            for block, places in zip(joint.blocks, material, strict=True)
        ]
        points.append(np.stack(material, axis=1))
        shapes.append(np.stack(phi, axis=1))
    return Joints(
        blocks=_frozen(np.array([joint.blocks for joint in found], dtype=np.int64).reshape(-1, 2)),
        start=_starts([len(joint.areas) for joint in found]),
        frame=_frozen(np.array([joint.frame for joint in found]).reshape(-1, 3, 3)),
        point=_frozen(np.concatenate(points)),
        phi=_frozen(np.concatenate(shapes)),
        area=_frozen(np.concatenate([np.zeros(0), *(joint.areas for joint in found)])),
        cell_ends=_frozen(cell_ends(order)),
        between=_frozen(between),
    )


def _make_shapes(blocks: Sequence[Block], bodies: Bodies, centres: np.ndarray) -> Shapes:
    vertex_start = _starts([len(block.shape.vertices) for block in blocks])
    face_start = _starts([len(block.shape.faces) for block in blocks])
    vertices = [block.shape.vertices - centre for block, centre in zip(blocks, centres, strict=True)]
    loops = [
        first + np.array(face) for block, first in zip(blocks, vertex_start, strict=False) for face in block.shape.faces
    ]
    every_edge = [
        np.array(edges(block.shape)) + np.repeat([vertex_start[number], face_start[number]], 2)
        for number, block in enumerate(blocks)
    ]
    areas = [_area(block.shape.outline(face)) for block in blocks for face in range(len(block.shape.faces))]
    return Shapes(
        vertex_start=vertex_start,
        face_start=face_start,
        edge_start=_starts([len(part) for part in every_edge]),
        vertex=_frozen(np.concatenate(vertices)),
        phi=_frozen(np.concatenate([mode_shapes(*part) for part in zip(bodies.coefficients, vertices, strict=True)])),
        loop_start=_starts([len(loop) for loop in loops]),
        loop=_frozen(np.concatenate(loops)),
        edge=_frozen(np.concatenate(every_edge)),
        area=_frozen(np.array(areas)),
    )


def _area(outline: np.ndarray) -> float:
    return 0.5 * float(np.linalg.norm(np.cross(outline, np.roll(outline, -1, axis=0)).sum(axis=0)))


def _starts(counts: Sequence[int]) -> np.ndarray:
    return _frozen(np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64))


def _frozen(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array
