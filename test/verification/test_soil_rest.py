"""Wheels on soft ground at rest, on their side, at any heading and on slopes; reproducibility bit for bit."""

import math

import numpy as np
import pytest
from soil_rig import GRAVITY, LEVELS, RADIUS, SAND, WIDTH, bed, cart, drive, loose_wheel, soft
from test_soil_terrain import hills, kept, run
from test_soil_wheel_motion import LOAD, assert_rests, means, turned

from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import Wheel


def on_slope(level, cell, axis, angle):
    """A braked cart on a plane that rises along x, or along y."""
    half, s, c = 0.5 * angle, math.sin(angle), math.cos(angle)
    normal = (-s, 0.0, c) if axis == "x" else (0.0, -s, c)
    quaternion = (
        (0.0, -math.sin(half), 0.0, math.cos(half)) if axis == "x" else (math.sin(half), 0.0, 0.0, math.cos(half))
    )
    spawn = Pose((0.155 * normal[0] + 0.003, 0.155 * normal[1] + 0.002, 0.155 * c), quaternion)
    return cart(soft(level, cell, normal=normal, spawn=spawn), damping=1e9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("degrees, axis", [(0, "x"), (10, "x"), (10, "y")])
def test_parked_cart_on_soil_stays_at_rest(level, degrees, axis):
    simulation = on_slope(level, 0.02, axis, math.radians(degrees))
    simulation.step(10000 if level == "stress" else 5000)
    assert_rests(simulation)


@pytest.mark.parametrize("level", LEVELS)
def test_driven_cart_on_soil_comes_to_rest(level):
    simulation = cart(soft(level, spawn=Pose((0.0, 0.0, 0.155))), damping=1e9)
    simulation.step(1000)
    for speed, steps in ((2.0, 3000), (0.0, 10000 if level == "stress" else 5000)):
        for name in simulation.wheel:
            simulation.command[f"{name}_spin"] = speed
        simulation.step(steps)
    assert simulation.state.q[0] > 0.5
    assert_rests(simulation)


@pytest.mark.parametrize("bulldozing, slip", [(True, 0.3), (False, -0.3)])
def test_heading_changes_forces_by_less_than_2_percent_of_the_load(bulldozing, slip):
    """At 20 mm; at 60 and 18 degrees many of the scattered sample points enter contact at once."""
    headings = (0.0, 10.0, 18.4, 30.0, 45.0, 60.0, 77.0)
    found = np.array(
        [means(bed(soft(bulldozing=bulldozing), LOAD, heading=math.radians(d)), slip, time=3.0) for d in headings]
    )
    spread = np.ptp(found, axis=0)
    assert (spread[[0, 2, 3, 4]] < 0.02 * LOAD).all()
    assert spread[1] < 0.02 * LOAD * RADIUS


def test_grousers_raise_thrust_on_deformable_soil():
    wheel = Wheel("wheel", RADIUS, WIDTH, grousers=12, grouser_height=0.02, grouser_thickness=0.005)
    smooth, grousered = (means(bed(soft("deformable", 0.005), LOAD, wheel=one), 0.3, time=3.0) for one in (None, wheel))
    assert grousered[0] > smooth[0]
    assert grousered[1] > smooth[1]


@pytest.mark.parametrize("attempt", range(6))
def test_soil_simulation_is_reproducible_bit_for_bit(attempt):
    world = soft("deformable", 0.01, spawn=Pose((0.0, 0.0, 0.16)))
    one, other = cart(world, damping=1e3), cart(world, damping=1e3)
    for simulation in (one, other):
        run(simulation, 600)
    assert np.array_equal(kept(one), kept(other))


@pytest.mark.parametrize("level", ["cells", "deformable"])
def test_lying_wheel_does_not_slide_away(level):
    """From 1 m/s it stops after v^2 / (2 g tan phi) plus the shear modulus K."""
    simulation = loose_wheel(soft(level, spawn=turned((1, 0, 0), 0.5 * math.pi, 0.076)), 10.0)
    simulation.step(500)
    simulation.state.v[0] = 1.0
    simulation.step(1000)
    way = 1.0 / (2.0 * GRAVITY * math.tan(SAND.friction_angle)) + 2.0 * SAND.shear_displacement_modulus
    assert abs(simulation.state.q[0]) < 1.2 * way


@pytest.mark.parametrize("level", LEVELS)
def test_toppled_wheel_lies_on_the_ground(level):
    simulation = loose_wheel(soft(level, spawn=turned((1, 0, 0), math.radians(70.0), 0.2)), 10.0)
    simulation.step(5000)
    assert 0.5 * WIDTH - 0.02 < simulation.state.q[2] < 0.5 * WIDTH + 0.02
    assert np.abs(simulation.state.q[:2]).max() < 0.3
    assert np.abs(simulation.state.v).max() < 1e-3


def test_stress_wheel_rolls_over_a_slanting_edge():
    simulation = loose_wheel(soft("stress", heightfield=hills(), spawn=Pose((3.6, 3.97, 0.35))), 10.0)
    simulation.state.v[0], simulation.state.v[4] = 3.0, 3.0 / RADIUS
    start = simulation.energy()
    simulation.step(2000)
    taken = start.kinetic + start.potential - simulation.energy().kinetic - simulation.energy().potential
    assert abs(simulation.energy_balance().residual) < 0.01 * taken


def test_berms_end_at_the_angle_of_repose():
    simulation = bed(soft("deformable", 0.02), 200.0)
    simulation.step(1)
    drive(simulation, 0.3, 0.1)
    simulation.step(15_000)
    patch = simulation.terrain_patch()
    x = simulation.joint_position["rail"]
    gone = patch.x < x - 2.0 * RADIUS - 7 * patch.cell
    heights = {
        (round(x / patch.cell), round(y / patch.cell)): z
        for x, y, z in zip(patch.x[gone], patch.y[gone], patch.z[gone], strict=True)
    }
    steepest = max(
        abs(heights[i + a, j + b] - z) / (patch.cell * math.hypot(a, b))
        for (i, j), z in heights.items()
        for a, b in ((1, 0), (0, 1), (1, 1), (1, -1))
        if (i + a, j + b) in heights
    )
    # the gradient at repose is the mean over six cells: of two of them it may be a little steeper
    assert 0.9 * math.tan(SAND.repose_angle) < steepest < math.tan(SAND.repose_angle + math.radians(1.5))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("degrees", [0.0, 15.0])
def test_sinkage_on_a_slope_is_normal_to_it(level, degrees):
    angle = math.radians(degrees)
    normal = np.array([-math.sin(angle), 0.0, math.cos(angle)])
    simulation = bed(soft(level, 0.02, normal=tuple(normal.tolist()), bulldozing=False), 100.0)
    simulation.step(6000)
    centre, _ = simulation.link_pose("wheel")
    assert simulation.wheel["wheel"].sinkage == pytest.approx(RADIUS - normal @ centre, abs=1e-5)
