"""The demolition robot: geometry, cylinder forces, standing, motion, emergency stop and driving."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from rolling_belt import rolled_beyond
from shipped import shipped_machine

from grouser import Simulation, World
from grouser.catalogue import program_file
from grouser.physics.base import spatial
from grouser.physics.description.data.contact import SelfCollision
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Obstacle
from grouser.physics.description.urdf.placement import initial_positions, link_poses, point_on_link, subtree_masses
from grouser.program import load_program

GRAVITY = 9.81
ARM = ("swing", "boom", "stick", "tool", "reel")
OUTRIGGERS = tuple(f"outrigger_{end}_{side}" for end in ("front", "rear") for side in ("left", "right"))
SPROCKETS = tuple(f"sprocket_{end}_{side}" for end in ("front", "rear") for side in ("left", "right"))
TRACK_VALVES = ("track_left_valve", "track_right_valve")
HELD_BY_BRAKE = ("swing", "tool", "reel", *OUTRIGGERS)
TRACK_RADIUS = 0.135  # of the belt on the sprocket [m]


@pytest.fixture(scope="module")
def machine():
    return shipped_machine("demolition_robot")


@pytest.fixture(scope="module")
def program():
    return load_program(program_file("demolition_robot"))


def cylinder_of(machine, name):
    return next(cylinder for cylinder in machine.cylinders if cylinder.name == name)


def joint_of(machine, name):
    return next(joint for joint in machine.joints if joint.name == name)


def stroke_ends(machine, name):
    """Angles [rad] at which the cylinder stops its joint: 1 mrad inside the joint's limits."""
    limit = joint_of(machine, name).limit
    return limit.lower + 1e-3, limit.upper - 1e-3


def cylinder_length(machine, name, positions):
    """Distance of a cylinder's eyes [m]."""
    poses = link_poses(machine, positions)
    cylinder = cylinder_of(machine, name)
    ends = [point_on_link(poses[end.link], end.xyz) for end in (cylinder.barrel, cylinder.rod)]
    return float(np.linalg.norm(ends[1] - ends[0]))


def lever(machine, name, positions):
    """Change of a cylinder's length with its joint [m/rad]."""
    step = 1e-5
    lengths = [cylinder_length(machine, name, {**positions, name: positions[name] + d}) for d in (-step, step)]
    return (lengths[1] - lengths[0]) / (2 * step)


def hinge(machine, name, poses):
    """A point of a joint's axis [m] and its direction."""
    joint = joint_of(machine, name)
    frame = poses[joint.child]  # the origin and the axis are the same in the child's frame
    point = np.array(frame.position)
    return point, point_on_link(frame, joint.axis) - point


def strength(machine, cylinder):
    """Largest push and pull of a cylinder at the pump's highest pressure, less its dry friction [N]."""
    pump, tank = machine.pumps[0].setting, machine.tanks[0].pressure
    piston = math.pi / 4 * cylinder.bore**2
    ring = piston - math.pi / 4 * cylinder.rod_diameter**2
    push = piston * pump - ring * tank - cylinder.dry_friction
    pull = ring * pump - piston * tank - cylinder.dry_friction
    return push, pull


def load_share(machine, name, positions, moment):
    """Share of a cylinder's strength that holding a moment [N m] about its joint takes."""
    force = -moment / lever(machine, name, positions)
    push, pull = strength(machine, cylinder_of(machine, name))
    return force / push if force > 0 else -force / pull


def weight_moment(machine, name, positions, gravity):
    """Moment of the weight of all links beyond a joint about its axis [N m]."""
    poses = link_poses(machine, positions)
    point, axis = hinge(machine, name, poses)
    part = subtree_masses(machine, poses)[joint_of(machine, name).child]
    return float(axis @ np.cross(part.centre - point, part.mass * np.asarray(gravity)))


def steepest_tilt(simulation):
    """Angle between the base's z axis and the vertical [rad]."""
    x, y, _, _ = simulation.base_pose()[1]
    return 2 * math.asin(math.hypot(x, y))


def chisel_height(simulation):
    """Height of the chisel's point above the ground [m]: a sphere of 0.04 m, 1.01 m along the tool's x axis."""
    position, (x, y, z, w) = simulation.link_pose("tool_link")
    return position[2] + 1.01 * 2 * (x * z - y * w) - 0.04


# --- the drawing ----------------------------------------------------------------------------------------------------


def test_demolition_robot_mass_and_no_warnings(machine):
    assert 1900 < sum(link.inertial.mass for link in machine.links if link.inertial) < 2100
    assert machine.warnings == ()
    assert {cylinder.name for cylinder in machine.cylinders} == {*ARM, *OUTRIGGERS}
    assert {valve.name for valve in machine.valves} == {
        *(f"{name}_valve" for name in (*ARM, *OUTRIGGERS)),
        *TRACK_VALVES,
    }
    assert {motor.joint for motor in machine.hydraulic_motors} == set(SPROCKETS)
    assert machine.drives == ()


@pytest.mark.parametrize("name", [*ARM, *OUTRIGGERS])
def test_cylinder_spans_exactly_the_range_of_its_joint(machine, name):
    cylinder = cylinder_of(machine, name)
    start = initial_positions(machine)
    lower, upper = stroke_ends(machine, name)
    angles = np.linspace(lower, upper, 41)
    lengths = np.array([cylinder_length(machine, name, {**start, name: angle}) for angle in angles])
    steps = np.diff(lengths)
    assert np.all(steps > 0) or np.all(steps < 0)
    assert lengths.min() == pytest.approx(cylinder.retracted_length, abs=1e-9)
    assert lengths.max() == pytest.approx(cylinder.retracted_length + cylinder.stroke, abs=1e-9)
    # room for piston, head and eyes
    assert cylinder.retracted_length - cylinder.stroke > 0.13
    assert lower - 1e-9 <= start[name] <= upper + 1e-9


@pytest.mark.parametrize("name", ARM)
def test_cylinder_holds_the_worst_pose_with_a_third_in_reserve(machine, name):
    # the arm's functions on level ground; the swing, which carries no weight there, across a slope of 10 degrees
    slope = math.radians(10) if name == "swing" else 0.0
    gravity = GRAVITY * np.array([0.0, math.sin(slope), -math.cos(slope)])
    start = initial_positions(machine)
    free = ("reel",) if name == "reel" else ARM[ARM.index(name) : 4]
    if name == "swing":
        free = ("swing", "boom", "stick")
    shares = []
    for angles in itertools.product(*[np.linspace(*stroke_ends(machine, joint), 7) for joint in free]):
        positions = {**start, **dict(zip(free, angles, strict=True))}
        shares.append(load_share(machine, name, positions, weight_moment(machine, name, positions, gravity)))
    assert 0.02 < max(shares) < 2 / 3


@pytest.mark.parametrize("name", OUTRIGGERS)
def test_outrigger_cylinder_bears_half_of_the_weight(machine, name):
    start = initial_positions(machine)
    load = 0.5 * GRAVITY * sum(link.inertial.mass for link in machine.links if link.inertial)
    lowest, _ = stroke_ends(machine, name)
    for angle in np.linspace(lowest, start[name], 7):
        positions = {**start, name: angle}
        poses = link_poses(machine, positions)
        point, axis = hinge(machine, name, poses)
        leg = next(link for link in machine.links if link.name == joint_of(machine, name).child)
        foot = point_on_link(poses[leg.name], leg.collisions[0].pose.position)
        moment = float(axis @ np.cross(foot - point, [0.0, 0.0, load]))
        assert load_share(machine, name, positions, moment) < 2 / 3


# --- the functions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ARM, OUTRIGGERS[0]])
def test_function_runs_from_end_to_end_in_seconds(name):
    # folded as it starts, the arm would meet the machine's front
    robot = replace(shipped_machine("demolition_robot", base="fixed"), self_collision=SelfCollision(False))
    held = Simulation(robot, World(ground=None))
    stroke = cylinder_of(held.machine, name).stroke
    position = held.cylinder[name].position
    for direction, end in ((-1.0, 0.0), (1.0, stroke), (-1.0, 0.0)):
        way = abs(end - position)
        began = held.time
        held.command[f"{name}_valve"] = direction
        while abs(held.cylinder[name].position - end) > 1e-4 and held.time - began < 12.0:
            held.step(10)
        position = held.cylinder[name].position
        assert position == pytest.approx(end, abs=1e-4)
        if way == pytest.approx(stroke, abs=1e-3):
            assert 2.5 < held.time - began < 7.5


# --- the whole machine ----------------------------------------------------------------------------------------------


def test_demolition_robot_stands_on_its_outriggers_and_holds_its_arm(machine):
    simulation = Simulation(machine)
    simulation.step(500)
    position, angles = simulation.base_pose()[0], simulation.joint_position.values()
    assert np.linalg.norm(position) < 1e-3  # Its initial pose, except for the compliance of the pads.
    simulation.step(4500)
    assert np.linalg.norm(simulation.base_pose()[0] - position) < 1e-5
    assert np.abs(np.concatenate(simulation.base_twist())).max() < 1e-6
    assert np.abs(simulation.joint_position.values() - angles).max() < 1e-6
    contacts = simulation.contacts()
    assert {contact.link for contact in contacts} == {name.replace("_", "_link_", 1) for name in OUTRIGGERS}
    assert all(contact.force_world[2] > 2000 for contact in contacts)
    weight = GRAVITY * sum(link.inertial.mass for link in machine.links if link.inertial)
    assert sum(contact.force_world[2] for contact in contacts) == pytest.approx(weight, rel=1e-3)
    engaged = {cylinder.name for cylinder in machine.cylinders if simulation.cylinder[cylinder.name].brake_engaged}
    assert engaged == set(HELD_BY_BRAKE)


def test_demolition_robot_program_moves_every_function_without_tipping(machine, program, standing):
    program.check([valve.name for valve in machine.valves], ())
    assert set(program.actuators) == {f"{name}_valve" for name in ARM}
    assert program.repeat
    simulation = standing()
    began, start = simulation.time, simulation.joint_position.values()
    angles, feet, tilt, tip = [], [], 0.0, math.inf
    residual = 0.0
    for _ in range(round(program.period / 0.01)):
        for valve, value in program.values(simulation.time - began).items():
            simulation.command[valve] = value
        simulation.step(10)
        angles.append([simulation.joint_position[name] for name in ARM])
        feet.append([simulation.contact_wrench[name.replace("_", "_link_", 1)] for name in OUTRIGGERS])
        tilt = max(tilt, steepest_tilt(simulation))
        residual = max(residual, simulation.diagnostics.residual)
        tip = min(tip, chisel_height(simulation))
    moved = dict(zip(ARM, np.ptp(angles, axis=0), strict=True))
    assert moved["swing"] > 2.0
    assert moved["boom"] > 0.6
    assert moved["stick"] > 1.7
    assert moved["tool"] > 1.6
    assert moved["reel"] > 1.1
    assert tilt < math.radians(0.2)
    assert tip > 0.08
    # Every foot is on the ground at every sample.
    assert np.linalg.norm(np.array(feet)[:, :, :3], axis=2).min() > 0.0
    # A cycle ends at its start: at the stops, and the swing within the accuracy of timing.
    assert np.linalg.norm(simulation.base_pose()[0]) < 5e-3
    ended = np.abs(simulation.joint_position.values() - start)
    assert ended.max() < 0.05
    assert simulation.joint_position["boom"] == pytest.approx(stroke_ends(machine, "boom")[1], abs=1e-3)
    assert residual < 1e-3
    assert simulation.diagnostics.unsettled_steps == 0


@pytest.mark.parametrize("moment", [2.0, 5.0, 15.0, 26.8])
def test_emergency_stop_holds_all_functions(program, standing, moment):
    simulation = standing()
    began = simulation.time
    while simulation.time - began < moment:
        for valve, value in program.values(simulation.time - began).items():
            simulation.command[valve] = value
        simulation.step(10)
    assert np.abs(simulation.joint_velocity.values()).max() > 0.2
    simulation.emergency_stop = True
    simulation.step(500)
    assert np.abs(simulation.joint_velocity.values()).max() < 1e-3
    assert steepest_tilt(simulation) < math.radians(0.5)
    angles = simulation.joint_position.values()
    simulation.step(2000)
    assert np.abs(simulation.joint_position.values() - angles).max() < 1e-4


@pytest.fixture(scope="module")
def on_tracks(machine):
    """The machine with its outriggers folded, standing on its tracks."""
    simulation = Simulation(machine)
    for name in OUTRIGGERS:
        simulation.command[f"{name}_valve"] = -1.0
    while min(simulation.joint_position[name] for name in OUTRIGGERS) < 0.99 and simulation.time < 12.0:
        simulation.step(100)
    for name in OUTRIGGERS:
        simulation.command[f"{name}_valve"] = 0.0
    simulation.step(500)
    start = simulation.snapshot()

    def stand():
        simulation.restore(start)
        return simulation

    return stand


def test_demolition_robot_folds_its_outriggers_and_stands_on_its_tracks(on_tracks):
    simulation = on_tracks()
    simulation.step(1)
    assert simulation.contacts() == []
    assert all(track.normal_force > 1.0 for track in simulation.track.values())
    assert simulation.base_pose()[0][2] == pytest.approx(-0.031, abs=1e-3)


def test_lidar_of_the_demolition_robot_sees_a_wall_and_not_the_robot(machine, on_tracks):
    """Parked with its feet on the ground, and standing on its tracks with its feet raised."""
    wall = Obstacle("wall", Box((0.2, 2.0, 1.0)), Pose((3.1, 0.0, 0.5)))
    seen = Simulation(machine, World(obstacles=(wall,))).sensors.lidar["lidar"].ranges
    assert seen[360] == pytest.approx(3.0 - 0.8, abs=1e-3)  # the pads are pressed by 1 mm
    assert np.isinf(seen[:180]).all() and np.isinf(seen[-180:]).all()
    assert np.isinf(on_tracks().sensors.lidar["lidar"].ranges).all()


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_demolition_robot_travels_as_far_as_its_tracks_roll(on_tracks, direction):
    simulation = on_tracks()
    for name in TRACK_VALVES:
        simulation.command[name] = direction
    simulation.step(3000)  # away from standstill the tracks slip
    (position, attitude), turns = simulation.base_pose(), [simulation.joint_position[name] for name in SPROCKETS]
    heading, forces, lean = spatial.matrix(attitude), [], []
    for _ in range(250):
        simulation.step(4)
        forces.append([(track.normal_force, track.thrust) for track in simulation.track.values()])
        lean.append(-spatial.matrix(simulation.base_pose()[1])[2, 0])
    rolled = TRACK_RADIUS * (np.array([simulation.joint_position[name] for name in SPROCKETS]) - turns)
    # along the heading that the slip of the start has left it with
    travelled = heading.T @ (simulation.base_pose()[0] - position)
    # 3 km/h; 5 %: leakage of the motors and the range of compensators
    assert rolled == pytest.approx(direction * 3.0 / 3.6, rel=0.05)
    # farther: the front tracks lean on the arc at their end, where shoes are faster than the belt; 0.3 % of the way
    expected = [
        rolled_beyond(track, load, pull, way, np.mean(lean), 0.7)
        for track, (load, pull), way in zip(simulation.machine.tracks, np.mean(forces, axis=0), rolled, strict=True)
    ]
    beyond = travelled[0] / rolled - 1.0
    assert beyond == pytest.approx(np.array(expected), abs=3e-3)
    assert np.mean(expected) > 5e-3
    assert abs(travelled[1]) < 2e-3
    # across the ground, not the hull: its front tracks carry more, and it leans forward on their pads
    assert abs(simulation.base_pose()[0][2] - position[2]) < 2e-4


def test_demolition_robot_turns_left_with_its_right_tracks(on_tracks):
    simulation = on_tracks()
    simulation.command["track_right_valve"], simulation.command["track_left_valve"] = 1.0, -1.0
    simulation.step(1200)
    _, _, z, w = simulation.base_pose()[1]
    turned = 2 * math.atan2(z, w)
    rolled = max(abs(simulation.joint_position[name]) for name in SPROCKETS) * TRACK_RADIUS
    assert 0.2 < turned < rolled / 0.295  # Skidding turns it less than rolling would.
