"""What the elements say of links, joints and each other must hold together: the checks of all families, in order."""

from collections.abc import Collection, Iterable, Mapping

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.table.attributes import ElementKind, Kind
from grouser.physics.description.table.family import Entry, Extension, Family, Scope
from grouser.physics.description.text.names import closest
from grouser.physics.description.urdf.robot import Robot


def check_references(elements: Iterable[ElementKind], extension: Extension, robot: Robot) -> None:
    """Checks that every link, joint and valve that an element names is there.

    Args:
        elements: the table.
        extension: the elements that were read by it.
        robot: the links and joints.

    Raises:
        MachineError: a reference to nothing.
    """
    known: Mapping[Kind, Collection[str]] = {
        Kind.LINK: robot.link_elements,
        Kind.JOINT: robot.joint_elements,
        Kind.VALVE: {entry.value.name for entry in extension.get("valves", ())},
    }
    for kind in elements:
        for entry in extension[kind.field]:
            holders = [(entry.element, entry.value, kind)]
            for part in kind.parts:
                held = entry.element.optional(part.tag)
                if held is not None:
                    holders.append((held, getattr(entry.value, part.tag), part))
            for element, value, holder_kind in holders:
                for attribute in holder_kind.attributes:
                    name = getattr(value, attribute.name)
                    if attribute.kind in known and name is not None and name not in known[attribute.kind]:
                        raise element.error(
                            f"{attribute.name} = '{name[:80]}': there is no such {attribute.kind.value}",
                            closest(name, known[attribute.kind]),
                        )


def prepare_robot(families: Iterable[Family], robot: Robot, extension: Extension, warnings: list[str]) -> Robot:
    """Returns the robot with its links and joints changed as the elements say.

    Args:
        families: of the elements.
        robot: as the URDF gives it.
        extension: with references that are there.
        warnings: what is legal but probably not meant is added to it.

    Raises:
        MachineError: a link or joint that cannot be changed so.
    """
    for family in families:
        if family.prepare is not None:
            robot = family.prepare(robot, extension, warnings)
    return robot


def complete_extension(families: Collection[Family], extension: Extension, robot: Robot) -> Extension:
    """Checks every element, and fills in the defaults that depend on others.

    Args:
        families: of the elements.
        extension: with references that are there.
        robot: as it was prepared.

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
    """Checks what depends on several elements or on the whole machine.

    Args:
        families: of the elements.
        machine: with everything that its elements leave out filled in.
        extension: where its elements stand.

    Raises:
        MachineError: something does not hold together.
    """
    for family in families:
        if family.check is not None:
            family.check(machine, extension)
