"""Publishers of contacts."""

from types import ModuleType

from visualization_msgs.msg import MarkerArray

from grouser.nodes.shared import topics
from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.shared.parameters import SimulatorParameters
from grouser.nodes.simulator.contact_messages import ContactMarkers, contacts_message
from grouser.physics.description.machine import Machine
from grouser.runtime.frames import FrameTree
from grouser.runtime.sampling import Sample

# The force that is drawn an arrow of 1 m long is the machine's weight under this gravity [m/s2].
_GRAVITY = 9.81


class ContactPublisher:
    """Publishes contacts: as markers, and as Gazebo's bridge does where `ros_gz_interfaces` is installed.

    Nothing is made that nobody hears.

    Args:
        endpoints: the robot's.
        frames: their names.
        machine: offers nothing if none of its links has a collision shape.
        parameters: names of frames.
    """

    def __init__(
        self, endpoints: Endpoints, frames: FrameTree, machine: Machine, parameters: SimulatorParameters
    ) -> None:
        self._frame = parameters.map_frame
        self._links = frozenset(link.name for link in machine.links)
        self._markers = self._contacts = None
        if not any(link.collisions for link in machine.links):
            return
        weight = _GRAVITY * sum(link.inertial.mass for link in machine.links if link.inertial)
        self._markers = (
            ContactMarkers(frames.name(machine.root), 1.0 / (weight or 1.0)),
            endpoints.create_publisher(MarkerArray, topics.CONTACT_MARKERS, topics.RELIABLE),
        )
        interfaces = _gazebo_interfaces()
        if interfaces is not None:
            publisher = endpoints.create_publisher(interfaces.Contacts, topics.CONTACTS, topics.SENSOR_DATA)
            self._contacts = interfaces, publisher

    def rates(self, parameters: SimulatorParameters) -> dict[str, float]:
        """Of the streams that it publishes [Hz]."""
        return {
            **({} if self._markers is None else {"contact_markers": parameters.marker_rate}),
            **({} if self._contacts is None else {"contacts": parameters.contact_rate}),
        }

    def publish(self, sample: Sample) -> None:
        """Sends what of a sample is due, and heard."""
        stamp, contacts, root = sample.nanoseconds, sample.contacts, sample.base_pose
        if contacts is None:
            return
        if self._markers is not None and "contact_markers" in sample.streams and root is not None:
            drawn, publisher = self._markers
            if publisher.get_subscription_count() > 0:
                publisher.publish(drawn.message(stamp, contacts, root))
        if self._contacts is not None and "contacts" in sample.streams:
            interfaces, publisher = self._contacts
            if publisher.get_subscription_count() > 0:
                publisher.publish(contacts_message(interfaces, self._frame, stamp, contacts, self._links))


def _gazebo_interfaces() -> ModuleType | None:
    """The messages of Gazebo's bridge; None where they are not installed."""
    try:
        from ros_gz_interfaces import msg
    except ModuleNotFoundError:
        return None
    return msg
