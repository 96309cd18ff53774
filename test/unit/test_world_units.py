"""Numbers of a world file that are probably in another unit are refused, with the place and the other unit."""

import pytest

from grouser import MachineError
from grouser.physics.description.world.reader import parse_world

GRAINS = """granular:
  materials:
    gravel: {youngs_modulus: 1.0e6, density: 2600}
  fills: {heap: {material: gravel, box: [1, 1, 1], radius: 0.1}}
"""
BLOCKS = """blocks:
  material: {youngs_modulus: 1.0e8, poisson_ratio: 0.2, density: 2000}
  interface: {normal_stiffness: 1.0e8, shear_stiffness: 1.0e8, cohesion: 4.0e4, tensile_strength: 2.0e4}
  loose: {lump: {box: [1, 1, 1], xyz: [0, 0, 1]}}
"""


@pytest.mark.parametrize(
    "text, right, wrong, message",
    [
        (GRAINS, "density: 2600", "density: 2.6", "w.yaml:3: .*gravel density: 2.6 kg/m3 .*is it in g/cm3"),
        (GRAINS, "modulus: 1.0e6", "modulus: 50", "gravel youngs_modulus: 50 Pa .*is it in MPa or GPa"),
        (BLOCKS, "density: 2000", "density: 2.0", "w.yaml:2: blocks material density: 2 kg/m3"),
        (BLOCKS, "modulus: 1.0e8", "modulus: 100", "youngs_modulus: 100 Pa"),
        (BLOCKS, "normal_stiffness: 1.0e8", "normal_stiffness: 100", "normal_stiffness: 100 Pa/m .*N/mm3"),
        (BLOCKS, "cohesion: 4.0e4", "cohesion: 40", "cohesion: 40 Pa .*is it in kPa or MPa"),
        (BLOCKS, "strength: 2.0e4", "strength: 0.02", "tensile_strength: 0.02 Pa"),
    ],
)
def test_other_units(text, right, wrong, message):
    parse_world(text, "w.yaml")
    with pytest.raises(MachineError, match=message):
        parse_world(text.replace(right, wrong), "w.yaml")


def test_blocks_without_bonds():
    parse_world(BLOCKS.replace("4.0e4", "0").replace("2.0e4", "0"), "w.yaml")
