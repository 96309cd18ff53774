"""What the elements of ``<grouser>`` say of joints with one coordinate: friction, drives, initial positions."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from grouser.physics.description.extension import Entry
from grouser.physics.description.joints import ONE_COORDINATE
from grouser.physics.description.machine import Joint, JointFriction, ServoDrive
from grouser.physics.description.xml_tree import Element


def complete_friction(entry: Entry, joints: Mapping[str, Joint]) -> JointFriction:
    """Checks the friction of a joint; the kinetic level is the static one unless it is given.

    Raises:
        MachineError: a joint without one coordinate, or a kinetic level above the static one.
    """
    friction, element = entry.value, entry.element
    require_one_coordinate(element, "joint", joints[friction.joint])
    kinetic = friction.static if friction.kinetic is None else friction.kinetic
    if kinetic > friction.static:
        raise element.error(f"kinetic = {kinetic:g} is above static = {friction.static:g}", "swap them")
    return replace(friction, kinetic=kinetic)


def complete_drive(entry: Entry, joints: Mapping[str, Joint], valves: Collection[str]) -> ServoDrive:
    """Checks a drive; its effort limit is the joint's unless it is given.

    Args:
        entry: the drive as written.
        joints: by name.
        valves: names of the valves, which are commanded by name as drives are.

    Raises:
        MachineError: a joint that cannot be driven, a mode without its gain, or no effort limit.
    """
    drive, element = entry.value, entry.element
    joint = joints[drive.joint]
    require_independent(element, joint)
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
    return replace(drive, effort_limit=limit)


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
