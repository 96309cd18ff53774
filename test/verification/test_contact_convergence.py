"""Contacts that push against each other settle in every step: feet, tracks, stacks, walls, grips, large mass ratios."""

from dataclasses import replace

import numpy as np
import pytest
from loose_bodies import loose, place, solid
from shipped import shipped_machine

from grouser import Simulation, World
from grouser.benchmarks import scenes
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Ground, Obstacle

GRAVITY = 9.81
SCENES = [
    scenes.stack(7),
    scenes.wall(5, 4),
    scenes.pyramid(5),
    scenes.heavy_on_light(3e4),
    scenes.heavy_on_light(2e7),
    scenes.heavy_on_light(1e-3),
    scenes.grip(2),
    scenes.grip(4),
    scenes.braced_feet(5),
    scenes.tracks(5),
]


def reversed_order(scene):
    """The same bodies in the other order: rows and contacts are listed otherwise."""
    return replace(scene, bodies=scene.bodies[::-1])


def assert_settled(simulation):
    """No step ended at the limit of sweeps, and every row obeys its law to the tolerance."""
    diagnostics = simulation.diagnostics
    assert diagnostics.unsettled_steps == 0
    assert diagnostics.residual_max <= 1e-6


@pytest.mark.parametrize("order", [lambda scene: scene, reversed_order], ids=["forwards", "backwards"])
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name.replace(" ", "_"))
def test_every_step_of_a_scene_settles(scene, order):
    simulation = scenes.simulation(order(scene))
    effort = []
    for _ in range(500):
        simulation.step()
        effort.append(simulation.diagnostics.iterations)
    assert_settled(simulation)
    assert np.mean(effort) <= 15.0
    weight = GRAVITY * sum(body.mass for body in scene.bodies)
    if "grip" not in scene.name:
        # 1e-6 m/s in a step of 1 ms is 1e-3 m/s2; the bodies stand by now
        lifted = sum(contact.force_world[2] for contact in simulation.contacts() if contact.other == "ground")
        assert lifted == pytest.approx(weight, rel=2e-3)


def test_a_wall_that_stands_takes_one_sweep_a_step():
    """The impulses that stopped its last motion, which is below the tolerance, do not begin another."""
    simulation = scenes.simulation(scenes.wall())
    simulation.step(100)
    effort = []
    for _ in range(150):
        simulation.step()
        effort.append(simulation.diagnostics.iterations)
    # a motion that begins and is stopped again and again takes two
    assert np.mean(effort) <= 1.2


@pytest.mark.parametrize("name, time", [("demolition_robot", 3.0), ("excavator", 2.0)])
def test_every_step_settles_while_all_functions_work_at_once(name, time):
    simulation = Simulation(shipped_machine(name))
    valves = [valve.name for valve in simulation.machine.valves]
    effort = []
    while simulation.time < time:
        opening = 0.6 if simulation.time % 1.6 < 0.8 else -0.6
        simulation.command.update(dict.fromkeys(valves, opening))
        for _ in range(10):
            simulation.step()
            effort.append(simulation.diagnostics.iterations)
    assert_settled(simulation)
    assert np.mean(effort) <= 15.0


def test_a_box_lands_with_equal_loads_on_its_corners():
    """Four corners are one more than three directions need: the load is shared evenly whatever their order."""
    simulation = scenes.simulation(scenes.stack(1))
    simulation.step(400)
    loads = [contact.force_world[2] for contact in simulation.contacts()]
    assert len(loads) == 4
    assert loads == pytest.approx([8.0 * GRAVITY / 4] * 4, rel=1e-3)


def test_loads_of_many_feet_do_not_depend_on_their_order():
    """Two rows of feet slide, turn and stop: their loads are statically indeterminate, and decide how it turns."""
    scene = scenes.tracks(5)
    (body,) = scene.bodies
    found = []
    for feet in (body.feet, body.feet[::-1], body.feet[3:] + body.feet[:3]):
        simulation = scenes.simulation(replace(scene, bodies=(replace(body, feet=feet),)))
        simulation.step(300)
        forces = {tuple(np.round(contact.point_world, 3)): contact.force_world[2] for contact in simulation.contacts()}
        found.append((simulation.state.q.copy(), [forces[point] for point in sorted(forces)]))
    for end, loads in found[1:]:
        # 1e-6 m/s over the 0.2 s of its slide
        assert end == pytest.approx(found[0][0], abs=2e-7)
        assert loads == pytest.approx(found[0][1], rel=1e-3, abs=1.0)


@pytest.mark.parametrize("friction, clearance, height", [(4.0, 1.5e-4, 0.4), (6.0, 6e-4, 0.7), (1.5, 2e-4, 0.5)])
def test_a_box_falls_and_jams_in_a_slot(friction, clearance, height):
    """Newton's method may find no solution in the impact: the sweeps go on."""
    box, side = Box((0.2, 0.2, 0.2)), Box((0.2, 1.0, 1.0))
    sides = (("left", -0.2 - 0.5 * clearance), ("right", 0.2 + 0.5 * clearance))
    walls = tuple(Obstacle(name, side, Pose((x, 0.0, 0.5)), friction=friction) for name, x in sides)
    machine = loose(solid("box", box), contacts=(ContactMaterial("box", friction=friction),))
    simulation = Simulation(machine, World(ground=Ground(friction=friction), obstacles=walls))
    place(simulation, 0, (0.0, 0.0, height), (0.0, np.sin(1e-3), 0.0, np.cos(1e-3)))
    start = simulation.energy()
    simulation.step(1500)
    end = simulation.energy()
    assert end.kinetic + end.potential < start.kinetic + start.potential
    assert simulation.diagnostics.unsettled_steps <= 2
    assert np.abs(simulation.state.v).max() < 1e-4


@pytest.mark.parametrize("most_sweeps", [1, 4, 11, 19, 27])
def test_few_sweeps_carry_the_weight_roughly(most_sweeps):
    simulation = scenes.simulation(scenes.stack(4), most_sweeps=most_sweeps)
    simulation.step(600)
    carried = []
    for _ in range(200):
        simulation.step()
        carried.append(sum(c.force_world[2] for c in simulation.contacts() if c.other == "ground"))
    assert np.mean(carried) == pytest.approx(4 * 8.0 * GRAVITY, rel=0.05)
    assert simulation.diagnostics.iterations_max <= 2 * most_sweeps
