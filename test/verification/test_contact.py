"""Contacts against closed forms (Guendelman et al. 2003 use the same)."""

import math

import numpy as np
import pytest

from grouser import Simulation, World
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import Ground

GRAVITY = 9.81
BOX = '<box size="0.4 0.4 0.2"/>'
BOX_INERTIA = (10 * (0.16 + 0.04) / 12, 10 * (0.16 + 0.04) / 12, 10 * 0.32 / 12)


def heading_turn(angle):
    """Quaternion of a rotation about z."""
    return (0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2))


def box_on_incline(parts, slope, friction, heading=0.0):
    """A box at rest on level ground, with gravity inclined by `slope` towards `heading`."""
    gravity = GRAVITY * np.array(
        [math.sin(slope) * math.cos(heading), math.sin(slope) * math.sin(heading), -math.cos(slope)]
    )
    world = World(gravity=tuple(gravity), ground=Ground(friction=friction), spawn=Pose((0.0, 0.0, 0.1)))
    return Simulation(parts.machine(parts.link("box", 10, BOX_INERTIA, BOX)), world)


@pytest.mark.parametrize("heading", [0.0, 0.3, math.pi / 4, 2.0])
@pytest.mark.parametrize("friction", [0.3, 0.7])
def test_box_slips_at_atan_of_friction(parts, friction, heading):
    # 0.1 degree on either side of the cone: a four-sided pyramid would be wrong by degrees at 45 degrees
    angle = math.atan(friction)
    held = box_on_incline(parts, angle - math.radians(0.1), friction, heading)
    held.step(1000)
    assert np.linalg.norm(held.base_twist()[0]) < 1e-6
    slipping = box_on_incline(parts, angle + math.radians(0.1), friction, heading)
    slipping.step(1000)
    acceleration = GRAVITY * (math.sin(angle + math.radians(0.1)) - friction * math.cos(angle + math.radians(0.1)))
    # the speed after 1 s, less what the first step takes to converge
    assert np.linalg.norm(slipping.base_twist()[0]) == pytest.approx(acceleration, rel=0.02)


@pytest.mark.parametrize("heading", [0.0, 0.5, 2.5])
def test_sliding_box_stops_after_its_braking_distance(parts, heading):
    friction, speed = 0.4, 2.0
    world = World(ground=Ground(friction=friction), spawn=Pose((0.0, 0.0, 0.1)))
    simulation = Simulation(parts.machine(parts.link("box", 10, BOX_INERTIA, BOX)), world)
    direction = np.array([math.cos(heading), math.sin(heading)])
    simulation.state.v[:2] = speed * direction
    simulation.step(1000)
    travelled = simulation.base_pose()[0][:2]
    # semi-implicit Euler at 1 ms stops half a step's travel early: v h / 2 = 1 mm of 510 mm
    assert travelled @ direction == pytest.approx(speed**2 / (2 * friction * GRAVITY), abs=1.1e-3)
    assert abs(travelled @ [-direction[1], direction[0]]) < 1e-5
    assert np.linalg.norm(simulation.base_twist()[0]) < 1e-6


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_ball_bounces_with_its_restitution(parts, restitution):
    ball = parts.machine(
        parts.link("ball", 2.0, (0.008,) * 3, '<sphere radius="0.1"/>'),
        extension=f'<contact link="ball" restitution="{restitution}"/>',
    )
    simulation = Simulation(ball, World(spawn=Pose((0.0, 0.0, 0.6))))
    speeds = []
    for _ in range(400):
        simulation.step()
        speeds.append(simulation.base_twist()[0][2])
    impact = int(np.argmin(speeds))
    before, after = speeds[impact], max(speeds[impact:])
    assert before == pytest.approx(-math.sqrt(2 * GRAVITY * 0.5), rel=0.01)
    assert after == pytest.approx(-restitution * before, rel=0.01, abs=1e-5)


@pytest.mark.parametrize("slope_deg", [10.0, 30.0])
def test_solid_sphere_rolls_down_an_incline(parts, slope_deg):
    slope = math.radians(slope_deg)
    gravity = (GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope))
    world = World(gravity=gravity, ground=Ground(friction=0.8), spawn=Pose((0.0, 0.0, 0.1)))
    simulation = Simulation(
        parts.machine(parts.link("ball", 2.0, (0.4 * 2.0 * 0.01,) * 3, '<sphere radius="0.1"/>')), world
    )
    simulation.step(500)
    acceleration = 5 / 7 * GRAVITY * math.sin(slope)
    speed = simulation.base_twist()
    # velocity is exact for a constant force; the solver's tolerance is 1e-6 m/s a step
    assert simulation.energy().kinetic == pytest.approx(0.5 * 1.4 * 2.0 * (0.5 * acceleration) ** 2, rel=1e-3)
    assert np.linalg.norm(speed[0]) == pytest.approx(0.1 * np.linalg.norm(speed[1]), rel=1e-4)


@pytest.mark.parametrize(
    "shape, inertia",
    [
        ('<box size="0.2 0.2 0.2"/>', (0.0133,) * 3),
        ('<cylinder radius="0.1" length="0.2"/>', (0.0117, 0.0117, 0.01)),
        ('<sphere radius="0.1"/>', (0.008,) * 3),
    ],
)
def test_body_at_rest_does_not_creep(parts, shape, inertia):
    simulation = Simulation(parts.machine(parts.link("body", 2.0, inertia, shape)), World(spawn=Pose((0, 0, 0.1))))
    simulation.step(1000)
    start = simulation.base_pose()[0]
    simulation.step(10_000)
    # creep below 1e-6 m/s over 10 s
    assert np.abs(simulation.base_pose()[0] - start).max() < 1e-5
    assert np.abs(simulation.state.v).max() < 1e-6
    weight = sum(contact.force_world[2] for contact in simulation.contacts())
    assert weight == pytest.approx(2.0 * GRAVITY, rel=1e-4)


def test_lying_cylinder_rolls_down_an_incline(parts):
    mass, radius = 4.0, 0.1
    about_axis = 0.5 * mass * radius**2
    cylinder = parts.machine(
        parts.link("root", 1e-6, (1e-9,) * 3),
        parts.link("body", mass, (0.0233, 0.0233, about_axis), f'<cylinder radius="{radius}" length="0.2"/>'),
        '<joint name="turn" type="fixed"><parent link="root"/><child link="body"/>'
        '<origin rpy="1.5707963267948966 0 0"/></joint>',
    )
    slope = math.radians(15)
    gravity = (GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope))
    simulation = Simulation(cylinder, World(gravity=gravity, spawn=Pose((0.0, 0.0, radius))))
    simulation.step(500)
    # a = 2/3 g sin(slope) without slip; the solver's tolerance of 1e-6 m/s in each of 500 steps
    velocity_world = np.linalg.norm(simulation.base_twist()[0])
    assert velocity_world == pytest.approx(0.5 * 2 / 3 * GRAVITY * math.sin(slope), abs=5e-4)


def test_contact_wrench_of_a_resting_link_carries_its_weight(parts):
    simulation = Simulation(
        parts.machine(parts.link("box", 10, BOX_INERTIA, BOX, com=(0.05, 0.0, 0.0))), World(spawn=Pose((0, 0, 0.1)))
    )
    simulation.step(2000)
    force, moment = np.split(simulation.contact_wrench["box"], 2)
    assert force == pytest.approx([0.0, 0.0, 98.1], abs=0.01)
    # the resultant of the ground pressure acts under the centre of mass
    assert moment == pytest.approx([0.0, -98.1 * 0.05, 0.0], abs=0.01)


def test_compliant_contact_sinks_by_load_over_stiffness(parts):
    stiffness = 5e4
    ball = parts.machine(
        parts.link("ball", 2.0, (0.008,) * 3, '<sphere radius="0.1"/>'),
        extension=f'<contact link="ball" stiffness="{stiffness}" damping="200"/>',
    )
    simulation = Simulation(ball, World(spawn=Pose((0.0, 0.0, 0.1))))
    simulation.step(2000)
    assert 0.1 - simulation.base_pose()[0][2] == pytest.approx(2.0 * GRAVITY / stiffness, rel=1e-3)


def test_contact_impulses_never_add_energy(parts):
    # a tumbling box without gravity keeps or loses kinetic energy at each contact
    world = World(gravity=(0.0, 0.0, 0.0), spawn=Pose((0.0, 0.0, 0.3)))
    simulation = Simulation(parts.machine(parts.link("box", 10, BOX_INERTIA, BOX)), world)
    simulation.state.v[:] = [0.5, 0.2, -1.0, 3.0, -2.0, 1.0]
    energy = simulation.energy().kinetic
    touched = False
    for _ in range(400):
        simulation.step()
        now = simulation.energy().kinetic
        if any(np.linalg.norm(contact.force_world) > 0.0 for contact in simulation.contacts()):
            touched = True
            # the Lie-Euler integration of the free motion is of first order: its share in a step is below 1e-4
            assert now <= energy * (1.0 + 2e-4)
        energy = now
    assert touched


def test_moving_surface_drives_the_body_and_is_driven_by_it(parts):
    belt = parts.machine(
        parts.link("chassis", 50, (2.0, 2.0, 2.0), '<box size="1 0.6 0.2"/>'),
        parts.link("sprocket", 1, (0.02, 0.02, 0.02)),
        parts.joint("drive", "continuous", "chassis", "sprocket", axis=(0, 1, 0)),
        extension='<contact link="chassis" surface_joint="drive" surface_radius="0.1" surface_direction="1 0 0"/>'
        '<servo_drive joint="drive" mode="velocity" damping="500" effort_limit="200"/>',
    )
    simulation = Simulation(belt, World(ground=Ground(friction=0.8), spawn=Pose((0.0, 0.0, 0.1))))
    simulation.step(200)
    simulation.command["drive"] = 5.0
    simulation.step(100)
    start = simulation.energy().kinetic
    simulation.step(1900)
    assert start > 0.0
    assert simulation.base_twist()[0][0] == pytest.approx(0.1 * simulation.joint_velocity["drive"], rel=1e-4)
    # the drive's reaction on the rolling chassis vanishes at constant speed
    assert simulation.joint_velocity["drive"] == pytest.approx(5.0, rel=1e-3)


# the contact force cannot move these bodies: along a guide, about a pin, in a plane
@pytest.mark.parametrize(
    "kind, axis, height",
    [
        ("prismatic", (0, 0, 1), 0.3),
        ("prismatic", (1, 0, 0), 0.1),
        ("continuous", (0, 0, 1), 0.1),
        ("planar", (0, 0, 1), 0.1),
    ],
)
def test_guided_body_touches_the_ground(parts, kind, axis, height):
    guided = parts.machine(
        '<link name="world"/>',
        parts.link("body", 2.0, (0.01, 0.01, 0.01), '<box size="0.2 0.2 0.2"/>'),
        parts.joint("guide", kind, "world", "body", axis=axis, xyz=(0, 0, height)),
    )
    simulation = Simulation(guided)
    simulation.state.v[-1] = 0.2
    simulation.step(1000)
    assert simulation.link_pose("body")[0][2] == pytest.approx(0.1, abs=2e-5)
    if kind == "prismatic" and axis == (0, 0, 1):
        weight = sum(contact.force_world[2] for contact in simulation.contacts())
        assert weight == pytest.approx(2.0 * GRAVITY, rel=1e-6)


def test_compliant_contact_has_no_force_before_touch(parts):
    ball = parts.machine(
        parts.link("ball", 2.0, (0.008,) * 3, '<sphere radius="0.1"/>'),
        extension='<contact link="ball" stiffness="1e5" damping="1e4"/>',
    )
    simulation = Simulation(ball, World(gravity=(0.0, 0.0, 0.0), spawn=Pose((0.0, 0.0, 0.105))))
    simulation.state.v[2] = -1.3
    for _ in range(3):
        simulation.step()
        assert simulation.base_twist()[0][2] == pytest.approx(-1.3, rel=1e-12)
    simulation.step(2)
    assert simulation.base_twist()[0][2] > -0.5, "the ball has touched the ground by now"


@pytest.mark.parametrize("slope_deg", [10.0])
def test_box_stands_on_sloping_ground(parts, slope_deg):
    slope = math.radians(slope_deg)
    normal = (-math.sin(slope), 0.0, math.cos(slope))
    turn = (0.0, -math.sin(slope / 2), 0.0, math.cos(slope / 2))
    world = World(ground=Ground(normal=normal, friction=0.8), spawn=Pose(tuple(0.1 * n for n in normal), turn))
    simulation = Simulation(parts.machine(parts.link("box", 10, BOX_INERTIA, BOX)), world)
    simulation.step(1000)
    start = simulation.base_pose()[0]
    simulation.step(5000)
    assert np.linalg.norm(simulation.base_pose()[0] - start) < 5e-6  # 1e-6 m/s
