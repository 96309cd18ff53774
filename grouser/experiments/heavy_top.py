"""The heavy top: a symmetric body spins about its axis, held at a point of it, and nutates (Xu and Zhong, 2014).

It begins without precession, so that its axis comes back to a cusp once in each nutation.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference, zoom
from grouser.experiments.protocol import Parameter, Result, count_steps, positive
from grouser.experiments.turning import mean_period, thinning, vector
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.spatial import matrix, quaternion_exponential
from grouser.studies.attitude.body import RigidBody
from grouser.studies.attitude.motion import simulate_body

DESCRIPTION = "a heavy top nutates, by four integrators (Xu and Zhong, 2014)"

PARAMETERS = {
    "mass": positive(1.0, "kg", "of the top"),
    "length": positive(0.04, "m", "from the pivot to the centre of mass, along the axis"),
    "inertia": vector([0.002, 0.002, 0.0008], "kg m2", "moments about the pivot, the last one about the axis"),
    "gravity": Parameter(9.8, "m/s2", "downward", minimum=0.0),
    "polar_angle_deg": Parameter(60.0, "deg", "of the axis from upright, at the start", minimum=0.0, maximum=180.0),
    "spin": Parameter(100.0, "rad/s", "about the axis, at the start"),
    "method": Parameter(
        *("lie_group_variational", "-", "of integration"),
        choices=("lie_group_variational", "quaternion_variational", "rk4", "euler_angles"),
    ),
    "step": positive(0.001, "s", "of the integration"),
    "duration": positive(10.0, "s", "time simulated"),
}

_UNITS = {
    "time": "s",
    "axis": "-",
    "energy": "J",
    "max_energy_error": "J",
    "max_constraint_error": "-",
    "nutation_period": "s",
    "singular_time": "s",
}
# Range of the axis's height below which the nutation is rounding only.
_NO_NUTATION = 1e-9
# From so many periods of the nutation on, so many of them are drawn enlarged.
_DENSE, _ENLARGED = 100.0, 10.0
REFERENCE = {"t": "time", "Ax": "axis[0]", "Ay": "axis[1]", "Az": "axis[2]"}


def run(**parameters: Any) -> Result:
    """Releases the top.

    Returns:
        Curves over time, a point for each step or, of long runs, every second, fifth, tenth ... : `axis`, the body's
        third axis in the world's, z up, (N, 3), and the energy; the largest differences from the energy at the start
        and of the attitude from a rotation, |R^T R - 1|, of all steps; the mean period of nutation, absent where there
        are none, not two, or too few points; and when Euler angles first went through their singularity, absent where
        they did not.

    Raises:
        ParameterError: an inertia that no body has; Euler angles for an upright or hanging top; a duration shorter than
            a step, or of too many steps.
        ConvergenceError: a variational method's step is too long for the spin.
        DivergenceError: the motion left the finite numbers.

    Warns:
        RuntimeWarning: Euler angles went through their singularity.
    """
    steps, angle = count_steps(parameters), parameters["polar_angle_deg"]
    offset, gravity = (0.0, 0.0, parameters["length"]), (0.0, 0.0, -parameters["gravity"])
    body = RigidBody(parameters["mass"], parameters["inertia"], offset, gravity)
    if parameters["method"] == "euler_angles" and angle in (0.0, 180.0):
        raise ParameterError("polar_angle_deg", angle, "between 0 and 180: Euler angles are singular there")
    start = matrix(quaternion_exponential(math.radians(angle), 0.0, 0.0))
    motion = simulate_body(
        *(body, start, (0.0, 0.0, parameters["spin"]), parameters["step"], steps),
        method=parameters["method"],
        every=thinning(steps),
    )
    axis, height = motion.rotation[:, :, 2], motion.rotation[:, 2, 2]
    period = None
    if motion.singular_time is None and np.ptp(height) > _NO_NUTATION:
        across = motion.rotation[:, 2, :2]
        rising = across[:, 0] * motion.angular_velocity[:, 1] - across[:, 1] * motion.angular_velocity[:, 0]
        period = mean_period(motion.time, height, rising, 0.5 * (height.max() + height.min()))
    results = {
        "time": motion.time,
        "axis": axis,
        "energy": motion.energy,
        "max_energy_error": motion.max_energy_error,
        "max_constraint_error": motion.max_constraint_error,
        "nutation_period": period,
        "singular_time": motion.singular_time,
    }
    return Result(results, _UNITS)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the path of the axis from above, its components over time, and the energy's error.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t, Ax, Ay and Az of a reference curve, where present.
    """
    time, axis = np.asarray(result["time"]), np.asarray(result["axis"])
    (above, *_), *lower = figure.subplots(3, 1, squeeze=False)
    (components,), (error,) = lower
    above.plot(axis[:, 0], axis[:, 1], linewidth=0.8)
    above.set_aspect("equal")
    above.set_xlabel("axis x")
    above.set_ylabel("axis y")
    for i, name in enumerate(("x", "y", "z")):
        components.plot(time, axis[:, i], f"C{i}", label=f"axis {name}", linewidth=0.8)
    for name in ("Ax", "Ay", "Az"):
        draw_reference(components, reference, "t", name)
    draw_reference(above, reference, "Ax", "Ay")
    components.legend(fontsize="small", loc="upper right")
    components.set_ylabel("components of the axis")
    error.plot(time, np.asarray(result["energy"]) - result["energy"][0], linewidth=0.8)
    period = result["nutation_period"]
    if period is not None and time[-1] > _DENSE * period:
        for panel in (components, error):
            zoom(panel, time[-1] - _ENLARGED * period, time[-1])
    error.set_ylabel("energy less that at the start [J]")
    for panel in (components, error):
        panel.set_xlabel("time [s]")
    for panel in (above, components, error):
        panel.grid(alpha=0.3)
    nutation = "" if period is None else f", nutation {period:.5g} s"
    figure.suptitle(f"heavy top, {parameters['method']}, step {parameters['step']:g} s{nutation}")
