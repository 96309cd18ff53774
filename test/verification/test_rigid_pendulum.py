"""The 3D pendulum: its converged reference, the published integrators step by step, what they keep, and their order.

The body is the published one unless a test says otherwise; the reference is exact to 15 digits. Its motion is chaotic:
an error grows by about e^(0.9 t).
"""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from shipped import reference_rows

from grouser import ParameterError, RigidBody, cli, experiments, simulate_body
from grouser.physics.base.errors import ConvergenceError
from grouser.resources import share_path

BODY = RigidBody(1.0, [0.13, 0.28, 0.17], [0.0, 0.0, 0.3], [0.0, 0.0, 9.81])
RATE = [4.14, 4.14, 4.14]


def move(step, duration, method="lie_group_variational", rate=RATE, **more):
    return simulate_body(BODY, np.eye(3), rate, step, round(duration / step), method=method, **more)


def columns(request, name):
    folder = request.path.parent.parent / "data" / "reference"
    folder = folder if (folder / name).is_file() else share_path("config", "references")
    table = np.genfromtxt(folder / name, delimiter=",", names=True)
    rotation = np.column_stack([table[f"R{i}{j}"] for i in (1, 2, 3) for j in (1, 2, 3)])
    return table["t"], rotation, np.column_stack([table[f"w{i}"] for i in (1, 2, 3)])


def test_first_steps_of_the_lie_group_integrator():
    """To the last digits of the reference, which has 15."""
    rates = list(reference_rows("rigid_pendulum", "lie_group").values())
    assert move(0.01, 0.03).angular_velocity[1:] == pytest.approx(np.array(rates), rel=1e-14)


@pytest.mark.parametrize(
    ("method", "file", "until"),
    [
        ("lie_group_variational", "LGVI", 10.0),
        ("rk4", "RK4", 10.0),
        # it gains energy, and loses its digits sooner
        ("rk4_uncoupled", "RK4_uncoupled", 5.0),
    ],
)
def test_published_integrators_step_by_step(request, method, file, until):
    """Each scheme is that of the reference; differences are rounding errors, which grow chaotically."""
    time, rotation, rate = columns(request, f"rigid_pendulum_{file}_h0.01.csv")
    ours = move(0.01, until, method, every=10)
    these = time <= until + 1e-9
    assert ours.time == pytest.approx(time[these])
    apart = np.abs(np.hstack([ours.rotation.reshape(-1, 9) - rotation[these], ours.angular_velocity - rate[these]]))
    assert (apart.max(axis=1) < 1e-13 * np.exp(0.9 * ours.time)).all()


@pytest.mark.parametrize(
    ("method", "order", "step"), [("lie_group_variational", 2, 0.002), ("rk4", 4, 0.005), ("rk4_uncoupled", 1, 2e-5)]
)
def test_rigid_pendulum_converges_to_the_reference(request, method, order, step):
    """Over 2 s, with the order of the method; and the two finest steps together leave little of the error."""
    time, rotation, rate = columns(request, "rigid_pendulum_g981.csv")
    these = time < 2.05
    exact = np.hstack([rotation[these], rate[these]])
    errors = []
    for h in (step, step / 2.0, step / 4.0):
        motion = move(h, 2.0, method, every=round(0.1 / h))
        errors.append(np.hstack([motion.rotation.reshape(-1, 9), motion.angular_velocity])[1:] - exact)
    sizes = [np.abs(error).max() for error in errors]
    assert sizes[0] / sizes[1] == pytest.approx(2.0**order, rel=0.1)
    assert sizes[1] / sizes[2] == pytest.approx(2.0**order, rel=0.05)
    together = (2.0**order * errors[2] - errors[1]) / (2.0**order - 1.0)
    assert np.abs(together).max() < 0.05 * sizes[2]


def test_rigid_pendulum_agrees_with_the_reference_for_ten_seconds(request):
    """The error of the fourth order at a quarter of a millisecond, times e^9 that the chaos makes of it."""
    time, rotation, rate = columns(request, "rigid_pendulum_g981.csv")
    motion = move(2.5e-4, 10.0, "rk4", every=400)
    assert motion.time[1:] == pytest.approx(time)
    assert motion.rotation[1:].reshape(-1, 9) == pytest.approx(rotation, abs=1e-7)
    assert motion.angular_velocity[1:] == pytest.approx(rate, abs=1e-7)
    points = {
        1: ((-6.75147386033623, 0.14843467324873, 3.36231560639652),
            (-0.412022920223744, -0.643197634862199, 0.645394387733556)),
        5: ((-0.220405107166649, -3.67226754147033, -1.45345116423898),
            (0.706374244149187, -0.70768623753303, 0.0146838826271496)),
        10: ((5.15257032603005, -0.832587841626655, 0.126286372163468),
             (0.965368832569961, -0.25156820971438, -0.0691118872815176)),
    }  # fmt: skip
    for when, (omega, row) in points.items():
        assert motion.angular_velocity[10 * when] == pytest.approx(omega, abs=1e-7)
        assert motion.rotation[10 * when, 2] == pytest.approx(row, abs=1e-7)


# h: largest error of the energy over 100 s.
LIE_GROUP = {0.1: 0.348, 0.05: 0.0760, 0.02: 0.0118, 0.01: 0.00294, 0.005: 0.000732, 0.0025: 0.000183}


def test_lie_group_integrator_conserves_energy_momentum_and_rotation():
    """The largest error is that of one chaotic motion or another: over 100 s they differ by less than 1 %, by 10 % at
    0.1 s, where there are 1000 points. It is of second order; rotation and momentum are kept to rounding."""
    errors = {}
    for step, published in LIE_GROUP.items():
        motion = move(step, 100.0)
        errors[step] = motion.max_energy_error
        assert errors[step] == pytest.approx(published, rel=0.1 if step == 0.1 else 0.01)
        assert motion.max_constraint_error < 1e-14
        assert motion.max_vertical_momentum_error < 1e-14
        assert motion.vertical_momentum[0] == pytest.approx(4.14 * 0.17, rel=1e-14)
    assert motion.energy[0] == pytest.approx(2.027484, abs=1e-12)
    assert errors[0.01] < 3.0e-3
    for coarse, fine in ((0.02, 0.01), (0.01, 0.005), (0.005, 0.0025)):
        assert errors[coarse] / errors[fine] == pytest.approx(4.0, rel=0.02)


def test_lie_group_integrator_energy_does_not_drift():
    """Over 10 000 s; the published slope of the line through 100 s, 1e-6 W, would be 10 mJ."""
    motion = move(0.01, 10_000.0, every=10)
    means = [part.mean() for part in np.array_split(motion.energy - motion.energy[0], 10)]
    assert motion.max_energy_error < 3.0e-3
    # what is left is by chance, of about a thousand swings of 1 mJ in each tenth: five standard errors of a difference
    assert np.ptp(means) < 5.0 * 1e-3 * math.sqrt(2.0 / 1000.0)


# Method, h: errors of energy, rotation, momentum, and drift, over 100 s.
OTHERS = {
    ("rk4", 0.1): (0.238, 0.817, 0.0764, -0.00228),
    ("rk4", 0.05): (0.0162, 0.0442, 0.00403, -0.000164),
    ("rk4", 0.02): (0.000164, 0.000509, 3.8e-05, -1.64e-06),
    ("rk4", 0.01): (5.44e-06, 1.54e-05, 1.14e-06, -5.23e-08),
    ("rk4", 0.005): (1.77e-07, 5.24e-07, 4.93e-08, -1.76e-09),
    ("rk4", 0.0025): (6.65e-09, 2.25e-08, 2.08e-09, -5.67e-11),
    ("rk4_uncoupled", 0.1): (17.4, 1.73, 1.0, 0.0632),
    ("rk4_uncoupled", 0.05): (70.9, 1.73, 2.82, 0.476),
    ("rk4_uncoupled", 0.02): (46.9, 0.734, 3.44, 0.488),
    ("rk4_uncoupled", 0.01): (46.1, 0.00783, 3.31, 0.436),
    ("rk4_uncoupled", 0.005): (16.0, 2.16e-05, 1.58, 0.158),
    ("rk4_uncoupled", 0.0025): (7.88, 8.65e-08, 0.688, 0.0757),
}


@pytest.mark.parametrize(("method", "step"), OTHERS)
def test_drift_of_the_other_integrators(method, step):
    """By which chaotic motion it is: in thirteen, begun 1e-9 apart, energy and drift are spread by up to 1.7 times, the
    rotation by 2.5 times and the momentum by 3.4 times; that of the uncoupled method from 0.01 s on by 0.5 %."""
    motion = move(step, 100.0, method)
    published = OTHERS[method, step]
    drift = np.polyfit(motion.time, motion.energy, 1)[0]
    ours = (motion.max_energy_error, motion.max_constraint_error, motion.max_vertical_momentum_error, drift)
    if method == "rk4_uncoupled" and step >= 0.01:
        assert ours == pytest.approx(published, rel=0.01)
    else:
        for value, theirs, spread in zip(ours, published, (1.7, 2.5, 3.4, 1.7), strict=True):
            assert 1.0 / spread < value / theirs < spread


def test_coupled_runge_kutta_drift_exceeds_the_lie_group_error():
    """Where it drifts evenly: at 0.05 s with 1.64e-4 W over the first 100 s, which would reach 0.076 J after 460 s."""
    lie_group, other = move(0.05, 1000.0), move(0.05, 1000.0, "rk4")
    error = np.abs(other.energy - other.energy[0])
    worse = other.time[error > lie_group.max_energy_error][0]
    assert 460.0 < worse < 600.0
    assert (error[other.time > 1.2 * worse] > lie_group.max_energy_error).all()


def test_runge_kutta_rotation_shrinks_at_the_longest_step():
    """At 0.1 s its rotation shrinks, so that it does not drift on. Its error is beyond the mean one of the other since
    50 to 100 s."""
    lie_group, other = move(0.1, 500.0), move(0.1, 500.0, "rk4")
    error = np.abs(other.energy - other.energy[0])
    mean = np.abs(lie_group.energy - lie_group.energy[0]).mean()
    worse = error > mean
    assert 50.0 < other.time[worse][0] < 100.0 and worse[other.time > 100.0].all()
    assert other.max_constraint_error > 0.8
    assert np.linalg.det(other.rotation[-1]) < 0.2


@pytest.mark.parametrize(
    ("method", "order", "step"),
    [
        ("lie_group_variational", 2, 0.01),
        ("quaternion_variational", 2, 0.01),
        ("rk4", 4, 0.02),
        ("rk4_uncoupled", 1, 2e-4),
        ("euler_angles", 1, 2e-4),
    ],
)
def test_body_with_full_inertia_under_gravity_and_torque(method, order, step):
    """A full inertia matrix, an offset and a gravity in no axis, a torque: beside DOP853 at 1e-12."""
    inertia = np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.1], [-0.2, 0.1, 1.2]])
    body = RigidBody(1.3, inertia, [0.3, -0.2, 0.4], [2.0, -3.0, 6.0])
    start, rate, torque = Rotation.from_rotvec([0.9, 0.4, -0.3]), np.array([1.0, -0.7, 0.5]), np.array([0.4, 0.2, -0.6])

    def slope(time, y):
        rotation, omega = y[:9].reshape(3, 3), y[9:]
        moment = np.cross(inertia @ omega, omega) + 1.3 * np.cross(body.offset, rotation.T @ body.gravity) + torque
        return np.concatenate([np.cross(rotation, omega).ravel(), np.linalg.solve(inertia, moment)])

    state = np.concatenate([start.as_matrix().ravel(), rate])
    exact = solve_ivp(slope, (0.0, 2.0), state, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    errors = []
    for h in (step, step / 2.0, step / 4.0):
        motion = simulate_body(body, start.as_matrix(), rate, h, round(2.0 / h), method, torque=torque)
        errors.append(np.concatenate([motion.rotation[-1].ravel(), motion.angular_velocity[-1]]) - exact)
    assert np.abs(errors[-1]).max() < 1e-3
    assert np.abs(errors[1]).max() / np.abs(errors[2]).max() == pytest.approx(2.0**order, rel=0.05)
    # both together are of the next order
    together = (2.0**order * errors[2] - errors[1]) / (2.0**order - 1.0)
    assert np.abs(together).max() < 0.05 * np.abs(errors[2]).max()


def test_time_varying_torque_keeps_second_order():
    """A smooth torque, given at the middle of each step, leaves the second order."""

    def torque(time):
        return np.column_stack([np.sin(3.0 * time), 0.5 * np.cos(time), 0.2 * time])

    def slope(time, y):
        rotation, omega = y[:9].reshape(3, 3), y[9:]
        moment = np.cross(BODY.inertia @ omega, omega) + np.cross(BODY.offset, rotation.T @ BODY.gravity)
        moment = moment + torque(np.array([time]))[0]
        return np.concatenate([np.cross(rotation, omega).ravel(), moment / np.diag(BODY.inertia)])

    state = np.concatenate([np.eye(3).ravel(), [1.0, 0.5, 0.0]])
    exact = solve_ivp(slope, (0.0, 2.0), state, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    errors = []
    for steps in (400, 800):
        middles = 2.0 / steps * (np.arange(steps) + 0.5)
        motion = move(2.0 / steps, 2.0, rate=[1.0, 0.5, 0.0], torque=torque(middles))
        errors.append(np.abs(np.concatenate([motion.rotation[-1].ravel(), motion.angular_velocity[-1]]) - exact).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)


def test_rigid_pendulum_is_deterministic():
    first, second = (move(0.01, 20.0) for _ in range(2))
    assert np.array_equal(first.rotation, second.rotation)
    assert np.array_equal(first.angular_velocity, second.angular_velocity)


def test_rigid_pendulum_experiment():
    result = experiments.run("rigid_pendulum")
    motion = move(0.01, 100.0)
    assert result["rotation"].shape == (10_001, 9)
    assert np.array_equal(result["rotation"][:, 6:], motion.rotation[:, 2])
    assert np.array_equal(result["angular_velocity"], motion.angular_velocity)
    assert result["time"][-1] == 100.0 and result["energy"][0] == pytest.approx(2.027484)
    assert result["max_energy_error"] == motion.max_energy_error
    assert result["max_orthogonality_error"] == motion.max_constraint_error
    assert result["max_vertical_momentum_error"] == motion.max_vertical_momentum_error
    assert abs(result["energy_drift_rate"]) < 3e-6
    assert 0.0 < result["microseconds_per_step"] < 20.0
    # the table
    assert result["sweep_method"] == ["lie_group_variational"] * 6 + ["rk4"] * 6 + ["rk4_uncoupled"] * 6
    assert result["sweep_step"] == list(LIE_GROUP) * 3
    assert result["sweep_max_energy_error"][3] == result["max_energy_error"]
    assert result["sweep_max_orthogonality_error"][13] == pytest.approx(1.73, rel=0.01)


def test_rigid_pendulum_with_other_parameters():
    """Begun tilted, with another gravity: as the integrator's own interface has it."""
    body = {"mass": 2.0, "inertia": [0.5, 0.6, 0.3], "offset": [0.1, 0.0, 0.2], "gravity": 3.7}
    start = {"rotation_vector": [0.3, -0.5, 1.0], "angular_velocity": [0.0, 1.0, -2.0]}
    result = experiments.run("rigid_pendulum", **body, **start, method="rk4", duration=3.0, sweep=[])
    same = RigidBody(2.0, [0.5, 0.6, 0.3], [0.1, 0.0, 0.2], [0.0, 0.0, 3.7])
    turned = Rotation.from_rotvec([0.3, -0.5, 1.0]).as_matrix()
    motion = simulate_body(same, turned, [0.0, 1.0, -2.0], 0.01, 300, "rk4")
    assert result["rotation"] == pytest.approx(motion.rotation.reshape(-1, 9), abs=1e-12)
    assert "sweep_step" not in result.results


def test_long_runs_have_fewer_points():
    result = experiments.run("rigid_pendulum", step=1e-4, duration=50.0, sweep=[])
    assert len(result["time"]) == 100_001
    assert np.diff(result["time"]) == pytest.approx(5e-4)


def test_sweep_omits_methods_that_do_not_converge():
    result = experiments.run("rigid_pendulum", angular_velocity=[0.0, 20.0, 0.0], duration=1.0)
    methods = result["sweep_method"]
    assert methods.count("lie_group_variational") == 4 and methods.count("rk4") == 6
    with pytest.raises(ConvergenceError, match="try a step"):
        experiments.run("rigid_pendulum", angular_velocity=[0.0, 20.0, 0.0], step=0.1)


REFUSED = {
    "offset": {"offset": [0.0, 0.0, 0.0]},
    "inertia": {"inertia": [0.1, 0.1, 0.3]},
    "mass": {"mass": -1.0},
    "angular_velocity": {"angular_velocity": [1.0, 2.0]},
    "rotation_vector": {"rotation_vector": [1.0, 2.0, math.nan]},
    "duration": {"duration": 1e-3},
    "method": {"method": "euler_angles"},
    "sweep": {"sweep": [0.0]},
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_parameters_are_refused(name):
    with pytest.raises(ParameterError) as caught:
        experiments.run("rigid_pendulum", **REFUSED[name])
    assert caught.value.name == name


def test_sweep_is_a_table_on_screen_and_lists_in_json(tmp_path, capsys):
    reference = share_path("config", "references", "rigid_pendulum_g981.csv")
    plot = tmp_path / "out.png"
    arguments = ["reproduce", "rigid_pendulum", "--set", "duration=10"]
    assert cli.main([*arguments, "--plot", str(plot), "--reference", str(reference)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (heading,) = (i for i, line in enumerate(lines) if line.split()[:3] == ["method", "step", "[s]"])
    assert lines[heading + 1].split()[:2] == ["lie_group_variational", "0.1"]
    assert lines[heading + 19] == ""  # three methods with six steps each
    assert plot.stat().st_size > 10_000
    assert cli.main([*arguments, "--json", "-"]) == 0
    assert capsys.readouterr().out.startswith("{")
