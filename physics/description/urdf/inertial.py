"""Mass properties from ``<inertial>``, or from shapes and a density."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from grouser.physics.description.data.mechanism import Collision, Inertial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, PointSet, Sphere
from grouser.physics.description.text.mending import Mendings
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf import meshes
from grouser.physics.description.urdf.origin import read_origin

MASS_MAX = 1e9
_ENTRY_MAX = 1e15
# Tolerance for files with few digits, as a share of the largest principal moment.
ROUNDING = 1e-6
# Moments below zero of less than a link's mass, at least a gram, times the square of a micrometre are rounding errors.
_SPECK, _LEAST_MASS = 1e-12, 1e-3


def read_inertial(link: Element, mendings: Mendings) -> Inertial | None:
    """Returns the ``<inertial>`` of a link, None without one.

    Raises:
        MachineError: a negative mass, or numbers that cannot be read or are too large.
    """
    element = link.optional("inertial")
    if element is None:
        return None
    name, pose = link.text("name"), read_origin(element)
    holder = element.required("mass")
    mass = holder.number("value")
    if not 0.0 <= mass <= MASS_MAX:
        raise holder.error(f"mass of link '{name}' = {mass:g}; valid: 0 to {MASS_MAX:g} kg")
    tensor = element.optional("inertia")
    if tensor is None:
        if mass > 0.0:
            raise element.error("an <inertia> element is missing", "add <inertia ixx=... iyy=... izz=.../> [kg m2]")
        return Inertial(pose, mass, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    ixx, iyy, izz = (tensor.number(name) for name in ("ixx", "iyy", "izz"))
    ixy, ixz, iyz = (tensor.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    largest_entry = max(abs(value) for value in (ixx, iyy, izz, ixy, ixz, iyz))
    if largest_entry > _ENTRY_MAX:
        raise tensor.error(f"inertia of link '{name}' holds {largest_entry:g}, beyond {_ENTRY_MAX:g} kg m2")
    inertial = Inertial(pose, mass, (ixx, ixy, ixz, iyy, iyz, izz))
    return _mended(inertial, tensor, name, mendings)


def inertia_matrix(inertial: Inertial) -> np.ndarray:
    """Returns the inertia about the centre of mass in its frame [kg m2], shape (3, 3)."""
    ixx, ixy, ixz, iyy, iyz, izz = inertial.inertia
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def _mended(inertial: Inertial, element: Element, link: str, mendings: Mendings) -> Inertial:
    """An inertia without moments below zero by rounding; an implausible one is told.

    Other moments below zero are for `rigid_inertia.check_inertias`: of links that are fixed together the sum counts.
    """
    moments, axes = np.linalg.eigh(inertia_matrix(inertial))
    smallest, middle, largest = moments.tolist()
    if -_SPECK * max(inertial.mass, _LEAST_MASS) <= smallest < -ROUNDING * max(largest, -smallest):
        mendings.add(
            element,
            f"link '{link}' (principal moment {smallest:g} kg m2)",
            "has a moment of inertia below zero by a rounding error, which is taken as zero",
        )
        mended = axes @ np.diag(np.maximum(moments, 0.0)) @ axes.T
        (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = mended.tolist()
        return replace(inertial, inertia=(ixx, ixy, ixz, iyy, iyz, izz))
    if smallest >= -ROUNDING * largest and smallest + middle < largest * (1.0 - ROUNDING):
        mendings.add(
            element,
            f"link '{link}' (principal moments {smallest:.4g}, {middle:.4g}, {largest:.4g} kg m2)",
            "has an inertia that breaks the triangle inequality: no body has it",
        )
    return inertial


def inertial_from_density(collisions: Iterable[Collision], density: float) -> tuple[Inertial, bool]:
    """Returns the mass properties of shapes with a density; overlaps count twice, points have no mass.

    Args:
        collisions: shapes in the link frame, at least one of them not a point set.
        density: [kg/m3].

    Returns:
        The mass properties (axes parallel to the link frame), and whether every mesh was closed.

    Raises:
        MeshError: a mesh encloses no volume.
    """
    mass, moment, inertia_at_origin, closed = 0.0, np.zeros(3), np.zeros((3, 3)), True
    for collision in collisions:
        if isinstance(collision.geometry, PointSet):
            continue
        volume, centre, inertia, shape_closed = _volume_properties(collision.geometry)
        rotation = matrix(collision.pose.quaternion)
        part = density * volume
        place = np.array(collision.pose.position) + rotation @ centre
        mass += part
        moment += part * place
        inertia_at_origin += density * rotation @ inertia @ rotation.T + part * _point_inertia(place)
        closed = closed and shape_closed
    centre = moment / mass
    inertia = inertia_at_origin - mass * _point_inertia(centre)
    x, y, z = centre.tolist()
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = inertia.tolist()
    return Inertial(Pose((x, y, z)), mass, (ixx, ixy, ixz, iyy, iyz, izz)), closed


def _volume_properties(
    geometry: Box | Cylinder | Sphere | Capsule | Mesh,
) -> tuple[float, np.ndarray, np.ndarray, bool]:
    """Volume, centre, inertia about the centre at unit density, in the shape's frame."""
    if isinstance(geometry, Box):
        x, y, z = geometry.size
        volume = x * y * z
        moments = volume / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    elif isinstance(geometry, Cylinder):
        square, length = geometry.radius**2, geometry.length
        volume = np.pi * square * length
        moments = volume * np.array([square / 4 + length**2 / 12, square / 4 + length**2 / 12, square / 2])
    elif isinstance(geometry, Sphere):
        volume = 4.0 / 3.0 * np.pi * geometry.radius**3
        moments = np.full(3, 0.4 * volume * geometry.radius**2)
    elif isinstance(geometry, Capsule):
        volume, moments = _capsule_properties(geometry.radius, geometry.length)
    else:
        return meshes.mass_properties(Path(geometry.path), geometry.scale)
    return float(volume), np.zeros(3), np.diag(moments), True


def _capsule_properties(radius: float, length: float) -> tuple[float, np.ndarray]:
    """Volume and principal moments of inertia of a cylinder and two half spheres, whose centres are 3/8 of the radius
    beyond the ends of the cylinder."""
    cylinder, ball = np.pi * radius**2 * length, 4.0 / 3.0 * np.pi * radius**3
    across = cylinder * (radius**2 / 4 + length**2 / 12)
    across += ball * (0.4 * radius**2 + length**2 / 4 + 0.375 * radius * length)
    along = cylinder * radius**2 / 2 + ball * 0.4 * radius**2
    return cylinder + ball, np.array([across, across, along])


def _point_inertia(place: np.ndarray) -> np.ndarray:
    return float(place @ place) * np.eye(3) - np.outer(place, place)
