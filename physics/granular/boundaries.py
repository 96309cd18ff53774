"""Boundaries as they are described: bodies with shapes, and their arrays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from grouser.physics.base.checks import SIZE_MAX, VALUE_MAX, require_range, require_size, require_vector
from grouser.physics.base.errors import ParameterError
from grouser.physics.granular.arrays import Boundaries
from grouser.physics.granular.shapes import CYLINDER, MESH, PLANE, PLATE

_Vector = Sequence[float] | np.ndarray
# Contacts that a grain may have with one mesh.
_MESH_SLOTS = 4
# Cells of the grid of a mesh, at most.
_MOST_CELLS = 2_000_000
# Least area of a triangle by the square of its longest side [-].
_THINNEST = 1e-9


@dataclass(frozen=True)
class Plane:
    """A plane, solid behind it.

    Attributes:
        point: of it [m].
        normal: outward, of any length.
        material: by name.
    """

    point: _Vector
    normal: _Vector
    material: str


@dataclass(frozen=True)
class Plate:
    """A thin round plate, with a round hole in its middle where `inner_radius` is above 0.

    Attributes:
        centre: [m].
        normal: of any length.
        material: by name.
        inner_radius: of the hole [m].
        outer_radius: [m].
    """

    centre: _Vector
    normal: _Vector
    material: str
    inner_radius: float = 0.0
    outer_radius: float = math.inf


@dataclass(frozen=True)
class Cylinder:
    """A thin tube, open at its ends; grains may be inside and outside.

    Attributes:
        centre: middle of its axis [m].
        axis: of any length.
        radius: [m].
        material: by name.
        length: [m].
    """

    centre: _Vector
    axis: _Vector
    radius: float
    material: str
    length: float = math.inf


@dataclass(frozen=True)
class Mesh:
    """A thin surface of triangles. Corners and edges shared by triangles are no seams.

    Attributes:
        triangles: corners, (triangles, 3, 3) [m].
        material: by name.
    """

    triangles: np.ndarray
    material: str


@dataclass(frozen=True)
class Vibration:
    """Motion of a body: amplitude sin(angular_frequency t + phase).

    Attributes:
        amplitude: [m], (3,), world axes.
        angular_frequency: [rad/s].
        phase: [rad].
    """

    amplitude: _Vector
    angular_frequency: float
    phase: float = 0.0


@dataclass(frozen=True)
class Boundary:
    """A body: shapes that move together.

    Attributes:
        name: for messages and readings.
        shapes: in the axes of the body.
        position: of its origin at the start, or the middle of its vibration [m]; its axes are the world's.
        velocity, angular_velocity: constant [m/s, rad/s], world axes.
        vibration: instead of these; None: none.
    """

    name: str
    shapes: Sequence[Plane | Plate | Cylinder | Mesh]
    position: _Vector = (0.0, 0.0, 0.0)
    velocity: _Vector = (0.0, 0.0, 0.0)
    angular_velocity: _Vector = (0.0, 0.0, 0.0)
    vibration: Vibration | None = None


@dataclass
class _Meshes:
    """Triangles and grids of the meshes so far."""

    triangle: list[np.ndarray] = field(default_factory=list)
    grid: list[list[float]] = field(default_factory=list)
    grid_size: list[list[int]] = field(default_factory=list)
    cell_count: list[np.ndarray] = field(default_factory=list)
    cell_triangle: list[np.ndarray] = field(default_factory=list)
    cells: int = 0
    triangles: int = 0


def make_boundaries(bodies: Sequence[Boundary], materials: Sequence[str], widest: float) -> Boundaries:
    """Returns the arrays of boundaries.

    Args:
        bodies: in the order of their numbers.
        materials: names, in the order of their numbers.
        widest: largest radius of a grain [m].

    Raises:
        ParameterError: a shape that is none, an unknown material, a mesh with a degenerate triangle.
    """
    kind, body, material, slots, value, mesh = [], [], [], [], [], []
    extents, meshes = [], _Meshes()
    for b, boundary in enumerate(bodies):
        extent = 0.0
        for number, shape in enumerate(boundary.shapes):
            name = f"{boundary.name}.shapes[{number}]"
            if shape.material not in materials:
                raise ParameterError(f"material of {name}", shape.material, "one of " + ", ".join(materials))
            numbers, reach = _shape(name, shape, meshes, widest)
            kind.append(_KINDS[type(shape)])
            body.append(b)
            material.append(materials.index(shape.material))
            is_mesh = isinstance(shape, Mesh)
            slots.append(_MESH_SLOTS if is_mesh else 1)
            mesh.append(len(meshes.grid) - 1 if is_mesh else -1)
            value.append(np.resize(numbers, 12))
            extent = max(extent, reach)
        extents.append(extent)
    whole, count = np.int64, len(bodies)
    motions = [boundary.vibration or Vibration((0.0, 0.0, 0.0), 0.0) for boundary in bodies]
    return Boundaries(
        kind=np.array(kind, whole), body=np.array(body, whole), material=np.array(material, whole),
        slots=np.array(slots, whole), value=np.reshape(np.array(value, float), (-1, 12)), mesh=np.array(mesh, whole),
        triangle=np.concatenate(meshes.triangle or [np.zeros((0, 9))]),
        grid=np.reshape(np.array(meshes.grid, float), (-1, 4)),
        grid_size=np.reshape(np.array(meshes.grid_size, whole), (-1, 4)),
        cell_start=np.cumsum(np.concatenate([[0], *meshes.cell_count]), dtype=whole),
        cell_triangle=np.concatenate(meshes.cell_triangle or [np.zeros(0, whole)]).astype(whole),
        extent=np.array(extents, float),
        start=np.reshape([require_vector("position", one.position, 3, "m") for one in bodies], (count, 3)),
        amplitude=np.reshape([require_vector("amplitude", one.amplitude, 3, "m") for one in motions], (count, 3)),
        angular_frequency=np.array(
            [require_range("angular_frequency", one.angular_frequency, 0.0, VALUE_MAX, "rad/s") for one in motions]
        ),
        phase=np.array([float(one.phase) for one in motions]),
    )  # fmt: skip


_KINDS = {Plane: PLANE, Plate: PLATE, Cylinder: CYLINDER, Mesh: MESH}


def _shape(name: str, shape, meshes: _Meshes, widest: float) -> tuple[np.ndarray, float]:
    """Numbers of a shape (`shapes`), and the distance of its farthest point from the body's origin [m]."""
    if isinstance(shape, Plane):
        return np.array(
            [*require_vector(f"point of {name}", shape.point, 3, "m"), *_unit(name, shape.normal)]
        ), math.inf
    if isinstance(shape, Plate):
        centre = require_vector(f"centre of {name}", shape.centre, 3, "m")
        require_range(f"inner_radius of {name}", shape.inner_radius, 0.0, SIZE_MAX, "m")
        if not shape.outer_radius > shape.inner_radius:
            raise ParameterError(f"outer_radius of {name}", shape.outer_radius, "above inner_radius")
        radii = shape.inner_radius, shape.outer_radius
        return np.array([*centre, *_unit(name, shape.normal), *radii]), math.dist(
            centre, (0, 0, 0)
        ) + shape.outer_radius
    if isinstance(shape, Cylinder):
        centre, radius = require_vector(f"centre of {name}", shape.centre, 3, "m"), require_size(name, shape.radius)
        reach = math.dist(centre, (0, 0, 0)) + math.hypot(radius, 0.5 * shape.length)
        return np.array([*centre, *_unit(name, shape.axis), radius, 0.5 * shape.length]), reach
    if isinstance(shape, Mesh):
        return _add_mesh(name, np.array(shape.triangles, float), meshes, widest)
    raise ParameterError(name, shape, "a Plane, Plate, Cylinder or Mesh")


def _unit(name: str, vector: _Vector) -> np.ndarray:
    numbers = np.array(require_vector(f"direction of {name}", vector, 3))
    length = float(np.linalg.norm(numbers))
    if length == 0.0:
        raise ParameterError(f"direction of {name}", vector, "a vector that is not zero")
    return numbers / length


def _add_mesh(name: str, corners: np.ndarray, meshes: _Meshes, widest: float) -> tuple[np.ndarray, float]:
    """Adds a mesh with a grid whose cells list all triangles that a grain with its centre there may touch."""
    if corners.ndim != 3 or corners.shape[1:] != (3, 3) or not len(corners) or not np.isfinite(corners).all():
        raise ParameterError(f"triangles of {name}", corners.shape, "(triangles, 3, 3), finite")
    sides = corners - np.roll(corners, 1, axis=1)
    longest = (sides**2).sum(axis=2).max(axis=1)
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    thin = np.flatnonzero(area <= _THINNEST * longest)
    if len(thin):
        raise ParameterError(f"triangles of {name}", corners[thin[0]].tolist(), "triangles with an area")
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    origin, extent = low - 1.01 * widest, high - low + 2.02 * widest
    side = max(2.0 * widest, float((extent.prod() / _MOST_CELLS) ** (1.0 / 3.0)))
    size = np.floor(extent / side).astype(np.int64) + 1
    first = np.floor((corners.min(axis=1) - widest - origin) / side).astype(np.int64).clip(0)
    last = np.minimum(np.floor((corners.max(axis=1) + widest - origin) / side).astype(np.int64), size - 1)
    cells, owners = [], []
    for t, (start, end) in enumerate(zip(first, last, strict=True)):
        z, y, x = np.meshgrid(*(np.arange(start[c], end[c] + 1) for c in (2, 1, 0)), indexing="ij")
        cells.append(((z * size[1] + y) * size[0] + x).ravel())
        owners.append(np.full(cells[-1].size, t + meshes.triangles))
    cell, owner = np.concatenate(cells), np.concatenate(owners)
    order = np.argsort(cell, kind="stable")
    meshes.cell_count.append(np.bincount(cell, minlength=int(size.prod())))
    meshes.cell_triangle.append(owner[order])
    meshes.grid.append([*origin, side])
    meshes.grid_size.append([*size, meshes.cells])
    meshes.triangle.append(corners.reshape(-1, 9))
    meshes.cells += int(size.prod())
    meshes.triangles += len(corners)
    return np.array([*low, *high]), float(np.linalg.norm(corners, axis=2).max())
