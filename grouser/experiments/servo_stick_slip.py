"""A servo drive that moves a load with dry friction slowly: stick-slip motion (Mikhailova, 2004)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.relaxation import LOADS, load_at
from grouser.experiments.servo_parameters import SERVO, VOLTAGE_LIMIT, read_loop, servo_system
from grouser.physics.base.errors import ParameterError
from grouser.studies.servo.servo_loop import ANGLE, SPEED, VARIABLES, VOLTAGE, ServoLoop

DESCRIPTION = "a servo drive that sticks and slips at a slow rate (Mikhailova, 2004)"

PARAMETERS = {
    **SERVO,
    **VOLTAGE_LIMIT,
    "kinetic_friction": positive(15.0, "N m", "of the load while it moves"),
    "static_excess": Parameter(0.15, "-", "what it is more at rest, as a share", minimum=0.0),
    "rate": positive(4e-4, "rad/s", "of the commanded angle; of a triangle or harmonic the mean over half a period"),
    "input": Parameter("ramp", "-", "commanded angle over time", choices=LOADS),
    "input_frequency": positive(1.0, "rad/s", "of a triangle or harmonic"),
    "find_critical": Parameter(False, "-", "whether to look for the critical rates"),
    "duration": Parameter(
        *(0.0, "s", "time simulated; 0: two periods of the input, or of a ramp until it has stopped 12 times"),
        minimum=0.0,
    ),
    "step": Parameter(2e-6, "s", "of the integration", minimum=1e-8, maximum=1e-3),
}

_UNITS = {
    "time": "s",
    "position": "rad",
    "speed": "rad/s",
    "regime": "-",
    "first_slip_time": "s",
    "period": "s",
    "slip_time": "s",
    "max_speed": "rad/s",
    "max_voltage": "V",
    "critical_rate": "rad/s",
    "upper_critical_rate": "rad/s",
    "lower_critical_rate": "rad/s",
}
# Number of stops of a stick-slip motion.
_STOPS = 12
# A slip that lasts for this many time constants of the drive's slowest pole does not stop again.
_RUNG_DOWN = 10.0
# Relative tolerance of critical rates.
_SHARE = 2e-5
# Factors by which a rate is tried to be beyond the critical one, at most.
_WIDEST = 1e6
# Points of the curves, at most; how often they are taken and how long a piece is that is simulated at once [s].
_POINTS, _EVERY, _PIECE = 5000, 1e-4, 0.25
REFERENCE = {"t": "time", "phi": "position", "omega": "speed"}


@dataclass(frozen=True)
class _Record:
    """Recorded motion.

    Attributes:
        time, angle, speed: some points of the curves.
        begun, ended: when slips began, and when those ended that did [s].
        end: when the record ends [s].
        max_speed, max_voltage: greatest, of all steps.
    """

    time: np.ndarray
    angle: np.ndarray
    speed: np.ndarray
    begun: np.ndarray
    ended: np.ndarray
    end: float
    max_speed: float
    max_voltage: float

    @property
    def slips(self) -> np.ndarray:
        """Duration of each slip, up to the end of the record [s]."""
        going_on = len(self.begun) - len(self.ended)
        return np.append(self.ended, [self.end] * going_on) - self.begun


def run(**parameters: Any) -> Result:
    """Commands a slow motion from rest.

    A load that never moves is *stuck*. A *stick-slip* load stops every time; a *sliding* one not any more, once a slip
    has lasted for ten time constants of the drive's slowest pole; a *mixed* one does both by turns, as a harmonic is
    fast and slow by turns.

    Returns:
        Angle and speed over time; the regime; when the load first slips; period and duration of the last slips that
        stopped; the greatest speed and voltage. With `find_critical`, of a ramp the greatest rate at which the load,
        from rest, stops 12 times; of a triangle or harmonic the greatest mean rates at which it stops more often than
        the command turns back, and at which no slip goes on.

    Raises:
        ParameterError: an unstable drive; a duration of less than two steps.
    """
    loop = read_loop(parameters)
    if loop.poles().real.max() >= 0.0:
        raise ParameterError("gain", parameters["gain"], "one at which the drive is stable without dry friction")
    motion = _move(parameters, loop, parameters["rate"])
    stops = len(motion.ended)
    results: dict[str, Any] = {
        "time": motion.time,
        "position": motion.angle,
        "speed": motion.speed,
        "regime": _regime(loop, motion),
        "first_slip_time": float(motion.begun[0]) if len(motion.begun) else None,
        "period": float(motion.begun[-1] - motion.begun[-2]) if stops > 1 and len(motion.begun) > 1 else None,
        "slip_time": float(motion.slips[stops - 1]) if stops else None,
        "max_speed": motion.max_speed,
        "max_voltage": motion.max_voltage,
        "critical_rate": None,
        "upper_critical_rate": None,
        "lower_critical_rate": None,
    }
    if parameters["find_critical"]:
        if parameters["input"] == "ramp":
            results["critical_rate"] = _greatest(parameters, loop, lambda found: len(found.ended) >= _STOPS)
        else:
            half, lasting = math.pi / parameters["input_frequency"], _ring_down(loop)
            results["upper_critical_rate"] = _greatest(parameters, loop, lambda found: _most_stops(found, half) > 1)
            results["lower_critical_rate"] = _greatest(
                parameters, loop, lambda found: len(found.begun) > 0 and found.slips.max() <= lasting
            )
    return Result(results, _UNITS)


def _move(parameters: Mapping[str, Any], loop: ServoLoop, rate: float) -> _Record:
    """Drives the load at a rate, in pieces, until the end or until the regime of a ramp is known."""
    step, ramp = parameters["step"], parameters["input"] == "ramp"
    kinetic = parameters["kinetic_friction"]
    system = servo_system(loop, kinetic, (1.0 + parameters["static_excess"]) * kinetic, rate)
    command = partial(_commanded, parameters, rate)
    duration = parameters["duration"] or (math.inf if ramp else 4.0 * math.pi / parameters["input_frequency"])
    if duration < 2.0 * step:
        raise ParameterError("duration", parameters["duration"], f"at least two steps, {2.0 * step:g} s")
    piece, thin = max(round(_PIECE / step), 1), max(round(_EVERY / step), 1)
    done, state, sliding = 0, np.zeros(VARIABLES), [False] * len(system.frictions)
    curves, begun, ended, fastest, most = [], [], [], 0.0, 0.0
    while done * step < duration:
        steps = piece if math.isinf(duration) else min(piece, round(duration / step) - done)
        if steps < 1:
            break
        found = system.run(state, step, steps, command, done * step, sliding)
        state, sliding, done = found.state[-1], found.sliding[-1], done + steps
        curves.append(np.column_stack([found.time, found.state[:, [ANGLE, SPEED]]])[:-1:thin])
        begun.extend(found.event_time[found.event_slips])
        ended.extend(found.event_time[~found.event_slips])
        fastest = max(fastest, float(np.abs(found.state[:, SPEED]).max()))
        most = max(most, float(np.abs(found.state[:, VOLTAGE]).max()))
        goes_on = len(begun) > len(ended) and done * step - begun[-1] > _ring_down(loop)
        if math.isinf(duration) and (len(ended) >= _STOPS or goes_on):
            break
    time, angle, speed = np.concatenate(curves).T
    points = slice(None, None, -(-len(time) // _POINTS))
    return _Record(
        time[points], angle[points], speed[points], np.array(begun), np.array(ended), done * step, fastest, most
    )


def _commanded(parameters: Mapping[str, Any], rate: float, time: np.ndarray) -> np.ndarray:
    """Angle over time [s], whose mean rate is given, over half a period where it turns back."""
    return rate * load_at(parameters["input"], parameters["input_frequency"], time)


def _ring_down(loop: ServoLoop) -> float:
    """Duration of a slip that does not stop again [s]."""
    return _RUNG_DOWN / float(-loop.poles().real.max())


def _most_stops(motion: _Record, half: float) -> int:
    """Most stops in half a period of the input, counted after the first one, which begins at rest."""
    number = (motion.ended[motion.ended >= half] / half).astype(int)
    return int(np.bincount(number).max()) if len(number) else 0


def _regime(loop: ServoLoop, motion: _Record) -> str:
    if len(motion.begun) == 0:
        return "stuck"
    lasting = motion.slips > _ring_down(loop)
    if not lasting.any():
        return "stick_slip"
    return "sliding" if lasting.all() or len(motion.ended) == 0 else "mixed"


def _greatest(parameters: Mapping[str, Any], loop: ServoLoop, holds: Callable[[_Record], bool]) -> float | None:
    """Greatest rate at which something holds that holds for slow ones, to 2e-5; None where there is none."""
    parameters = {**parameters, "duration": 0.0}
    low = high = parameters["rate"]
    if holds(_move(parameters, loop, low)):
        while holds(_move(parameters, loop, high)):
            low, high = high, 2.0 * high
            if high > _WIDEST * parameters["rate"]:
                return None
    else:
        while not holds(_move(parameters, loop, low)):
            low, high = 0.5 * low, low
            if low * _WIDEST < parameters["rate"]:
                return None
    while high > (1.0 + _SHARE) * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(_move(parameters, loop, middle)) else (low, middle)
    return low


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws angle and speed over time."""
    upper, lower = figure.subplots(2, 1, sharex=True)
    for panel, name, column, label in (
        (upper, "position", "phi", "angle [rad]"),
        (lower, "speed", "omega", "speed [rad/s]"),
    ):
        panel.plot(result["time"], result[name], label="simulated", linewidth=0.9)
        if draw_reference(panel, reference, "t", column):
            panel.legend()
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
    figure.suptitle(
        f"servo drive with dry friction: {parameters['input']} of {parameters['rate']:g} rad/s, {result['regime']}"
    )
    lower.set_xlabel("time [s]")
