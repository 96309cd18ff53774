"""Decomposition of collision meshes into convex parts, which `<contact>` asks for."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from grouser.physics.description.data.mechanism import Collision, Link
from grouser.physics.description.data.shapes import Mesh
from grouser.physics.description.table.family import Entry, Extension, Family
from grouser.physics.description.urdf.convex_parts import convex_parts
from grouser.physics.description.urdf.meshes import MeshError
from grouser.physics.description.urdf.robot import Robot


def with_convex_parts(robot: Robot, extension: Extension, _warnings: list[str]) -> Robot:
    """Replaces the collision meshes of links by their convex parts; after densities, which the whole meshes fill.

    Raises:
        MachineError: a mesh cannot be decomposed, or the library is not installed.
    """
    entries = {entry.value.link: entry for entry in extension["contacts"] if entry.value.decomposition == "convex"}
    links = (_in_parts(link, entries[link.name]) if link.name in entries else link for link in robot.links)
    return replace(robot, links=tuple(links))


def _in_parts(link: Link, entry: Entry) -> Link:
    return replace(link, collisions=tuple(part for one in link.collisions for part in _parts(one, entry)))


def _parts(collision: Collision, entry: Entry) -> Iterator[Collision]:
    mesh = collision.geometry
    if not isinstance(mesh, Mesh):
        yield collision
        return
    try:
        hulls = convex_parts(Path(mesh.path), mesh.scale)
    except MeshError as problem:
        raise entry.element.error(f"mesh '{mesh.uri}': {problem}", "or remove decomposition") from None
    for hull in hulls:
        yield replace(collision, geometry=replace(mesh, hull=hull.vertices, hull_error=hull.error))


FAMILY = Family((), prepare=with_convex_parts)
