"""Cylinders on the ground: friction of a standing one against rotation, and rolling without loss."""

import math

import numpy as np
import pytest
from loose_bodies import GRAVITY, LYING, loose, place, solid, spin_of, velocity_of

from grouser import Simulation, World
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Cylinder
from grouser.physics.description.data.world import Ground, Heightfield, Obstacle

STEP = 1e-3
LEVEL_FIELD = Heightfield(np.zeros((121, 21)), 0.3, (-3.011, -3.017))
GROUNDS = ("plane", "field", "slab")


def world_of(ground, friction=0.8):
    """Level ground at height zero."""
    if ground == "slab":
        slab = Obstacle("slab", Box((40.0, 6.0, 0.4)), Pose((16.0, 0.0, -0.2)), friction=friction)
        return World(ground=None, obstacles=(slab,))
    return World(ground=Ground(friction=friction, heightfield=LEVEL_FIELD if ground == "field" else None))


@pytest.mark.parametrize("tilt", [0.0, 3e-10, 2e-7, 4e-5, 5e-3])
@pytest.mark.parametrize("ground", GROUNDS)
def test_friction_stops_a_disc_that_spins_on_its_face(ground, tilt):
    # I w / (mu m g r) with the pressure at the rim, 3/2 of that with uniform pressure
    radius, length, friction, spin = 0.25, 0.08, 0.5, 12.0
    simulation = Simulation(loose(solid("disc", Cylinder(radius, length), 4.0)), world_of(ground, friction))
    height = 0.5 * length * math.cos(tilt) + radius * math.sin(tilt)
    turn = (math.sin(0.5 * tilt), 0.0, 0.0, math.cos(0.5 * tilt))
    place(simulation, 0, (0.0, 0.0, height), turn, angular=(0.0, 0.0, spin))
    at_rim = 0.5 * radius * spin / (friction * GRAVITY)
    simulation.step(math.floor(0.98 * at_rim / STEP))
    assert spin_of(simulation, 0)[2] > 0.0
    simulation.step(math.ceil(0.52 * at_rim / STEP))
    # the solver's tolerance at the rim: 1e-6 m/s
    assert abs(spin_of(simulation, 0)[2]) * radius < 1e-6
    assert simulation.link_pose("disc")[0][2] == pytest.approx(0.5 * length, abs=2e-5)


@pytest.mark.parametrize("speed", [0.7, 8.0, 28.0])
@pytest.mark.parametrize("ground", GROUNDS)
def test_cylinder_rolls_without_loss(ground, speed):
    radius, duration = 0.14, 1.0
    simulation = Simulation(loose(solid("wheel", Cylinder(radius, 0.1), 3.0)), world_of(ground))
    place(simulation, 0, (0.0, 0.0, radius), LYING, linear=(speed, 0.0, 0.0), angular=(0.0, speed / radius, 0.0))
    heights = []
    for _ in range(50):
        simulation.step(round(duration / STEP / 50))
        heights.append(simulation.link_pose("wheel")[0][2])
    lost = speed - velocity_of(simulation, 0)[0]
    # rolling bodies brake by F / (3/2 m): a millionth of the weight for a second
    assert abs(lost) < 1e-6 * GRAVITY * duration / 1.5
    # the solver's tolerance, 1e-6 m/s, during the whole time
    assert np.ptp(heights) < 1e-6 * duration
    assert abs(simulation.link_pose("wheel")[0][1]) < 1e-6 * duration


def test_tilted_disc_touches_with_the_lowest_point_of_its_rim():
    # a coin on its rim, at rest: it falls over the lowest point, which friction holds
    radius, length, tilt = 0.2, 0.02, 0.6
    simulation = Simulation(loose(solid("disc", Cylinder(radius, length), 2.0)), world_of("plane", friction=5.0))
    turn = spinned(tilt, 0.4)
    height = 0.5 * length * math.cos(tilt) + radius * math.sin(tilt)
    place(simulation, 0, (0.0, 0.0, height), turn)
    simulation.step(20)
    # the angular momentum about the resting point grows by the moment of the weight
    across = 2.0 * (3 * radius**2 + length**2) / 12
    lever = radius * math.cos(tilt) - 0.5 * length * math.sin(tilt)
    acceleration = 2.0 * GRAVITY * lever / (across + 2.0 * (radius**2 + 0.25 * length**2))
    # it turns by 6 mrad meanwhile: the lever grows by less than that share
    assert np.linalg.norm(spin_of(simulation, 0)) == pytest.approx(0.02 * acceleration, rel=0.006)


def spinned(tilt, spin):
    """Quaternion of a rotation about z, then about x."""
    x, w, z, c = math.sin(0.5 * tilt), math.cos(0.5 * tilt), math.sin(0.5 * spin), math.cos(0.5 * spin)
    return (x * c, -x * z, w * z, w * c)
