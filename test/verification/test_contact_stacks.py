"""Stacks, large mass ratios, and restarts during contact."""

import numpy as np
import pytest
from loose_bodies import LYING, loose, place, solid

from grouser import Simulation, World
from grouser.physics.base.trees import leaves
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from grouser.physics.description.data.world import Ground, Heightfield

CUBE = Box((0.2, 0.2, 0.2))


def stack(boxes=10):
    """Cubes on top of each other."""
    simulation = Simulation(loose(*[solid(f"b{k}", CUBE) for k in range(boxes)]))
    for k in range(boxes):
        place(simulation, k, (0.0, 0.0, 0.1 + 0.2 * k))
    return simulation


def heights(simulation):
    """Heights of all free bodies [m]."""
    return simulation.link_poses()[1:, 2]


def test_stack_of_ten_boxes_stands():
    simulation = stack()
    start = simulation.link_poses()[1:]
    simulation.step(10_000)
    # 10 s; gaps and overlaps of up to 10 um are tolerated at each of ten contacts
    assert np.abs(simulation.link_poses()[1:] - start)[:, :3].max() < 1e-4
    settled = simulation.link_poses()
    simulation.step(1000)
    # the solver ends at 1e-6 m/s; what it leaves adds up to some 2e-6 m in the eleventh second
    assert np.abs(simulation.link_poses() - settled)[:, :3].max() < 5e-6


def test_heavy_box_rests_on_a_light_one():
    machine = loose(solid("light", CUBE, 1.0), solid("heavy", Box((0.4, 0.4, 0.4)), 1000.0))
    simulation = Simulation(machine)
    place(simulation, 0, (0.0, 0.0, 0.1))
    place(simulation, 1, (0.0, 0.0, 0.4))
    simulation.step(10_000)
    # gaps and overlaps of up to 10 um are tolerated at each of two contacts
    assert heights(simulation) == pytest.approx([0.1, 0.4], abs=2e-5)
    assert np.abs(simulation.link_poses()[1:, :2]).max() < 1e-5
    rates = simulation.state.v.reshape(2, 2, 3)
    assert np.abs(rates[:, 0]).max() < 1e-6
    # the solver's 1e-6 m/s at corners 0.1 m from the centre
    assert np.abs(rates[:, 1]).max() < 1e-5


@pytest.mark.parametrize("links", [3, 10])
def test_chain_carries_a_thousand_times_its_mass(parts, links):
    text = ['<link name="world"/>']
    for k in range(links):
        last = k == links - 1
        mass, size = (1000.0, 40.0) if last else (1.0, 0.002)
        text += [
            parts.link(f"l{k}", mass, (size,) * 3, com=(0.0, 0.0, -0.1)),
            parts.joint(
                f"j{k}",
                "continuous",
                "world" if k == 0 else f"l{k - 1}",
                f"l{k}",
                axis=(0, 1, 0),
                xyz=(0, 0, 3) if k == 0 else (0, 0, -0.2),
            ),
        ]
    simulation = Simulation(parts.machine(*text))
    simulation.state.v[0] = 0.05
    start = simulation.energy()
    simulation.step(10_000)
    end = simulation.energy()
    # the chain stays connected: its joints hold exactly; the energy of its swing oscillates by h w = 0.3 %
    # because of the first-order steps
    assert np.abs(simulation.state.q).max() < 0.5
    assert end.kinetic + end.potential == pytest.approx(start.kinetic + start.potential, abs=0.01 * start.kinetic)


def heap(copies=1):
    """Solids of all kinds that fall onto a rough field and onto each other: convex pairs, spheres, points, peaks."""
    random = np.random.default_rng(11)
    hull = random.normal(size=(12, 3))
    hull *= 0.12 / np.linalg.norm(hull, axis=1, keepdims=True)
    geometries = [
        CUBE,
        Cylinder(0.1, 0.2),
        Mesh("", "", hull=hull),
        Capsule(0.08, 0.2),
        Sphere(0.1),
        Box((0.3, 0.2, 0.1)),
    ] * copies
    links = [solid(f"b{k}", geometry, 2.0) for k, geometry in enumerate(geometries)]
    ground = Ground(heightfield=Heightfield(random.uniform(0.0, 0.04, (31, 31)), 0.1, (-1.5, -1.5)))
    material = [ContactMaterial(link.name, rolling_resistance=0.005, spinning_resistance=0.002) for link in links]
    simulation = Simulation(loose(*links, contacts=tuple(material)), World(ground=ground))
    for k in range(len(links)):
        place(simulation, k, (*random.uniform(-0.1, 0.1, 2), 0.2 + 0.22 * k), LYING if k % 2 else (0.0, 0.0, 0.0, 1.0))
    return simulation


def crowd():
    """A heap with so many pairs that they are not tested one by one."""
    simulation = heap(copies=2)
    assert len(simulation.arrays.system.contact.pairs.first) > 4 * len(simulation.arrays.system.contact.shapes.kind)
    return simulation


def bits(simulation):
    """All of the state after a step."""
    return b"".join(array.tobytes() for array in leaves(simulation.state))


@pytest.mark.parametrize(
    "make, steps", [(stack, 40), (heap, 150), (heap, 400), (heap, 900), (crowd, 300), (crowd, 700)]
)
def test_restart_during_contact_is_bit_exact(make, steps):
    simulation = make()
    simulation.step(steps)
    assert simulation.diagnostics.contact_count > 0
    saved = simulation.snapshot()
    simulation.step(200)
    after = bits(simulation)
    other = make()
    other.restore(saved)
    other.step(200)
    assert bits(other) == after
    simulation.restore(saved)
    # step by step, as a node does
    for _ in range(200):
        simulation.step()
    assert bits(simulation) == after


def test_two_runs_of_a_heap_give_the_same_bits():
    first, second = heap(), heap()
    first.step(700)
    second.step(300)
    second.reset()
    for k in range(6):
        second.state.q[7 * k : 7 * k + 7] = heap().state.q[7 * k : 7 * k + 7]
    second.step(700)
    assert bits(first) == bits(second)


def test_heap_comes_to_rest():
    simulation = heap()
    simulation.step(5000)
    start = simulation.link_poses()
    simulation.step(2000)
    # 1e-6 m/s over 2 s
    assert np.abs(simulation.link_poses() - start)[:, :3].max() < 2e-6
    assert heights(simulation).min() > 0.0


def test_steps_whose_sweeps_end_at_their_limit_are_counted():
    """Two sweeps are too few while a pair of boxes lands, and a hundred are enough."""
    text = loose(*[solid(f"b{k}", CUBE) for k in range(2)])
    counted = []
    for most_sweeps in (2, 200):
        simulation = Simulation(text, most_sweeps=most_sweeps)
        place(simulation, 0, (0.0, 0.0, 0.12))
        place(simulation, 1, (0.03, 0.0, 0.34))
        simulation.step(400)
        diagnostics = simulation.diagnostics
        assert diagnostics.iterations_max <= 2 * most_sweeps  # a step may be solved again after impacts
        counted.append(diagnostics.unsettled_steps)
    assert counted[0] > 5 and counted[1] == 0


@pytest.mark.parametrize("side", [6e-4, 1.2e-3, 3e-3])
def test_stack_of_tiny_cubes_stands(side):
    simulation = Simulation(loose(*[solid(f"b{k}", Box((side,) * 3), 1000.0 * side**3) for k in range(4)]))
    for k in range(4):
        place(simulation, k, (0.03 * side * (-1) ** k, 0.0, side * (0.5 + k)))
    simulation.step(1500)
    # gaps and overlaps of up to 10 um are tolerated at each of four contacts
    assert heights(simulation) == pytest.approx(side * (0.5 + np.arange(4)), abs=4e-5)
    assert simulation.link_poses()[1:, 0] == pytest.approx(0.03 * side * np.array([1, -1, 1, -1]), abs=4e-5)
