"""What the elements of ``<grouser>`` say of joints with one coordinate: friction, drives, initial positions."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from grouser.physics.description.data.drives import Gear, ServoDrive
from grouser.physics.description.data.mechanism import ONE_COORDINATE, Joint, JointFriction
from grouser.physics.description.table.family import Entry
from grouser.physics.description.text.xml_tree import Element

# Laws of dry friction that an attribute belongs to.
_LAWS_WITH = {
    "stribeck_speed": ("stribeck", "lugre"),
    "bristle_stiffness": ("lugre",),
    "bristle_damping": ("lugre",),
}


def complete_friction(entry: Entry, joints: Mapping[str, Joint]) -> JointFriction:
    """Checks the friction of a joint; the kinetic level is the static one unless it is given.

    Raises:
        MachineError: a joint without one coordinate, a kinetic level above the static one, or attributes that do not go
            with the law.
    """
    friction, element = entry.value, entry.element
    require_one_coordinate(element, "joint", joints[friction.joint])
    kinetic = friction.static if friction.kinetic is None else friction.kinetic
    if kinetic > friction.static:
        raise element.error(f"kinetic = {kinetic:g} is above static = {friction.static:g}", "swap them")
    if friction.law == "coulomb" and kinetic != friction.static:
        raise element.error(
            f"law coulomb has one level, and there are static = {friction.static:g} and kinetic = {kinetic:g}",
            "leave kinetic out, or use law two_state",
        )
    if friction.law == "lugre" and kinetic == 0.0:
        raise element.error("law lugre needs levels above 0: its bristles could bear nothing", "give both, above 0")
    given = {
        "stribeck_speed": friction.stribeck_speed is not None,
        "bristle_stiffness": friction.bristle_stiffness is not None,
        "bristle_damping": friction.bristle_damping > 0.0,
    }
    for attribute, laws in _LAWS_WITH.items():
        if given[attribute] and friction.law not in laws:
            raise element.error(
                f"law {friction.law} has no {attribute}", f"leave it out, or use law {' or '.join(laws)}"
            )
        if friction.law in laws and not given[attribute] and attribute != "bristle_damping":
            raise element.error(f"law {friction.law} needs a {attribute}", f"give {attribute}, above 0")
    return replace(friction, kinetic=kinetic)


def complete_drive(entry: Entry, joints: Mapping[str, Joint], valves: Collection[str]) -> ServoDrive:
    """Checks a drive; its effort limit is the joint's unless it is given.

    Args:
        entry: the drive as written.
        joints: by name.
        valves: names of the valves, which are commanded by name as drives are.

    Raises:
        MachineError: a joint that cannot be driven, a mode without its gain, no effort limit, or a motor or gear that
            cannot be.
    """
    drive, element = entry.value, entry.element
    joint = joints[drive.joint]
    require_independent(element, joint)
    if drive.joint in valves:
        raise element.error(
            f"a valve is named '{drive.joint}' too: commands go by name", "rename the valve or the joint"
        )
    drive = _complete_motor(drive, element)
    if drive.dc_motor is None:
        if drive.mode == "position" and drive.stiffness == 0.0:
            raise element.error(
                "a drive in position mode needs a stiffness above 0", "give the stiffness [N m/rad or N/m]"
            )
        if drive.mode == "velocity" and drive.damping == 0.0:
            raise element.error(
                "a drive in velocity mode needs a damping above 0", "give the damping [N m s/rad or N s/m]"
            )
    limit = joint.limit.effort if drive.effort_limit is None else drive.effort_limit
    if not 0.0 < limit < np.inf:
        raise element.error(
            f"joint '{joint.name}' gives no effort limit above 0",
            "give effort_limit here, or effort in the joint's <limit>",
        )
    return replace(drive, effort_limit=limit)


def _complete_motor(drive: ServoDrive, element: Element) -> ServoDrive:
    """Checks motor and gear; a motor without a gear turns with the joint.

    Raises:
        MachineError: they cannot be.
    """
    dc, magnet, gear = drive.dc_motor, drive.permanent_magnet_motor, drive.gear
    if dc is None and magnet is None:
        if gear is not None:
            raise element.error("a <gear> needs a motor", "add <dc_motor .../> or <permanent_magnet_motor .../>")
        return drive
    if dc is not None and magnet is not None:
        raise element.error("it has two motors", "keep <dc_motor> or <permanent_magnet_motor>")
    gear = Gear(1.0) if gear is None else gear
    if gear.stiffness is None and (gear.backlash > 0.0 or gear.damping > 0.0):
        name = "backlash" if gear.backlash > 0.0 else "damping"
        raise element.error(
            f"the gear's {name} = {getattr(gear, name):g} needs a stiffness", "give the gear's stiffness"
        )
    if dc is not None:
        for name in ("stiffness", "damping", "integral"):
            if getattr(drive, name) > 0.0:
                raise element.error(
                    f"{name} = {getattr(drive, name):g} belongs to a drive without <dc_motor>",
                    "the motor's gain and compensator take its place",
                )
        if gear.stiffness is not None and dc.rotor_inertia == 0.0:
            raise element.error(
                "an elastic gear needs a rotor_inertia above 0", "give the motor's rotor_inertia [kg m2]"
            )
    if magnet is not None:
        if gear.stiffness is not None:
            raise element.error(
                f"stiffness = {gear.stiffness:g} of a gear belongs to a <dc_motor>",
                "leave it out; a compliant_joint makes a joint elastic",
            )
        if magnet.no_load_speed <= magnet.base_speed:
            raise element.error(
                f"no_load_speed = {magnet.no_load_speed:g} is not above base_speed = {magnet.base_speed:g}", "swap them"
            )
        if magnet.rated_torque > magnet.peak_torque:
            raise element.error(
                f"rated_torque = {magnet.rated_torque:g} is above peak_torque = {magnet.peak_torque:g}", "swap them"
            )
    return replace(drive, gear=gear)


def check_initial_position(entry: Entry, joints: Mapping[str, Joint]) -> None:
    """Checks that a joint can start where it is said to.

    Raises:
        MachineError: it cannot.
    """
    start, element = entry.value, entry.element
    joint = joints[start.joint]
    require_independent(element, joint)
    lower, upper = joint.limit.lower, joint.limit.upper
    if lower is not None and upper is not None and not lower <= start.position <= upper:
        raise element.error(
            f"position = {start.position:g} is outside the limits of its joint; valid: {lower:g} to {upper:g}"
        )


def require_one_coordinate(element: Element, attribute: str, joint: Joint) -> None:
    """Refuses a joint with other than one coordinate.

    Raises:
        MachineError: it is one; `attribute` names it.
    """
    if joint.type not in ONE_COORDINATE:
        raise element.error(
            f"{attribute} '{joint.name}' is {joint.type}",
            f"name a joint with one coordinate: {', '.join(ONE_COORDINATE)}",
        )


def require_independent(element: Element, joint: Joint) -> None:
    """Refuses a joint with other than one coordinate of its own.

    Raises:
        MachineError: it is one.
    """
    require_one_coordinate(element, "joint", joint)
    if joint.mimic is not None:
        raise element.error(f"joint '{joint.name}' mimics '{joint.mimic.joint}'", f"name '{joint.mimic.joint}' instead")
