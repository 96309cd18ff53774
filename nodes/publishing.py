"""The publishing thread: takes samples from a bounded queue and sends them as messages.

Physics never waits for the middleware: serialising and sending a batch costs about as much as computing it, and a slow
subscriber can hold a reliable writer up. While there is a pace to keep, a sample that finds the queue full is left out
and counted; where there is none (as fast as possible, or stepped by hand) the simulation waits for room instead.
"""

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence

import numpy as np
from control_msgs.msg import DynamicInterfaceGroupValues
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from grouser.nodes import messages, topics
from grouser.nodes.contact_publishing import ContactPublisher
from grouser.nodes.frames import FrameTree
from grouser.nodes.motion_publishing import MotionPublisher
from grouser.nodes.samples import Sample

_QUEUE_LENGTH = 64


class StatePublisher:
    """Publishes samples from its own thread.

    Args:
        node: whose publishers these are.
        joints: names of the movable joints, in the order of the samples.
        links: names of the links with collision shapes, in the order of the samples.
        hydraulics: names of the hydraulic components, in the order of the samples, each with those of its values.
        frames: the transform tree, with the joints whose reactions are in the samples, in their order.
        motion: sends how the machine moves over the ground.
        contacts: sends what it touches.
        publish_link_tf: whether the transforms of the joints are published too.
        fail: takes, in the publishing thread, the error that ended it.
    """

    def __init__(
        self,
        node: Node,
        joints: Sequence[str],
        links: Sequence[str],
        hydraulics: Sequence[tuple[str, Sequence[str]]],
        frames: FrameTree,
        motion: MotionPublisher,
        contacts: ContactPublisher,
        publish_link_tf: bool,
        fail: Callable[[BaseException], None],
    ) -> None:
        self._queue: queue.Queue[Sample | None] = queue.Queue(_QUEUE_LENGTH)
        self._thread = threading.Thread(target=self._run, name="publishing")
        self._fail = fail
        self._ended = threading.Event()
        self._frames = frames
        self._motion = motion
        self._contacts = contacts
        self._publish_link_tf = publish_link_tf

        self._clock = Clock()
        self._clock_publisher = node.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
        self._joint_state = messages.make_joint_state(joints)
        self._joint_publisher = node.create_publisher(JointState, topics.JOINT_STATES, topics.RELIABLE)
        pairs = [*frames.base, *frames.carried, *(frames.moving if publish_link_tf else [])]
        self._transforms = messages.make_transforms(pairs)
        self._transform_publisher = node.create_publisher(TFMessage, topics.TF, topics.TF_QUALITY)
        self._static_publisher = node.create_publisher(TFMessage, topics.TF_STATIC, topics.LATCHED)
        self._description_publisher = node.create_publisher(String, topics.ROBOT_DESCRIPTION, topics.LATCHED)
        self._wrenches: list[tuple[WrenchStamped, Publisher]] = [
            (messages.make_wrench(link), node.create_publisher(WrenchStamped, topic, topics.SENSOR_DATA))
            for link, topic in topics.contact_wrench_topics(links).items()
        ]
        self._reactions: list[tuple[WrenchStamped, Publisher]] = [
            (
                messages.make_wrench(frames.reactions[joint]),
                node.create_publisher(WrenchStamped, topic, topics.SENSOR_DATA),
            )
            for joint, topic in topics.joint_reaction_topics(frames.reactions).items()
        ]
        self._hydraulics = messages.make_group_values(hydraulics)
        self._hydraulics_publisher = node.create_publisher(
            DynamicInterfaceGroupValues, topics.HYDRAULICS_STATE, topics.RELIABLE
        )

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def finish(self) -> None:
        """Sends what is in the queue and ends the thread."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def queue(self, sample: Sample, may_wait: bool) -> bool:
        """Queues a sample.

        Args:
            sample: to be published.
            may_wait: whether to wait for room when the queue is full.

        Returns:
            Whether it was queued.
        """
        if self._ended.is_set():
            return False
        try:
            self._queue.put(sample, block=may_wait)
        except queue.Full:
            return False
        return True

    def publish_description(self, urdf: str) -> None:
        """Sends the machine's URDF and the transforms that stay, both latched."""
        self._description_publisher.publish(String(data=urdf))
        pairs, poses = self._frames.still, self._frames.still_poses
        if self._publish_link_tf:
            pairs, poses = [*self._frames.fixed, *pairs], np.vstack([self._frames.fixed_poses, poses])
        if pairs:
            message = messages.make_transforms(pairs)
            messages.fill_transforms(message, 0, poses)
            self._static_publisher.publish(message)

    def publish(self, sample: Sample) -> None:
        """Sends one sample; by the publishing thread, or where none runs."""
        stamp = sample.nanoseconds
        if "clock" in sample.streams:
            messages.fill_clock(self._clock, stamp)
            self._clock_publisher.publish(self._clock)
        if sample.joints is not None and sample.link_poses is not None:
            messages.fill_joint_state(self._joint_state, stamp, sample.joints)
            self._joint_publisher.publish(self._joint_state)
            self._publish_transforms(stamp, sample.link_poses, sample.odometry)
        if sample.contact_wrenches is not None:
            _publish_wrenches(self._wrenches, stamp, sample.contact_wrenches)
        if sample.joint_reactions is not None:
            _publish_wrenches(self._reactions, stamp, sample.joint_reactions)
        if sample.hydraulics is not None:
            messages.fill_group_values(self._hydraulics, stamp, sample.hydraulics)
            self._hydraulics_publisher.publish(self._hydraulics)
        self._motion.publish(sample)
        self._contacts.publish(sample)

    def _publish_transforms(self, stamp, link_poses, odometry):
        reckoned = None if odometry is None else odometry.pose
        poses = np.vstack([self._frames.base_poses(link_poses, reckoned), self._frames.carried_poses(link_poses)])
        if self._publish_link_tf:
            poses = np.vstack([poses, self._frames.moving_poses(link_poses)])
        if len(poses):
            messages.fill_transforms(self._transforms, stamp, poses)
            self._transform_publisher.publish(self._transforms)

    def _run(self):
        try:
            while (sample := self._queue.get()) is not None:
                self.publish(sample)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            # Nobody takes from the queue any more: whoever waits for room, or is just about to, finds some.
            self._ended.set()
            with contextlib.suppress(queue.Empty):
                while True:
                    self._queue.get_nowait()


def _publish_wrenches(outputs: Sequence[tuple[WrenchStamped, Publisher]], stamp: int, wrenches: np.ndarray) -> None:
    for (message, publisher), wrench in zip(outputs, wrenches, strict=True):
        messages.fill_wrench(message, stamp, wrench)
        publisher.publish(message)
