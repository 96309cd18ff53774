"""Attitude dynamics of rigid bodies: kernels, invalid input, and errors of a motion."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from grouser import ParameterError, RigidBody, simulate_body, simulate_pendulum
from grouser.physics.base.errors import ConvergenceError, DivergenceError
from grouser.physics.base.spatial import quaternion_from_matrix, skew
from grouser.studies.attitude.body import BodyState, invariants
from grouser.studies.attitude.lie_group import lie_group_step, solve_turn
from grouser.studies.attitude.motion import METHODS

NAN, INF = math.nan, math.inf


def random_inertia(random):
    """Inertia of a cloud of ten masses about a point among them."""
    places = random.normal(size=(10, 3)) * random.uniform(0.2, 1.0, size=3)
    return sum(place @ place * np.eye(3) - np.outer(place, place) for place in places)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 0.8))
def test_rotation_of_a_step_solves_the_matrix_equation(seed, angle):
    """c^ = F J_d - J_d F^T, for the momentum that turns a body by about an angle."""
    random = np.random.default_rng(seed)
    inertia, axis = random_inertia(random), random.normal(size=3)
    c = inertia @ axis * (math.sin(angle) / np.linalg.norm(axis))
    x, y, z, rounds, _ = solve_turn(inertia, *c, 0.0, 0.0, 0.0)
    assert 0 < rounds < 15
    v = np.array([x, y, z])
    turning = Rotation.from_rotvec(2.0 * math.atan(np.linalg.norm(v)) * v / np.linalg.norm(v)).as_matrix()
    nonstandard = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    # the rounding of the matrices' elements
    scale = 10.0 * np.finfo(float).eps * np.abs(nonstandard).max()
    assert turning @ nonstandard - nonstandard @ turning.T == pytest.approx(skew(c), rel=0.0, abs=scale)


def test_rotation_of_a_slender_body_converges():
    """One moment up to 1e10 times smaller than the others: rounding keeps its component from settling to all digits."""
    random, rough = np.random.default_rng(0), 0
    for turned in Rotation.random(50, random_state=1).as_matrix():
        inertia = turned @ np.diag([10.0 ** random.uniform(-10.0, -7.0), 1.0, 1.0]) @ turned.T
        wanted = turned @ [0.1, 0.05, -0.02] * random.normal(size=3)
        c = 2.0 * (inertia @ wanted + np.cross(wanted, inertia @ wanted)) / (1.0 + wanted @ wanted)
        x, y, z, rounds, change = solve_turn(inertia, *c, 0.0, 0.0, 0.0)
        assert rounds > 0
        v = np.array([x, y, z])
        rough += change > 1e-9 * np.linalg.norm(v)
        left = 2.0 * (inertia @ v + np.cross(v, inertia @ v)) - (1.0 + v @ v) * c
        assert np.abs(left).max() < 1e-14 * np.abs(c).max()
    assert rough > 10


def test_rotation_beyond_a_right_angle_has_no_solution():
    """About a principal axis c = J sin(angle), which has none above J."""
    inertia = np.diag([1.0, 2.0, 2.5])
    assert solve_turn(inertia, 0.999, 0.0, 0.0, 0.0, 0.0, 0.0)[3] > 0
    assert solve_turn(inertia, 1.001, 0.0, 0.0, 0.0, 0.0, 0.0)[3] < 0
    # Beyond the right angle Newton's method finds the other solution.
    assert solve_turn(inertia, 0.5, 0.0, 0.0, 3.0, 0.0, 0.0)[3] < 0


def pendulum(**changes):
    return RigidBody(**({"mass": 1.0, "inertia": [0.13, 0.28, 0.17], "offset": [0.0, 0.0, 0.3]} | changes))


def test_uncompiled_step_equals_the_compiled_step():
    body, rotation = pendulum(), Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    numbers, rate = body.numbers(), np.array([1.0, -2.0, 3.0])
    ends = []
    for function in (lie_group_step, lie_group_step.py_func):
        state = BodyState.of(body.inertia, rotation, np.array(quaternion_from_matrix(rotation)), rate)
        function(numbers, state, 0.01, 0.1, 0.2, 0.3)
        ends.append(np.concatenate([state.whole, state.quaternion, state.momentum]))
    assert ends[0] == pytest.approx(ends[1], rel=1e-14, abs=1e-15)


def test_invariants_equal_matrix_formulas():
    """With a matrix that is not a rotation, to check that its distance is the Frobenius norm."""
    random = np.random.default_rng(4)
    inertia, rotation, rate = random_inertia(random), random.normal(size=(3, 3)), random.normal(size=3)
    offset, gravity = np.array([1.0, 2.0, 3.0]), np.array([3.0, -2.0, 6.0])
    body = RigidBody(2.0, inertia + 100.0 * np.eye(3), offset, gravity)
    for function in (invariants, invariants.py_func):
        energy, momentum, distance = function(body.numbers(), rotation, rate)
        assert energy == pytest.approx(0.5 * rate @ body.inertia @ rate - 2.0 * gravity @ rotation @ offset, rel=1e-13)
        assert momentum == pytest.approx(gravity / 7.0 @ rotation @ body.inertia @ rate, rel=1e-13)
        assert distance == pytest.approx(np.linalg.norm(rotation.T @ rotation - np.eye(3)), rel=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_output_interval_does_not_change_the_motion(method):
    """The same motion, to the bit, with fewer points; largest values are those of all steps."""
    start = Rotation.from_rotvec([0.5, 0.2, 0.0]).as_matrix()
    every, some = (simulate_body(pendulum(), start, [1.0, 2.0, 3.0], 0.01, 100, method=method, every=n) for n in (1, 7))
    for name in ("time", "rotation", "angular_velocity", "position", "velocity", "energy", "vertical_momentum"):
        assert np.array_equal(getattr(some, name), getattr(every, name)[::7])
    for name in ("max_energy_error", "max_vertical_momentum_error", "max_constraint_error"):
        assert getattr(some, name) == getattr(every, name)
    assert every.max_energy_error == np.abs(every.energy - every.energy[0]).max()
    assert every.rotation[0] == pytest.approx(start, abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_position_and_velocity_are_those_of_the_centre_of_mass(method):
    start = Rotation.from_rotvec([0.5, 0.2, 0.0]).as_matrix()
    motion = simulate_body(pendulum(offset=[0.1, 0.0, 0.2]), start, [1.0, 2.0, 3.0], 1e-4, 1000, method=method)
    assert motion.position == pytest.approx(motion.rotation @ [0.1, 0.0, 0.2], abs=1e-15)
    # a central difference
    slope = (motion.position[2:] - motion.position[:-2]) / 2e-4
    assert motion.velocity[1:-1] == pytest.approx(slope, abs=1e-3)


def test_translation_and_rotation_of_a_free_body_are_independent():
    body = RigidBody(2.0, [1.0, 2.0, 2.5], gravity=[0.0, 3.0, -4.0], free=True)
    motion = simulate_body(
        body, np.eye(3), [0.3, 2.0, 0.1], 0.01, 1000, position=[1.0, 2.0, 3.0], velocity=[5.0, 0.0, 20.0]
    )
    time = motion.time[:, np.newaxis]
    assert motion.position == pytest.approx([1, 2, 3] + [5, 0, 20] * time + [0, 1.5, -2] * time**2, rel=1e-13)
    assert motion.velocity == pytest.approx([5, 0, 20] + [0, 3, -4] * time, rel=1e-13)
    # Energy of both motions, of which the scheme changes only one, and not the body's momentum in the world.
    assert motion.energy == pytest.approx(motion.energy[0], rel=0.0, abs=motion.max_energy_error + 1e-11)
    momentum = np.einsum("kij,jl,kl->ki", motion.rotation, body.inertia, motion.angular_velocity)
    # the rounding of four products with matrices, of one point
    assert momentum == pytest.approx(np.tile(body.inertia @ [0.3, 2.0, 0.1], (1001, 1)), abs=3e-14)


def test_half_of_the_torque_acts_at_each_end_of_a_step():
    """Discrete Lagrange-d'Alembert: the change of momentum in the world is h/2 (R + R') torque, to round-off."""
    random, step = np.random.default_rng(2), 0.02
    torque = random.normal(size=(200, 3))
    body = RigidBody(1.0, random_inertia(random), gravity=(0.0, 0.0, 0.0))
    motion = simulate_body(body, np.eye(3), [1.0, 0.5, -0.5], step, 200, torque=torque)
    momentum = np.einsum("kij,jl,kl->ki", motion.rotation, body.inertia, motion.angular_velocity)
    both = motion.rotation[:-1] + motion.rotation[1:]
    pushed = 0.5 * step * np.einsum("kij,kj->ki", both, torque)
    assert np.diff(momentum, axis=0) == pytest.approx(pushed, abs=2e-14)


def lie_group_action(body, step, start, end):
    """tr((1 - F) J_d) / h, less h times the mean of the potential energy at both ends."""
    nonstandard = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    potential = [-body.mass * body.gravity @ rotation.as_matrix() @ body.offset for rotation in (start, end)]
    turning = (start.inv() * end).as_matrix()
    return np.trace((np.eye(3) - turning) @ nonstandard) / step - 0.5 * step * sum(potential)


def quaternion_action(body, step, start, end):
    """h L at the mean of both quaternions and their difference over h, without regard to the length of the mean."""
    q, p = start.as_quat(), end.as_quat()
    mean, rate = 0.5 * (q + p), (p - q) / step
    # vector part of 2 mean* rate; mean arm mean*
    omega = 2.0 * (mean[3] * rate[:3] - rate[3] * mean[:3] - np.cross(mean[:3], rate[:3]))
    u, t = mean[:3], mean[3]
    arm = (t * t - u @ u) * body.offset + 2.0 * u * (u @ body.offset) + 2.0 * t * np.cross(u, body.offset)
    return step * (0.5 * omega @ body.inertia @ omega + body.mass * body.gravity @ arm)


@pytest.mark.parametrize(
    ("method", "action"),
    [("lie_group_variational", lie_group_action), ("quaternion_variational", quaternion_action)],
)
def test_the_action_of_two_steps_is_stationary(method, action):
    """Variational property: a rotation of the middle one of three attitudes changes it in second order only.

    Quaternions of a chain have the signs in which they are near each other.
    """
    random, step, apart = np.random.default_rng(3), 0.15, 1e-4
    inertia = random_inertia(random)
    offset = np.array([0.2, -0.3, 0.4])
    body = RigidBody(0.5, inertia + np.eye(3), offset, [1.0, -2.0, 9.0])
    motion = simulate_body(body, Rotation.random(random_state=3).as_matrix(), [2.0, -1.0, 1.5], step, 2, method)
    first, middle, last = (Rotation.from_matrix(rotation) for rotation in motion.rotation)
    for other in (first, last):
        assert other.as_quat() @ middle.as_quat() > 0.9

    def both(turned):
        between = middle * Rotation.from_rotvec(turned)
        assert between.as_quat() @ middle.as_quat() > 0.9
        return action(body, step, first, between) + action(body, step, between, last)

    slopes = [(both(apart * axis) - both(-apart * axis)) / (2.0 * apart) for axis in np.eye(3)]
    # of the parts that cancel each other: rounding over the distance, and the third derivative times its square
    scale = np.linalg.norm(body.inertia @ motion.angular_velocity[1])
    assert slopes == pytest.approx([0.0, 0.0, 0.0], abs=1e-8 * scale)


def test_body_at_rest_without_gravity_stays_at_rest():
    for method in METHODS:
        motion = simulate_body(
            pendulum(gravity=(0.0, 0.0, 0.0)), Rotation.from_rotvec([1.0, 0, 0]).as_matrix(), [0, 0, 0], 0.1, 5, method
        )
        assert motion.max_energy_error == 0.0 and (motion.angular_velocity == 0.0).all()


def test_step_too_long_raises_convergence_error():
    words = r"the step at t = 0.000000 s of 0.5 s .* is 3.46 rad; .* try a step of 0.072 s"
    with pytest.raises(ConvergenceError, match=words):
        simulate_body(pendulum(), np.eye(3), [4.0, 4.0, 4.0], 0.5, 10)
    with pytest.raises(ConvergenceError, match="rounds of Newton's method") as caught:
        simulate_body(pendulum(), np.eye(3), [0.0, 0.0, 0.5], 0.1, 1000, torque=[0.0, 0.0, 1.0])
    # 0.5 + t / 0.17 is below 10 rad/s, where h w is 1
    assert 0.5 < caught.value.time < 9.5 * 0.17
    with pytest.raises(ConvergenceError, match="the rod turns by would be 3"):
        simulate_pendulum([1.0, 0.0, 0.0], [0.0, 3.0, 0.0], 1.0, 1, gravity=0.0)


@pytest.mark.parametrize("method", ["lie_group_variational", "quaternion_variational"])
@pytest.mark.parametrize("rate", [[4.0, 4.0, 4.0], [1e-3, 0.0, 0.0], [0.0, 0.0, 0.0]])
def test_recommended_step_has_a_solution(method, rate):
    """Steps too long by the angular velocity, or by its change within the step due to the weight."""
    start = Rotation.from_rotvec([1.5, 0.0, 0.0]).as_matrix()
    with pytest.raises(ConvergenceError) as caught:
        simulate_body(pendulum(), start, rate, 1.0, 1, method)
    advised = float(str(caught.value).split()[-2])
    assert 0.0 < advised < 1.0
    simulate_body(pendulum(), start, rate, advised, 1, method)


def test_recommended_step_converges_in_a_simulation():
    with pytest.raises(ConvergenceError) as caught:
        simulate_body(pendulum(), np.eye(3), [4.0, 4.0, 4.0], 0.5, 10)
    advised = float(str(caught.value).split()[-2])
    # While the angular velocity is below twice that at the start.
    motion = simulate_body(pendulum(), np.eye(3), [4.0, 4.0, 4.0], advised, 100)
    assert np.linalg.norm(motion.angular_velocity, axis=1).max() < 2.0 * np.linalg.norm([4.0, 4.0, 4.0])


def test_divergence_of_a_body_raises_divergence_error():
    with pytest.raises(DivergenceError, match="the body's motion"):
        simulate_body(pendulum(), np.eye(3), [4.0, 4.0, 4.0], 3.0, 100, method="rk4")
    # the rotation alone: of a body that spins upright the energy stays
    with pytest.raises(DivergenceError, match="the body's motion"):
        simulate_body(pendulum(), np.eye(3), [0.0, 0.0, 100.0], 5.0, 20, method="rk4")


def test_euler_angles_warn_of_their_singularity():
    """Hanging, turned by 0.5 rad about x and let go, the axis goes through the vertical."""
    start = Rotation.from_rotvec([0.5, 0.0, 0.0]).as_matrix()
    with pytest.warns(RuntimeWarning, match="singularity at t = 0"):
        motion = simulate_body(pendulum(gravity=(0, 0, 9.81)), start, [0, 0, 0], 0.001, 1000, method="euler_angles")
    first = np.flatnonzero(motion.rotation[:, 1, 2] > 0.0)[0]
    assert motion.singular_time == pytest.approx(motion.time[first])
    sane = simulate_body(pendulum(gravity=(0, 0, 9.81)), start, [0, 0, 0], 0.001, 1000)
    assert sane.singular_time is None


def run(body=None, rotation=None, rate=(0.0, 0.0, 0.0), step=0.01, steps=1, **more):
    return simulate_body(body or pendulum(), np.eye(3) if rotation is None else rotation, rate, step, steps, **more)


REFUSED = {
    "mass below zero": (lambda: pendulum(mass=-1.0), "mass = -1.0"),
    "no mass": (lambda: pendulum(mass=0.0), "mass = 0.0"),
    "mass NaN": (lambda: pendulum(mass=NAN), "mass = nan"),
    "infinite mass": (lambda: pendulum(mass=INF), "mass = inf"),
    "inertia below zero": (lambda: pendulum(inertia=[1, -1, 1]), "inertia .* least is -1"),
    "inertia of two numbers": (lambda: pendulum(inertia=[1, 1]), "inertia .* 3 x 3"),
    "inertia in words": (lambda: pendulum(inertia="large"), "inertia = 'large' .* numbers"),
    "inertia NaN": (lambda: pendulum(inertia=[1, NAN, 1]), "inertia .* finite"),
    "inertia not symmetric": (lambda: pendulum(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "inertia .* symmetric"),
    "inertia of no body": (lambda: pendulum(inertia=[0.1, 0.2, 0.31]), r"inertia .* 0.31 > 0.1 \+ 0.2"),
    "inertia of no body, turned": (
        lambda: pendulum(inertia=[[0.2, 0.1, 0], [0.1, 0.2, 0], [0, 0, 1.0]]),
        r"inertia .* 1 > 0.1 \+ 0.3",
    ),
    "inertia below that of the offset": (
        lambda: pendulum(inertia=[0.08, 0.28, 0.25]),
        r"inertia .* \[\[0.09, .* 0.01 kg m2 are missing",
    ),
    "offset NaN": (lambda: pendulum(offset=[0, 0, NAN]), "offset .* finite"),
    "offset in two numbers": (lambda: pendulum(offset=[0, 0]), "offset .* three numbers"),
    "offset of a free body": (lambda: pendulum(free=True), "offset .* zero for a free body"),
    "gravity a number": (lambda: pendulum(gravity=9.81), "gravity = 9.81 .* three numbers"),
    "gravity infinite": (lambda: pendulum(gravity=[0, 0, INF]), "gravity .* finite"),
    "rotation of 2 x 2": (lambda: run(rotation=np.eye(2)), "rotation .* 3 x 3"),
    "rotation NaN": (lambda: run(rotation=NAN * np.eye(3)), "rotation .* finite"),
    "rotation too long": (lambda: run(rotation=1.001 * np.eye(3)), "rotation .* off by 0.00347"),
    "rotation a reflection": (lambda: run(rotation=np.diag([1, 1, -1])), "rotation .* reflection"),
    "rate NaN": (lambda: run(rate=[0, 0, NAN]), "angular_velocity .* finite"),
    "step 0": (lambda: run(step=0.0), "step = 0.0"),
    "step NaN": (lambda: run(step=NAN), "step = nan"),
    "steps below 0": (lambda: run(steps=-1), "steps = -1"),
    "half a step": (lambda: run(steps=0.5), "steps = 0.5"),
    "every 0": (lambda: run(every=0), "every = 0"),
    "method": (lambda: run(method="rk5"), "method = 'rk5' .* lie_group_variational, "),
    "torque": (lambda: run(steps=3, torque=np.zeros((2, 3))), r"torque = \(2, 3\) .* \(3, 3\)"),
    "torque NaN": (lambda: run(torque=[NAN, 0, 0]), "torque .* finite"),
    "position where it is held": (lambda: run(position=[1, 0, 0]), "position .* held"),
    "velocity where it is held": (lambda: run(velocity=[1, 0, 0]), "velocity .* held"),
    "upright in Euler angles": (lambda: run(method="euler_angles"), "rotation .* singular"),
    "rod of no length": (lambda: simulate_pendulum([0, 0, 0], [0, 0, 0], 0.1, 1), "position .* away from the pivot"),
    "along the rod": (lambda: simulate_pendulum([0, 0, 1], [0, 1, 1e-3], 0.1, 1), "velocity .* right angles"),
    "gravity NaN": (lambda: simulate_pendulum([0, 0, 1], [0, 1, 0], 0.1, 1, gravity=NAN), "gravity = nan"),
    "pendulum's step": (lambda: simulate_pendulum([0, 0, 1], [0, 1, 0], -0.1, 1), "step = -0.1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_by_name(case):
    make, words = REFUSED[case]
    with pytest.raises(ParameterError, match=words):
        make()
