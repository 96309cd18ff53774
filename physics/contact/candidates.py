"""Points of the shapes that may touch the ground, as arrays.

A convex shape touches the ground with its lowest points. A sphere has one candidate, a capsule the spheres at its ends,
a box its corners, a mesh the vertices of its hull (`hull_on_ground`), a point set its points. A cylinder has the lowest
point of each rim, which stays below the axis as it rolls. On a face it stands on four points that are fixed on the rim,
and on the lowest one once it tilts. Off its faces the other points turn with the lowest one, too: fixed points would
roll under it.

A candidate has permanent slots, which store its contact impulses. Above a height field a sphere has several slots, as
it touches both sides of a valley at once (with one contact it would bounce from side to side).
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from grouser.physics.contact.laws import LawTable
from grouser.physics.contact.reduction import HULL_POINTS
from grouser.physics.contact.shapes import HULL, POINTS, Shapes, rim
from grouser.physics.contact.terrain import SPHERE_CONTACTS
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, PointSet, Sphere
from grouser.physics.description.data.world import World
from grouser.physics.model.names import Names

# Peaks that may press into a shape at the same time.
PEAK_CONTACTS = 4
# The lowest point of a rim, for the slope below it.
LOWEST = 4
# Number of collisions whose candidates are kept: machines are built again when others join them.
_KEPT = 4096


class GroundCandidates(NamedTuple):
    """Points that may touch the ground, and the shapes that peaks of the ground may touch; those of meshes come last.

    Attributes:
        single: number of candidates that do not belong to meshes, (1,).
        most: largest number of contacts with the ground, (1,).
        hull_first: the first candidate of each mesh: one for each vertex, in their order, (meshes,).
        shape: index into the shapes, (candidates,).
        body: body of the candidate.
        point: centre in the body frame [m], (candidates, 3).
        radius: of the sphere around `point` that touches, or of the rim [m].
        axis: unit axis of the rim in the body frame, (candidates, 3); zero for a point or a sphere.
        level: direction from the centre to the candidate on the rim of a cylinder on its face, (candidates, 3).
        quarters: quarter turns about the axis from the rim's lowest point to the candidate off the face, or LOWEST.
        law: index into the laws.
        sinks: whether it ignores soft ground, as wheels and shovels do.
        slot, slots: first slot and number of slots.
        peak_shape: shapes that peaks of a height field may touch, (peak shapes,).
        peak_sinks: whether each ignores soft ground.
        peak_law, peak_slot: law and first slot of each; they have PEAK_CONTACTS slots.
    """

    single: np.ndarray
    most: np.ndarray
    hull_first: np.ndarray
    shape: np.ndarray
    body: np.ndarray
    point: np.ndarray
    radius: np.ndarray
    axis: np.ndarray
    level: np.ndarray
    quarters: np.ndarray
    law: np.ndarray
    sinks: np.ndarray
    slot: np.ndarray
    slots: np.ndarray
    peak_shape: np.ndarray
    peak_sinks: np.ndarray
    peak_law: np.ndarray
    peak_slot: np.ndarray


class _Points(NamedTuple):
    """Candidates of one shape: columns of `GroundCandidates`, and whether each is the centre of a sphere."""

    point: np.ndarray
    radius: np.ndarray
    axis: np.ndarray
    level: np.ndarray
    quarters: np.ndarray
    round: np.ndarray


def make_ground_candidates(
    machine: Machine, names: Names, world: World, shapes: Shapes, laws: LawTable
) -> tuple[GroundCandidates, int]:
    """Candidates of every collision shape on a moving body, none without a ground; number of their slots."""
    on_field = world.ground is not None and world.ground.heightfield is not None
    sinking = {*(wheel.link for wheel in machine.wheels), *(shovel.link for shovel in machine.shovels)}
    sinks = np.array([link.name in sinking for link in machine.links for _ in link.collisions], dtype=np.bool_)
    numbered = enumerate(
        (index, collision) for index, link in enumerate(machine.links) for collision in link.collisions
    )
    # belts stand on their shoes
    movable = [
        row for row in numbered if names.link_body[row[1][0]] >= 0 and world.ground is not None and not row[1][1].track
    ]
    movable.sort(key=lambda row: shapes.kind[row[0]] == HULL)
    found = [_points((), np.eye(3), np.zeros(3))]
    for number, (index, collision) in movable:
        turn = shapes.rotation[number]
        if shapes.kind[number] == HULL:
            corners = shapes.vertex[shapes.vertex_start[number] : shapes.vertex_start[number + 1]]
            found.append(_points(_spheres((corner, 0.0) for corner in corners), turn, shapes.position[number]))
        else:
            at = names.link_position[index] + names.link_rotation[index] @ np.array(collision.pose.position)
            found.append(_points_of(collision.geometry, turn.tobytes(), at.tobytes()))
    numbers = np.array([number for number, _ in movable], dtype=np.int64)
    counts = np.array([len(some.radius) for some in found[1:]], dtype=np.int64)
    is_hull = shapes.kind[numbers] == HULL
    shape, hull_first = np.repeat(numbers, counts), (np.cumsum(counts) - counts)[is_hull]
    point, radius, axis, level, quarters, is_round = map(np.concatenate, zip(*found, strict=True))
    slots = np.where(is_round & on_field, SPHERE_CONTACTS, 1)
    ends = np.concatenate([[0], np.cumsum(slots)])
    law = np.full(len(shapes.kind), -1, dtype=np.int64)
    for number in np.unique(shape).tolist():
        law[number] = laws.between(laws.links[shapes.link[number]], laws.ground)
    peak_shape = numbers[(shapes.kind[numbers] != POINTS) & on_field]
    single = int(counts[~is_hull].sum())
    most = int(slots[:single].sum() + np.minimum(counts[is_hull], HULL_POINTS).sum()) + PEAK_CONTACTS * len(peak_shape)
    candidates = GroundCandidates(
        single=np.array([single], dtype=np.int64),
        most=np.array([most], dtype=np.int64),
        hull_first=hull_first,
        shape=shape,
        body=shapes.body[shape],
        point=point,
        radius=radius,
        axis=axis,
        level=level,
        quarters=quarters,
        law=law[shape],
        sinks=sinks[shape],
        slot=np.array(ends[:-1]),
        slots=slots,
        peak_shape=peak_shape,
        peak_sinks=sinks[peak_shape],
        peak_law=law[peak_shape],
        peak_slot=ends[-1] + PEAK_CONTACTS * np.arange(len(peak_shape)),
    )
    for array in candidates:
        array.flags.writeable = False
    return candidates, int(ends[-1]) + PEAK_CONTACTS * len(peak_shape)


@lru_cache(maxsize=_KEPT)
def _points_of(geometry: Geometry, turn: bytes, at: bytes) -> _Points:
    """Candidates of a shape that is no hull, by its pose in the body frame."""
    return _points(_lowest_points(geometry), np.frombuffer(turn).reshape(3, 3), np.frombuffer(at))


def _points(rows: Iterable[tuple], turn: np.ndarray, at: np.ndarray) -> _Points:
    """Candidates from rows as of `_lowest_points`, by the pose of the shape in the body frame."""
    columns = [
        (at + turn @ local, radius, turn @ axis, turn @ outward, quarters, radius > 0.0 and not np.any(axis))
        for local, radius, axis, outward, quarters in rows
    ]
    vectors = (True, False, True, True, False, False)
    types = (float, float, float, float, np.int64, np.bool_)
    return _Points(
        *(
            np.array([row[k] for row in columns], dtype=kind).reshape((-1, 3) if vector else -1)
            for k, (kind, vector) in enumerate(zip(types, vectors, strict=True))
        )
    )


def _lowest_points(geometry: Geometry):
    """(point, radius, rim axis, `level`, `quarters`) of each candidate in the shape's own frame."""
    none = np.zeros(3)
    if isinstance(geometry, Cylinder):
        up = np.array([0.0, 0.0, 1.0])
        ends = [0.5 * geometry.length * side * up for side in (-1.0, 1.0)]
        each = [*enumerate(rim(1.0, 0.0, 4)), (LOWEST, none)]
        return [(end, geometry.radius, up, outward, turns) for end in ends for turns, outward in each]
    return _spheres(_fixed_points(geometry))


def _spheres(points: Iterable[tuple[np.ndarray, float]]):
    """Rows as of `_lowest_points` of points with radii."""
    none = np.zeros(3)
    return [(point, radius, none, none, 0) for point, radius in points]


def _fixed_points(geometry: Geometry):
    """(point, radius) of each candidate of a shape without rims."""
    if isinstance(geometry, Sphere):
        return [(np.zeros(3), geometry.radius)]
    if isinstance(geometry, PointSet):
        return [(point, geometry.radius) for point in np.asarray(geometry.points, dtype=float)]
    if isinstance(geometry, Box):
        half = 0.5 * np.array(geometry.size)
        signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        return [(half * sign, 0.0) for sign in signs]
    if isinstance(geometry, Capsule):
        return [(np.array([0.0, 0.0, 0.5 * geometry.length * side]), geometry.radius) for side in (-1.0, 1.0)]
    return [(vertex, 0.0) for vertex in geometry.hull] if isinstance(geometry, Mesh) else []
