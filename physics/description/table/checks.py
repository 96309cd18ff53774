"""Runs the checks of all families of elements."""

from collections.abc import Collection, Iterable, Mapping

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.table.attributes import ElementKind, Kind
from grouser.physics.description.table.family import Entry, Extension, Family, Scope
from grouser.physics.description.text.names import closest
from grouser.physics.description.urdf.robot import Robot


def check_references(elements: Iterable[ElementKind], extension: Extension, robot: Robot) -> None:
    """Checks that every link, joint and valve that an element names exists.

    Args:
        elements: the table.
        extension: the elements.
        robot: links and joints.

    Raises:
        MachineError: a name does not exist.
    """
    known: Mapping[Kind, Collection[str]] = {
        Kind.LINK: robot.link_elements,
        Kind.JOINT: robot.joint_elements,
        Kind.VALVE: {entry.value.name for entry in extension.get("valves", ())},
    }
    for kind in elements:
        for entry in extension[kind.field]:
            holders = [(entry.element, entry.value, kind)]
            for part in (one for one in kind.parts if not one.repeated):
                held = entry.element.optional(part.tag)
                if held is not None:
                    holders.append((held, getattr(entry.value, part.tag), part))
            for element, value, holder_kind in holders:
                for attribute in holder_kind.attributes:
                    name = getattr(value, attribute.name) if attribute.kind in known else None
                    if name is not None and name not in known[attribute.kind]:
                        raise element.error(
                            f"{attribute.name} = '{name[:80]}': there is no such {attribute.kind.value}",
                            closest(name, known[attribute.kind]),
                        )


def prepare_robot(families: Iterable[Family], robot: Robot, extension: Extension, warnings: list[str]) -> Robot:
    """Applies the elements that change links and joints.

    Args:
        families: all families.
        robot: from the URDF.
        extension: elements with valid references.
        warnings: list to which warnings are appended.

    Returns:
        The changed robot.

    Raises:
        MachineError: an element does not fit its link or joint.
    """
    for family in families:
        if family.prepare is not None:
            robot = family.prepare(robot, extension, warnings)
    return robot


def complete_extension(families: Collection[Family], extension: Extension, robot: Robot) -> Extension:
    """Checks every element, and fills in defaults that depend on other values.

    Args:
        families: all families.
        extension: elements with valid references.
        robot: from `prepare_robot`.

    Raises:
        MachineError: values that contradict each other.
    """
    scope = Scope({link.name: link for link in robot.links}, {joint.name: joint for joint in robot.joints}, extension)
    completed = dict(extension)
    for family in families:
        for field, complete in family.complete.items():
            completed[field] = tuple(Entry(entry.element, complete(entry, scope)) for entry in extension[field])
    for family in families:
        if family.derive is not None:
            for field, entries in family.derive(scope).items():
                completed[field] += entries
    return completed


def check_machine(families: Iterable[Family], machine: Machine, extension: Extension) -> None:
    """Runs the checks that need several elements or the whole machine.

    Args:
        families: all families.
        machine: with all defaults filled in.
        extension: its elements, for messages.

    Raises:
        MachineError: a check failed.
    """
    for family in families:
        if family.check is not None:
            family.check(machine, extension)
