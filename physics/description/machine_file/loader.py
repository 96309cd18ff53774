"""Loads a `Machine` from a URDF or xacro file."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grouser.physics.base.checks import require_mapping, require_type
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.flexible_links.places import with_places
from grouser.physics.description.machine_file import registry
from grouser.physics.description.machine_file.base import floats
from grouser.physics.description.machine_file.massless_ends import with_massless_ends_held
from grouser.physics.description.machine_file.plausibility import plausibility_warnings
from grouser.physics.description.machine_file.published import published_urdf
from grouser.physics.description.machine_file.rigid_inertia import check_inertias
from grouser.physics.description.machine_file.xacro_warnings import (
    AS_WRITTEN,
    EXPANDED,
    unexpanded_warnings,
    unknown_argument_warnings,
)
from grouser.physics.description.table.checks import check_machine, check_references, complete_extension, prepare_robot
from grouser.physics.description.table.family import Extension
from grouser.physics.description.table.reader import TAG, read_extension
from grouser.physics.description.text.files import read_text, require_path
from grouser.physics.description.text.packages import Packages
from grouser.physics.description.text.xacro import Expansion, expand_xacro, is_xacro
from grouser.physics.description.text.xml_tree import BYTES_MAX, Element, may_be_xacro, parse, without_slips
from grouser.physics.description.urdf.robot import read_robot

BASES = ("floating", "fixed")


def load_machine(
    path: str | Path,
    arguments: Mapping[str, str] | None = None,
    base: str | None = None,
    packages: Mapping[str, str | Path] | None = None,
) -> Machine:
    """Loads a machine.

    Args:
        path: a URDF file, or a xacro file (its name ends in ``.xacro``). A file with another name that holds xacro is
            expanded, too, if that is possible, and `Machine.warnings` tells it.
        arguments: values of the xacro file's arguments.
        base: "floating" or "fixed"; None: fixed if the root link is named ``world``, or has no mass with
            what is fixed to it; else floating.
        packages: folders of ROS packages by name, for ``package://`` names and ``$(find ...)``. Others are found by the
            ament index, in ROS_PACKAGE_PATH, and around the file by their package.xml or the name of their folder.

    Returns:
        The machine, validated; `Machine.warnings` lists implausible values.

    Raises:
        MachineError: the file cannot be read or is invalid.
        ParameterError: `base` is invalid, or a folder in `packages` does not exist.
    """
    path = require_path("path", path, "the path of a URDF or xacro file")
    arguments = {} if arguments is None else require_mapping("arguments", arguments, "xacro arguments, by name")
    packages = {} if packages is None else require_mapping("packages", packages, "folders of packages, by name")
    for name, value in arguments.items():
        require_type("xacro argument", name, str, "a name as a text")
        require_type(f"xacro argument {name}", value, str | int | float, "a text, a number or a truth value")
    for name, folder in packages.items():
        require_type("package", name, str, "a name as a text")
        require_path(f"folder of package '{name}'", folder, "the path of a folder")
    known = Packages(path, packages)
    if is_xacro(path):
        expansion = expand_xacro(path, arguments, known)
        return _read(without_slips(expansion.text), str(path), known, base, expansion)
    if arguments:
        raise MachineError("only a xacro file takes arguments", file=path, remedy="name it ....xacro if it is one")
    return _read_urdf(path, known, base)


def parse_machine(
    text: str, file: str, base: str | None = None, packages: Mapping[str, str | Path] | None = None
) -> Machine:
    """Reads a machine from the text of a URDF, as it is published on ``robot_description``.

    Args:
        text: the URDF, with xacro already expanded.
        file: path, for messages; relative file names start at its directory.
        base, packages: as in `load_machine`.

    Raises:
        MachineError: the text is invalid.
        ParameterError: `base` is invalid, or a folder in `packages` does not exist.
    """
    text = without_slips(text)
    return _read(text, file, Packages(file, packages), base, told=_xacro_told(text, file, AS_WRITTEN))


def read_again(machine: Machine, text: str) -> Machine:
    """Reads a machine from a changed text of its description, with everything else as when it was loaded.

    Args:
        machine: from a file.
        text: its `source`, changed.

    Raises:
        MachineError: the text is invalid.
    """
    expansion = Expansion(text, machine.arguments, ()) if is_xacro(Path(machine.file)) else None
    return _read(text, machine.file, Packages(machine.file, machine.packages), machine.base, expansion)


def _read_urdf(path: Path, packages: Packages, base: str | None) -> Machine:
    """Reads a file that is named as a URDF; one that holds xacro is expanded if that is possible."""
    text, file = without_slips(read_text(path, BYTES_MAX, "URDF")), str(path)
    told = _xacro_told(text, file, EXPANDED)
    if not told:
        return _read(text, file, packages, base)
    try:
        expansion = expand_xacro(path, {}, packages)
    except MachineError as refusal:
        reason = f"{AS_WRITTEN}, as it cannot be expanded: {refusal.problem[:200]}"
        return _read(text, file, packages, base, told=_xacro_told(text, file, reason))
    return _read(expansion.text, file, packages, base, expansion, told)


def _xacro_told(text: str, file: str, what_is_done: str) -> Sequence[str]:
    return unexpanded_warnings(parse(text, file), what_is_done) if may_be_xacro(text) else ()


def _read(
    text: str,
    file: str,
    packages: Packages,
    base: str | None,
    expansion: Expansion | None = None,
    told: Iterable[str] = (),
) -> Machine:
    """Reads the text of a URDF, which a xacro file may have expanded to; `told` are warnings of the text itself."""
    if base is not None and (not isinstance(base, str) or base not in BASES):
        raise ParameterError("base", base, "floating, fixed or None")
    root = parse(text, file, has_lines=expansion is None)
    warnings = [*told, *([] if expansion is None else unknown_argument_warnings(file, expansion))]
    robot = read_robot(root, packages, warnings)
    _refuse_misplaced(root)
    extension = read_extension(root, registry.ELEMENTS)
    check_references(registry.ELEMENTS, extension, robot)
    extension = with_places(registry.ELEMENTS, extension, robot)
    robot = prepare_robot(registry.FAMILIES, robot, extension, warnings)
    extension = complete_extension(registry.FAMILIES, extension, robot)
    floating = floats(robot.root, robot.links, robot.joints, base, warnings)
    machine = Machine(
        name=robot.name,
        links=robot.links,
        joints=robot.joints,
        root=robot.root,
        floating_base=floating,
        urdf=published_urdf(text, packages),
        source=text,
        file=file,
        arguments={} if expansion is None else expansion.defaults,
        packages={name: str(folder) for name, folder in packages.given.items()},
        **_values(extension),
    )
    machine, held = with_massless_ends_held(machine, robot.joint_elements, root.all(TAG))
    warnings += held
    check_machine(registry.FAMILIES, machine, extension)
    warnings += check_inertias(machine, robot.link_elements)
    return replace(machine, warnings=(*warnings, *plausibility_warnings(machine)))


def _values(extension: Extension) -> dict[str, Any]:
    """The fields of `Machine` for the elements."""
    fields = {field.name for field in dataclasses.fields(Machine)}
    values: dict[str, Any] = {}
    others: list[tuple[str, Any]] = []
    for kind in registry.ELEMENTS:
        found = tuple(entry.value for entry in extension[kind.field])
        if kind.consumed:
            continue
        if kind.field not in fields:
            others += [(kind.field, value) for value in found]
        elif found or not kind.single:
            values[kind.field] = found[0] if kind.single else found
    return {**values, "others": tuple(others)}


def _refuse_misplaced(root: Element) -> None:
    """Refuses a <grouser> in links and joints, where it would be ignored as an unknown element."""
    for child in root.children:
        if child.tag in ("link", "joint"):
            for misplaced in child.all(TAG):
                raise misplaced.error(f"<{TAG}> is in {child.label}", "put it directly into <robot>")
