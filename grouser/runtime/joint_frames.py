"""Frames of loop and compliant joints, in which their reactions are given."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose, Quaternion, Vector3
from grouser.physics.description.data.rotation import compose, quaternion_from_rpy


@dataclass(frozen=True)
class ReactionFrame:
    """The frame of a loop joint or a compliant joint.

    Attributes:
        joint: name of the joint.
        name: of the frame: ``<joint>_frame``, with a number appended if that name is taken.
        parent: the link that it is fixed to.
        pose: in that link's frame.
    """

    joint: str
    name: str
    parent: str
    pose: Pose


def reaction_frames(machine: Machine, taken: Collection[str]) -> list[ReactionFrame]:
    """Frames of the loop joints, then of the compliant joints of a machine.

    A loop joint's frame is that of its ``<parent>``. A compliant joint's frame is that of the URDF joint on its parent
    link, rotated by the smallest angle that brings its z axis onto the joint's axis, if it has one.

    Args:
        machine: the machine.
        taken: names of existing frames.
    """
    frames: list[ReactionFrame] = []
    for joint, parent, pose in _poses(machine):
        used = {*taken, *(frame.name for frame in frames)}
        name, number = f"{joint}_frame", 2
        while name in used:
            name, number = f"{joint}_frame_{number}", number + 1
        frames.append(ReactionFrame(joint, name, parent, pose))
    return frames


def turn_from_z(axis: Vector3) -> Quaternion:
    """The smallest rotation of the z axis onto a unit vector, x y z w; onto -z half a turn about x."""
    x, y, z = axis
    # 1 + z, without cancellation near -z
    rise = 1.0 + z if z > 0.0 else (x * x + y * y) / (1.0 - z)
    length = math.hypot(x, y, rise)
    if length == 0.0:
        return (1.0, 0.0, 0.0, 0.0)
    return (-y / length, x / length, 0.0, rise / length)


def _poses(machine: Machine) -> Iterator[tuple[str, str, Pose]]:
    """Name, parent link and pose of the frame of each loop joint and each compliant joint."""
    for loop in machine.loop_joints:
        yield loop.name, loop.parent.link, Pose(loop.parent.xyz, quaternion_from_rpy(*loop.parent.rpy))
    joints = {joint.name: joint for joint in machine.joints}
    for compliance in machine.compliant_joints:
        joint = joints[compliance.joint]
        turn = Pose() if joint.type == "fixed" else Pose(quaternion=turn_from_z(joint.axis))
        yield joint.name, joint.parent, compose(joint.pose, turn)
