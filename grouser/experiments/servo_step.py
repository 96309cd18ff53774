"""Step response of a servo drive, within the limit of its voltage (Mikhailova, 2004)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.servo_parameters import SERVO, VOLTAGE_LIMIT, read_loop, servo_system
from grouser.physics.base.errors import ParameterError
from grouser.studies.servo.servo_loop import ANGLE, VARIABLES, VOLTAGE

DESCRIPTION = "a servo drive's answer to a step of its command (Mikhailova, 2004)"

PARAMETERS = {
    **SERVO,
    **VOLTAGE_LIMIT,
    "amplitude": Parameter(0.1, "rad", "of the step"),
    "duration": positive(0.3, "s", "time simulated"),
    "step": Parameter(1e-6, "s", "of the integration", minimum=1e-8, maximum=1e-3),
}

_UNITS = {
    "time": "s",
    "position": "rad",
    "voltage": "V",
    "steady_value": "rad",
    "rise_time": "s",
    "settling_time_5_percent": "s",
    "overshoot": "-",
}
# Points of the curves, at most.
_POINTS = 3000
REFERENCE = {"t": "time", "phi": "position"}


def run(**parameters: Any) -> Result:
    """Commands another angle, from rest.

    Returns:
        Angle and voltage over time; the angle at which the drive comes to rest; the time from 10 to 90 % of it; the
        time after which it stays within 5 % of it; the overshoot as a share of it. The figures are None
        where the closed loop is unstable, and those that did not occur within the time simulated.

    Raises:
        ParameterError: fewer than two steps in the duration.
    """
    loop, step, amplitude = read_loop(parameters), parameters["step"], parameters["amplitude"]
    steps = round(parameters["duration"] / step)
    if steps < 2:
        raise ParameterError("duration", parameters["duration"], f"at least two steps, {2.0 * step:g} s")
    system = servo_system(loop)
    motion = system.run(np.zeros(VARIABLES), step, steps, np.full((steps + 1, 1), amplitude))
    time, angle = motion.time, motion.state[:, ANGLE]
    steady = loop.steady_angle(amplitude)
    share = angle / steady if steady else np.zeros(len(angle))
    thin = slice(None, None, -(-steps // _POINTS))
    results = {
        "time": time[thin],
        "position": angle[thin],
        "voltage": motion.state[thin, VOLTAGE],
        "steady_value": steady,
        "rise_time": None,
        "settling_time_5_percent": None,
        "overshoot": None,
    }
    if steady:
        low, high = _first(time, share, 0.1), _first(time, share, 0.9)
        results["rise_time"] = None if low is None or high is None else high - low
        outside = np.flatnonzero(np.abs(share - 1.0) > 0.05)
        if outside[-1] < steps:
            results["settling_time_5_percent"] = float(time[outside[-1] + 1])
        results["overshoot"] = max(float(share.max()) - 1.0, 0.0)
    return Result(results, _UNITS)


def _first(time: np.ndarray, share: np.ndarray, level: float) -> float | None:
    """Time at which a curve first reaches a level."""
    reached = np.flatnonzero(share >= level)
    if len(reached) == 0:
        return None
    k = int(reached[0])
    return float(np.interp(level, share[k - 1 : k + 1], time[k - 1 : k + 1])) if k else float(time[0])


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws angle and voltage over time."""
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot(result["time"], result["position"], label="angle")
    if result["steady_value"] is not None:
        for share in (0.95, 1.0, 1.05):
            label = "at rest, and 5 % to either side" if share == 1.0 else None
            upper.axhline(share * result["steady_value"], color="grey", linewidth=0.8, label=label)
    draw_reference(upper, reference, "t", "phi")
    upper.legend(fontsize="small")
    upper.set_ylabel("angle [rad]")
    lower.plot(result["time"], result["voltage"])
    lower.set_ylabel("voltage [V]")
    lower.set_xlabel("time [s]")
    for panel in (upper, lower):
        panel.grid(alpha=0.3)
    figure.suptitle(f"servo drive: a step of {parameters['amplitude']:g} rad, gain {parameters['gain']:g} V/rad")
