"""Pendulums of a point mass on a rod, planar and spherical: elliptic integrals, quadrature, order, invariants."""

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.special import ellipk

from grouser import ParameterError, cli, experiments, simulate_pendulum
from grouser.physics.base.errors import ConvergenceError


def exact_period(length, gravity, amplitude_deg):
    return 4.0 * math.sqrt(length / gravity) * ellipk(math.sin(0.5 * math.radians(amplitude_deg)) ** 2)


def test_period_by_the_elliptic_integral():
    assert exact_period(1.0, 9.81, 60.0) == pytest.approx(2.152874666881, rel=1e-12)


@pytest.mark.parametrize(
    ("length", "gravity", "amplitude"), [(1.0, 9.81, 60.0), (0.3, 1.62, 5.0), (2.0, 9.81, 120.0), (1.0, 9.81, 179.0)]
)
def test_planar_pendulum_periods(length, gravity, amplitude):
    """Second order. A step underestimates the kinetic energy by the share (rate h)^2 / 12, and overestimates the force,
    of frequency omega, by (omega h)^2 / 12 at most: the period's error is at most the sum of both."""
    exact = exact_period(length, gravity, amplitude)
    case = {"length": length, "gravity": gravity, "amplitude_deg": amplitude, "duration": 4.5 * exact}
    errors = [experiments.run("planar_pendulum", step=step, **case)["period"] - exact for step in (0.02, 0.01)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.03)
    fine = experiments.run("planar_pendulum", **case)
    highest = math.radians(amplitude)
    fastest = 2.0 * gravity / length * (1.0 - math.cos(highest))
    assert fine["period"] == pytest.approx(exact, rel=(fastest + gravity / length) * 2e-4**2 / 12.0)
    assert fine["angle"].max() == pytest.approx(highest, rel=1e-6)
    assert fine["energy"][0] == pytest.approx(-gravity * length * math.cos(highest), rel=1e-12)


def test_planar_pendulum_energy_error_is_bounded():
    errors = [experiments.run("planar_pendulum", step=step)["max_energy_error"] for step in (0.02, 0.01)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.01)
    long = experiments.run("planar_pendulum", step=0.01, duration=10_000.0)
    # one swing contains the largest value to within the spacing of its points
    assert long["max_energy_error"] == pytest.approx(errors[1], rel=0.01)


def test_planar_pendulum_stays_exactly_in_its_plane():
    motion = simulate_pendulum([0.6, 0.0, -0.8], [0.8, 0.0, 0.6], 0.01, 10_000)
    assert (motion.position[:, 1] == 0.0).all() and motion.max_vertical_momentum_error == 0.0
    assert np.linalg.norm(motion.position, axis=1) == pytest.approx(1.0, abs=1e-15)


def conserved(length, gravity, polar_angle_deg, azimuth_rate):
    """Energy and vertical momentum of a unit of mass at the start."""
    angle = math.radians(polar_angle_deg)
    square = (length * math.sin(angle)) ** 2
    return 0.5 * square * azimuth_rate**2 - gravity * length * math.cos(angle), square * azimuth_rate


def round_trip(length, gravity, polar_angle_deg, azimuth_rate):
    """Period of the height, its other bound, and the change of azimuth in a period, by quadrature.

    With u = z / l: u'^2 = 2 (E / l^2 - g u / l) (1 - u^2) - (M / l^2)^2, a cubic; the azimuth's rate is
    M / (l^2 (1 - u^2)).
    """
    energy, momentum = conserved(length, gravity, polar_angle_deg, azimuth_rate)
    c, e, m = 2.0 * gravity / length, 2.0 * energy / length**2, momentum / length**2
    roots = np.sort(np.roots([c, -e, -c, e - m * m]).real)
    low, high, third = roots

    def u(s):
        return low + (high - low) * math.sin(s) ** 2

    def time(s):
        return 4.0 / math.sqrt(c * (third - u(s)))

    period = quad(time, 0.0, 0.5 * math.pi, epsabs=1e-14)[0]
    azimuth = quad(lambda s: time(s) * m / (1.0 - u(s) ** 2), 0.0, 0.5 * math.pi, epsabs=1e-13)[0]
    return period, length * low, length * high, azimuth


CASES = [
    {"length": 1.0, "gravity": 9.81, "polar_angle_deg": 60.0, "azimuth_rate": 2.0},
    {"length": 0.5, "gravity": 9.81, "polar_angle_deg": 30.0, "azimuth_rate": -8.0},
    {"length": 2.0, "gravity": 1.62, "polar_angle_deg": 110.0, "azimuth_rate": 1.5},
]


@pytest.mark.parametrize("parameters", CASES)
def test_spherical_pendulum_against_quadrature(parameters):
    """Heights within the bounds of the quadrature; the azimuth after ten periods of the height; second order."""
    period, low, high, azimuth = round_trip(**parameters)
    errors = []
    for steps in (4000, 8000):
        result = experiments.run("spherical_pendulum", step=10.0 * period / steps, duration=10.0 * period, **parameters)
        position = result["position"]
        radius = math.hypot(*position[0, :2])
        turned = np.array([radius * math.cos(10.0 * azimuth), radius * math.sin(10.0 * azimuth), position[0, 2]])
        errors.append(np.abs(position[-1] - turned).max())
        assert result["time"][-1] == pytest.approx(10.0 * period)
        assert position[:, 2].min() == pytest.approx(low, abs=1e-3 * parameters["length"])
        assert position[:, 2].max() == pytest.approx(high, abs=1e-3 * parameters["length"])
        energy, momentum = conserved(**parameters)
        assert result["energy"][0] == pytest.approx(energy, rel=1e-13)
        assert result["max_vertical_momentum_error"] < 1e-13 * max(1.0, abs(momentum))
        assert result["max_constraint_error"] < 1e-15
        assert np.linalg.norm(position, axis=1) == pytest.approx(parameters["length"], rel=1e-15)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_conical_pendulum_keeps_its_height():
    """At the rate sqrt(g / (l cos)) the height is constant; the scheme's rate for that differs in second order."""
    angle = math.radians(40.0)
    rate = math.sqrt(9.81 / math.cos(angle))
    motion = experiments.run("spherical_pendulum", polar_angle_deg=40.0, azimuth_rate=rate, step=1e-4)
    assert np.ptp(motion["position"][:, 2]) < 1e-7


def test_pendulum_curves_against_dop853():
    start, velocity = np.array([0.6, 0.0, -0.8]), np.array([0.4, 1.5, 0.3])

    def slope(time, y):
        position, speed = y[:3], y[3:]
        weight = np.array([0.0, 0.0, -9.81])
        # the rod's tension keeps the length
        return np.concatenate([speed, weight - (speed @ speed + weight @ position) * position])

    exact = solve_ivp(slope, (0.0, 3.0), np.concatenate([start, velocity]), method="DOP853", rtol=1e-12, atol=1e-13)
    errors = []
    for step in (2e-3, 1e-3):
        motion = simulate_pendulum(start, velocity, step, round(3.0 / step))
        errors.append(np.concatenate([motion.position[-1], motion.velocity[-1]]) - exact.y[:, -1])
    assert np.abs(errors[1]).max() < 1e-4
    assert np.abs(4.0 * errors[1] - errors[0]).max() / 3.0 < 0.01 * np.abs(errors[1]).max()


def test_bad_pendulum_parameters_are_rejected():
    for experiment, name, value in (
        ("planar_pendulum", "length", 0.0),
        ("planar_pendulum", "gravity", 0.0),
        ("planar_pendulum", "amplitude_deg", 180.0),
        ("planar_pendulum", "amplitude_deg", 0.0),
        ("planar_pendulum", "duration", 1e-5),
        ("spherical_pendulum", "length", -1.0),
        ("spherical_pendulum", "polar_angle_deg", 181.0),
        ("spherical_pendulum", "step", 0.0),
    ):
        with pytest.raises(ParameterError) as caught:
            experiments.run(experiment, **{name: value})
        assert caught.value.name == name
    with pytest.raises(ConvergenceError, match="try a step"):
        experiments.run("planar_pendulum", step=0.5)


def test_no_pendulum_period_in_a_short_time():
    assert experiments.run("planar_pendulum", duration=2.0)["period"] is None


@pytest.mark.parametrize("experiment", ["planar_pendulum", "spherical_pendulum"])
def test_pendulum_plots(experiment, tmp_path):
    plot, reference = tmp_path / "out.png", tmp_path / "reference.csv"
    reference.write_text("t,angle,x,y,z\n0,1,0,0,-1\n1,-1,0.5,0.5,-0.7\n")
    assert cli.main(["reproduce", experiment, "--plot", str(plot), "--reference", str(reference)]) == 0
    assert plot.stat().st_size > 10_000
