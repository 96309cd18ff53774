"""A mass on a rod goes round, by the variational integrator on the sphere."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, count_steps, positive
from grouser.experiments.turning import thinning
from grouser.studies.attitude.spherical import simulate_pendulum

DESCRIPTION = "a pendulum that goes round, by a variational integrator"

PARAMETERS = {
    "length": positive(1.0, "m", "of the rod"),
    "gravity": Parameter(9.81, "m/s2", "downward", minimum=0.0),
    "polar_angle_deg": Parameter(60.0, "deg", "from hanging, at the start", minimum=0.0, maximum=180.0),
    "azimuth_rate": Parameter(2.0, "rad/s", "about the vertical, at the start"),
    "step": positive(0.001, "s", "of the integration"),
    "duration": positive(20.0, "s", "time simulated"),
}

_UNITS = {
    "time": "s",
    "position": "m",
    "energy": "J/kg",
    "max_energy_error": "J/kg",
    "max_vertical_momentum_error": "m2/s",
    "max_constraint_error": "-",
}
REFERENCE = {"t": "time", "x": "position[0]", "y": "position[1]", "z": "position[2]"}


def run(**parameters: Any) -> Result:
    """Releases the pendulum in the x-z plane, with a speed across it.

    Returns:
        Position from the pivot, z up, (N, 3), and energy of a unit of mass over time, a point for each step or, of long
        runs, every second, fifth, tenth ... ; the largest differences from the start of the energy and the angular
        momentum about the vertical, of a unit of mass, and of the rod's length from its own, as a share.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        ConvergenceError: a step too long for the pendulum.
    """
    steps, length = count_steps(parameters), parameters["length"]
    angle = math.radians(parameters["polar_angle_deg"])
    radius = length * math.sin(angle)
    motion = simulate_pendulum(
        *((radius, 0.0, -length * math.cos(angle)), (0.0, radius * parameters["azimuth_rate"], 0.0)),
        *(parameters["step"], steps, parameters["gravity"]),
        every=thinning(steps),
    )
    return Result({name: getattr(motion, name) for name in _UNITS}, _UNITS)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the path from above, the height and the energy's error over time.

    The reference's columns are t, x, y, z.
    """
    above, height, error = figure.subplots(3, 1)
    time, position = np.asarray(result["time"]), np.asarray(result["position"])
    above.plot(position[:, 0], position[:, 1], linewidth=0.8)
    height.plot(time, position[:, 2], label="z")
    draw_reference(above, reference, "x", "y")
    if draw_reference(height, reference, "t", "z"):
        height.legend()
    above.set_aspect("equal")
    above.set_xlabel("x [m]")
    above.set_ylabel("y [m]")
    height.set_ylabel("z [m]")
    error.plot(time, np.asarray(result["energy"]) - result["energy"][0])
    error.set_ylabel("energy less that at the start [J/kg]")
    for panel in (height, error):
        panel.set_xlabel("time [s]")
    for panel in (above, height, error):
        panel.grid(alpha=0.3)
    figure.suptitle(f"spherical pendulum, step {parameters['step']:g} s")
