"""Machines that start inside the ground or an obstacle: reported, lifted, or pushed out without being thrown."""

import math
from dataclasses import replace

import numpy as np
import pytest
from fleet_machines import box, turned
from loose_bodies import GRAVITY
from shipped import shipped_machine

from grouser import Member, Simulation, World, combine, load_machine, load_world
from grouser.catalogue import machine_file, world_file
from grouser.physics.base.errors import ParameterError
from grouser.physics.contact.burial import PUSH_OUT_SPEED
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Ground, Obstacle
from grouser.recording.origin import Origin

# Undamped springs that follow a place that moves at PUSH_OUT_SPEED, after a vibration of as much: docs/limits.md.
FASTEST = 3.0 * PUSH_OUT_SPEED


def elastic_box(stiffness, mass, restitution=0.0, side=0.4):
    """A box whose corners are springs without dampers; rigid with a stiffness of 0."""
    material = ContactMaterial("box", restitution=restitution, stiffness=stiffness, damping=0.0)
    return replace(box((side,) * 3, mass), contacts=(material,))


def at(x=0.0, y=0.0, z=0.0, quaternion=(0.0, 0.0, 0.0, 1.0), **world):
    """A world whose machine starts at a place."""
    return World(spawn=Pose((x, y, z), quaternion), **world)


def speeds_and_heights(simulation, steps, every=10):
    """Upward speeds and heights of a box, (samples, 2)."""
    samples = []
    for _ in range(steps // every):
        simulation.step(every)
        samples.append((simulation.state.v[2], simulation.base_pose()[0][2]))
    return np.array(samples)


# --- contacts that begin with a depth ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mass", [0.3, 80.0])
@pytest.mark.parametrize("depth", [0.03, 0.35])
@pytest.mark.parametrize("stiffness", [4e3, 7e4, 3e6])
def test_elastic_box_that_starts_deep_is_not_thrown(stiffness, depth, mass):
    simulation = Simulation(elastic_box(stiffness, mass), at(z=0.2 - depth), spawn="as_given")
    found = speeds_and_heights(simulation, 5000)
    sag = mass * GRAVITY / (4 * stiffness)
    assert found[:, 0].max() < FASTEST
    assert found[:, 1].max() < 0.2 + FASTEST**2 / (2.0 * GRAVITY)
    # within the vibration that is left: of at most that speed about the position of rest
    assert abs(found[-1, 1] - 0.2 + sag) <= FASTEST * math.sqrt(mass / (4 * stiffness)) + 2e-5


@pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
def test_rigid_box_that_starts_deep_is_not_thrown(restitution):
    simulation = Simulation(elastic_box(0.0, 25.0, restitution), at(z=0.05), spawn="as_given")
    found = speeds_and_heights(simulation, 1500)
    assert found[:, 1].max() < 0.2 + 1e-4
    assert found[-1, 1] == pytest.approx(0.2, abs=2e-5)


def test_elastic_box_that_is_placed_deep_is_not_thrown():
    simulation = Simulation(elastic_box(2e5, 12.0), at(z=0.2))
    simulation.step(300)
    simulation.place((1.0, 0.0, 0.02), turned(0.4))
    found = speeds_and_heights(simulation, 4000)
    assert found[:, 0].max() < FASTEST
    assert found[-1, 1] == pytest.approx(0.2, abs=1e-3)
    assert abs(simulation.energy_balance().residual) < 1e-3 * 12.0 * GRAVITY * 0.18


def test_elastic_boxes_inside_each_other_are_not_thrown():
    below, above = elastic_box(3e5, 40.0), elastic_box(3e4, 9.0)
    members = {"below": Member(below, Pose((0.0, 0.0, 0.2))), "above": Member(above, Pose((0.03, 0.02, 0.44)))}
    simulation = Simulation(combine(members), World())
    fastest = 0.0
    for _ in range(300):
        simulation.step(10)
        fastest = max(fastest, simulation.state.v[[0, 1, 2, 6, 7, 8]].max())
    assert fastest < FASTEST


def test_fall_onto_springs_gives_its_energy_back():
    """A depth that grows out of motion is no buried one: the box returns to the height from which it fell."""
    simulation = Simulation(elastic_box(5e3, 10.0), at(z=0.45))
    found = speeds_and_heights(simulation, 900, every=1)
    lowest = int(np.argmin(found[:, 1]))
    assert found[lowest, 1] < 0.2 - 0.05
    # the implicit step takes energy, to its first order
    assert found[lowest:, 1].max() > 0.2 + 0.8 * 0.25


def test_place_of_rest_on_springs_is_kept_from_the_start():
    mass, stiffness = 30.0, 2e4
    sag = mass * GRAVITY / (4 * stiffness)
    simulation = Simulation(elastic_box(stiffness, mass), at(z=0.2 - sag))
    assert not simulation.warnings
    simulation.step(200)
    assert simulation.base_pose()[0][2] == pytest.approx(0.2 - sag, abs=1e-6)


# --- lifting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("z", "tilt"), [(0.13, 0.0), (-1.7, 0.3), (0.2, 0.6)])
def test_box_is_lifted_until_its_lowest_corner_touches(z, tilt):
    turn = (math.sin(0.5 * tilt), 0.0, 0.0, math.cos(0.5 * tilt))
    simulation = Simulation(box(), at(0.7, -0.3, z, turn))
    place, quaternion = simulation.base_pose()
    lowest = 0.2 * (math.cos(tilt) + math.sin(tilt))
    assert place == pytest.approx((0.7, -0.3, lowest), abs=2e-5)
    assert quaternion == pytest.approx(turn)
    depth = f"{1000.0 * (lowest - z):.1f}"
    assert simulation.warnings == (
        f'"box" starts {depth} mm inside the ground: lifted by {1000.0 * (place[2] - z):.1f} mm; '
        'spawn "as_given" leaves it there',
    )
    simulation.step(50)
    simulation.reset()
    assert np.array_equal(simulation.base_pose()[0], place)


def test_elastic_box_is_lifted_to_its_place_of_rest():
    mass, stiffness = 30.0, 2e4
    simulation = Simulation(elastic_box(stiffness, mass), at(z=0.05))
    sag = mass * GRAVITY / (4 * stiffness)
    assert simulation.base_pose()[0][2] == pytest.approx(0.2 - sag, abs=2e-5)
    simulation.step(100)
    assert np.abs(simulation.state.v).max() < 1e-2


def test_machine_that_overlaps_nothing_is_not_moved_by_a_bit():
    for z in (0.2, 0.2 - 4e-4, 0.31):
        lifted, given = (Simulation(box(), at(0.1, 0.2, z), spawn=spawn) for spawn in ("lifted", "as_given"))
        assert not lifted.warnings
        assert np.array_equal(lifted.state.q, given.state.q)
        assert lifted.state.q[2] == z


def test_box_on_a_slope_is_lifted_against_gravity():
    slope = 0.35
    ground = Ground(normal=(-math.sin(slope), 0.0, math.cos(slope)))
    turn = (0.0, -math.sin(0.5 * slope), 0.0, math.cos(0.5 * slope))
    simulation = Simulation(box(), at(0.5, 0.0, 0.2, turn, ground=ground))
    place, _ = simulation.base_pose()
    assert place[:2] == pytest.approx((0.5, 0.0))
    assert place[2] == pytest.approx(0.5 * math.tan(slope) + 0.2 / math.cos(slope), abs=3e-5)


def test_box_inside_an_obstacle_is_lifted_onto_it():
    block = Obstacle("block", Box((1.0, 1.0, 0.6)), Pose((2.0, 0.0, 0.3)))
    simulation = Simulation(box(), at(1.6, 0.0, 0.25, obstacles=(block,)))
    assert simulation.base_pose()[0][2] == pytest.approx(0.8, abs=3e-5)
    (warning,) = simulation.warnings
    assert warning.startswith('"box" starts 300.0 mm inside "block": lifted by 550.0 mm')
    simulation.step(300)
    assert simulation.base_pose()[0][2] == pytest.approx(0.8, abs=2e-4)


def test_box_on_a_rough_ground_is_lifted_until_it_stands():
    rough = load_world(world_file("rough_ground"))
    simulation = Simulation(box((1.2, 0.8, 0.3)), replace(rough, spawn=Pose((1.0, -0.5, -0.4))))
    simulation.step(1)
    depths = [contact.depth for contact in simulation.contacts()]
    assert max(depths) == pytest.approx(0.0, abs=2e-5)


def test_wheels_are_lifted_to_the_surface_of_soil():
    sand = load_world(world_file("sand"))
    rover = shipped_machine("rover")
    standing = Simulation(rover, sand)
    sunk = replace(sand, spawn=Pose((0.0, 0.0, standing.base_pose()[0][2] - 0.11)))
    simulation = Simulation(rover, sunk)
    (warning,) = [text for text in simulation.warnings if "starts" in text]
    assert "mm inside the ground: lifted by" in warning
    lowest = min(simulation.link_pose(wheel.link)[0][2] for wheel in rover.wheels)
    assert lowest == pytest.approx(rover.wheels[0].radius, abs=1e-3)
    simulation.step(1)
    assert max(state.sinkage for state in simulation.wheel.values()) < 5e-3


def test_machine_fixed_to_the_world_is_only_told_of():
    rover = load_machine(machine_file("rover"), base="fixed")
    low = Simulation(rover, at(z=-0.5))
    assert any("inside the ground: the machine is fixed to the world and stays there" in text for text in low.warnings)
    lowered = Simulation(rover, at(z=-0.5), spawn="as_given")
    assert np.array_equal(low.state.q, lowered.state.q)


def test_each_member_of_a_fleet_is_lifted_by_itself():
    places = {"a": 0.2, "b": 0.06, "c": -0.5}
    members = {name: Member(box(), Pose((2.0 * k, 0.0, z))) for k, (name, z) in enumerate(places.items())}
    simulation = Simulation(combine(members), World())
    assert [simulation.part(name).base_pose()[0][2] for name in places] == pytest.approx([0.2] * 3, abs=2e-5)
    assert simulation.part("a").base_pose()[0][2] == 0.2
    assert [warning.split(":")[0] for warning in simulation.warnings] == [
        '"b/box" starts 140.0 mm inside the ground',
        '"c/box" starts 700.0 mm inside the ground',
    ]


@pytest.mark.parametrize("inside", ["the ground", '"block"'])
def test_box_that_gravity_pulls_off_the_ground_is_not_sought_a_way_through_it(inside):
    """Lifted against gravity it would go ever deeper, also out of an obstacle on the ground."""
    block = Obstacle("block", Box((1.0, 1.0, 0.6)), Pose((0.0, 0.0, 0.9)))
    z, blocks = (0.1, ()) if inside == "the ground" else (0.9, (block,))
    simulation = Simulation(box(), at(z=z, gravity=(0.0, 0.0, GRAVITY), obstacles=blocks))
    (warning,) = simulation.warnings
    assert f"mm inside {inside}: " in warning
    if inside == "the ground":
        assert warning.endswith("it is pushed out slowly") and simulation.base_pose()[0][2] == z
    else:
        # on the lower side, 0.6 m above the ground
        assert simulation.base_pose()[0][2] == pytest.approx(0.4, abs=2e-5)


def test_recording_keeps_how_the_machine_was_spawned():
    machine = shipped_machine("rover")
    for spawn in ("lifted", "as_given"):
        simulation = Simulation(machine, load_world(world_file("flat")), spawn=spawn)
        origin = Origin.of(simulation, {})
        assert origin.spawn == spawn == origin.simulation().spawn


def test_other_settings_of_spawn_are_refused():
    with pytest.raises(ParameterError, match="spawn"):
        Simulation(box(), World(), spawn="lift")
