"""The four-bar linkage of elastic rods, once of beams with modes and once of rigid elements with springs between them.

The machine is urdf/four_bar.urdf.xacro; a smooth pulse of torque drives its crank, then it coasts. Both ways to
describe a rod close the same loop by the same joint, and share nothing else: a chain of bodies on compliant joints
(Wittbrodt's rigid finite elements), and shape functions.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.flexible_links import MODAL, discretisation_parameters
from grouser.experiments.protocol import Parameter, Result, count_steps, positive
from grouser.physics.description import load_machine
from grouser.physics.description.data.world import World
from grouser.physics.simulation.simulation import Simulation
from grouser.resources import share_path

DESCRIPTION = "an elastic four-bar linkage of beams with modes beside one of rigid elements"

PARAMETERS = {
    **discretisation_parameters(MODAL, 6, "bezier"),
    "elements": Parameter(11, "-", "rigid elements of each rod", minimum=2, maximum=100),
    "torque": Parameter(1.5, "N m", "on the crank, in the middle of its pulse", minimum=-100.0, maximum=100.0),
    "torque_time": positive(0.1, "s", "length of the pulse"),
    "duration": positive(0.15, "s", "time simulated"),
    "step": Parameter(1e-4, "s", "length of a step", minimum=1e-6, maximum=0.01),
    "integrator": Parameter("implicit_midpoint", "-", "of the motion", choices=("implicit_midpoint", "semi_implicit")),
}

_RODS = ("coupler", "rocker")
# Across each rod: in the plane of the crank at the start, and out of it.
_CURVES = ("coupler_in_plane", "coupler_out_of_plane", "rocker_in_plane", "rocker_out_of_plane")

_UNITS = {
    "time": "s",
    **dict.fromkeys(_CURVES, "m"),
    **{f"{name}_of_elements": "m" for name in _CURVES},
    "crank_angle": "rad",
    "crank_angle_of_elements": "rad",
    "peaks": "m",
    "differences": "-",
    "max_difference": "-",
}
REFERENCE = {"t": "time", **{name: name for name in _CURVES}}


def run(**parameters: Any) -> Result:
    """Drives both linkages.

    Returns:
        Over time, of both: deflections of the ends of coupler and rocker from the tangents at their starts, and the
        crank's angle from its start. `peaks`: the largest deflections of the linkage with modes, in the order coupler
        in the plane and out of it, rocker likewise. `differences`: the largest ones between the linkages at one time,
        as shares of these peaks; `max_difference`: the largest of them.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        MachineError: a size out of the method's range.
        DivergenceError: the step is too long.
    """
    modes, crank = _drive(parameters, parameters["method"], parameters["size"])
    chains, crank_of_chains = _drive(parameters, "rigid_elements", parameters["elements"])
    peaks = np.abs(modes).max(axis=0)
    # without torque nothing bends
    differences = np.abs(chains - modes).max(axis=0) / np.where(peaks > 0.0, peaks, 1.0)
    return Result(
        {
            "time": parameters["step"] * np.arange(len(modes)),
            **dict(zip(_CURVES, modes.T, strict=True)),
            **dict(zip((f"{name}_of_elements" for name in _CURVES), chains.T, strict=True)),
            "crank_angle": crank,
            "crank_angle_of_elements": crank_of_chains,
            "peaks": peaks,
            "differences": differences,
            "max_difference": float(differences.max()),
        },
        _UNITS,
    )


def _drive(parameters: Mapping[str, Any], method: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Deflections (N, 4) and angles of the crank (N,) of one linkage, from its start."""
    arguments = {"variant": "flexible", "discretisation": method, "elements": str(size)}
    machine = load_machine(share_path("urdf", "four_bar.urdf.xacro"), arguments)
    world = World(gravity=(0.0, 0.0, 0.0), ground=None)
    simulation = Simulation(machine, world, parameters["step"], integrator=parameters["integrator"])
    steps = count_steps(parameters)
    deflections, crank = np.zeros((steps + 1, 4)), np.zeros(steps + 1)
    start = simulation.joint_position["crank"]
    for k in range(steps):
        simulation.command["crank"] = _pulse(parameters, (k + 0.5) * parameters["step"])
        simulation.step()
        states = [simulation.flexible_link[rod] for rod in _RODS]
        deflections[k + 1] = [across for state in states for across in (state.tip_deflection_y, state.tip_deflection_z)]
        crank[k + 1] = simulation.joint_position["crank"] - start
    return deflections, crank


def _pulse(parameters: Mapping[str, Any], moment: float) -> float:
    """Torque at a moment [N m]."""
    share = moment / parameters["torque_time"]
    return parameters["torque"] * math.sin(math.pi * share) ** 2 if share < 1.0 else 0.0


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the deflections of both linkages over time.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t and the names of deflections of a reference curve, where present.
    """
    panels = figure.subplots(4, 1, sharex=True)
    for panel, name in zip(panels, _CURVES, strict=True):
        panel.plot(result["time"], 1e3 * np.asarray(result[name]), label=f"{parameters['method']} {parameters['size']}")
        elements = 1e3 * np.asarray(result[f"{name}_of_elements"])
        panel.plot(result["time"], elements, "--", label=f"{parameters['elements']} rigid elements")
        draw_reference(panel, reference, "t", name, 1e3)
        panel.set_ylabel(f"{name.replace('_', ' ')} [mm]", fontsize="small")
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize="small")
    panels[-1].set_xlabel("time [s]")
    figure.suptitle(f"elastic four-bar linkage: difference {100 * result['max_difference']:.2g} % of the peaks")
