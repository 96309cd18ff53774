"""Publishers of the plain objects: all poses in one message, and all shapes in another."""

from collections.abc import Mapping

from rclpy.node import Node
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.simulator.object_markers import object_markers
from grouser.nodes.simulator.parameters import SimulatorParameters
from grouser.physics.description.data.machine import Machine
from grouser.runtime.sampling import ObjectPoses


class ObjectPublisher:
    """Publishes poses and shapes of the plain objects; poses while there is a subscriber, and on /tf if wanted.

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
        self._shapes = self._endpoints.create_publisher(MarkerArray, topics.OBJECT_SHAPES, topics.LATCHED)
        self._markers: dict[str, list[Marker]] | None = None

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

    def publish_shapes(self, objects: Mapping[str, Machine]) -> None:
        """Publishes the shapes of all objects, by name, if other objects are there than the last time."""
        known = self._markers or {}
        if self._markers is None or objects.keys() != known.keys():
            self._markers = {
                name: known[name] if name in known else list(object_markers(name, machine))
                for name, machine in objects.items()
            }
            shown = [marker for markers in self._markers.values() for marker in markers]
            self._shapes.publish(MarkerArray(markers=[Marker(action=Marker.DELETEALL), *shown]))

    def destroy(self) -> None:
        """Destroys the publishers."""
        self._endpoints.destroy()
