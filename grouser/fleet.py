"""A fleet: machines with names, from a YAML file or from text.

A fleet is a mapping of names to machines::

    scout: {machine: rover, xyz: [0.0, 0.0, 0.0]}
    digger:
      machine: my_excavator.urdf.xacro      # a path, relative to this file, or the name of one that comes with grouser
      arguments: {bucket: large}            # of its xacro file
      base: floating                        # or fixed; default: fixed if its root link is named world
      xyz: [6.0, 0.0, 0.0]                  # [m]
      rpy_deg: [0.0, 0.0, 90.0]

Poses are those of root links in the world; a machine without one starts where the world says.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from grouser import catalogue
from grouser.physics.base.errors import MachineError
from grouser.physics.description import load_machine
from grouser.physics.description.data.machine import Member
from grouser.physics.description.machine_file.loader import BASES
from grouser.physics.description.text.files import read_text
from grouser.physics.description.text.yaml_reader import BYTES_MAX, Reader, compose_text

_KEYS = ("machine", "arguments", "base", "xyz", "rpy_deg")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEXT = "fleet"  # name of a text in messages


def load_fleet(fleet: str, packages: Mapping[str, str | Path] | None = None) -> dict[str, Member]:
    """Loads the machines of a fleet.

    Args:
        fleet: path of a YAML file, the name of one that comes with grouser or, beginning with a brace, the text of
            one; file names in a text start at the working directory.
        packages: folders of ROS packages by name, as of `load_machine`.

    Returns:
        The machines by their names, for `combine`.

    Raises:
        MachineError: the fleet or one of its machines cannot be read, or is not valid.
    """
    if fleet.lstrip().startswith("{"):
        return _read(fleet, _TEXT, packages)
    file = catalogue.fleet_file(fleet)
    return _read(read_text(file, BYTES_MAX, "fleet"), str(file), packages)


def _read(text: str, file: str, packages: Mapping[str, str | Path] | None) -> dict[str, Member]:
    reader, root = Reader(file), compose_text(text, file)
    if root is None:
        raise MachineError("there is no machine in it", file=file, remedy="give name: {machine: ...}")
    members = {}
    for name, node in reader.entries(root, "fleet"):
        if not _NAME.fullmatch(name):
            raise reader.error(node, name[:80], "a name has letters, digits and underscores, a digit not first")
        members[name] = _read_member(reader, name, node, packages)
    return members


def _read_member(reader: Reader, name: str, node: yaml.Node, packages: Mapping[str, str | Path] | None) -> Member:
    nodes = reader.mapping(node, name, _KEYS)
    machine = catalogue.machine_file(reader.text(reader.required(nodes, "machine", node, name), f"{name} machine"))
    arguments = dict(reader.entries(nodes["arguments"], f"{name} arguments")) if "arguments" in nodes else {}
    return Member(
        load_machine(
            machine if machine.is_absolute() else Path(reader.file).parent / machine,
            {key: reader.text(value, f"{name} {key}") for key, value in arguments.items()},
            reader.choice(nodes["base"], f"{name} base", BASES) if "base" in nodes else None,
            packages,
        ),
        reader.pose(nodes, name) if nodes.keys() & {"xyz", "rpy_deg"} else None,
    )
