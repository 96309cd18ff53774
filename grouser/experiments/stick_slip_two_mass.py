"""Two masses with dry friction on springs in a row, one of them pulled: relaxation self-oscillations.

       q1'' + 2 zeta q1' + q1 + al (q1 - q2) + Q1 = P1(tau)
    mu q2'' + 2 zeta q2' +      al (q2 - q1) + Q2 = P2(tau)

After Sukhomlinov and Mikhailova (2003, 2004), in the quantities of `stick_slip_one_mass`, those of the first mass.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.linalg import eigh

from grouser.experiments.drawing import Reference, zoom
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.relaxation import (
    REST_SPEED,
    common_parameters,
    draw_curve,
    pull,
    regime_of,
)
from grouser.studies.friction.system import DryFriction, FrictionSystem

DESCRIPTION = "two masses on springs stick and slip (Sukhomlinov and Mikhailova, 2003)"

PARAMETERS = {
    "load_on": Parameter(1, "-", "mass that is pulled", choices=(1, 2)),
    "coupling": positive(1.0, "-", "al, spring between the masses, by that of the first"),
    "mass_ratio": positive(1.0, "-", "mu, second mass by the first"),
    **common_parameters(damping_ratio=0.06, kinetic_friction=15.0, load_frequency=0.01, step=0.002, duration=500.0),
}
REFERENCE = {
    "tau": "time",
    **{f"q{k + 1}": f"positions[{k}]" for k in range(2)},
    **{f"v{k + 1}": f"velocities[{k}]" for k in range(2)},
}


def run(**parameters: Any) -> Result:
    """Pulls the masses from rest, by the implicit Euler scheme.

    Returns:
        Curves over time, one point a step, positions and velocities of both masses in columns. `events` are slips and
        stops of mass 1 or 2, found within their steps (`relaxation.read_events`). `period` and the greatest speeds are
        those of the last cycles that are alike (`relaxation.last_cycles`), looked for before the end or, of a load that
        turns, before its last turn; without such cycles `period` is absent and the speeds are those of the whole run.
        `regime`: see `relaxation.regime_of`.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
    """
    system, stiffness = _make_system(parameters)
    motion, _, period, alike = pull(system, parameters)
    history = motion.run
    fastest = np.abs(history.state[alike, 2:]).max(axis=0)
    slowest = math.sqrt(eigh(stiffness, np.diag([1.0, parameters["mass_ratio"]]), eigvals_only=True)[0])
    compliance = np.linalg.solve(stiffness, np.eye(2)[parameters["load_on"] - 1])
    return Result({
        "time": history.time,
        "positions": history.state[:, :2],
        "velocities": history.state[:, 2:],
        "event_times": motion.time,
        "events": [
            [int(mass) + 1, "slip" if slips else "stop"] for mass, slips in zip(motion.mass, motion.slips, strict=True)
        ],
        "period": period,
        "max_speed_1": float(fastest[0]),
        "max_speed_2": float(fastest[1]),
        "regime": regime_of(motion, parameters, compliance, 2.0 * math.pi / slowest),
    })  # fmt: skip


def _make_system(parameters: Mapping[str, Any]) -> tuple[FrictionSystem, np.ndarray]:
    """The system, and the stiffness of its springs."""
    coupling, kinetic = parameters["coupling"], parameters["kinetic_friction"]
    stiffness = np.array([[1.0 + coupling, -coupling], [-coupling, coupling]])
    damping = 2.0 * parameters["damping_ratio"] * np.eye(2)
    mass = np.array([1.0, 1.0, 1.0, parameters["mass_ratio"]])
    static = (1.0 + parameters["static_excess"]) * kinetic
    frictions = [
        DryFriction(np.eye(4)[2 + i], static, kinetic, rest_speed=REST_SPEED, name=f"mass {i + 1}") for i in range(2)
    ]
    matrix = np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness, -damping]])
    return FrictionSystem(matrix, np.eye(4)[:, [1 + parameters["load_on"]]], mass, frictions), stiffness


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws displacement and speed of both masses over time.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns tau, q1, v1, q2 and v2 of a reference curve, where present.
    """
    axes = figure.subplots(2, 2)
    for mass in range(2):
        for panel, name, theirs, label in (
            (axes[0, mass], "positions", f"q{mass + 1}", f"displacement q{mass + 1}"),
            (axes[1, mass], "velocities", f"v{mass + 1}", f"speed q{mass + 1}'"),
        ):
            draw_curve(panel, result["time"], np.asarray(result[name])[:, mass], reference, theirs)
            panel.set_xlabel("time τ")
            panel.set_ylabel(label)
    axes[0, 0].legend(fontsize="small")
    if result["period"] is not None:
        for panel in axes[1]:
            zoom(panel, result["time"][-1] - 2.0 * result["period"], result["time"][-1])
    figure.suptitle(
        f"two masses, {parameters['load']} on {parameters['load_on']}: ζ = {parameters['damping_ratio']:g}, "
        f"R = {parameters['kinetic_friction']:g}, f₁ = {parameters['static_excess']:g}: {result['regime']}"
    )
