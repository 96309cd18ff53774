"""Publishers of the plain objects: their poses, all in one message."""

from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.simulator.parameters import SimulatorParameters
from grouser.runtime.sampling import ObjectPoses


class ObjectPublisher:
    """Publishes the poses of the plain objects: on their topic while it has a subscriber, and on /tf if wanted.

    Args:
        node: that has the publishers.
        parameters: frame of the world, and whether the poses are on /tf.
    """

    def __init__(self, node: Node, parameters: SimulatorParameters) -> None:
        self._endpoints = Endpoints(node)
        self._world = parameters.map_frame
        self._poses = self._endpoints.create_publisher(TFMessage, topics.OBJECT_POSES, topics.RELIABLE)
        self._transforms = (
            self._endpoints.create_publisher(TFMessage, topics.TF, topics.TF_QUALITY)
            if parameters.publish_object_tf
            else None
        )
        self._names: tuple[str, ...] = ()
        self._message = TFMessage()

    def publish(self, nanoseconds: int, objects: ObjectPoses) -> None:
        """Publishes poses of one step."""
        publishers = [self._poses] if self._poses.get_subscription_count() > 0 else []
        if self._transforms is not None and objects.names:
            publishers.append(self._transforms)
        if not publishers:
            return
        if objects.names is not self._names:
            self._names = objects.names
            self._message = messages.make_transforms([(self._world, name) for name in objects.names])
        messages.fill_transforms(self._message, nanoseconds, objects.poses)
        for publisher in publishers:
            publisher.publish(self._message)

    def destroy(self) -> None:
        """Destroys the publishers."""
        self._endpoints.destroy()
