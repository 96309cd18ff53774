"""Friction, rolling resistance and spinning resistance against closed forms."""

import math

import numpy as np
import pytest
from loose_bodies import GRAVITY, leaning_world, loose, place, solid, spin_of, velocity_of

from grouser import Simulation, World
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Sphere
from grouser.physics.description.data.world import Ground, Obstacle

BLOCK = Box((0.4, 0.4, 0.2))
SLAB = Box((6.0, 6.0, 0.5))
RADIUS = 0.1
SPHERE = f'<sphere radius="{RADIUS}"/>'
STEP = 1e-3


def block_on(base, friction, world):
    """A block on a body that lies on the ground, or on an obstacle, with friction between the two."""
    block, rough = solid("block", BLOCK, 10.0), ContactMaterial("block", friction=friction)
    if base == "body":
        slab = ContactMaterial("slab", friction=2.0)
        simulation = Simulation(loose(block, solid("slab", SLAB, 500.0), contacts=(rough, slab)), world)
        place(simulation, 1, (0.0, 0.0, 0.25))
    else:
        still = Obstacle("slab", SLAB, Pose((0.0, 0.0, 0.25)), friction=2.0)
        free = World(gravity=world.gravity, ground=None, obstacles=(still,))
        simulation = Simulation(loose(block, contacts=(rough,)), free)
    place(simulation, 0, (0.0, 0.0, 0.6))
    return simulation


@pytest.mark.parametrize("heading", [0.0, 0.4, math.pi / 4, 2.3])
@pytest.mark.parametrize("base", ["body", "obstacle"])
def test_block_slips_at_atan_of_friction(base, heading):
    friction, around = 0.5, math.radians(0.1)
    limit = math.atan(friction)
    held = block_on(base, friction, leaning_world(limit - around, heading, friction=2.0))
    held.step(1000)
    assert np.linalg.norm(velocity_of(held, 0)) < 1e-6
    slope = limit + around
    slipping = block_on(base, friction, leaning_world(slope, heading, friction=2.0))
    slipping.step(1000)
    expected = GRAVITY * (math.sin(slope) - friction * math.cos(slope))
    velocity = velocity_of(slipping, 0)
    # the corners take a few steps to distribute the load; in each the speed may err by g sin(slope) h
    assert velocity[:2] == pytest.approx(expected * np.array([math.cos(heading), math.sin(heading)]), abs=5e-4)


@pytest.mark.parametrize("heading", [0.0, 0.4, math.pi / 4, 2.3])
@pytest.mark.parametrize("mass", [1e-3, 10.0])
def test_friction_brakes_a_body_on_a_planar_joint(parts, mass, heading):
    friction, speed, steps = 0.4, 1.0, 200
    # nothing moves across the plane: the contact has no mobility there
    machine = parts.machine(
        '<link name="world"/>',
        *[parts.link(name, mass, (mass,) * 3, shape) for name, shape in (("sledge", None), ("foot", SPHERE))],
        parts.joint("along", "prismatic", "world", "sledge", axis=(math.cos(heading), math.sin(heading), 0)),
        parts.joint("lift", "prismatic", "sledge", "foot", axis=(0, 0, 1), xyz=(0, 0, RADIUS)),
    )
    simulation = Simulation(machine, World(ground=Ground(friction=friction)))
    simulation.state.v[simulation.arrays.names.joints["along"].v] = speed
    simulation.step(steps)
    # the foot's weight brakes both; the solver's tolerance counts once a step
    expected = speed - friction * GRAVITY / 2.0 * steps * STEP
    assert simulation.joint_velocity["along"] == pytest.approx(expected, abs=steps * 1e-6)
    simulation.step(1000)
    assert simulation.joint_velocity["along"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("heading", [0.0, 1.1, 2.5])
@pytest.mark.parametrize("base", ["body", "obstacle"])
def test_sliding_block_stops_after_its_braking_distance(base, heading):
    friction, speed = 0.4, 1.5
    simulation = block_on(base, friction, World(ground=Ground(friction=2.0)))
    simulation.step(100)
    start = simulation.link_pose("block")[0]
    along = np.array([math.cos(heading), math.sin(heading), 0.0])
    place(simulation, 0, start, linear=speed * along)
    simulation.step(1000)
    way = simulation.link_pose("block")[0] - start
    # semi-implicit steps brake at the start of each step: v h / 2 is lost
    assert way @ along == pytest.approx(speed**2 / (2 * friction * GRAVITY) - speed * STEP / 2, abs=1e-4)
    # its direction is kept: a friction pyramid would turn it by degrees
    assert np.linalg.norm(way - (way @ along) * along) < 1e-4
    assert np.linalg.norm(velocity_of(simulation, 0)) < 1e-6


@pytest.mark.parametrize("heading", [0.0, 0.6, 2.5])
def test_rolling_resistance_stops_a_sphere(heading):
    # energy 7/10 m v^2, moment lever N: it stops after 7 r v^2 / (10 lever g), by 5/7 lever g / r
    speed, lever = 0.5, 0.004
    ball = loose(solid("ball", Sphere(RADIUS), 2.0), contacts=(ContactMaterial("ball", rolling_resistance=lever),))
    simulation = Simulation(ball)
    along = np.array([math.cos(heading), math.sin(heading), 0.0])
    axis = np.array([-along[1], along[0], 0.0])
    place(simulation, 0, (0.0, 0.0, RADIUS), linear=speed * along, angular=speed / RADIUS * axis)
    deceleration = 5 / 7 * lever * GRAVITY / RADIUS
    simulation.step(round(0.5 * speed / deceleration / STEP))
    # the speed is exact for a constant force; the solver's tolerance of 1e-6 m/s in each of 900 steps
    assert velocity_of(simulation, 0) @ along == pytest.approx(0.5 * speed, abs=1e-3)
    simulation.step(round(0.6 * speed / deceleration / STEP))
    way = simulation.link_pose("ball")[0][:2]
    assert way @ along[:2] == pytest.approx(speed**2 / (2 * deceleration) - speed * STEP / 2, rel=1e-3)
    assert abs(way @ axis[:2]) < 1e-6
    assert np.abs(simulation.state.v).max() < 1e-6


def test_spinning_resistance_stops_a_sphere():
    # inertia 2/5 m r^2, moment lever m g: it stops after 2 r^2 w / (5 lever g)
    spin, lever = 10.0, 0.002
    ball = loose(solid("ball", Sphere(RADIUS), 2.0), contacts=(ContactMaterial("ball", spinning_resistance=lever),))
    simulation = Simulation(ball)
    place(simulation, 0, (0.0, 0.0, RADIUS), angular=(0.0, 0.0, spin))
    duration = 2 * RADIUS**2 * spin / (5 * lever * GRAVITY)
    simulation.step(round(0.5 * duration / STEP))
    # half a step of rounding in time is 1.2e-3 rad/s
    assert spin_of(simulation, 0)[2] == pytest.approx(0.5 * spin, abs=spin / duration * STEP)
    simulation.step(math.ceil(0.5 * duration / STEP) - 3)
    assert spin_of(simulation, 0)[2] > 0.0
    simulation.step(5)
    # the solver's tolerance at the ball's surface: 1e-6 m/s
    assert abs(spin_of(simulation, 0)[2]) * RADIUS < 1e-6
    # the centre did not move
    assert np.abs(simulation.link_pose("ball")[0][:2]).max() < 1e-6


def test_spinning_resistance_between_two_bodies_keeps_angular_momentum():
    # one sphere spins on a slab that is free to rotate: the slab gains the angular momentum that the sphere loses
    lever = 0.002
    slab = Box((1.0, 1.0, 0.1))
    machine = loose(
        solid("ball", Sphere(RADIUS), 2.0),
        solid("slab", slab, 5.0),
        contacts=(
            ContactMaterial("ball", spinning_resistance=lever),
            ContactMaterial("slab", friction=0.0),
        ),
    )
    simulation = Simulation(machine)
    place(simulation, 0, (0.0, 0.0, 0.1 + RADIUS), angular=(0.0, 0.0, 10.0))
    place(simulation, 1, (0.0, 0.0, 0.05))
    simulation.step(200)
    of_ball, of_slab = 0.4 * 2.0 * RADIUS**2, 5.0 * (1.0 + 1.0) / 12
    lost = lever * 2.0 * GRAVITY * 0.2
    # the solver's tolerance of 1e-6 rad/s in each of 200 steps
    assert spin_of(simulation, 0)[2] == pytest.approx(10.0 - lost / of_ball, abs=2e-4)
    assert spin_of(simulation, 1)[2] == pytest.approx(lost / of_slab, abs=2e-4)


@pytest.mark.parametrize("heading", [0.0, 0.9])
@pytest.mark.parametrize("share", [0.9, 1.02, 1.5])
def test_sphere_rolls_or_slips_on_an_incline(share, heading):
    slope = math.radians(25)
    friction = share * 2 / 7 * math.tan(slope)
    simulation = Simulation(loose(solid("ball", Sphere(RADIUS), 2.0)), leaning_world(slope, heading, friction=friction))
    place(simulation, 0, (0.0, 0.0, RADIUS))
    simulation.step(500)
    acceleration = 5 / 7 * GRAVITY * math.sin(slope)
    turning = acceleration / RADIUS
    if share < 1.0:
        acceleration = GRAVITY * (math.sin(slope) - friction * math.cos(slope))
        turning = 2.5 * friction * GRAVITY * math.cos(slope) / RADIUS
    # constant forces are integrated exactly; the solver's tolerance of 1e-6 m/s in each of 500 steps
    along = np.array([math.cos(heading), math.sin(heading), 0.0])
    assert velocity_of(simulation, 0) == pytest.approx(0.5 * acceleration * along, abs=5e-4)
    assert spin_of(simulation, 0) == pytest.approx(0.5 * turning * np.cross([0, 0, 1], along), abs=5e-3)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_centre_of_a_falling_rod_moves_straight_down_without_friction(friction):
    # without friction no force moves the centre sideways; with friction there is one
    rod = solid("rod", Box((1.0, 0.04, 0.04)), 1.0)
    simulation = Simulation(loose(rod), World(ground=Ground(friction=friction)))
    lean = math.radians(60)
    # the rod stands on its lower edge
    height = 0.5 * math.sin(lean) + 0.02 * math.cos(lean)
    place(simulation, 0, (0.0, 0.0, height), (0.0, math.sin(lean / 2), 0.0, math.cos(lean / 2)))
    aside = 0.0
    for _ in range(40):
        simulation.step(20)
        aside = max(aside, float(np.abs(simulation.link_pose("rod")[0][:2]).max()))
    assert simulation.link_pose("rod")[0][2] == pytest.approx(0.02, abs=2e-4), "the rod lies by now"
    if friction == 0.0:
        # forces are along z to rounding, over 800 steps
        assert aside < 1e-10
    else:
        assert aside > 0.01
