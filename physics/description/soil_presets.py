"""Soils from the literature, each with its source, and with what that source does not say.

Bekker's form throughout, but for soils with `reece_k1` and `reece_k2`, which were measured in Wong and Reece's.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from grouser.physics.description.data.soil import Soil, Validity

_POUND_PER_SQUARE_INCH = 6894.757293168
_INCH = 0.0254
_WONG = "Wong, Theory of Ground Vehicles (4th ed., 2008), table of terrain values"
# What is known of plates holds for wheels that are no smaller than this (Meirion-Griffith and Spenko 2011).
_PLATES = Validity(diameter=0.5)
_STRESS = ("max_stress_a0", "max_stress_a1", "exit_ratio")


@dataclass(frozen=True)
class Preset:
    """A soil from the literature.

    Attributes:
        soil: the soil.
        chosen: its numbers, beside defaults, that the source does not give.
    """

    soil: Soil
    chosen: tuple[str, ...]


def _from_wong(
    name: str,
    what: str,
    n: float,
    k_c: float,
    k_phi: float,
    c: float,
    phi: float,
    shear: float,
    density: float,
    *given: str,
) -> Preset:
    """A row of Wong's table: n, k_c [kN/m^(n+1)], k_phi [kN/m^(n+2)], c [kPa], phi [degree].

    Beside it K [m] and the density [kg/m3], which are chosen but for those that are `given` elsewhere.
    """
    soil = Soil(
        name=name,
        source=f"{what}: {_WONG}",
        cohesive_modulus=1e3 * k_c,
        frictional_modulus=1e3 * k_phi,
        exponent=n,
        cohesion=1e3 * c,
        friction_angle=math.radians(phi),
        shear_displacement_modulus=shear,
        density=density,
        repose_angle=math.radians(phi),
        validity=_PLATES,
    )
    chosen = ("shear_displacement_modulus", "density", "repose_angle", "unloading_stiffness", *_STRESS)
    return Preset(soil, tuple(field for field in chosen if field not in given))


_SOILS = (
    # K of those of Wong's soils that have none in the literature is within the ranges that he gives: 1 cm of firm sand
    # to 2.5 cm of loose sand, 0.6 cm of compact clay, 2.5 to 5 cm of fresh snow.
    _from_wong("dry_sand", "Dry sand, Land Locomotion Laboratory", 1.1, 0.99, 1528.43, 1.04, 28.0, 0.025, 1600.0),
    _from_wong("lete_sand", "LETE sand", 0.79, 102.0, 5301.0, 1.3, 31.1, 0.012, 1600.0, "shear_displacement_modulus"),
    _from_wong(
        "sandy_loam",
        "Sandy loam, 15 % moisture, Land Locomotion Laboratory",
        0.7,
        5.27,
        1515.04,
        1.72,
        29.0,
        0.02,
        1500.0,
    ),
    _from_wong("upland_sandy_loam", "Upland sandy loam, 51 % moisture", 1.1, 74.6, 2080.0, 3.3, 33.7, 0.02, 1500.0),
    _from_wong("clay", "Clayey soil, 38 % moisture, Thailand", 0.5, 13.19, 692.15, 4.14, 13.0, 0.02, 1700.0),
    _from_wong("snow", "Snow, U.S.", 1.6, 4.37, 196.72, 1.03, 19.7, 0.03, 300.0),
    Preset(
        Soil(
            name="compact_sand",
            source="Wong and Reece, Prediction of rigid wheel performance, J. Terramechanics 4 (1967), compact sand",
            frictional_modulus=0.0,
            reece_k1=20.0 * _POUND_PER_SQUARE_INCH,
            reece_k2=2.5 * _POUND_PER_SQUARE_INCH / _INCH,
            exponent=0.47,
            cohesion=0.1 * _POUND_PER_SQUARE_INCH,
            friction_angle=math.radians(33.3),
            shear_displacement_modulus=1.5 * _INCH,
            max_stress_a0=0.43,
            max_stress_a1=0.32,
            density=1700.0,
            repose_angle=math.radians(33.3),
            validity=_PLATES,
        ),
        ("density", "repose_angle", "unloading_stiffness", "exit_ratio"),
    ),
    Preset(
        Soil(
            name="lunar_simulant",
            source="Ishigami et al., Terramechanics-based model for steering maneuver of planetary exploration rovers "
            "on loose soil, J. Field Robotics 24 (2007), lunar regolith simulant",
            cohesive_modulus=1.37e3,
            frictional_modulus=8.14e5,
            exponent=1.0,
            cohesion=800.0,
            friction_angle=math.radians(37.2),
            shear_displacement_modulus=0.036,
            shear_displacement_slope=0.043,
            lateral_shear_modulus=0.013,
            lateral_shear_slope=0.020,
            max_stress_a0=0.4,
            max_stress_a1=0.15,
            exit_ratio=1.0,
            density=1600.0,
            repose_angle=math.radians(37.2),
            # the wheel that it was compared with
            validity=Validity(diameter=0.184),
        ),
        ("repose_angle", "unloading_stiffness"),
    ),
    Preset(
        Soil(
            name="lunar_soil",
            source="Carrier, Olhoeft and Mendell, Physical properties of the lunar surface, in Lunar Sourcebook "
            "(1991), values for the Lunar Roving Vehicle",
            cohesive_modulus=1.4e3,
            frictional_modulus=8.2e5,
            exponent=1.0,
            cohesion=170.0,
            friction_angle=math.radians(35.0),
            shear_displacement_modulus=0.0178,
            density=1500.0,
            repose_angle=math.radians(35.0),
            validity=_PLATES,
        ),
        ("density", "repose_angle", "unloading_stiffness", *_STRESS),
    ),
    Preset(
        Soil(
            name="martian_simulant",
            source="Mechanical Mars soil simulant of DLR: Richter et al., Strength of soil deposits along MER rover "
            "traverses (2006)",
            cohesive_modulus=5.79e3,
            frictional_modulus=1.8e5,
            exponent=0.8,
            cohesion=300.0,
            friction_angle=math.radians(17.8),
            shear_displacement_modulus=0.01,
            density=1500.0,
            repose_angle=math.radians(17.8),
            validity=_PLATES,
        ),
        ("shear_displacement_modulus", "density", "repose_angle", "unloading_stiffness", *_STRESS),
    ),
    Preset(
        Soil(
            name="cmu_sand",
            source="Pavlov and Johnson, single-wheel data in robomechanics/3d-terramechanics (MIT licence): modulus, "
            "density and repose as they measured them, exponent, max_stress_a0 and exit as they tuned them to the "
            "smooth wheel; the numbers chosen here are fitted to six of their driven wheels (soil_theory.md)",
            frictional_modulus=8e6,
            exponent=1.46,
            slip_sinkage="exponent",
            slip_exponent=0.4,
            cohesion=0.0,
            friction_angle=math.radians(29.0),
            shear_displacement_modulus=0.0174,
            max_stress_a0=0.2024,
            max_stress_a1=0.24,
            exit_angle_ratio=0.4760,
            heave=0.1,
            density=1330.0,
            repose_angle=math.radians(29.0),
            # its wheels, and its plates' greatest diameter
            validity=Validity(width=(0.05, 0.1), diameter=0.116),
        ),
        (
            "slip_exponent",
            "cohesion",
            "shear_displacement_modulus",
            "max_stress_a1",
            "unloading_stiffness",
            "heave",
        ),
    ),
    Preset(
        Soil(
            name="zuo_cells",
            source="Cell law of Zuo et al., Dynamic multibody simulation research of rigid wheel-soil interaction "
            "(2009), whose numbers are printed as a picture",
            soil_stiffness=1e7,
            soil_viscosity=2e5,
            plastic_modulus=1e6,
            yield_stress=3e3,
            cohesion=500.0,
            friction_angle=math.radians(32.0),
            sliding_friction=0.70,
            shear_displacement_modulus=0.015,
            # what its cells do when they yield slowly: elastic and plastic modulus in series
            exponent=1.0,
            frictional_modulus=1.0 / (1.0 / 1e7 + 1.0 / 1e6),
            density=1600.0,
            repose_angle=math.radians(32.0),
        ),
        (
            "soil_stiffness",
            "soil_viscosity",
            "plastic_modulus",
            "yield_stress",
            "cohesion",
            "friction_angle",
            "sliding_friction",
            "shear_displacement_modulus",
            "exponent",
            "frictional_modulus",
            "density",
            "repose_angle",
            "unloading_stiffness",
            *_STRESS,
        ),
    ),
)
PRESETS: Mapping[str, Preset] = MappingProxyType({preset.soil.name: preset for preset in _SOILS})
