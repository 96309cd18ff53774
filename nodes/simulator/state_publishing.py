"""Publishers of a robot's state: joints, transforms, wrenches, hydraulics, beams; motion and contacts by their own."""

from collections.abc import Sequence

import numpy as np
from control_msgs.msg import DynamicInterfaceGroupValues
from geometry_msgs.msg import WrenchStamped
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.simulator.contact_publishing import ContactPublisher
from grouser.nodes.simulator.motion_publishing import MotionPublisher
from grouser.physics.description.machine import Machine
from grouser.runtime.frames import FrameTree
from grouser.runtime.sampling import FLEXIBLE_VALUES, Sample, hydraulic_groups, movable_joints


class StatePublisher:
    """Publishes samples of a robot.

    Args:
        endpoints: the robot's.
        machine: what it is.
        frames: its transform tree.
        motion: sends how it moves over the ground.
        contacts: sends what it touches.
        publish_link_tf: whether the transforms of the joints are published too.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        machine: Machine,
        frames: FrameTree,
        motion: MotionPublisher,
        contacts: ContactPublisher,
        publish_link_tf: bool,
    ) -> None:
        self._frames = frames
        self._motion = motion
        self._contacts = contacts
        self._publish_link_tf = publish_link_tf

        self._joint_state = messages.make_joint_state(movable_joints(machine))
        self._joint_publisher = endpoints.create_publisher(JointState, topics.JOINT_STATES, topics.RELIABLE)
        pairs = [*frames.base, *frames.carried, *(frames.moving if publish_link_tf else [])]
        self._transforms = messages.make_transforms(pairs)
        self._transform_publisher = endpoints.create_publisher(TFMessage, topics.TF, topics.TF_QUALITY)
        self._static_publisher = endpoints.create_publisher(TFMessage, topics.TF_STATIC, topics.LATCHED)
        self._description_publisher = endpoints.create_publisher(String, topics.ROBOT_DESCRIPTION, topics.LATCHED)
        links = [link.name for link in machine.links if link.collisions]
        self._wrenches: list[tuple[WrenchStamped, Publisher]] = [
            (
                messages.make_wrench(frames.name(link)),
                endpoints.create_publisher(WrenchStamped, topic, topics.SENSOR_DATA),
            )
            for link, topic in topics.contact_wrench_topics(links).items()
        ]
        self._reactions: list[tuple[WrenchStamped, Publisher]] = [
            (
                messages.make_wrench(frames.name(frames.reactions[joint])),
                endpoints.create_publisher(WrenchStamped, topic, topics.SENSOR_DATA),
            )
            for joint, topic in topics.joint_reaction_topics(frames.reactions).items()
        ]
        self._hydraulics = messages.make_group_values(hydraulic_groups(machine))
        self._hydraulics_publisher = endpoints.create_publisher(
            DynamicInterfaceGroupValues, topics.HYDRAULICS_STATE, topics.RELIABLE
        )
        self._flexible: tuple[DynamicInterfaceGroupValues, Publisher] | None = None
        if machine.flexible_links:
            self._flexible = (
                messages.make_group_values([(flexible.link, FLEXIBLE_VALUES) for flexible in machine.flexible_links]),
                endpoints.create_publisher(DynamicInterfaceGroupValues, topics.FLEXIBLE_STATE, topics.RELIABLE),
            )

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
        """Sends one sample."""
        stamp = sample.nanoseconds
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
        if self._flexible is not None and sample.flexible is not None:
            message, publisher = self._flexible
            messages.fill_group_values(message, stamp, sample.flexible)
            publisher.publish(message)
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


def _publish_wrenches(outputs: Sequence[tuple[WrenchStamped, Publisher]], stamp: int, wrenches: np.ndarray) -> None:
    for (message, publisher), wrench in zip(outputs, wrenches, strict=True):
        messages.fill_wrench(message, stamp, wrench)
        publisher.publish(message)
