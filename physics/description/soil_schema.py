"""What a soil is described by: one table, from which its reader, its checks and docs/soils.md follow."""

import math
from dataclasses import dataclass

from grouser.physics.description.data.soil import Soil

_DEGREES = "_deg"


@dataclass(frozen=True)
class SoilKey:
    """One number of a soil.

    Attributes:
        name: as written; the field of `Soil`, with _deg where it is written in degrees and held in radians.
        unit: SI unit or degree, "-" for none.
        meaning: for the documentation and nothing else.
        low, high: valid range, in the unit written.
        default: in words; "" where a number is needed.
        suspect: below this, and above zero, a value is probably in another unit; 0 for none.
        hint: which unit that is; without `suspect` of values above the range.
    """

    name: str
    unit: str
    meaning: str
    low: float
    high: float
    default: str = ""
    suspect: float = 0.0
    hint: str = ""

    @property
    def field(self) -> str:
        """The field of `Soil` that holds it."""
        return self.name.removesuffix(_DEGREES)

    def held(self, written: float) -> float:
        """Returns the value that `Soil` holds of a written one."""
        return math.radians(written) if self.name.endswith(_DEGREES) else written

    def written(self, soil: Soil) -> float | None:
        """Returns the value of a soil as it is written; None where the soil has none."""
        value = getattr(soil, self.field)
        if value is None or not self.name.endswith(_DEGREES):
            return value
        return float(f"{math.degrees(value):.12g}")  # without the rounding of the way to radians and back

    def valid(self) -> str:
        """The valid values in words."""
        start = f"{max(self.low, self.suspect):g}" if self.suspect else f"{self.low:g}"
        return f"{'0, or ' if self.suspect and self.low == 0.0 else ''}{start} to {self.high:g}"

    def valid_with_unit(self) -> str:
        """The same with the unit."""
        return self.valid() if self.unit == "-" else f"{self.valid()} {self.unit}"


_RADIANS = "is it in radians?"
_MILLIMETRES = "is it in mm or cm?"

KEYS: tuple[SoilKey, ...] = (
    SoilKey(
        *("cohesive_modulus", "N/m^(n+1)", "k_c of Bekker's form", 0.0, 1e9, "0"),
        suspect=100.0,
        hint="is it in kN/m^(n+1)?",
    ),
    SoilKey(
        "frictional_modulus",
        "N/m^(n+2)",
        "k_phi of Bekker's form; needed there",
        0.0,
        1e12,
        "0 in Reece's form",
        suspect=6e3,
        hint="is it in kN/m^(n+2)?",
    ),
    SoilKey("reece_k1", "Pa", "k_1 of Wong and Reece's form", 0.0, 1e8, "Bekker's form"),
    SoilKey(
        "reece_k2",
        "Pa/m",
        "k_2 of Wong and Reece's form",
        0.0,
        1e10,
        "Bekker's form",
        suspect=1e3,
        hint="is it in kPa/m?",
    ),
    SoilKey("exponent", "-", "n", 0.1, 2.5),
    SoilKey("slip_exponent", "-", "n_1 of slip_sinkage: exponent; needed there", 0.0, 2.0, "0"),
    SoilKey("cohesion", "Pa", "c", 0.0, 1e6, suspect=10.0, hint="is it in kPa?"),
    SoilKey("friction_angle_deg", "degree", "phi", 0.0, 60.0, suspect=1.6, hint=_RADIANS),
    SoilKey("shear_displacement_modulus", "m", "K_x, of shear along the wheel", 1e-4, 0.5, hint=_MILLIMETRES),
    SoilKey("shear_displacement_slope", "m/rad", "growth of K_x with the slip angle", 0.0, 1.0, "0"),
    SoilKey(
        "lateral_shear_modulus", "m", "K_y, of shear across the wheel", 1e-4, 0.5, "that along it", hint=_MILLIMETRES
    ),
    SoilKey("lateral_shear_slope", "m/rad", "growth of K_y with the slip angle", 0.0, 1.0, "0"),
    SoilKey("sliding_friction", "-", "greatest shear over normal stress", 0.01, 10.0, "no limit"),
    SoilKey("max_stress_a0", "-", "greatest stress at (a0 + a1 slip) of the entry angle", 0.0, 1.0, "0.4"),
    SoilKey("max_stress_a1", "-", "of the same; a0 + a1 is from 0 to 1", -1.0, 1.0, "0.15"),
    SoilKey("exit_ratio", "-", "depth at the exit over sinkage", 0.0, 2.0, "0"),
    SoilKey("exit_angle_ratio", "-", "exit angle over entry angle, instead of exit_ratio", 0.0, 1.5, "by exit_ratio"),
    SoilKey("unloading_stiffness", "N/m3", "k_0 of unloading", 0.0, 1e12, "4e7"),
    SoilKey("unloading_slope", "N/m4", "A_u, growth of it with the depth", 0.0, 1e13, "0"),
    SoilKey("heave", "-", "share of what a wheel presses in that heaves up beside it", 0.0, 1.0, "0.3"),
    SoilKey("density", "kg/m3", "bulk density", 50.0, 5000.0, suspect=50.0, hint="is it in g/cm3?"),
    SoilKey(
        "repose_angle_deg",
        "degree",
        "of a slope that stands",
        1.0,
        80.0,
        "friction_angle_deg",
        suspect=1.6,
        hint=_RADIANS,
    ),
    SoilKey("soil_stiffness", "N/m3", "c_f of a cell", 1e3, 1e12, "no cells"),
    SoilKey("soil_viscosity", "Pa s/m", "eta of a cell", 1.0, 1e10, "no cells"),
    SoilKey("plastic_modulus", "N/m3", "mu_v of a cell", 0.0, 1e12, "no cells"),
    SoilKey("yield_stress", "Pa", "mu_p of a cell", 0.0, 1e8, "no cells"),
)
CELL_KEYS = ("soil_stiffness", "soil_viscosity", "plastic_modulus", "yield_stress")
REECE_KEYS = ("reece_k1", "reece_k2")
BEKKER_KEYS = ("cohesive_modulus", "frictional_modulus")
# Beside the numbers.
TEXT_KEYS = ("preset", "name", "source", "slip_sinkage")
VALIDITY_KEYS = ("valid_width", "valid_pressure", "valid_diameter", "valid_sinkage")
ALL_KEYS = (*TEXT_KEYS, *(key.name for key in KEYS), *VALIDITY_KEYS)
