"""The hydraulic crane against its converged reference, and against its equations by Radau on other parameters.

The equations are the published ones, implemented here for a boom and a point mass on a rod, without the simulator.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from hydraulic_crane_equations import (
    BOOM,
    GRAVITY,
    MASS,
    ROD,
    START,
    force_of,
    length_and_lever,
    oil_rates,
    start_pressures,
)
from scipy.integrate import solve_ivp
from shipped import reference_curve

from grouser import ParameterError, experiments

# Tolerances of methods in the published case: speeds 0.2 %, pressures 0.5 %. A tenth of the boom's way, 0.45 rad,
# and of what the pressures change by, 3 MPa; the payload swings with twice its amplitude, 0.35 rad, to either side.
ANGLE, PAYLOAD, PRESSURE, FORCE = 1e-4, 4e-4, 3e4, 0.02

COMMAND = [[0, 0], [0.5, 0], [2, 0.6], [7, 0.6], [9, -1], [10, 0]]


def rates(time, state, payload, command):
    boom, phi, boom_rate, phi_rate, spool, p1, p2 = state
    length, lever = length_and_lever(boom)
    speed = lever * boom_rate
    # boom about the pivot; payload at (cos boom + r sin phi, sin boom - r cos phi)
    coupling = payload * BOOM * ROD * math.sin(phi - boom)
    turning = payload * BOOM * ROD * math.cos(phi - boom)
    mass = [[MASS * BOOM**2 / 3 + payload * BOOM**2, coupling], [coupling, payload * ROD**2]]
    right = [
        lever * force_of(length, speed, p1, p2)
        - (MASS / 2 + payload) * BOOM * GRAVITY * math.cos(boom)
        - turning * phi_rate**2,
        turning * boom_rate**2 - payload * GRAVITY * ROD * math.sin(phi),
    ]
    accelerations = np.linalg.solve(mass, right)
    return [boom_rate, phi_rate, *accelerations, *oil_rates(time, length, speed, spool, p1, p2, command)]


def reference(payload, command, times):
    """Boom, payload, their rates, spool and pressures at the times, (7, times)."""
    start = [START, 0.0, 0.0, 0.0, 0.0, *start_pressures((MASS / 2 + payload) * GRAVITY)]
    corners = sorted({0.0, times[-1], *(float(t) for t, _ in command if t < times[-1])})
    found = np.empty((7, len(times)))
    for first, last in pairwise(corners):
        inside = (times >= first) & (times <= last)
        result = solve_ivp(
            *(rates, (first, last), start, "Radau"),
            t_eval=np.union1d(times[inside], [last]),
            args=(payload, command),
            rtol=1e-8,
            atol=[1e-10, 1e-10, 1e-9, 1e-9, 1e-10, 1e-1, 1e-1],
        )
        assert result.success
        found[:, inside] = result.y[:, np.isin(result.t, times[inside])]
        start = result.y[:, -1]
    return found


@pytest.fixture(scope="module")
def published():
    return reference_curve("hydraulic_crane.csv")


def test_crane_reference_equations_give_the_published_curve(published):
    times = published["t"][:1001:50]
    found = reference(100.0, COMMAND, times)
    for curve, name, tolerance in zip(
        found,
        ("theta", "phi", "thetad", "phid", "U", "p1", "p2"),
        (1e-7, 1e-6, 1e-6, 1e-5, 1e-9, 20.0, 20.0),
        strict=True,
    ):
        # the two published runs differ by 1.5e-11 rad and 0.08 Pa, ours by its own tolerance
        assert np.abs(curve - published[name][:1001:50]).max() < tolerance


@pytest.mark.parametrize("scheme", ["implicit", "semi_implicit"])
@pytest.mark.parametrize("step", [5e-4, 1e-3, 5e-3])
def test_crane_follows_the_published_motion(published, step, scheme):
    result = experiments.run("hydraulic_crane", step=step, scheme=scheme, duration=10.0)
    every = round(0.01 / step)
    rows = slice(0, 1001)

    def error(ours, theirs):
        return np.abs(np.asarray(result[ours])[::every] - published[theirs][rows]).max()

    assert error("boom_angle", "theta") < ANGLE
    assert error("payload_angle", "phi") < PAYLOAD
    # the first-order lag leads by half a step
    assert error("spool", "U") < 2 * step
    assert error("pressure_1", "p1") < PRESSURE
    assert error("pressure_2", "p2") < PRESSURE
    assert error("cylinder_length", "s") < ANGLE * 0.5
    # the mean force of a step is that at its middle, except where the piston enters and leaves the buffer
    smooth = np.all([np.abs(published["t"][rows] - event) > 0.1 for event in (5.63, 8.08)], axis=0)
    middle = np.interp(published["t"][rows] - 0.5 * step, published["t"][rows], published["F"][rows])
    force = np.abs(np.asarray(result["cylinder_force"])[::every] / middle - 1.0)
    assert force[smooth].max() < FORCE
    assert result["energy_error"] < 1e-3


# Other loads and commands: quicker, down, short pulses.
CASES = {
    "heavy": (180.0, COMMAND),
    "light and quick": (40.0, [[0, 0], [0.2, 0], [0.25, 1.0], [2.0, 1.0], [2.1, 0.0]]),
    # its dead centre, boom and cylinder in line, is at zero
    "down": (100.0, [[0, 0], [0.3, 0], [0.3, -0.5], [2.5, -0.5], [2.7, 0.0]]),
    "pulses": (120.0, [[0, 0], [0.5, 0], [0.5, 0.8], [1.0, 0.8], [1.0, -0.8], [1.5, -0.8], [1.5, 0.3], [3.0, 0.3]]),
}


@pytest.mark.parametrize("scheme", ["implicit", "semi_implicit"])
@pytest.mark.parametrize("case", CASES)
def test_crane_follows_other_motions(case, scheme):
    payload, command = CASES[case]
    result = experiments.run("hydraulic_crane", payload_mass=payload, command=command, duration=5.0, scheme=scheme)
    times = np.asarray(result["time"])
    # time steps begin at the steps of the command
    boom, phi, _, _, _, p1, p2 = reference(
        payload, [[t + 1e-9 * k, u] for k, (t, u) in enumerate(command)], times[::10]
    )
    assert np.abs(np.asarray(result["boom_angle"])[::10] - boom).max() < ANGLE
    assert np.abs(np.asarray(result["payload_angle"])[::10] - phi).max() < PAYLOAD * 5
    for ours, theirs in (("pressure_1", p1), ("pressure_2", p2)):
        assert np.sqrt(np.mean((np.asarray(result[ours])[::10] - theirs) ** 2)) < PRESSURE


def test_crane_error_falls_with_the_step(published):
    """The published curve is exact to 1.5e-11 rad: the remaining error is that of the step."""
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        result = experiments.run("hydraulic_crane", step=step, duration=5.0)
        at = slice(0, 501, 2)
        errors.append(
            np.abs(np.interp(published["t"][at], result["time"], result["boom_angle"]) - published["theta"][at])
        )
    sizes = [float(error.max()) for error in errors]
    assert sizes[0] > 1.5 * sizes[1] > 1.5**2 * sizes[2]


def test_invalid_crane_parameters_are_refused():
    with pytest.raises(ParameterError, match="scheme"):
        experiments.run("hydraulic_crane", scheme="split")
    with pytest.raises(ParameterError, match="payload_mass"):
        experiments.run("hydraulic_crane", payload_mass=0.0)
    with pytest.raises(ParameterError, match="duration"):
        experiments.run("hydraulic_crane", duration=1e-4)
