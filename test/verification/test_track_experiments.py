"""Experiments with tracked machines against closed forms of their own: steps, slopes, repeated passes, turns."""

import math

import matplotlib.figure
import numpy as np
import pytest
from scipy.optimize import brentq

from grouser import ParameterError, experiments
from grouser.experiments import track_multi_pass, track_step_climb
from grouser.studies.tracks.step_climb import Climber, limit_height

SOIL = {
    "cohesive_modulus": 2e3,
    "frictional_modulus": 2e5,
    "exponent": 0.7,
    "cohesion": 0.0,
    "friction_angle_deg": 33.0,
    "shear_displacement_modulus": 0.02,
}
UNLOADING = 4e7  # of the experiments' soils [N/m3]
FIRM = SOIL | {"frictional_modulus": 1e6}


def step_of_a_level_vehicle(length, radius, ahead, at_rear, at_step):
    """Height at which friction just lifts the front from the ground, by the moments about the rear contact.

    Below the radius; the step's normal is inclined by b from the vertical, cos(b) = 1 - h/r.
    """

    def excess(height):
        b = math.acos(1.0 - height / radius)
        across, up = math.sin(b) - at_step * math.cos(b), math.cos(b) + at_step * math.sin(b)
        # of a unit normal force at the step; the ground gives across / mu in the rear
        weight = up + across / at_rear
        return (length + radius * math.sin(b)) * up + height * across - weight * (0.5 * length + ahead)

    return brentq(excess, 1e-6 * radius, radius)


@pytest.mark.parametrize(
    "vehicle",
    [
        {"ground_friction": 0.5, "step_friction": 0.5},
        {
            "contact_length": 1.1,
            "radius": 0.15,
            "centre_height": 0.3,
            "centre_ahead": 0.05,
            "weight": 8e3,
            "ground_friction": 0.6,
            "step_friction": 0.7,
        },
    ],
)
def test_step_that_friction_lets_a_vehicle_climb_is_that_of_statics(vehicle):
    """Within 5 % of the limit height, which the moments about the rear contact give once more."""
    given = {"contact_length": 1.5, "radius": 0.2, "centre_ahead": 0.0} | vehicle
    limit = step_of_a_level_vehicle(
        *(given["contact_length"], given["radius"], given["centre_ahead"]),
        *(given["ground_friction"], given["step_friction"]),
    )
    found = experiments.run("track_step_climb", **vehicle, step_height=[0.95 * limit, 1.05 * limit])
    assert found["limit_height"] == pytest.approx(limit, rel=1e-4)
    assert found["climbed"] == [True, False]
    assert found["pitch"][0] > 0.1 > found["pitch"][1]


def test_vehicle_that_climbs_has_shoes_whose_load_does_not_alternate():
    for given in ({}, {"weight": 3e3, "contact_length": 2.0, "width": 0.4, "step": 0.001}):
        parameters = {name: item.default for name, item in track_step_climb.PARAMETERS.items()} | given
        assert not track_step_climb._before_step(parameters, 0.1, 2.0).warnings


def test_step_that_overturns_a_vehicle_is_that_of_statics():
    """With much friction the front climbs any face: the vehicle falls over backwards where it does not tip forwards."""
    vehicle = {"ground_friction": 0.9, "step_friction": 0.9}
    limit = limit_height(Climber(1.5, 0.2, 0.0, 0.4, 0.9, 0.9))
    assert limit == pytest.approx(limit_height(Climber(1.5, 0.2, 0.0, 0.4, 1.2, 1.2)), rel=1e-3)
    found = experiments.run("track_step_climb", **vehicle, step_height=[0.95 * limit, 1.05 * limit])
    assert found["climbed"] == [True, False]
    # 1.5 rad is on its end
    assert found["pitch"][0] < 0.8 and found["pitch"][1] > 1.3


def traction(slip, strength, length, modulus, before=0.0):
    """Of a track whose shoes are sheared by `before` when they land, the shear displacement growing along it."""
    way = slip * length / modulus
    return strength * (1.0 - math.exp(-before / modulus) * (1.0 - math.exp(-way)) / way)


def test_slopes_of_rigid_ground_are_held_and_climbed_as_friction_allows():
    limit = math.degrees(math.atan(0.5))
    vehicle = {"friction": 0.5, "shear_displacement_modulus": 0.03, "weight": 8e3, "contact_length": 1.2, "shoes": 80}
    found = experiments.run("track_slope", **vehicle, slope_deg=[10.0, 0.95 * limit, 1.04 * limit])
    assert found["holds"] == [True, True, False]
    assert found["creep_speed"][2] > 0.1
    assert found["slip"][2] == 1.0
    for slope, slip in zip(found["slope"][:2], found["slip"][:2], strict=True):
        assert traction(slip, 0.5 * math.cos(slope), 1.2, 0.03) == pytest.approx(math.sin(slope), rel=0.02)


def test_slopes_of_soil_are_held_and_climbed_as_its_strength_allows():
    """Firm soil: in soft one the vehicle sinks deeper in the rear, which the form of uniform pressure does not know."""
    weight, length, width = 12e3, 1.5, 0.3
    vehicle = {"weight": weight, "contact_length": length, "width": width}
    found = experiments.run("track_slope", ground="soil", **vehicle, **FIRM, slope_deg=[15.0, 36.0])
    assert found["holds"] == [True, False]
    assert found["limit_slope"] == pytest.approx(math.radians(33.0))
    slope, slip = found["slope"][0], found["slip"][0]
    stiffness = FIRM["cohesive_modulus"] / width + FIRM["frictional_modulus"]
    normal = weight * math.cos(slope)
    sinkage = (0.5 * normal / (length * width) / stiffness) ** (1.0 / 0.7)
    resistance = 2.0 * width * stiffness * sinkage**1.7 / 1.7
    enters = math.acos(1.0 - sinkage / 0.2)
    before = 0.2 * (enters - (1.0 - slip) * math.sin(enters))
    pull = traction(slip, normal * math.tan(math.radians(33.0)), length, 0.02, before) - resistance
    assert pull == pytest.approx(weight * math.sin(slope), rel=0.05)


def test_second_pass_of_a_track_meets_little_resistance():
    """The first pass by Bekker, 6 %: the arcs carry a share of the weight. The others press nothing deeper."""
    weight, length, width, slip = 4e3, 1.2, 0.4, 0.2
    found = experiments.run(
        "track_multi_pass", weight=weight, contact_length=length, width=width, radius=0.12, slip=slip, speed=0.3, **SOIL
    )
    stiffness = SOIL["cohesive_modulus"] / width + SOIL["frictional_modulus"]
    sinkage = (weight / (length * width) / stiffness) ** (1.0 / 0.7)
    assert found["sinkage"][0] == pytest.approx(sinkage, rel=0.05)
    assert found["resistance"][0] == pytest.approx(width * stiffness * sinkage**1.7 / 1.7, rel=0.06)
    assert all(abs(resistance) < 0.1 * found["resistance"][0] for resistance in found["resistance"][1:])
    # the soil springs back along Wong's line, by 2 % of the sinkage
    sprung = [depth - weight / (length * width) / UNLOADING for depth in found["sinkage"]]
    assert found["rut_depth"] == pytest.approx(sprung, rel=0.005)
    strength = weight * math.tan(math.radians(33.0))
    assert found["thrust"] == pytest.approx([traction(slip, strength, length, 0.02)] * 3, rel=0.05)


@pytest.mark.parametrize(
    "vehicle",
    [
        {"radius": [3.0, 10.0, 30.0]},
        {
            "weight": 8e3,
            "contact_length": 1.1,
            "tread": 1.6,
            "friction": 0.4,
            "shear_displacement_modulus": 0.02,
            "shoes": 120,
            "speed": 0.2,
            "radius": [2.0, 6.0],
        },
    ],
)
def test_turns_of_a_vehicle_on_its_tracks_are_those_of_the_balance(vehicle):
    found = experiments.run("track_turn", **vehicle)
    assert found["radius"] == pytest.approx(vehicle["radius"], rel=0.05)
    for name in ("belt_force_inner", "belt_force_outer", "speed_ratio", "centre_shift"):
        assert found[name] == pytest.approx(found[f"balance_{name}"], rel=0.05), name


def test_balance_of_a_turn_is_that_of_the_skid_steer_experiment():
    turn = experiments.run("track_turn", radius=[20.0], speed=1.0, shoes=30, friction=0.5)
    alone = experiments.run("skid_steer_moment", direction="state", radius=[20.0], friction=0.5)
    assert turn["balance_belt_force_outer"] == pytest.approx(alone["belt_force_outer"])
    assert turn["balance_centre_shift"] == pytest.approx(alone["centre_shift"])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("track_step_climb", {"step_height": [0.3], "speed": 0.5}),
        ("track_slope", {"slope_deg": [50.0], "speed": 1.0}),
        ("track_multi_pass", {"passes": 2, "speed": 1.0, "shoes": 24}),
        ("track_turn", {"radius": [20.0], "speed": 1.0, "shoes": 24}),
    ],
)
def test_results_are_drawn_beside_their_closed_forms(name, parameters):
    experiment, figure = experiments.load(name), matplotlib.figure.Figure()
    given = experiments.complete_parameters(experiment, parameters)
    experiment.plot(given, experiment.run(**given), figure, ())
    assert all(panel.get_legend_handles_labels()[1] for panel in figure.axes)


@pytest.mark.parametrize(
    ("name", "parameters", "told"),
    [
        ("track_step_climb", {"step_height": [0.0]}, "heights above 0"),
        ("track_step_climb", {"centre_ahead": 0.8}, "tip over the ends"),
        ("track_slope", {"slope_deg": [80.0]}, "slopes from 0 to 60"),
        ("track_turn", {"width": 1.5, "tread": 1.2}, "tracks would overlap"),
        ("track_turn", {"radius": [0.0]}, "radii from 0.1"),
        ("track_multi_pass", {"frictional_modulus": 0.0, "cohesive_modulus": -1.0}, "frictional_modulus"),
        ("track_multi_pass", {"weight": 1e6, "speed": 1.0, "shoes": 24}, "carries"),
    ],
)
def test_what_makes_no_experiment_is_refused(name, parameters, told):
    with pytest.raises(ParameterError, match=told):
        experiments.run(name, **parameters)


def test_pass_of_a_track_on_soil_is_converged_over_steps_cells_and_shoes():
    """Steps and cells hardly count; resistance goes with the length of the shoes, whose halving halves its error."""

    def found(shoes=96, cell=0.02, step=0.002):
        result = experiments.run("track_multi_pass", passes=1, speed=0.3, shoes=shoes, cell_size=cell, step=step)
        return np.array([result[name][0] for name in ("sinkage", "thrust", "resistance")])

    coarse, middle, fine = found(shoes=48), found(), found(shoes=192, cell=0.01)
    assert found(cell=0.01) == pytest.approx(middle, rel=2e-3)
    assert found(step=0.001) == pytest.approx(middle, rel=5e-3)
    for other in (coarse, fine):
        assert other[:2] == pytest.approx(middle[:2], rel=5e-3)
    assert 0.3 < (middle - fine)[2] / (coarse - middle)[2] < 0.7
    # Bekker's, of the sinkage found: the arcs carry a share of the weight
    limit = 2.0 * fine[2] - middle[2]
    stiffness = 990.0 / 0.25 + 1528430.0
    assert limit == pytest.approx(0.25 * stiffness * fine[0] ** 2.1 / 2.1, rel=0.06)


def test_cells_longer_than_shoes_are_told():
    given = {name: item.default for name, item in track_multi_pass.PARAMETERS.items()}
    assert not track_multi_pass._rig(given).warnings
    (warning,) = track_multi_pass._rig(given | {"shoes": 384}).warnings
    assert "cells of 20 mm are long for shoes of 11" in warning
