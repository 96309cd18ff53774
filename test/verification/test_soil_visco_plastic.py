"""The law of a soil cell under a plate and under a wheel, against its closed form and against converged numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouser import ParameterError, experiments
from grouser.physics.soil.visco_plastic import steady_visco_plastic_pressure, visco_plastic_pressure

# c_f, eta, mu_v, mu_p of Zuo et al. (2009), as proposed where the paper's table is an image.
CELL = (1e7, 2e5, 1e6, 3e3)


@pytest.mark.parametrize(
    "rate, pressures", [(0.005, (3644.6406, 5008.2645, 7280.9917)), (0.02, (6396.6982, 11851.2397, 20942.1488))]
)
def test_visco_plastic_plate(rate, pressures):
    """Exact values, given with four decimals."""
    result = experiments.run("plate_sinkage", rate=rate)
    assert result["pressure"] == pytest.approx(pressures, abs=5e-5)
    if rate == 0.02:
        assert result["plastic_sinkage"][1] == pytest.approx(8.851239669e-3, abs=5e-13)


def test_visco_plastic_plate_before_yield():
    result = experiments.run("plate_sinkage", times=[0.02, 0.04])
    assert result["plastic_sinkage"][0] == 0.0
    assert result["pressure"] == pytest.approx([1e7 * 1e-4 + 2e5 * 0.005, 3e3], rel=1e-14)


def test_invalid_plate_parameters_are_refused():
    for bad in ({"rate": 0.0}, {"times": []}, {"times": [0.1, -1.0]}, {"soil_viscosity": -1.0}):
        with pytest.raises(ParameterError):
            experiments.run("plate_sinkage", **bad)
    assert experiments.run("plate_sinkage", times=0.2)["pressure"] == pytest.approx([3644.6406], abs=5e-5)


def pressed(step, rate, time):
    """Pressure and plastic sinkage after steps of implicit Euler."""
    plastic = 0.0
    for k in range(round(time / step)):
        pressure, _, plastic = visco_plastic_pressure(*CELL, plastic, (k + 1) * step * rate, rate, step)
    return pressure, plastic


@pytest.mark.parametrize("rate", [0.005, 0.02])
def test_visco_plastic_steps_converge_with_first_order(rate):
    exact = steady_visco_plastic_pressure(*CELL, rate, 0.06)
    errors = np.array([abs(np.array(pressed(step, rate, 0.06)) - exact) for step in (1e-3, 5e-4, 2.5e-4)])
    assert errors[:-1] / errors[1:] == pytest.approx(2.0, rel=0.1)


def test_visco_plastic_step_is_exact_long_after_yield():
    """Long after the start the cell follows a straight line, which implicit Euler follows exactly."""
    assert pressed(0.01, 0.02, 1.0) == pytest.approx(steady_visco_plastic_pressure(*CELL, 0.02, 1.0), rel=1e-9)


cells = st.tuples(st.floats(1e5, 1e8), st.floats(0.0, 1e6), st.floats(0.0, 1e7), st.floats(0.0, 2e4))


@given(cells, st.floats(0.0, 0.02), st.floats(-0.01, 0.03), st.floats(-0.5, 0.5), st.sampled_from([1e-4, 1e-3, 1e-2]))
def test_visco_plastic_step_solves_the_law(cell, plastic, depth, rate, step):
    stiffness, viscosity, hardening, yield_stress = cell
    pressure, slope, sunk = visco_plastic_pressure(*cell, plastic, depth, rate, step)
    assert pressure >= 0.0 and slope >= 0.0 and sunk >= plastic
    # The damper is strained from the point of contact, and the plastic flow is implicit.
    strain_rate = (depth - max(depth - step * rate, plastic)) / step - (sunk - plastic) / step
    elastic = stiffness * (depth - sunk) + viscosity * strain_rate
    scale = yield_stress + stiffness * (abs(depth) + plastic) + viscosity * (abs(rate) + (abs(depth) + plastic) / step)
    assert pressure == pytest.approx(max(elastic, 0.0), abs=1e-11 * scale)
    assert pressure <= yield_stress + hardening * sunk + 1e-11 * scale
    if sunk > plastic:
        assert pressure == pytest.approx(yield_stress + hardening * sunk, abs=1e-11 * scale)
    # Continuous in the rate, with no jump at contact, yield or separation; linear within a branch.
    more = 1e-3
    further, _, deeper = visco_plastic_pressure(*cell, plastic, depth + step * more, rate + more, step)
    steepest = step * stiffness + viscosity
    assert -1e-11 * scale <= further - pressure <= more * steepest + 1e-11 * scale
    if (pressure > 0.0, sunk > plastic) == (further > 0.0, deeper > plastic):
        assert further - pressure == pytest.approx(more * slope, abs=1e-11 * (scale + more * steepest))


def test_visco_plastic_step_compiled_and_interpreted_agree_and_keep_nan():
    for depth, rate in ((0.0, 0.1), (0.004, 0.01), (0.004, -0.1), (-0.001, 0.5), (0.02, 0.0)):
        assert visco_plastic_pressure(*CELL, 0.003, depth, rate, 1e-3) == pytest.approx(
            visco_plastic_pressure.py_func(*CELL, 0.003, depth, rate, 1e-3), rel=1e-14
        )
    assert math.isnan(visco_plastic_pressure(*CELL, 0.0, math.nan, 0.1, 1e-3)[0])
    assert math.isnan(visco_plastic_pressure(*CELL, 0.0, 0.01, math.nan, 1e-3)[0])


def test_visco_plastic_wheel_over_fine_cells():
    """A rigid wheel, 200 N, slip 0.3: sums (7) to (10) over cells that are loaded and unloaded.

    The sinkage is that of the converged solution (error below 1e-8); the steps are implicit Euler of 1/4000 of the
    distance, of first order.
    """
    radius = width = 0.15
    sinkage, slip, speed = 0.0180077, 0.3, 0.196 * 0.15 * 0.7
    entry = math.acos(1.0 - sinkage / radius)
    steps = 4000
    # A point of the ground at x in front of the wheel: x = r sin theta falls with the speed.
    places = np.linspace(radius * math.sin(entry), -radius * math.sin(0.25), steps + 1)
    step = (places[0] - places[-1]) / steps / speed
    depths = np.sqrt(radius**2 - places**2) - (radius - sinkage)
    plastic = load = thrust = resistance = torque = 0.0
    last = None
    for k in range(steps):
        rate = (depths[k + 1] - depths[k]) / step
        pressure, _, plastic = visco_plastic_pressure(*CELL, plastic, depths[k + 1], rate, step)
        theta = math.asin(places[k + 1] / radius)
        if pressure > 0.0:
            last = theta
        area = width * speed * step / math.cos(theta)
        normal = pressure * area
        displaced = radius * ((entry - theta) - (1.0 - slip) * (math.sin(entry) - math.sin(theta)))
        strength = min(500.0 * area + normal * math.tan(math.radians(32.0)), 0.70 * normal)
        shear = strength * (1.0 - math.exp(-displaced / 0.015))
        load += normal * math.cos(theta) + shear * math.sin(theta)
        resistance += normal * math.sin(theta)
        thrust += shear * math.cos(theta)
        torque += radius * shear
    assert load == pytest.approx(200.0, rel=1e-3)
    assert resistance == pytest.approx(26.8999, rel=2e-3)
    assert thrust == pytest.approx(83.3017, rel=1e-3)
    assert torque == pytest.approx(12.6777, rel=1e-3)
    assert math.degrees(last) == pytest.approx(-8.99344, abs=0.02)
