"""The transform tree of a machine: transforms of the joints from the poses of the links in the world.

Poses are arrays x y z qx qy qz qw: position [m], then unit quaternion.
"""

import math
from collections.abc import Sequence

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import quaternion_from_rpy
from grouser.physics.description.data.world import Ground
from grouser.physics.simulation.building import divided_machine, ground_height
from grouser.runtime.drawn_links import drawn_links
from grouser.runtime.joint_frames import reaction_frames

FramePair = tuple[str, str]


class FrameTree:
    """The transforms of a machine.

    The tree of a floating base is odometry frame, footprint on the ground, root link. The tree of a fixed base begins
    at the root link.

    Loop joints and compliant joints have frames for their reactions: see `joint_frames`. Every sensor has a frame with
    its name, and a depth camera one for its images. On a flexible link such a frame moves with what carries it.

    Args:
        machine: the machine.
        ground: what is below it, or None in free space, where the footprint stays at height zero.
        odom_frame, base_footprint_frame: names of these frames.
        prefix: of all frames' names; different for each robot.

    Attributes:
        top: frame at the top of the tree, whose pose in the world is `top_pose`.
        base: (parent, child) of the transforms from the odometry frame to the root link.
        moving: (parent, child) of every joint that can move, elastic fixed joints included.
        floating: numbers, among these, of the floating and spherical joints.
        fixed: (parent, child) of every fixed joint between rigid links.
        fixed_poses: their poses, shape (number of such joints, 7).
        reactions: name of each loop joint, then of each compliant joint -> its frame, without the prefix.
        still: (parent, child) of reaction frames, then of sensors, that are fixed to their parent link.
        still_poses: their poses, shape (number of such frames, 7).
        carried: (parent, child) of reaction frames and sensors that move relative to their parent link, then of the
            pieces of flexible links that are drawn.

    Raises:
        MachineError: a flexible link cannot be divided.
    """

    def __init__(
        self, machine: Machine, ground: Ground | None, odom_frame: str, base_footprint_frame: str, prefix: str = ""
    ) -> None:
        self._prefix = prefix
        divided = divided_machine(machine)
        index = {link.name: number for number, link in enumerate(divided.links)}
        yielding = _yielding_joints(machine)
        fixed = [joint for joint in machine.joints if joint.name not in yielding]
        moving = [joint for joint in machine.joints if joint.name in yielding]
        self.fixed: list[FramePair] = [(joint.parent, joint.child) for joint in fixed]
        self.fixed_poses = _as_array([joint.pose for joint in fixed])
        mounted = _sensor_frames(machine)
        taken = {*index, odom_frame, base_footprint_frame, *(frame for (_, frame), _ in mounted)}
        frames = reaction_frames(machine, taken)
        self.reactions = {frame.joint: frame.name for frame in frames}
        # Division adds its own compliant joints behind these.
        carriers = reaction_frames(divided, taken)[: len(frames)]
        placed = [((frame.parent, frame.name), frame.pose) for frame in frames] + mounted
        on_divided = [((frame.parent, frame.name), frame.pose) for frame in carriers] + _sensor_frames(divided)
        still = [frame for frame, carrier in zip(placed, on_divided, strict=True) if carrier[0] == frame[0]]
        self.still: list[FramePair] = [pair for pair, _ in still]
        self.still_poses = _as_array([pose for _, pose in still])
        moved = [
            (frame[0], carrier[0][0], carrier[1])
            for frame, carrier in zip(placed, on_divided, strict=True)
            if carrier[0] != frame[0]
        ]
        moved += [
            ((owner, piece.name), piece.name, Pose()) for piece, owner in drawn_links(machine) if piece.name != owner
        ]
        self.carried: list[FramePair] = [pair for pair, _, _ in moved]
        self._bending = np.array([index[parent] for parent, _ in self.carried], dtype=np.intp)
        self._carriers = np.array([index[carrier] for _, carrier, _ in moved], dtype=np.intp)
        self._on_carriers = _as_array([pose for _, _, pose in moved])
        self.moving: list[FramePair] = [(joint.parent, joint.child) for joint in moving]
        free = [number for number, joint in enumerate(moving) if joint.type in ("floating", "spherical")]
        self.floating = np.array(free, dtype=np.intp)
        self._parents = np.array([index[joint.parent] for joint in moving], dtype=np.intp)
        self._children = np.array([index[joint.child] for joint in moving], dtype=np.intp)
        self._root, self._root_name = index[machine.root], machine.root
        self._ground = ground
        self.base: list[FramePair] = []
        if machine.floating_base and machine.root == base_footprint_frame:
            self.base = [(odom_frame, machine.root)]
        elif machine.floating_base:
            self.base = [(odom_frame, base_footprint_frame), (base_footprint_frame, machine.root)]
        for pairs in (self.base, self.moving, self.fixed, self.still, self.carried):
            pairs[:] = [(self.name(parent), self.name(child)) for parent, child in pairs]
        self.top = self.base[0][0] if self.base else self.name(machine.root)

    def name(self, frame: str) -> str:
        """A frame's name with the prefix."""
        return f"{self._prefix}{frame}"

    def names(self) -> frozenset[str]:
        """Names of all frames, with the prefix."""
        every = (*self.base, *self.moving, *self.fixed, *self.still, *self.carried)
        return frozenset((self.name(self._root_name), *(name for pair in every for name in pair)))

    def footprint(self, link_poses: np.ndarray) -> np.ndarray:
        """Pose of the footprint of a floating base in the world, shape (7,), from those of the links."""
        return footprint_pose(link_poses[self._root], self._ground)

    def base_poses(self, link_poses: np.ndarray, reckoned: np.ndarray | None = None) -> np.ndarray:
        """Poses of the transforms `base`.

        Args:
            link_poses: of every link in the world, in the machine's order, then of the elements of flexible links,
                shape (number of links and elements, 7).
            reckoned: pose of the footprint in the odometry frame, shape (7,); None where that frame is the world.

        Returns:
            Shape (0, 7) for a fixed base, (1, 7) where the root link is the footprint itself, else (2, 7).
        """
        root = link_poses[self._root]
        if not self.base:
            return root[np.newaxis][:0]
        footprint = self.footprint(link_poses)
        above = relative_poses(footprint[np.newaxis], root[np.newaxis])
        if reckoned is None:
            reckoned = footprint
        if len(self.base) == 2:
            return np.vstack([reckoned, above])
        odometry_frame = relative_poses(reckoned[np.newaxis], _AT_ORIGIN)
        return relative_poses(odometry_frame, above)

    def top_pose(self, link_poses: np.ndarray, reckoned: np.ndarray | None = None) -> np.ndarray:
        """Pose of the frame `top` in the world, shape (7,); arguments as of `base_poses`.

        The pose of an odometry frame is what makes up for the errors of dead reckoning.
        """
        if not self.base:
            return link_poses[self._root]
        return _AT_ORIGIN[0] if reckoned is None else frame_above(self.footprint(link_poses), reckoned)

    def moving_poses(self, link_poses: np.ndarray) -> np.ndarray:
        """Poses of the transforms `moving`, shape (number of moving joints, 7), from those of the links."""
        return relative_poses(link_poses[self._parents], link_poses[self._children])

    def carried_poses(self, link_poses: np.ndarray) -> np.ndarray:
        """Poses of the transforms `carried`, shape (number of such frames, 7), from those of links and elements."""
        world_in_carriers = relative_poses(link_poses[self._carriers], _as_array([Pose()] * len(self.carried)))
        return relative_poses(link_poses[self._bending], relative_poses(world_in_carriers, self._on_carriers))


def _sensor_frames(machine: Machine) -> list[tuple[FramePair, Pose]]:
    """Frames of the sensors, then those of the images of depth cameras: z ahead, x to the right (REP-103)."""
    frames = [
        ((machine.carrier(sensor), sensor.name), Pose(sensor.xyz, quaternion_from_rpy(*sensor.rpy)))
        for sensor in machine.every_sensor
    ]
    optical = Pose(quaternion=quaternion_from_rpy(-0.5 * math.pi, 0.0, -0.5 * math.pi))
    return frames + [((camera.name, camera.optical_frame), optical) for camera in machine.depth_cameras]


def _yielding_joints(machine: Machine) -> set[str]:
    """Names of all joints that can move, fixed joints that are elastic or mounted on an elastic link included."""
    compliant = {compliance.joint for compliance in machine.compliant_joints}
    bending = {link.name for link in machine.links if link.elastic} | {link.link for link in machine.flexible_links}
    return {
        joint.name
        for joint in machine.joints
        if joint.type != "fixed" or joint.name in compliant or joint.parent in bending
    }


def _as_array(poses: Sequence[Pose]) -> np.ndarray:
    """Poses as rows, shape (number of poses, 7)."""
    return np.array([[*pose.position, *pose.quaternion] for pose in poses]).reshape(-1, 7)


_AT_ORIGIN = _as_array([Pose()])


def frame_above(in_world: np.ndarray, in_frame: np.ndarray) -> np.ndarray:
    """Pose of a frame in the world, from the poses of a body in the world and in that frame, shapes (7,)."""
    world_in_body, frame_in_body = (relative_poses(pose[np.newaxis], _AT_ORIGIN) for pose in (in_world, in_frame))
    return relative_poses(world_in_body, frame_in_body)[0]


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
        ground: what is below it, or None for the plane z = 0.

    Returns:
        Shape (7,).
    """
    x, y, _, qx, qy, qz, qw = (float(value) for value in base)
    yaw = math.atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))
    return np.array([x, y, ground_height(ground, x, y), 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)])
