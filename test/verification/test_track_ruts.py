"""Ruts and bearing of soft ground under machines on tracks."""

import numpy as np
import pytest
from tracked_vehicle import RADIUS, tracked_vehicle

from grouser import Member, Simulation, World, combine, load_soil
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground
from grouser.runtime.streams import take_sample

WEIGHT, LENGTH, WIDTH, TREAD = 20e3, 1.5, 0.25, 1.4


def on(*soils, **given):
    return World(ground=Ground(soil=SoilGround(soils, **given)))


def bekker(soil, pressure, width=WIDTH):
    return (pressure / (soil.cohesive_modulus / width + soil.frictional_modulus)) ** (1.0 / soil.exponent)


def test_two_ruts_of_a_vehicle_are_below_its_tracks_as_wide_as_its_shoes():
    simulation = Simulation(tracked_vehicle(), on(load_soil("dry_sand")))
    for side in ("left", "right"):
        simulation.command[f"{side}_sprocket"] = 0.3 / RADIUS
    simulation.step(2000)
    patch = simulation.terrain_patch()
    pressed = patch.rut > 1e-3
    beside = np.abs(np.abs(patch.y[pressed]) - 0.5 * TREAD)
    assert beside.max() <= 0.5 * WIDTH + patch.cell
    assert beside.max() >= 0.5 * WIDTH - patch.cell
    x, _, _ = simulation.link_pose("base")[0]
    assert patch.x[pressed].min() == pytest.approx(-0.5 * LENGTH, abs=0.15)
    assert patch.x[pressed].max() == pytest.approx(x + 0.5 * LENGTH, abs=0.15)


def test_patch_reaches_as_far_from_the_ends_of_the_tracks_as_asked():
    simulation = Simulation(tracked_vehicle(), on(load_soil("dry_sand")))
    for side in ("left", "right"):
        simulation.command[f"{side}_sprocket"] = 1.0 / RADIUS
    simulation.step(4000)
    everything, near = simulation.terrain_patch(), simulation.terrain_patch(0.1)
    rear, tile = simulation.link_pose("base")[0][0] - 0.5 * LENGTH - RADIUS, 32 * everything.cell
    assert everything.x.min() < rear - 0.1 - tile < near.x.min() < rear
    assert simulation.terrain_patch(0.0).x.max() == everything.x.max()
    assert Simulation(tracked_vehicle(), World()).terrain_patch() is None


def test_terrain_streams_of_a_machine_on_tracks_have_its_ruts():
    simulation = Simulation(tracked_vehicle(), on(load_soil("dry_sand")))
    simulation.step(300)
    names = ["terrain", "terrain/rut_depth", "terrain/bearing_margin"]
    terrain, ruts, bearing = (take_sample(simulation, 0, names).values[name] for name in names)
    assert terrain["rut"].max() == simulation.terrain_patch().rut.max() > 5e-3
    assert ruts.costs.max() > 0.0
    assert 0.0 < bearing.costs.max() < 1.0


def test_bearing_margin_is_that_of_plates_as_large_as_the_tracks_stand():
    """1 - z/(r/2), z by Bekker under half the weight, r with the shoes; the firmer soil has more."""
    firm, soft = load_soil("dry_sand"), load_soil("clay")
    margins = Simulation(tracked_vehicle(), on(firm, soft)).bearing_margins()
    expected = [1.0 - bekker(soil, 0.5 * WEIGHT / (LENGTH * WIDTH)) / (0.5 * (RADIUS + 1e-3)) for soil in (firm, soft)]
    assert margins == pytest.approx(np.clip(expected, 0.0, 1.0), rel=1e-6)
    heavy = Simulation(tracked_vehicle(weight=400e3), on(firm)).bearing_margins()
    assert heavy == pytest.approx([0.0])


def test_member_of_a_fleet_knows_the_ground_and_the_bearing_under_its_own_tracks():
    light, heavy = tracked_vehicle(weight=5e3), tracked_vehicle(weight=20e3)
    members = {"a": Member(light), "b": Member(heavy, Pose((10.0, 0.0, 0.0)))}
    simulation = Simulation(combine(members), on(load_soil("dry_sand")))
    simulation.step(300)
    a, b = simulation.part("a"), simulation.part("b")
    assert a.terrain_patch(0.5).x.max() < 5.0 < b.terrain_patch(0.5).x.min()
    assert a.bearing_margins()[0] > b.bearing_margins()[0] == simulation.bearing_margins()[0]
