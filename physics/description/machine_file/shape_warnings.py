"""Warnings of implausible collision shapes."""

import math

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Inertial, Link
from grouser.physics.description.data.rotation import matrix
from grouser.physics.description.data.shapes import Capsule, Cylinder, Mesh, Sphere
from grouser.physics.description.data.soil import Wheel
from grouser.physics.description.text.mending import likewise

# Error of a simplified hull that is told, as a share of its extent.
_HULL_ERROR = 0.01
# Machines are rarely larger [m]; a body with a smaller radius of gyration, as a share of its extent, or of less density
# [kg/m3] than this is in other units than its mesh. Without mass the extent alone tells [m].
_LARGE, _GYRATION, _DENSITY, _LARGE_WITHOUT_MASS = 5.0, 0.01, 1e-3, 100.0
# Ratio of a wheel's radius to that of its collision shapes beyond which one of them is wrong.
_RADIUS_RATIO = 2.0
# Radii of the smallest and largest wheels there are [m].
_SMALLEST_WHEEL, _LARGEST_WHEEL = 5e-3, 5.0


def shape_warnings(machine: Machine) -> list[str]:
    """Returns warnings of hulls that differ from their meshes, of meshes in millimetres, of wheels whose radius is not
    that of their shapes, and of a machine that nothing touches."""
    found = _hull_warnings(machine) + [text for link in machine.links for text in _unit_warnings(link)]
    links = {link.name: link for link in machine.links}
    for wheel in machine.wheels:
        found += _wheel_warnings(wheel, links[wheel.link])
    heavy = any(link.inertial is not None and link.inertial.mass > 0.0 for link in machine.links)
    touching = machine.wheels or any(link.collisions for link in machine.links)
    if machine.floating_base and heavy and not touching:
        found.append("no link has a <collision>: the machine touches nothing, and falls through the ground")
    return found


def _meshes(link: Link) -> list[Mesh]:
    return [collision.geometry for collision in link.collisions if isinstance(collision.geometry, Mesh)]


def _extent(mesh: Mesh) -> float:
    """Largest extent along the mesh's axes [m]."""
    return float(np.ptp(mesh.hull, axis=0).max()) if len(mesh.hull) else 0.0


def _hull_warnings(machine: Machine) -> list[str]:
    """One warning of each mesh, which names the other links that have it."""
    found: dict[str, dict[str, None]] = {}  # the links in the order of the file, each once
    for link in machine.links:
        for mesh in _meshes(link):
            if mesh.hull_error > _HULL_ERROR * _extent(mesh):
                text = (
                    f"the hull of mesh '{mesh.uri}' is simplified to {len(mesh.hull)} vertices, and up to "
                    f"{1000.0 * mesh.hull_error:.3g} mm of the mesh are outside; give the link a sphere, cylinder or "
                    "simpler mesh"
                )
                found.setdefault(text, {}).setdefault(f"link '{link.name}'")
    return [f"{first}: {text}{likewise(others)}" for text, (first, *others) in found.items()]


def _unit_warnings(link: Link) -> list[str]:
    """Unscaled meshes in millimetres, each told once."""
    return [
        f"link '{link.name}': mesh '{uri}' is {extent:.4g} m large"
        + ("" if link.inertial is None else f", with a mass of {link.inertial.mass:g} kg")
        + ': if its file is in millimetres, add scale="0.001 0.001 0.001" to <mesh>'
        for uri, extent in {mesh.uri: _extent(mesh) for mesh in _meshes(link) if mesh.scale == (1.0, 1.0, 1.0)}.items()
        if _is_too_large(extent, link.inertial)
    ]


def _is_too_large(extent: float, inertial: Inertial | None) -> bool:
    """Whether no body of such mass properties has the extent."""
    if inertial is None or inertial.mass == 0.0:
        return extent > _LARGE_WITHOUT_MASS
    ixx, _, _, iyy, _, izz = inertial.inertia
    gyration = math.sqrt(max(ixx + iyy + izz, 0.0) / (2.0 * inertial.mass))
    return extent > _LARGE and (gyration < _GYRATION * extent or inertial.mass < _DENSITY * extent**3)


def _wheel_warnings(wheel: Wheel, link: Link) -> list[str]:
    radius = max((_radius_about(wheel, collision) for collision in link.collisions), default=0.0)
    full = wheel.radius + wheel.grouser_height
    if radius == 0.0:
        if _SMALLEST_WHEEL <= full <= _LARGEST_WHEEL:
            return []
        return [f"wheel '{wheel.link}': its radius is {wheel.radius:g} m; is it in metres?"]
    if radius / _RADIUS_RATIO <= full <= _RADIUS_RATIO * radius:
        return []
    return [
        f"wheel '{wheel.link}': its radius is {wheel.radius:g} m, and its collision shapes reach {radius:.4g} m from "
        "its axis; check radius, the shapes and their scale"
    ]


def _radius_about(wheel: Wheel, collision: Collision) -> float:
    """Largest distance of a shape from a wheel's axis [m]; 0 for shapes that do not tell it."""
    geometry, axis = collision.geometry, np.array(wheel.axis)
    turn = matrix(collision.pose.quaternion)
    place = np.array(collision.pose.position) - np.array(wheel.position)
    if isinstance(geometry, Mesh):
        points, radius = geometry.hull @ turn.T + place, 0.0
    elif isinstance(geometry, Sphere):
        points, radius = place[None], geometry.radius
    elif isinstance(geometry, Cylinder | Capsule):
        points = place + np.outer([-0.5 * geometry.length, 0.5 * geometry.length], turn[:, 2])
        radius = geometry.radius
    else:
        return 0.0
    return float(np.linalg.norm(np.cross(points, axis), axis=1).max(initial=0.0)) + radius
