"""Attitude parameters and control laws: the equations of their docstrings at random states."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from grouser.physics.base.spatial import matrix, quaternion_exponential, quaternion_product, skew
from grouser.studies.attitude import (
    axis_control,
    control,
    energy_shaping,
    pivoted_body,
    rodrigues,
    sliding_mode,
    stereographic,
    tracking,
)
from grouser.studies.attitude.control import LAWS, TARGETS, AttitudeController, Gains
from grouser.studies.attitude.pivoted_body import PivotedBody

BODY = PivotedBody((15.0, 18.0, 20.0), (3.0, -2.0, 40.0))
SEEDS = range(8)
# Half the width of central differences of numbers of the order of one, and what is left of their eleven digits.
H, CLOSE = 1e-5, 1e-8


def random_quaternion(rng):
    q = rng.normal(size=4)
    return tuple((q / np.linalg.norm(q)).tolist())


def random_vector(rng, scale=1.0):
    return tuple((scale * rng.normal(size=3)).tolist())


def both(kernel):
    """A kernel, compiled and as Python."""
    return pytest.mark.parametrize("function", [kernel, kernel.py_func], ids=["compiled", "python"])


def turned(q, omega, time):
    """An attitude after a time at a constant angular velocity in the body's frame."""
    return quaternion_product(*q, *quaternion_exponential(*(time * np.array(omega)).tolist()))


def derivative(function, q, omega):
    """Time derivative of a function of the attitude at an angular velocity."""
    return (np.array(function(turned(q, omega, H))) - np.array(function(turned(q, omega, -H)))) / (2.0 * H)


def page_matrix(sigma):
    """R = I + (8 s^ s^ + 4 (1 - s.s) s^) / (1 + s.s)²."""
    square, cross = np.dot(sigma, sigma), skew(sigma)
    return np.eye(3) + (8.0 * cross @ cross + 4.0 * (1.0 - square) * cross) / (1.0 + square) ** 2


@both(rodrigues.from_quaternion)
@pytest.mark.parametrize("seed", SEEDS)
def test_rodrigues_parameters_of_a_quaternion(function, seed):
    q = random_quaternion(np.random.default_rng(seed))
    sigma = function(q)
    assert np.linalg.norm(sigma) <= 1.0
    assert function(tuple(-x for x in q)) == pytest.approx(sigma, abs=1e-16)
    assert page_matrix(sigma) == pytest.approx(matrix(q), abs=1e-14)


@both(rodrigues.to_quaternion)
@pytest.mark.parametrize("length", [0.0, 1e-300, 1e-8, 0.7, 1.0, 3.0])
def test_quaternion_of_rodrigues_parameters(function, length):
    sigma = tuple((length * np.array([2.0, -3.0, 6.0]) / 7.0).tolist())
    q = function(sigma)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    assert matrix(q) == pytest.approx(page_matrix(sigma), abs=1e-14)


@both(rodrigues.to_quaternion)
@pytest.mark.parametrize("short_of", [1e-3, 1e-9, 1e-160, 1e-300])
def test_rodrigues_parameters_of_a_full_turn_are_infinite(function, short_of):
    """An angle that is less than 2 pi by `short_of` has |sigma| = 4 / short_of, to the square of it."""
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    sigma = tuple((axis / math.tan(0.25 * short_of)).tolist())
    *vector, real = function(sigma)
    assert np.array(vector) == pytest.approx(axis * math.sin(0.5 * short_of), rel=1e-14, abs=0.0)
    assert real == pytest.approx(-1.0, abs=short_of**2)
    assert rodrigues.from_quaternion((*vector, real)) == pytest.approx(
        -axis * math.tan(0.25 * short_of), rel=1e-14, abs=0.0
    )


@both(rodrigues.nearest_set)
@pytest.mark.parametrize("seed", SEEDS)
def test_nearest_set_of_rodrigues_parameters(function, seed):
    rng = np.random.default_rng(seed)
    sigma, other = random_vector(rng, 0.8), random_vector(rng)
    shadow = tuple((-np.array(sigma) / np.dot(sigma, sigma)).tolist())
    assert page_matrix(shadow) == pytest.approx(page_matrix(sigma), abs=1e-13)
    nearer = min(sigma, shadow, key=lambda candidate: np.linalg.norm(np.subtract(candidate, other)))
    for given_set in (sigma, shadow):
        assert function(given_set, other) == pytest.approx(nearer, rel=1e-12)
    assert np.linalg.norm(function(sigma, (0.0, 0.0, 0.0))) <= 1.0


def test_identity_has_one_set_of_rodrigues_parameters():
    assert rodrigues.nearest_set((0.0, 0.0, 0.0), (5.0, 0.0, 0.0)) == (0.0, 0.0, 0.0)


@both(rodrigues.rate_of)
@pytest.mark.parametrize("seed", SEEDS)
def test_rate_of_rodrigues_parameters(function, seed):
    rng = np.random.default_rng(seed)
    q, omega = random_quaternion(rng), random_vector(rng)
    sigma = rodrigues.from_quaternion(q)

    def continuous(attitude):
        return rodrigues.nearest_set(rodrigues.from_quaternion(attitude), sigma)

    assert function(sigma, omega) == pytest.approx(derivative(continuous, q, omega), abs=CLOSE)
    assert np.array(function(sigma, omega)) == pytest.approx(
        ((1.0 - np.dot(sigma, sigma)) * np.eye(3) + 2.0 * skew(sigma) + 2.0 * np.outer(sigma, sigma)) @ omega / 4.0
    )


@both(rodrigues.torque_of)
@pytest.mark.parametrize("seed", SEEDS)
def test_torque_and_effort_do_the_same_work(function, seed):
    rng = np.random.default_rng(seed)
    sigma, effort, omega = random_vector(rng), random_vector(rng), random_vector(rng)
    work = np.dot(effort, rodrigues.rate_of(sigma, omega))
    assert np.dot(function(sigma, effort), omega) == pytest.approx(work, rel=1e-12, abs=1e-14)


@both(stereographic.from_quaternion)
@pytest.mark.parametrize("seed", SEEDS)
def test_stereographic_projection_of_an_attitude(function, seed):
    rng = np.random.default_rng(seed)
    q, omega = random_quaternion(rng), random_vector(rng)
    p, i, z = function(q)
    w = complex(p, i)
    v = matrix(q)[2]
    assert w == pytest.approx((v[1] - 1j * v[0]) / (1.0 + v[2]), rel=1e-12)
    assert function(tuple(-x for x in q)) == pytest.approx((p, i, z), rel=1e-12)
    # the turn about the inertial axis, then the shortest way, about an axis in the plane of x and y
    half = 2.0 * math.atan(abs(w))
    way = quaternion_exponential(half * p / abs(w), half * i / abs(w), 0.0)
    whole = quaternion_product(0.0, 0.0, math.sin(0.5 * z), math.cos(0.5 * z), *way)
    assert matrix(whole) == pytest.approx(matrix(q), abs=1e-13)
    rate_p, rate_i, rate_z = derivative(function, q, omega)
    o = complex(omega[0], omega[1])
    expected = -1j * omega[2] * w + 0.5 * (o + o.conjugate() * w**2)
    # the projection goes to infinity: so do the differences' errors
    assert complex(rate_p, rate_i) == pytest.approx(expected, abs=CLOSE * (1.0 + abs(w) ** 4))
    assert rate_z == pytest.approx(omega[2] + (o * w.conjugate()).imag, abs=CLOSE * (1.0 + abs(w) ** 4))


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_rate_equals_the_power_of_the_torque(seed):
    rng = np.random.default_rng(seed)
    q, omega, torque = random_quaternion(rng), random_vector(rng), random_vector(rng, 10.0)
    acceleration = pivoted_body.angular_acceleration(BODY, tuple(matrix(q)[2]), omega, torque)

    def energy(time):
        gamma, spin = tuple(matrix(turned(q, omega, time))[2]), np.array(omega) + time * np.array(acceleration)
        return pivoted_body.kinetic_energy(BODY, tuple(spin)) + pivoted_body.potential_energy(BODY, gamma)

    rate = (energy(H) - energy(-H)) / (2.0 * H)
    # energies of some 100 J
    assert rate == pytest.approx(np.dot(torque, omega), abs=100.0 * CLOSE)


def lyapunov_rate(law, gains, target, q, omega):
    """Rate of the law's Lyapunov function along its motion, by differences; and attitude and torque."""
    sigma = rodrigues.nearest_set(rodrigues.from_quaternion(q), target)
    torque = control.control_torque(law, BODY, gains, sigma, target, omega)
    gamma = pivoted_body.gravity_direction(sigma)
    acceleration = np.array(pivoted_body.angular_acceleration(BODY, gamma, omega, torque))

    def value(time):
        there = rodrigues.nearest_set(rodrigues.from_quaternion(turned(q, omega, time)), sigma)
        return control.lyapunov(law, BODY, gains, there, target, tuple(np.array(omega) + time * acceleration))

    return (value(H) - value(-H)) / (2.0 * H), sigma, gamma


@pytest.mark.parametrize("compensated", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", SEEDS)
def test_lyapunov_functions_decrease_at_their_stated_rate(seed, target, compensated):
    rng = np.random.default_rng(seed)
    q, omega, wanted = random_quaternion(rng), random_vector(rng), TARGETS[target]
    gains = Gains(energy=0.3, attitude=7.0, damping=1.7, gravity_compensation=compensated, layer=0.5)
    rate, sigma, _ = lyapunov_rate(LAWS["energy"], gains, wanted, q, omega)
    turning = rodrigues.rate_of(sigma, omega)
    assert rate == pytest.approx(-gains.damping * np.dot(turning, turning), abs=100.0 * CLOSE)
    rate, sigma, _ = lyapunov_rate(LAWS["pd"], gains, wanted, q, omega)
    p, i, _ = axis_control.deviation(sigma, wanted)
    assert rate == pytest.approx(-gains.damping * np.dot(omega, omega), abs=CLOSE * (100.0 + (p * p + i * i) ** 2))
    rate, _, gamma = lyapunov_rate(LAWS["sliding_mode"], gains, wanted, q, omega)
    surface = np.array(sliding_mode.surface(gains, gamma, pivoted_body.gravity_direction(wanted), omega))
    fall = gains.reaching * np.clip(surface / gains.layer, -1.0, 1.0) + gains.reaching_rate * surface
    assert rate == pytest.approx(-np.dot(surface, fall), abs=10.0 * CLOSE)


@pytest.mark.parametrize("law", LAWS)
def test_control_laws_compiled_and_in_python(law):
    rng = np.random.default_rng(1)
    sigma, omega, target, gains = random_vector(rng, 0.4), random_vector(rng), TARGETS["inverted"], Gains()
    for function in (control.control_torque, control.lyapunov):
        arguments = (LAWS[law], BODY, gains, sigma, target, omega)
        assert function.py_func(*arguments) == pytest.approx(function(*arguments), rel=1e-12)
    gamma, gamma_target = pivoted_body.gravity_direction(sigma), pivoted_body.gravity_direction(target)
    by_python = {
        "energy": lambda: energy_shaping.control_torque.py_func(BODY, gains, sigma, target, gamma, omega),
        "sliding_mode": lambda: sliding_mode.control_torque.py_func(BODY, gains, gamma, gamma_target, omega),
        "pd": lambda: axis_control.control_torque.py_func(BODY, gains, sigma, target, gamma, omega),
    }
    arguments = (LAWS[law], BODY, gains, sigma, target, omega)
    assert by_python[law]() == pytest.approx(control.control_torque(*arguments), rel=1e-12)


@given(st.floats(1e-6, 10.0), st.floats(0.05, 5.0), st.floats(0.05, 5.0))
def test_sliding_mode_reaching_time(start, reaching, rate):
    """s' = -(epsilon + alpha s), solved by its exponential."""
    time = sliding_mode.reaching_time(Gains(reaching=reaching, reaching_rate=rate), start)
    assume(rate * time < 20.0)
    left = (start + reaching / rate) * math.exp(-rate * time) - reaching / rate
    assert left == pytest.approx(0.0, abs=1e-12 * (start + reaching / rate))


@pytest.mark.parametrize("seed", SEEDS)
def test_tracking_errors_and_feedforward_torque(seed):
    """e_R does the work of the angle; at the reference the torque is what the motion needs."""
    rng = np.random.default_rng(seed)
    q, omega = random_quaternion(rng), np.array(random_vector(rng))
    rest = tracking.Reference(np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3))
    error, rate_error = tracking.errors(rest, np.array(q), omega)
    assert rate_error == pytest.approx(omega)

    def one_less_cosine(attitude):
        return 1.5 - 0.5 * np.trace(matrix(attitude))

    assert np.dot(error, omega) == pytest.approx(derivative(one_less_cosine, q, omega), abs=CLOSE)
    wanted = tracking.Reference(np.array(q), omega, rng.normal(size=3))
    torque = tracking.control_torque(BODY, 5.0, 3.0, wanted, np.array(q), omega)
    acceleration = pivoted_body.angular_acceleration(BODY, tuple(matrix(q)[2]), tuple(omega), tuple(torque))
    assert acceleration == pytest.approx(wanted.angular_acceleration, abs=1e-12)


def flipped(q):
    """The attitude in a frame with z up of one that is given in a frame with z down, half a turn about x from it."""
    return np.array(quaternion_product(-1.0, 0.0, 0.0, 0.0, *q))


@pytest.mark.parametrize("law", LAWS)
def test_controller_takes_attitudes_in_frames_with_z_up(law):
    rng = np.random.default_rng(3)
    q, omega, gains = random_quaternion(rng), random_vector(rng), Gains()
    up = flipped(q)
    assert matrix(up)[2] == pytest.approx(-matrix(q)[2])
    torque = AttitudeController(law, "hanging", BODY, gains).torque(up, np.array(omega))
    sigma = rodrigues.from_quaternion(q)
    assert torque == pytest.approx(control.control_torque(LAWS[law], BODY, gains, sigma, TARGETS["hanging"], omega))
    assert AttitudeController(law, "hanging", BODY, gains).torque(-up, np.array(omega)) == pytest.approx(torque)


@pytest.mark.parametrize("law", LAWS)
def test_controller_torque_is_zero_at_the_target(law):
    """Upright in ROS, with the centre of mass below or above the pivot."""
    controller = AttitudeController(law, "inverted", PivotedBody(BODY.inertia, (0.0, 0.0, -40.0)), Gains())
    assert controller.torque(np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3)) == pytest.approx(0.0, abs=1e-14)


def test_energy_law_keeps_its_set_of_rodrigues_parameters():
    """Through half a turn and on to 300 degrees; after a reset the other set is nearer."""
    controller = AttitudeController("energy", "hanging", BODY, Gains())
    angles = np.radians(np.arange(0.0, 301.0, 5.0))
    still = np.zeros(3)
    last = 0.0
    for angle in angles:
        up = flipped((0.0, math.sin(0.5 * angle), 0.0, math.cos(0.5 * angle)))
        torque = controller.torque(up, still)
        sigma = (0.0, math.tan(0.25 * angle), 0.0)
        expected = control.control_torque(LAWS["energy"], BODY, Gains(), sigma, TARGETS["hanging"], (0.0, 0.0, 0.0))
        assert torque == pytest.approx(expected)
        assert torque[1] <= last
        last = torque[1]
    controller.reset()
    assert controller.torque(up, still)[1] > 0.0
