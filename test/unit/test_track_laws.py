"""Laws of a pad: series of soil and belt, rigid ground, curved faces, passive pressure; the points of a shoe."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from grouser.physics.soil.bekker_cell import bekker_pressure
from grouser.physics.tracks.pad_laws import curved_contact, passive_pressure, rigid_pressure, soil_pressure
from grouser.physics.tracks.pads import PADS, is_edge, place_of, share_of, side_of
from grouser.physics.tracks.shoes import give_on_rigid_ground, give_on_soil
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


@given(
    depth=st.floats(-1e-3, 2e-3), rise=st.floats(-0.2, 0.2), curvature=st.floats(1.0, 5.0), length=st.floats(0.01, 0.2)
)
def test_curved_face_presses_as_its_part_in_the_ground(depth, rise, curvature, length):
    mean, inside, middle = curved_contact(depth, rise, curvature, length)

    along = np.linspace(-0.5 * length, 0.5 * length, 20001)
    below = np.maximum(depth - rise * along - curvature * along**2, 0.0)
    volume = np.trapezoid(below, along)
    error = 1e-6 * length * max(below.max(), 1e-9)
    assert max(mean, 0.0) * inside == pytest.approx(volume, rel=1e-4, abs=error)
    assert max(mean, 0.0) * inside * middle == pytest.approx(np.trapezoid(below * along, along), abs=error * length)


@pytest.mark.parametrize("pretension", [2e3, 2e4, 1e6, 1e18])
@pytest.mark.parametrize(("into", "length"), [(0.17, 0.29), (0.0, 0.3), (0.05, 0.04), (0.28, 0.02)])
def test_shoe_gives_way_as_the_belt_does_on_average_over_its_length(pretension, into, length):
    spans, stiffness, width = (0.3, 0.2, 0.4), 1e8, 0.25
    path = SimpleNamespace(length=np.array(spans), radius=np.zeros(3))
    numbers = {"stiffness": stiffness, "width": width, "pretension": pretension}
    constants = {name: np.array([value]) for name, value in numbers.items()}
    tracks = SimpleNamespace(segment_start=np.array([0, 3]), **constants)

    def give(place):
        for span in spans:
            if place <= span:
                break
            place -= span
        return width * place * (span - place) / (2.0 * pretension)

    def integral(function):
        return quad(function, into, into + length, points=[0.3])[0]

    carried = integral(lambda x: 1.0 / (1.0 + stiffness * give(x)))
    lever = integral(lambda x: (x - into - 0.5 * length) / (1.0 + stiffness * give(x)))
    found, shift = give_on_rigid_ground.py_func(tracks, path, 0, 0, into, length)
    assert stiffness * found == pytest.approx(length / carried - 1.0, rel=1e-6, abs=1e-9)
    assert shift == pytest.approx(lever / carried, rel=1e-6, abs=1e-8)
    assert give_on_soil.py_func(tracks, path, 0, 0, into, length) == pytest.approx(integral(give) / length, rel=1e-9)


@pytest.mark.parametrize("shoe", [0, 1])
def test_pads_of_a_shoe_sum_as_its_width_does(shoe):
    pads = [PADS * shoe, PADS * shoe + 1]
    shares, places = [share_of(pad) for pad in pads], [place_of(pad) for pad in pads]
    for power, expected in enumerate((1.0, 0.0, 1.0 / 12.0)):
        found = sum(share * place**power for share, place in zip(shares, places, strict=True))
        assert found == pytest.approx(expected, abs=1e-15)
    assert sorted(map(side_of, pads)) == [-1.0, 1.0]
    assert sum(is_edge(pad) for pad in pads) == 1
