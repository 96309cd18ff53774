"""The rover: its figures against those of Spirit and Opportunity, standing, climbing and driving.

Sources of the figures: docs/rover.md.
"""

import math

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import Simulation, World
from grouser.catalogue import program_file, world_file
from grouser.physics.base import spatial
from grouser.physics.description import load_world
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Ground, Obstacle
from grouser.physics.description.urdf.placement import initial_positions, link_poses, subtree_masses
from grouser.program import TWIST, load_program
from grouser.runtime.driving import Driver, Odometer
from grouser.runtime.frames import FrameTree
from grouser.runtime.vehicle_parts import make_vehicle

MASS = 174.0  # [kg]
WHEEL_DIAMETER = 0.26  # [m]
LENGTH = 1.6  # over the wheels [m]
TRACK = 1.02  # 40 inches between the middles of the tracks [m]
STEP_HEIGHT = 0.26  # they climb rocks of ten inches [m]
GRAVITY = 9.81
WHEELS = [f"{place}_{side}_wheel" for side in ("left", "right") for place in ("front", "middle", "rear")]
TICK = 10  # steps between two commands


@pytest.fixture(scope="module")
def machine():
    return shipped_machine("rover")


def test_rover_mass_and_size_are_those_of_spirit_and_opportunity(machine):
    poses = link_poses(machine, initial_positions(machine))
    whole = subtree_masses(machine, poses)["base_link"]
    assert machine.warnings == ()
    assert whole.mass == pytest.approx(MASS)
    assert {wheel.radius for wheel in machine.wheels} == {0.5 * WHEEL_DIAMETER}
    places = np.array([poses[name].position for name in WHEELS])
    assert np.ptp(places[:, 0]) + WHEEL_DIAMETER == pytest.approx(LENGTH)
    assert np.ptp(places[:, 1]) == pytest.approx(TRACK)
    # it may be tilted by 45 degrees before it tips over, to the side that is nearer
    assert whole.centre[2] < 0.5 * TRACK
    assert abs(whole.centre[1]) < 1e-9


def test_rover_steers_its_corner_wheels_and_drives_all(machine):
    assert [wheel.link for wheel in machine.wheels if not wheel.steering] == ["middle_left_wheel", "middle_right_wheel"]
    assert all(wheel.driven and wheel.sense == 1.0 for wheel in make_vehicle(machine).wheels)


def test_rover_at_rest_loads_its_six_wheels_equally(standing):
    simulation = standing()
    place = simulation.base_pose()[0]
    simulation.step(2000)
    # contacts leave gaps of 10 um alone
    np.testing.assert_allclose(simulation.base_pose()[0], place, atol=1e-5)
    assert np.max(np.abs(simulation.state.v)) < 1e-6
    loads = [simulation.wheel[name].normal_force for name in WHEELS]
    assert sum(loads) == pytest.approx(MASS * GRAVITY, rel=1e-6)
    # pivots halfway and a third along: each bears a sixth, but for where bogies and rockers themselves have their mass
    assert loads == pytest.approx([MASS * GRAVITY / 6.0] * 6, rel=0.03)
    for name in WHEELS:
        wheel = simulation.wheel[name]
        assert abs(wheel.slip_ratio) < 1e-2 and wheel.sinkage == 0.0


def test_rover_parks_on_a_slope(machine):
    """Ten degrees: the friction of the gears holds it."""
    simulation = Simulation(machine, load_world(world_file("slope")))
    simulation.step(1000)
    place = simulation.base_pose()[0]
    simulation.step(2000)
    np.testing.assert_allclose(simulation.base_pose()[0], place, atol=1e-5)
    pull = sum(simulation.wheel[name].drawbar_pull for name in WHEELS)
    assert pull == pytest.approx(MASS * GRAVITY * math.sin(math.radians(10.0)), rel=1e-3)


def test_rover_chassis_pitch_is_the_mean_of_its_rockers(machine):
    """The left front wheel is on a block of 0.2 m: that rocker pitches most."""
    block = Obstacle("block", Box((0.6, 0.3, 0.2)), Pose((0.67, 0.51, 0.1)))
    simulation = Simulation(machine, World(obstacles=(block,), spawn=Pose((0.0, 0.0, 0.21))))
    simulation.step(3000)
    assert np.max(np.abs(simulation.state.v)) < 1e-3

    def pitch(link):
        """About its own y axis, from the horizontal, nose down positive."""
        x, _, z = spatial.matrix(simulation.link_pose(link)[1])[:, 0]
        return math.atan2(-z, x)

    left, right, chassis = pitch("left_rocker"), pitch("right_rocker"), pitch("base_link")
    assert left < right - math.radians(3.0)
    # roll tilts the axes that the three turn about, alike: its cosine is 1 - 4e-3
    assert chassis == pytest.approx(0.5 * (left + right), abs=5e-3 * abs(left - right))
    assert simulation.joint_position["left_rocker"] == -simulation.joint_position["right_rocker"]
    loads = [simulation.wheel[name].normal_force for name in WHEELS]
    assert min(loads) > 0.5 * MASS * GRAVITY / 6.0


@pytest.mark.parametrize("height", [0.5 * STEP_HEIGHT, STEP_HEIGHT])
def test_rover_climbs_a_step_of_its_wheel_diameter(machine, height):
    """Straight up, both front wheels at once; the friction of rock and ground is 0.8."""
    step = Obstacle("step", Box((3.0, 3.0, height)), Pose((2.6, 0.0, 0.5 * height)), friction=0.8)
    simulation = Simulation(machine, World(ground=Ground(friction=0.8), obstacles=(step,)))
    driver = Driver(make_vehicle(machine), simulation)
    steepest = 0.0
    while simulation.base_pose()[0][0] < 2.3:
        assert simulation.time < 30.0, f"stuck at {simulation.base_pose()}"
        drive(simulation, driver, (0.15, 0.0, 0.0), 0.2)
        steepest = max(steepest, math.acos(spatial.matrix(simulation.base_pose()[1])[2, 2]))
    drive(simulation, driver, (0.0, 0.0, 0.0), 2.0)
    assert simulation.base_pose()[0][2] == pytest.approx(height, abs=1e-3)
    # no steeper than with four wheels on the ground before the step and two on top of it, or the other way round
    assert steepest < 1.2 * math.atan2(height, 0.67)


def drive(simulation, driver, twist, seconds, odometer=None):
    """Holds a twist, as the node does, tick by tick; reads the wheels every second tick."""
    command = dict(zip(TWIST, twist, strict=True))
    for tick in range(round(seconds / (TICK * simulation.step_size))):
        simulation.command.update(driver.commands(command, TICK * simulation.step_size))
        simulation.step(TICK)
        if odometer is not None and tick % 2:
            odometer.read()


def footprint(frames, simulation):
    """x, y and yaw of the footprint in the world."""
    pose = frames.footprint(simulation.link_poses())
    return np.array([*pose[:2], 2.0 * math.atan2(pose[5], pose[6])])


def droop(twist):
    """Shortfall of a wheel's speed [m/s]: torque over the drive's damping of 400 N m s/rad.

    Gears take 6 N m. Where the wheels in the middle scrub, the four others pull them, against a friction of 0.8.
    """
    scrubbing = 2.0 * 0.8 * MASS * GRAVITY / 6.0 * 0.5 * WHEEL_DIAMETER / 4.0 if twist[1] else 0.0
    return (6.0 + scrubbing) / 400.0 * 0.5 * WHEEL_DIAMETER


LEVER = math.hypot(0.67, 0.51)  # of a corner wheel about base_link [m]
WAYS = {
    "straight": (0.3, 0.0, 0.0),
    "backwards in an arc": (-0.3, 0.0, -0.1),
    "arc": (0.2, 0.0, 0.15),
    "crab": (0.1, 0.1, 0.0),
    "sideways": (0.0, 0.1, 0.0),
    "crab in an arc": (0.1, 0.1, 0.1),
    "on the spot": (0.0, 0.0, 0.3),
}


@pytest.mark.parametrize("way", WAYS)
def test_rover_follows_a_twist_and_its_odometry_agrees(machine, standing, way):
    """Eight seconds on hard ground. Wheel odometry gives the pose within its covariance."""
    simulation = standing()
    vehicle = make_vehicle(machine)
    frames = FrameTree(machine, simulation.world.ground, "odom", "base_footprint")
    driver, odometer = Driver(vehicle, simulation), Odometer(vehicle, simulation, frames)
    twist = np.array(WAYS[way])
    # steered first, so that the way afterwards is that of the twist alone
    drive(simulation, driver, tuple(1e-3 * twist), 2.0, odometer)
    start = footprint(frames, simulation)
    drive(simulation, driver, twist, 8.0, odometer)
    drive(simulation, driver, (0.0, 0.0, 0.0), 0.5, odometer)
    end, reckoning = footprint(frames, simulation), odometer.reckoning
    # Motion of a body with the twist.
    turn = complex(math.cos(start[2]), math.sin(start[2]))
    forward, left, yaw = 8.0 * twist
    arc = (np.exp(1j * yaw) - 1.0) / (1j * yaw) if yaw else 1.0
    goal = complex(*start[:2]) + turn * arc * complex(forward, left)
    length = 8.0 * (math.hypot(*twist[:2]) + abs(twist[2]) * LEVER)
    lost = droop(twist) * 8.0 + 0.02 * length
    assert abs(complex(*end[:2]) - goal) < lost
    assert abs(end[2] - start[2] - yaw) < lost / LEVER
    error = reckoning.pose - end
    deviation = np.sqrt(np.diag(reckoning.covariance))
    assert np.all(np.abs(error) < 3.0 * deviation + 1e-4)
    assert np.hypot(*error[:2]) < 0.02 * length
    assert np.max(np.abs(reckoning.twist)) < 1e-3


@pytest.mark.parametrize("twist", [(0.2, 0.0, 0.0), (0.2, 0.0, 0.1), (0.0, 0.0, 0.3)])
def test_rover_odometry_covariance_on_sand(machine, twist):
    """All wheels slip alike: the error of dead reckoning is below three standard deviations."""
    simulation = Simulation(machine, load_world(world_file("sand")))
    vehicle = make_vehicle(machine)
    frames = FrameTree(machine, simulation.world.ground, "odom", "base_footprint")
    driver, odometer = Driver(vehicle, simulation), Odometer(vehicle, simulation, frames)
    drive(simulation, driver, twist, 8.0, odometer)
    reckoning = odometer.reckoning
    error = reckoning.pose - footprint(frames, simulation)
    deviation = np.sqrt(np.diag(reckoning.covariance))
    assert np.max(np.abs(error)) > 0.05
    assert np.all(np.abs(error) < 3.0 * deviation)


def test_rover_wheels_spin_against_a_wall(machine, standing):
    """Against a wall all wheels spin: friction pulls with 0.8 of their load."""
    simulation = standing()
    wall = Obstacle("wall", Box((0.2, 3.0, 3.0)), Pose((0.95, 0.0, 1.5)), friction=0.0)
    held = Simulation(machine, World(obstacles=(wall,)))
    driver = Driver(make_vehicle(machine), held)
    drive(held, driver, (0.2, 0.0, 0.0), 3.0)
    for name in ("middle_left_wheel", "rear_right_wheel"):
        wheel = held.wheel[name]
        assert wheel.slip_ratio > 0.9
        assert wheel.drawbar_pull == pytest.approx(0.8 * wheel.normal_force, rel=0.02)
    assert simulation.wheel["rear_right_wheel"].slip_ratio < 0.01


def test_rover_demonstration_returns_to_its_start(machine, standing):
    """One cycle ends near its start, and no command exceeds a wheel's limits."""
    simulation = standing()
    program = load_program(program_file("rover"))
    program.check([], simulation.command.drives, TWIST)
    driver = Driver(make_vehicle(machine), simulation)
    start, farthest = simulation.base_pose()[0], 0.0
    for tick in range(round(program.period / 0.01)):
        simulation.command.update(driver.commands(program.values(0.01 * tick), 0.01))
        simulation.step(TICK)
        farthest = max(farthest, float(np.linalg.norm(simulation.base_pose()[0] - start)))
    assert farthest > 0.5
    assert np.linalg.norm(simulation.base_pose()[0] - start) < 0.2 * farthest
