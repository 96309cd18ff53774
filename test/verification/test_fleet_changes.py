"""Machines that are added, removed and placed while a simulation runs."""

from dataclasses import replace

import numpy as np
import pytest
from fleet_machines import box, drive, turned
from shipped import shipped_machine

from grouser import Member, Simulation, World, carry_over, combine, load_world
from grouser.catalogue import world_file
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.contact.collide import slot_owners
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Obstacle

HALL = World("hall")
FAR = Pose((20.0, 0.0, 1.0))


@pytest.fixture(scope="module")
def rover():
    return shipped_machine("rover")


@pytest.fixture(scope="module")
def robot():
    return shipped_machine("demolition_robot")


@pytest.fixture(scope="module")
def sand():
    return load_world(world_file("sand"))


def changed(source, members, world):
    """A simulation of these members that continues another one."""
    target = Simulation(combine(members, world.spawn), world)
    carry_over(source, target)
    return target


# --- what stays -----------------------------------------------------------------------------------------------------


def test_added_machine_does_not_change_a_standing_robot(robot, rover):
    flat = load_world(world_file("flat"))
    alone = Simulation(robot, flat)
    alone.step(1500)
    both = changed(alone, {"": Member(robot), "b": Member(rover, FAR)}, flat)
    part = both.part("")
    assert both.step_count == 1500
    for view in ("joint_position", "joint_velocity"):
        assert np.array_equal(getattr(part, view).values(), getattr(alone, view).values())
    assert all(part.circuit.line_pressure[line] == pressure for line, pressure in alone.circuit.line_pressure.items())
    for simulation in (alone, both):
        simulation.step(100)
    # Bit for bit while the added machine falls without contact.
    assert np.array_equal(part.link_poses(), alone.link_poses())
    assert all(part.circuit.line_pressure[line] == pressure for line, pressure in alone.circuit.line_pressure.items())
    for simulation in (alone, both):
        simulation.step(900)
    # Then to the solver's tolerance, 1e-6 m/s, over 0.9 s.
    np.testing.assert_allclose(part.link_poses(), alone.link_poses(), atol=1e-6)


def test_transfer_keeps_speed_and_ruts_of_a_rover(rover, sand):
    alone = Simulation(rover, sand)
    drive(alone, 1.0)
    alone.step(2000)
    both = changed(alone, {"a": Member(rover, Pose((20.0, 0.0, 0.2))), "": Member(rover)}, sand)
    part = both.part("")
    patch, rut = part.terrain_patch(1.0), alone.terrain_patch(1.0)
    assert rut.rut.max() > 1e-3 and np.array_equal(patch.rut, rut.rut) and np.array_equal(patch.x, rut.x)
    for simulation in (alone, both):
        simulation.step(500)
    assert part.base_twist()[0][0] > 0.05
    # The origin of the equations has moved to the other rover: rounding.
    np.testing.assert_allclose(part.link_poses(), alone.link_poses(), atol=1e-9)
    np.testing.assert_allclose(part.terrain_patch(1.0).rut, alone.terrain_patch(1.0).rut, atol=1e-9)


def test_transfer_is_independent_of_the_order_of_members():
    """Stacked boxes, in reverse order in the new simulation."""
    a, b, c = box(), box(mass=5.0), box()
    before = Simulation(combine({"a": Member(a, Pose((0, 0, 0.2))), "b": Member(b, Pose((0.1, 0, 0.6)))}), HALL)
    before.step(500)
    after = changed(before, {"c": Member(c, FAR), "b": Member(b), "a": Member(a)}, HALL)
    for name in ("a", "b"):
        # read from the new origin, 20 m away
        np.testing.assert_allclose(after.part(name).link_poses(), before.part(name).link_poses(), rtol=0.0, atol=1e-14)
        assert np.array_equal(np.ravel(after.part(name).base_twist()), np.ravel(before.part(name).base_twist()))
    # its contacts with the ground go on with their impulses; between the boxes the slots have another owner
    assert after.state.contact.memory.count[0] == 4
    after.step(500)
    before.step(500)
    for name in ("a", "b"):
        # Two settled stacks, each within the solver's tolerance of speed over half a second.
        np.testing.assert_allclose(after.part(name).link_poses(), before.part(name).link_poses(), atol=1e-6)


def test_transfer_keeps_contact_impulses():
    members = {"a": Member(box(), Pose((0, 0, 0.2))), "b": Member(box(mass=5.0), Pose((0.1, 0, 0.6)))}
    before = Simulation(combine(members), HALL)
    before.step(500)
    after = changed(before, members | {"c": Member(box(), FAR)}, HALL)
    for count in (1, 50):
        before.step(count)
        after.step(count)
        assert np.array_equal(after.state.q[:14], before.state.q)
        assert after.diagnostics.contact_count == before.diagnostics.contact_count == 8


def test_machines_that_join_one_by_one_make_the_same_system_as_at_once(rover, sand):
    """Parts of the machines that stay are kept from one simulation to the next; their arrays have the same bits."""

    def members():
        tilted = Pose((3.0, 1.0, 0.5), (0.6, 0.0, 0.0, 0.8))
        return {
            "": Member(rover),
            "a": Member(box(), Pose((3.0, -1.0, 0.5))),
            "b": Member(box(mass=5.0), tilted),
            "c": Member(replace(box(), name="another"), FAR),
        }

    chosen = members()
    grown = Simulation(combine({"": chosen.pop("")}, sand.spawn), sand, sleeping=True)
    present = {"": grown.machine.members[0]}
    for name, member in chosen.items():
        present[name] = member
        source, grown = grown, Simulation(combine(present, sand.spawn), sand, sleeping=True)
        carry_over(source, grown)
        grown.step(20)
    at_once = Simulation(combine(members(), sand.spawn), sand, sleeping=True)
    assert grown.snapshot().system == at_once.snapshot().system
    assert grown.warnings == at_once.warnings
    left = {name: member for name, member in present.items() if name != "a"}
    anew = {name: member for name, member in members().items() if name != "a"}
    fewer, same = (Simulation(combine(one, sand.spawn), sand, sleeping=True) for one in (left, anew))
    assert fewer.snapshot().system == same.snapshot().system


@pytest.mark.parametrize("gone", ["a", "b", "c"])
def test_contacts_keep_their_places_when_shapes_before_and_after_them_go(gone):
    """The contacts of what stays have the same points of the same shapes, whatever the numbers of these have become."""
    poses = {"a": (0.0, 0.0, 0.2), "b": (3.0, 0.0, 0.2), "c": (6.0, 0.0, 0.2)}
    members = {name: Member(box(), Pose(at)) for name, at in poses.items()}
    members["upon"] = Member(box(mass=5.0), Pose((3.1, 0.0, 0.6)))
    world = World("hall", obstacles=(Obstacle("wall", Box((1.0, 1.0, 1.0)), Pose((9.0, 0.0, 0.5))),))
    before = Simulation(combine(members), world)
    before.step(300)
    after = changed(before, {name: member for name, member in members.items() if name != gone}, world)
    stays = [one for one in _pressed(before) if gone not in one[:2]]
    assert len(stays) == len(_pressed(before)) - (8 if gone == "b" else 4)
    assert _pressed(after) == stays


def _pressed(simulation):
    """Shapes, number among the slots of these and impulse of each contact that is remembered."""
    memory = simulation.state.contact.memory
    count = int(memory.count[0])
    owners, numbers = slot_owners(simulation.arrays.system.contact, memory.slot[:count])
    names = [[simulation.arrays.shape_names[shape].partition("/")[0] for shape in pair] for pair in owners.tolist()]
    return [
        (*pair, number, tuple(impulse))
        for pair, number, impulse in sorted(
            zip(names, numbers.tolist(), memory.impulse[:count].tolist(), strict=True), key=lambda row: row[:2]
        )
    ]


def test_removed_machine_does_not_change_the_others(rover, sand):
    pose = Pose((0.0, 3.0, sand.spawn.position[2]))
    both = Simulation(combine({"": Member(rover), "b": Member(rover, pose)}, sand.spawn), sand)
    drive(both.part(""), 1.0)
    both.step(1000)
    alone = Simulation(rover, sand)
    carry_over(both, alone)
    assert alone.part("") is alone
    both.step(500)
    alone.step(500)
    assert np.array_equal(alone.link_poses(), both.part("").link_poses())
    # Without machines the ruts remain; then a machine is added.
    nobody = changed(alone, {}, sand)
    nobody.step(10)
    again = changed(nobody, {"c": Member(rover, Pose((0.0, -5.0, 1.0)))}, sand)
    assert again.step_count == 1510 and again.state.soil.tile_count[0] == alone.state.soil.tile_count[0]
    again.step(100)


def test_transfer_keeps_commands_faults_and_emergency_stops(robot):
    free = World("hanging", ground=None)
    hanging = replace(robot, floating_base=False)
    names = {"a": Member(hanging), "b": Member(hanging, Pose((9.0, 0.0, 0.0)))}
    before = Simulation(combine(names), free)
    before.part("b").command["boom_valve"] = 0.3
    before.part("b").emergency_stop = True
    before.part("a").faults["boom_valve"]["stuck_spool"] = True
    before.part("a").faults["oil"]["entrained_air"] = 0.02
    after = changed(before, {"b": names["b"], "c": Member(hanging, Pose((0.0, 9.0, 0.0))), "a": names["a"]}, free)
    assert after.part("b").command["boom_valve"] == 0.3 and after.part("c").command["boom_valve"] == 0.0
    assert [after.part(name).emergency_stop for name in "abc"] == [False, True, False]
    assert after.faults.active == {("a/boom_valve", "stuck_spool"): True, ("oil", "entrained_air"): 0.02}


def test_another_machine_of_the_same_name_begins_in_its_initial_state():
    first, second = box(), box()
    before = Simulation(combine({"a": Member(first, Pose((0.0, 0.0, 5.0)))}), HALL)
    before.step(100)
    after = changed(before, {"a": Member(second, Pose((0.0, 0.0, 5.0)))}, HALL)
    assert after.part("a").base_pose()[0][2] == 5.0 and after.step_count == 100


def test_transfer_opens_the_accounts_of_energy(rover, sand):
    before = Simulation(rover, sand)
    drive(before, 1.0)
    before.step(500)
    after = changed(before, {"": Member(rover), "b": Member(rover, FAR)}, sand)
    balance = after.energy_balance()
    assert balance.kinetic == balance.potential == 0.0 and not balance.actuator_work
    assert balance.dissipation == pytest.approx({}) and balance.residual == pytest.approx(0.0, abs=1e-12)


def test_transfer_to_another_step_or_ground_is_refused(rover, sand):
    source = Simulation(rover, sand)
    with pytest.raises(ParameterError, match="step = 0.002"):
        carry_over(source, Simulation(rover, sand, step=0.002))
    with pytest.raises(ParameterError, match="ground = 'hall'"):
        carry_over(source, Simulation(rover, HALL))


# --- who cannot come ------------------------------------------------------------------------------------------------


def test_added_machine_that_overlaps_another_is_refused():
    present = box()
    source = Simulation(combine({"a": Member(present, Pose((0.0, 0.0, 0.2)))}), HALL)
    members = {"a": Member(present, Pose((0.0, 0.0, 0.2))), "b": Member(box(), Pose((0.3, 0.0, 0.2)))}
    with pytest.raises(MachineError, match=r"'(a|b)/box' and '(a|b)/box' overlap by 100.0 mm"):
        changed(source, members, HALL)
    # Its former position is free.
    source.part("a").place((5.0, 0.0, 0.2), turned(0.0))
    after = changed(source, members, HALL)
    assert after.overlaps() == []
    # at the start of that simulation, to which a reset would return, it is not
    assert (
        len(after.warnings) == 1 and "overlap by 100.0 mm at the start: they push each other apart" in after.warnings[0]
    )


def test_added_machine_that_overlaps_an_obstacle_is_refused():
    walled = replace(HALL, obstacles=(Obstacle("wall", Box((1.0, 1.0, 1.0)), Pose((3.0, 0.0, 0.5))),))
    source = Simulation(combine({}), walled)
    added = combine({"b": Member(box(), Pose((2.35, 0.0, 0.2)))}, walled.spawn)
    with pytest.raises(MachineError, match="'b/box' and 'wall' overlap by 50.0 mm"):
        carry_over(source, Simulation(added, walled, spawn="as_given"))


def test_added_machine_is_lifted_out_of_an_obstacle():
    walled = replace(HALL, obstacles=(Obstacle("wall", Box((1.0, 1.0, 1.0)), Pose((3.0, 0.0, 0.5))),))
    after = changed(Simulation(combine({}), walled), {"b": Member(box(), Pose((2.7, 0.0, 0.2)))}, walled)
    assert after.part("b").base_pose()[0] == pytest.approx((2.7, 0.0, 1.2), abs=3e-5)


# --- put elsewhere --------------------------------------------------------------------------------------------------


def test_placed_machine_has_the_given_pose_and_velocity(rover):
    both = Simulation(combine({"": Member(rover), "b": Member(rover, FAR)}), World("x", (0.0, 0.0, 0.0), None))
    both.step(10)
    part, joints = both.part("b"), both.part("b").joint_position.values()
    linear, angular = np.array([1.0, 2.0, 3.0]), np.array([0.1, -0.2, 0.3])
    part.place((4.0, 5.0, 6.0), turned(np.pi / 2), linear, angular)
    assert np.array_equal(part.base_pose()[0], (4.0, 5.0, 6.0))
    np.testing.assert_allclose(part.base_pose()[1], turned(np.pi / 2), atol=1e-15)
    # Its x axis is now the world's y axis.
    np.testing.assert_allclose(part.base_twist()[0], (2.0, -1.0, 3.0), atol=1e-15)
    np.testing.assert_allclose(part.base_twist()[1], (-0.2, -0.1, 0.3), atol=1e-15)
    assert np.array_equal(part.joint_position.values(), joints)
    np.testing.assert_allclose(part.sensors.imu["imu"].specific_force, 0.0, atol=1e-9)
    before = part.base_pose()[0]
    both.step(10)
    np.testing.assert_allclose((part.base_pose()[0] - before) / 0.01, linear, atol=0.02)


def test_placed_machine_restarts_bit_for_bit(rover, sand):
    simulation = Simulation(rover, sand)
    drive(simulation, 1.0)
    simulation.step(1000)
    assert simulation.state.soil.wheel_motion.any()
    simulation.place((3.0, 1.0, 0.3), turned(0.5))
    assert not simulation.state.soil.wheel_motion.any()
    saved = simulation.snapshot()
    simulation.step(500)
    there = simulation.state.q.copy()
    again = Simulation(rover, sand)
    again.restore(saved)
    again.step(500)
    assert np.array_equal(again.state.q, there)


def test_placing_clears_the_contacts_of_the_machine():
    members = {"a": Member(box(), Pose((0, 0, 0.2))), "b": Member(box(mass=5.0), Pose((0.1, 0, 0.6)))}
    simulation = Simulation(combine(members), HALL)
    simulation.step(500)
    assert np.count_nonzero(simulation.state.contact.memory.impulse[:, 2]) == 8
    simulation.part("b").place((3.0, 0.0, 0.6), turned(0.0))
    # the other one's, with the ground, stay
    assert np.count_nonzero(simulation.state.contact.memory.impulse[:, 2]) == 4
    assert simulation.contacts() == []
    simulation.step(10)
    assert simulation.part("a").base_pose()[0][2] == pytest.approx(0.2, abs=1e-5)


def test_placing_does_no_work_in_the_balance_of_energy():
    simulation = Simulation(box(), World("space", ground=None))
    simulation.step(100)
    simulation.place((0.0, 0.0, 100.0), turned(0.0), linear=(0.0, 0.0, 50.0))
    simulation.step(100)
    balance = simulation.energy_balance()
    # free fall by steps: kinetic energy goes with the end speeds, potential with their sum
    fallen = 10.0 * 9.81 * 9.81 * 0.001 * 0.1
    assert balance.kinetic + balance.potential == pytest.approx(0.0, abs=2.0 * fallen)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((0.0, np.nan, 0.0), turned(0.0)), "position = "),
        (((0.0, 0.0), turned(0.0)), "position = .* 3 numbers"),
        (((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.1)), "quaternion = .* its length is 1.1"),
        (((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)), "quaternion = "),
        (((0.0, 0.0, 0.0), turned(0.0), (np.inf, 0.0, 0.0)), "linear = "),
        (((0.0, 0.0, 0.0), turned(0.0), (0.0, 0.0, 0.0), ("a", 0.0, 0.0)), "angular = "),
    ],
)
def test_invalid_poses_are_refused(arguments, message):
    simulation = Simulation(box(), HALL)
    before = simulation.state.q.copy()
    with pytest.raises(ParameterError, match=message):
        simulation.place(*arguments)
    assert np.array_equal(simulation.state.q, before)


def test_placing_a_fixed_base_is_refused(robot):
    fixed = replace(robot, floating_base=False)
    fleet = Simulation(combine({"a": Member(fixed)}), World("hanging", ground=None))
    for one in (fleet, fleet.part("a"), Simulation(fixed, World("hanging", ground=None))):
        with pytest.raises(ParameterError, match="base is free; this one's is fixed"):
            one.place((0.0, 0.0, 0.0), turned(0.0))
