"""Collision shapes of the links and of the world's obstacles, as arrays.

A shape's frame has its origin at the shape's centre, so that the bounding sphere around the origin is tight. Point
sets and spheres are one kind: a sphere is a set of one point.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.base.errors import MachineError
from grouser.physics.contact.hull_graph import HullGraph, make_hull_graph
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Quaternion
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, PointSet, Sphere
from grouser.physics.description.data.track import Track
from grouser.physics.description.data.world import World
from grouser.physics.description.urdf.hulls import MOST_VERTICES
from grouser.physics.model.names import Names

POINTS, CAPSULE, BOX, CYLINDER, HULL = range(5)
# A mesh thinner than this share of its largest extent is flat, and gets the thickness _FLAT_THICKNESS [m].
_FLATNESS = 1e-6
_FLAT_THICKNESS = 1e-3
# Corners of the polygon that approximates a cylinder's face.
_RIM_POINTS = 8
# Number of collisions whose solids are kept: machines are built again when others join them.
_KEPT = 4096


class Shapes(NamedTuple):
    """Shapes in the order of the links and their collisions, then the obstacles.

    Attributes:
        kind: POINTS, CAPSULE, BOX, CYLINDER or HULL.
        body: body of the shape, -1 for the world.
        link: index into the machine's links, -1 for an obstacle.
        rotation, position: shape frame in the body frame, (shapes, 3, 3) and (shapes, 3) [m].
        size: half extents of a box; radius and half length of a cylinder or capsule; radius of points, (shapes, 3) [m].
        bound: radius of the bounding sphere about the shape's origin [m].
        vertex_start: vertices of shape s are vertex_start[s] to vertex_start[s + 1].
        vertex: in the shape frame [m]: points of a set, corners of a box or hull, points on the rims of a cylinder.
        face_start: faces of shape s are face_start[s] to face_start[s + 1].
        face: outward unit normal and distance from the origin of each flat face in the shape frame, (faces, 4).
        face_corner: vertices of each triangular face of a hull, (faces, 3); -1 for other shapes.
        part: first and end of each shape's vertices, then of its faces, (shapes, 4).
        middle: a point inside of each solid, in the shape frame, (shapes, 3) [m].
        graph: edges and faces at the vertices of the hulls.
        surface_rate: coordinate rate that moves the surface, -1 for none.
        surface_direction: in the body frame, times the surface speed per joint speed [m], (shapes, 3).
        surface_wraps: whether the surface is a belt, which runs around `surface_direction` as its axis.
    """

    kind: np.ndarray
    body: np.ndarray
    link: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    size: np.ndarray
    bound: np.ndarray
    vertex_start: np.ndarray
    vertex: np.ndarray
    face_start: np.ndarray
    face: np.ndarray
    face_corner: np.ndarray
    part: np.ndarray
    middle: np.ndarray
    graph: HullGraph
    surface_rate: np.ndarray
    surface_direction: np.ndarray
    surface_wraps: np.ndarray


class _Solid(NamedTuple):
    """A geometry about its centre, whose place in the geometry's frame is `middle`; the others as of `Shapes`."""

    kind: int
    size: tuple[float, float, float]
    middle: np.ndarray
    vertices: np.ndarray
    faces: np.ndarray
    corners: np.ndarray


class _Measured(NamedTuple):
    """A solid with the radius of its bounding sphere, the mean of its vertices, and the rotation of its geometry."""

    solid: _Solid
    bound: float
    mean: np.ndarray
    rotation: np.ndarray


def make_shapes(machine: Machine, names: Names, world: World) -> Shapes:
    """Shapes of a machine and its world.

    Raises:
        MachineError: the joint that moves a surface does not have one coordinate of its own, or an obstacle is a point
            set.
    """
    materials = {material.link: material for material in machine.contacts}
    tracks = {track.name: track for track in machine.tracks}
    placed = []  # body, link, rotation, position, solid, surface rate, surface direction, whether it wraps
    for index, link in enumerate(machine.links):
        surface = _surface_motion(machine, names, index, materials.get(link.name))
        for collision in link.collisions:
            moved = _belt_motion(tracks[collision.track], names, index) if collision.track else surface
            measured = _measured(collision.geometry, collision.pose.quaternion, f'<link name="{link.name}">')
            rotation = names.link_rotation[index] @ measured.rotation
            position = names.link_position[index] + names.link_rotation[index] @ np.array(collision.pose.position)
            centre = position + rotation @ measured.solid.middle
            placed.append((names.link_body[index], index, rotation, centre, measured, *moved))
    for obstacle in world.obstacles:
        if isinstance(obstacle.geometry, PointSet):
            raise MachineError("a point set cannot be an obstacle", element=f'obstacle "{obstacle.name}"')
        measured = _measured(obstacle.geometry, obstacle.pose.quaternion, f'obstacle "{obstacle.name}"')
        rotation = measured.rotation
        position = np.array(obstacle.pose.position) + rotation @ measured.solid.middle
        placed.append((-1, -1, rotation, position, measured, -1, np.zeros(3), False))
    solids = [row[4].solid for row in placed]
    vertex_start = _starts([len(solid.vertices) for solid in solids])
    face_start = _starts([len(solid.faces) for solid in solids])
    vertex = np.concatenate([np.zeros((0, 3)), *[solid.vertices for solid in solids]])
    corner = np.concatenate([np.zeros((0, 3), dtype=np.int64), *[solid.corners for solid in solids]])
    first = np.repeat(vertex_start[:-1], np.diff(face_start))
    face_corner = np.where(corner < 0, -1, corner + first[:, np.newaxis])
    part = np.stack([vertex_start[:-1], vertex_start[1:], face_start[:-1], face_start[1:]], axis=1)
    shapes = Shapes(
        kind=np.array([solid.kind for solid in solids], dtype=np.int64),
        body=np.array([row[0] for row in placed], dtype=np.int64),
        link=np.array([row[1] for row in placed], dtype=np.int64),
        rotation=np.array([row[2] for row in placed], dtype=float).reshape(-1, 3, 3),
        position=np.array([row[3] for row in placed], dtype=float).reshape(-1, 3),
        size=np.array([solid.size for solid in solids], dtype=float).reshape(-1, 3),
        bound=np.array([row[4].bound for row in placed], dtype=float),
        vertex_start=vertex_start,
        vertex=vertex,
        face_start=face_start,
        face=np.concatenate([np.zeros((0, 4)), *[solid.faces for solid in solids]]),
        face_corner=face_corner,
        part=part,
        middle=np.array([row[4].mean for row in placed], dtype=float).reshape(-1, 3),
        graph=make_hull_graph(vertex, face_corner, part),
        surface_rate=np.array([row[5] for row in placed], dtype=np.int64),
        surface_direction=np.array([row[6] for row in placed], dtype=float).reshape(-1, 3),
        surface_wraps=np.array([row[7] for row in placed], dtype=np.bool_),
    )
    for array in (*shapes.graph, *(part for part in shapes if isinstance(part, np.ndarray))):
        array.flags.writeable = False
    return shapes


def warn_still_surfaces(machine: Machine, names: Names) -> tuple[str, ...]:
    """Warnings of moving surfaces on links that are fixed to the world: they move nothing."""
    joints = {joint.name: joint for joint in machine.joints}
    moving = [contact.link for contact in machine.contacts if contact.surface_joint is not None]
    moving += [joints[track.sprocket].parent for track in machine.tracks]
    return tuple(
        f'the surface of link "{link}" moves nothing that lies on it: the link is fixed to the world'
        for link in dict.fromkeys(moving)
        if names.link_body[names.link_index(link)] < 0
    )


def rim(radius: float, height: float, count: int) -> np.ndarray:
    """Points on a circle about the z axis at a height [m], (count, 3)."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(count, height)], axis=1)


def _starts(counts):
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


@lru_cache(maxsize=_KEPT)
def _measured(geometry: Geometry, quaternion: Quaternion, owner: str) -> _Measured:
    """A geometry's solid with its measures, and the rotation matrix of its quaternion; its owner is for messages."""
    solid = _solid(geometry, owner)
    mean = solid.vertices.mean(axis=0) if len(solid.vertices) else np.zeros(3)
    return _Measured(solid, _bound(solid), mean, spatial.matrix(quaternion))


def _solid(geometry: Geometry, owner: str) -> _Solid:
    """Kind, size, vertices and faces of a geometry; its owner is for messages."""
    middle, no_faces, no_corners = np.zeros(3), np.zeros((0, 4)), np.zeros((0, 3), dtype=np.int64)
    if isinstance(geometry, Sphere):
        return _Solid(POINTS, (geometry.radius, 0.0, 0.0), middle, np.zeros((1, 3)), no_faces, no_corners)
    if isinstance(geometry, PointSet):
        return _points(np.asarray(geometry.points, dtype=float).reshape(-1, 3), geometry.radius)
    if isinstance(geometry, Box):
        half = 0.5 * np.array(geometry.size)
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        faces = np.concatenate(
            [np.column_stack([np.eye(3), half]), np.column_stack([-np.eye(3), half])],
        )
        return _Solid(BOX, tuple(half), middle, half * signs, faces, np.full((6, 3), -1))
    half_length = 0.5 * geometry.length if isinstance(geometry, Capsule | Cylinder) else 0.0
    if isinstance(geometry, Capsule):
        ends = np.array([[0.0, 0.0, -half_length], [0.0, 0.0, half_length]])
        return _Solid(CAPSULE, (geometry.radius, half_length, 0.0), middle, ends, no_faces, no_corners)
    if isinstance(geometry, Cylinder):
        rims = [rim(geometry.radius, side * half_length, _RIM_POINTS) for side in (-1.0, 1.0)]
        faces = np.array([[0.0, 0.0, side, half_length] for side in (-1.0, 1.0)])
        return _Solid(
            CYLINDER, (geometry.radius, half_length, 0.0), middle, np.concatenate(rims), faces, np.full((2, 3), -1)
        )
    return _hull(geometry, owner)


def _points(points: np.ndarray, radius: float) -> _Solid:
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0)) if len(points) else np.zeros(3)
    return _Solid(
        POINTS, (radius, 0.0, 0.0), middle, points - middle, np.zeros((0, 4)), np.zeros((0, 3), dtype=np.int64)
    )


def _hull(mesh: Mesh, owner: str) -> _Solid:
    """Vertices and triangles of a mesh's hull; a flat one gets a thickness, a line or a point becomes its ends.

    Raises:
        MachineError: there is no hull, or it has more vertices than the reader of meshes gives.
    """
    from scipy.spatial import ConvexHull, QhullError

    points = np.asarray(mesh.hull, dtype=float)
    if not 0 < len(points) <= MOST_VERTICES:
        raise MachineError(
            f"the hull of mesh '{mesh.uri}' has {len(points)} vertices; valid: 1 to {MOST_VERTICES}", element=owner
        )
    _, extents, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=True)
    rank = int(np.count_nonzero(extents > _FLATNESS * max(extents[0], 1e-300)))
    if rank < 2:
        return _points(points, 0.0)
    if rank == 2:
        step = 0.5 * _FLAT_THICKNESS * axes[2]
        points = np.concatenate([points - step, points + step])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    try:
        hull = ConvexHull(points - middle)
    except QhullError as error:
        problem = f"mesh '{mesh.uri}' has no convex hull: {str(error).splitlines()[0]}"
        raise MachineError(problem, file=mesh.path, element=owner) from error
    corners = hull.simplices.astype(np.int64)
    # orient every triangle so that its normal points outward
    first, second, third = (hull.points[corners[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(second - first, third - first), hull.equations[:, :3]) < 0.0
    corners[inward] = corners[inward][:, ::-1]
    faces = np.column_stack([hull.equations[:, :3], -hull.equations[:, 3]])
    # points inside of a face are no corners
    used, numbered = np.unique(corners, return_inverse=True)
    return _Solid(HULL, (0.0, 0.0, 0.0), middle, hull.points[used], faces, numbered.reshape(corners.shape))


def _middle(vertices: np.ndarray) -> np.ndarray:
    """Mean of vertices, the origin without any."""
    return vertices.mean(axis=0) if len(vertices) else np.zeros(3)


def _bound(solid: _Solid) -> float:
    """Radius of the bounding sphere about the origin."""
    farthest = float(np.linalg.norm(solid.vertices, axis=1).max()) if len(solid.vertices) else 0.0
    return farthest + solid.size[0] if solid.kind in (POINTS, CAPSULE) else farthest


def _surface_motion(machine: Machine, names: Names, link_index: int, material: ContactMaterial | None):
    """Coordinate rate and scaled direction (body frame) of a moving surface, and that it does not wrap."""
    if material is None or material.surface_joint is None:
        return -1, np.zeros(3), False
    coordinate = names.joints.get(material.surface_joint)
    if coordinate is None:
        raise MachineError(
            f'surface_joint="{material.surface_joint}" is not a joint with one coordinate',
            file=machine.file,
            element=f'<contact link="{material.link}">',
        )
    scale = material.surface_radius * coordinate.multiplier
    return coordinate.v, scale * names.link_rotation[link_index] @ np.array(material.surface_direction), False


def _belt_motion(track: Track, names: Names, link_index: int):
    """Coordinate rate of a belt and its axis (body frame) times its speed per rate, and that it wraps."""
    coordinate = names.joints[track.sprocket]
    frame = names.link_rotation[link_index] @ track.frame
    return coordinate.v, track.sense * track.radius * coordinate.multiplier * frame[:, 1], True
