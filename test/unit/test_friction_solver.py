"""The solver of first-order systems with dry friction and limits."""

import itertools
import math
import warnings

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from grouser.physics.base.errors import ConvergenceError, DivergenceError, ParameterError
from grouser.studies.friction.reduced import BACKWARD, FORWARD, FREE, LOWER, REST, UPPER, make_reduced, solve_reduced
from grouser.studies.friction.stepping import run_function
from grouser.studies.friction.system import DryFriction, FrictionSystem, VariableLimit

REST_SPEED = 1e-10


def mass_on_spring(kinetic, excess, damping):
    """q'' + 2 zeta q' + q + Q = u."""
    friction = DryFriction([0.0, 1.0], (1.0 + excess) * kinetic, kinetic, rest_speed=REST_SPEED)
    return FrictionSystem([[0.0, 1.0], [-1.0, -2.0 * damping]], [[0.0], [1.0]], frictions=[friction])


def chain(count, levels, rest_speed=REST_SPEED, order=None):
    """Masses 1 on springs 1 in a row from a wall, damped by 0.1, the last one pulled; frictions in any order."""
    stiffness = 2.0 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1)
    stiffness[-1, -1] = 1.0
    matrix = np.block([[np.zeros((count, count)), np.eye(count)], [-stiffness, -0.1 * np.eye(count)]])
    frictions = [
        DryFriction(np.eye(2 * count)[count + i], *levels[i], rest_speed=rest_speed) for i in order or range(count)
    ]
    return FrictionSystem(matrix, np.eye(2 * count)[:, -1:], frictions=frictions)


class Cycle:
    """Closed form of the relaxation oscillation of a mass that is pulled with speed 1.

    While it slides, y = q - (tau - R) + 2 zeta has y'' + 2 zeta y' + y = 0, y(0) = 2 zeta - A, y'(0) = -1, and it stops
    where y' = -1 again. It stays until the pull tau - q = R + 2 zeta - y has grown to R + A.
    """

    def __init__(self, excess, damping):
        frequency = math.sqrt(1.0 - damping**2)
        start = 2.0 * damping - excess

        def place(t):
            sine = (-1.0 + damping * start) / frequency
            return math.exp(-damping * t) * (start * math.cos(frequency * t) + sine * math.sin(frequency * t))

        def speed(t):
            sine = (damping - start) / frequency
            return 1.0 + math.exp(-damping * t) * (-math.cos(frequency * t) + sine * math.sin(frequency * t))

        fastest = brentq(lambda t: speed(t + 1e-6) - speed(t - 1e-6), 0.5, math.pi)
        self.greatest_speed = speed(fastest)
        times = np.linspace(fastest, 2.0 * math.pi, 10_000)
        after = next(t for t in times if speed(t) < 0.0)
        self.slip_time = brentq(speed, fastest, after)
        self.period = self.slip_time + excess - 2.0 * damping + place(self.slip_time)


def test_closed_form_of_relaxation_oscillation_without_damping():
    """T = 2 pi - 2 atan A + 2 A and v_max = 1 + sqrt(1 + A^2), of the general one as well."""
    cycle = Cycle(1.7, 0.0)
    assert cycle.period == pytest.approx(2.0 * math.pi - 2.0 * math.atan(1.7) + 3.4, abs=1e-9)
    assert cycle.greatest_speed == pytest.approx(1.0 + math.sqrt(1.0 + 1.7**2), abs=1e-9)


# Kinetic level, excess of the static one over it as a share, damping ratio.
ONE_MASS = [(3.0, 0.25, 0.0), (2.0, 1.1, 0.08), (7.0, 0.4, 0.15), (1.0, 6.0, 0.3)]


@pytest.mark.parametrize(("kinetic", "excess", "damping"), ONE_MASS)
def test_one_mass_converges_to_the_closed_form_with_first_order(kinetic, excess, damping):
    """Where in a step a slip begins spreads the error of one run by some of itself: the order is that of many steps."""
    exact = Cycle(kinetic * excess, damping)
    steps = 0.02 * 2.0 ** -np.linspace(0.0, 3.0, 25)
    errors = []
    for step in steps:
        run = mass_on_spring(kinetic, excess, damping).run([0.0, 0.0], step, round(200.0 / step), lambda time: time)
        slips = run.event_time[run.event_slips]
        period = (slips[-1] - slips[2]) / (len(slips) - 3)
        errors.append((exact.period - period, exact.greatest_speed - run.state[:, 1].max()))
        assert slips[0] == pytest.approx(kinetic * (1.0 + excess), abs=1.01 * step)
        assert run.halved == 0
    for error in np.array(errors).T:
        # the numerical damping of the scheme shortens cycles and slows masses
        assert (error > 0.0).all()
        order = np.polyfit(np.log(steps), np.log(error), 1)[0]
        assert order == pytest.approx(1.0, abs=0.1)
    # The paper's error at a step of 0.005.
    assert np.interp(0.005, steps[::-1], [e[0] for e in errors[::-1]]) < 0.005 * exact.period
    assert np.interp(0.005, steps[::-1], [e[1] for e in errors[::-1]]) < 0.005 * exact.greatest_speed


def test_rest_speed_thresholds_have_hysteresis():
    """A mass without inertia, 0 = -v + u - F: rest holds up to 1.1 rest speeds, sliding ends below one."""
    rest = 1e-3
    system = FrictionSystem([[-1.0]], [[1.0]], mass=[0.0], frictions=[DryFriction([1.0], 2.0, 1.0, rest_speed=rest)])
    loads = [0.0, 1.5, 2.0 + 1.05 * rest, 2.0 + 1.15 * rest, 1.0 + 1.05 * rest, 1.0 + 0.95 * rest, 2.0 + 1.05 * rest]
    run = system.run([0.0], 0.1, len(loads) - 1, np.array(loads))
    assert run.sliding[:, 0].tolist() == [False, False, False, True, True, False, False]
    held = 1.0 / (1.0 + 2.0 / rest)
    expected = [0.0, 1.5 * held, 1.05 * rest, 1.0 + 1.15 * rest, 1.05 * rest, loads[5] * held, 1.05 * rest]
    assert run.state[:, 0] == pytest.approx(expected, rel=1e-12)
    assert run.force[1:, 0] == pytest.approx(np.array(loads[1:]) - expected[1:], rel=1e-12)
    assert run.event_time == pytest.approx([0.3, 0.5])
    assert run.event_slips.tolist() == [True, False]


@pytest.mark.parametrize("share", [0.5, 0.999999])
def test_sticking_mass_does_not_creep(share):
    """1e5 steps under a load that swings almost up to the static level."""
    levels = [(3.0, 2.0), (2.0, 1.0)]
    # The first mass gets no force from the second, which sticks.
    run = chain(2, levels).run(np.zeros(4), 0.01, 100_000, lambda time: share * 2.0 * np.sin(0.37 * time))
    assert not run.sliding.any() and len(run.event_time) == 0
    assert np.abs(run.state[:, 2:]).max() <= REST_SPEED
    # An oscillation of speed 1e-10 moves no farther than half of its cycle.
    assert np.abs(run.state[:, :2]).max() <= REST_SPEED * 2.0 / 0.37


def test_mass_sticks_between_slips():
    run = mass_on_spring(4.0, 0.5, 0.05).run([0.0, 0.0], 0.005, 100_000, lambda time: time)
    held = ~run.sliding[:, 0]
    assert 0.3 < held.mean() < 0.6
    assert np.abs(run.state[held, 1]).max() <= REST_SPEED
    # No chatter: one slip and one stop in each cycle of 7.6.
    assert len(run.event_time) == pytest.approx(2 * 500.0 / 7.6, abs=4)
    assert (run.event_slips[::2]).all() and not run.event_slips[1::2].any()
    assert (np.abs(run.force[held, 0]) <= 6.0).all()
    assert run.force[1:, 0][run.sliding[1:, 0]] == pytest.approx(4.0)


def test_order_of_frictions_is_irrelevant():
    levels = [(3.0, 2.0), (1.5, 1.0), (2.5, 1.5)]
    runs = [
        chain(3, levels, order=order).run(np.zeros(6), 0.01, 20_000, lambda time: 12.0 * np.sin(0.2 * time))
        for order in itertools.permutations(range(3))
    ]
    assert len(runs[0].event_time) > 40
    for order, run in zip(itertools.permutations(range(3)), runs, strict=True):
        assert run.state == pytest.approx(runs[0].state, abs=1e-10)
        assert (run.sliding == runs[0].sliding[:, order]).all()


def test_coupled_frictions_converge_with_first_order():
    """Three masses with slips and stops, against a step 40 times shorter."""
    system = chain(3, [(3.0, 2.0), (1.5, 1.0), (2.5, 1.5)])

    def end(step):
        run = system.run(np.zeros(6), step, round(30.0 / step), lambda time: 12.0 * np.sin(0.2 * time))
        assert set(run.event_friction) == {0, 1, 2}
        return run.state[-1, :3]

    exact = end(0.000125)
    steps = np.array([0.02, 0.015, 0.01, 0.0075, 0.005])
    errors = [np.abs(end(step) - exact).max() for step in steps]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.2)


def consistent(reduced, sliding, modes):
    """Forces and results in these states, if they are consistent with these modes; the laws as in the module."""
    frictions, rows = len(reduced.static), len(reduced.free)
    left, right = np.eye(rows), np.zeros(rows)
    for i, mode in enumerate(modes):
        level = (reduced.kinetic if sliding[i] else reduced.static)[i] if i < frictions else 0.0
        if mode == REST:
            # p rest / level + r = 0
            left[i] = reduced.response[i]
            left[i, i] += reduced.rest_speed[i] / level
            right[i] = -reduced.free[i]
        elif mode in (LOWER, UPPER):
            left[i] = reduced.response[i]
            right[i] = (reduced.lower if mode == LOWER else reduced.upper)[i - frictions] - reduced.free[i]
        elif mode != FREE:
            right[i] = level if mode == BACKWARD else -level
    force = np.linalg.solve(left, right)
    result = reduced.free + reduced.response @ force
    for i, mode in enumerate(modes):
        if i < frictions:
            rest = reduced.rest_speed[i]
            fits = {REST: abs(result[i]) <= rest, FORWARD: result[i] > rest, BACKWARD: result[i] < -rest}[mode]
        else:
            low, high = reduced.lower[i - frictions], reduced.upper[i - frictions]
            fits = {FREE: low < result[i] < high, LOWER: force[i] >= 0.0, UPPER: force[i] <= 0.0}[mode]
        if not fits:
            return None
    return force, result


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.integers(0, 2))
def test_friction_forces_are_the_unique_solution(seed, frictions, limits):
    """Against all combinations of sticking, sliding and active limits, for random P-matrices. Definite matrices, also

    asymmetric ones, are P-matrices, also with scaled rows and columns.
    """
    random, rows = np.random.default_rng(seed), frictions + limits
    root, turn = random.normal(size=(rows, rows)), random.normal(size=(rows, rows))
    scale = 10.0 ** random.uniform(-2.0, 2.0, rows)
    kinetic = random.uniform(0.1, 1.0, frictions)
    lower = random.uniform(-1.0, 0.5, limits)
    reduced = make_reduced(
        1, kinetic + random.uniform(0.0, 1.0, frictions), kinetic, np.full(frictions, 1e-3), lower, lower + 0.5
    )
    reduced.response[:] = scale[:, np.newaxis] * (root @ root.T + 0.1 * np.eye(rows) + turn - turn.T)
    reduced.free[:] = scale * random.normal(scale=2.0, size=rows)
    reduced.sliding[:] = random.random(frictions) < 0.5
    assert solve_reduced(reduced)
    kinds = [(REST, BACKWARD, FORWARD)] * frictions + [(FREE, LOWER, UPPER)] * limits
    found = [consistent(reduced, reduced.sliding, modes) for modes in itertools.product(*kinds)]
    found = [solution for solution in found if solution is not None]
    assert len(found) == 1
    assert reduced.force == pytest.approx(found[0][0], rel=1e-6, abs=1e-9)
    assert reduced.result == pytest.approx(found[0][1], rel=1e-6, abs=1e-9)
    speed = np.abs(reduced.result[:frictions])
    assert (reduced.sliding == (speed > np.where(reduced.sliding, 1.0, 1.1) * 1e-3)).all()


def limited(skew, free):
    """Rows that must not be below 0, with 1 and a skew matrix as response: a P-matrix."""
    reduced = make_reduced(1, [], [], [], np.zeros(3), np.full(3, np.inf))
    x, y, z = skew
    reduced.response[:] = [[1.0, x, y], [-x, 1.0, z], [-y, -z, 1.0]]
    reduced.free[:] = free
    assert solve_reduced(reduced)
    assert (reduced.force >= -1e-14).all() and (reduced.result >= 0.0).all()
    assert reduced.force @ reduced.result == pytest.approx(0.0, abs=1e-12)
    assert reduced.result == pytest.approx(reduced.free + reduced.response @ reduced.force, abs=1e-12)


def test_cycling_guesses_are_corrected_one_by_one():
    """Correcting all wrong guesses at once returns to the first guess, no active limit."""
    limited((8.0, 4.0, 5.0), (-8.0, 2.0, 7.8))
    limited((-7.0, -8.0, 4.0), (-7.3, 1.4, -0.2))
    limited((1.0, 7.0, -2.0), (-7.4, 6.4, 1.8))


def test_limit_without_force_is_insensitive_to_rounding():
    """The second row is 0 without a force: its force is 1e-16, or its value is."""
    limited((-3.0, 5.0, 2.0), (-3.0, -3.0, 3.0))


@pytest.mark.parametrize("gain", [0.5, 20.0])
def test_signal_saturates_at_its_limit(gain):
    """x' = s, 0 = -s + gain (1 - x), |s| <= 0.3: constant speed, then implicit Euler of the free loop."""
    system = FrictionSystem(
        [[0.0, 1.0], [-gain, -1.0]],
        [[0.0], [gain]],
        mass=[1.0, 0.0],
        limits=[VariableLimit(1, -0.3, 0.3)],
    )
    step = 0.05
    run = system.run([0.0, 0.3], step, 200, lambda time: np.ones_like(time))
    x = 0.0
    for k in range(200):
        free = gain * (1.0 - x) / (1.0 + gain * step)
        x += step * min(free, 0.3)
        assert run.state[k + 1] == pytest.approx([x, min(free, 0.3)], rel=1e-12)
    saturated = run.state[1:, 1] == 0.3
    # exactly at the limit, while at all
    assert saturated.any() and (np.diff(saturated.astype(int)) <= 0).all()
    assert run.halved == 0


def test_two_signals_in_series_saturate():
    """0 = -a + 5 u, 0 = -b + 2 a - 1: each at its limit where its own equation is beyond."""
    system = FrictionSystem(
        [[-1.0, 0.0], [2.0, -1.0]],
        [[5.0, 0.0], [0.0, -1.0]],
        mass=[0.0, 0.0],
        limits=[VariableLimit(1, -1.5, 0.5), VariableLimit(0, upper=1.0)],
    )
    u = np.linspace(-1.0, 1.0, 101)
    run = system.run([0.0, 0.0], 1.0, 100, np.column_stack([u, np.ones(101)]))
    a = np.minimum(5.0 * u, 1.0)[1:]
    assert run.state[1:, 0] == pytest.approx(a, abs=1e-14)
    assert run.state[1:, 1] == pytest.approx(np.clip(2.0 * a - 1.0, -1.5, 0.5), abs=1e-14)


def test_an_end_stop_holds_exactly_and_lets_go():
    """A mass is driven against a stop, rests there, and leaves it when the force reverses."""
    stop = VariableLimit(0, lower=0.0, effect=[0.0, 1.0], name="stop")
    system = FrictionSystem([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], limits=[stop])
    step = 0.01
    force = np.where(np.arange(401) < 300, -1.0, 0.5)
    run = system.run([0.5, 0.0], step, 400, force)
    place, speed = run.state.T
    assert (place >= 0.0).all()
    arrived = int(np.flatnonzero(place == 0.0)[0])
    # sqrt(2 s / a) = 1, in steps, less what the scheme is ahead
    assert arrived == pytest.approx(100, abs=2)
    # the step before the last cm has left some of the speed; from then on there is none
    held = slice(arrived + 1, 300)
    assert (place[held] == 0.0).all() and (np.abs(speed[held]) < 1e-15).all()
    assert (place[300:] > 0.0).all()
    assert speed[300:] == pytest.approx(0.5 * step * np.arange(1, 102), abs=1e-12)


def test_friction_and_end_stop_together():
    """A block with friction 1 is pressed against a stop with 3: pulled back with 0.9 it stays, with 1.2 it leaves."""
    stop = VariableLimit(0, upper=1.0, effect=[0.0, 1.0])
    system = FrictionSystem(
        [[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], frictions=[DryFriction([0.0, 1.0], 1.0, 1.0)], limits=[stop]
    )
    force = np.repeat([3.0, -0.9, -1.2], 300)
    run = system.run([0.9, 0.0], 0.01, 899, force)
    assert (run.state[:, 0] <= 1.0).all()
    # it creeps by less than the rest speed of 1e-10 a second
    assert run.state[250:600, 0] == pytest.approx(1.0, abs=1e-9)
    assert (run.state[250:300, 0] == 1.0).all()
    # with 0.2 for 300 steps of the implicit scheme
    assert run.state[-1, 0] == pytest.approx(1.0 - 0.2 * 0.01**2 * 300 * 301 / 2, abs=1e-9)


def test_saturated_input_does_not_release_friction():
    """v' = s - F, 0 = -s + 5 u, s <= 1: friction holds 1.5, but not 5; once sliding, 0.5 would not stop it."""
    system = FrictionSystem(
        [[0.0, 1.0], [0.0, -1.0]],
        [[0.0], [5.0]],
        mass=[1.0, 0.0],
        frictions=[DryFriction([1.0, 0.0], 1.5, 0.5)],
        limits=[VariableLimit(1, -1.0, 1.0)],
    )
    run = system.run([0.0, 0.0], 0.01, 3, np.array([0.0, 0.1, 1.0, 1.0]))
    assert run.state[:, 1].tolist() == [0.0, 0.5, 1.0, 1.0]
    assert not run.sliding.any()
    assert np.abs(run.state[:, 0]).max() <= 1e-10


@numba.njit
def linear(t, y, u, out):
    """A y + B u, with A and B u at the end of each step as inputs."""
    n = y.shape[0]
    for i in range(n):
        out[i] = u[n * n + i]
        for j in range(n):
            out[i] += u[n * i + j] * y[j]


@pytest.mark.parametrize("seed", range(8))
def test_function_system_equals_matrix_system(seed):
    """Random systems of five variables, one of them algebraic, with two frictions and two limits."""
    random, n, steps = np.random.default_rng(seed), 5, 400
    matrix = random.normal(size=(n, n)) - 3.0 * np.eye(n)
    mass = np.array([1.0, 0.5, 2.0, 1.0, 0.0])
    frictions = [
        DryFriction(np.eye(n)[0], 0.8, 0.5, rest_speed=1e-6),
        DryFriction(np.eye(n)[1] + 0.2 * np.eye(n)[2], 0.5, 0.3, rest_speed=1e-6),
    ]
    limits = [VariableLimit(4, -0.4, 0.5), VariableLimit(2, -0.3, 0.6)]
    inputs, time = random.normal(size=(n, 2)), 0.02 * np.arange(steps + 1)
    u = 3.0 * np.column_stack([np.sin(time), np.cos(2.3 * time)])
    with_matrices = FrictionSystem(matrix, inputs, mass, frictions, limits).run(np.zeros(n), 0.02, steps, u)
    flat = np.hstack([np.tile(matrix.ravel(), (steps + 1, 1)), u @ inputs.T])
    system = FrictionSystem(linear, mass=mass, frictions=frictions, limits=limits, scale=np.ones(n))
    with_function = system.run(np.zeros(n), 0.02, steps, flat)
    assert with_matrices.sliding.any() and not with_matrices.sliding.all()
    assert np.isin(with_matrices.state[:, [4, 2]], [-0.4, 0.5, -0.3, 0.6]).any()
    # its equations are solved to 1e-9
    assert with_function.state == pytest.approx(with_matrices.state, abs=1e-7)
    assert (with_function.sliding == with_matrices.sliding).all()


@numba.njit
def swing(t, y, u, out):
    """A pendulum in air, turned by u."""
    out[0] = y[1]
    out[1] = u[0] - math.sin(y[0]) - 0.3 * y[1] * abs(y[1])


def test_nonlinear_function_agrees_with_radau():
    """It rotates in one direction, so that friction is a constant moment."""
    system = FrictionSystem(swing, frictions=[DryFriction([0.0, 1.0], 1.0, 0.5, rest_speed=1e-9)], scale=[1.0, 1.0])

    def moment(time):
        return 2.5 + np.sin(time)

    def slope(time, y):
        return [y[1], moment(time) - 0.5 - math.sin(y[0]) - 0.3 * y[1] * abs(y[1])]

    exact = solve_ivp(slope, (0.0, 8.0), [0.0, 1.0], method="Radau", rtol=1e-11, atol=1e-12).y[:, -1]
    errors = []
    for steps in (800, 1600, 3200, 6400):
        run = system.run([0.0, 1.0], 8.0 / steps, steps, moment, sliding=[True])
        assert run.sliding.all() and (run.state[:, 1] > 0.1).all()
        errors.append(run.state[-1] - exact)
    ratio = np.array(errors[:-1]) / np.array(errors[1:])
    assert ratio[-1] == pytest.approx(2.0, abs=0.05)
    # Extrapolation of two steps is of second order.
    assert np.abs(2.0 * errors[-1] - errors[-2]).max() < 0.02 * np.abs(errors[-1]).max()


@numba.njit
def saturating(t, y, u, out):
    out[0] = math.tanh(y[1])
    out[1] = 5.0 * u[0] - y[1]


def test_newton_overshoot_does_not_release_friction():
    """v' = tanh(s) - F, 0 = 5 u - s: s is 5 after the first Newton iteration and 1 at convergence.

    Friction holds 1.5.
    """
    friction = DryFriction([1.0, 0.0], 1.5, 0.5)
    system = FrictionSystem(saturating, mass=[1.0, 0.0], frictions=[friction], scale=[1.0, 1.0])
    run = system.run([0.0, 0.0], 0.01, 3, np.array([0.0, 1.0, 1.0, 1.0]))
    assert not run.sliding.any() and np.abs(run.state[:, 0]).max() <= 1e-10
    assert run.force[1:, 0] == pytest.approx(math.tanh(5.0), rel=1e-6)


@numba.njit
def overflowing(t, y, u, out):
    if y[0] > 2.0:
        raise OverflowError("y is above two")
    out[0] = 1.0


def test_exception_of_a_function_reaches_the_caller():
    with pytest.raises(OverflowError, match="y is above two"):
        FrictionSystem(overflowing, scale=[1.0]).run([0.0], 0.1, 100)


def unstable():
    """y' = 10 y - F: a step above 0.1 reverses the motion, and friction accelerates it."""
    return FrictionSystem([[10.0]], frictions=[DryFriction([1.0], 1.0, 0.5, rest_speed=1e-6)])


def test_step_that_does_not_converge_is_halved_with_a_warning():
    with pytest.warns(RuntimeWarning, match=r"^3 of 3 steps of 0.15 s did not converge, and were made in parts$"):
        whole = unstable().run([5.0], 0.15, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        halves = unstable().run([5.0], 0.075, 6)
    assert (whole.halved, halves.halved) == (3, 0)
    assert whole.state == pytest.approx(halves.state[::2], rel=1e-12)
    # each half as 4 (y - 0.075 p), with the kinetic level
    assert whole.state[1, 0] == pytest.approx(4.0 * (4.0 * (5.0 - 0.0375) - 0.0375), rel=1e-12)
    assert whole.sliding[1:].all() and (whole.force[1:] == 0.5).all()


@pytest.mark.parametrize("seed", [94, 136, 254, 894, 1540])
def test_halved_steps_begin_with_the_friction_states_of_the_step(seed):
    """Random unstable systems whose step of 0.1 changes states before it fails."""
    random = np.random.default_rng(seed)
    matrix, start = random.normal(scale=12.0, size=(2, 2)), random.normal(size=2) * (random.random(2) < 0.7)
    frictions = [DryFriction(np.eye(2)[i], 2.0, 0.5, rest_speed=1e-6) for i in range(2)]
    system = FrictionSystem(matrix, random.normal(scale=5.0, size=(2, 1)), frictions=frictions)
    with pytest.warns(RuntimeWarning, match="1 of 1 steps"):
        whole = system.run(start, 0.1, 1, np.ones(2))
    halves = system.run(start, 0.05, 2, np.ones(3))
    assert halves.halved == 0
    assert whole.state[-1] == pytest.approx(halves.state[-1], rel=1e-9, abs=1e-12)
    assert (whole.sliding[-1] == halves.sliding[-1]).all()


@numba.njit
def unstable_function(t, y, u, out):
    out[0] = 10.0 * y[0]


def test_function_step_is_halved():
    friction = DryFriction([1.0], 1.0, 0.5, rest_speed=1e-6)
    with pytest.warns(RuntimeWarning, match="3 of 3 steps"):
        run = FrictionSystem(unstable_function, frictions=[friction], scale=[1.0]).run([5.0], 0.15, 3)
    with pytest.warns(RuntimeWarning):
        expected = unstable().run([5.0], 0.15, 3)
    assert run.state == pytest.approx(expected.state, rel=1e-6)


@numba.njit
def crossed(t, y, u, out):
    out[0] = u[0]
    out[1] = 0.0


def test_step_that_never_converges_raises_convergence_error():
    """Each friction slows what it acts against, and the other one twice as much: not a P-matrix."""
    frictions = [
        DryFriction([1.0, 0.0], 2.0, 1.0, effect=[1.0, 2.0]),
        DryFriction([0.0, 1.0], 2.0, 1.0, effect=[2.0, 1.0]),
    ]
    load = np.array([0.0, 1.0, 3.0, 3.0])
    for system in (
        FrictionSystem(np.zeros((2, 2)), [[1.0], [0.0]], frictions=frictions),
        FrictionSystem(crossed, frictions=frictions, scale=[1.0, 1.0]),
    ):
        with pytest.raises(ConvergenceError, match="not even in parts of 9.77e-05 s") as caught:
            system.run([0.0, 0.0], 0.1, 3, load)
        assert caught.value.time == pytest.approx(0.1)
        assert caught.value.part == pytest.approx(0.1 / 1024)


def test_functions_share_the_compiled_steps():
    for function, frictions in ((unstable_function, 1), (crossed, 2)):
        rows = [DryFriction(row, 1.0, 0.5) for row in np.eye(2)[:frictions, :frictions]]
        FrictionSystem(function, frictions=rows, scale=np.ones(frictions)).run(
            np.zeros(frictions), 0.01, 1, np.zeros(2)
        )
    assert len(run_function.overloads) == 1


def test_infinite_state_raises_divergence_error():
    with pytest.raises(DivergenceError, match="variable 0 has the value inf"):
        FrictionSystem([[1.0]]).run([1.0], 0.5, 2000)


def test_run_continues_from_the_end_of_another():
    system = mass_on_spring(4.0, 0.5, 0.05)
    whole = system.run([0.0, 0.0], 0.01, 2000, lambda time: time)
    first = system.run([0.0, 0.0], 0.01, 1000, lambda time: time)
    then = system.run(first.state[-1], 0.01, 1000, lambda time: time, time=10.0, sliding=first.sliding[-1])
    assert then.state == pytest.approx(whole.state[1000:], abs=1e-12)
    assert (then.sliding == whole.sliding[1000:]).all()
    assert then.event_time == pytest.approx(whole.event_time[whole.event_time > 10.0])


def test_zero_friction_has_no_effect():
    free = FrictionSystem([[0.0, 1.0], [-1.0, 0.0]], [[0.0], [1.0]]).run([1.0, 0.0], 0.01, 500)
    assert mass_on_spring(0.0, 0.5, 0.0).run([1.0, 0.0], 0.01, 500).state == pytest.approx(free.state, abs=1e-15)
    assert free.force.shape == (501, 0)


NAN, INF = math.nan, math.inf


def friction(**changes):
    return DryFriction(**({"speed": [0.0, 1.0], "static": 2.0, "kinetic": 1.0, "name": "bearing"} | changes))


def system(matrix=((0.0, 1.0), (-1.0, 0.0)), **given):
    return FrictionSystem(matrix, **given)


REFUSED = {
    "kinetic above static": (lambda: system(frictions=[friction(kinetic=2.1)]), "kinetic friction of 'bearing' = 2.1"),
    "negative kinetic": (lambda: system(frictions=[friction(kinetic=-1.0)]), "kinetic friction of 'bearing' = -1"),
    "negative static": (lambda: system(frictions=[friction(static=-1.0)]), "static friction of 'bearing' = -1"),
    "infinite static": (lambda: system(frictions=[friction(static=INF)]), "static friction of 'bearing' = inf"),
    "static NaN": (lambda: system(frictions=[friction(static=NAN)]), "static friction of 'bearing' = nan"),
    "kinetic NaN": (lambda: system(frictions=[friction(kinetic=NAN)]), "kinetic friction of 'bearing' = nan"),
    "rest speed 0": (lambda: system(frictions=[friction(rest_speed=0.0)]), "rest speed of 'bearing' = 0"),
    "rest speed NaN": (lambda: system(frictions=[friction(rest_speed=NAN)]), "rest speed of 'bearing' = nan"),
    "speed too long": (lambda: system(frictions=[friction(speed=[0, 0, 1])]), "speed of 'bearing' .* 2 numbers"),
    "speed NaN": (lambda: system(frictions=[friction(speed=[0, NAN])]), "speed of 'bearing' .* finite"),
    "speed in words": (lambda: system(frictions=[friction(speed="fast")]), "speed of 'bearing' .* numbers"),
    "effect too long": (lambda: system(frictions=[friction(effect=[1])]), "effect of 'bearing' .* 2 numbers"),
    "effect that drives": (
        lambda: system(frictions=[friction(effect=[0.0, -1.0])]).run([0, 0], 0.1, 1),
        "effect of 'bearing' .* drives what it should hold",
    ),
    "limits without room": (lambda: system(limits=[VariableLimit(0, 1.0, -1.0, name="stop")]), "limits of 'stop' ="),
    "limit NaN": (lambda: system(limits=[VariableLimit(0, NAN, name="stop")]), "limits of 'stop' ="),
    "limit of nothing": (lambda: system(limits=[VariableLimit(2, name="stop")]), "variable of 'stop' = 2 .* 0 to 1"),
    "limit by name": (lambda: system(limits=[VariableLimit("x", name="stop")]), "variable of 'stop' = 'x'"),
    "limits of one variable": (
        lambda: system(limits=[VariableLimit(0, 0.0), VariableLimit(0, -1.0, name="stop")]),
        "variable of 'stop' = 0",
    ),
    "limit's effect": (lambda: system(limits=[VariableLimit(0, effect=[1], name="stop")]), "effect of 'stop'"),
    "limit of a variable with the wrong sign": (
        lambda: system([[0, 1], [1, 1]], mass=[1, 0], limits=[VariableLimit(1, -1, 1, name="u")]).run([0, 0], 0.1, 1),
        "effect of 'u' .* own coefficient in its equation is negative",
    ),
    "start below a limit": (
        lambda: system(limits=[VariableLimit(1, -1.0, 1.0, name="voltage")]).run([0.0, -2.0], 0.1, 1),
        r"start\[1\] = -2.0 .* between -1 and 1, the limits of 'voltage'",
    ),
    "limit below its start": (
        lambda: system(limits=[VariableLimit(1, -INF, 1.0, name="voltage")]).run([0.0, 2.0], 0.1, 1),
        r"start\[1\] = 2.0 .* between -inf and 1",
    ),
    "matrix not square": (lambda: system([[0.0, 1.0]]), r"matrix = \(1, 2\)"),
    "matrix NaN": (lambda: system([[NAN]]), "matrix .* finite"),
    "inputs": (lambda: system(inputs=[[1.0]]), r"inputs = \(1, 1\)"),
    "mass": (lambda: system(mass=[1.0, 1.0, 1.0]), r"mass = \(3, 3\)"),
    "mass NaN": (lambda: system(mass=[1.0, NAN]), "mass .* finite"),
    "function without scale": (lambda: FrictionSystem(swing), "scale = None"),
    "scale 0": (lambda: FrictionSystem(swing, scale=[1.0, 0.0]), "scale .* above 0"),
    "scale a number": (lambda: FrictionSystem(swing, scale=1.0), "scale .* each variable"),
    "singular": (lambda: system([[0.0, 1.0], [0.0, 0.0]], mass=[1, 0]).run([0, 0], 0.1, 1), "matrix = 'singular'"),
    "start": (lambda: system().run([0.0], 0.1, 1), r"start = \(1,\)"),
    "start NaN": (lambda: system().run([0.0, NAN], 0.1, 1), "start .* finite"),
    "step 0": (lambda: system().run([0.0, 0.0], 0.0, 1), "step = 0.0"),
    "step NaN": (lambda: system().run([0.0, 0.0], NAN, 1), "step = nan"),
    "steps below 0": (lambda: system().run([0.0, 0.0], 0.1, -1), "steps = -1"),
    "half a step": (lambda: system().run([0.0, 0.0], 0.1, 0.5), "steps = 0.5"),
    "samples too few": (lambda: system(inputs=[[0], [1]]).run([0, 0], 0.1, 5, np.zeros(5)), r"inputs = \(5, 1\)"),
    "samples lying": (
        lambda: system(inputs=np.eye(2)).run([0, 0], 0.1, 5, np.zeros((2, 6))),
        r"inputs = \(2, 6\) .* \(6, 2\)",
    ),
    "samples missing": (lambda: system(inputs=np.eye(2)).run([0, 0], 0.1, 5, np.zeros(6)), r"inputs = \(6, 1\)"),
    "samples NaN": (lambda: system(inputs=[[0], [1]]).run([0, 0], 0.1, 1, [0.0, NAN]), "inputs .* finite"),
    "sliding": (
        lambda: system(frictions=[friction()] * 2).run([0, 0], 0.1, 1, sliding=[True]),
        "sliding = .* 2 times true or false",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_by_name(case):
    make, words = REFUSED[case]
    with pytest.raises(ParameterError, match=words):
        make()
