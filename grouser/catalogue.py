"""Machines, worlds, fleets, programs, patterns and mappings: a path, or the name of one that comes with grouser."""

import os
from pathlib import Path

from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.names import closest
from grouser.resources import share_path

_MACHINE_ENDINGS = (".urdf.xacro", ".urdf")
_YAML_ENDINGS = (".yaml",)


def machine_file(name: str) -> Path:
    """File of a machine: `name` itself if it is a path, else ``urdf/<name>.urdf.xacro`` or ``.urdf``.

    Raises:
        MachineError: there is no machine of that name.
    """
    return _find("machine", name, "urdf", _MACHINE_ENDINGS)


def world_file(name: str) -> Path:
    """File of a world: `name` itself if it is a path, else ``config/worlds/<name>.yaml``.

    Raises:
        MachineError: there is no world of that name.
    """
    return _find("world", name, "config/worlds", _YAML_ENDINGS)


def program_file(name: str) -> Path:
    """File of a command program: `name` itself if it is a path, else ``config/programs/<name>.yaml``.

    Raises:
        MachineError: there is no program of that name.
    """
    return _find("command program", name, "config/programs", _YAML_ENDINGS)


def fleet_file(name: str) -> Path:
    """File of a fleet: `name` itself if it is a path, else ``config/fleets/<name>.yaml``.

    Raises:
        MachineError: there is no fleet of that name.
    """
    return _find("fleet", name, "config/fleets", _YAML_ENDINGS)


def pattern_file(name: str) -> Path:
    """File of a control pattern: `name` itself if it is a path, else ``config/operator/<name>.yaml``.

    Raises:
        MachineError: there is no pattern of that name.
    """
    return _find("control pattern", name, "config/operator", _YAML_ENDINGS)


def bridge_file(name: str) -> Path:
    """File of a bridge's mapping: `name` itself if it is a path, else ``config/bridges/<name>.yaml``.

    Raises:
        MachineError: there is no mapping of that name.
    """
    return _find("mapping", name, "config/bridges", _YAML_ENDINGS)


def bridge_files() -> list[Path]:
    """Files of the mappings that come with grouser, by name; none where its files are not installed."""
    return _list("config/bridges", _YAML_ENDINGS)


def pattern_files() -> list[Path]:
    """Files of the control patterns that come with grouser, by name; none where its files are not installed."""
    return _list("config/operator", _YAML_ENDINGS)


def machine_files() -> list[Path]:
    """Files of the machines that come with grouser, by name; none where its files are not installed."""
    return _list("urdf", _MACHINE_ENDINGS)


def world_files() -> list[Path]:
    """Files of the worlds that come with grouser, by name; none where its files are not installed."""
    return _list("config/worlds", _YAML_ENDINGS)


def fleet_files() -> list[Path]:
    """Files of the fleets that come with grouser, by name; none where its files are not installed."""
    return _list("config/fleets", _YAML_ENDINGS)


def program_files() -> list[Path]:
    """Files of the command programs that come with grouser, by name; none where its files are not installed."""
    return _list("config/programs", _YAML_ENDINGS)


def demonstration_of(machine: Path) -> Path | None:
    """The command program of the same name as a machine that comes with grouser; None for any other machine."""
    try:
        if not machine.resolve().is_relative_to(share_path("urdf").resolve()):
            return None
        return share_path("config", "programs", f"{machine.name.split('.')[0]}.yaml")
    except FileNotFoundError:
        return None


def _find(what: str, name: str, folder: str, endings: tuple[str, ...]) -> Path:
    if os.sep in name or name.endswith((".xacro", ".urdf", ".yaml", ".yml", ".xml")):
        return Path(name)  # The reader of the file reports a path that does not exist.
    try:
        home = share_path(folder)
    except FileNotFoundError as error:
        raise MachineError(f"there is no {what} called {name!r}", remedy=str(error)) from error
    known = {file.name.removesuffix(ending): file for ending in reversed(endings) for file in home.glob(f"*{ending}")}
    if name in known:
        return known[name]
    raise MachineError(f"there is no {what} called {name!r}", remedy=closest(name, known))


def _list(folder: str, endings: tuple[str, ...]) -> list[Path]:
    try:
        home = share_path(folder)
    except FileNotFoundError:
        return []
    return sorted({file for ending in endings for file in home.glob(f"*{ending}")})
