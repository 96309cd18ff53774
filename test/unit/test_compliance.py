"""Kernels of the elastic connections: deflections and their gradients, spring laws, damping of a step."""

import numpy as np
import pytest

from grouser.physics.base.spatial import matrix, quaternion_exponential
from grouser.physics.compliance.loops import _measure_rotation
from grouser.physics.compliance.springs import JointSprings, hysteresis_after, joint_spring_energy, linearised_spring
from grouser.physics.compliance.vibration import implicit_damping_ratio


def turn(vector):
    return matrix(quaternion_exponential(*vector))


def rotations(axis, relative):
    deflection, gradient = np.zeros(6), np.zeros((3, 3))
    _measure_rotation(axis, np.ascontiguousarray(relative), deflection, gradient)
    return deflection[3:], gradient


@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-5, 1e-3, 0.02, 0.5, 2.5])
def test_rotation_gradients_against_central_differences(axis, size):
    random = np.random.default_rng(7)
    relative = turn(size * random.uniform(0.5, 1.0, 3))
    if axis >= 0:
        relative = relative @ turn(2.5 * np.eye(3)[axis])
    _, gradient = rotations(axis, relative)
    small = 1e-5
    numeric = np.array(
        [
            (rotations(axis, turn(small * e) @ relative)[0] - rotations(axis, turn(-small * e) @ relative)[0])
            for e in np.eye(3)
        ]
    ).T / (2.0 * small)
    # central differences: the square of 1e-5, and rounding over it
    assert gradient == pytest.approx(numeric, abs=1e-8)


def test_rotation_gradients_compiled_and_interpreted_agree():
    relative = turn([0.3, -0.2, 0.9])
    for axis in (-1, 0, 1, 2):
        deflection, gradient = np.zeros(6), np.zeros((3, 3))
        _measure_rotation.py_func(axis, relative, deflection, gradient)
        compiled = rotations(axis, relative)
        assert compiled[0] == pytest.approx(deflection[3:], abs=1e-15)
        assert compiled[1] == pytest.approx(gradient, abs=1e-15)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("angle", [-3.1, -1.8, 0.0, 1.8, 3.1])
def test_swing_and_twist_are_separated(axis, angle):
    e, aside = np.eye(3)[axis], np.eye(3)[(axis + 1) % 3]
    measured, _ = rotations(axis, turn(0.4 * aside) @ turn(angle * e))
    assert measured == pytest.approx(0.4 * aside + angle * e, abs=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("aside", [1, 2])
def test_an_inverted_axis_has_a_swing_of_pi(axis, aside):
    flipped = np.diag(np.where(np.arange(3) == (axis + aside) % 3, 1.0, -1.0))
    measured, gradient = rotations(axis, flipped)
    assert np.linalg.norm(np.delete(measured, axis)) == pytest.approx(np.pi, abs=1e-12)
    assert np.isfinite(gradient).all()


def laws(**values):
    fields = dict.fromkeys(JointSprings._fields, 0.0) | values
    return JointSprings(*[np.array([value]) for value in fields.values()])


def impulse(law, position, speed, step, hysteretic=0.0, new_speed=None):
    g, b = linearised_spring.py_func(law, 0, position, speed, hysteretic, step)
    return g * (b - (speed if new_speed is None else new_speed))


def test_linearised_spring_acts_with_its_deflection_at_the_end_of_the_step():
    law = laws(stiffness=300.0, damping=2.0, rest_position=0.1)
    assert impulse(law, 0.3, 0.5, 0.01) == pytest.approx(-0.01 * (300.0 * (0.2 + 0.005) + 2.0 * 0.5))


def test_no_spring_force_within_the_backlash():
    law = laws(stiffness=300.0, damping=2.0, half_gap=0.05)
    assert impulse(law, 0.04, 0.5, 0.01) == 0.0
    # met within the step
    assert impulse(law, 0.04, 2.0, 0.01) < 0.0
    assert impulse(law, -0.04, -2.0, 0.01) > 0.0
    # left within the step
    assert impulse(law, 0.06, -2.0, 0.01) == 0.0


def test_cubic_spring_is_linearised_at_its_present_deflection():
    law = laws(stiffness=300.0, cubic_stiffness=4000.0)
    still = impulse(law, 0.2, 0.0, 0.01)
    assert still == pytest.approx(-0.01 * (300.0 * 0.2 + 4000.0 * 0.2**3))
    slope = impulse(law, 0.2, 0.0, 0.01, new_speed=1.0) - still
    assert slope == pytest.approx(-(0.01**2) * (300.0 + 3.0 * 4000.0 * 0.2**2))


def test_energy_of_joint_springs():
    law = laws(stiffness=300.0, cubic_stiffness=4000.0, half_gap=0.05, rest_position=0.1, position_index=0)
    law = law._replace(position_index=np.array([0]))
    assert joint_spring_energy(law, np.array([0.14])) == 0.0
    assert joint_spring_energy(law, np.array([0.35])) == pytest.approx(0.5 * 300.0 * 0.2**2 + 0.25 * 4000.0 * 0.2**4)
    assert joint_spring_energy(law, np.array([-0.15])) == pytest.approx(0.5 * 300.0 * 0.2**2 + 0.25 * 4000.0 * 0.2**4)


def test_hysteresis_stays_within_its_level():
    law = laws(hysteresis=2.0, hysteresis_stiffness=1e5)
    effort = 0.0
    for speed in (3.0, 50.0, -1e4, 1e4, 0.0):
        effort = hysteresis_after.py_func(law, 0, effort, speed, speed, 0.01)
        assert abs(effort) <= 2.0
    held = hysteresis_after.py_func(law, 0, 1.5, 0.0, 0.0, 0.01)
    assert held == 1.5


def test_hysteresis_acts_with_its_effort_at_the_end_of_the_step():
    law = laws(hysteresis=2.0, hysteresis_stiffness=400.0)
    after = hysteresis_after.py_func(law, 0, 0.5, 0.3, 0.2, 0.01)
    assert impulse(law, 0.0, 0.3, 0.01, hysteretic=0.5, new_speed=0.2) == pytest.approx(-0.01 * after)


def test_damping_ratio_of_an_implicit_step():
    assert implicit_damping_ratio(0.0, 1e-3) == 0.0
    for frequency in (1.0, 50.0, 1e4):
        factor = np.log(1.0 / (1.0 - 2j * np.pi * frequency * 1e-3))
        assert implicit_damping_ratio(frequency, 1e-3) == pytest.approx(-factor.real / abs(factor), rel=1e-12)
