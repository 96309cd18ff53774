"""Contacts that push against each other settle in every step: feet, tracks, stacks, walls, grips, large mass ratios."""

from dataclasses import replace

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import Simulation
from grouser.benchmarks import scenes

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
        found.append((simulation.state.q.copy(), [forces[place] for place in sorted(forces)]))
    for place, loads in found[1:]:
        # 1e-6 m/s over the 0.2 s of its slide
        assert place == pytest.approx(found[0][0], abs=2e-7)
        assert loads == pytest.approx(found[0][1], rel=1e-3, abs=1.0)
