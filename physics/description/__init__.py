"""The only readers of URDF, xacro, YAML and meshes; they give frozen, validated dataclasses."""

from grouser.physics.description.loader import load_machine, parse_machine
from grouser.physics.description.soil_values import load_soil
from grouser.physics.description.world import load_world, parse_world

__all__ = ["load_machine", "load_soil", "load_world", "parse_machine", "parse_world"]
