"""Parameters of soils and wheels that experiments have in common, and the curves over slip that they draw."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, ReferenceTable, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.soil import SLIP_SINKAGE, Soil
from grouser.physics.description.soils.checks import check_soil

# Columns of reference curves over slip, and the results that they are.
SLIP_CURVES = {
    "slip": "slip",
    "torque_Nm": "torque",
    "R_N": "resistance",
    "DP_N": "drawbar_pull",
    "sinkage_m": "sinkage",
    "z0_m": "sinkage",
    "W_N": "load",
}


def slips(default: list[float], least: float, greatest: float, valid: str) -> Parameter:
    """A list of slip ratios; `valid` describes the range."""

    def read(value: list) -> list[float]:
        if not value or not all(type(item) in (int, float) and least <= item <= greatest for item in value):
            raise ValueError(valid)
        return [float(item) for item in value]

    return Parameter(default, "-", "slip ratios", convert=read)


WHEEL = {
    "wheel_radius": positive(0.15, "m", "without grousers"),
    "wheel_width": positive(0.15, "m", "of the wheel"),
}
SOIL = {
    "cohesive_modulus": Parameter(1370.0, "N/m^(n+1)", "k_c of Bekker's form"),
    "frictional_modulus": Parameter(8.14e5, "N/m^(n+2)", "k_phi of Bekker's form", minimum=0.0),
    "reece_k1": Parameter(0.0, "Pa", "k_1 of Reece's form, which counts if k_1 or k_2 is given", minimum=0.0),
    "reece_k2": Parameter(0.0, "Pa/m", "k_2 of Reece's form", minimum=0.0),
    "exponent": Parameter(1.0, "-", "n of the pressure", minimum=0.1, maximum=3.0),
    "slip_sinkage": Parameter("none", "-", "how sinkage grows with slip", choices=SLIP_SINKAGE),
    "slip_exponent": Parameter(0.0, "-", "n_1 of n + n_1 |s|, with slip_sinkage = exponent", minimum=-1.0, maximum=2.0),
    "cohesion": Parameter(800.0, "Pa", "c", minimum=0.0),
    "friction_angle_deg": Parameter(37.2, "deg", "phi", minimum=0.0, maximum=60.0),
    "density": positive(1600.0, "kg/m3", "of soil that is pushed aside"),
    "shear_displacement_modulus": positive(0.036, "m", "K_x without a slip angle"),
    "shear_displacement_slope": Parameter(0.0, "m/rad", "growth of K_x with the slip angle", minimum=0.0),
    "lateral_shear_modulus": Parameter(0.0, "m", "K_y without a slip angle; 0: that of K_x", minimum=0.0),
    "lateral_shear_slope": Parameter(0.0, "m/rad", "growth of K_y with the slip angle", minimum=0.0),
    "max_stress_a0": Parameter(
        0.4, "-", "the pressure is greatest at (a_0 + a_1 |s|) theta_1", minimum=0.0, maximum=1.0
    ),
    "max_stress_a1": Parameter(0.15, "-", "a_1", minimum=-1.0, maximum=1.0),
    "exit_ratio": Parameter(0.0, "-", "depth at the exit over sinkage", minimum=0.0),
    "exit_angle_ratio": Parameter(0.0, "-", "exit over entry angle; above 0 it replaces exit_ratio", minimum=0.0),
    "unloading_stiffness": positive(4e7, "N/m3", "k_0 of soil that is pressed again"),
    "unloading_slope": Parameter(0.0, "N/m4", "A_u of soil that is pressed again", minimum=0.0),
}
# Dry sand, after Wong, as the closed forms of tracks have it.
TRACK_SOIL = {
    "cohesive_modulus": Parameter(990.0, "N/m^(n+1)", "k_c of Bekker's form"),
    "frictional_modulus": Parameter(1528430.0, "N/m^(n+2)", "k_phi of Bekker's form", minimum=0.0),
    "exponent": Parameter(1.1, "-", "n of the pressure", minimum=0.1, maximum=3.0),
    "cohesion": Parameter(1040.0, "Pa", "c", minimum=0.0),
    "friction_angle_deg": Parameter(28.0, "deg", "phi", minimum=0.0, maximum=60.0),
    "shear_displacement_modulus": positive(0.01, "m", "K of the shear"),
    "unloading_stiffness": SOIL["unloading_stiffness"],
    "unloading_slope": SOIL["unloading_slope"],
}
DEFORMABLE = {
    "heave": Parameter(0.3, "-", "share of the displaced soil that heaps up (deformable)", minimum=0.0, maximum=1.0),
    "bulldozing": Parameter(True, "-", "whether displaced soil is moved aside (deformable)"),
}

_SAME = (
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


def read_soil(parameters: Mapping[str, Any], **fields: Any) -> Soil:
    """The soil that an experiment's parameters describe.

    Args:
        parameters: those of `SOIL`.
        fields: of the soil beside them.

    Raises:
        ParameterError: a number that is out of range or contradicts another one.
    """
    reece = parameters["reece_k1"] > 0.0 or parameters["reece_k2"] > 0.0
    angle = math.radians(parameters["friction_angle_deg"])
    soil = Soil(
        name="the soil",
        source="the parameters of the experiment",
        cohesive_modulus=0.0 if reece else parameters["cohesive_modulus"],
        frictional_modulus=0.0 if reece else parameters["frictional_modulus"],
        friction_angle=angle,
        repose_angle=angle,
        reece_k1=parameters["reece_k1"] if reece else None,
        reece_k2=parameters["reece_k2"] if reece else None,
        lateral_shear_modulus=parameters["lateral_shear_modulus"] or None,
        exit_angle_ratio=parameters["exit_angle_ratio"] or None,
        **{name: parameters[name] for name in _SAME},
        **fields,
    )
    check_soil(soil)
    return soil


def read_track_soil(parameters: Mapping[str, Any]) -> Soil:
    """The soil under a track that an experiment's parameters describe.

    Args:
        parameters: those of `TRACK_SOIL`, and the width of the track.

    Raises:
        ParameterError: soil that carries nothing.
    """
    cohesive, frictional = parameters["cohesive_modulus"], parameters["frictional_modulus"]
    if cohesive / parameters["width"] + frictional <= 0.0:
        valid = f"above {-cohesive / parameters['width']:g}, so that k_c/b + k_phi is above 0"
        raise ParameterError("frictional_modulus", frictional, valid)
    angle = math.radians(parameters["friction_angle_deg"])
    return Soil(
        name="the soil",
        source="the parameters of the experiment",
        cohesive_modulus=cohesive,
        frictional_modulus=frictional,
        exponent=parameters["exponent"],
        cohesion=parameters["cohesion"],
        friction_angle=angle,
        repose_angle=angle,
        shear_displacement_modulus=parameters["shear_displacement_modulus"],
        unloading_stiffness=parameters["unloading_stiffness"],
        unloading_slope=parameters["unloading_slope"],
        density=1600.0,  # of soil that is pushed aside
    )


def draw_over_slip(
    parameters: Mapping[str, Any],
    result: Result,
    figure: Any,
    reference: Reference,
) -> None:
    """Draws torque, resistance, drawbar pull and sinkage over slip.

    Args:
        parameters: what `run` got: the load, the wheel's size, and the model, unless it is that of the integrals.
        result: what it gave, one value a slip.
        figure: matplotlib figure.
        reference: columns slip, torque_Nm, R_N, DP_N, and sinkage_m or z0_m of a reference curve, where present; of
            those with a column W_N, the lines of our load.
    """
    label = parameters.get("model", "stress integrals")
    ours = tuple(_lines_of_load(table, parameters["load"]) for table in reference)
    for panel, name, columns, axis in zip(
        figure.subplots(2, 2, sharex=True).flat,
        ("torque", "resistance", "drawbar_pull", "sinkage"),
        (("torque_Nm",), ("R_N",), ("DP_N",), ("sinkage_m", "z0_m")),
        ("torque [N m]", "rolling resistance [N]", "drawbar pull [N]", "sinkage [m]"),
        strict=True,
    ):
        panel.plot(result["slip"], result[name], "o-", label=label)
        for theirs in columns:
            draw_reference(panel, ours, "slip", theirs)
        # With zero in the range, so that changes are to scale, and room for the markers.
        low, high = panel.get_ylim()
        panel.set_ylim(min(1.05 * low, 0.0), max(1.05 * high, 0.0))
        panel.set_xlabel("slip ratio [-]")
        panel.set_ylabel(axis)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(
        f"wheel on soil: {parameters['load']:g} N, radius {1e3 * parameters['wheel_radius']:g} mm, "
        f"width {1e3 * parameters['wheel_width']:g} mm"
    )


def _lines_of_load(table: ReferenceTable, load: float) -> ReferenceTable:
    """A table without the lines of other loads, where it has a column W_N."""
    if "W_N" not in table.columns:
        return table
    lines = np.isclose(table.columns["W_N"], load)
    return ReferenceTable(
        {name: values[lines] for name, values in table.columns.items()},
        {name: values[lines] for name, values in table.tolerance.items()},
    )
