"""Fleets: several machines as one, whose root link does not move and holds each member by a joint.

All names of a member get a prefix. The table of elements (`registry`) tells which attributes are names, so that new
elements need no change here.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, product
from operator import attrgetter
from typing import Any, NamedTuple

from grouser.physics.base.checks import require_mapping, require_type
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.base.kept import KeptWith
from grouser.physics.description.data.contact import MaterialPair
from grouser.physics.description.data.hydraulics import Fluid
from grouser.physics.description.data.machine import Machine, Member
from grouser.physics.description.data.mechanism import Integrator, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import require_place
from grouser.physics.description.elements.hydraulics.circuit import PORTS, circuit_tanks
from grouser.physics.description.machine_file import registry
from grouser.physics.description.table.attributes import ElementKind, Kind

# Root link of a fleet; no link of a URDF has this name.
ROOT = ""
_FIELDS = frozenset(field.name for field in dataclasses.fields(Machine))
_NAMES = (Kind.NAME, Kind.LINK, Kind.JOINT, Kind.VALVE, Kind.PORT)


class _Named(NamedTuple):
    """A member under the names of a fleet: with name and pose, its machine with the prefix, and the joint above it."""

    member: Member
    part: Machine
    base: Joint


# A fleet to which a machine is added has the other members' parts still.
_NAMED: KeptWith[_Named] = KeptWith()


def combine(members: Mapping[str, Member], spawn: Pose = Pose()) -> Machine:
    """Combines machines to a fleet, whose members collide with each other and share the ground.

    All names of a member (links, joints, valves, lines, sensors, its own contact materials, ...) get the prefix
    ``<name>/``; the member named "" keeps its names. `Machine.members` lists the members. As in a single machine, the
    first seven positions of a member with a floating base are the pose of its root link in the world.

    Args:
        members: by name.
        spawn: pose of members without pose: `World.spawn`.

    Raises:
        ParameterError: names of members are ambiguous.
        MachineError: the members have different oil or integrators.
    """
    require_mapping("members", members, "a mapping from names to `grouser.Member`")
    require_place("spawn", spawn)
    _check_names(members)
    named = [
        _NAMED.get(member, (name, pose := member.pose or spawn), partial(_named, member.machine, pose, name))
        for name, member in members.items()
    ]
    placed, parts = tuple(one.member for one in named), [one.part for one in named]
    _check_one_oil(placed)
    _check_one_integrator(placed)
    lists: dict[str, Any] = {
        field.name: tuple(chain.from_iterable(map(attrgetter(field.name), parts)))
        for field in dataclasses.fields(Machine)
        if field.default == ()
    }
    lists["warnings"] = tuple(f"{m.prefix}{warning}" for m in placed for warning in m.machine.warnings)
    lists["members"] = placed
    machine = Machine(
        name=", ".join(member.machine.name for member in placed),
        links=(Link(ROOT), *(link for part in parts for link in part.links)),
        joints=tuple(joint for one in named for joint in (one.base, *one.part.joints)),
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
    """Returns the machine with a prefix to all of its names, and with its default tank as a `Tank`.

    Names of materials that only the world has are not changed.
    """
    own = {contact.material for contact in machine.contacts} - {""}
    changes: dict[str, Any] = {"tanks": circuit_tanks(machine)}
    others: list[tuple[str, Any]] = []
    for kind in _kept_kinds():
        elements = changes.get(kind.field, machine.elements(kind.field))
        renamed = tuple(_renamed(element, kind, prefix, own) for element in elements)
        if kind.field in _FIELDS:
            changes[kind.field] = renamed
        else:
            others += [(kind.field, element) for element in renamed]
    changes["others"] = tuple(others)
    return replace(
        machine,
        links=tuple(_renamed_link(link, prefix) for link in machine.links),
        joints=tuple(_renamed_joint(joint, prefix) for joint in machine.joints),
        root=prefix + machine.root,
        **(changes | {"material_pairs": tuple(_pairs(machine.material_pairs, changes["material_pairs"], own))}),
    )


def _kept_kinds() -> Iterator[ElementKind]:
    """Rows of the elements of a machine, without the single ones that members share."""
    for kind in registry.ELEMENTS:
        if not kind.consumed and not (kind.single and kind.field in _FIELDS):
            yield kind


def _renamed(element: Any, kind: ElementKind, prefix: str, materials: Collection[str]) -> Any:
    """An element with the prefix to its names and references."""
    changes = {}
    for attribute in kind.attributes:
        # wheels and sensors do not have all attributes of their rows
        name = getattr(element, attribute.name, None)
        if name and (attribute.kind in _NAMES or (attribute.kind is Kind.MATERIAL and name in materials)):
            changes[attribute.name] = prefix + name
    for part in (one for one in kind.parts if not one.repeated):
        held = getattr(element, part.tag)
        if held is not None:
            changes[part.tag] = _renamed(held, part, prefix, materials)
    return replace(element, **changes)


def _renamed_link(link: Link, prefix: str) -> Link:
    collisions = tuple(
        replace(collision, track=prefix + collision.track) if collision.track else collision
        for collision in link.collisions
    )
    return replace(link, name=prefix + link.name, collisions=collisions)


def _renamed_joint(joint: Joint, prefix: str) -> Joint:
    mimic = joint.mimic and replace(joint.mimic, joint=prefix + joint.mimic.joint)
    return replace(
        joint, name=prefix + joint.name, parent=prefix + joint.parent, child=prefix + joint.child, mimic=mimic
    )


def _pairs(written: Collection[MaterialPair], renamed: Collection[MaterialPair], own: Collection[str]):
    """Pairs of materials; the world may have materials of the same names, so pairs with these are added."""
    for before, after in zip(written, renamed, strict=True):
        yield after
        if before.first in own and before.second in own and before != after:
            yield replace(after, second=before.second)
            if before.first != before.second:
                yield replace(after, first=before.first)


def _named(machine: Machine, pose: Pose, name: str) -> _Named:
    member = Member(machine, pose, name)
    return _Named(member, prefixed(machine, member.prefix), _base_joint(member))


def _base_joint(member: Member) -> Joint:
    """The joint between the root of the fleet and the root link of a member."""
    root = f"{member.prefix}{member.machine.root}"
    if member.machine.floating_base:
        return Joint(member.joint, "floating", ROOT, root)
    return Joint(member.joint, "fixed", ROOT, root, member.pose or Pose())


def _check_names(members: Mapping[str, Member]) -> None:
    for name, member in members.items():
        require_type("member", member, Member, "a Member(machine, pose)")
        if not isinstance(name, str) or name != name.strip("/ "):
            raise ParameterError("member", name, "a name without a slash or blank at its ends")
        if member.machine.members:
            raise ParameterError("member", name, "a single machine, not a fleet")
    for name in members:
        for slash in (place for place, letter in enumerate(name) if letter == "/"):
            if name[:slash] in members:
                raise ParameterError(
                    "member", name, f"a name that does not begin with '{name[:slash]}/', a member's prefix"
                )


def _refuse_misread_names(machine: Machine) -> None:
    """Refuses names of the member without prefix that begin like those of another member, and repeated names."""
    taken: dict[tuple[str, str], str] = {}
    numbers = {member.name: number for number, member in enumerate(machine.members)}
    for member in machine.members:
        if member.name == "":
            for what, name in _own_names(member.machine):
                if machine.member_of(name) != numbers[""]:
                    other = machine.members[machine.member_of(name)].name
                    raise MachineError(
                        f"its {what} '{name}' begins like the names of the member '{other}'",
                        file=member.machine.file,
                        remedy="name that member otherwise",
                    )
    for joint in machine.joints:
        if taken.setdefault(("joint", joint.name), joint.child) != joint.child:
            raise MachineError(
                f"'{joint.name}' is the name of two joints, one of which holds the root link of a member",
                file=machine.file,
                remedy="rename the other one",
            )


def _own_names(machine: Machine):
    """Yields kind and name of everything in a machine that has a name."""
    yield from (("link", link.name) for link in machine.links)
    yield from (("joint", joint.name) for joint in machine.joints)
    for kind in _kept_kinds():
        names = [attribute.name for attribute in kind.attributes if attribute.kind in _NAMES]
        for element in machine.elements(kind.field):
            yield from ((kind.tag, name) for name in (getattr(element, each, None) for each in names) if name)


def _check_one_oil(members: Collection[Member]) -> None:
    """All members with hydraulics must have the same oil."""
    oils = [
        (member.name, member.machine.fluid or Fluid(), member.machine.file)
        for member in members
        if any(getattr(member.machine, field) for field in PORTS)
    ]
    for (name, oil, _), (other, other_oil, file) in product(oils[:1], oils[1:]):
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
    for (name, method, _), (other, other_method, file) in product(methods[:1], methods[1:]):
        if method != other_method:
            raise MachineError(
                f"the integrator of member '{other}' is {other_method}, that of member '{name}' {method}",
                file=file,
                element="<integrator>",
                remedy="machines that share a simulation share their integrator",
            )
