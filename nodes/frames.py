"""The transform tree of a machine: from the poses of its links in the world to the transform of every joint.

Poses are arrays x y z qx qy qz qw: position [m], then unit quaternion.
"""

import math

import numpy as np

from grouser.physics.description.machine import Ground, Machine

FramePair = tuple[str, str]


class FrameTree:
    """Which transforms a machine has.

    A floating base moves in the odometry frame by way of its footprint on the ground; with a fixed base the tree begins
    at the root link, which is then the world.

    Args:
        machine: the machine.
        ground: the plane below it, or None in free space, where the footprint stays at height zero.
        odom_frame, base_footprint_frame: names of these frames.

    Attributes:
        base: (parent, child) of the transforms from the odometry frame to the root link.
        moving: (parent, child) of every joint that can move.
        fixed: (parent, child) of every fixed joint.
        fixed_poses: their poses, shape (number of fixed joints, 7).
    """

    def __init__(self, machine: Machine, ground: Ground | None, odom_frame: str, base_footprint_frame: str) -> None:
        index = {link.name: number for number, link in enumerate(machine.links)}
        fixed = [joint for joint in machine.joints if joint.type == "fixed"]
        moving = [joint for joint in machine.joints if joint.type != "fixed"]
        self.fixed: list[FramePair] = [(joint.parent, joint.child) for joint in fixed]
        self.fixed_poses = np.array([[*joint.pose.position, *joint.pose.quaternion] for joint in fixed]).reshape(-1, 7)
        self.moving: list[FramePair] = [(joint.parent, joint.child) for joint in moving]
        self._parents = np.array([index[joint.parent] for joint in moving], dtype=np.intp)
        self._children = np.array([index[joint.child] for joint in moving], dtype=np.intp)
        self._root = index[machine.root]
        self._ground = ground
        self.base: list[FramePair] = []
        if machine.floating_base and machine.root == base_footprint_frame:
            self.base = [(odom_frame, machine.root)]
        elif machine.floating_base:
            self.base = [(odom_frame, base_footprint_frame), (base_footprint_frame, machine.root)]

    def base_poses(self, link_poses: np.ndarray) -> np.ndarray:
        """Poses of the transforms `base`.

        Args:
            link_poses: of every link in the world, in the machine's order, shape (number of links, 7).

        Returns:
            Shape (0, 7) for a fixed base, (1, 7) where the root link is the footprint itself, else (2, 7).
        """
        root = link_poses[self._root]
        if len(self.base) < 2:
            return root[np.newaxis][: len(self.base)]
        footprint = footprint_pose(root, self._ground)
        return np.vstack([footprint, relative_poses(footprint[np.newaxis], root[np.newaxis])])

    def moving_poses(self, link_poses: np.ndarray) -> np.ndarray:
        """Poses of the transforms `moving`, shape (number of moving joints, 7), from those of the links."""
        return relative_poses(link_poses[self._parents], link_poses[self._children])


def relative_poses(parents: np.ndarray, children: np.ndarray) -> np.ndarray:
    """Poses of children in the frames of their parents, all given in one frame; shapes (n, 7)."""
    px, py, pz, pw = parents[:, 3:].T
    cx, cy, cz, cw = children[:, 3:].T
    dx, dy, dz = (children[:, :3] - parents[:, :3]).T
    # Rotation by the inverse of the parent's quaternion: d - 2 w (u x d) + 2 u x (u x d).
    sx, sy, sz = py * dz - pz * dy, pz * dx - px * dz, px * dy - py * dx
    result = np.empty((len(parents), 7))
    result[:, 0] = dx + 2.0 * (py * sz - pz * sy - pw * sx)
    result[:, 1] = dy + 2.0 * (pz * sx - px * sz - pw * sy)
    result[:, 2] = dz + 2.0 * (px * sy - py * sx - pw * sz)
    result[:, 3] = pw * cx - px * cw - py * cz + pz * cy
    result[:, 4] = pw * cy - py * cw - pz * cx + px * cz
    result[:, 5] = pw * cz - pz * cw - px * cy + py * cx
    result[:, 6] = pw * cw + px * cx + py * cy + pz * cz
    return result


def footprint_pose(base: np.ndarray, ground: Ground | None) -> np.ndarray:
    """Pose of the footprint: straight below the base on the ground, turned by the base's yaw only (REP-105, REP-120).

    Args:
        base: pose of the base in the world, shape (7,).
        ground: a plane that is not vertical, or None for the plane z = 0.

    Returns:
        Shape (7,).
    """
    x, y, _, qx, qy, qz, qw = (float(value) for value in base)
    height = 0.0
    if ground is not None:
        (gx, gy, gz), (nx, ny, nz) = ground.point, ground.normal
        height = gz - (nx * (x - gx) + ny * (y - gy)) / nz
    yaw = math.atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))
    return np.array([x, y, height, 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)])
