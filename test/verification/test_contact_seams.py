"""Solids that slide and roll over flush solids: the seams between these are no obstacles, steps are."""

import math

import numpy as np
import pytest
from loose_bodies import LYING, UPRIGHT, loose, place, solid, spin_of, velocity_of

from grouser import Simulation
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from grouser.physics.description.data.world import Ground, Obstacle, World

TILE = 0.23  # length along x [m]
BLOCK = (0.26, 0.17, 0.09)
HULL = Mesh("", "", hull=0.5 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * BLOCK)


def tiles(friction=0.0, raised=0.0):
    """Flush tiles from -0.69 m to 2.3 m along x, with their upper faces at 0; those from 0.46 m on are raised."""
    return World(
        ground=None,
        obstacles=tuple(
            Obstacle(
                f"t{k}",
                Box((TILE, 1.6, 0.2)),
                Pose((TILE * (k + 0.5), 0.0, -0.1 + (raised if k >= 2 else 0.0))),
                friction=friction,
            )
            for k in range(-3, 10)
        ),
    )


def slider(geometry, friction=0.0, world=None):
    material = ContactMaterial("slider", friction=friction)
    return Simulation(loose(solid("slider", geometry, 2.0), contacts=(material,)), world or tiles(friction))


def yawed(angle):
    return (0.0, 0.0, math.sin(0.5 * angle), math.cos(0.5 * angle))


@pytest.mark.parametrize("speed", [0.006, 0.9, 2.7])
@pytest.mark.parametrize("yaw", [0.0, 0.4, math.pi / 2])
@pytest.mark.parametrize("depth", [0.0, 1e-5])
def test_box_slides_over_seams(speed, yaw, depth):
    simulation = slider(Box(BLOCK))
    # the front is just before a seam
    ahead = 0.5 * (abs(BLOCK[0] * math.cos(yaw)) + abs(BLOCK[1] * math.sin(yaw)))
    place(simulation, 0, (TILE - ahead - 0.0013, 0.05, 0.5 * BLOCK[2] - depth), yawed(yaw), linear=(speed, 0.0, 0.0))
    simulation.step(400)
    assert velocity_of(simulation, 0) == pytest.approx((speed, 0.0, 0.0), abs=1e-6)
    assert spin_of(simulation, 0) == pytest.approx(0.0, abs=1e-5)
    assert simulation.link_pose("slider")[0][2] == pytest.approx(0.5 * BLOCK[2], abs=1.1e-5)


@pytest.mark.parametrize("fall", [0.0, 5e-4, 3e-3])
@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_boxes_move_on_tiles_as_on_a_plane(friction, fall):
    random = np.random.default_rng(5)
    for _ in range(4):
        at = (random.uniform(0.0, TILE), random.uniform(-0.1, 0.1), 0.5 * BLOCK[2] + fall)
        turn, velocity = yawed(random.uniform(-3.0, 3.0)), (random.uniform(0.5, 3.0), random.uniform(-0.3, 0.3), 0.0)
        ends = []
        for world in (tiles(friction), World(ground=Ground(friction=friction))):
            simulation = slider(Box(BLOCK), friction, world)
            place(simulation, 0, at, turn, linear=velocity)
            simulation.step(500)
            ends.append(simulation.link_pose("slider")[0])
        assert ends[0] == pytest.approx(ends[1], abs=2e-4)


def test_hull_slides_over_seams_as_on_a_plane():
    ends = []
    for world in (tiles(0.1), World(ground=Ground(friction=0.1))):
        simulation = slider(HULL, 0.1, world)
        place(simulation, 0, (0.0, 0.0, 0.5 * BLOCK[2]), yawed(0.3), linear=(1.7, 0.0, 0.0))
        simulation.step(600)
        ends.append(simulation.link_pose("slider")[0])
    assert ends[0] == pytest.approx(ends[1], abs=2e-4)


@pytest.mark.parametrize("speed", [0.02, 0.4, 3.3])
@pytest.mark.parametrize("geometry", [Sphere(0.12), Cylinder(0.12, 0.3), Capsule(0.12, 0.3)])
def test_wheels_keep_their_speed_over_seams(geometry, speed):
    simulation = slider(geometry, 0.5, tiles(0.5))
    turn = UPRIGHT if isinstance(geometry, Sphere) else LYING
    place(simulation, 0, (TILE - 0.003, 0.0, 0.12), turn, linear=(speed, 0, 0), angular=(0, speed / 0.12, 0))
    heights = []
    for _ in range(400):
        simulation.step()
        heights.append(simulation.link_pose("slider")[0][2])
    # an edge holds for a step or two when its direction differs by less than 1.4e-4 rad
    assert velocity_of(simulation, 0) == pytest.approx((speed, 0.0, 0.0), abs=2e-6)
    assert heights == pytest.approx([0.12] * 400, abs=1e-6)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("speed", [0.03, 1.1])
def test_order_of_the_solids_does_not_matter(first, speed):
    slabs = [solid(f"slab{k}", Box((0.5, 0.6, 0.1)), 500.0) for k in range(2)]
    box = solid("slider", Box(BLOCK), 1.0)
    links = [box, *slabs] if first else [*slabs, box]
    materials = tuple(ContactMaterial(link.name, friction=0.0) for link in links)
    simulation = Simulation(loose(*links, contacts=materials), World(ground=Ground(friction=0.0)))
    for k, link in enumerate(links):
        if link is box:
            at = 0.25 - 0.5 * BLOCK[0] - 0.0006
            place(simulation, k, (at, 0.0, 0.1 + 0.5 * BLOCK[2]), linear=(speed, 0.0, 0.0))
            number = k
        else:
            place(simulation, k, (0.5 * slabs.index(link), 0.0, 0.05))
    simulation.step(300)
    assert velocity_of(simulation, number) == pytest.approx((speed, 0.0, 0.0), abs=1e-5)


@pytest.mark.parametrize("height", [1e-4, 2e-3, 0.03])
@pytest.mark.parametrize("speed", [0.05, 1.5])
def test_steps_stop_a_box(height, speed):
    simulation = slider(Box(BLOCK), 0.0, tiles(0.0, raised=height))
    place(simulation, 0, (0.2, 0.0, 0.5 * BLOCK[2]), linear=(speed, 0.0, 0.0))
    simulation.step(int(1000 * 0.3 / speed))
    # the step's side is at 0.46 m
    assert simulation.link_pose("slider")[0][0] < 0.46 - 0.5 * BLOCK[0] + 3e-5
