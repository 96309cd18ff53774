"""A wheel rolls steadily over soil, by the integrals of the stresses on its rim.

After Bekker (1969), Wong and Reece (1967), Janosi and Hanamoto (1961), Ishigami et al. (2007). For each slip, the
sinkage at which the soil carries the load, and what it then does to the wheel.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.protocol import Parameter, Result
from grouser.physics.description.soil import SLIP_SINKAGE, Soil
from grouser.physics.soil.equilibrium import wheel_on_soil

DESCRIPTION = "stress integrals of a wheel on soil (Wong and Reece, 1967; Ishigami et al., 2007)"


def _positive(default: float, unit: str, description: str) -> Parameter:
    return Parameter(default, unit, description, minimum=0.0, above_minimum=True)


def _read_slips(value: list) -> list[float]:
    if not value or not all(type(item) in (int, float) and -1.0 <= item <= 1.0 for item in value):
        raise ValueError("slip ratios from -1 (locked) to 1 (spinning on the spot)")
    return [float(item) for item in value]


PARAMETERS = {
    "load": Parameter(100.0, "N", "on the wheel", minimum=0.0),
    "slip": Parameter(
        [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], "-", "slip ratios", convert=_read_slips
    ),
    "slip_angle_deg": Parameter(0.0, "deg", "of the motion, to the left of the heading", minimum=-89.0, maximum=89.0),
    "wheel_radius": _positive(0.15, "m", "without grousers"),
    "wheel_width": _positive(0.15, "m", "of the wheel"),
    "grouser_height": Parameter(0.0, "m", "0: a smooth wheel", minimum=0.0),
    "cohesive_modulus": Parameter(1370.0, "N/m^(n+1)", "k_c of Bekker's form"),
    "frictional_modulus": Parameter(8.14e5, "N/m^(n+2)", "k_phi of Bekker's form", minimum=0.0),
    "reece_k1": Parameter(0.0, "Pa", "k_1 of Reece's form, which counts if k_1 or k_2 is given", minimum=0.0),
    "reece_k2": Parameter(0.0, "Pa/m", "k_2 of Reece's form", minimum=0.0),
    "exponent": Parameter(1.0, "-", "n of the pressure", minimum=0.1, maximum=3.0),
    "slip_sinkage": Parameter("none", "-", "how sinkage grows with slip", choices=SLIP_SINKAGE),
    "slip_exponent": Parameter(0.0, "-", "n_1 of n + n_1 |s|, with slip_sinkage = exponent", minimum=-1.0, maximum=2.0),
    "cohesion": Parameter(800.0, "Pa", "c", minimum=0.0),
    "friction_angle_deg": Parameter(37.2, "deg", "phi", minimum=0.0, maximum=60.0),
    "density": _positive(1600.0, "kg/m3", "of soil that is pushed aside"),
    "shear_displacement_modulus": _positive(0.036, "m", "K_x without a slip angle"),
    "shear_displacement_slope": Parameter(0.0, "m/rad", "growth of K_x with the slip angle", minimum=0.0),
    "lateral_shear_modulus": Parameter(0.0, "m", "K_y without a slip angle; 0: that of K_x", minimum=0.0),
    "lateral_shear_slope": Parameter(0.0, "m/rad", "growth of K_y with the slip angle", minimum=0.0),
    "max_stress_a0": Parameter(
        0.4, "-", "the pressure is greatest at (a_0 + a_1 |s|) theta_1", minimum=0.0, maximum=1.0
    ),
    "max_stress_a1": Parameter(0.15, "-", "a_1", minimum=-1.0, maximum=1.0),
    "exit_ratio": Parameter(0.0, "-", "depth at the exit over sinkage", minimum=0.0),
    "exit_angle_ratio": Parameter(0.0, "-", "exit over entry angle; above 0 it replaces exit_ratio", minimum=0.0),
    "rut": Parameter(0.0, "m", "depth to which the soil had been pressed before", minimum=0.0),
    "unloading_stiffness": _positive(4e7, "N/m3", "k_0 of soil that is pressed again"),
    "unloading_slope": Parameter(0.0, "N/m4", "A_u of soil that is pressed again", minimum=0.0),
    "gravity": Parameter(9.81, "m/s2", "on soil that is pushed aside", minimum=0.0),
}

_UNITS = {
    "slip": "-",
    "sinkage": "m",
    "drawbar_pull": "N",
    "torque": "N m",
    "thrust": "N",
    "resistance": "N",
    "side_force": "N",
    "entry_angle": "rad",
    "exit_angle": "rad",
    "peak_pressure": "Pa",
    "peak_shear": "Pa",
}


def run(**parameters: Any) -> Result:
    """Rolls the wheel.

    Returns:
        One value a slip. The side force acts on the wheel to its left; the exit angle is negative, behind the lowest
        point.

    Raises:
        ParameterError: soil that carries nothing, or a load under which the wheel sinks to its axle.
    """
    soil = _read_soil(parameters)
    results: dict[str, list[float]] = {name: [] for name in _UNITS}
    for slip in parameters["slip"]:
        state = wheel_on_soil(
            soil,
            parameters["wheel_radius"],
            parameters["wheel_width"],
            parameters["load"],
            slip,
            math.radians(parameters["slip_angle_deg"]),
            parameters["grouser_height"],
            parameters["rut"],
            parameters["gravity"],
        )._asdict()
        for name, values in results.items():
            values.append(slip if name == "slip" else state[name])
    return Result(results, _UNITS)


def _read_soil(parameters: Mapping[str, Any]) -> Soil:
    """The soil that the parameters describe."""
    reece = parameters["reece_k1"] > 0.0 or parameters["reece_k2"] > 0.0
    angle = math.radians(parameters["friction_angle_deg"])
    same = (
        "cohesive_modulus",
        "frictional_modulus",
        "exponent",
        "slip_sinkage",
        "slip_exponent",
        "cohesion",
        "density",
        "shear_displacement_modulus",
        "shear_displacement_slope",
        "lateral_shear_slope",
        "max_stress_a0",
        "max_stress_a1",
        "exit_ratio",
        "unloading_stiffness",
        "unloading_slope",
    )
    return Soil(
        name="the soil",
        source="the parameters of the experiment",
        friction_angle=angle,
        repose_angle=angle,
        reece_k1=parameters["reece_k1"] if reece else None,
        reece_k2=parameters["reece_k2"] if reece else None,
        lateral_shear_modulus=parameters["lateral_shear_modulus"] or None,
        exit_angle_ratio=parameters["exit_angle_ratio"] or None,
        **{name: parameters[name] for name in same},
    )


def plot(
    parameters: Mapping[str, Any], result: Result, figure: Any, reference: Mapping[str, np.ndarray] | None
) -> None:
    """Draws torque, resistance, drawbar pull and sinkage over slip.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns slip, torque_Nm, R_N, DP_N, sinkage_m of a reference curve, where present; of those with a
            column W_N, the lines of our load.
    """
    lines = slice(None)
    if reference is not None and "W_N" in reference:
        lines = np.isclose(reference["W_N"], parameters["load"])
    for panel, name, theirs, label in zip(
        figure.subplots(2, 2, sharex=True).flat,
        ("torque", "resistance", "drawbar_pull", "sinkage"),
        ("torque_Nm", "R_N", "DP_N", "sinkage_m"),
        ("torque [N m]", "rolling resistance [N]", "drawbar pull [N]", "sinkage [m]"),
        strict=True,
    ):
        panel.plot(result["slip"], result[name], "o-", label="stress integrals")
        if reference is not None and theirs in reference and "slip" in reference:
            panel.plot(reference["slip"][lines], reference[theirs][lines], "--", label="reference")
        panel.set_xlabel("slip ratio [-]")
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(
        f"wheel on soil: {parameters['load']:g} N, radius {1e3 * parameters['wheel_radius']:g} mm, "
        f"width {1e3 * parameters['wheel_width']:g} mm"
    )
