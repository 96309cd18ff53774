"""Makers of the messages of streams, by message type."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from grouser.nodes.shared import messages, sensor_messages
from grouser.nodes.simulator.belt_messages import BeltMarkers
from grouser.nodes.simulator.block_messages import BlockMarkers
from grouser.nodes.simulator.contact_messages import ContactMarkers, contacts_message
from grouser.runtime.sampling import ContactScene, LinkPoses, Odometry, joint_axes
from grouser.runtime.streams import BLOCK_MARKERS, TRACK_MARKERS, Stream, StreamSource

# Takes a time [ns], a value of the stream's sampler and the time between two samples [s]; returns the message, or None
# if there is nothing to publish.
MakeMessage = Callable[[int, Any, float], Any]
Maker = Callable[[Stream, StreamSource, str], MakeMessage]

# A force equal to the machine's weight under this gravity [m/s2] has an arrow of 1 m.
_GRAVITY = 9.81


def message_type(name: str) -> type | None:
    """A type of messages by its ROS name, package/msg/Name; None where the package is not installed."""
    package, _, kind = name.split("/")
    try:
        return getattr(import_module(f"{package}.msg"), kind)
    except ModuleNotFoundError:
        return None


def _filling(message: Any, fill: Callable[[Any, int, Any], None]) -> MakeMessage:
    """Fills one message again for each sample."""

    def refill(stamp: int, value: Any, _interval: float) -> Any:
        fill(message, stamp, value)
        return message

    return refill


def _frame(stream: Stream, source: StreamSource, item: str) -> str:
    assert stream.frame is not None, f"{stream.topic} has messages with a frame"
    return stream.frame(source, item)


def _joint_state(_stream: Stream, source: StreamSource, _item: str) -> MakeMessage:
    return _filling(messages.make_joint_state(joint_axes(source.machine)), messages.fill_joint_state)


def _transforms(_stream: Stream, source: StreamSource, _item: str) -> MakeMessage:
    frames, with_links = source.frames, source.publish_link_tf
    with_map = source.publish_map_tf and source.map_frame != frames.top
    pairs = [*frames.base, *frames.carried]
    # robot_state_publisher does not know joints of more than one coordinate
    moving = np.arange(len(frames.moving)) if with_links else frames.floating
    pairs += [frames.moving[joint] for joint in moving]
    pairs += [(source.map_frame, frames.top)] if with_map else []
    message = messages.make_transforms(pairs)

    def fill(stamp: int, links: LinkPoses, _interval: float) -> Any:
        poses = [frames.base_poses(links.poses, links.reckoned), frames.carried_poses(links.poses)]
        if len(moving):
            poses.append(frames.moving_poses(links.poses)[moving])
        if with_map:
            poses.append(frames.top_pose(links.poses, links.reckoned))
        messages.fill_transforms(message, stamp, np.vstack(poses))
        return message if message.transforms else None

    return fill


def _wrench(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    return _filling(messages.make_wrench(_frame(stream, source, item)), messages.fill_wrench)


def _group_values(stream: Stream, source: StreamSource, _item: str) -> MakeMessage:
    assert stream.groups is not None, f"{stream.topic} has messages with groups"
    return _filling(messages.make_group_values(stream.groups(source.machine)), messages.fill_group_values)


def _odometry(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    assert stream.child_frame is not None, f"{stream.topic} has messages with a child frame"
    message = messages.make_odometry(_frame(stream, source, item), stream.child_frame(source, item))

    def fill(stamp: int, odometry: Odometry, _interval: float) -> Any:
        messages.fill_odometry(message, stamp, odometry.pose, odometry.twist)
        if odometry.pose_covariance is not None and odometry.twist_covariance is not None:
            messages.fill_planar_covariances(message, odometry.pose_covariance, odometry.twist_covariance)
        return message

    return fill


def _sensor(source: StreamSource, name: str) -> Any:
    (sensor,) = (one for one in source.machine.every_sensor if one.name == name)
    return sensor


def _imu(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    return _filling(messages.make_imu(_frame(stream, source, item), _sensor(source, item)), messages.fill_imu)


def _scan(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    message = messages.make_scan(_frame(stream, source, item), _sensor(source, item), 0.0)

    def fill(stamp: int, scan: Any, interval: float) -> Any:
        message.scan_time = interval
        messages.fill_scan(message, stamp, scan)
        return message

    return fill


def _point_cloud(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    frame = _frame(stream, source, item)
    if item:
        points = sensor_messages.make_points(frame, _sensor(source, item))
        return _filling(points, sensor_messages.fill_points)
    return lambda stamp, columns, _interval: messages.point_cloud(frame, stamp, columns)


def _image(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    message = sensor_messages.make_depth_image(_frame(stream, source, item), _sensor(source, item))
    return _filling(message, sensor_messages.fill_depth_image)


def _camera_info(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    message = sensor_messages.camera_info(_frame(stream, source, item), _sensor(source, item))
    return _filling(message, lambda message, stamp, _: messages.set_stamp(message.header.stamp, stamp))


def _fix(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    message = sensor_messages.make_fix(_frame(stream, source, item), _sensor(source, item))
    return _filling(message, sensor_messages.fill_fix)


def _cost_grid(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    frame = _frame(stream, source, item)
    return lambda stamp, grid, _interval: messages.cost_grid(frame, stamp, grid)


def _markers(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    if stream.topic == TRACK_MARKERS:
        belts = BeltMarkers(source)
        return lambda stamp, sample, _interval: belts.message(stamp, sample)
    if stream.topic == BLOCK_MARKERS:
        blocks = BlockMarkers(_frame(stream, source, item))
        return lambda stamp, scene, _interval: blocks.message(stamp, scene)
    weight = _GRAVITY * sum(link.inertial.mass for link in source.machine.links if link.inertial)
    markers = ContactMarkers(_frame(stream, source, item), 1.0 / (weight or 1.0))

    def make(stamp: int, scene: ContactScene, _interval: float) -> Any:
        return markers.message(stamp, scene.contacts, scene.root_pose)

    return make


def _contacts(stream: Stream, source: StreamSource, item: str) -> MakeMessage:
    from ros_gz_interfaces import msg as interfaces  # not installed everywhere

    frame, links = _frame(stream, source, item), frozenset(link.name for link in source.machine.links)
    return lambda stamp, contacts, _interval: contacts_message(interfaces, frame, stamp, contacts, links)


MAKERS: dict[str, Maker] = {
    "sensor_msgs/msg/JointState": _joint_state,
    "tf2_msgs/msg/TFMessage": _transforms,
    "geometry_msgs/msg/WrenchStamped": _wrench,
    "control_msgs/msg/DynamicInterfaceGroupValues": _group_values,
    "nav_msgs/msg/Odometry": _odometry,
    "sensor_msgs/msg/Imu": _imu,
    "sensor_msgs/msg/LaserScan": _scan,
    "sensor_msgs/msg/PointCloud2": _point_cloud,
    "sensor_msgs/msg/Image": _image,
    "sensor_msgs/msg/CameraInfo": _camera_info,
    "sensor_msgs/msg/NavSatFix": _fix,
    "nav_msgs/msg/OccupancyGrid": _cost_grid,
    "visualization_msgs/msg/MarkerArray": _markers,
    "ros_gz_interfaces/msg/Contacts": _contacts,
}
