"""A mass on a rod swings in a plane, by the variational integrator on the circle."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, count_steps, positive
from grouser.experiments.turning import mean_period, thinning
from grouser.studies.attitude.spherical import simulate_pendulum

DESCRIPTION = "a pendulum in a plane, by a variational integrator"

PARAMETERS = {
    "length": positive(1.0, "m", "of the rod"),
    "gravity": positive(9.81, "m/s2", "downward"),
    "amplitude_deg": Parameter(
        *(60.0, "deg", "from hanging, where it is let go"), minimum=0.0, maximum=179.99, above_minimum=True
    ),
    "step": positive(2e-4, "s", "of the integration"),
    "duration": positive(10.0, "s", "time simulated"),
}

_UNITS = {"time": "s", "angle": "rad", "energy": "J/kg", "period": "s", "max_energy_error": "J/kg"}
REFERENCE = {"t": "time", "angle": "angle"}


def run(**parameters: Any) -> Result:
    """Releases the pendulum at rest.

    Returns:
        Angle from hanging and energy of a unit of mass over time, a point for each step or, of long runs, every second,
        fifth, tenth ... ; the mean time between passages of the lowest point in the same direction, absent where there
        are not two, or too few points; the largest difference of the energy from that at the start, of all steps.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        ConvergenceError: a step too long for the pendulum.
    """
    steps, length = count_steps(parameters), parameters["length"]
    angle = math.radians(parameters["amplitude_deg"])
    start = (length * math.sin(angle), 0.0, -length * math.cos(angle))
    motion = simulate_pendulum(
        *(start, (0.0, 0.0, 0.0), parameters["step"], steps, parameters["gravity"]), every=thinning(steps)
    )
    across = motion.position[:, 0]
    results = {
        "time": motion.time,
        "angle": np.arctan2(across, -motion.position[:, 2]),
        "energy": motion.energy,
        "period": mean_period(motion.time, across, motion.velocity[:, 0], 0.0),
        "max_energy_error": motion.max_energy_error,
    }
    return Result(results, _UNITS)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws angle and energy's error over time; the reference's columns are t and angle."""
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot(result["time"], np.degrees(result["angle"]), label="angle")
    if draw_reference(upper, reference, "t", "angle", math.degrees(1.0)):
        upper.legend()
    upper.set_ylabel("angle [deg]")
    lower.plot(result["time"], np.asarray(result["energy"]) - result["energy"][0])
    lower.set_ylabel("energy less that at the start [J/kg]")
    lower.set_xlabel("time [s]")
    for panel in (upper, lower):
        panel.grid(alpha=0.3)
    period = "" if result["period"] is None else f": period {result['period']:.8g} s"
    figure.suptitle(f"planar pendulum, step {parameters['step']:g} s{period}")
