"""The heavy top against its quadrature by elliptic integrals, its converged curve, and what methods make of it."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation
from scipy.special import ellipk
from shipped import reference_curve, reference_rows, reference_values

from grouser import ParameterError, RigidBody, cli, experiments, simulate_body
from grouser.resources import share_path

EXACT = reference_rows("heavy_top", "runge_kutta")


def nutation(mass=1.0, length=0.04, inertia=(0.002, 0.002, 0.0008), gravity=9.8, polar_angle_deg=60.0, spin=100.0):
    """Period, lowest cosine of the polar angle, and precession in a period of a top that begins without precession.

    With u the cosine, u0 at the start: u'^2 = (u0 - u) (c (1 - u^2) - k^2 (u0 - u)), c = 2 m g l / I1,
    k = I3 spin / I1, and the precession's rate is k (u0 - u) / (1 - u^2).
    u = u1 + (u0 - u1) sin^2 s takes the roots away.
    """
    u0, c = math.cos(math.radians(polar_angle_deg)), 2.0 * mass * gravity * length / inertia[0]
    k = inertia[2] * spin / inertia[0]
    u1, u2 = sorted(np.roots([-c, k * k, c - k * k * u0]).real)

    def u(s):
        return u1 + (u0 - u1) * math.sin(s) ** 2

    def time(s):
        return 4.0 / math.sqrt(c * (u2 - u(s)))

    def precession(s):
        return time(s) * k * (u0 - u(s)) / (1.0 - u(s) ** 2)

    return quad(time, 0.0, 0.5 * math.pi, epsabs=1e-14)[0], u1, quad(precession, 0.0, 0.5 * math.pi, epsabs=1e-13)[0]


def top(**parameters):
    return experiments.run("heavy_top", **parameters)


def test_heavy_top_quadrature_agrees_with_the_reference():
    period, lowest, precession = nutation()
    assert period == pytest.approx(0.171595680017205, rel=1e-12)
    assert lowest == pytest.approx(0.273299720638806, rel=1e-12)
    assert precession == pytest.approx(0.871277808112285, rel=1e-12)
    assert precession / period == pytest.approx(5.07750432892557, rel=1e-12)


OTHER_TOPS = [
    {},
    {"spin": -100.0},
    {"spin": 60.0, "polar_angle_deg": 30.0},
    {"mass": 2.0, "length": 0.1, "inertia": [0.05, 0.05, 0.03], "gravity": 3.7, "polar_angle_deg": 100.0, "spin": 40.0},
]


@pytest.mark.parametrize("parameters", OTHER_TOPS)
def test_heavy_top_nutation_period_and_precession(parameters):
    """By the fourth-order method at a small step, between whose points a curve is a cubic; azimuths at cusps."""
    period, lowest, precession = nutation(**parameters)
    result = top(method="rk4", step=1e-4, duration=4.0, **parameters)
    assert result["nutation_period"] == pytest.approx(period, rel=1e-7)
    axis, time = np.asarray(result["axis"]), np.asarray(result["time"])
    # the deepest point lies within half a step of a point of the curve
    assert axis[:, 2].min() == pytest.approx(lowest, abs=1e-4)
    cycles = int(4.0 / period)
    azimuth = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    # at a cusp the axis stands still
    found = np.interp(cycles * period, time, azimuth) - azimuth[0]
    assert found == pytest.approx(cycles * precession, rel=1e-5)


def test_heavy_top_axis_agrees_with_the_converged_reference():
    """By the fourth-order method to 50 s; by the variational ones with two steps together to 5 s."""
    coarse, fine = (top(method="rk4", step=step, duration=50.0) for step in (2e-4, 1e-4))
    for when, exact in EXACT.items():
        points = [result["axis"][np.abs(result["time"] - when).argmin()] for result in (coarse, fine)]
        # what the order makes of the difference, and half of that
        assert points[1] == pytest.approx(exact, abs=1.5 * np.abs(points[1] - points[0]).max() / 15.0)
        assert points[1] == pytest.approx(exact, abs=1e-6)
    table = reference_curve("heavy_top_top.csv")
    # single points follow the curve
    exact = np.column_stack([table[name] for name in ("Ax", "Ay", "Az")])[table["t"] < 5.005]
    for method in ("lie_group_variational", "quaternion_variational"):
        errors = []
        for step in (4e-4, 2e-4, 1e-4):
            every = round(0.01 / step)
            errors.append(top(method=method, step=step, duration=5.0)["axis"][every::every] - exact)
        sizes = [np.abs(error).max() for error in errors]
        assert sizes[1] / sizes[2] == pytest.approx(4.0, rel=0.05)
        assert np.abs((4.0 * errors[2] - errors[1]) / 3.0).max() < 0.02 * sizes[2]


@pytest.mark.parametrize(
    ("step", "case", "share"),
    [(0.01, "quaternion_10_ms", -0.183), (0.005, "quaternion_5_ms", -0.0249), (0.001, "quaternion_1_ms", -0.00092)],
)
def test_heavy_top_by_the_quaternion_integrator(step, case, share):
    """To the digits of its published figures."""
    period, energy = (reference_values("heavy_top", case)[name] for name in ("nutation_period", "max_energy_error"))
    result = top(method="quaternion_variational", step=step)
    assert result["nutation_period"] == pytest.approx(period, rel=3.6e-5)
    assert result["nutation_period"] / nutation()[0] - 1.0 == pytest.approx(share, rel=0.005)
    assert result["max_energy_error"] == pytest.approx(energy, rel=0.035)
    assert result["max_constraint_error"] < 1e-14


def test_both_variational_integrators_agree_for_a_free_body():
    """Their kinetic parts are the same; only the weight's differ."""
    body = RigidBody(1.0, [0.002, 0.003, 0.0015], gravity=(0.0, 0.0, 0.0))
    ends = [
        simulate_body(body, np.eye(3), [10.0, 20.0, -30.0], 0.01, 100, method)
        for method in ("lie_group_variational", "quaternion_variational")
    ]
    assert ends[0].rotation == pytest.approx(ends[1].rotation, abs=1e-13)
    assert ends[0].angular_velocity == pytest.approx(ends[1].angular_velocity, rel=1e-12)


def test_lie_group_integrator_invariants_and_convergence():
    periods = []
    for step in (0.004, 0.002, 0.001):
        result = top(step=step)
        periods.append(result["nutation_period"])
        assert result["max_constraint_error"] < 1e-14
        assert result["energy"][0] == pytest.approx(4.196, abs=1e-12)
        assert np.abs(result["energy"] - 4.196).max() == pytest.approx(result["max_energy_error"], rel=1e-9)
    errors = np.array(periods) - nutation()[0]
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.02)
    # 59 nutations later it is as large as in the first
    first, last = np.array_split(np.abs(result["energy"] - 4.196), 10)[::9]
    assert last.max() == pytest.approx(first.max(), rel=0.01)


def test_euler_angles_diverge_for_a_fast_top():
    """By their way of stepping: what stands across the axis turns at (1 - I3/I1) spin, and Euler's explicit step makes
    it grow with h/2 times the square of that, 1.8/s."""
    with pytest.warns(RuntimeWarning, match="singularity"):
        result = top(method="euler_angles", step=0.001, duration=5.0)
    # its digits are those of the rounding that has grown by e^9
    assert result["energy"][0] == pytest.approx(4.196) and result["energy"][-1] == pytest.approx(1.5e6, rel=0.05)
    growth = math.log(result["energy"][-1] / result["energy"][3000]) / 2.0
    assert growth == pytest.approx(2.0 * 0.001 * 60.0**2 / 2.0, rel=0.01)
    assert 1.0 < result["singular_time"] < 5.0 and result["nutation_period"] is None
    finer = top(method="euler_angles", step=1e-4, duration=5.0)
    assert finer["energy"][-1] == pytest.approx(4.33, abs=0.005) and finer["singular_time"] is None


def test_euler_angles_drift_with_equal_moments():
    """With equal moments and the same precession: of first order, and evenly."""
    errors = []
    for step in (1e-3, 5e-4):
        result = top(method="euler_angles", inertia=[0.002, 0.002, 0.002], spin=40.0, step=step, duration=8.0)
        error = np.abs(result["energy"] - result["energy"][0])
        halves = [half.max() for half in np.array_split(error, 2)]
        assert halves[1] < 2.1 * halves[0]
        errors.append(halves[0])
    assert errors[1] < 0.1 and errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


def test_top_without_nutation_has_no_period():
    assert top(polar_angle_deg=0.0, duration=1.0)["nutation_period"] is None
    assert top(duration=0.2)["nutation_period"] is None
    # of 10 million steps each hundredth is kept, 0.2 s apart
    assert top(step=0.002, duration=20_000.0)["nutation_period"] is None


REFUSED = [
    ("inertia", {"length": 0.05}),
    ("inertia", {"inertia": [0.002, 0.002, 0.005]}),
    ("inertia", {"inertia": [0.002, 0.002]}),
    ("length", {"length": 0.0}),
    ("mass", {"mass": 0.0}),
    ("polar_angle_deg", {"polar_angle_deg": 181.0}),
    ("polar_angle_deg", {"polar_angle_deg": 0.0, "method": "euler_angles"}),
    ("method", {"method": "rk4_uncoupled"}),
    ("duration", {"duration": 1e9}),
]


@pytest.mark.parametrize(("name", "parameters"), REFUSED)
def test_bad_parameters_are_refused(name, parameters):
    with pytest.raises(ParameterError) as caught:
        top(**parameters)
    assert caught.value.name == name


def test_heavy_top_plot(tmp_path):
    reference = share_path("config", "references", "heavy_top_top.csv")
    plot = tmp_path / "out.png"
    arguments = ["--set", "duration=2", "--plot", str(plot), "--reference", str(reference)]
    assert cli.main(["reproduce", "heavy_top", *arguments]) == 0
    assert plot.stat().st_size > 10_000


def free_period(inertia, rate):
    """Time after which the rate about the middle axis comes back, by the complete elliptic integral."""
    first, middle, last = inertia
    energy, momentum = np.sum(inertia * rate**2), np.sum((inertia * rate) ** 2)
    a = (energy * last - momentum) / (middle * (last - middle))
    b = (momentum - energy * first) / (middle * (middle - first))
    speed = math.sqrt((last - middle) * (middle - first) / (first * last))
    return 4.0 * ellipk(min(a, b) / max(a, b)) / (speed * math.sqrt(max(a, b)))


@pytest.mark.parametrize("rate", [(0.01, 2.0, 0.0), (0.0, 2.0, 0.01), (0.3, 1.0, 0.4)])
def test_body_spinning_about_its_intermediate_axis_flips(rate):
    """Dzhanibekov's nut: the second order, and two steps together; energy and momentum are those of the start."""
    inertia, rate = np.array([1.0, 2.0, 2.5]), np.array(rate)
    body, exact = RigidBody(1.0, inertia, free=True), free_period(inertia, rate)
    errors = []
    for step in (0.02, 0.01):
        motion = simulate_body(body, np.eye(3), rate, step, round(3.2 * exact / step))
        about = motion.angular_velocity[:, 1]
        rises = np.flatnonzero((about[:-1] < 0.0) & (about[1:] >= 0.0))[[0, -1]]
        times = motion.time[rises] - step * about[rises] / (about[rises + 1] - about[rises])
        cycles = round((times[1] - times[0]) / exact)
        errors.append((times[1] - times[0]) / cycles - exact)
        momentum = np.einsum("kij,j,kj->ki", motion.rotation, inertia, motion.angular_velocity)
        assert momentum == pytest.approx(np.tile(inertia * rate, (len(momentum), 1)), abs=3e-14)
        # it turns over: the axis of the spin points one way in space, then the other way
        assert about.min() == pytest.approx(-about.max(), rel=1e-3)
    assert abs(errors[1]) < 1e-3 * exact
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_rotated_start_rotates_the_motion():
    """Symmetry of the schemes: the same motion, rotated."""
    turned = Rotation.from_euler("z", 1.0).as_matrix()
    body = RigidBody(1.0, [0.002, 0.002, 0.0008], [0.0, 0.0, 0.04], [0.0, 0.0, -9.8])
    start = Rotation.from_rotvec([1.0, 0.0, 0.0]).as_matrix()
    for method in ("lie_group_variational", "quaternion_variational", "rk4", "rk4_uncoupled", "euler_angles"):
        one = simulate_body(body, start, [0.0, 0.0, 50.0], 0.001, 500, method)
        other = simulate_body(body, turned @ start, [0.0, 0.0, 50.0], 0.001, 500, method)
        assert other.rotation == pytest.approx(turned @ one.rotation, abs=1e-10)
