"""The member of each element of a simulation, and the elements of a view."""

from dataclasses import fields

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import Member, ParameterError, Pose, Simulation, World, combine
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Obstacle
from grouser.physics.simulation.building import set_up
from grouser.physics.simulation.membership import select_all, select_member

HALL = World("hall", obstacles=(Obstacle("wall", Box((1.0, 1.0, 1.0)), Pose((0.0, 50.0, 1.0))),))


def setup_of(machine):
    return set_up(machine, HALL, 0.001, "implicit", 1e-6, 100, None)


@pytest.fixture(scope="module")
def fleet():
    """Three members; the middle one has no prefix."""
    places = {"a": ("excavator", 0.0), "": ("rover", 20.0), "b": ("excavator", 40.0)}
    members = {name: Member(shipped_machine(file), Pose((x, 0, 1))) for name, (file, x) in places.items()}
    return setup_of(combine(members))


def kinds(elements):
    return {field.name: getattr(elements, field.name) for field in fields(elements)}


def test_elements_belong_to_the_member_with_their_name_prefix(fleet):
    numbers = {"a": 0, "b": 2}
    names, membership = kinds(fleet.elements), kinds(fleet.membership)
    for kind, members in membership.items():
        expected = [numbers.get(name.split("/")[0], 1) if name else -1 for name in names[kind]]
        assert members.tolist() == expected, kind


def test_obstacles_and_the_oil_belong_to_no_member(fleet):
    assert fleet.membership.shape.tolist().count(-1) == 1
    assert fleet.shape_names[fleet.membership.shape.tolist().index(-1)] == "wall"
    shared = np.flatnonzero(fleet.membership.fault == -1)
    assert [fleet.faults[index].full_name for index in shared] == ["faults.oil.entrained_air"]


def test_members_share_only_the_fault_of_the_oil(fleet):
    chosen = [select_member(fleet.machine, fleet.elements, fleet.membership, number) for number in range(3)]
    for kind, members in kinds(fleet.membership).items():
        if kind != "fault":
            own = np.concatenate([getattr(selection.own, kind) for selection in chosen])
            assert sorted(own) == np.flatnonzero(members >= 0).tolist(), kind
    oil = len(fleet.faults) - 1
    assert [oil in selection.own.fault for selection in chosen] == [True, False, True]


def test_member_has_the_names_of_its_machine(fleet):
    excavator = select_member(fleet.machine, fleet.elements, fleet.membership, 2)
    alone = setup_of(shipped_machine("excavator")).elements
    for kind, names in kinds(excavator.names).items():
        every = [name for name in getattr(alone, kind) if name != "(air)"]
        if kind == "body":
            every[0] = excavator.machine.root + "_free"
        assert [name for name in names if name or kind == "fault"] == [n for n in every if n or kind == "fault"], kind


def test_view_of_all_members_has_all_elements(fleet):
    every = select_all(fleet.machine, fleet.elements)
    assert every.names is fleet.elements and every.members == (0, 1, 2) and every.base == -1
    for kind, own in kinds(every.own).items():
        assert own.tolist() == list(range(len(getattr(fleet.elements, kind)))), kind


def test_fleet_root_link_is_fixed_and_belongs_to_no_member():
    """The root link that carries all members."""
    rover = shipped_machine("rover")
    simulation = Simulation(combine({"a": Member(rover, Pose((0, 0, 1)))}), World("space", ground=None))
    simulation.step(10)
    assert simulation.part("a").base_twist()[0][2] < 0.0
    assert not np.any(simulation.base_twist()) and not np.any(simulation.base_pose()[0])
    with pytest.raises(ParameterError, match="this one's is fixed"):
        simulation.place((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def test_commands_and_faults_of_a_member_are_set_in_the_simulation():
    machine = shipped_machine("excavator")
    members = {name: Member(machine, Pose((x, 0, 1))) for name, x in (("a", 0.0), ("b", 20.0))}
    simulation = Simulation(combine(members), HALL)
    part = simulation.part("b")
    valve = part.command.valves[-1]
    part.command[valve] = 0.25
    assert simulation.command[f"b/{valve}"] == 0.25 and simulation.command[f"a/{valve}"] == 0.0
    part.faults[valve]["stuck_spool"] = True
    assert simulation.faults.active == {(f"b/{valve}", "stuck_spool"): True}
    simulation.part("a").faults["oil"]["entrained_air"] = 0.01
    assert part.faults["oil"]["entrained_air"] == 0.01
    part.emergency_stop = True
    assert part.emergency_stop and not simulation.emergency_stop and not simulation.part("a").emergency_stop
    simulation.emergency_stop = True
    assert simulation.part("a").emergency_stop and simulation.emergency_stop
