"""Bodies at rest do not creep, on any support."""

import math

import numpy as np
import pytest
from loose_bodies import LYING, UPRIGHT, leaning_world, loose, place, principal_inertia, solid, spin_of, velocity_of

from grouser import Simulation, World
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, PointSet, Sphere
from grouser.physics.description.data.world import Ground, Heightfield, Obstacle

# Limit of the creep of a body at rest [m/s].
CREEP = 1e-6
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
FRUSTUM = Mesh("", "", hull=0.1 * CORNERS * np.where(CORNERS[:, 2:] > 0.0, [0.5, 0.5, 1.0], 1.0))
# shape, orientation, and height of its centre
SHAPES = {
    "box": (Box((0.3, 0.2, 0.2)), UPRIGHT, 0.1),
    "sphere": (Sphere(0.1), UPRIGHT, 0.1),
    "standing cylinder": (Cylinder(0.1, 0.2), UPRIGHT, 0.1),
    "lying cylinder": (Cylinder(0.1, 0.3), LYING, 0.1),
    "lying capsule": (Capsule(0.1, 0.2), LYING, 0.1),
    "mesh": (FRUSTUM, UPRIGHT, 0.1),
    "points": (PointSet(0.09 * CORNERS, 0.01), UPRIGHT, 0.1),
}
FLAT_FIELD = Heightfield(np.full((21, 21), 0.25), 0.2, (-2.013, -2.017))
SLAB = Box((1.0, 1.0, 0.2))


def rough_field(height):
    """Ground with vertices every 0.1 m that differ by up to `height` [m]."""
    random = np.random.default_rng(5)
    return Ground(heightfield=Heightfield(random.uniform(0.0, height, (41, 41)), 0.1, (-2.0, -2.0)))


def lay(shape, where):
    """The shape at rest on a support."""
    geometry, turn, height = SHAPES[shape]
    body = solid("body", geometry, 2.0)
    if where == "body":
        simulation = Simulation(loose(body, solid("slab", SLAB, 40.0)))
        place(simulation, 1, (0.0, 0.0, 0.1))
        level = 0.2
    elif where == "obstacle":
        simulation = Simulation(loose(body), World(ground=None, obstacles=(Obstacle("slab", SLAB, Pose((0, 0, 0.3))),)))
        level = 0.4
    else:
        ground = Ground(heightfield=FLAT_FIELD) if where == "field" else Ground()
        simulation = Simulation(loose(body), World(ground=ground))
        level = 0.25 if where == "field" else 0.0
    place(simulation, 0, (0.0, 0.0, level + height), turn)
    return simulation


def assert_does_not_creep(simulation, seconds=2.0):
    """Checks that no body creeps; rotation counts at 0.2 m from its centre."""
    start = simulation.link_poses()
    simulation.step(round(seconds / simulation.step_size))
    moved = np.abs(simulation.link_poses() - start)
    assert (moved[:, :3].max(axis=1) + 0.4 * moved[:, 3:].max(axis=1)).max() < CREEP * seconds
    # in addition it vibrates: each of several contacts is solved to 1e-6 m/s, 0.1 m from the centre
    assert np.abs(simulation.state.v).max() < 2e-5


@pytest.mark.parametrize("where", ["plane", "field", "obstacle", "body"])
@pytest.mark.parametrize("shape", SHAPES)
def test_body_at_rest_does_not_creep(shape, where):
    simulation = lay(shape, where)
    simulation.step(500)
    assert_does_not_creep(simulation)
    weight = sum(contact.force_world[2] for contact in simulation.contacts() if contact.link == "body")
    # the solver's residual speed in a step is that of a force of 2 kg * 1e-6 m/s / 1 ms
    assert weight == pytest.approx(2.0 * 9.81, abs=2e-3)


@pytest.mark.parametrize("where", ["plane", "obstacle", "body"])
@pytest.mark.parametrize("shape", ["box", "standing cylinder", "lying capsule", "mesh", "points"])
def test_body_dropped_with_a_tilt_comes_to_rest(shape, where):
    simulation = lay(shape, where)
    turn, q = SHAPES[shape][1], simulation.state.q[:7]
    # lifted by 3 cm and tilted by 0.1 rad about x: a lying capsule falls on one end and does not roll
    angle = 2 * math.atan2(turn[0], turn[3]) + 0.1
    q[2] += 0.03
    q[3:] = [math.sin(angle / 2), 0.0, 0.0, math.cos(angle / 2)]
    simulation.step(2000)
    assert_does_not_creep(simulation)


@pytest.mark.parametrize("shape", ["box", "standing cylinder", "mesh", "points"])
def test_body_rests_on_rough_ground(shape):
    geometry, turn, height = SHAPES[shape]
    simulation = Simulation(loose(solid("body", geometry, 2.0)), World(ground=rough_field(0.03)))
    place(simulation, 0, (0.013, 0.021, height + 0.04), turn)
    simulation.step(4000)
    assert_does_not_creep(simulation)


def test_sphere_rests_in_a_hollow_of_rough_ground():
    simulation = Simulation(
        loose(solid("body", Sphere(0.15), 2.0), contacts=(ContactMaterial("body", rolling_resistance=0.002),)),
        World(ground=rough_field(0.03)),
    )
    place(simulation, 0, (0.013, 0.021, 0.2))
    simulation.step(6000)
    assert_does_not_creep(simulation)


# on a slope, rolling resistance holds a sphere up to atan(lever / radius)
@pytest.mark.parametrize("heading", [0.0, 0.7, 2.1])
def test_sphere_stays_on_a_slope_below_its_rolling_limit(heading):
    radius, lever = 0.1, 0.01
    limit = math.atan(lever / radius)
    ball = loose(solid("ball", Sphere(radius), 2.0), contacts=(ContactMaterial("ball", rolling_resistance=lever),))
    held = Simulation(ball, leaning_world(0.99 * limit, heading))
    place(held, 0, (0.0, 0.0, radius))
    held.step(500)
    assert_does_not_creep(held)
    rolling = Simulation(ball, leaning_world(1.1 * limit, heading))
    place(rolling, 0, (0.0, 0.0, radius))
    rolling.step(1000)
    acceleration = 5 / 7 * 9.81 * (math.sin(1.1 * limit) - lever / radius * math.cos(1.1 * limit))
    # the impulses are accurate to 1e-6 m/s in each of 1000 steps, all with the same error at most
    assert np.linalg.norm(velocity_of(rolling, 0)) == pytest.approx(acceleration, abs=1e-3)
    assert np.linalg.norm(spin_of(rolling, 0)) == pytest.approx(acceleration / radius, rel=1e-2)


def test_principal_inertia_of_solids():
    assert principal_inertia(Box((1.0, 2.0, 3.0)), 12.0) == pytest.approx((13.0, 10.0, 5.0))
