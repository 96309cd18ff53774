"""Tracked vehicles where tracks have it hard: rocks, ice beside clay, gaps, tipping, reversing, other machines."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from shipped import shipped_machine
from tracked_vehicle import RADIUS, tracked_vehicle

from grouser import Member, Simulation, World, combine, load_soil
from grouser.physics.base import spatial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Sphere
from grouser.physics.description.data.soil import SoilGround, Validity
from grouser.physics.description.data.world import Ground, Obstacle

GRAVITY = 9.81
WEIGHT = 20e3
VEHICLE = {"pretension": 2e4, "shear": 5e-3}


def drive(simulation, left, right, duration):
    """Runs the belts at these speeds [m/s] for a time [s]."""
    simulation.command["left_sprocket"], simulation.command["right_sprocket"] = left / RADIUS, right / RADIUS
    simulation.step(round(duration / simulation.step_size))


def heading(simulation):
    x, y, z, w = simulation.link_pose("base")[1]
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def pitch(simulation, link="base"):
    """Angle by which the front is raised [rad]."""
    x, y, z, w = simulation.link_pose(link)[1]
    return math.asin(2.0 * (x * z - y * w))


def uphill(degrees, friction=0.7):
    slope = math.radians(degrees)
    normal, turn = (-math.sin(slope), 0.0, math.cos(slope)), (0.0, -math.sin(0.5 * slope), 0.0, math.cos(0.5 * slope))
    return World(ground=Ground(normal=normal, friction=friction), spawn=Pose((0.0, 0.0, 0.0), turn))


def test_vehicle_that_rests_on_a_slope_wakes_and_climbs_on_command():
    simulation = Simulation(tracked_vehicle(**VEHICLE, damping=1e9), uphill(15.0))
    simulation.step(4000)
    rested = simulation.link_pose("base")[0]
    simulation.step(1000)
    assert np.linalg.norm(simulation.link_pose("base")[0] - rested) < 1e-5
    drive(simulation, 0.3, 0.3, 2.0)
    climbed = np.linalg.norm(simulation.link_pose("base")[0] - rested)
    # tan(15)/0.7 of the shear strength, over 1.5 m of contact: 1 % of slip, and the start
    assert climbed == pytest.approx(0.6, rel=0.05)


def test_vehicle_that_reverses_downhill_under_its_load_follows_its_belts():
    """Ahead up the slope and back down it: the same slip the other way, the belts now brake."""
    simulation = Simulation(tracked_vehicle(**VEHICLE), uphill(15.0))
    simulation.step(500)
    for way in (1.0, -1.0):
        drive(simulation, 0.4 * way, 0.4 * way, 2.5)
        speed, pull = 0.0, 0.0
        for _ in range(200):
            simulation.step(5)
            speed += simulation.track["left"].speed / 200
            pull += sum(track.drawbar_pull for track in simulation.track.values()) / 200
        # it slips down, whichever way it drives, and its tracks push uphill; 3 %: four shoes and a half come and go
        assert -0.02 < speed - 0.4 * way < 0.0
        assert pull == pytest.approx(WEIGHT * math.sin(math.radians(15.0)), rel=0.03)
    assert simulation.diagnostics.unsettled_steps == 0


def test_track_that_a_rock_blocks_lets_the_other_one_turn_the_vehicle():
    rock = Obstacle("rock", Sphere(0.6), Pose((1.75, 0.75, 0.5)), friction=0.2)
    simulation = Simulation(tracked_vehicle(**VEHICLE, friction=0.5), World(obstacles=(rock,)))
    drive(simulation, 0.4, 0.4, 5.0)
    assert heading(simulation) > 0.1
    assert np.abs(simulation.link_pose("base")[0]).max() < 3.0
    assert abs(pitch(simulation)) < 0.3
    assert simulation.diagnostics.unsettled_steps == 0


def test_track_on_ice_and_track_on_clay_turn_the_vehicle_towards_the_ice():
    """Clay pulls on the right track; the left one spins on rigid ground with next to no friction."""
    types = np.array([[0, -1]] * 3)
    clay = SoilGround((load_soil("clay"),), types=types, types_cell=10.0, types_origin=(-10.0, -5.0))
    ground = Ground(friction=0.02, soil=clay)
    simulation = Simulation(tracked_vehicle(**VEHICLE), World(ground=ground))
    simulation.step(1000)
    most = {"left": 0.0, "right": 0.0}
    for _ in range(100):
        drive(simulation, 0.3, 0.3, 0.03)
        most = {name: max(pull, simulation.track[name].thrust) for name, pull in most.items()}
    assert simulation.track["right"].sinkage > 1e-3
    # at the start the ice gives no more than its friction, the clay more than that
    assert most["left"] < 0.02 * WEIGHT
    assert most["right"] > 2.0 * most["left"]
    assert heading(simulation) > 0.02
    assert np.all(np.isfinite(simulation.state.v))


def test_vehicle_drives_from_soil_onto_concrete():
    types = np.array([[0], [-1]])
    sand = SoilGround((load_soil("dry_sand"),), types=types, types_cell=10.0, types_origin=(-5.0 + 1.5, 0.0))
    simulation = Simulation(tracked_vehicle(**VEHICLE), World(ground=Ground(friction=0.7, soil=sand)))
    simulation.step(1000)
    sunk = simulation.link_pose("base")[0][2]
    assert sunk < -0.005
    drive(simulation, 0.5, 0.5, 8.0)
    position, _ = simulation.link_pose("base")
    assert position[0] > 3.0
    assert abs(position[2]) < 2e-3
    assert abs(position[1]) < 0.005 * position[0]
    assert simulation.track["left"].sinkage == 0.0
    assert simulation.diagnostics.unsettled_steps == 0


@pytest.mark.parametrize(("gap", "falls"), [(0.6, False), (1.2, True)])
def test_vehicle_bridges_a_gap_of_less_than_half_its_length(gap, falls):
    """Centre of mass in the middle of 1.5 m between the axes: its front must be over before the middle is."""
    top = 1.0
    banks = tuple(
        Obstacle(name, Box((4.0, 4.0, top)), Pose((x, 0.0, 0.5 * top)))
        for name, x in (("near", -2.0 + 1.2), ("far", 1.2 + gap + 2.0))
    )
    world = World(obstacles=banks, spawn=Pose((0.0, 0.0, top)))
    simulation = Simulation(tracked_vehicle(**VEHICLE, friction=0.8, height=0.3), world, spawn="as_given")
    lowest = 0.0
    for _ in range(40):
        drive(simulation, 0.4, 0.4, 0.2)
        lowest = min(lowest, pitch(simulation))
    if falls:
        assert lowest < -0.3
    else:
        # between the axes it is carried level; the front's arc comes to the far edge hardly lower
        assert lowest > -0.1
        assert simulation.link_pose("base")[0][0] > 1.2 + gap
        assert simulation.link_pose("base")[0][2] == pytest.approx(top, abs=0.02)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_vehicle_tips_over_the_end_of_its_tracks_where_its_centre_of_mass_says(way):
    """A load moves out slowly; the centre of mass of all is over the axis of the end wheel when it tips: 2 %."""
    load = (
        '<link name="load"><inertial><mass value="1500"/><inertia ixx="50" iyy="50" izz="50" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="boom" type="prismatic"><parent link="base"/><child link="load"/>'
        '<origin xyz="0 0 0.3"/><axis xyz="1 0 0"/><limit lower="-3" upper="3" effort="1e6" velocity="10"/></joint>'
    )
    drives = '<servo_drive joint="boom" mode="velocity" damping="1e8"/>'
    # shoes of 21 mm: it stands on the last one
    machine = tracked_vehicle(**VEHICLE, shoes=200, stiffness=1e9, damping=1e9, links=load, extra=drives)
    simulation = Simulation(machine, World(), step=0.002)
    simulation.command["boom"] = 0.2 * way
    simulation.step(4000)
    # slowly: it takes a second to tip, and then turns about points farther out on the arc of its belts
    simulation.command["boom"] = 0.02 * way
    while abs(pitch(simulation)) < math.radians(0.5) and simulation.time < 25.0:
        simulation.step(10)
    vehicle = WEIGHT / GRAVITY
    # the sprockets, 10 kg, are at the rear end
    centre = (1500.0 * simulation.joint_position["boom"] - 10.0 * 0.75) / (vehicle + 1500.0)
    assert centre == pytest.approx(0.75 * way, rel=0.02)


def test_belt_that_runs_against_another_machine_lifts_it_by_its_friction():
    """The belt climbs the other vehicle's front as it climbs a wall: both are pushed apart, and nothing diverges."""
    one, other = tracked_vehicle(**VEHICLE, friction=0.5), tracked_vehicle(**VEHICLE, friction=0.5)
    members = {"a": Member(one), "b": Member(other, Pose((2.2, 0.0, 0.0)))}
    simulation = Simulation(combine(members))
    a, b = simulation.part("a"), simulation.part("b")
    simulation.step(300)
    a.command["left_sprocket"] = a.command["right_sprocket"] = 0.4 / RADIUS
    simulation.step(3000)
    pushed = b.link_pose("base")[0][0] - 2.2
    touching = [contact for contact in a.contacts() if np.linalg.norm(contact.force_world) > 10.0]
    assert touching
    # the one that stands holds by its locked belts as much as the other can pull
    assert abs(pushed) < 0.2
    assert a.track["left"].slip_ratio > 0.9
    assert simulation.diagnostics.unsettled_steps == 0


def test_belt_drags_the_machines_own_blade_that_is_pressed_against_it():
    """A blade on an arm of the same machine: its friction brakes the belt, and is all of its force along the belt."""
    blade = (
        '<link name="arm"><inertial><mass value="20"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="lift" type="prismatic"><parent link="base"/><child link="arm"/>'
        '<origin xyz="0 0 0.5"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1e5" velocity="10"/></joint>'
        '<link name="blade"><inertial><mass value="20"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial><collision><geometry><box size="0.2 1.8 0.1"/></geometry></collision></link>'
        '<joint name="reach" type="prismatic"><parent link="arm"/><child link="blade"/><axis xyz="1 0 0"/>'
        '<limit lower="-1" upper="1" effort="1e5" velocity="10"/></joint>'
    )
    drives = '<servo_drive joint="lift" mode="effort"/><servo_drive joint="reach" mode="position" stiffness="1e6"'
    machine = tracked_vehicle(
        **VEHICLE, links=blade, extra=f'{drives} damping="1e4"/><contact link="blade" friction="0.3"/>'
    )
    simulation = Simulation(machine, World())
    simulation.command["lift"] = -2000.0
    drive(simulation, 0.3, 0.3, 1.0)
    force = simulation.contact_wrench["blade"][:3]
    pressed = 2000.0 + 40.0 * GRAVITY
    assert force[2] == pytest.approx(pressed, rel=0.02)
    # the upper run goes ahead, twice as fast as the machine
    assert force[0] == pytest.approx(0.3 * pressed, rel=0.02)


def test_soil_under_tracks_beyond_its_validity_is_warned_of_once():
    sand = replace(load_soil("dry_sand"), validity=Validity(width=(0.3, 0.6), pressure=1e4))
    simulation = Simulation(tracked_vehicle(**VEHICLE), World(ground=Ground(soil=SoilGround((sand,)))))
    assert any("for widths of 0.3 to 0.6 m, not 0.25 m" in warning for warning in simulation.warnings)
    with pytest.warns(RuntimeWarning, match="for pressures up to 10000 Pa, not") as warned:
        simulation.step(200)
        simulation.step(200)
    assert len(warned) == 1


@pytest.mark.parametrize(("name", "link"), [("excavator", "base_link"), ("demolition_robot", "base_link")])
def test_shipped_machine_stands_level_on_sand(name, link):
    simulation = Simulation(shipped_machine(name), World(ground=Ground(soil=SoilGround((load_soil("dry_sand"),)))))
    simulation.step(1500)
    assert simulation.diagnostics.unsettled_steps == 0
    assert abs(pitch(simulation, link)) < 0.05


def test_excavator_digs_in_against_its_blade_where_its_tracks_alone_slide():
    """40 degrees downhill, beyond the friction of its tracks: with its blade down it rests against a kerb."""
    slope, kerb = math.radians(40.0), Obstacle("kerb", Box((0.2, 3.0, 0.1)), Pose((1.3, 0.0, 0.05)), friction=0.5)
    gravity = (GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope))
    machine, slid = shipped_machine("excavator"), {}
    for blade in (1.0, -1.0):
        simulation = Simulation(machine, World(gravity=gravity, obstacles=(kerb,)))
        simulation.command["blade_valve"] = blade
        simulation.step(3000)
        slid[blade] = simulation.link_pose("base_link")[0][0]
        if blade > 0.0:
            assert np.abs(simulation.base_twist()).max() < 1e-5
            turns = {link: spatial.matrix(simulation.link_pose(link)[1]) for link in simulation.contact_wrench}
            forces = {link: turns[link] @ wrench[:3] for link, wrench in simulation.contact_wrench.items()}
            weight = float(simulation.arrays.model.body_mass.sum()) * GRAVITY
            # the blade bears what the tracks do not hold
            assert sum(forces.values())[0] == pytest.approx(-weight * math.sin(slope), rel=1e-3)
            assert -forces["blade_link"][0] > 0.5 * weight * math.sin(slope)
            assert simulation.diagnostics.unsettled_steps == 0
    assert slid[1.0] < 0.6
    assert slid[-1.0] > 1.5
    assert np.all(np.isfinite(simulation.state.v))


@pytest.mark.parametrize("soil", ["dry_sand", "clay"])
def test_vehicle_that_falls_on_its_side_on_soil_stays_finite_and_is_told(soil):
    """Shoes of a belt touch soil with their faces and edges, not with the flank of the belt."""
    lying = Pose((0.0, 0.0, 0.9), (math.sin(0.25 * math.pi), 0.0, 0.0, math.cos(0.25 * math.pi)))
    world = World(ground=Ground(soil=SoilGround((load_soil(soil),))), spawn=lying)
    simulation = Simulation(tracked_vehicle(**VEHICLE, height=0.3), world, spawn="as_given")
    with pytest.warns(RuntimeWarning, match='track "right" lies on its side on soft soil') as warned:
        for _ in range(4):
            simulation.step(500)
    assert len(warned) == 1
    assert np.abs(simulation.base_twist()).max() < 4.0
    # it has not gained energy beyond the height that it fell from, nor sunk away
    assert -0.5 < simulation.link_pose("base")[0][2] < 0.9
    balance = simulation.energy_balance()
    assert balance.kinetic + balance.potential < 0.0
    assert abs(balance.residual) < 2e-3 * sum(balance.dissipation.values())
    upright = Simulation(tracked_vehicle(**VEHICLE), World(ground=world.ground))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        upright.step(200)
