"""The table of the parameters of a soil, for the reader, the checks and docs/soils.md."""

import math
from dataclasses import dataclass

from grouser.physics.description.data.soil import Soil

_DEGREES = "_deg"


@dataclass(frozen=True)
class SoilKey:
    """A parameter of a soil.

    Attributes:
        name: as written: the field of `Soil`, with the suffix _deg for angles that are written in degrees.
        unit: SI unit or degree, "-" for none.
        meaning: for the documentation.
        low, high: valid range, in the unit written.
        default: as a text; "" for a required parameter.
        suspect: values between zero and this one are probably in another unit; 0: no such check.
        hint: that unit; without `suspect` the probable unit of values above the range.
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
        """The field of `Soil`."""
        return self.name.removesuffix(_DEGREES)

    def held(self, written: float) -> float:
        """Returns the value of the field of `Soil` for a written value."""
        return math.radians(written) if self.name.endswith(_DEGREES) else written

    def written(self, soil: Soil) -> float | None:
        """Returns the value of a soil as written; None if the soil has none."""
        value = getattr(soil, self.field)
        if value is None or not self.name.endswith(_DEGREES):
            return value
        return float(f"{math.degrees(value):.12g}")  # removes the rounding error of the conversion to radians and back

    def valid(self) -> str:
        """Returns the valid values as a text."""
        start = f"{max(self.low, self.suspect):g}" if self.suspect else f"{self.low:g}"
        return f"{'0, or ' if self.suspect and self.low == 0.0 else ''}{start} to {self.high:g}"

    def valid_with_unit(self) -> str:
        """Returns the valid values with their unit."""
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
        "k_phi of Bekker's form; required there",
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
    SoilKey("slip_exponent", "-", "n_1 of slip_sinkage: exponent; required there", 0.0, 2.0, "0"),
    SoilKey("cohesion", "Pa", "c", 0.0, 1e6, suspect=10.0, hint="is it in kPa?"),
    SoilKey("friction_angle_deg", "degree", "phi", 0.0, 60.0, suspect=1.6, hint=_RADIANS),
    SoilKey("shear_displacement_modulus", "m", "K_x, of shear along the wheel", 1e-4, 0.5, hint=_MILLIMETRES),
    SoilKey("shear_displacement_slope", "m/rad", "growth of K_x with the slip angle", 0.0, 1.0, "0"),
    SoilKey(
        "lateral_shear_modulus", "m", "K_y, of shear across the wheel", 1e-4, 0.5, "that along it", hint=_MILLIMETRES
    ),
    SoilKey("lateral_shear_slope", "m/rad", "growth of K_y with the slip angle", 0.0, 1.0, "0"),
    SoilKey("sliding_friction", "-", "largest ratio of shear stress to normal stress", 0.01, 10.0, "no limit"),
    SoilKey("max_stress_a0", "-", "largest stress at (a0 + a1 slip) times the entry angle", 0.0, 1.0, "0.4"),
    SoilKey("max_stress_a1", "-", "see max_stress_a0; a0 + a1 is from 0 to 1", -1.0, 1.0, "0.15"),
    SoilKey("exit_ratio", "-", "depth at the exit over sinkage", 0.0, 2.0, "0"),
    SoilKey("exit_angle_ratio", "-", "exit angle over entry angle, instead of exit_ratio", 0.0, 1.5, "by exit_ratio"),
    SoilKey("unloading_stiffness", "N/m3", "k_0 of unloading", 0.0, 1e12, "4e7"),
    SoilKey("unloading_slope", "N/m4", "A_u, growth of k_0 with the depth", 0.0, 1e13, "0"),
    SoilKey("heave", "-", "share of the displaced volume that rises beside the wheel", 0.0, 1.0, "0.3"),
    SoilKey("density", "kg/m3", "bulk density", 50.0, 5000.0, suspect=50.0, hint="is it in g/cm3?"),
    SoilKey(
        "repose_angle_deg",
        "degree",
        "angle of repose",
        1.0,
        80.0,
        "friction_angle_deg",
        suspect=1.6,
        hint=_RADIANS,
    ),
    SoilKey("swell", "-", "volume of loosened soil over that of undisturbed soil", 1.0, 3.0, "1.25"),
    SoilKey("soil_stiffness", "N/m3", "c_f of a cell", 1e3, 1e12, "no cells"),
    SoilKey("soil_viscosity", "Pa s/m", "eta of a cell", 1.0, 1e10, "no cells"),
    SoilKey("plastic_modulus", "N/m3", "mu_v of a cell", 0.0, 1e12, "no cells"),
    SoilKey("yield_stress", "Pa", "mu_p of a cell", 0.0, 1e8, "no cells"),
)
CELL_KEYS = ("soil_stiffness", "soil_viscosity", "plastic_modulus", "yield_stress")
REECE_KEYS = ("reece_k1", "reece_k2")
BEKKER_KEYS = ("cohesive_modulus", "frictional_modulus")
# Keys that are not numbers of the table.
TEXT_KEYS = ("preset", "name", "source", "slip_sinkage")
FLAG_KEYS = ("lumps",)
VALIDITY_KEYS = ("valid_width", "valid_pressure", "valid_diameter", "valid_sinkage")
ALL_KEYS = (*TEXT_KEYS, *(key.name for key in KEYS), *FLAG_KEYS, *VALIDITY_KEYS)
