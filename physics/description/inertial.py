"""Mass properties: as ``<inertial>`` gives them, or from shapes and a density."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from grouser.physics.description.data.mechanism import Collision, Inertial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, PointSet, Sphere
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf import meshes
from grouser.physics.description.urdf.origin import read_origin

MASS_MAX = 1e9
# Share of the largest principal moment: files written with few digits miss the exact bounds by about this.
_ROUNDING = 1e-6


def read_inertial(link: Element, warnings: list[str]) -> Inertial | None:
    """Returns the ``<inertial>`` of a link, None when it has none.

    Raises:
        MachineError: negative mass, an inertia that no body has, numbers that cannot be read.
    """
    element = link.optional("inertial")
    if element is None:
        return None
    pose = read_origin(element)
    holder = element.required("mass")
    mass = holder.number("value")
    if not 0.0 <= mass <= MASS_MAX:
        raise holder.error(f"mass of link '{link.text('name')}' = {mass:g}; valid: 0 to {MASS_MAX:g} kg")
    tensor = element.optional("inertia")
    if tensor is None:
        if mass > 0.0:
            raise element.error("an <inertia> element is missing", "add <inertia ixx=... iyy=... izz=.../> [kg m2]")
        return Inertial(pose, mass, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    ixx, iyy, izz = (tensor.number(name) for name in ("ixx", "iyy", "izz"))
    ixy, ixz, iyz = (tensor.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    inertia = (ixx, ixy, ixz, iyy, iyz, izz)
    _check_inertia(tensor, link.text("name"), inertia, warnings)
    return Inertial(pose, mass, inertia)


def _check_inertia(element: Element, link: str, inertia: tuple[float, ...], warnings: list[str]) -> None:
    ixx, ixy, ixz, iyy, iyz, izz = inertia
    largest_entry = max(abs(value) for value in inertia)
    if largest_entry > 1e15:
        raise element.error(f"inertia of link '{link}' holds {largest_entry:g}, beyond 1e15 kg m2")
    smallest, middle, largest = np.linalg.eigvalsh([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    if smallest < -_ROUNDING * largest_entry:
        raise element.error(
            f"inertia of link '{link}' has the principal moment {smallest:g} kg m2; valid: none below zero",
            "check the signs, and that the products of inertia are not larger than the moments",
        )
    if smallest + middle < largest * (1.0 - _ROUNDING):
        warnings.append(
            f"link '{link}': its inertia breaks the triangle inequality "
            f"(principal moments {smallest:.4g}, {middle:.4g}, {largest:.4g} kg m2): no body has it"
        )


def inertial_from_density(collisions: Iterable[Collision], density: float) -> tuple[Inertial, bool]:
    """Returns the mass properties of shapes filled with a density; overlaps count twice, points not at all.

    Args:
        collisions: at least one shape that is no point set, in the link frame.
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
    """Volume and principal moments of inertia: a cylinder, and two half spheres of which each has its centre 3/8 of the
    radius beyond the cylinder's end."""
    cylinder, ball = np.pi * radius**2 * length, 4.0 / 3.0 * np.pi * radius**3
    across = cylinder * (radius**2 / 4 + length**2 / 12)
    across += ball * (0.4 * radius**2 + length**2 / 4 + 0.375 * radius * length)
    along = cylinder * radius**2 / 2 + ball * 0.4 * radius**2
    return cylinder + ball, np.array([across, across, along])


def _point_inertia(place: np.ndarray) -> np.ndarray:
    return float(place @ place) * np.eye(3) - np.outer(place, place)
