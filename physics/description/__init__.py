"""Descriptions of machines, worlds and soils: readers of URDF, xacro, YAML and meshes, and frozen dataclasses.

No other part of grouser reads these files. The layers, from the bottom: `data`, `text`, `urdf`, `table`, `elements` and
`soils`, `machine_file` and `world`.
"""

from grouser.physics.description.machine_file.loader import load_machine, parse_machine
from grouser.physics.description.soils.values import load_soil
from grouser.physics.description.world.reader import load_world, parse_world

__all__ = ["load_machine", "load_soil", "load_world", "parse_machine", "parse_world"]
