"""Initial joint positions and link poses, masses of subtrees and rigidly joined links, in plain Python and numpy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ONE_COORDINATE, Joint
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import compose, matrix, quaternion_about, quaternion_from_rpy
from grouser.physics.description.urdf.tree import in_tree_order


def initial_positions(machine: Machine) -> dict[str, float]:
    """Returns the initial position of every joint with one coordinate [rad or m], in the order of the joints.

    It is the ``<initial_position>``, else zero or the limit nearest to zero; a mimic follows its joint.
    """
    given = {start.joint: start.position for start in machine.initial_positions}
    own = {
        joint.name: given.get(joint.name, _nearest_to_zero(joint))
        for joint in machine.joints
        if joint.type in ONE_COORDINATE and joint.mimic is None
    }
    positions = {}
    for joint in machine.joints:
        if joint.mimic is not None:
            positions[joint.name] = joint.mimic.multiplier * own[joint.mimic.joint] + joint.mimic.offset
        elif joint.name in own:
            positions[joint.name] = own[joint.name]
    return positions


def initial_poses(machine: Machine) -> dict[str, Pose]:
    """Returns the initial pose of the child in the joint's frame, for spherical and floating joints that give one."""
    turned = {
        j.joint: Pose(quaternion=quaternion_from_rpy(*j.rpy)) for j in machine.spherical_joints if j.rpy is not None
    }
    free = {member.joint: member.pose or Pose() for member in machine.members if member.machine.floating_base}
    return turned | free


def link_poses(machine: Machine, positions: Mapping[str, float]) -> dict[str, Pose]:
    """Returns the pose of every link in the root link's frame.

    Args:
        machine: the machine.
        positions: of joints with one coordinate [rad or m]. Spherical joints and members of a fleet are at their
            initial pose, other joints (planar, floating) at their origin.
    """
    starts = initial_poses(machine)
    above = {joint.child: joint for joint in machine.joints}
    poses = {machine.root: Pose()}
    for link in in_tree_order(machine.root, machine.joints)[1:]:
        joint = above[link]
        frame = compose(poses[joint.parent], joint_frame(joint, positions))
        if joint.name in starts:
            frame = compose(frame, starts[joint.name])
        poses[link] = frame
    return poses


def joint_frame(joint: Joint, positions: Mapping[str, float]) -> Pose:
    """Returns the pose of a joint's child in the parent link's frame.

    Args:
        joint: the joint.
        positions: of joints with one coordinate [rad or m]; others are at their origin.
    """
    position = positions.get(joint.name, 0.0)
    if joint.type == "prismatic":
        x, y, z = joint.axis
        return compose(joint.pose, Pose((x * position, y * position, z * position)))
    if joint.type in ONE_COORDINATE:
        return compose(joint.pose, Pose(quaternion=quaternion_about(joint.axis, position)))
    return joint.pose


def point_on_link(pose: Pose, point: tuple[float, float, float]) -> np.ndarray:
    """Returns a point of a link in the reference frame of the link's pose [m], shape (3,)."""
    return np.array(compose(pose, Pose(point)).position)


@dataclass(frozen=True)
class SubtreeMass:
    """Mass properties of a link with its subtree, in the root link's frame.

    Attributes:
        mass: [kg].
        centre: centre of mass [m], shape (3,); zero without mass.
        inertia: about the root link's origin [kg m2], shape (3, 3).
    """

    mass: float
    centre: np.ndarray
    inertia: np.ndarray

    def about_axis(self, point: np.ndarray, direction: np.ndarray) -> float:
        """Returns the moment of inertia about a line through `point` along the unit vector `direction` [kg m2]."""
        about_centre = direction @ self.inertia @ direction - self.mass * _lever(self.centre, direction)
        return float(about_centre + self.mass * _lever(self.centre - point, direction))


def _lever(arm: np.ndarray, direction: np.ndarray) -> float:
    """Square of the distance of the arm's end from the line through its start."""
    return float(arm @ arm - (arm @ direction) ** 2)


def subtree_masses(machine: Machine, poses: Mapping[str, Pose]) -> dict[str, SubtreeMass]:
    """Returns the mass properties of every link with its subtree.

    Args:
        machine: the machine.
        poses: of every link in the root link's frame.
    """
    order = in_tree_order(machine.root, machine.joints)
    index = {name: place for place, name in enumerate(order)}
    mass, moment, inertia = np.zeros(len(order)), np.zeros((len(order), 3)), np.zeros((len(order), 3, 3))
    for link in machine.links:
        if link.inertial is None:
            continue
        at = index[link.name]
        frame = compose(poses[link.name], link.inertial.pose)
        centre, rotation = np.array(frame.position), matrix(frame.quaternion)
        ixx, ixy, ixz, iyy, iyz, izz = link.inertial.inertia
        own = rotation @ np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]) @ rotation.T
        mass[at] = link.inertial.mass
        moment[at] = mass[at] * centre
        inertia[at] = own + mass[at] * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    parent = {joint.child: index[joint.parent] for joint in machine.joints}
    for at in range(len(order) - 1, 0, -1):
        above = parent[order[at]]
        mass[above] += mass[at]
        moment[above] += moment[at]
        inertia[above] += inertia[at]
    return {
        name: SubtreeMass(float(mass[at]), moment[at] / mass[at] if mass[at] > 0.0 else np.zeros(3), inertia[at])
        for name, at in index.items()
    }


def rigid_lumps(machine: Machine) -> dict[str, str]:
    """Returns, for every link, the topmost link that it is rigidly joined to; itself if it moves.

    Links on compliant fixed joints, or fixed to flexible links, move.
    """
    above = {joint.child: joint for joint in machine.joints}
    compliant = {compliance.joint for compliance in machine.compliant_joints}
    flexible = {bending.link for bending in machine.flexible_links}
    flexible |= {link.name for link in machine.links if link.elastic}
    lump = {machine.root: machine.root}
    for link in in_tree_order(machine.root, machine.joints)[1:]:
        joint = above[link]
        rigid = joint.type == "fixed" and joint.name not in compliant and joint.parent not in flexible
        lump[link] = lump[joint.parent] if rigid else link
    return lump


def are_rigidly_joined(machine: Machine, lumps: dict[str, str], one: Any, other: Any) -> bool:
    """Whether two points of links cannot move relative to each other.

    Args:
        machine: the machine.
        lumps: of `rigid_lumps`.
        one, other: each with `link`, and `xyz` in its frame.
    """
    bending = {flexible.link: flexible for flexible in machine.flexible_links}
    bent = (end for end in (one, other) if end.link in bending and along_axis(bending[end.link], end.xyz) > 0.0)
    return lumps[one.link] == lumps[other.link] and not any(bent)


def along_axis(flexible: Any, xyz: Vector3) -> float:
    """Place of a point of a flexible link's frame along the elastic axis, from its start [m]."""
    return float((np.array(xyz) - flexible.xyz) @ elastic_axis(flexible))


def elastic_axis(flexible: Any) -> np.ndarray:
    """Direction of the elastic axis in the link's frame, (3,)."""
    return matrix(quaternion_from_rpy(*flexible.rpy))[:, 0]


def _nearest_to_zero(joint: Joint) -> float:
    lower = -np.inf if joint.limit.lower is None else joint.limit.lower
    upper = np.inf if joint.limit.upper is None else joint.limit.upper
    return float(min(max(0.0, lower), upper))
