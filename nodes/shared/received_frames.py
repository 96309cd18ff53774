"""Where each frame is in the world, from transforms that arrive one at a time."""

from grouser.physics.description.machine import Machine, Pose
from grouser.physics.description.rotation import compose

_WORLD = ""  # tf2 knows no frame of this name


class HeardFrames:
    """The frames of TF, and below them those that only the machine's description knows.

    What TF says of a frame always wins over the description, which gives a machine with its joints at zero a place to
    stand in until TF is heard; one with a fixed base stays there, as TF begins at its root. The latest transform of a
    frame holds, at whatever time it was stamped: a viewer shows what is known now.

    A machine whose odometry drifts is not where TF says: a frame that is placed in the world stays out of TF's tree.
    """

    def __init__(self) -> None:
        self._heard: dict[str, tuple[str, Pose]] = {}
        self._described: dict[str, tuple[str, Pose]] = {}
        self._placed: dict[str, Pose] = {}
        self._world: dict[str, Pose] = {}

    def describe(self, machine: Machine, spawn: Pose) -> None:
        """Replaces what the description says: the machine's joints, and where its root starts in the world."""
        self._described = {joint.child: (joint.parent, joint.pose) for joint in machine.joints}
        self._described[machine.root] = (_WORLD, spawn)
        self._placed.clear()
        self._world.clear()

    def hear(self, child: str, parent: str, pose: Pose) -> None:
        """Notes a transform of TF: the pose of `child` in `parent`."""
        self._heard[child] = (parent, pose)
        self._world.clear()

    def place(self, frame: str, pose: Pose) -> None:
        """Notes where a frame really is in the world."""
        self._placed[frame] = pose
        self._world.clear()

    def heard(self, frame: str) -> bool:
        """Whether TF has spoken of this frame, or it was placed."""
        return frame in self._heard or frame in self._placed

    def world(self, frame: str) -> Pose:
        """Pose of a frame in the topmost frame above it (``odom`` or ``map``); the identity for an unknown frame.

        Two publishers that contradict each other can close a circle of parents; the walk then ends where it began
        instead of never.
        """
        chain: dict[str, Pose] = {}
        while frame not in chain and frame not in self._world:
            if frame in self._placed:
                self._world[frame] = self._placed[frame]
                break
            known = self._heard.get(frame) or self._described.get(frame)
            if known is None:
                break
            parent, chain[frame] = known
            frame = parent
        pose = self._world.get(frame, Pose())
        for name, relative in reversed(chain.items()):
            pose = self._world[name] = compose(pose, relative)
        return pose
