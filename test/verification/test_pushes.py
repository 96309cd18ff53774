"""Pushes on links: momentum, work, levers, contacts, machines that come and go, sleeping bodies."""

import math

import numpy as np
import pytest
from loose_bodies import loose, place, solid
from momentum import momentum_of

import grouser
from grouser import Member, ParameterError, Pose, Push, Simulation, World, combine
from grouser.catalogue import machine_file
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, Joint, Link
from grouser.physics.description.data.shapes import Box
from grouser.physics.simulation.transfer import carry_over

WEIGHTLESS = World(gravity=(0.0, 0.0, 0.0), ground=None)
MASS, SIZE = 3.0, (0.4, 0.2, 0.1)


def boxes(count=1, world=WEIGHTLESS, **settings):
    machine = loose(*(solid(f"box_{k}", Box(SIZE), MASS) for k in range(count)))
    return Simulation(machine, world, **settings)


def test_a_free_body_gains_the_impulse_and_the_work_of_a_push():
    """Off its centre: it turns, and the place of the push turns with it."""
    simulation, force = boxes(2), np.array([2.0, -1.0, 0.5])
    place(simulation, 1, (5.0, 0.0, 0.0))
    simulation.pushes["box_0"] = Push(tuple(force), point=(0.2, 0.05, -0.02))
    simulation.step(1000)
    assert momentum_of(simulation)[:3] == pytest.approx(force, rel=1e-12)
    balance = simulation.energy_balance()
    assert balance.kinetic > 0.5
    assert balance.actuator_work == {"push on box_0": pytest.approx(balance.kinetic, rel=1e-6)}
    assert np.abs(simulation.link_pose("box_1")[0] - (5.0, 0.0, 0.0)).max() == 0.0


def test_a_moment_turns_a_body_about_its_axis():
    simulation = boxes()
    simulation.pushes["box_0"] = Push((0.0, 0.0, 0.0), moment=(0.0, 0.0, 0.3))
    simulation.step(500)
    inertia = MASS * (SIZE[0] ** 2 + SIZE[1] ** 2) / 12.0
    assert simulation.state.v[:6] == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 0.3 * 0.5 / inertia], abs=1e-12)


def test_a_push_at_the_end_of_a_lever_holds_its_weight():
    """Seen from the link's frame, which is turned; half of its weight at the end, the other half at the hinge."""
    weight, length = MASS * 9.81, 1.2
    rod = Link("rod", Inertial(Pose((0.5 * length, 0.0, 0.0)), MASS, (0.1, 0.0, 0.0, 0.4, 0.0, 0.4)), ())
    hinge = Joint("hinge", "continuous", "base", "rod", Pose((0.0, 0.0, 1.0)), (0.0, 1.0, 0.0))
    lever = Machine("lever", (Link("base"), rod), (hinge,), "base", floating_base=False)
    simulation = Simulation(lever, World(ground=None))
    simulation.pushes["rod"] = Push((0.0, 0.0, 0.5 * weight), point=(length, 0.0, 0.0))
    simulation.step(1000)
    assert abs(simulation.joint_position["hinge"]) < 1e-12
    simulation.pushes["rod"] = Push((0.0, 0.0, 0.5 * weight + 1.0), point=(length, 0.0, 0.0))
    simulation.step(1)
    inertia = 0.4 + MASS * (0.5 * length) ** 2
    assert simulation.joint_velocity["hinge"] == pytest.approx(-1e-3 * length / inertia, rel=1e-9)


def test_the_ground_carries_a_machine_and_the_push_on_it():
    simulation = Simulation(grouser.load_machine(machine_file("demolition_robot")))

    def carried():
        """Mean force of the ground over some steps [N]."""
        total = np.zeros(3)
        for _ in range(200):
            simulation.step(1)
            total += sum(contact.force_world for contact in simulation.contacts())
        return total / 200.0

    simulation.step(2000)
    before, push = carried(), np.array([300.0, 200.0, -1000.0])
    simulation.pushes[simulation.arrays.names.links[0]] = Push(tuple(push))
    simulation.step(3000)
    assert carried() - before == pytest.approx(-push, abs=2.0)


def test_a_push_goes_with_its_member_and_ends_by_name_or_reset():
    one, world = loose(solid("box", Box(SIZE), MASS)), WEIGHTLESS
    members = {"a": Member(one, Pose((0.0, 0.0, 0.0))), "b": Member(one, Pose((2.0, 0.0, 0.0)))}
    simulation = Simulation(combine(members, world.spawn), world)
    push = Push((1.0, 0.0, 0.0), (0.0, 0.0, 0.05), (0.0, 0.1, 0.0))
    simulation.part("b").pushes["box"] = push
    assert dict(simulation.pushes) == {"b/box": push} and not simulation.part("a").pushes
    saved = simulation.snapshot()
    alone = Simulation(combine({"b": members["b"]}, world.spawn), world)
    carry_over(simulation, alone)
    assert dict(alone.pushes) == {"b/box": push}
    del simulation.part("b").pushes["box"]
    assert not simulation.pushes
    simulation.restore(saved)
    assert dict(simulation.pushes) == {"b/box": push}
    copies = simulation.batch(2)
    copies[0].pushes.clear()
    copies.step(10)
    assert momentum_of(copies[0])[0] == 0.0
    assert momentum_of(copies[1])[0] == pytest.approx(0.01, rel=1e-12)
    simulation.reset()
    assert not simulation.pushes


def test_a_push_wakes_what_sleeps():
    machine = loose(solid("box_0", Box(SIZE), MASS), solid("box_1", Box(SIZE), MASS))
    simulation = Simulation(machine, World(spawn=Pose((0.0, 0.0, 0.05))), sleeping=True)
    place(simulation, 0, (0.0, 0.0, 0.05))
    place(simulation, 1, (2.0, 0.0, 0.05))
    simulation.step(2000)
    assert set(simulation.asleep) == {"box_0", "box_1"}
    simulation.pushes["box_0"] = Push((100.0, 0.0, 0.0))
    simulation.step(100)
    assert simulation.asleep == ("box_1",)
    assert simulation.link_pose("box_0")[0][0] > 0.01
    work = simulation.energy_balance().actuator_work["push on box_0"]
    assert work == pytest.approx(100.0 * simulation.link_pose("box_0")[0][0], rel=0.05)


def test_wrong_pushes_are_refused():
    simulation = boxes()
    for link, push, words in (
        ("boxx", Push((1.0, 0.0, 0.0)), "box_0"),
        ("world", Push((1.0, 0.0, 0.0)), "belongs to the world"),
        ("box_0", (1.0, 0.0, 0.0), "a `Push`"),
        ("box_0", Push((math.nan, 0.0, 0.0)), "force"),
        ("box_0", Push((1.0, 0.0)), "force"),
        ("box_0", Push((1.0, 0.0, 0.0), point=(0.0, 0.0, 1e99)), "point"),
    ):
        with pytest.raises(ParameterError, match=words):
            simulation.pushes[link] = push
    with pytest.raises(KeyError):
        del simulation.pushes["box_0"]
    with pytest.raises(ParameterError, match="by name"):
        simulation.pushes = {}
    smooth = boxes(integrator="implicit_midpoint")
    with pytest.raises(ParameterError, match="semi_implicit"):
        smooth.pushes["box_0"] = Push((1.0, 0.0, 0.0))
