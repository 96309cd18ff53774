"""Convex meshes that lie on the ground, on solids and on each other: with few contact points they rest as on all."""

import math

import numpy as np
import pytest
from loose_bodies import GRAVITY, loose, place, solid, spin_of, velocity_of

from grouser import Simulation
from grouser.physics.base import spatial
from grouser.physics.base.phases import NOTHING
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.mechanism import Collision, Inertial, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Mesh
from grouser.physics.description.data.world import Ground, Heightfield, Obstacle, World
from grouser.physics.integrators.step import run_steps

# Contacts are held without correction to twice this gap and to this depth [m].
SLOP = 1e-5
MOST_POINTS = 8


def mesh(points):
    return Mesh("", "", hull=np.asarray(points, dtype=float))


def prism(corners, radius, height):
    """A flat part: corners of a regular polygon on its lower and upper face."""
    angle = 2.0 * np.pi * np.arange(corners) / corners
    return mesh(
        [(radius * math.cos(a), radius * math.sin(a), side * 0.5 * height) for side in (-1.0, 1.0) for a in angle]
    )


def stone(vertices, seed, size=0.2):
    """A mesh with vertices on an ellipsoid."""
    points = np.random.default_rng(seed).normal(size=(vertices, 3))
    return mesh(points / np.linalg.norm(points, axis=1)[:, None] * size * np.array([1.0, 0.7, 0.4]))


def below(name):
    """A world whose surface is the plane z = 0."""
    if name == "plane":
        return World(ground=Ground())
    if name == "height field":
        return World(ground=Ground(heightfield=Heightfield(np.zeros((40, 40)), 0.137, (-2.6, -2.6))))
    geometry = Box((3.0, 3.0, 0.4)) if name == "box" else mesh(3.0 * prism(60, 0.5, 0.4 / 3.0).hull)
    return World(ground=None, obstacles=(Obstacle("block", geometry, Pose((0.0, 0.0, -0.2))),))


SURFACES = ["plane", "height field", "box", "mesh"]


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("corners", "tilt"), [(77, 0.0), (77, 2e-3), (31, 0.0)])
def test_flat_part_rests_without_rocking(corners, tilt, surface):
    simulation = Simulation(loose(solid("part", prism(corners, 0.15, 0.04), 3.0)), below(surface))
    turn = (math.sin(0.5 * tilt), 0.0, 0.0, math.cos(0.5 * tilt))
    place(simulation, 0, (0.1, 0.05, 0.02 + 0.15 * math.sin(tilt)), turn)
    simulation.step(600)
    rest = simulation.link_pose("part")
    highest = 0
    for _ in range(400):
        simulation.step()
        highest = max(highest, simulation.diagnostics.contact_count)
        assert velocity_of(simulation, 0) == pytest.approx(0.0, abs=1e-6)
        assert spin_of(simulation, 0) == pytest.approx(0.0, abs=1e-5)
    assert 3 <= highest <= MOST_POINTS
    position, quaternion = simulation.link_pose("part")
    assert position == pytest.approx(rest[0], abs=1e-7)
    assert quaternion == pytest.approx(rest[1], abs=1e-6)
    assert position[2] == pytest.approx(0.02, abs=2.0 * SLOP)
    assert spatial.matrix(quaternion)[2, 2] == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize(("size", "share"), [(0.001, 0.2), (0.02, 0.01), (0.1, 0.002), (0.3, 0.002)])
@pytest.mark.parametrize("surface", SURFACES)
def test_part_with_a_slight_bulge_rests(size, share, surface):
    """A lens of many vertices: those on which it stands lie inside of the outline of all that are 50 um from them."""
    part = mesh(stone(230, 2, size).hull * np.array([1.0, 1.0 / 0.7, share / 0.4]))
    simulation = Simulation(loose(solid("part", part, 1e3 * share * size**3)), below(surface))
    place(simulation, 0, (0.0, 0.0, 1e-6 - part.hull[:, 2].min()))
    simulation.step(1500)
    for _ in range(100):
        simulation.step()
        # the tolerance of the solver
        assert velocity_of(simulation, 0) == pytest.approx(0.0, abs=1e-6)
        assert size * spin_of(simulation, 0) == pytest.approx(0.0, abs=1e-6)
    position, quaternion = simulation.link_pose("part")
    assert position[2] + (part.hull @ spatial.matrix(quaternion)[2]).min() == pytest.approx(0.0, abs=2.0 * SLOP)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("direction", [0.0, 0.21, 0.9, 2.5])
def test_flat_part_tips_where_its_centre_of_mass_is_outside_of_its_outline(direction, surface):
    """The polygon of the points kept reaches to 0.92 of the radius in every direction: that of the part to one."""
    radius = 0.2
    for reach, stands in ((0.88, True), (1.03, False)):
        centre = (reach * radius * math.cos(direction), reach * radius * math.sin(direction), 0.0)
        inertial = Inertial(Pose(centre), 2.0, (0.02, 0.0, 0.0, 0.02, 0.0, 0.02))
        link = Link("part", inertial, (Collision("", Pose(), prism(77, radius, 0.05)),))
        simulation = Simulation(loose(link), below(surface))
        place(simulation, 0, (0.0, 0.0, 0.025))
        simulation.step(800)
        tilted = spatial.matrix(simulation.link_pose("part")[1])[2, 2] < 0.999
        assert tilted == (not stands)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("seed", range(4))
def test_stones_come_to_rest(seed, surface):
    """Stones of any orientation fall, roll and rest, also on each other; none goes below the surface."""
    random, world = np.random.default_rng(seed), below(surface)
    links = [solid(f"s{k}", stone(random.integers(8, 16), 10 * seed + k), 2.0) for k in range(3)]
    materials = tuple(ContactMaterial(link.name, friction=0.7) for link in links)
    simulation = Simulation(loose(*links, contacts=materials), world)
    for k in range(3):
        turn = random.normal(size=4)
        place(simulation, k, (0.02 * k, 0.03 * k, 0.21 + 0.41 * k), turn / np.linalg.norm(turn))
    simulation.step(5000)
    lowest = []
    for k in range(3):
        # contacts hold to 1e-6 m/s
        assert np.linalg.norm(velocity_of(simulation, k)) < 1e-6
        assert np.linalg.norm(spin_of(simulation, k)) < 1e-5
        position, quaternion = simulation.link_pose(f"s{k}")
        lowest.append(position[2] + (links[k].collisions[0].geometry.hull @ spatial.matrix(quaternion)[2]).min())
    assert min(lowest) == pytest.approx(0.0, abs=5.0 * SLOP)
    assert simulation.diagnostics.contact_count <= 6 * MOST_POINTS
    total = sum(contact.force_world[2] for contact in simulation.contacts() if contact.other in ("ground", "block"))
    assert total == pytest.approx(3 * 2.0 * GRAVITY, rel=1e-6)


def test_no_step_leaves_compiled_code_while_meshes_touch():
    links = [solid(f"s{k}", stone(150, k), 2.0) for k in range(3)]
    simulation = Simulation(loose(*links), below("mesh"))
    for k in range(3):
        place(simulation, k, (0.02 * k, 0.0, 0.12 + 0.2 * k))
    simulation.step(500)
    assert simulation.diagnostics.contact_count > 0
    assert run_steps(1000, simulation._engine.context) == (1000, NOTHING)


def test_a_run_continues_from_its_state_with_the_same_bits():
    links = [solid(f"s{k}", stone(150, k), 2.0) for k in range(3)]
    runs = [Simulation(loose(*links), below("box")) for _ in range(2)]
    for k in range(3):
        place(runs[0], k, (0.02 * k, 0.0, 0.12 + 0.2 * k))
    runs[0].step(700)
    runs[1].restore(runs[0].snapshot())
    for simulation in runs:
        simulation.step(300)
    assert np.array_equal(runs[0].state.q, runs[1].state.q)
    assert np.array_equal(runs[0].state.v, runs[1].state.v)
