"""A cube on a slope: it holds up to the friction angle, and slides beyond with g (sin - mu cos).

Gravity turns slowly to the slope, while the cube lies on a level floor.
"""

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.block_parameters import MATERIAL, ORDER, TIMES, read_angles, read_material
from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.blocks.assembly import Assembly
from grouser.physics.blocks.building import Block
from grouser.physics.blocks.polyhedron import make_box
from grouser.physics.description.data.blocks import Interface

DESCRIPTION = "a deformable cube holds or slides on a slope"
PARAMETERS = {
    "friction": Parameter(0.5, "-", "mu between cube and slope", minimum=0.0, maximum=1.0),
    "slope_deg": Parameter([20.0, 26.0, 27.0, 30.0, 40.0], "deg", "angles of the slope", convert=read_angles),
    "side": positive(0.1, "m", "of the cube"),
    **MATERIAL,
    "order": ORDER,
    "normal_stiffness": positive(1e9, "Pa/m", "k_n of the contact"),
    "shear_stiffness": positive(1e9, "Pa/m", "k_s of the contact"),
    "gravity": positive(9.81, "m/s2", "weight of a mass"),
}
REFERENCE = {"slope_deg": "slope_deg", "acceleration": "acceleration"}
_UNITS = {"slope_deg": "deg", "holds": "-", "acceleration": "m/s2", **TIMES}
# Gravity turns for so long in so many parts, then the slide begins, and is measured [s].
_TURNING, _PARTS, _BEGINNING, _MEASURING = 0.1, 200, 0.02, 0.1
# Slower than this share of what gravity gives in the time is no motion.
_STILL = 1e-4
# Periods of the contact's vibration over which damping acts, as b of b K.
_DAMPED = 0.1


def run(**parameters: Any) -> Result:
    """Tilts the cube to each angle.

    Returns:
        For each angle whether the cube holds, and its mean acceleration down the slope.
    """
    results: dict[str, list] = {"slope_deg": list(parameters["slope_deg"]), "holds": [], "acceleration": []}
    compute_time = simulated_time = error = 0.0
    for angle in parameters["slope_deg"]:
        start = time.process_time()
        acceleration, seconds, lost = _slide(parameters, math.radians(angle))
        compute_time += time.process_time() - start
        simulated_time += seconds
        error = max(error, lost)
        holds = abs(acceleration) < _STILL * parameters["gravity"]
        results["holds"].append(holds)
        results["acceleration"].append(0.0 if holds else acceleration)
    times = {"compute_time": compute_time, "simulated_time": simulated_time, "energy_error": error}
    return Result(results | times, _UNITS)


def _slide(parameters: Mapping[str, Any], angle: float) -> tuple[float, float, float]:
    """Acceleration [m/s2], time simulated [s], and error of the energy as a share of the work of gravity."""
    side, gravity = parameters["side"], parameters["gravity"]
    cube = make_box("cube", (-0.5 * side, -0.5 * side, 0.0), (0.5 * side, 0.5 * side, side))
    floor = make_box("floor", (-10.0 * side, -2.0 * side, -side), (50.0 * side, 2.0 * side, 0.0))
    mass = parameters["density"] * side**3
    stiffness = parameters["normal_stiffness"] * side**2
    assembly = Assembly(
        [Block("floor", floor, driven=True), Block("cube", cube)],
        read_material(parameters),
        Interface(
            parameters["normal_stiffness"], parameters["shear_stiffness"], parameters["friction"],
            cohesion=0.0, tensile_strength=0.0,
        ),
        order=parameters["order"],
        gravity=(0.0, 0.0, -gravity),
        stiffness_damping=_DAMPED * math.sqrt(mass / stiffness),
    )  # fmt: skip
    step = assembly.checked_step()
    assembly.relax()
    for part in range(_PARTS):
        turned = angle * (part + 1) / _PARTS
        assembly.gravity = (gravity * math.sin(turned), 0.0, -gravity * math.cos(turned))
        assembly.step(max(round(_TURNING / _PARTS / step), 1), step)
    assembly.step(round(_BEGINNING / step), step)
    speed, energy = assembly.velocity("cube")[0], assembly.energy().total
    place = assembly.displacement("cube", (0, 0, 0))
    steps = round(_MEASURING / step)
    assembly.step(steps, step)
    acceleration = float(assembly.velocity("cube")[0] - speed) / (steps * step)
    way = assembly.displacement("cube", (0, 0, 0)) - place
    work = abs(mass * float(np.dot(assembly.gravity, way)))
    error = abs(assembly.energy().total - energy) / work if acceleration > _STILL * gravity else 0.0
    return acceleration, _TURNING + _BEGINNING + _MEASURING, error


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the acceleration over the slope, beside the rigid block.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns slope_deg, acceleration, where present.
    """
    panel = figure.subplots()
    angles = np.linspace(0.0, max(parameters["slope_deg"]), 201)
    slope = np.radians(angles)
    exact = parameters["gravity"] * np.maximum(np.sin(slope) - parameters["friction"] * np.cos(slope), 0.0)
    panel.plot(angles, exact, "-", color="grey", label="rigid block")
    panel.plot(result["slope_deg"], result["acceleration"], "o", label="deformable cube")
    draw_reference(panel, reference, "slope_deg", "acceleration")
    panel.set_xlabel("slope [deg]")
    panel.set_ylabel("acceleration [m/s²]")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle(f"deformable cube on a slope, friction {parameters['friction']:g}")
