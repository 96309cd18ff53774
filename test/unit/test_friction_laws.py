"""Kernels of dry friction at joints, compiled and interpreted, against plain formulas."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from grouser.physics.friction.laws import consistent_level, deflection_after, deflection_slope, sliding_level


def both(function):
    """The compiled function and the Python that it was compiled from."""
    return pytest.mark.parametrize("leaf", [function, function.py_func], ids=["compiled", "interpreted"])


@both(sliding_level)
def test_sliding_level_by_speed(leaf):
    assert leaf(10.0, 4.0, 0.0, 1e-300) == 4.0, "two levels: kinetic at any speed"
    for sign in (1.0, -1.0):
        assert leaf(10.0, 4.0, 0.2, sign * 0.2) == pytest.approx(4.0 + 6.0 / math.e)
        assert leaf(10.0, 4.0, 0.2, sign * 20.0) == 4.0
    assert leaf(10.0, 4.0, 0.2, 0.0) == 10.0


@both(consistent_level)
@given(speed=st.floats(0.0, 1.0), mobility=st.floats(1e-6, 1e-2), start=st.floats(0.0, 1.0))
@settings(max_examples=200, deadline=None)
def test_consistent_level_is_that_of_its_own_speed(leaf, speed, mobility, start):
    static, kinetic, stribeck_speed = 10.0, 4.0, 0.1
    level = kinetic + start * (static - kinetic)
    # K (F_s - F_k) max |d exp(-x2) / dx| / v_s = 0.52 at most: the solution is unique

    def excess(found):
        return found - sliding_level(static, kinetic, stribeck_speed, max(speed + mobility * (level - found), 0.0))

    expected = brentq(excess, 0.0, static, xtol=1e-13)
    assert leaf(static, kinetic, stribeck_speed, speed, level, mobility) == pytest.approx(expected, abs=1e-9)


def test_consistent_level_of_a_steep_stribeck_curve_sticks_where_sliding_has_no_solution():
    # F_s - F_k over the step is 50 times the limit for a unique solution: there are several
    assert consistent_level(10.0, 4.0, 1e-3, 1e-3, 10.0, 1e-2) == pytest.approx(4.0), (
        "sliding at the static level falls to the kinetic level"
    )
    assert consistent_level(10.0, 4.0, 1e-3, 0.2, 4.0, 1e-2) == pytest.approx(4.0), "sliding continues"
    assert consistent_level(10.0, 4.0, 1e-3, 1e-3, 4.0, 1e-2) == pytest.approx(10.0), (
        "too slow even at the kinetic level"
    )


@both(deflection_after)
def test_bristle_deflection_is_limited_by_the_friction_level(leaf):
    stiffness, level, step, z = 1e6, 5.0, 1e-3, 0.0
    assert leaf(stiffness, level, 2e-6, 0.0, step) == 2e-6, "unchanged at rest"
    for speed in (0.3, -0.3):
        for _ in range(50):
            z = leaf(stiffness, level, z, speed, step)
        assert z == pytest.approx(math.copysign(level / stiffness, speed), rel=1e-12)


@both(deflection_slope)
@pytest.mark.parametrize("speed", [1e-6, -2e-4, 0.03, -0.4])
@pytest.mark.parametrize("share", [0.0, 0.6, -0.9])
def test_deflection_slope_against_central_differences(leaf, speed, share):
    stiffness, level, step = 1e6, 5.0, 1e-3
    z, change = share * level / stiffness, 1e-4 * abs(speed)
    ends = [deflection_after.py_func(stiffness, level, z, speed + side, step) for side in (change, -change)]
    # central differences: of second order in the change, whose share of the speed is 1e-4
    assert leaf(stiffness, level, z, speed, step) == pytest.approx((ends[0] - ends[1]) / (2.0 * change), rel=1e-6)
    at_rest = leaf(stiffness, level, z, 0.0, step)
    assert at_rest == pytest.approx(step * (1.0 + abs(share)))
    assert np.isfinite(at_rest) and at_rest >= leaf(stiffness, level, z, speed, step)
