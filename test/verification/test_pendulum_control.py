"""Attitude control of a body on a pivot: the published laws (Tian and Ge, 2015; Zou and Ge, 2013), PD, and tracking."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp
from shipped import reference_rows, reference_values

from grouser import DivergenceError, ParameterError, experiments
from grouser.experiments.drawing import ReferenceTable
from grouser.physics.base.spatial import matrix, quaternion_exponential, quaternion_product
from grouser.references.reader import read_columns
from grouser.resources import share_path
from grouser.studies.attitude import tracking
from grouser.studies.attitude.control import LAWS, TARGETS, Gains, control_torque
from grouser.studies.attitude.pivoted_body import PivotedBody, angular_acceleration, gravity_direction
from grouser.studies.attitude.rodrigues import rate_of

LAW_FILES = ("energy", "sliding_mode")
MOMENT = 30.0 * 9.81 * 0.5
SLIDING = {
    "controller": "sliding_mode",
    "offset_sign": 1,
    "direction": [math.sin(0.5), 0.0, math.cos(0.5)],
    "angular_velocity": [0.5, -0.4, 0.3],
    "duration": 20.0,
}


def control(**parameters):
    return experiments.run("pendulum_control", **parameters)


def at(result, name, time):
    """A result at a time that is one of its points."""
    k = int(np.argmin(np.abs(result["time"] - time)))
    assert result["time"][k] == pytest.approx(time, abs=1e-9)
    return result[name][k]


@pytest.fixture(scope="module")
def published():
    return control()


@pytest.fixture(scope="module")
def sliding():
    return control(**SLIDING)


@pytest.fixture(scope="module")
def references():
    return {law: read_columns(share_path("config", "references", f"pendulum_control_{law}.csv")) for law in LAW_FILES}


def columns(reference, letter):
    return np.column_stack([reference[f"{letter}{i}"] for i in (1, 2, 3)])


def test_published_energy_law(published):
    # all to the digits that they are given with
    expected = reference_values("pendulum_control", "energy")
    for time, sigma in reference_rows("pendulum_control", "energy").items():
        assert at(published, "sigma", time) == pytest.approx(sigma, abs=1.5e-8)
    assert at(published, "angular_velocity", 100.0) == pytest.approx([0.00642, -0.00578, 0.00023], abs=5e-6)
    step = published["time"][1]
    assert published["settling_time_5_percent"] == pytest.approx(expected["settling_time_5_percent"], abs=0.005 + step)
    assert published["settling_time_2_percent"] == pytest.approx(expected["settling_time_2_percent"], abs=0.005 + step)
    turning = np.abs(published["angular_velocity"]).max(axis=1)
    assert published["time"][np.flatnonzero(turning >= 0.05)[-1] + 1] == pytest.approx(73.30, abs=0.005 + step)
    assert published["lyapunov"][0] == pytest.approx(expected["lyapunov[0]"], abs=5e-7)
    assert np.diff(published["lyapunov"]).max() < 0.0
    assert np.linalg.norm(published["sigma"], axis=1).max() == pytest.approx(2.589, abs=5e-4)
    # The published peak of the torque is that of samples 0.1 s apart; between them it is higher.
    every = round(0.1 / step)
    assert np.abs(published["torque"][::every]).max() == pytest.approx(167.8, abs=0.05)
    assert published["max_torque"] == np.abs(published["torque"]).max() == pytest.approx(168.69, abs=0.01)
    assert published["reaching_times"] is None


def test_energy_law_is_the_reference_curve_to_the_order_of_its_steps(published, references):
    """Of fourth order: the error is a fifteenth of the difference to steps twice as long; the curve has 12 digits."""
    coarse, reference = control(step=0.01), references["energy"]
    every = round(0.1 / published["time"][1])
    for name, letter in (("sigma", "s"), ("angular_velocity", "w")):
        difference = np.abs(published[name][::2] - coarse[name]).max()
        error = np.abs(published[name][::every] - columns(reference, letter)).max()
        assert error < 1.2 * difference / 15.0
        assert np.abs(coarse[name][:: every // 2] - columns(reference, letter)).max() > 12.0 * error
    assert published["lyapunov"][::every] == pytest.approx(reference["V"], abs=2e-7)


def test_published_sliding_mode(sliding, references):
    # what they are by the law, whose layer they leave out
    expected = [math.log(1.0 + 5.0 * s) for s in (0.5, math.sin(0.5) - 0.4, 0.3)]
    assert expected == pytest.approx([1.252763, 0.334418, 0.916291], abs=5e-7)
    assert sliding["reaching_times"] == pytest.approx(expected, abs=1e-9)
    angles = reference_rows("pendulum_control", "sliding_mode")
    for time, digits in ((2.0, 1e-6), (5.0, 1e-7), (10.0, 5e-8)):
        assert at(sliding, "angle_to_target", time) == pytest.approx(angles[time][0], abs=digits)
    far = np.flatnonzero(sliding["angle_to_target"] >= 0.01)
    assert sliding["time"][far[-1] + 1] == pytest.approx(6.65, abs=0.005 + sliding["time"][1])
    reference = references["sliding_mode"]
    every = round(0.02 / sliding["time"][1])
    # a step that ends in the layer is off by a small share of it, 1e-3 rad/s
    assert sliding["angular_velocity"][::every] == pytest.approx(columns(reference, "w"), abs=2e-5)
    assert sliding["angle_to_target"][::every] == pytest.approx(reference["angle"], abs=2e-5)
    # on the surface the tangent of half the angle decays exponentially
    on = sliding["time"] > 1.5
    tangent = np.log(np.tan(0.5 * sliding["angle_to_target"][on]))[:1000]
    slope = np.polyfit(sliding["time"][on][:1000], tangent, 1)[0]
    # s of up to 1e-3 rad/s is left in the layer when it is entered, and decays within 5 ms
    assert slope == pytest.approx(-1.0, abs=1e-4)
    assert sliding["settling_time_5_percent"] < sliding["settling_time_2_percent"] < 6.65
    # V falls to what round-off makes of angular velocities of 1 rad/s
    assert np.diff(sliding["lyapunov"]).max() < 1e-14


@pytest.mark.parametrize("sign", [-1, 1])
def test_sliding_mode_is_independent_of_gravity(sliding, sign):
    """Gravity is cancelled: the body hangs as it stands, and the reference's angle is that to the opposite axis."""
    hanging = control(**{**SLIDING, "offset_sign": sign, "target": "hanging", "duration": 10.0})
    assert at(hanging, "angle_to_target", 10.0) < 1e-3
    stands = control(**{**SLIDING, "offset_sign": -SLIDING["offset_sign"], "duration": 10.0})
    assert stands["angle_to_target"] == pytest.approx(sliding["angle_to_target"][: len(stands["time"])], abs=1e-9)


def linearised(target, sign, compensated, law="energy"):
    """Eigenvalues of the controlled body about a target, by central differences."""
    body, gains = PivotedBody((15.0, 18.0, 20.0), (0.0, 0.0, sign * MOMENT)), Gains(gravity_compensation=compensated)

    def slope(state):
        sigma, omega = tuple(state[:3].tolist()), tuple(state[3:].tolist())
        torque = control_torque(LAWS[law], body, gains, sigma, TARGETS[target], omega)
        return np.array([*rate_of(sigma, omega), *angular_acceleration(body, gravity_direction(sigma), omega, torque)])

    rest = np.array([*TARGETS[target], 0.0, 0.0, 0.0])
    steps = 1e-5 * np.eye(6)
    return np.linalg.eigvals(np.column_stack([(slope(rest + d) - slope(rest - d)) / 2e-5 for d in steps]))


def test_modes_of_the_published_target():
    modes = linearised("inverted", -1, False)
    expected = [-0.0625 + 3.262j, -0.0521 + 2.978j, -0.0469 + 0.789j]
    for mode in expected:
        assert np.abs(modes - mode).min() < 1e-3
        assert np.abs(modes - mode.conjugate()).min() < 1e-3


def test_published_energy_law_does_not_stabilise_the_inverted_body():
    modes = linearised("inverted", 1, False)
    assert sorted(modes.real)[-2:] == pytest.approx([2.68, 2.93], abs=5e-3)
    near = control(offset_sign=1, sigma=[1.001, 0.0, 0.0], angular_velocity=[0.0, 0.0, 0.0], duration=10.0)
    assert near["angle_to_target"][0] < 3e-3
    assert near["settling_time_5_percent"] is None
    # It departs as exp(2.93 t) while it is near.
    leaving = (near["angle_to_target"] > 0.01) & (near["angle_to_target"] < 0.1) & (near["time"] < 3.0)
    rate = np.polyfit(near["time"][leaving], np.log(near["angle_to_target"][leaving]), 1)[0]
    assert rate == pytest.approx(2.93, rel=0.01)
    assert near["angle_to_target"].max() > 1.0
    assert np.diff(near["lyapunov"]).max() < 1e-12


def test_gravity_compensation_stabilises_the_inverted_body():
    assert linearised("inverted", 1, True).real.max() < 0.0
    stands = control(offset_sign=1, gravity_compensation=True)
    assert stands["settling_time_2_percent"] < 70.0
    assert stands["angle_to_target"][-1] < 0.01
    assert np.diff(stands["lyapunov"]).max() < 0.0


@pytest.mark.parametrize(
    "parameters",
    [
        {"offset_sign": 1, "target": "hanging", "sigma": [0.3, 0.2, -0.1], "damping_gain": 15.0},
        {"offset_sign": -1, "target": "hanging", "gravity_compensation": True, "damping_gain": 10.0},
        {"controller": "pd"},
        {"controller": "pd", "offset_sign": 1, "gravity_compensation": True},
        {"controller": "pd", "offset_sign": 1, "target": "hanging", "sigma": [0.5, 0.2, -0.1]},
        {"controller": "pd", "inertia": [15.0, 15.0, 20.0], "damping_gain": 6.0},
    ],
)
def test_other_bodies_and_targets_come_to_rest(parameters):
    result = control(**parameters)
    target = TARGETS[parameters.get("target", "inverted")]
    settled = result["time"] >= result["settling_time_5_percent"]
    assert np.abs(result["sigma"][settled] - target).max() < 0.05
    # at the end only by the round-off of energies of some 100 J
    assert np.diff(result["lyapunov"]).max() < 1e-12


def test_an_undamped_body_keeps_its_energy():
    """V is constant without damping, but for what steps of fourth order lose: 2^4 times less when they are halved."""
    losses = []
    for step in (0.01, 0.005):
        value = control(damping_gain=0.0, duration=20.0, step=step)["lyapunov"]
        losses.append(np.abs(value - value[0]).max())
    assert losses[0] / losses[1] > 14.0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"length": 0.0}, "length"),
        ({"length": 0.8}, "inertia .*about the pivot.*19.2.*are missing"),
        ({"mass": -1.0}, "mass"),
        ({"inertia": [15.0, 18.0, 34.0]}, "inertia .*exceeds the other two"),
        ({"inertia": [15.0, 18.0]}, "inertia .*three finite numbers"),
        ({"inertia": [15.0, 18.0, 0.0]}, "inertia"),
        ({"offset_sign": 0}, "offset_sign"),
        ({"controller": "lqr"}, "controller .*energy or sliding_mode or pd"),
        ({"target": "sideways"}, "target .*inverted or hanging"),
        ({"direction": [0.0, 0.0, 0.0]}, "direction .*not zero"),
        ({"sigma": [0.0, 0.0, "north"]}, "sigma .*three finite numbers"),
        ({"angular_velocity": [0.0, math.nan, 0.0]}, "angular_velocity"),
        ({"energy_gain": 0.0}, "energy_gain"),
        ({"damping_gain": -0.1}, "damping_gain"),
        ({"controller": "pd", "sigma": [0.0, 0.0, 0.2]}, "sigma .*opposite"),
        ({"controller": "pd", "direction": [0.0, 0.0, 1.0]}, "direction .*opposite"),
        ({"duration": 0.005}, "duration .*two steps"),
        ({"duration": 1e9}, "duration .*1e.06 steps"),
    ],
)
def test_invalid_control_parameters_are_refused_by_name(parameters, words):
    with pytest.raises(ParameterError, match=words):
        control(**parameters)


def test_too_long_control_steps_raise_divergence_error():
    with pytest.raises(DivergenceError, match="diverged at t = "):
        control(angular_velocity=[300.0, 200.0, 100.0], step=0.1)


@pytest.mark.parametrize("law", ["energy", "sliding_mode"])
def test_pendulum_control_plot_has_the_reference_beside_every_curve(published, sliding, references, law):
    result = published if law == "energy" else sliding
    parameters = {"controller": law, "target": "inverted"}
    figure = Figure()
    experiments.load("pendulum_control").plot(parameters, result, figure, (ReferenceTable(references[law]),))
    dashed = [line for panel in figure.axes for line in panel.lines if line.get_linestyle() == "--"]
    assert len(dashed) == {"energy": 6, "sliding_mode": 4}[law]


def reference_at(time):
    """A tumbling motion: a turn about z, then one about x, with their rates and accelerations."""
    heading, tilt = 0.7 * time, 1.2 * math.sin(0.9 * time)
    tilt_rate, tilt_acceleration = 1.08 * math.cos(0.9 * time), -0.972 * math.sin(0.9 * time)
    attitude = quaternion_product(*quaternion_exponential(0.0, 0.0, heading), *quaternion_exponential(tilt, 0.0, 0.0))
    rate = np.array([tilt_rate, 0.7 * math.sin(tilt), 0.7 * math.cos(tilt)])
    acceleration = np.array([tilt_acceleration, 0.7 * tilt_rate * math.cos(tilt), -0.7 * tilt_rate * math.sin(tilt)])
    return tracking.Reference(np.array(attitude), rate, acceleration)


def test_reference_motion_is_consistent():
    """Its rate and acceleration are those of its attitude."""
    for time in (0.0, 0.6, 2.9):
        ahead, here, behind = (reference_at(time + d) for d in (1e-5, 0.0, -1e-5))
        spin = matrix(here.attitude).T @ (matrix(ahead.attitude) - matrix(behind.attitude)) / 2e-5
        assert [spin[2, 1], spin[0, 2], spin[1, 0]] == pytest.approx(here.angular_velocity, abs=1e-9)
        change = (ahead.angular_velocity - behind.angular_velocity) / 2e-5
        assert change == pytest.approx(here.angular_acceleration, abs=1e-9)


def test_tracking_of_a_moving_attitude_converges():
    """From 170 degrees off: errors die out at no less than half the rate, c / 2 J, of the slowest axis alone."""
    body, stiffness, damping = PivotedBody((15.0, 18.0, 20.0), (0.0, 0.0, MOMENT)), 80.0, 60.0
    duration, slowest = 20.0, 60.0 / (2.0 * 20.0)

    def slope(time, state):
        attitude, omega = state[:4] / np.linalg.norm(state[:4]), state[4:]
        torque = tracking.control_torque(body, stiffness, damping, reference_at(time), attitude, omega)
        rate = 0.5 * np.array(quaternion_product(*attitude, *omega, 0.0))
        gamma = tuple(matrix(attitude)[2])
        return np.array([*rate, *angular_acceleration(body, gamma, tuple(omega), tuple(torque))])

    off = quaternion_exponential(*(np.radians(170.0) * np.array([2.0, -3.0, 6.0]) / 7.0))
    start = np.array([*quaternion_product(*reference_at(0.0).attitude, *off), 1.0, -1.0, 0.5])
    times = np.linspace(0.0, duration, 401)
    motion = solve_ivp(slope, (0.0, duration), start, "DOP853", times, rtol=1e-10, atol=1e-12)
    values, errors = [], []
    for time, state in zip(times, motion.y.T, strict=True):
        attitude = state[:4] / np.linalg.norm(state[:4])
        turning, rate = tracking.errors(reference_at(time), attitude, state[4:])
        together = 0.5 * (np.trace(matrix(reference_at(time).attitude).T @ matrix(attitude)) - 1.0)
        values.append(0.5 * rate @ (body.inertia * rate) + stiffness * (1.0 - together))
        errors.append(max(np.abs(turning).max(), np.abs(rate).max()))
    assert errors[0] > 1.0
    # while V is above the round-off of its cosine
    assert np.diff(np.array(values)[np.array(values) > 1e-9]).max() < 0.0
    assert errors[-1] < errors[0] * math.exp(-0.5 * slowest * duration)
