"""From a URDF or xacro file to a `Machine`."""

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Link
from grouser.physics.description.elements.contact import with_contact_points
from grouser.physics.description.elements.spherical_joints import with_spherical_joints
from grouser.physics.description.machine_file.plausibility import plausibility_warnings
from grouser.physics.description.machine_file.published import published_urdf
from grouser.physics.description.machine_file.registry import ELEMENTS
from grouser.physics.description.table.checks import check_machine, check_references, complete_extension
from grouser.physics.description.table.family import Extension
from grouser.physics.description.table.reader import TAG, read_extension
from grouser.physics.description.text.files import read_text
from grouser.physics.description.text.xacro import expand_xacro, is_xacro
from grouser.physics.description.text.xml_tree import BYTES_MAX, Element, parse
from grouser.physics.description.urdf import meshes
from grouser.physics.description.urdf.inertial import MASS_MAX, inertial_from_density
from grouser.physics.description.urdf.robot import Robot, read_robot

FIXED_ROOT = "world"
_BASES = ("floating", "fixed")


def load_machine(path: str | Path, arguments: Mapping[str, str] | None = None, base: str | None = None) -> Machine:
    """Loads a machine.

    Args:
        path: a URDF file, or a xacro file (its name ends in ``.xacro``).
        arguments: values of the xacro file's arguments.
        base: "floating" or "fixed"; None: fixed if the root link is named ``world``, else floating.

    Returns:
        The machine, validated; `Machine.warnings` says what is legal but odd.

    Raises:
        MachineError: the file cannot be read or says something that is not valid.
        ParameterError: `base` is something else.
    """
    path = Path(path)
    if is_xacro(path):
        text, from_xacro = expand_xacro(path, arguments or {}), True
    else:
        if arguments:
            raise MachineError("only a xacro file takes arguments", file=path, remedy="name it ....xacro if it is one")
        text, from_xacro = read_text(path, BYTES_MAX, "URDF"), False
    return _read(text, str(path), has_lines=not from_xacro, base=base)


def parse_machine(text: str, file: str, base: str | None = None) -> Machine:
    """Reads a machine from the text of a URDF, as it is published on ``robot_description``.

    Args:
        text: the URDF, with xacro already expanded.
        file: what messages call the text; a relative mesh name starts at its directory.
        base: as in `load_machine`.

    Raises:
        MachineError: the text says something that is not valid.
        ParameterError: `base` is something else.
    """
    return _read(text, file, has_lines=True, base=base)


def _read(text: str, file: str, has_lines: bool, base: str | None) -> Machine:
    if base is not None and base not in _BASES:
        raise ParameterError("base", base, "floating, fixed or None")
    warnings: list[str] = []
    root = parse(text, file, has_lines=has_lines)
    robot = read_robot(root, warnings)
    _refuse_misplaced(root)
    extension = read_extension(root)
    check_references(extension, robot)
    robot = replace(
        robot,
        links=with_contact_points(robot.links, extension["contact_points"]),
        joints=with_spherical_joints(robot.joints, extension["spherical_joints"]),
    )
    extension = complete_extension(extension, robot)
    floating = robot.root != FIXED_ROOT if base is None else base == "floating"
    machine = Machine(
        name=robot.name,
        links=_fill_with_density(robot, extension, warnings),
        joints=robot.joints,
        root=robot.root,
        floating_base=floating,
        urdf=published_urdf(text, file),
        source=text,
        file=file,
        **_values(extension),
    )
    check_machine(machine, extension)
    return replace(machine, warnings=(*warnings, *plausibility_warnings(machine)))


def _values(extension: Extension) -> dict[str, Any]:
    """The fields of `Machine` that the extension fills."""
    fields = {field.name for field in dataclasses.fields(Machine)}
    values: dict[str, Any] = {}
    for kind in ELEMENTS:
        found = tuple(entry.value for entry in extension[kind.field])
        if kind.field in fields and (found or not kind.single):
            values[kind.field] = found[0] if kind.single else found
    return values


def _refuse_misplaced(root: Element) -> None:
    """A <grouser> deeper in the file would be passed over in silence, as any element that URDF does not know."""
    for child in root.children:
        if child.tag in ("link", "joint"):
            for misplaced in child.all(TAG):
                raise misplaced.error(f"<{TAG}> stands in {child.label}", "put it directly into <robot>")


def _fill_with_density(robot: Robot, extension: Extension, warnings: list[str]) -> tuple[Link, ...]:
    entries = {entry.value.link: entry for entry in extension["densities"]}
    links = []
    for link in robot.links:
        if link.name in entries:
            entry = entries[link.name]
            try:
                inertial, closed = inertial_from_density(link.collisions, entry.value.value)
            except meshes.MeshError as problem:
                raise entry.element.error(str(problem), "give the link an <inertial>") from None
            if inertial.mass > MASS_MAX:
                raise entry.element.error(
                    f"the link gets a mass of {inertial.mass:g} kg; valid: at most {MASS_MAX:g} kg"
                )
            if not closed:
                warnings.append(f"link '{link.name}': a mesh is not closed; its convex hull gives the mass")
            link = replace(link, inertial=inertial)
        links.append(link)
    return tuple(links)
