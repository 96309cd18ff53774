"""Fleets: each machine moves as alone until contact; in contact, machines push each other."""

from dataclasses import replace

import numpy as np
import pytest
from fleet_machines import box, drive, turned
from momentum import momentum_of
from shipped import shipped_machine

from grouser import Member, Simulation, World, combine, load_world
from grouser.catalogue import world_file
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box

FREE = World("free", gravity=(0.0, 0.0, 0.0), ground=None)
VIEWS = ("joint_position", "joint_velocity", "joint_effort", "contact_wrench", "obstacle_wrench", "joint_reaction")


@pytest.fixture(scope="module")
def rover():
    return shipped_machine("rover")


@pytest.fixture(scope="module")
def robot():
    """A demolition robot bolted to the world."""
    return shipped_machine("demolition_robot", base="fixed")


@pytest.fixture(scope="module")
def sand():
    return load_world(world_file("sand"))


# --- as alone -------------------------------------------------------------------------------------------------------


def test_rovers_of_a_fleet_on_sand_move_as_alone(rover, sand):
    """The first bit for bit, as the equations' origin is at it; the other to rounding."""
    pose = Pose((3.0, -4.0, sand.spawn.position[2]), turned(0.6))
    both = Simulation(combine({"a": Member(rover), "b": Member(rover, pose)}, sand.spawn), sand)
    a, b = both.part("a"), both.part("b")
    alone_a, alone_b = Simulation(rover, sand), Simulation(rover, replace(sand, spawn=pose))
    machines = (a, alone_a), (b, alone_b)
    for simulation in (a, b, alone_a, alone_b):
        drive(simulation, 1.0)
    for simulation in (both, alone_a, alone_b):
        simulation.step(1000)
    for part, alone in machines:
        # 1e-9: rounding, 1e-16 of metres, over a thousand steps that amplify it a little
        error = 0.0 if part is a else 1e-9
        for view in VIEWS:
            assert getattr(part, view).names == getattr(alone, view).names
            largest = np.abs(getattr(alone, view).values()).max(initial=1.0)
            np.testing.assert_allclose(
                getattr(part, view).values(), getattr(alone, view).values(), rtol=0.0, atol=error * largest
            )
        np.testing.assert_allclose(part.link_poses(), alone.link_poses(), rtol=0.0, atol=error)
        np.testing.assert_allclose(np.ravel(part.base_twist()), np.ravel(alone.base_twist()), rtol=0.0, atol=error)
        np.testing.assert_allclose(np.ravel(part.bounds()), np.ravel(alone.bounds()), rtol=0.0, atol=error)
        assert abs(part.base_twist()[0][0]) > 0.05
        patch, own = part.terrain_patch(0.5), alone.terrain_patch(0.5)
        np.testing.assert_allclose(patch.z, own.z, rtol=0.0, atol=error)
        assert np.array_equal(patch.bearing_margin, own.bearing_margin)
        assert own.rut.max() > 1e-3
        for name, state in alone.wheel.items():
            assert part.wheel[name].sinkage == pytest.approx(state.sinkage, rel=1e-9, abs=error)
            assert part.wheel[name] == list(part.wheel.values())[part.wheel.names.index(name)]
        assert [contact.link for contact in part.contacts()] == [contact.link for contact in alone.contacts()]
        for name, reading in alone.sensors.imu.items():
            # An acceleration is a difference of speeds over a step of a millisecond.
            np.testing.assert_allclose(
                part.sensors.imu[name].specific_force, reading.specific_force, atol=1e3 * error + 1e-300
            )


def test_hydraulics_of_a_fleet_equal_those_of_single_robots(robot):
    """While no joint comes to rest, which depends on the last digits: the first bit for bit, the other to rounding.

    Impulses are solved to rounding too: sweeps go on until all machines have converged.
    """
    world, solver = World("hanging", ground=None), {"tolerance": 1e-12, "most_sweeps": 10000}
    both = Simulation(combine({"a": Member(robot), "b": Member(robot, Pose((3.0, 4.0, 1.0)))}), world, **solver)
    alone = Simulation(robot, world, **solver)
    for simulation in (alone, both.part("a"), both.part("b")):
        simulation.command.update({"boom_valve": 0.5, "stick_valve": -0.5, "tool_valve": 0.5})
    both.step(500)
    alone.step(500)
    assert np.abs(alone.joint_velocity.values()).max() > 0.1
    for name, error in (("a", 0.0), ("b", 1e-9)):
        part = both.part(name)
        assert {*part.circuit.line_pressure} == {*alone.circuit.line_pressure} - {"(air)"}
        for line, pressure in part.circuit.line_pressure.items():
            assert pressure == pytest.approx(alone.circuit.line_pressure[line], rel=error, abs=0.0)
        for cylinder, state in alone.cylinder.items():
            # A sum over all coordinates, whose order in BLAS depends on their number.
            assert part.cylinder[cylinder].velocity == pytest.approx(state.velocity, rel=1e-9, abs=1e-12)
            assert part.pressure[cylinder].rod_side == pytest.approx(state.pressure_rod_side, rel=error, abs=0.0)


def test_members_start_at_their_pose(rover):
    pose = Pose((5.0, -3.0, 2.0), turned(1.0))
    both = Simulation(combine({"": Member(rover), "b": Member(rover, pose)}, Pose((0.0, 0.0, 1.0))), FREE)
    assert both.part("").base_pose()[0].tolist() == [0.0, 0.0, 1.0]
    np.testing.assert_allclose(np.concatenate(both.part("b").base_pose()), [*pose.position, *pose.quaternion])
    joint = both.machine.members[1].joint
    first = both.arrays.names.body_joint.index(joint)
    q = both.state.q[both.arrays.model.body_q[first] :][:7]
    assert q.tolist() == [*pose.position, *pose.quaternion]


def test_fixed_member_stays_at_its_pose(robot):
    pose = Pose((5.0, -3.0, 2.0), turned(1.0))
    both = Simulation(combine({"a": Member(robot), "b": Member(robot, pose)}), World("hanging", ground=None))
    both.step(10)
    part = both.part("b")
    np.testing.assert_allclose(np.concatenate(part.base_pose()), [*pose.position, *pose.quaternion], atol=1e-15)
    assert not np.any(part.base_twist())


# --- together -------------------------------------------------------------------------------------------------------


def test_momentum_of_colliding_boxes_in_free_space_is_conserved():
    """To rounding: each is one body, whose momentum the integrator carries exactly."""
    machine = combine({"a": Member(box(), Pose((-1.0, 0.1, 0.05))), "b": Member(box(mass=5.0), Pose())})
    both = Simulation(machine, FREE)
    both.part("a").place((-1.0, 0.1, 0.05), turned(0.2), linear=(2.0, 0.0, 0.0), angular=(0.0, 0.0, 0.5))
    before, met = momentum_of(both), set()
    for _ in range(1000):
        both.step()
        met |= {(contact.link, contact.other) for contact in both.part("b").contacts() if contact.force_world.any()}
    assert met == {("box", "a/box")}
    assert both.part("b").base_twist()[0] @ both.part("b").base_twist()[0] > 0.1
    np.testing.assert_allclose(momentum_of(both), before, rtol=0.0, atol=1e-12 * np.abs(before).max())


def test_momentum_of_a_rover_pushing_another_is_conserved(rover):
    """The momentum lost by one is gained by the other, to the order of the step, as joints move."""
    lost = []
    for step in (1e-3, 5e-4):
        machine = combine({"a": Member(rover, Pose((-2.5, 0.1, 0.0))), "b": Member(rover, Pose())})
        both = Simulation(machine, FREE, step=step)
        both.part("a").place((-2.5, 0.1, 0.0), turned(0.0), linear=(1.0, 0.0, 0.0))
        before = momentum_of(both)
        both.step(round(1.5 / step))
        assert both.part("b").base_twist()[0][0] > 0.2
        lost.append(np.abs(momentum_of(both) - before)[:3].max() / before[0])
    assert lost[0] < 1e-3 and lost[1] < 0.7 * lost[0]


def test_contacts_are_reported_by_both_members(rover):
    both = Simulation(combine({"": Member(box()), "b": Member(box(), Pose((0.0, 0.0, 0.4)))}), World())
    both.part("").place((0.0, 0.0, 0.2), turned(0.0))
    both.part("b").place((0.0, 0.0, 0.6), turned(0.0))
    both.step(200)
    below = [contact for contact in both.part("").contacts() if contact.other == "b/box"]
    above = [contact for contact in both.part("b").contacts() if contact.other == "box"]
    assert len(above) == len(below) == 4
    assert sum(contact.force_world for contact in above)[2] == pytest.approx(10.0 * 9.81, rel=1e-6)
    for mine, theirs in zip(above, below, strict=True):
        assert (mine.link, theirs.link) == ("box", "box")
        assert np.array_equal(mine.force_world, -theirs.force_world)
        assert np.array_equal(mine.normal_world, -theirs.normal_world)
        assert mine.normal_world[2] == pytest.approx(1.0)


def test_box_dropped_on_a_rover_rests_on_it(rover):
    flat = load_world(world_file("flat"))
    load = box((0.2, 0.2, 0.1), 5.0)
    both = Simulation(combine({"": Member(rover), "load": Member(load, Pose((-0.2, 0.0, 1.0)))}, flat.spawn), flat)
    both.step(3000)
    deck = rover.links[0].collisions[0]
    assert isinstance(deck.geometry, Box)
    top = both.part("").base_pose()[0][2] + deck.pose.position[2] + 0.5 * deck.geometry.size[2]
    position, _ = both.part("load").base_pose()
    # a contact leaves penetrations below 10 micrometres alone; the rest is the tilt of the deck on its rockers
    assert position[2] == pytest.approx(top + 0.05, abs=1e-3)
    assert np.abs(both.state.v).max() < 1e-3
    assert {contact.other for contact in both.part("load").contacts() if contact.force_world.any()} == {"base_link"}


# --- one of them ----------------------------------------------------------------------------------------------------


def test_emergency_stop_of_one_member(rover, robot):
    world = World("hanging", gravity=(0.0, 0.0, -9.81), ground=None)
    members = {"a": Member(robot), "b": Member(robot, Pose((5.0, 0.0, 0.0))), "c": Member(robot, Pose((9.0, 0.0, 0.0)))}
    all_three = Simulation(combine(members), world)
    parts = [all_three.part(name) for name in members]
    for part in parts:
        part.command["swing_valve"] = 0.5
    all_three.step(500)
    parts[0].emergency_stop = True
    assert [part.emergency_stop for part in parts] == [True, False, False] and not all_three.emergency_stop
    all_three.step(1000)
    speeds = [abs(part.joint_velocity["swing"]) for part in parts]
    assert speeds[0] < 1e-6 and min(speeds[1:]) > 0.1
    all_three.emergency_stop = True
    assert all_three.emergency_stop and all(part.emergency_stop for part in parts)
    all_three.step(1000)
    assert max(abs(part.joint_velocity["swing"]) for part in parts) < 1e-6
    all_three.reset()
    assert not any(part.emergency_stop for part in parts)


def test_emergency_stop_of_the_drives_of_one_member(rover, sand):
    pose = Pose((0.0, 3.0, sand.spawn.position[2]))
    both = Simulation(combine({"a": Member(rover), "b": Member(rover, pose)}, sand.spawn), sand)
    for name in ("a", "b"):
        drive(both.part(name), 1.0)
    both.step(500)
    both.part("a").emergency_stop = True
    both.step(500)
    assert abs(both.part("a").joint_velocity["middle_left_drive"]) < 1e-6
    assert both.part("b").joint_velocity["middle_left_drive"] == pytest.approx(1.0, rel=0.05)


def test_faults_of_one_member(robot):
    world = World("hanging", ground=None)
    both = Simulation(combine({"a": Member(robot), "b": Member(robot, Pose((5.0, 0.0, 0.0)))}), world)
    part, alone = both.part("b"), Simulation(robot, world)
    assert [fault.full_name for fault in part.faults.catalogue] == [f.full_name for f in alone.faults.catalogue]
    part.faults["swing_valve"]["stuck_spool"] = True
    assert both.faults.active == {("b/swing_valve", "stuck_spool"): True}
    assert not both.part("a").faults.active
    assert part.faults.clear() == ("faults.swing_valve.stuck_spool",)
    assert not both.faults.active


def test_plain_schemes_support_one_circuit_of_constant_pressure():
    machine = shipped_machine("loader_crane")
    assert Simulation(machine, scheme="semi_implicit").scheme == "semi_implicit"
    both = combine({"a": Member(machine), "b": Member(machine, Pose((20.0, 0.0, 0.0)))})
    with pytest.raises(ParameterError, match="scheme = 'semi_implicit' .* beyond the plain schemes"):
        Simulation(both, scheme="semi_implicit")


def test_single_machine_is_its_only_part(rover):
    simulation = Simulation(rover, FREE)
    assert simulation.part("") is simulation
    with pytest.raises(ParameterError, match="member = 'a'"):
        simulation.part("a")
