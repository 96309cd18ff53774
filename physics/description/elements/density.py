"""Density: mass properties of links from their collision shapes."""

from dataclasses import dataclass, replace

from grouser.physics.description.data.mechanism import Link
from grouser.physics.description.data.shapes import PointSet
from grouser.physics.description.table.attributes import ElementKind, link, positive
from grouser.physics.description.table.family import Entry, Extension, Family
from grouser.physics.description.urdf.inertial import MASS_MAX, inertial_from_density
from grouser.physics.description.urdf.meshes import MeshError
from grouser.physics.description.urdf.robot import Robot


@dataclass(frozen=True)
class Density:
    """Density of the collision shapes of a link [kg/m3]."""

    link: str
    value: float


DENSITY = ElementKind(
    "density",
    "Density of a link without `<inertial>`: its collision shapes give the mass properties; overlaps count twice.",
    (
        link("link without `<inertial>`, with at least one collision shape"),
        positive("value", "kg/m3", "mass density"),
    ),
    Density,
    field="densities",
    consumed=True,
    unique="link",
)


def with_densities(robot: Robot, extension: Extension, warnings: list[str]) -> Robot:
    """Computes the mass properties of links with a density.

    Args:
        robot: links and joints.
        extension: its elements.
        warnings: list to which warnings are appended.

    Raises:
        MachineError: a link has an ``<inertial>`` or no collision shape, or its mass is too large.
    """
    entries = {entry.value.link: entry for entry in extension["densities"]}
    links = (_filled(link, entries[link.name], warnings) if link.name in entries else link for link in robot.links)
    return replace(robot, links=tuple(links))


def _filled(link: Link, entry: Entry, warnings: list[str]) -> Link:
    _check_density(entry, link)
    try:
        inertial, closed = inertial_from_density(link.collisions, entry.value.value)
    except MeshError as problem:
        raise entry.element.error(str(problem), "give the link an <inertial>") from None
    if inertial.mass > MASS_MAX:
        raise entry.element.error(f"the link gets a mass of {inertial.mass:g} kg; valid: at most {MASS_MAX:g} kg")
    if not closed:
        warnings.append(f"link '{link.name}': a mesh is not closed; its convex hull gives the mass")
    return replace(link, inertial=inertial)


def _check_density(entry: Entry, link: Link) -> None:
    if link.inertial is not None:
        raise entry.element.error(f"link '{link.name}' has an <inertial> already", "remove one of the two")
    if all(isinstance(collision.geometry, PointSet) for collision in link.collisions):
        raise entry.element.error(
            f"link '{link.name}' has no collision shape to fill", "give it a <collision> or an <inertial>"
        )


FAMILY = Family((DENSITY,), prepare=with_densities)
