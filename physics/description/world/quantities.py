"""Quantities of the materials of a world file, refused where they are probably in other units."""

from collections.abc import Mapping

import yaml

from grouser.physics.description.text.yaml_reader import Reader

# Below any real one, or where grains would sink into each other. Unit, least, other units.
_LEAST = {
    "youngs_modulus": ("Pa", 1e4, "MPa or GPa"),
    "density": ("kg/m3", 10.0, "g/cm3"),
    "normal_stiffness": ("Pa/m", 1e4, "MPa/m or N/mm3"),
    "shear_stiffness": ("Pa/m", 1e4, "MPa/m or N/mm3"),
    "cohesion": ("Pa", 1e3, "kPa or MPa"),
    "tensile_strength": ("Pa", 1e3, "kPa or MPa"),
}


def read_quantities(reader: Reader, nodes: Mapping[str, yaml.Node], name: str) -> dict[str, float]:
    """Returns the numbers of a material, by key.

    Args:
        reader: of the file.
        nodes: of the numbers.
        name: of the material, for messages.

    Raises:
        MachineError: one is no number, or so small that it is probably in another unit.
    """
    return {
        key: reader.quantity(value, f"{name} {key}", *_LEAST[key])
        if key in _LEAST
        else reader.number(value, f"{name} {key}")
        for key, value in nodes.items()
    }
