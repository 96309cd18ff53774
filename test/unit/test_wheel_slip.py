"""Slip of a wheel: the definitions, their limits, and a wheel on rigid ground."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grouser.physics.description.data.soil import Wheel
from grouser.physics.readings.measurements import WheelState
from grouser.physics.readings.wheel_contact import rigid_wheel_state
from grouser.physics.soil.memory import MEMORY, STANDSTILL, shown_slip, updated_roll

speeds = st.floats(-1e3, 1e3)


@pytest.mark.parametrize(
    ("rim", "forward", "ratio"),
    [
        (1.0, 0.8, 0.2),  # drives
        (0.8, 1.0, -0.2),  # brakes
        (-1.0, -0.8, 0.2),  # the same backwards
        (-0.8, -1.0, -0.2),
        (1.0, 0.0, 1.0),  # spins
        (0.0, 1.0, -1.0),  # is locked
        (1.0, -0.2, 1.0),  # spins while it slides back
        (0.2, -1.0, -1.0),
        (0.0, 0.0, 0.0),
        (3.0, 3.0, 0.0),
    ],
)
def test_slip_ratio(rim, forward, ratio):
    assert shown_slip(rim, forward, 0.0)[0] == pytest.approx(ratio, abs=1e-15)


@settings(deadline=None)
@given(speeds, speeds, speeds)
def test_slip_is_bounded_and_symmetric_backwards(rim, forward, lateral):
    ratio, angle = shown_slip(rim, forward, lateral)
    assert -1.0 <= ratio <= 1.0
    assert abs(angle) <= 0.5 * math.pi
    assert shown_slip(-rim, -forward, lateral) == (ratio, angle)
    assert shown_slip(rim, forward, -lateral) == (ratio, -angle)


def test_slip_fades_at_standstill():
    assert shown_slip(0.5 * STANDSTILL, 0.0, 0.0)[0] == 0.5
    assert shown_slip(0.0, 0.0, 0.5 * STANDSTILL)[1] == pytest.approx(0.25 * math.pi)
    assert shown_slip(0.0, 0.0, 1.0)[1] == pytest.approx(0.5 * math.pi)


def test_rolled_state_grows_over_a_way_and_is_released_over_the_rebound():
    """An exponential over the length of the memory forward, a straight line over the rebound back."""
    radius, rebound, step = 0.3, 7e-4, 1e-3
    rolled, speed, steps = 0.0, 0.05, 400
    for _ in range(steps):
        rolled = updated_roll(rolled, speed, speed, rebound, radius, step)
    way = step * steps * (speed - 1e-4)
    # implicit steps, an error of half a step's way over the length
    assert rolled == pytest.approx(1.0 - math.exp(-way / (MEMORY * radius)), rel=step * speed / (MEMORY * radius))
    back = updated_roll(rolled, 0.0, -0.1, rebound, radius, step)
    assert back == pytest.approx(rolled - 1e-4 / rebound, abs=step * 0.1 / (MEMORY * radius))
    # beyond the rebound it grows the other way
    for _ in range(20):
        back = updated_roll(back, -0.1, -0.1, rebound, radius, step)
    assert -0.1 < back < 0.0
    # soil without rebound lets go at once, and a wheel that slides back while it spins stays near 0
    assert updated_roll(0.8, 0.0, -1e-5, 0.0, radius, step) == 0.0
    assert 0.0 <= updated_roll(0.0, 0.9, -0.2, rebound, radius, step) < 0.01


def test_wheel_slip_on_a_slope_is_measured_along_the_slope():
    """Heading up a slope of 0.3 rad, steered by 0.2 rad: the given slip is measured."""
    tilt, steer = 0.3, 0.2
    normal = np.array([-math.sin(tilt), 0.0, math.cos(tilt)])
    up_slope = np.array([math.cos(tilt), 0.0, math.sin(tilt)])
    heading = math.cos(steer) * up_slope + math.sin(steer) * np.array([0.0, 1.0, 0.0])
    left = np.cross(normal, heading)
    rotation = np.column_stack([heading, left, normal])
    wheel = Wheel("w", 0.2, 0.1, position=(0.0, 0.05, 0.0))
    force = 30.0 * heading - 5.0 * left + 100.0 * normal
    at_patch = np.cross(-0.2 * normal, force)  # about the centre
    # about the link's origin, 0.05 m to the right of the centre
    moment = at_patch + np.cross(0.05 * left, force)
    state = rigid_wheel_state(
        wheel,
        rotation,
        0.9 * heading + 0.1 * left,
        5.0 * left + 0.3 * normal,
        np.concatenate([rotation.T @ force, rotation.T @ moment]),
        normal,
    )
    assert state.normal_force == pytest.approx(100.0)
    assert (state.drawbar_pull, state.side_force) == pytest.approx((30.0, -5.0))
    assert state.torque == pytest.approx(30.0 * 0.2)
    assert (state.thrust, state.resistance) == pytest.approx((30.0, 0.0), abs=1e-12)
    assert state.slip_ratio == pytest.approx(0.1)
    assert state.slip_angle == pytest.approx(math.atan2(0.1, 0.9))
    assert state.sinkage == 0.0


def test_lying_wheel_has_no_slip():
    lying = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    state = rigid_wheel_state(
        Wheel("w", 0.2, 0.1), lying, np.ones(3), np.ones(3), np.ones(6), np.array([0.0, 0.0, 1.0])
    )
    assert state == WheelState(*[0.0] * 13)
