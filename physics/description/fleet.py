"""Several machines as one, so that they share a simulation: a root that stands still carries each by a joint.

The machines keep their names behind a prefix. What is a name is read off the table of the elements
(`extension_schema`), so that elements that are added to it need nothing here.
"""

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.data.contact import MaterialPair
from grouser.physics.description.data.hydraulics import Fluid
from grouser.physics.description.data.machine import Machine, Member
from grouser.physics.description.data.mechanism import Integrator, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.elements.hydraulics.circuit import PORTS, circuit_tanks
from grouser.physics.description.machine_file.registry import ELEMENTS
from grouser.physics.description.table.attributes import ElementKind, Kind

# The link that carries all: no link of a URDF has this name.
ROOT = ""
_NAMES = (Kind.NAME, Kind.LINK, Kind.JOINT, Kind.VALVE, Kind.PORT)


def combine(members: Mapping[str, Member], spawn: Pose = Pose()) -> Machine:
    """One machine made of several, which touch each other, share the ground and know nothing else of each other.

    All names of a member (links, joints, valves, lines, sensors, its own contact materials, ...) get the prefix
    ``<name>/``; the member named "" keeps its names. `Machine.members` says who is in it. Where a member has a free
    base, the first seven of its positions are the pose of its root link in the world, as of a machine by itself.

    Args:
        members: by name.
        spawn: where those stand that say no pose: `World.spawn`.

    Raises:
        ParameterError: a name that cannot tell members apart.
        MachineError: members that cannot share a simulation: their oil or their integrators differ.
    """
    _check_names(members)
    placed = tuple(Member(member.machine, member.pose or spawn, name) for name, member in members.items())
    _check_one_oil(placed)
    _check_one_integrator(placed)
    parts = [prefixed(member.machine, member.prefix) for member in placed]
    lists: dict[str, Any] = {
        field.name: tuple(item for part in parts for item in getattr(part, field.name))
        for field in dataclasses.fields(Machine)
        if field.default == ()
    }
    lists["warnings"] = tuple(f"{m.prefix}{warning}" for m in placed for warning in m.machine.warnings)
    lists["members"] = placed
    machine = Machine(
        name=", ".join(member.machine.name for member in placed),
        links=(Link(ROOT), *(link for part in parts for link in part.links)),
        joints=tuple(
            joint for member, part in zip(placed, parts, strict=True) for joint in (_base_joint(member), *part.joints)
        ),
        root=ROOT,
        floating_base=False,
        fluid=next((part.fluid for part in parts if part.fluid is not None), None),
        file=", ".join(dict.fromkeys(member.machine.file for member in placed)),
        integrator=parts[0].integrator if parts else Integrator("semi_implicit"),
        **lists,
    )
    _refuse_misread_names(machine)
    return machine


def prefixed(machine: Machine, prefix: str) -> Machine:
    """The same machine with a prefix to all of its names; the tank that it has without saying so is said.

    Names of materials stay where they are the world's only.
    """
    own = {contact.material for contact in machine.contacts} - {""}
    changes: dict[str, Any] = {"tanks": circuit_tanks(machine)}
    for kind in ELEMENTS:
        if kind.field in {field.name for field in dataclasses.fields(Machine)} and not kind.single:
            elements = changes.get(kind.field, getattr(machine, kind.field))
            changes[kind.field] = tuple(_renamed(element, kind, prefix, own) for element in elements)
    return replace(
        machine,
        links=tuple(replace(link, name=prefix + link.name) for link in machine.links),
        joints=tuple(_renamed_joint(joint, prefix) for joint in machine.joints),
        root=prefix + machine.root,
        **(changes | {"material_pairs": tuple(_pairs(machine.material_pairs, changes["material_pairs"], own))}),
    )


def _renamed(element: Any, kind: ElementKind, prefix: str, materials: Collection[str]) -> Any:
    """An element with its names, and those that it refers to, behind the prefix."""
    changes = {}
    for attribute in kind.attributes:
        # a wheel or a sensor has not all of what is written of it
        name = getattr(element, attribute.name, None)
        if name and (attribute.kind in _NAMES or (attribute.kind is Kind.MATERIAL and name in materials)):
            changes[attribute.name] = prefix + name
    for part in kind.parts:
        held = getattr(element, part.tag)
        if held is not None:
            changes[part.tag] = _renamed(held, part, prefix, materials)
    return replace(element, **changes)


def _renamed_joint(joint: Joint, prefix: str) -> Joint:
    mimic = joint.mimic and replace(joint.mimic, joint=prefix + joint.mimic.joint)
    return replace(
        joint, name=prefix + joint.name, parent=prefix + joint.parent, child=prefix + joint.child, mimic=mimic
    )


def _pairs(written: Collection[MaterialPair], renamed: Collection[MaterialPair], own: Collection[str]):
    """Pairs of materials: where both are the machine's, either may be the world's, too, by the same name."""
    for before, after in zip(written, renamed, strict=True):
        yield after
        if before.first in own and before.second in own and before != after:
            yield replace(after, second=before.second)
            if before.first != before.second:
                yield replace(after, first=before.first)


def _base_joint(member: Member) -> Joint:
    """The joint between the root that carries all and a member's root link."""
    root = f"{member.prefix}{member.machine.root}"
    if member.machine.floating_base:
        return Joint(member.joint, "floating", ROOT, root)
    return Joint(member.joint, "fixed", ROOT, root, member.pose or Pose())


def _check_names(members: Mapping[str, Member]) -> None:
    for name, member in members.items():
        if not isinstance(name, str) or name != name.strip("/ "):
            raise ParameterError("member", name, "a name without a slash or blank at its ends")
        if member.machine.members:
            raise ParameterError("member", name, "a machine by itself, not one that is made of several")
        for other in members:
            if name and str(other).startswith(f"{name}/"):
                raise ParameterError("member", other, f"a name that does not begin with '{name}/', a member's prefix")


def _refuse_misread_names(machine: Machine) -> None:
    """Refuses names of the member that keeps its own which read like those of another one, and names given twice."""
    taken: dict[tuple[str, str], str] = {}
    numbers = {member.name: number for number, member in enumerate(machine.members)}
    for member in machine.members:
        if member.name == "":
            for what, name in _own_names(member.machine):
                if machine.member_of(name) != numbers[""]:
                    other = machine.members[machine.member_of(name)].name
                    raise MachineError(
                        f"its {what} '{name}' reads like one of the member '{other}'",
                        file=member.machine.file,
                        remedy="name that member otherwise",
                    )
    for joint in machine.joints:
        if taken.setdefault(("joint", joint.name), joint.child) != joint.child:
            raise MachineError(
                f"the joint that its root link would hang on has the name of another one, '{joint.name}'",
                file=machine.file,
                remedy="rename that",
            )


def _own_names(machine: Machine):
    """(what, name) of everything in a machine that has a name."""
    yield from (("link", link.name) for link in machine.links)
    yield from (("joint", joint.name) for joint in machine.joints)
    for kind in ELEMENTS:
        names = [attribute.name for attribute in kind.attributes if attribute.kind in _NAMES]
        elements = getattr(machine, kind.field, ()) if not kind.single else ()
        for element in elements:
            yield from ((kind.tag, name) for name in (getattr(element, each, None) for each in names) if name)


def _check_one_oil(members: Collection[Member]) -> None:
    """A simulation has one oil; what has no hydraulics does not matter."""
    oils = [
        (member.name, member.machine.fluid or Fluid(), member.machine.file)
        for member in members
        if any(getattr(member.machine, field) for field in PORTS)
    ]
    for (name, oil, _), (other, other_oil, file) in combinations(oils, 2):
        for field in dataclasses.fields(Fluid):
            value, other_value = getattr(oil, field.name), getattr(other_oil, field.name)
            if value != other_value:
                raise MachineError(
                    f"the oil of member '{other}' has {field.name} = {other_value:g}, "
                    f"that of member '{name}' {value:g}",
                    file=file,
                    element="<fluid>",
                    remedy="machines that share a simulation share their oil",
                )


def _check_one_integrator(members: Collection[Member]) -> None:
    methods = [(member.name, member.machine.integrator.method, member.machine.file) for member in members]
    for (name, method, _), (other, other_method, file) in combinations(methods, 2):
        if method != other_method:
            raise MachineError(
                f"the integrator of member '{other}' is {other_method}, that of member '{name}' {method}",
                file=file,
                element="<integrator>",
                remedy="machines that share a simulation share their integrator",
            )
