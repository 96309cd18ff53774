"""What a simulator published for one moment: the poses of the frames, and the wrenches on the links."""

import math
from collections.abc import Callable, Iterator

from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from tf2_msgs.msg import TFMessage

from grouser.nodes.shared import topics
from grouser.nodes.shared.received_frames import ReceivedFrames, ValidPose
from grouser.nodes.viewer.arrivals import Arrivals, Polled, TransformArrivals
from grouser.nodes.viewer.cdr import last_numbers, odometry, transforms
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import POSITION_MAX, Pose

SMALLEST_FORCE = 1e-3  # [N], below it no arrow is drawn
_TOGETHER = 100_000_000  # [ns] by which the ground truth may be older than the transforms that it is drawn with
_END = 2**63  # [ns], after every stamp

# Of what has come since the last picture only the newest is drawn: of wrenches at 100 Hz the last two are enough for a
# ground truth at 50 Hz.
WRENCH_QUALITY = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)


class Moments:
    """Transforms, ground truth and contact wrenches, matched by their stamps.

    They come at different rates and through different queues. A moment is a stamp at which the true pose of the root is
    known; of every topic the newest message that is not later is used. A wrench is drawn on the poses of its own stamp.

    Args:
        node: that subscribes.
        warn: is told of transforms that are not valid.

    Attributes:
        time: of the moment that is drawn [ns]; None before the first transforms.
        frames: their poses at that time.
    """

    def __init__(self, node: Node, warn: Callable[[str], None]) -> None:
        self._node, self._warn, self._group = node, warn, Polled()
        self._moving = TransformArrivals(node, TFMessage, topics.TF, topics.TF_QUALITY, self._group)
        self._truth = Arrivals(node, Odometry, topics.GROUND_TRUTH, topics.RELIABLE, self._group)
        self._wrenches: dict[str, Arrivals] = {}
        self.time: int | None = None
        self.frames = ReceivedFrames()

    def describe(self, machine: Machine, spawn: Pose) -> None:
        """Turns to another machine.

        Args:
            machine: whose wrenches are heard.
            spawn: of a fixed base in the world.
        """
        for wrench in self._wrenches.values():
            wrench.close()
        touching = [link.name for link in machine.links if link.collisions]
        self._wrenches = {
            link: Arrivals(self._node, WrenchStamped, topic, WRENCH_QUALITY, self._group)
            for link, topic in topics.contact_wrench_topics(touching).items()
        }
        self._truth.history.clear()
        self.frames.describe(machine, spawn)

    def fix(self, message: bytes) -> None:
        """Takes serialized transforms that do not change."""
        self._receive(message)

    def take(self) -> None:
        """Takes what has arrived, and chooses the moment to draw."""
        self._moving.take()
        self._truth.take()
        for wrench in self._wrenches.values():
            wrench.take()
        stamps = [stamp for history in self._moving.histories.values() if (stamp := history.newest()) is not None]
        truth = self._truth.history.newest()
        if truth is not None and any(0 <= stamp - truth <= _TOGETHER for stamp in stamps):
            self.time = truth
        elif stamps:
            self.time = stamps[-1]

    def forces(self) -> Iterator[tuple[ReceivedFrames, dict[str, tuple[float, ...]]]]:
        """Poses of the frames, valid until the next item, and the wrenches of the same stamp.

        A wrench is the force [N] and the moment about the link's origin [N m] on a link, in its frame, six
        numbers.
        """
        latest = _END if self.time is None else self.time  # without transforms the poses of the description stay
        groups: dict[int, dict[str, tuple[float, ...]]] = {}
        for link, arrivals in self._wrenches.items():
            stamp, message = arrivals.history.at(latest) or (0, b"")
            if message:
                values = last_numbers(message, 6)
                if all(map(math.isfinite, values)) and math.hypot(*values[:3]) > SMALLEST_FORCE:
                    groups.setdefault(stamp, {})[link] = values
        for stamp in sorted(groups):
            self.show(stamp)
            yield self.frames, groups[stamp]

    def show(self, time: int | None) -> None:
        """Sets the frames to their poses at a time [ns]; None: leaves them as they are."""
        if time is None:
            return
        for history in self._moving.histories.values():
            if (message := history.to_show(time)) is not None:
                self._receive(message)
        if (truth := self._truth.history.to_show(time)) is not None:
            frame, numbers = odometry(truth)
            if (pose := self._valid_pose(frame, numbers)) is not None:
                self.frames.place(frame, pose)

    def _receive(self, message: bytes) -> None:
        for parent, child, numbers in transforms(message):
            if (pose := self._valid_pose(child, numbers)) is not None:
                self.frames.receive(child, parent, pose)

    def _valid_pose(self, frame: str, numbers: tuple[float, ...]) -> Pose | None:
        pose = valid_pose(numbers)
        if pose is None:
            self._warn(f"the transform of {frame} is not valid: {numbers}")
        return pose


def valid_pose(numbers: tuple[float, ...]) -> Pose | None:
    """The pose of a message, its quaternion normalised.

    Args:
        numbers: x, y, z of the position [m] and x, y, z, w of the quaternion.

    Returns:
        None if a number is not finite or beyond all lengths, or the quaternion is zero.
    """
    x, y, z, w = numbers[3:]
    length = math.hypot(x, y, z, w)
    if not all(abs(number) <= POSITION_MAX for number in (*numbers[:3], length)) or length == 0.0:
        return None
    a, b, c = numbers[:3]
    return ValidPose((a, b, c), (x / length, y / length, z / length, w / length))
