"""What the elements of ``<grouser>`` say of links, joints and each other: it must hold together."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from grouser.physics.description.extension import Entry, Extension
from grouser.physics.description.extension_schema import ELEMENTS, Kind
from grouser.physics.description.joints import ONE_COORDINATE
from grouser.physics.description.machine import Joint, Link, Machine
from grouser.physics.description.names import closest
from grouser.physics.description.placement import initial_positions, link_poses, point_on_link, rigid_lumps
from grouser.physics.description.urdf import Robot
from grouser.physics.description.xml_tree import Element

# A cylinder may start this far [m] outside its stroke: initial joint positions are written with few digits.
STROKE_TOLERANCE = 1e-3


def complete_extension(extension: Extension, robot: Robot) -> Extension:
    """Checks every reference and relation that needs no geometry, and fills the defaults that depend on others.

    Raises:
        MachineError: a reference to nothing, or values that contradict each other.
    """
    links = {link.name: link for link in robot.links}
    joints = {joint.name: joint for joint in robot.joints}
    _check_references(extension, {Kind.LINK: links, Kind.JOINT: joints, Kind.VALVE: _names(extension["valves"])})
    _check_hydraulics(extension)
    for entry in extension["initial_positions"]:
        _check_initial_position(entry, joints)
    for entry in extension["densities"]:
        _check_density(entry, links)
    return {
        **extension,
        "contacts": tuple(_complete_contact(entry, links, joints) for entry in extension["contacts"]),
        "frictions": tuple(_complete_friction(entry, joints) for entry in extension["frictions"]),
        "drives": tuple(_complete_drive(entry, joints, _names(extension["valves"])) for entry in extension["drives"]),
    }


def check_cylinders_fit(machine: Machine, entries: Collection[Entry]) -> None:
    """Checks that every cylinder joins two parts that move against each other, and starts within its stroke.

    Raises:
        MachineError: one does not.
    """
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


def _check_references(extension: Extension, known: Mapping[Kind, Collection[str]]) -> None:
    for kind in ELEMENTS:
        for entry in extension[kind.field]:
            holders = [(entry.element, entry.value, kind)]
            holders += [(entry.element.required(part.tag), getattr(entry.value, part.tag), part) for part in kind.parts]
            for element, value, holder_kind in holders:
                for attribute in holder_kind.attributes:
                    name = getattr(value, attribute.name)
                    if attribute.kind in known and name is not None and name not in known[attribute.kind]:
                        raise element.error(
                            f"{attribute.name} = '{name[:80]}': there is no such {attribute.kind.value}",
                            closest(name, known[attribute.kind]),
                        )


def _check_hydraulics(extension: Extension) -> None:
    pumps, cylinders = extension["pumps"], extension["cylinders"]
    for entry in pumps:
        pump = entry.value
        if pump.tank_pressure >= pump.supply_pressure:
            raise entry.element.error(
                f"tank_pressure = {pump.tank_pressure:g} Pa is not below supply_pressure = {pump.supply_pressure:g} Pa"
            )
    if len(pumps) > 1:
        raise pumps[1].element.error("there are two pumps; one pump feeds all valves", "keep one of them")
    fed: dict[str, str] = {}
    for entry in cylinders:
        cylinder = entry.value
        if not pumps:
            raise entry.element.error("a cylinder needs a supply", "add <pump supply_pressure=.../> to <grouser>")
        if not extension["fluid"]:
            raise entry.element.error("a cylinder needs oil", "add <fluid/> to <grouser>")
        if cylinder.rod_diameter >= cylinder.bore:
            raise entry.element.error(
                f"rod_diameter = {cylinder.rod_diameter:g} m is not below bore = {cylinder.bore:g} m"
            )
        if cylinder.valve in fed:
            raise entry.element.error(
                f"valve '{cylinder.valve}' already feeds cylinder '{fed[cylinder.valve]}'",
                "give each cylinder its own valve",
            )
        fed[cylinder.valve] = cylinder.name
    for entry in extension["valves"]:
        if entry.value.name not in fed:
            raise entry.element.error(
                f"valve '{entry.value.name}' feeds no cylinder", "name it in a cylinder, or remove it"
            )


def _complete_contact(entry: Entry, links: Mapping[str, Link], joints: Mapping[str, Joint]) -> Entry:
    contact, element = entry.value, entry.element
    if not links[contact.link].collisions:
        raise element.error(
            f"link '{contact.link}' has no collision shape", "give it a <collision>, or remove the contact"
        )
    if contact.damping > 0.0 and contact.stiffness is None:
        raise element.error("damping is given without stiffness", "give both, or neither for a rigid contact")
    if contact.restitution > 0.0 and contact.stiffness is not None:
        raise element.error(
            "restitution and stiffness are both given", "an elastic contact returns what its damping leaves"
        )
    if contact.surface_joint is None:
        if "surface_radius" in element.attributes or "surface_direction" in element.attributes:
            raise element.error(
                "surface_radius or surface_direction is given without surface_joint", "name the surface_joint"
            )
        return Entry(element, replace(contact, surface_radius=0.0))
    _one_coordinate(element, "surface_joint", joints[contact.surface_joint])
    if contact.surface_radius is None:
        raise element.error("surface_joint is given without surface_radius", "give the surface_radius [m]")
    return entry


def _complete_friction(entry: Entry, joints: Mapping[str, Joint]) -> Entry:
    friction, element = entry.value, entry.element
    _one_coordinate(element, "joint", joints[friction.joint])
    kinetic = friction.static if friction.kinetic is None else friction.kinetic
    if kinetic > friction.static:
        raise element.error(f"kinetic = {kinetic:g} is above static = {friction.static:g}", "swap them")
    return Entry(element, replace(friction, kinetic=kinetic))


def _complete_drive(entry: Entry, joints: Mapping[str, Joint], valves: Collection[str]) -> Entry:
    drive, element = entry.value, entry.element
    joint = joints[drive.joint]
    _independent(element, joint)
    if drive.joint in valves:
        raise element.error(
            f"a valve is named '{drive.joint}' too: commands go by name", "rename the valve or the joint"
        )
    if drive.mode == "position" and drive.stiffness == 0.0:
        raise element.error("a drive in position mode needs a stiffness above 0", "give the stiffness [N m/rad or N/m]")
    if drive.mode == "velocity" and drive.damping == 0.0:
        raise element.error("a drive in velocity mode needs a damping above 0", "give the damping [N m s/rad or N s/m]")
    limit = joint.limit.effort if drive.effort_limit is None else drive.effort_limit
    if not 0.0 < limit < np.inf:
        raise element.error(
            f"joint '{joint.name}' gives no effort limit above 0",
            "give effort_limit here, or effort in the joint's <limit>",
        )
    return Entry(element, replace(drive, effort_limit=limit))


def _check_initial_position(entry: Entry, joints: Mapping[str, Joint]) -> None:
    start, element = entry.value, entry.element
    joint = joints[start.joint]
    _independent(element, joint)
    lower, upper = joint.limit.lower, joint.limit.upper
    if lower is not None and upper is not None and not lower <= start.position <= upper:
        raise element.error(
            f"position = {start.position:g} is outside the limits of its joint; valid: {lower:g} to {upper:g}"
        )


def _check_density(entry: Entry, links: Mapping[str, Link]) -> None:
    link = links[entry.value.link]
    if link.inertial is not None:
        raise entry.element.error(f"link '{link.name}' has an <inertial> already", "remove one of the two")
    if not link.collisions:
        raise entry.element.error(
            f"link '{link.name}' has no collision shape to fill", "give it a <collision> or an <inertial>"
        )


def _one_coordinate(element: Element, attribute: str, joint: Joint) -> None:
    if joint.type not in ONE_COORDINATE:
        raise element.error(
            f"{attribute} '{joint.name}' is {joint.type}",
            f"name a joint with one coordinate: {', '.join(ONE_COORDINATE)}",
        )


def _independent(element: Element, joint: Joint) -> None:
    _one_coordinate(element, "joint", joint)
    if joint.mimic is not None:
        raise element.error(f"joint '{joint.name}' mimics '{joint.mimic.joint}'", f"name '{joint.mimic.joint}' instead")
