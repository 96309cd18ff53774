"""Boundaries as they are described: bodies with shapes, at rest, moving on or vibrating."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

_Vector = Sequence[float] | np.ndarray


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
class Ball:
    """A solid sphere, or a capsule: a cylinder between two half spheres.

    Attributes:
        centre: [m].
        radius: [m].
        length: of the cylinder [m].
        rotation: matrix, whose last column is the cylinder's axis.
    """

    centre: _Vector
    radius: float
    length: float = 0.0
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))


@dataclass(frozen=True)
class Bar:
    """A solid cylinder with flat ends; attributes as of `Ball`."""

    centre: _Vector
    radius: float
    length: float
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))


@dataclass(frozen=True)
class Box:
    """A solid box.

    Attributes:
        centre: [m].
        size: its sides [m].
        rotation: matrix, from the axes of its sides to those of the body.
    """

    centre: _Vector
    size: _Vector
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))


@dataclass(frozen=True)
class Hull:
    """A solid polyhedron without hollows.

    Attributes:
        triangles: corners of its faces, anticlockwise seen from outside, (triangles, 3, 3) [m].
    """

    triangles: np.ndarray


@dataclass(frozen=True)
class Solids:
    """Solids without hollows; where they meet there are no seams.

    Attributes:
        solids: in the axes of the body.
        material: by name.
    """

    solids: Sequence[Ball | Bar | Box | Hull]
    material: str


@dataclass(frozen=True)
class SoilSurface:
    """The surface of soft ground, whose cells a world has (`soft_ground`); a bed by itself has none.

    Attributes:
        material: by name.
    """

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
    shapes: Sequence[Plane | Plate | Cylinder | Mesh | Solids | SoilSurface]
    position: _Vector = (0.0, 0.0, 0.0)
    velocity: _Vector = (0.0, 0.0, 0.0)
    angular_velocity: _Vector = (0.0, 0.0, 0.0)
    vibration: Vibration | None = None
