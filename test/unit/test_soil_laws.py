"""Arrays of soils and their laws, against plain formulas."""

import math
from dataclasses import replace

import numpy as np
import pytest

from grouser.physics.description.data.soil import Soil
from grouser.physics.soil import laws

SAND = Soil(
    name="sand",
    source="test",
    cohesive_modulus=1000.0,
    frictional_modulus=1.5e6,
    exponent=1.1,
    cohesion=500.0,
    friction_angle=0.5,
    shear_displacement_modulus=0.02,
    density=1500.0,
    repose_angle=0.6,
)
REECE = replace(SAND, reece_k1=2e4, reece_k2=3e5, slip_sinkage="exponent", slip_exponent=0.3, exit_angle_ratio=0.4)
LYASKO = replace(SAND, slip_sinkage="lyasko", sliding_friction=0.4, lateral_shear_modulus=0.01)


@pytest.fixture(params=[True, False], ids=["compiled", "python"])
def law(request):
    """A law by name, compiled or interpreted."""
    return lambda name: getattr(laws, name) if request.param else getattr(laws, name).py_func


def test_soil_arrays_hold_every_number_and_are_read_only():
    soils = laws.make_soils((SAND, REECE, LYASKO))
    assert set(soils._fields) >= {"exponent", "exit_ratio", "exit_angle_ratio"}
    assert all(len(array) == 3 and not array.flags.writeable for array in soils)
    assert soils.friction == pytest.approx([math.tan(0.5)] * 3)
    assert list(soils.lateral_modulus) == [0.02, 0.02, 0.01]
    assert np.isnan(soils.exit_angle_ratio).tolist() == [True, False, True]
    assert soils.exit_angle_ratio[1] == 0.4
    assert np.isnan(soils.cell_stiffness).all()


def test_soil_pressure_stiffness(law):
    soils = laws.make_soils((SAND, REECE))
    assert law("pressure_stiffness")(soils, 0, 0.1, 1.1) == pytest.approx(1000.0 / 0.1 + 1.5e6)
    assert law("pressure_stiffness")(soils, 1, 0.1, 1.1) == pytest.approx((2e4 + 3e5 * 0.1) / 0.1**1.1)


def test_soil_sinkage_with_slip(law):
    soils = laws.make_soils((SAND, REECE, LYASKO))
    for slip in (-0.6, 0.0, 0.6):
        assert [law("sinkage_exponent")(soils, k, slip) for k in range(3)] == pytest.approx(
            [1.1, 1.1 + 0.3 * abs(slip), 1.1]
        )
        growth = (1.0 + abs(slip)) / (1.0 - 0.5 * abs(slip))
        assert [law("sinkage_growth")(soils, k, slip) for k in range(3)] == pytest.approx([1.0, 1.0, growth])


def test_soil_shear_strength(law):
    soils = laws.make_soils((SAND, REECE, LYASKO))
    for pressure in (0.0, 100.0, 1e4, 1e6):
        strength = 500.0 + pressure * math.tan(0.5)
        # without a limit of the sliding friction: infinity times a pressure of 0 is not a number
        with np.errstate(invalid="ignore"):
            assert law("shear_strength")(soils, 0, pressure, math.inf) == pytest.approx(strength)
        assert law("shear_strength")(soils, 2, pressure, math.inf) == pytest.approx(min(strength, 0.4 * pressure))
        assert law("shear_strength")(soils, 0, pressure, 0.3) == pytest.approx(min(strength, 0.3 * pressure))
