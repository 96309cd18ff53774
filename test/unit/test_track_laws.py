"""Laws of a pad: series of soil and belt, rigid ground, passive pressure."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouser.physics.soil.bekker_cell import bekker_pressure
from grouser.physics.tracks.pad_laws import passive_pressure, rigid_pressure, soil_pressure
from grouser.runtime.vehicle_parts import rolling_place


@given(
    stiffness=st.floats(1e4, 1e7),
    exponent=st.floats(0.4, 1.5),
    depth=st.floats(1e-4, 0.3),
    sinkage=st.floats(0.0, 0.2),
    give=st.floats(0.0, 1e-6),
)
def test_belt_and_soil_in_series_carry_the_same_pressure(stiffness, exponent, depth, sinkage, give):
    yielded = stiffness * sinkage**exponent
    laws = (stiffness, exponent, 4e7, 0.0, sinkage, yielded)
    pressure, _, deepest, load = soil_pressure(*laws, depth, give, 1e-3)
    alone, _, alone_deepest, alone_load = bekker_pressure(*laws, depth - give * pressure, 1e-3)
    assert pressure == pytest.approx(alone, rel=1e-6, abs=1e-6 * stiffness * depth**exponent)
    assert deepest == pytest.approx(alone_deepest, rel=1e-6, abs=1e-12)
    assert load == pytest.approx(alone_load, rel=1e-6, abs=1e-6)


def test_rate_of_pressure_is_its_derivative():
    laws = (1e6, 1.1, 4e7, 0.0, 0.02, 1e6 * 0.02**1.1)
    for depth, give in ((0.0195, 0.0), (0.0195, 2e-8), (0.03, 0.0), (0.03, 3e-8)):
        step, change = 1e-3, 1e-6
        one, slope, _, _ = soil_pressure(*laws, depth, give, step)
        other, _, _, _ = soil_pressure(*laws, depth + step * change, give, step)
        assert (other - one) / change == pytest.approx(slope, rel=1e-3)


def test_pad_on_rigid_ground_pushes_and_never_pulls():
    assert rigid_pressure(1e8, 1e6, 1e-3, 0.0, 0.0, 1e-3)[0] == pytest.approx(1e5)
    assert rigid_pressure(1e8, 1e6, 1e-3, -1.0, 0.0, 1e-3)[0] == 0.0
    assert rigid_pressure(1e8, 1e6, -1e-3, 0.0, 0.0, 1e-3)[0] == 0.0
    soft, _ = rigid_pressure(1e8, 0.0, 1e-3, 0.0, 1e-8, 1e-3)
    assert soft == pytest.approx(1e8 * (1e-3 - 1e-8 * soft))


def test_passive_pressure_is_rankines():
    angle, cohesion, depth = math.radians(30.0), 2e3, 0.2
    gain = math.tan(math.radians(60.0))
    expected = 0.5 * 1600.0 * 9.81 * depth**2 * gain**2 + 2.0 * cohesion * depth * gain
    assert passive_pressure(1600.0, 9.81, cohesion, math.tan(angle), depth) == pytest.approx(expected)


def test_tracks_roll_outside_of_their_middles_and_short_ones_near_them():
    assert rolling_place(1e-3, 1.4) == pytest.approx(0.7, rel=1e-2)
    assert rolling_place(1.5, 1.4) > rolling_place(1.0, 1.4) > 0.7
