"""The only readers of URDF, xacro, YAML and meshes; they give frozen, validated dataclasses."""

from grouser.physics.description.machine_file.loader import load_machine, parse_machine
from grouser.physics.description.soils.values import load_soil
from grouser.physics.description.world.reader import load_world, parse_world

__all__ = ["load_machine", "load_soil", "load_world", "parse_machine", "parse_world"]
