"""A rigid body on a pivot is brought to rest: energy shaping, sliding mode, and PD control of its axis.

After Tian and Ge (2015) and Zou and Ge (2013).
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.turning import read_three, vector
from grouser.physics.base.errors import DivergenceError, ParameterError
from grouser.studies.attitude import axis_control, sliding_mode
from grouser.studies.attitude.control import LAWS, TARGETS, Gains
from grouser.studies.attitude.controlled_motion import run as run_motion
from grouser.studies.attitude.pivoted_body import Triple, gravity_direction, pivoted_body
from grouser.studies.attitude.rodrigues import to_quaternion

DESCRIPTION = "the attitude of a body on a pivot is controlled (Tian and Ge, 2015)"


def _read_direction(value: list) -> list[float]:
    direction = read_three(value) if value else []
    if direction and not any(direction):
        raise ValueError("a direction that is not zero")
    return direction


PARAMETERS = {
    "controller": Parameter("energy", "-", "which law", choices=tuple(LAWS)),
    "mass": positive(30.0, "kg", "of the body"),
    "inertia": vector([15.0, 18.0, 20.0], "kg m2", "principal moments about the pivot"),
    "length": positive(0.5, "m", "from the pivot to the centre of mass"),
    "offset_sign": Parameter(-1, "-", "of the centre of mass along the body's z axis", choices=(-1, 1)),
    "gravity_compensation": Parameter(False, "-", "whether energy and pd compensate gravity; sliding_mode always does"),
    "energy_gain": positive(0.2, "-", "of energy"),
    "attitude_gain": positive(10.0, "J, N m", "of energy, of pd"),
    "damping_gain": Parameter(1.5, "J s, N m s", "of energy, of pd", minimum=0.0),
    "target": Parameter(
        "inverted", "-", "the body's z axis against gravity, sigma = (1, 0, 0), or along it", choices=tuple(TARGETS)
    ),
    "angular_velocity": vector([0.1, 0.3, 0.1], "rad/s", "at the start, in the body's frame"),
    "sigma": vector([0.01, 0.01, 0.01], "-", "attitude at the start, modified Rodrigues parameters"),
    "direction": Parameter(
        [], "-", "of gravity in the body's frame at the start, instead of sigma; []: sigma", convert=_read_direction
    ),
    "duration": positive(100.0, "s", "time simulated"),
    "step": Parameter(0.005, "s", "of the integration", minimum=1e-5, maximum=0.1),
}

_UNITS = {
    "time": "s",
    "sigma": "-",
    "angular_velocity": "rad/s",
    "torque": "N m",
    "lyapunov": "J",
    "settling_time_5_percent": "s",
    "settling_time_2_percent": "s",
    "max_torque": "N m",
    "angle_to_target": "rad",
    "reaching_times": "s",
}
_GRAVITY = 9.81
# Stereographic projection of an axis that is 0.6 degrees from the opposite: beyond, the torque of pd is a jerk.
_FARTHEST = 200.0
# Points of the curves, and steps, at most.
_POINTS, _MOST_STEPS = 20_001, 1_000_000
REFERENCE = {
    "t": "time",
    **{f"s{k + 1}": f"sigma[{k}]" for k in range(3)},
    **{f"w{k + 1}": f"angular_velocity[{k}]" for k in range(3)},
    "angle": "angle_to_target",
}


def run(**parameters: Any) -> Result:
    """Releases the body.

    The target is an attitude of the body's z axis; offset_sign says whether the centre of mass is then above the pivot
    or below. The published energy law has offset_sign -1, so that its inverted body hangs.

    Returns:
        Over time the modified Rodrigues parameters (of the energy law never switched, of the others those nearer to the
        target), angular velocity, torque, Lyapunov function of the law, and angle from the target: of sliding_mode that
        of the body's z axis, else of the whole rotation. When the attitude comes to stay within 0.05 and 0.02 of the
        target, by each component of sigma, of sliding_mode of the direction of gravity; None where it does not. The
        greatest component of the torque. Of sliding_mode when each component reaches the surface, as it would without a
        boundary layer: None for one that does not.

    Raises:
        ParameterError: fewer than two steps, or more than a million; an impossible inertia; for pd an axis opposite to
            the target's.
        DivergenceError: steps too long for the motion.
    """
    controller, step = parameters["controller"], parameters["step"]
    law, target = LAWS[controller], TARGETS[parameters["target"]]
    offset = parameters["offset_sign"] * parameters["length"]
    body = pivoted_body(parameters["mass"], parameters["inertia"], offset, _GRAVITY)
    gains = Gains(
        energy=parameters["energy_gain"],
        attitude=parameters["attitude_gain"],
        damping=parameters["damping_gain"],
        gravity_compensation=parameters["gravity_compensation"],
    )
    if not 2.0 * step <= parameters["duration"] <= _MOST_STEPS * step:
        valid = f"from two steps, {2.0 * step:g} s, to {_MOST_STEPS:.0e} steps, {_MOST_STEPS * step:g} s"
        raise ParameterError("duration", parameters["duration"], valid)
    count = round(parameters["duration"] / step) + 1
    sigma, omega, torque, value = (np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count))
    sigma[0] = _start(parameters, controller, target)
    omega[0] = parameters["angular_velocity"]
    # The boundary layer of the sliding mode has a time constant of its own.
    parts = math.ceil(step * gains.reaching / gains.layer) if controller == "sliding_mode" else 1
    run_motion(law, body, gains, target, step, parts, sigma, omega, torque, value)
    time = step * np.arange(count)
    lost = np.flatnonzero(~np.isfinite(value))
    if len(lost):
        raise DivergenceError(time[lost[0]], "the body's attitude", float("nan"))
    gamma, gamma_target = _gravity_directions(sigma), np.array(gravity_direction(target))
    if controller == "sliding_mode":
        error = np.abs(gamma - gamma_target).max(axis=1)
        angle = np.arctan2(np.linalg.norm(np.cross(gamma, gamma_target), axis=1), gamma @ gamma_target)
    else:
        error = np.abs(sigma - target).max(axis=1)
        angle = _rotation_angle(sigma, target)
    thin = np.unique(np.append(np.arange(0, count, -(-count // _POINTS)), count - 1))
    results = {
        "time": time[thin],
        "sigma": sigma[thin],
        "angular_velocity": omega[thin],
        "torque": torque[thin],
        "lyapunov": value[thin],
        "settling_time_5_percent": _settling_time(time, error, 0.05),
        "settling_time_2_percent": _settling_time(time, error, 0.02),
        "max_torque": float(np.abs(torque).max()),
        "angle_to_target": angle[thin],
        "reaching_times": None,
    }
    if controller == "sliding_mode":
        surface = omega - gains.sliding_rate * np.cross(gamma_target, gamma)
        results["reaching_times"] = [_reaching_time(gains, time, np.abs(component)) for component in surface.T]
    return Result(results, _UNITS | ({"lyapunov": "rad2/s2"} if controller == "sliding_mode" else {}))


def _start(parameters: Mapping[str, Any], controller: str, target: Triple) -> np.ndarray:
    """Modified Rodrigues parameters at the start: those given, or the shortest turn that has gravity in a direction."""
    name = "direction" if parameters["direction"] else "sigma"
    sigma = np.array(parameters["sigma"])
    if name == "direction":
        x, y, z = np.array(parameters["direction"]) / math.hypot(*parameters["direction"])
        across = math.hypot(x, y)
        axis = np.array([y, -x, 0.0]) / across if across else np.array([1.0, 0.0, 0.0])
        sigma = axis * math.tan(0.25 * math.atan2(across, z))
    if controller == "pd":
        projection = math.hypot(*axis_control.deviation(tuple(sigma.tolist()), target)[:2])
        if not projection < _FARTHEST:
            raise ParameterError(name, parameters[name], "for pd, the body's z axis not opposite to the target's")
    return sigma


def _gravity_directions(sigma: np.ndarray) -> np.ndarray:
    """Direction of gravity in the body's frame for each attitude."""
    return np.array([gravity_direction(tuple(row)) for row in sigma.tolist()])


def _rotation_angle(sigma: np.ndarray, target: Triple) -> np.ndarray:
    """Angle of the rotation between each attitude and the target [rad]."""
    attitudes, wanted = np.array([to_quaternion(tuple(row)) for row in sigma.tolist()]), np.array(to_quaternion(target))
    apart = np.minimum(np.linalg.norm(attitudes - wanted, axis=1), np.linalg.norm(attitudes + wanted, axis=1))
    return 4.0 * np.arcsin(0.5 * apart)


def _settling_time(time: np.ndarray, error: np.ndarray, bound: float) -> float | None:
    """Time from which an error stays below a bound [s]."""
    outside = np.flatnonzero(error >= bound)
    if len(outside) == 0:
        return float(time[0])
    return float(time[outside[-1] + 1]) if outside[-1] + 1 < len(time) else None


def _reaching_time(gains: Gains, time: np.ndarray, distance: np.ndarray) -> float | None:
    """Time at which a component of the surface reaches zero [s]: within the layer by the law without a layer."""
    inside = np.flatnonzero(distance <= gains.layer)
    if len(inside) == 0:
        return None
    k = max(int(inside[0]) - 1, 0)
    return float(time[k] + sliding_mode.reaching_time(gains, distance[k]))


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws attitude, angular velocity, torque and angle from the target over time."""
    # s are the attitude, but in a record of the sliding mode, which has the angle instead, the surface
    attitude = () if any("angle" in table.columns for table in reference) else ("s1", "s2", "s3")
    curves = (
        ("sigma", "sigma [-]", attitude),
        ("angular_velocity", "angular velocity [rad/s]", ("w1", "w2", "w3")),
        ("torque", "torque [N m]", ()),
        ("angle_to_target", "angle from the target [rad]", ("angle",)),
    )
    panels = figure.subplots(len(curves), 1, sharex=True)
    for panel, (name, label, columns) in zip(panels, curves, strict=True):
        values = np.asarray(result[name])
        panel.plot(result["time"], values, label=list("xyz") if values.ndim == 2 else "simulation")
        for column in columns:
            draw_reference(panel, reference, "t", column)
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small", loc="upper right")
    figure.suptitle(f"control of a body on a pivot: {parameters['controller']}, {parameters['target']}")
    panels[-1].set_xlabel("time [s]")
