"""Law of normalised fluid mass and pressure, against independent numbers and integrals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq

from grouser.physics.description.data.hydraulics import Fluid
from grouser.physics.hydraulics.oil import compression_energy, content, make_oil, pressure_of, pressure_rise

PLAIN = Fluid()
AERATED = Fluid(entrained_air=0.01)
GASSY = Fluid(entrained_air=0.005, dissolved_air=0.09, vapour_pressure=100.0)
EVERY = [PLAIN, AERATED, GASSY]
PRESSURES = np.concatenate([np.geomspace(1e-3, 2.9e4, 40), np.geomspace(3.1e4, 1e8, 40)])

fluids = st.builds(
    Fluid,
    bulk_modulus=st.floats(5e8, 2.5e9),
    entrained_air=st.floats(0.0, 0.1),
    dissolved_air=st.floats(0.0, 0.12),
    saturation_pressure=st.floats(2e3, 1e5),
    vapour_pressure=st.floats(0.0, 1e3),
)


def stiffness(fluid, pressure):
    """Effective bulk modulus of the textbooks, 1/beta + x p_0 / q^2 with the free gas at q = p - p_v."""
    above = pressure - fluid.vapour_pressure
    free = max(fluid.entrained_air, 1e-8) + (fluid.dissolved_air if pressure < fluid.saturation_pressure else 0.0)
    return 1.0 / (1.0 / fluid.bulk_modulus + free * 1e5 / above**2)


@pytest.mark.parametrize("fluid", EVERY)
def test_oil_pressure_is_the_inverse_of_content(fluid):
    oil = make_oil(fluid)
    for above in PRESSURES:
        pressure = above + fluid.vapour_pressure
        c = content(oil, pressure)
        # rounding of c and of p, each by a few units of the last place, as the law magnifies the first
        passes = 8 * np.finfo(float).eps * (abs(c) * pressure_rise(oil, pressure) + pressure)
        assert abs(pressure_of(oil, c) - pressure) <= passes


@given(fluid=fluids, c=st.floats(-50.0, 0.2))
@settings(max_examples=300, deadline=None)
def test_oil_content_is_the_inverse_of_pressure(fluid, c):
    oil = make_oil(fluid)
    pressure = pressure_of(oil, c)
    assert pressure > fluid.vapour_pressure
    # the pressure is rounded to its last place, which near the vapour pressure is much of what is above it
    passes = 8 * np.finfo(float).eps * (abs(c) + pressure / pressure_rise(oil, pressure) + 1e-3)
    assert abs(content(oil, pressure) - c) <= passes


@given(fluid=fluids, exponent=st.floats(-6.0, 9.0))
@settings(max_examples=100, deadline=None)
def test_oil_pressure_stays_above_the_vapour_pressure(fluid, exponent):
    assert pressure_of(make_oil(fluid), -(10.0**exponent)) > fluid.vapour_pressure


@pytest.mark.parametrize("fluid", EVERY)
def test_oil_content_rises_by_the_effective_bulk_modulus(fluid):
    """Between two pressures it rises by the integral of 1/beta_eff."""
    oil = make_oil(fluid)
    for low, high in ((1e3, 2e4), (2e4, 5e4), (5e4, 1e5), (1e5, 1e6), (1e6, 3e7)):
        edge = [fluid.saturation_pressure] if low < fluid.saturation_pressure < high else None
        rise, _ = quad(lambda p: 1.0 / stiffness(fluid, p), low, high, points=edge, epsabs=0.0, epsrel=1e-12)
        assert content(oil, high) - content(oil, low) == pytest.approx(rise, rel=1e-9)
        for pressure in (low, high):
            assert pressure_rise(oil, pressure) == pytest.approx(stiffness(fluid, pressure), rel=1e-12)


@pytest.mark.parametrize("fluid", EVERY)
def test_compression_energy_is_the_work_done_on_the_oil(fluid):
    oil = make_oil(fluid)
    for low, high in ((1e3, 2e4), (2e4, 5e4), (5e4, 1e5), (1e5, 1e6), (1e6, 3e7)):
        edge = [fluid.saturation_pressure] if low < fluid.saturation_pressure < high else None
        work, _ = quad(lambda p: p / stiffness(fluid, p), low, high, points=edge, epsabs=0.0, epsrel=1e-12)
        taken = compression_energy(oil, high) - compression_energy(oil, low)
        assert taken == pytest.approx(work, rel=1e-9, abs=1e-9)


def test_bulk_modulus_with_air_at_one_bar():
    """1 % of air at 1 bar: 1 / (1 / 1.4e9 + 0.01 / 1e5) = 9.929 MPa."""
    assert pressure_rise(make_oil(AERATED), 1e5) == pytest.approx(9.9291e6, rel=1e-4)


def test_dissolved_air_is_released_below_saturation_only():
    oil, dry = make_oil(Fluid(dissolved_air=0.09)), make_oil(PLAIN)
    assert content(oil, 3.001e4) == content(dry, 3.001e4)
    # at half the saturation pressure half of the air is out: 0.09 / 2 of the volume at 1e5 Pa, at 1.5e4 Pa
    room = content(dry, 1.5e4) - content(oil, 1.5e4)
    assert room == pytest.approx(0.5 * 0.09 * 1e5 / 1.5e4, rel=1e-12)


def test_pressure_of_a_stretched_volume_by_bisection():
    """Oil with air at 30 % more volume: the pressure at which gas fills it."""
    fluid = GASSY
    oil = make_oil(fluid)
    start, free, bound = 1e5 - 100.0, 0.005 * 1e5, 0.09 * 1e5
    edge = 3e4 - 100.0

    def surplus(q):
        gas = free / q - free / start + max(bound / q - bound / edge, 0.0)
        return gas - (q - start) / fluid.bulk_modulus - 0.3

    expected = brentq(surplus, 1.0, 1e5, xtol=1e-9, rtol=1e-14) + 100.0
    assert pressure_of(oil, content(oil, 1e5) - 0.3) == pytest.approx(expected, rel=1e-10)


def test_oil_viscosity_falls_with_temperature():
    warm = make_oil(Fluid(temperature=333.15))
    assert warm.viscosity == pytest.approx(850.0 * 46e-6 * math.exp(-0.6), rel=1e-12)
