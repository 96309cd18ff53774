"""The 3D pendulum: a rigid body about a held point, integrated by methods that keep its structure and by others."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference, zoom
from grouser.experiments.protocol import Parameter, Result, count_steps, positive
from grouser.experiments.turning import thinning, vector
from grouser.physics.base.errors import ConvergenceError, DivergenceError, ParameterError
from grouser.physics.base.spatial import matrix, quaternion_exponential
from grouser.studies.attitude.body import RigidBody
from grouser.studies.attitude.motion import BodyMotion, simulate_body

DESCRIPTION = "a rigid body about a pivot: what integrators keep, and what they cost"

METHODS = ("lie_group_variational", "rk4", "rk4_uncoupled")


def _read_steps(value: list) -> list[float]:
    if not all(type(item) in (int, float) and 1e-6 <= item <= 10.0 for item in value):
        raise ValueError("a list of steps from 1e-6 to 10 [s]")
    return [float(item) for item in value]


PARAMETERS = {
    "mass": positive(1.0, "kg", "of the body"),
    "offset": vector([0.0, 0.0, 0.3], "m", "of the centre of mass from the pivot, body axes"),
    "inertia": vector([0.13, 0.28, 0.17], "kg m2", "moments about the pivot, body axes"),
    "gravity": Parameter(9.81, "m/s2", "along the world's third axis, which points down", minimum=0.0),
    "rotation_vector": vector([0.0, 0.0, 0.0], "rad", "attitude at the start: axis times angle"),
    "angular_velocity": vector([4.14, 4.14, 4.14], "rad/s", "at the start, body axes"),
    "method": Parameter("lie_group_variational", "-", "of integration", choices=METHODS),
    "step": positive(0.01, "s", "of the integration"),
    "duration": positive(100.0, "s", "time simulated"),
    "sweep": Parameter(
        *([0.1, 0.05, 0.02, 0.01, 0.005, 0.0025], "s", "steps at which the methods are compared, over 100 s at most"),
        convert=_read_steps,
    ),
}

_UNITS = {
    "time": "s",
    "angular_velocity": "rad/s",
    "rotation": "-",
    "energy": "J",
    "max_energy_error": "J",
    "energy_drift_rate": "W",
    "max_orthogonality_error": "-",
    "max_vertical_momentum_error": "N m s",
    "microseconds_per_step": "us",
    "sweep_method": "-",
    "sweep_step": "s",
    "sweep_max_energy_error": "J",
    "sweep_energy_drift_rate": "W",
    "sweep_max_orthogonality_error": "-",
    "sweep_max_vertical_momentum_error": "N m s",
    "sweep_microseconds_per_step": "us",
}
_FIGURES = tuple(name for name in _UNITS if "sweep_" + name in _UNITS)
# Longest time over which methods are compared [s].
_COMPARED = 100.0
# From such a time on that a plot shows, so much of its start is drawn enlarged [s].
_DENSE, _ENLARGED = 30.0, 5.0
REFERENCE = {
    "t": "time",
    **{f"w{k + 1}": f"angular_velocity[{k}]" for k in range(3)},
    **{f"R3{k + 1}": f"rotation[{6 + k}]" for k in range(3)},
}


def run(**parameters: Any) -> Result:
    """Releases the body.

    Returns:
        Curves over time, a point for each step or, of long runs, every second, fifth, tenth ... : angular velocity in
        body axes (N, 3), R row by row (N, 9), energy. The largest differences from the start of the energy and of the
        angular momentum about the vertical, and of R from a rotation, |R^T R - 1|, of all steps; the slope of the line
        through the energy; processor time of a step, with these figures.
        With `sweep`, the same figures of every method and step, over the same time but no more than 100 s; runs that
        do not fit into it, do not converge or diverge are left out.

    Raises:
        ParameterError: a body that is held at its centre of mass, or has an inertia that no body has; a duration
            shorter than a step, or of too many steps.
        ConvergenceError: the variational method's step is too long for the angular velocity.
        DivergenceError: the motion left the finite numbers.
    """
    steps = count_steps(parameters)
    if not any(parameters["offset"]):
        raise ParameterError("offset", parameters["offset"], "other than zero: this is no pendulum")
    body = RigidBody(
        *(parameters["mass"], parameters["inertia"], parameters["offset"]),
        gravity=(0.0, 0.0, parameters["gravity"]),
    )
    motion, figures = _drive(body, parameters, parameters["method"], parameters["step"], steps)
    results = {
        "time": motion.time,
        "angular_velocity": motion.angular_velocity,
        "rotation": motion.rotation.reshape(-1, 9),
        "energy": motion.energy,
        **figures,
        **_compare(body, parameters),
    }
    return Result(results, {name: _UNITS[name] for name in results})


def _drive(
    body: RigidBody, parameters: Mapping[str, Any], method: str, step: float, steps: int
) -> tuple[BodyMotion, dict[str, float]]:
    """One run, and its figures."""
    start = matrix(quaternion_exponential(*parameters["rotation_vector"]))
    rate, every = parameters["angular_velocity"], thinning(steps)
    # Compilation is not timed.
    simulate_body(body, start, rate, step, 0, method=method)
    begun = time.process_time()
    motion = simulate_body(body, start, rate, step, steps, method=method, every=every)
    taken = time.process_time() - begun
    slope = np.polyfit(motion.time, motion.energy - motion.energy[0], 1)[0]
    figures = {
        "max_energy_error": motion.max_energy_error,
        "energy_drift_rate": float(slope),
        "max_orthogonality_error": motion.max_constraint_error,
        "max_vertical_momentum_error": motion.max_vertical_momentum_error,
        "microseconds_per_step": 1e6 * taken / steps,
    }
    return motion, figures


def _compare(body: RigidBody, parameters: Mapping[str, Any]) -> dict[str, list]:
    """Figures of every method and step."""
    rows: list[dict[str, Any]] = []
    duration = min(parameters["duration"], _COMPARED)
    for method in METHODS:
        for step in parameters["sweep"]:
            steps = round(duration / step)
            if steps == 0:
                continue
            try:
                _, figures = _drive(body, parameters, method, step, steps)
            except (ConvergenceError, DivergenceError):
                continue
            rows.append({"method": method, "step": step, **figures})
    return {f"sweep_{name}": [row[name] for row in rows] for name in ("method", "step", *_FIGURES)} if rows else {}


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws angular velocity, the third row of R and the energy's error over time, and with `sweep` errors over step.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t, w1 to w3 and R31 to R33 of a reference curve, where present.
    """
    swept = "sweep_step" in result.results
    panels = figure.subplots(4 if swept else 3, 1)
    time = np.asarray(result["time"])
    curves = (
        (panels[0], "angular_velocity", slice(0, 3), ("w1", "w2", "w3"), "angular velocity [rad/s]"),
        (panels[1], "rotation", slice(6, 9), ("R31", "R32", "R33"), "downward in body axes"),
    )
    for panel, name, columns, theirs, label in curves:
        for i, curve in enumerate(np.asarray(result[name])[:, columns].T):
            panel.plot(time, curve, f"C{i}", linewidth=0.8, label=theirs[i])
            if draw_reference(panel, reference, "t", theirs[i]):
                ends = [table.columns["t"][-1] for table in reference if "t" in table.columns]
                if max(ends) > 0.05 * time[-1]:
                    panel.set_xlim(0.0, min(time[-1], max(ends)))
        panel.set_ylabel(label)
        panel.legend(fontsize="small", loc="upper right")
        if panel.get_xlim()[1] > _DENSE:
            zoom(panel, 0.0, _ENLARGED)
    panels[2].plot(time, np.asarray(result["energy"]) - result["energy"][0], linewidth=0.8)
    panels[2].set_ylabel("energy error [J]")
    for panel in panels[:3]:
        panel.set_xlabel("time [s]")
        panel.grid(alpha=0.3)
    if swept:
        method = np.array(result["sweep_method"])
        for i, name in enumerate(METHODS):
            these = method == name
            for what, style in (("max_energy_error", "o-"), ("max_orthogonality_error", "s:")):
                error, step = np.array(result["sweep_" + what])[these], np.array(result["sweep_step"])[these]
                panels[3].loglog(step, error, f"C{i}{style}", label=f"{name}: {what.split('_')[1]}")
        panels[3].set_xlabel("step [s]")
        panels[3].set_ylabel("largest error [J], [-]")
        panels[3].grid(alpha=0.3, which="both")
        panels[3].legend(fontsize="x-small")
    figure.suptitle(f"3D pendulum, {parameters['method']}, step {parameters['step']:g} s")
