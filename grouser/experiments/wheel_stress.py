"""A wheel rolls steadily over soil, by the integrals of the stresses on its rim.

After Bekker (1969), Wong and Reece (1967), Janosi and Hanamoto (1961), Ishigami et al. (2007). For each slip, the
sinkage at which the soil carries the load, and what it then does to the wheel.
"""

import math
from typing import Any

from grouser.experiments.protocol import Parameter, Result
from grouser.experiments.soil_parameters import SLIP_CURVES, SOIL, WHEEL, read_soil, slips
from grouser.experiments.soil_parameters import draw_over_slip as plot
from grouser.physics.soil.equilibrium import wheel_on_soil

__all__ = ["DESCRIPTION", "PARAMETERS", "plot", "run"]

DESCRIPTION = "stress integrals of a wheel on soil (Wong and Reece, 1967; Ishigami et al., 2007)"


PARAMETERS = {
    "load": Parameter(100.0, "N", "on the wheel", minimum=0.0),
    "slip": slips(
        [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
        -1.0,
        1.0,
        "slip ratios from -1 (locked) to 1 (spinning on the spot)",
    ),
    "slip_angle_deg": Parameter(0.0, "deg", "of the motion, to the left of the heading", minimum=-89.0, maximum=89.0),
    **WHEEL,
    "grouser_height": Parameter(0.0, "m", "0: a smooth wheel", minimum=0.0),
    **SOIL,
    "rut": Parameter(0.0, "m", "depth to which the soil had been pressed before", minimum=0.0),
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
REFERENCE = SLIP_CURVES


def run(**parameters: Any) -> Result:
    """Rolls the wheel.

    Returns:
        One value a slip. The side force acts on the wheel to its left; the exit angle is negative, behind the lowest
        point.

    Raises:
        ParameterError: soil that carries nothing, or a load under which the wheel sinks to its axle.
    """
    soil = read_soil(parameters)
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
