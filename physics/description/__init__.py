"""Descriptions of machines, worlds and soils: readers of URDF, xacro, YAML and meshes, and frozen dataclasses.

No other part of grouser reads these files. The layers, from the bottom: `data`, `text`, `urdf`, `table`, `elements` and
`soils`, `machine_file` and `world`. The readers are imported on first use: the process that expands a xacro file needs
`text` only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grouser.physics.description.machine_file.loader import load_machine, parse_machine
    from grouser.physics.description.soils.values import load_soil
    from grouser.physics.description.world.reader import load_world, parse_world

__all__ = ["load_machine", "load_soil", "load_world", "parse_machine", "parse_world"]

_HOMES = {
    "load_machine": "machine_file.loader",
    "load_soil": "soils.values",
    "load_world": "world.reader",
    "parse_machine": "machine_file.loader",
    "parse_world": "world.reader",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
