"""The crane with a flexible boom on oil: against springs in series, and equations of its own by Radau."""

import math

import numpy as np
import pytest
from flexible_crane import AREA, EYE, LENGTH, MODULUS, SECOND_MOMENT, Crane
from hydraulic_crane_equations import BARREL, HOSES, LONG, PISTON, RING, length_and_lever

from grouser import ParameterError, experiments
from grouser.experiments import flexible_boom

SHORT = {"lift_start": 0.02, "lift_time": 0.08, "duration": 0.34, "stop_time": 0.02}


@pytest.mark.parametrize(("payload", "modulus", "boom"), [(150.0, 1.5e9, 15.83), (60.0, 0.8e9, 2.0), (300.0, 3e9, 2.0)])
def test_frequency_is_that_of_boom_and_oil_in_series(payload, modulus, boom):
    """Two springs and a mass: what the rod draws at bends the boom across, compresses it, and moves the piston. The
    boom's mass counts as that of a rod about its end, by a third."""
    result = experiments.run(
        "flexible_boom", payload_mass=payload, oil_modulus=modulus, boom_mass=boom, step=5e-5, **SHORT
    )
    after = np.asarray(result["time"]) > result["closed_time"]
    angle = float(np.mean(np.asarray(result["boom_angle"])[after]))
    length, lever = length_and_lever(angle)
    out, back = PISTON * (LONG + length - 0.5), RING * (LONG - length + 0.5)
    soft = [(c + h) / modulus + c / 31500e6 + h / 150e6 for c, h in zip((out, back), HOSES, strict=True)]
    oil = PISTON**2 / soft[0] + RING**2 / soft[1]
    across = (LENGTH - EYE) ** 2 * LENGTH / (3 * MODULUS * SECOND_MOMENT) + (LENGTH / lever) ** 2 / oil
    # thrust between pivot and eye, and beyond, per unit of what the rod draws at
    pushed = math.sin(angle) + (BARREL * math.cos(angle) - EYE) / length * math.cos(angle) * LENGTH / lever
    along = (EYE * pushed**2 + (LENGTH - EYE) * math.sin(angle) ** 2) / (MODULUS * AREA)
    mass = payload + boom / 3 / math.cos(angle) ** 2
    closed = 1 / math.sqrt(mass * (across * math.cos(angle) ** 2 + along)) / (2 * math.pi)
    assert result["frequency"] == pytest.approx(closed, rel=0.01)


def errors(flexible, steps):
    """Largest differences of the pressure and of the deflection from those by Radau, as shares of ripple and range."""
    given = {"flexible": flexible, "payload_mass": 140.0, "boom_mass": 40.0, "oil_modulus": 1.2e9, "friction": 3e3}
    found, reference, times = [], None, np.arange(0.0, 0.3401, 5e-4)
    for step in steps:
        result = experiments.run("flexible_boom", step=step, **given, **SHORT)
        if reference is None:
            opening, crane = result["opening"], Crane(140.0, 40.0, 1.2e9, 3e3, flexible)
            command = [[0.0, 0.0], [0.02, 0.0], [0.06, opening], [0.1, opening], [0.12, 0.0]]
            reference = crane.motion(command, times)
        pressure, deflection = (
            np.interp(times, result["time"], result[name]) for name in ("pressure", "tip_deflection")
        )
        bent = crane.deflections(reference) if flexible else np.zeros_like(times)
        found.append(
            (
                np.abs(pressure - reference[-2]).max() / result["ripple"],
                np.abs(deflection - bent).max() / (np.ptp(bent) or 1.0),
            )
        )
    return np.array(found)


def test_rigid_boom_on_oil_agrees_with_radau_in_second_order():
    found = errors(False, (1e-4, 5e-5))[:, 0]
    assert found[1] < 3e-3
    assert found[0] / found[1] == pytest.approx(4.0, rel=0.2)


def test_flexible_boom_on_oil_converges_to_radau():
    """The step damps elastic vibrations by a rate in proportion to it: the error is of first order."""
    coarse, fine = errors(True, (1e-4, 2.5e-5))
    assert fine.max() < 0.1
    assert (coarse / fine > 1.5**2).all()


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("lift_speed", {"lift_speed": 1.0}),
        ("duration", {"duration": 0.9}),
        ("duration", {"duration": 0.99}),
        ("payload_mass", {"payload_mass": 0.0}),
        ("oil_modulus", {"oil_modulus": -1.0}),
        ("step", {"step": 1.0}),
    ],
)
def test_bad_parameters_are_named(name, given):
    with pytest.raises(ParameterError, match=name):
        experiments.run("flexible_boom", **{"step": 1e-3, **given})


def test_vibration_is_found_about_a_drifting_mean():
    moment = np.arange(0.0, 0.3, 1e-4)
    pressure = 3e6 + 1e5 * moment + 2e5 * np.exp(-4.0 * moment) * np.cos(2 * np.pi * 31.7 * moment + 0.4)
    assert flexible_boom._vibration(moment, pressure, 0.3) == pytest.approx((31.7, 4.0), rel=1e-6)
