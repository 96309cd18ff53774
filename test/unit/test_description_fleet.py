"""Fleets: prefixed names, references, shared properties, and members that are refused."""

import dataclasses
import typing
from dataclasses import fields, replace

import pytest
from shipped import shipped_machine

from grouser import Member, combine
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.data.compliance import FlexibleLink
from grouser.physics.description.data.contact import ContactMaterial, MaterialPair
from grouser.physics.description.data.hydraulics import Fluid, Pump, Tank
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Integrator, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.sensors import Lidar
from grouser.physics.description.data.soil import Wheel
from grouser.physics.description.elements.hydraulics.circuit import circuit_tanks
from grouser.physics.description.machine_file.fleet import ROOT, prefixed
from grouser.physics.description.machine_file.registry import ELEMENTS
from grouser.physics.description.table.attributes import ElementKind, Kind
from grouser.physics.description.urdf.placement import initial_positions, link_poses

MACHINES = ("demolition_robot", "excavator", "four_bar", "hydraulic_lift", "loader_crane", "rigid_pendulum", "rover")
SHARED = {"name", "root", "floating_base", "fluid", "self_collision", "integrator", "urdf", "source", "file"}
# Of the files of the members, which keep them.
OF_FILES = {"arguments", "packages"}


def lone(name="base", **attributes):
    return Machine("machine", (Link(name),), (), name, True, file=f"{name}.urdf", **attributes)


def texts(kind: ElementKind) -> list[str]:
    """Attributes of an element that are free text, by the annotations of its dataclass."""
    words = {attribute.name for attribute in kind.attributes if attribute.kind is Kind.CHOICE}
    hints = typing.get_type_hints(kind.build)
    return [name for name, hint in hints.items() if str in (hint, *typing.get_args(hint)) and name not in words]


def element(kind: ElementKind, text: str):
    """An element with the same text for all of its names."""
    parts = {part.tag: element(part, text) for part in kind.parts}
    kept = (attribute for attribute in kind.attributes if attribute.kind is not Kind.ALONG)
    numbers = {attribute.name: attribute.default for attribute in kept}
    return kind.build(**numbers | dict.fromkeys(texts(kind), text) | parts)


def names_in(value, kind: ElementKind) -> list[str]:
    return [getattr(value, name) for name in texts(kind)] + [
        name for part in kind.parts for name in names_in(getattr(value, part.tag), part)
    ]


@pytest.mark.parametrize(
    "kind", [kind for kind in ELEMENTS if not kind.single and not kind.consumed], ids=lambda kind: kind.tag
)
def test_all_names_in_all_elements_get_the_prefix(kind):
    # only materials of the machine get the prefix
    machine = replace(lone(), **({"contacts": (ContactMaterial("base", "x"),)} | {kind.field: (element(kind, "x"),)}))
    (renamed,) = [one for one in getattr(prefixed(machine, "a/"), kind.field) if type(one) is kind.build][:1]
    assert names_in(renamed, kind) and set(names_in(renamed, kind)) == {"a/x"}


@pytest.mark.parametrize("read", [FlexibleLink, Lidar, Wheel])
def test_completed_elements_have_no_names_beyond_the_written_ones(read):
    written = {attribute.name for kind in ELEMENTS for attribute in kind.attributes}
    hints = typing.get_type_hints(read)
    assert {name for name, hint in hints.items() if str in (hint, *typing.get_args(hint))} <= written


def test_single_elements_have_no_names():
    for kind in ELEMENTS:
        if kind.single:
            assert not texts(kind), kind.tag


def test_combine_handles_every_field_of_a_machine():
    lists = {field.name for field in dataclasses.fields(Machine) if field.default == ()} | {"links", "joints"}
    assert {field.name for field in dataclasses.fields(Machine)} == lists | SHARED | OF_FILES


@pytest.mark.parametrize("name", MACHINES)
def test_prefixed_changes_names_only(name):
    machine = shipped_machine(name)
    renamed = replace(prefixed(machine, "a/"), file=machine.file, warnings=())
    original = replace(machine, tanks=circuit_tanks(machine), warnings=())
    before, after = (
        repr([getattr(one, field.name) for field in fields(one) if field.repr]) for one in (original, renamed)
    )
    assert "'a/" in after
    assert after.replace("'a/", "'") == before


@pytest.mark.parametrize("name", MACHINES)
def test_members_of_a_fleet_are_independent(name):
    machine = shipped_machine(name)
    fleet = combine({"": Member(machine), "a": Member(machine, Pose((0.0, 9.0, 0.0)))}, Pose((1.0, 2.0, 3.0)))
    assert [member.pose for member in fleet.members] == [Pose((1.0, 2.0, 3.0)), Pose((0.0, 9.0, 0.0))]
    assert not fleet.floating_base and fleet.root == ROOT and fleet.links[0] == Link(ROOT)
    half = len(machine.links)
    assert [link.name for link in fleet.links[1 : half + 1]] == [link.name for link in machine.links]
    assert [link.name for link in fleet.links[half + 1 :]] == [f"a/{link.name}" for link in machine.links]
    for joint in fleet.joints:
        assert fleet.member_of(joint.name) == fleet.member_of(joint.child)
        assert joint.parent == ROOT or fleet.member_of(joint.parent) == fleet.member_of(joint.name)
    assert fleet.member_of(ROOT) == -1
    # as they stand: the pose of the root link, and everything else from there
    poses = link_poses(fleet, initial_positions(fleet))
    assert poses["a/" + machine.root].position == (0.0, 9.0, 0.0)
    assert initial_positions(fleet) == {
        f"{prefix}{joint}": position for prefix in ("", "a/") for joint, position in initial_positions(machine).items()
    }


def test_each_member_has_its_own_tank():
    supply = {"pumps": (Pump("pump", 1e7, tank_pressure=2e5),), "fluid": Fluid()}
    fleet = combine({"": Member(lone(**supply)), "b": Member(lone(**supply, tanks=(Tank("sump", 3e5),)))})
    assert fleet.tanks == (Tank("tank", 2e5), Tank("b/sump", 3e5))
    assert fleet.pumps[1].outlet == "b/supply"


def test_world_materials_keep_their_names():
    contacts = (ContactMaterial("base", "rubber"),)
    pairs = (MaterialPair("rubber", "ground", 0.9), MaterialPair("rubber", "rubber", 0.5))
    fleet = combine({"a": Member(lone(contacts=contacts, material_pairs=pairs))})
    assert fleet.contacts == (ContactMaterial("a/base", "a/rubber"),)
    # an obstacle may be of rubber, too
    assert fleet.material_pairs == (
        MaterialPair("a/rubber", "ground", 0.9),
        MaterialPair("a/rubber", "a/rubber", 0.5),
        MaterialPair("a/rubber", "rubber", 0.5),
    )


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/",), ("/a",), (" a",), (3,)], ids=str)
def test_ambiguous_member_names_are_refused(names):
    with pytest.raises(ParameterError, match="member = "):
        combine({name: Member(lone()) for name in names})


def test_names_like_those_of_another_member_are_refused():
    with pytest.raises(MachineError, match=r"a/base.urdf: its link 'a/base' begins like the names of the member 'a'"):
        combine({"": Member(lone("a/base")), "a": Member(lone())})


def test_fleet_as_a_member_is_refused():
    with pytest.raises(ParameterError, match="a single machine"):
        combine({"b": Member(combine({"a": Member(lone())}))})


def test_members_with_different_oil_are_refused():
    def machine(**oil):
        return Member(lone(pumps=(Pump("pump", 1e7),), fluid=Fluid(**oil)))

    assert combine({"a": machine(density=870.0), "b": Member(lone(fluid=Fluid()))}).fluid == Fluid(density=870.0)
    with pytest.raises(MachineError, match=r"oil of member 'b' has temperature = 300, that of member 'a' 313"):
        combine({"a": machine(), "b": machine(temperature=300.0)})


def test_members_with_different_integrators_are_refused():
    variational = Member(lone(integrator=Integrator("variational")))
    assert combine({"a": variational, "b": variational}).integrator == Integrator("variational")
    with pytest.raises(MachineError, match="integrator of member 'b' is semi_implicit, that of member 'a' variational"):
        combine({"a": variational, "b": Member(lone())})


def test_empty_fleet():
    assert combine({}).links == (Link(ROOT),)
