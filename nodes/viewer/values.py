"""Values by name: of the groups of `hydraulics/state`, `slip` and `flexible/state`, and of the points of `terrain`."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from control_msgs.msg import DynamicInterfaceGroupValues
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState, PointCloud2, PointField

from grouser.nodes.viewer.arrivals import Newest, Polled

_QUALITY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)

Values = Mapping[str, Mapping[str, float]]
# Columns of `terrain` that every simulator has, of `terrain/falling` and `granular/points`.
TERRAIN_VALUES = ("x", "y", "z", "sinkage", "rut", "pressure")
FALLING_VALUES = ("x", "y", "z", "half_x", "half_y", "mass")
GRAIN_VALUES = ("x", "y", "z", "radius", "speed", "material", "force")


class GroupValues:
    """The newest values of a topic.

    Args:
        node: that subscribes.
        topic: name.
    """

    def __init__(self, node: Node, topic: str) -> None:
        self._arrivals = Newest(node, DynamicInterfaceGroupValues, topic, _QUALITY, Polled())
        self._values: Values = {}

    def take(self) -> Values:
        """The newest values by group and name; empty before the first message."""
        if (message := self._arrivals.take()) is not None:
            read = self._arrivals.read(message)
            self._values = {
                group: dict(zip(values.interface_names, values.values, strict=False))
                for group, values in zip(read.interface_groups, read.interface_values, strict=False)
            }
        return self._values

    def clear(self) -> None:
        """Forgets the values."""
        self._values = {}

    def close(self) -> None:
        """Ends the subscription."""
        self._arrivals.close()


class JointPositions:
    """The newest finite positions of joints.

    Args:
        node: that subscribes.
        topic: name.
        group: without an executor.
    """

    def __init__(self, node: Node, topic: str, group: Polled) -> None:
        self._arrivals = Newest(node, JointState, topic, _QUALITY, group)
        self._positions: dict[str, float] = {}

    def take(self) -> Mapping[str, float]:
        """The newest positions by joint [rad or m]."""
        if (message := self._arrivals.take()) is not None:
            read = self._arrivals.read(message)
            found = zip(read.name, read.position, strict=False)
            self._positions.update((joint, position) for joint, position in found if math.isfinite(position))
        return self._positions

    def close(self) -> None:
        """Ends the subscription."""
        self._arrivals.close()


class WantedValues:
    """The newest values of a topic, heard only while they are wanted.

    Args:
        node: that subscribes.
        topic: name.
    """

    def __init__(self, node: Node, topic: str) -> None:
        self._node, self._topic = node, topic
        self._heard: GroupValues | None = None

    def take(self, wanted: bool) -> Values:
        """The newest values by group and name; empty while they are not wanted, and before the first message."""
        if not wanted:
            if self._heard is not None:
                self._heard.close()
                self._heard = None
            return {}
        if self._heard is None:
            self._heard = GroupValues(self._node, self._topic)
        return self._heard.take()


def cloud_columns(cloud: PointCloud2, names: Sequence[str]) -> Mapping[str, np.ndarray] | None:
    """Fields of 32-bit numbers of the points of a cloud, shape (n,) each; None if one is missing, or data are."""
    offsets = {field.name: field.offset for field in cloud.fields if field.datatype == PointField.FLOAT32}
    count, size = cloud.width * cloud.height, cloud.point_step
    if not all(name in offsets and offsets[name] + 4 <= size for name in names) or len(cloud.data) < count * size:
        return None
    order = ">" if cloud.is_bigendian else "<"
    layout = np.dtype(
        {
            "names": list(names),
            "formats": [f"{order}f4"] * len(names),
            "offsets": [offsets[n] for n in names],
            "itemsize": size,
        }
    )
    points = np.frombuffer(cloud.data, dtype=layout, count=count)
    finite = np.all([np.isfinite(points[name]) for name in names], axis=0)
    return {name: points[name][finite] for name in names}
