"""Experiments with tools in soil, against their references."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from grouser import ParameterError, experiments
from grouser.experiments.blade_rig import Blade, BladeRig
from grouser.experiments.digging_parameters import SOIL, rows_of
from grouser.experiments.protocol import complete_parameters
from grouser.physics.digging.holding import make_holding
from grouser.references.comparison import compare
from grouser.references.reader import load_references


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("bucket_fill", "cells_50_mm"),
        ("bucket_fill", "cells_25_mm"),
        ("trench", "phi_10_cells_25_mm"),
        ("blade_cutting", "depths"),
        ("blade_cutting", "rakes"),
        ("pile_push", "rake_60"),
        ("pile_push", "rake_75"),
        ("dig_and_dump", "level_ground"),
        ("loading_cycle", "level_ground"),
    ],
)
def test_experiment_agrees_with_its_reference(name, label):
    experiment = experiments.load(name)
    case = next(case for case in load_references(name).cases if case.name == label)
    parameters = complete_parameters(experiment, case.parameters)
    result = experiment.run(**parameters)
    lines = compare(case, parameters, result)
    assert lines and [line for line in lines if not line.agrees] == []
    assert result["compute_time"] > 0.0 < result["microseconds_per_step"]
    figure = Figure()
    experiment.plot(parameters, result, figure, ())
    assert figure.get_suptitle()
    assert all(panel.get_xlabel() and panel.get_legend() for panel in figure.axes)


@pytest.mark.parametrize("speed", [1.0, 2.0])
def test_fast_blade_has_the_momentum_of_the_soil_in_its_draught(speed):
    """By the equation's term rho v^2 d N_a, before a pile; 7 and 28 % of the draught."""
    law = experiments.run("blade_wedge", speed=speed)
    slow = experiments.run("blade_wedge")
    assert law["draught"][0] > (1.0 + 0.06 * speed * speed) * slow["draught"][0]
    found = experiments.run("blade_cutting", speed=speed, travel=0.05, step=2.5e-4)
    assert found["steady_draught"] == pytest.approx(law["draught"], rel=0.03)


def test_pile_adds_its_surcharge_to_the_draught():
    """The wedge's equation with the weight of the pile on it, as a surcharge over the length of the wedge."""
    parameters = complete_parameters(experiments.load("blade_cutting"), {})
    row = next(iter(rows_of(parameters, ["depth", "rake_deg", "width", *SOIL])))
    depth, rake, width = row["depth"], math.radians(row["rake_deg"]), row["width"]
    blade = Blade(width, 1.0, rake, math.radians(row["tool_friction_deg"]), row["adhesion"])
    rig = BladeRig({**parameters, **row}, blade, depth)
    course = rig.drive(0.6, 0.1, 20)
    x, bed = rig.position, rig.bed
    law, surcharge = {}, 0.0
    for _ in range(5):  # the wedge is as long as its load makes it
        law = experiments.run("blade_wedge", depth=depth, rake_deg=row["rake_deg"], surcharge=surcharge)
        reach = depth / math.tan(law["failure_angle"][0])
        pile = bed.loose((x + rig.cell, x + reach), (-0.5 * width, 0.5 * width)).mean()
        surcharge = row["density"] / parameters["swell"] * row["gravity"] * float(pile)
    assert surcharge > 200.0
    assert course["draught"][-4:].mean() == pytest.approx(law["draught"][0], rel=0.1)
    assert law["draught"][0] > 1.1 * 1428.5


def test_trench_that_stands_does_not_fall():
    result = experiments.run("trench", cohesion=[5000.0], deepest=1.0, layer=0.25)
    assert result["collapses"] == [False] and result["standing_height"] == [1.0]
    assert result["collapsed_volume"] == [0.0]


def test_bucket_on_a_line_takes_its_cross_section():
    path = [[-0.525, -0.1, 40.0], [0.525, -0.1, 40.0], [0.525, 0.4, 0.0]]
    result = experiments.run("bucket_fill", path=path, profile_area=0.3)
    assert result["bank_volume"] == pytest.approx([0.45 * 0.1 * 1.05], rel=1e-9)
    assert result["loose_volume"] == pytest.approx([1.25 * 0.45 * 0.1 * 1.05], rel=0.01)


@pytest.mark.parametrize(
    "bad",
    [
        {"depth": []},
        {"depth": [1.3]},
        {"path": [[0.0, 0.0, 0.0]]},
        {"path": [[0.0, 0.0], [1.0, 0.0]]},
        {"swell": 0.99},
        {"profile_area": 0.0},
        {"repose_angle_deg": 61.0},
    ],
)
def test_invalid_parameters_are_refused(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        experiments.run("bucket_fill", **bad)


REPOSE, WIDTH = math.radians(32.0), 0.45
# 0.4 m by 0.275 m
BOX = ((0.0, 0.0), (0.0, 0.275), (0.4, 0.275), (0.4, 0.0))
HOLDING = make_holding(BOX, WIDTH, REPOSE)


def held(rake_deg):
    """Volume that a box holds, from entries of its table at multiples of 22.5 degrees [m3]."""
    return HOLDING.volume[(round(rake_deg / 5.625) + 32) % 64]


def test_level_bucket_holds_its_struck_volume_and_a_heap():
    # W L^2 / 4 - L^3 / 12 over an opening of 0.4 by 0.45 m
    assert held(0.0) == pytest.approx(0.4 * 0.275 * WIDTH + 0.007915, abs=1e-6)


@pytest.mark.parametrize("rake_deg", [45.0, 67.5, 90.0])
def test_tilted_box_holds_what_lies_below_the_line_at_repose(rake_deg):
    """Below a line that leaves the lip inwards: a triangle on the back wall, or a trapezium with the bottom."""
    below = math.tan(math.radians(rake_deg) - REPOSE)  # of the line, from the plate
    reach = 0.275 / below
    lost = 0.5 * 0.4 * 0.4 * below if reach > 0.4 else 0.275 * (0.4 - 0.5 * reach)
    assert held(rake_deg) == pytest.approx(WIDTH * (0.4 * 0.275 - lost), rel=1e-9)
    assert held(-rake_deg) == pytest.approx(held(rake_deg), rel=1e-9)


def test_soil_lies_where_it_can():
    """A level box half full of soil, without the heap; a full one; one that stands on its top edge, a quarter full."""
    level, upright = HOLDING.centre[32], HOLDING.centre[16]
    heap_area = 0.007915 / WIDTH
    half_depth = 0.5 * (0.4 * 0.275 + heap_area) / 0.4
    assert level[4] == pytest.approx([0.2, 0.275 - 0.5 * half_depth], abs=1e-6)
    full = (0.4 * 0.275 * 0.1375 - heap_area * heap_area / 0.2 / 3.0) / (0.4 * 0.275 + heap_area)
    assert level[8] == pytest.approx([0.2, full], abs=1e-6)
    assert level[0][1] == 0.275
    # at a rake of -90 degrees the top edge is below: soil lies on the wall of 0.275 m, below a line from that edge; a
    # quarter of this triangle reaches up to the share 1 - sqrt(3/4) of its height
    slope, wall = math.tan(REPOSE), 0.275
    high = wall * slope * (1.0 - math.sqrt(0.75))
    area = wall * high - high**2 / (2.0 * slope)
    depth = (wall**2 * high - high**3 / (3.0 * slope**2)) / (2.0 * area)
    rise = (wall * high**2 / 2.0 - high**3 / (3.0 * slope)) / area
    assert upright[2] == pytest.approx([0.4 - rise, depth], abs=1e-6)


def test_bucket_upside_down_holds_nothing():
    assert held(180.0) == held(-157.5) == held(157.5) == 0.0
    assert np.all(np.diff(HOLDING.volume[32:]) <= 0.0), "the more it tilts, the less it holds"


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        (((0.0, 0.0), (0.4, 0.0)), "three points"),
        (((0.0, 0.1), (0.2, 0.3), (0.4, 0.0)), "closes"),
        (((0.0, 0.0), (0.2, 0.3), (0.4, 0.1)), "closes"),
        (((0.0, 0.0), (0.2, -0.3), (0.4, 0.0)), "area"),
        (((0.0, 0.0), (math.nan, 0.3), (0.4, 0.0)), "three points"),
    ],
)
def test_open_profiles_are_refused(profile, message):
    with pytest.raises(ParameterError, match=message):
        make_holding(profile, WIDTH, REPOSE)
