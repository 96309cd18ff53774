"""Spherical joints: ``<spherical_joint>`` makes one of a floating joint, as URDF has no such type."""

from collections.abc import Mapping
from dataclasses import replace

from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.mechanism import Joint, SphericalJoint, axis_name
from grouser.physics.description.data.pose import AXES
from grouser.physics.description.table.attributes import Attribute, ElementKind, Kind, joint, non_negative
from grouser.physics.description.table.family import Entry, Extension, Family, Scope
from grouser.physics.description.urdf.robot import Robot

SPHERICAL_JOINT = ElementKind(
    "spherical_joint",
    "Makes a floating joint spherical: a ball joint with three rotations. A joint of the type `spherical`, which "
    "URDF does not have but others read, is one without this element, too. Torques about the child's axes are "
    "commanded as efforts by the names `joint/x`, `joint/y` and `joint/z`, where `joint` is its name. `joint_states` "
    "has three entries of these names: as positions the rotation vector from the joint's frame to the child's (axis "
    "times an angle of at most pi), as velocities and efforts angular velocity and torques about the child's axes. The "
    "orientation is also on `/tf`, by the simulator even beside a robot_state_publisher, which does not know it.",
    (
        joint("floating joint, or one of the type spherical"),
        non_negative(
            "effort_limit", "N m", "largest torque about each axis; 0: torques cannot be commanded", default=0.0
        ),
        non_negative("damping", "N m s/rad", "viscous coefficient, in addition to that of `<dynamics>`", default=0.0),
        Attribute(
            "rpy",
            Kind.ANGLES,
            "rad",
            "initial orientation of the child in the joint's frame: roll, pitch, yaw",
            default_text="0 0 0, or the orientation at which loops close",
        ),
    ),
    SphericalJoint,
    field="spherical_joints",
    unique="joint",
)


def with_spherical_joints(robot: Robot, extension: Extension, _warnings: list[str]) -> Robot:
    """Makes the joints of ``<spherical_joint>`` elements spherical.

    Raises:
        MachineError: a joint is neither floating nor spherical.
    """
    spherical: Mapping[str, Entry] = {entry.value.joint: entry for entry in extension["spherical_joints"]}
    joints = (_spherical(joint, spherical[joint.name]) if joint.name in spherical else joint for joint in robot.joints)
    return replace(robot, joints=tuple(joints))


def torque_drives(scope: Scope) -> Mapping[str, tuple[Entry, ...]]:
    """Returns torque drives about the three axes of spherical joints with an effort limit.

    Args:
        scope: joints and valves, whose commands share the names of drives.

    Raises:
        MachineError: a joint or valve has the name of an axis.
    """
    drives, valves = [], scope.named("valves")
    for entry in scope.extension["spherical_joints"]:
        joint = entry.value
        if joint.effort_limit == 0.0:
            continue
        for axis in AXES:
            name = axis_name(joint.joint, axis)
            if name in scope.joints or name in valves:
                raise entry.element.error(
                    f"a joint or valve is named '{name}', as its {axis} axis is: commands go by name", "rename one"
                )
            drives.append(Entry(entry.element, ServoDrive(name, "effort", 0.0, 0.0, joint.effort_limit)))
    return {"drives": tuple(drives)}


def _spherical(joint: Joint, entry: Entry) -> Joint:
    if joint.type not in ("floating", "spherical"):
        raise entry.element.error(
            f"joint '{joint.name}' is {joint.type}", 'give the joint type="floating": it loses its translations here'
        )
    return replace(joint, type="spherical", damping=joint.damping + entry.value.damping)


FAMILY = Family((SPHERICAL_JOINT,), prepare=with_spherical_joints, derive=torque_drives)
