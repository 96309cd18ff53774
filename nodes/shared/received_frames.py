"""Poses of frames in the world from received transforms."""

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose, Quaternion, Vector3
from grouser.physics.description.data.rotation import composed, rotate

_WORLD = ""  # tf2 knows no frame of this name
_UNKNOWN = Pose()


class ValidPose(Pose):
    """A pose that is not checked: its numbers were, where they arrived. Every picture composes dozens of them."""

    def __post_init__(self) -> None:
        """Checks nothing."""


class ReceivedFrames:
    """Frames from TF, completed by frames from the machine's description.

    A transform from TF takes precedence over the description. The description gives initial poses, with all joints at
    zero, until TF is received; the root of a fixed base keeps its pose, because TF begins there. The latest received
    transform of a frame is used, whatever its stamp.

    Odometry drifts: a frame whose true pose is set by `place` is independent of the TF tree.
    """

    def __init__(self) -> None:
        self._received: dict[str, tuple[str, Pose]] = {}
        self._described: dict[str, tuple[str, Pose]] = {}
        self._placed: dict[str, Pose] = {}
        self._world: dict[str, Pose] = {}

    def describe(self, machine: Machine, spawn: Pose) -> None:
        """Replaces the frames from the description: those of the joints, and the root's initial pose in the world."""
        self._described = {joint.child: (joint.parent, joint.pose) for joint in machine.joints}
        self._described[machine.root] = (_WORLD, spawn)
        self._placed.clear()
        self._world.clear()

    def receive(self, child: str, parent: str, pose: Pose) -> None:
        """Takes a transform from TF: the pose of `child` in `parent`."""
        self._received[child] = (parent, pose)
        self._world.clear()

    def place(self, frame: str, pose: Pose) -> None:
        """Sets the true pose of a frame in the world."""
        self._placed[frame] = pose
        self._world.clear()

    def known(self, frame: str) -> bool:
        """Whether the frame was received from TF or placed."""
        return frame in self._received or frame in self._placed

    def relative(self, frame: str, other: str) -> Pose:
        """Pose of `frame` in the frame `other`; "": in the topmost one."""
        if frame not in self._placed:
            parent, pose = self._received.get(frame) or self._described.get(frame) or (_WORLD, None)
            if pose is not None and parent == other:
                return pose
        return ValidPose(*composed(_inverse(self.world(other)), self.world(frame))) if other else self.world(frame)

    def point(self, frame: str, place: Vector3, other: str) -> Vector3:
        """Where a point of `frame` [m] is in the frame `other` [m]."""
        near, far = self.world(other), self.world(frame)
        (a, b, c), (x, y, z) = rotate(far.quaternion, place), near.position
        off = (far.position[0] + a - x, far.position[1] + b - y, far.position[2] + c - z)
        return rotate(_back(near.quaternion), off)

    def world(self, frame: str) -> Pose:
        """Pose of a frame in the topmost frame above it (``odom`` or ``map``); the identity for an unknown frame.

        Contradictory publishers can form a cycle of parents; the search then ends where it began.
        """
        chain: dict[str, Pose] = {}
        while frame not in chain and frame not in self._world:
            if frame in self._placed:
                self._world[frame] = self._placed[frame]
                break
            entry = self._received.get(frame) or self._described.get(frame)
            if entry is None:
                break
            parent, chain[frame] = entry
            frame = parent
        pose = self._world.get(frame, _UNKNOWN)
        for name, relative in reversed(chain.items()):
            pose = self._world[name] = ValidPose(*composed(pose, relative))
        return pose


def _inverse(pose: Pose) -> Pose:
    """Pose of the reference frame in the frame."""
    (a, b, c), back = pose.position, _back(pose.quaternion)
    return ValidPose(rotate(back, (-a, -b, -c)), back)


def _back(quaternion: Quaternion) -> Quaternion:
    """The opposite turn."""
    x, y, z, w = quaternion
    return (-x, -y, -z, w)
