"""A wheel is driven through a soil bin at one slip after another: the test rig as a multibody machine.

After Zuo et al., "Dynamic multibody simulation research of rigid wheel-soil interaction" (2009), whose method is the
model `cells`. The machine is urdf/single_wheel_testbed.urdf.xacro; for every slip it starts on a fresh bed.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.soil_parameters import DEFORMABLE, SLIP_CURVES, SOIL, WHEEL, read_soil, slips
from grouser.experiments.soil_parameters import draw_over_slip as plot
from grouser.experiments.testbed import MEAN_CELLS, make_testbed, mean_state, settle, travel_speed
from grouser.physics.description.data.soil import LEVELS, Soil

__all__ = ["DESCRIPTION", "PARAMETERS", "plot", "run"]

DESCRIPTION = "a wheel in a soil bin, a multibody machine (Zuo et al., 2009)"

# Limits of slip: beyond them the wheel takes too long to roll steadily.
_LEAST_SLIP, _GREATEST_SLIP = -0.95, 0.98


PARAMETERS = {
    "model": Parameter("cells", "-", "level of the contact", choices=LEVELS),
    "load": positive(100.0, "N", "on the wheel, its own weight with it"),
    "slip": slips(
        [0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95],
        _LEAST_SLIP,
        _GREATEST_SLIP,
        f"slip ratios from {_LEAST_SLIP:g} to {_GREATEST_SLIP:g}: the wheel has to travel",
    ),
    **WHEEL,
    "angular_velocity": positive(0.196, "rad/s", "of the wheel"),
    "cell_size": Parameter(0.005, "m", "spacing of the soil's cells", minimum=0.001, maximum=0.1),
    "grouser_height": Parameter(0.0, "m", "of bars across the rim", minimum=0.0),
    "grouser_count": Parameter(0, "-", "number of them", minimum=0, maximum=1000),
    "soil_stiffness": positive(1e7, "Pa/m", "c_f of a cell (cells)"),
    "soil_viscosity": positive(2e5, "Pa s/m", "eta of a cell (cells)"),
    "plastic_modulus": Parameter(1e6, "Pa/m", "mu_v of a cell (cells)", minimum=0.0),
    "yield_stress": Parameter(3e3, "Pa", "mu_p of a cell (cells)", minimum=0.0),
    "sliding_friction": positive(0.70, "-", "mu_t, greatest shear over pressure (cells)"),
    **SOIL,
    "cohesion": replace(SOIL["cohesion"], default=500.0),
    "friction_angle_deg": replace(SOIL["friction_angle_deg"], default=32.0),
    "shear_displacement_modulus": replace(SOIL["shear_displacement_modulus"], default=0.015),
    **DEFORMABLE,
    "step": Parameter(0.001, "s", "of the simulation", minimum=1e-5, maximum=0.01),
}

_UNITS = {
    "slip": "-",
    "sinkage": "m",
    "drawbar_pull": "N",
    "torque": "N m",
    "thrust": "N",
    "resistance": "N",
    "entry_angle": "rad",
    "exit_angle": "rad",
    "peak_pressure": "Pa",
    "compute_time": "s",
    "simulated_time": "s",
}
REFERENCE = SLIP_CURVES


def run(**parameters: Any) -> Result:
    """Drives the wheel.

    Returns:
        One value a slip: means over time once the wheel rolls steadily, over a whole number of cells, with grousers
        over a whole number of those. `slip` is the one that was measured. The exit angle is negative, behind the lowest
        point. `compute_time` is that of all steps together, without making and compiling, `simulated_time` what they
        simulated.

    Raises:
        MachineError: parameters that make no wheel.
        ParameterError: a load that the soil does not carry.
    """
    simulation = make_testbed(parameters, _read_soil(parameters))
    simulation.step()
    results: dict[str, Any] = {name: [] for name in _UNITS}
    compute_time = simulated_time = 0.0
    for slip in parameters["slip"]:
        simulation.reset()
        start = time.perf_counter()
        state = _roll(simulation, parameters, slip)
        compute_time += time.perf_counter() - start
        simulated_time += simulation.time
        for name, values in results.items():
            if name in state or name == "slip":
                values.append(state["slip_ratio" if name == "slip" else name])
    return Result(results | {"compute_time": compute_time, "simulated_time": simulated_time}, _UNITS)


def _roll(simulation, parameters: Mapping[str, Any], slip: float) -> dict[str, float]:
    """The wheel's steady state at a slip."""
    speed = travel_speed(parameters, slip)
    simulation.command["drive"] = parameters["angular_velocity"]
    simulation.command["rail"] = speed
    settle(simulation, parameters, speed)
    duration = MEAN_CELLS * parameters["cell_size"] / speed
    if parameters["grouser_count"] > 0:
        pitch = 2.0 * math.pi / (parameters["grouser_count"] * parameters["angular_velocity"])
        duration = pitch * math.ceil(duration / pitch)
    return mean_state(simulation, duration)


def _read_soil(parameters: Mapping[str, Any]) -> Soil:
    """The soil: beside what all levels have in common the numbers of the cells and of the heaps."""
    cells = ("soil_stiffness", "soil_viscosity", "plastic_modulus", "yield_stress", "heave")
    friction = parameters["sliding_friction"] if parameters["model"] == "cells" else math.inf
    return read_soil(parameters, sliding_friction=friction, **{name: parameters[name] for name in cells})
