"""Spherical joints: what ``<spherical_joint>`` makes of a floating joint of the URDF, which knows no ball joint."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.mechanism import Joint
from grouser.physics.description.data.pose import AXES
from grouser.physics.description.table.family import Entry


def axis_name(joint: str, axis: str) -> str:
    """Returns what commands call an axis, x, y or z, of the child of a spherical joint."""
    return f"{joint}/{axis}"


def with_spherical_joints(joints: Collection[Joint], entries: Collection[Entry]) -> tuple[Joint, ...]:
    """Returns the joints, of which those that the entries name keep their rotations only.

    Raises:
        MachineError: one of them is not floating.
    """
    spherical: Mapping[str, Entry] = {entry.value.joint: entry for entry in entries}
    return tuple(_spherical(joint, spherical[joint.name]) if joint.name in spherical else joint for joint in joints)


def torque_drives(entries: Collection[Entry], taken: Collection[str]) -> tuple[Entry, ...]:
    """Returns a drive, commanded by torque, about each axis of the joints that have an effort limit.

    Args:
        entries: of the spherical joints.
        taken: names of joints and valves, which are commanded by name as drives are.

    Raises:
        MachineError: a joint or valve has the name of an axis.
    """
    drives = []
    for entry in entries:
        joint = entry.value
        if joint.effort_limit == 0.0:
            continue
        for axis in AXES:
            name = axis_name(joint.joint, axis)
            if name in taken:
                raise entry.element.error(
                    f"a joint or valve is named '{name}', as its {axis} axis is: commands go by name", "rename one"
                )
            drives.append(Entry(entry.element, ServoDrive(name, "effort", 0.0, 0.0, joint.effort_limit)))
    return tuple(drives)


def _spherical(joint: Joint, entry: Entry) -> Joint:
    if joint.type != "floating":
        raise entry.element.error(
            f"joint '{joint.name}' is {joint.type}", 'give the joint type="floating": it loses its translations here'
        )
    return replace(joint, type="spherical", damping=joint.damping + entry.value.damping)
