"""Shapes of links and obstacles. Lengths in metres; arrays are read-only."""

from dataclasses import dataclass, field

import numpy as np

from grouser.physics.description.data.pose import Vector3


@dataclass(frozen=True)
class Box:
    """A box centred on its frame; `size` is its full extents [m]."""

    size: Vector3


@dataclass(frozen=True)
class Cylinder:
    """A cylinder centred on its frame, axis z; radius and length [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Sphere:
    """A sphere centred on its frame; radius [m]."""

    radius: float


@dataclass(frozen=True)
class Capsule:
    """A cylinder between two half spheres, centred on its frame, axis z; radius and length of the cylinder [m]."""

    radius: float
    length: float


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points that touch: positions [m], shape (n, 3), and the radius of the sphere around each [m], >= 0."""

    points: np.ndarray
    radius: float = 0.0


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh.

    Attributes:
        uri: as written in the URDF.
        path: the file that it resolves to; "" for the belt of a track, which is in no file.
        scale: factors along the mesh's own axes.
        hull: vertices of the convex hull after scaling [m], shape (n, 3); empty for a visual.
        hull_error: largest distance of the mesh outside its hull, which is simplified if it has many vertices [m].
    """

    uri: str
    path: str
    scale: Vector3 = (1.0, 1.0, 1.0)
    hull: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)), repr=False)
    hull_error: float = 0.0


Geometry = Box | Cylinder | Sphere | Capsule | Mesh | PointSet
