"""What the elements of ``<grouser>`` say of links, joints and each other: it must hold together.

Each concern has its file: `hydraulic_checks`, `circuit_checks`, `joint_checks`, `contact_checks`,
`compliance_checks`, `loop_checks`, `wheel_checks`.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Link
from grouser.physics.description.data.shapes import PointSet
from grouser.physics.description.elements.compliant_joints import complete_compliant_joint
from grouser.physics.description.elements.contact import (
    check_disabled_collisions,
    check_material_pairs,
    complete_contact,
)
from grouser.physics.description.elements.flexible_links import check_flexible_links_have_mass, complete_flexible_link
from grouser.physics.description.elements.hydraulics.circuit_checks import check_circuit
from grouser.physics.description.elements.hydraulics.family import (
    check_check_valve,
    check_fluid,
    check_motor,
    check_orifice,
    complete_cylinder,
    complete_pump,
    complete_valve,
)
from grouser.physics.description.elements.initial_positions import check_initial_position
from grouser.physics.description.elements.joint_friction import complete_friction
from grouser.physics.description.elements.loop_joints import check_loops_can_move, complete_loop_joint
from grouser.physics.description.elements.sensors import complete_sensor
from grouser.physics.description.elements.servo_drives import complete_drive
from grouser.physics.description.elements.spherical_joints import torque_drives
from grouser.physics.description.elements.wheels import complete_wheel
from grouser.physics.description.machine_file.registry import ELEMENTS
from grouser.physics.description.table.attributes import Kind
from grouser.physics.description.table.family import Entry, Extension
from grouser.physics.description.text.names import closest
from grouser.physics.description.urdf.placement import initial_positions, link_poses, point_on_link, rigid_lumps
from grouser.physics.description.urdf.robot import Robot

# A cylinder may start this far [m] outside its stroke: initial joint positions are written with few digits.
STROKE_TOLERANCE = 1e-3

# Elements that are checked by themselves, by their field.
_CHECKS: Mapping[str, Callable[[Entry], None]] = {
    "fluid": check_fluid,
    "check_valves": check_check_valve,
    "orifices": check_orifice,
}


def check_references(extension: Extension, robot: Robot) -> None:
    """Checks that every link, joint and valve that an element names is there.

    Raises:
        MachineError: a reference to nothing.
    """
    known: Mapping[Kind, Collection[str]] = {
        Kind.LINK: robot.link_elements,
        Kind.JOINT: robot.joint_elements,
        Kind.VALVE: _names(extension["valves"]),
    }
    for kind in ELEMENTS:
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


def complete_extension(extension: Extension, robot: Robot) -> Extension:
    """Checks every relation that needs no geometry, and fills the defaults that depend on others.

    Args:
        extension: with references that are there.
        robot: its links with their contact points, its spherical joints as such.

    Raises:
        MachineError: values that contradict each other.
    """
    links = {link.name: link for link in robot.links}
    joints = {joint.name: joint for joint in robot.joints}
    valves = {entry.value.name: complete_valve(entry) for entry in extension["valves"]}
    materials = {entry.value.material for entry in extension["contacts"]} - {""}
    for name, check in _CHECKS.items():
        for entry in extension[name]:
            check(entry)
    for entry in extension["hydraulic_motors"]:
        check_motor(entry, joints)
    check_material_pairs(extension["material_pairs"], materials)
    check_disabled_collisions(extension["disabled_collisions"])
    for entry in extension["initial_positions"]:
        check_initial_position(entry, joints)
    for entry in extension["densities"]:
        _check_density(entry, links)
    completions: dict[str, Callable[[Entry], Any]] = {
        "pumps": complete_pump,
        "valves": complete_valve,
        "cylinders": lambda entry: complete_cylinder(entry, valves),
        "contacts": lambda entry: complete_contact(entry, links, joints),
        "frictions": lambda entry: complete_friction(entry, joints),
        "drives": lambda entry: complete_drive(entry, joints, valves),
        "compliant_joints": lambda entry: complete_compliant_joint(entry, joints),
        "loop_joints": lambda entry: complete_loop_joint(entry, joints),
        "flexible_links": complete_flexible_link,
        "wheels": lambda entry: complete_wheel(entry, links, joints),
        "sensors": lambda entry: complete_sensor(entry, {*links, *joints}),
    }
    completed = {
        name: tuple(Entry(entry.element, complete(entry)) for entry in extension[name])
        for name, complete in completions.items()
    }
    completed["drives"] += torque_drives(extension["spherical_joints"], {*joints, *valves})
    return {**extension, **completed}


def check_machine(machine: Machine, extension: Extension) -> None:
    """Checks what depends on the whole machine: circuit, fit of cylinders, motion of loops, mass of flexible links.

    Raises:
        MachineError: one does not.
    """
    check_circuit(machine, extension)
    _check_cylinders_fit(machine, extension["cylinders"])
    check_flexible_links_have_mass(machine, extension["flexible_links"])
    check_loops_can_move(machine, extension["loop_joints"])


def _check_cylinders_fit(machine: Machine, entries: Collection[Entry]) -> None:
    """Checks that every cylinder joins two parts that move against each other, and starts within its stroke."""
    if not entries:
        return
    lumps = rigid_lumps(machine)
    poses = link_poses(machine, initial_positions(machine))
    for entry in entries:
        cylinder = entry.value
        if lumps[cylinder.barrel.link] == lumps[cylinder.rod.link]:
            raise entry.element.error(
                f"its links '{cylinder.barrel.link}' and '{cylinder.rod.link}' are rigidly joined: it cannot move",
                "attach its ends to links with a movable joint between them",
            )
        ends = [point_on_link(poses[end.link], end.xyz) for end in (cylinder.barrel, cylinder.rod)]
        length = float(np.linalg.norm(ends[1] - ends[0]))
        shortest, longest = cylinder.retracted_length, cylinder.retracted_length + cylinder.stroke
        if not shortest - STROKE_TOLERANCE <= length <= longest + STROKE_TOLERANCE:
            raise entry.element.error(
                f"at the initial joint positions its attachments are {length:.4f} m apart; "
                f"valid: {shortest:g} to {longest:g} m (retracted_length to retracted_length + stroke)",
                "change the initial positions, the attachments or the lengths",
            )


def _names(entries: Collection[Entry]) -> set[str]:
    return {entry.value.name for entry in entries}


def _check_density(entry: Entry, links: Mapping[str, Link]) -> None:
    link = links[entry.value.link]
    if link.inertial is not None:
        raise entry.element.error(f"link '{link.name}' has an <inertial> already", "remove one of the two")
    if all(isinstance(collision.geometry, PointSet) for collision in link.collisions):
        raise entry.element.error(
            f"link '{link.name}' has no collision shape to fill", "give it a <collision> or an <inertial>"
        )
