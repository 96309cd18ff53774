"""Machines and worlds by name, by file or by their values, as Python programs load them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from grouser import catalogue
from grouser.physics.base.checks import require_mapping
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description import load_machine as load_machine_file
from grouser.physics.description import load_world as load_world_file
from grouser.physics.description import parse_world
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.physics.description.text.files import require_path
from grouser.physics.description.text.names import closest
from grouser.physics.description.text.yaml_reader import Reader, compose, compose_text

_MAPPING = "mapping"  # In place of a file's name.


def load_machine(
    machine: str | Path,
    arguments: Mapping[str, str | int | float] | None = None,
    base: str | None = None,
    packages: Mapping[str, str | Path] | None = None,
    **more: str | int | float,
) -> Machine:
    """Loads a machine: ``load_machine("excavator", bucket="large")``.

    Args:
        machine: its name, as of `grouser list machines`, or the path of a URDF or xacro file.
        arguments: values of the xacro file's arguments; for names that are no words of Python, or those below.
        base: "floating" or "fixed"; None: fixed if the root link is named ``world``, or has no mass with what is fixed
            to it; else floating.
        packages: folders of ROS packages by name, for ``package://`` names and ``$(find ...)``.
        more: values of the xacro file's arguments, as well.

    Returns:
        The machine, validated; `Machine.warnings` lists implausible values, `Machine.arguments` what may be given.

    Raises:
        MachineError: there is no such machine, or its file cannot be read or is invalid.
        ParameterError: the file has no such argument, one is given twice, or `base` is invalid.
    """
    path = require_path("machine", machine, "the name of a machine, or the path of a URDF or xacro file")
    given = {} if arguments is None else dict(require_mapping("arguments", arguments, "xacro arguments, by name"))
    for name in more:
        if name in given:
            raise ParameterError(f"xacro argument {name}", more[name], "given once")
    given |= more
    file = catalogue.machine_file(machine) if isinstance(machine, str) else path
    loaded = load_machine_file(file, given, base, packages)
    for name, value in given.items():
        if name not in loaded.arguments:
            raise ParameterError(f"xacro argument {name}", value, closest(name, loaded.arguments))
    return loaded


def load_world(world: str | Path | Mapping[str, Any] | None = None) -> World:
    """Loads a world: ``load_world("sand")``, ``load_world({"ground": {"soil": {"type": "dry_sand"}}})``.

    Args:
        world: its name, as of `grouser list worlds`, the path of a world file, or what such a file holds as a mapping
            (docs/world_files.md), whose file names start at the working directory; None: flat ground.

    Returns:
        The world, checked.

    Raises:
        MachineError: there is no such world, or it is invalid.
        ParameterError: what is given is none of these.
    """
    if world is None:
        return World()
    if isinstance(world, Mapping):
        return parse_world(_text("world", world), _MAPPING)
    path = require_path("world", world, "the name of a world, the path of a world file, or a mapping")
    return load_world_file(catalogue.world_file(world) if isinstance(world, str) else path)


def read_values(what: str, source: str | Path | Mapping[str, Any]) -> tuple[yaml.Node, Reader]:
    """Returns the root node of a YAML file, or of what such a file holds as a mapping, and a reader of its values.

    Args:
        what: kind of file, for messages.
        source: path of the file, or the mapping, whose file names start at the working directory.

    Raises:
        MachineError: the file cannot be read, is not YAML or is empty.
        ParameterError: what is given is none of these.
    """
    if isinstance(source, Mapping):
        file, root = _MAPPING, compose_text(_text(what, source), _MAPPING, what)
    else:
        path = require_path(what, source, f"the path of a {what} file, or a mapping")
        file, root = str(path), compose(path, what)
    if root is None:
        raise MachineError("the file is empty", file=file)
    return root, Reader(file)


def _text(name: str, mapping: Mapping[str, Any]) -> str:
    return yaml.safe_dump(_plain(name, mapping), sort_keys=False)


def _plain(name: str, value: object) -> Any:
    """A value in plain types, as YAML has them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(f"{name} {key}", item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(name, value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(name, item) for item in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    raise ParameterError(name, value, "a number, a text, a truth value, a list or a mapping")
