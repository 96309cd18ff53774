"""Motion over a height field: a flat field moves bodies as a plane does."""

import math

import numpy as np
import pytest
from loose_bodies import GRAVITY, LYING, loose, place, solid, velocity_of

from grouser import Simulation, World
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Sphere
from grouser.physics.description.data.world import Ground, Heightfield

RADIUS = 0.1


def field(slope=0.0, cell=0.07):
    """A plane that rises by `slope` along x, as a height field."""
    x = np.arange(121) * cell - 4.0
    return Ground(heightfield=Heightfield(np.repeat(slope * x[:, np.newaxis], 121, axis=1), cell, (-4.0, -4.0)))


@pytest.mark.parametrize("heading", [0.0, 0.6, math.pi / 4, 2.2])
@pytest.mark.parametrize(
    "geometry, turn",
    [(Sphere(RADIUS), None), (Box((0.2, 0.2, 0.2)), None), (Capsule(0.1, 0.2), LYING), (Cylinder(0.1, 0.2), LYING)],
)
def test_motion_on_a_flat_height_field_is_that_on_a_plane(geometry, turn, heading):
    turn = turn or (0.0, 0.0, 0.0, 1.0)
    along = np.array([math.cos(heading), math.sin(heading), 0.0])
    ways = []
    for ground in (field(), Ground()):
        simulation = Simulation(loose(solid("body", geometry, 2.0)), World(ground=ground))
        place(simulation, 0, (0.01, 0.02, 0.1), turn, 2.0 * along)
        simulation.step(1000)
        ways.append(simulation.link_pose("body")[0])
    # the same contacts except for rounding, and the solver's tolerance of 1e-6 m/s over 1 s
    assert ways[0] == pytest.approx(ways[1], abs=1e-6)


@pytest.mark.parametrize("heading", [0.0, 0.8])
def test_sphere_rolls_down_a_tessellated_slope(heading):
    slope = math.radians(10)
    simulation = Simulation(loose(solid("ball", Sphere(RADIUS), 2.0)), World(ground=field(math.tan(slope))))
    place(simulation, 0, (1.0, 0.0, math.tan(slope) * 1.0 + RADIUS / math.cos(slope)), linear=(0.0, heading, 0.0))
    simulation.step(500)
    # a = 5/7 g sin(slope) down the slope; the solver's tolerance of 1e-6 m/s in each of 500 steps
    down = np.array([-math.cos(slope), 0.0, -math.sin(slope)])
    assert velocity_of(simulation, 0) @ down == pytest.approx(0.5 * 5 / 7 * GRAVITY * math.sin(slope), abs=5e-4)
    # it does not lift off at the edges between triangles
    x, _, z = simulation.link_pose("ball")[0]
    assert z == pytest.approx(math.tan(slope) * x + RADIUS / math.cos(slope), abs=2e-5)


def test_sphere_rolls_along_a_valley():
    # a V-shaped valley along y: the sphere touches both sides and rolls along it
    x = np.arange(41) * 0.1 - 2.0
    valley = Heightfield(np.repeat(0.5 * np.abs(x)[:, np.newaxis], 41, axis=1), 0.1, (-2.0, -2.0))
    simulation = Simulation(loose(solid("ball", Sphere(0.2), 2.0)), World(ground=Ground(heightfield=valley)))
    side = math.atan(0.5)
    place(
        simulation, 0, (0.0, -1.0, 0.2 / math.cos(side)), linear=(0.0, 0.5, 0.0), angular=(-2.5 / math.cos(side), 0, 0)
    )
    simulation.step(2000)
    position = simulation.link_pose("ball")[0]
    assert abs(position[0]) < 1e-5
    # it rolls without loss: at its two contacts v = w r cos(side); 1e-6 m/s in each of 2000 steps
    assert position[1] == pytest.approx(0.0, abs=4e-3)
    assert position[2] == pytest.approx(0.2 / math.cos(side), abs=3e-5)
