"""A mass with dry friction is pulled over a spring: relaxation self-oscillations.

    q'' + 2 zeta q' + q + Q = P(tau)

After Mikhailova (2004): tau is time by the natural frequency, q displacement by what the load moves in that unit of
time, Q and P forces by the spring's at q = 1. Only the difference of both levels of friction, f1 R, matters to the
oscillation; R itself shifts it.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, zoom
from grouser.experiments.protocol import Result
from grouser.experiments.relaxation import (
    REST_SPEED,
    StickSlipMotion,
    common_parameters,
    draw_curve,
    load_at,
    pull,
    regime_of,
    whole_halves,
)
from grouser.studies.friction.system import DryFriction, FrictionSystem

DESCRIPTION = "a mass on a spring sticks and slips (Mikhailova, 2004)"

PARAMETERS = common_parameters(damping_ratio=0.0, kinetic_friction=5.0, load_frequency=0.02, step=0.005, duration=400.0)
REFERENCE = {"tau": "time", "q": "position", "qdot": "velocity", "Q": "friction"}


def run(**parameters: Any) -> Result:
    """Pulls the mass from rest, by the implicit Euler scheme.

    Returns:
        Curves over time, one point a step; `friction` is Q, against the motion.
        `regime`: see `relaxation.regime_of`. `period`, `slip_time`, `stick_time` and `max_speed` are those of the last
        cycles that are alike (`relaxation.last_cycles`), looked for before the end or, of a load that turns, before its
        last turn; without such cycles the first three are absent, and `max_speed` is that of the whole run. Slips and
        stops are found within their steps (`relaxation.read_events`). `stops_per_half_period` is the mean over the
        load's whole half periods after the first, or that of the first alone; absent under a ramp.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
    """
    damping, kinetic = parameters["damping_ratio"], parameters["kinetic_friction"]
    friction = DryFriction([0.0, 1.0], (1.0 + parameters["static_excess"]) * kinetic, kinetic, rest_speed=REST_SPEED)
    system = FrictionSystem(
        np.array([[0.0, 1.0], [-1.0, -2.0 * damping]]), np.array([[0.0], [1.0]]), frictions=[friction]
    )
    motion, cycles, period, alike = pull(system, parameters)
    history, slip_time, stick_time = motion.run, None, None
    if cycles is not None:
        events = cycles.ravel()[: -cycles.shape[1]]
        lasting, slips = motion.time[events + 1] - motion.time[events], motion.slips[events]
        slip_time, stick_time = float(lasting[slips].mean()), float(lasting[~slips].mean())
    return Result({
        "time": history.time,
        "position": history.state[:, 0],
        "velocity": history.state[:, 1],
        "friction": history.force[:, 0],
        "regime": regime_of(motion, parameters, [1.0], 2.0 * math.pi),
        "period": period,
        "slip_time": slip_time,
        "stick_time": stick_time,
        "max_speed": float(np.abs(history.state[alike, 1]).max()),
        "first_slip_time": float(motion.time[0]) if len(motion.time) else None,
        "stops_per_half_period": _stops_per_half_period(motion, parameters),
    })  # fmt: skip


def _stops_per_half_period(motion: StickSlipMotion, parameters: Mapping[str, Any]) -> float | None:
    whole = whole_halves(parameters)
    if whole == 0:
        return None
    half = math.pi / parameters["load_frequency"]
    first = 1 if whole > 1 else 0
    stops = motion.time[~motion.slips]
    return float(((stops >= first * half) & (stops < whole * half)).sum() / (whole - first))


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws displacement, speed and friction over time, and the speed over the force of the spring that is left.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns tau, q, qdot and Q of a reference curve, where present.
    """
    axes = figure.subplots(2, 2)
    curves = (
        (axes[0, 0], "position", "q", "displacement q"),
        (axes[0, 1], "velocity", "qdot", "speed q'"),
        (axes[1, 0], "friction", "Q", "friction Q"),
    )
    for panel, name, theirs, label in curves:
        draw_curve(panel, result["time"], result[name], reference, theirs)
        panel.set_xlabel("time τ")
        panel.set_ylabel(label)
    load, frequency, phase = parameters["load"], parameters["load_frequency"], axes[1, 1]
    phase.plot(load_at(load, frequency, np.asarray(result["time"])) - result["position"], result["velocity"])
    for table in reference:
        if {"tau", "q", "qdot"} <= set(table.columns):
            pull = load_at(load, frequency, table.columns["tau"]) - table.columns["q"]
            phase.plot(pull, table.columns["qdot"], "--", color="black", linewidth=0.9)
    phase.set_xlabel("pull P - q")
    phase.set_ylabel("speed q'")
    phase.grid(alpha=0.3)
    axes[0, 0].legend(fontsize="small")
    if result["period"] is not None:
        for panel in (axes[0, 1], axes[1, 0]):
            zoom(panel, result["time"][-1] - 4.0 * result["period"], result["time"][-1])
    figure.suptitle(
        f"one mass, {load}: ζ = {parameters['damping_ratio']:g}, R = {parameters['kinetic_friction']:g}, "
        f"f₁ = {parameters['static_excess']:g}: {result['regime']}"
    )
