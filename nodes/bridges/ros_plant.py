"""A machine behind topics, as the plant of a bridge."""

import math
import threading
import time
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

from control_msgs.msg import DynamicInterfaceGroupValues
from geometry_msgs.msg import Quaternion, Twist, TwistStamped, Vector3, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState, Joy

from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.plant import SILENCE
from grouser.nodes.shared import messages, topics
from grouser.runtime.streams import STREAMS

_AXES = ("x", "y", "z")
_TWIST = ("linear_x", "linear_y", "angular_z")
_CONTACT = STREAMS["contact_wrenches/<link>"]
_IMU = STREAMS["imu/<name>/data"]
_FORCE_TORQUE = STREAMS["force_torque/<name>"]


class RosPlant:
    """Publishes commands and collects measurements; only on the topics that a mapping needs.

    Args:
        node: that has the publishers and subscriptions.
        mapping: names the signals.
        imus: names of the machine's inertial measurement units, by which their topics are named.
        stamped: whether cmd_vel is a TwistStamped.
        frame: that a TwistStamped names.
        clock: by which measurements grow old [s].
    """

    def __init__(
        self,
        node: Node,
        mapping: BridgeMapping,
        imus: Collection[str],
        stamped: bool,
        frame: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._node, self._stamped, self._frame = node, stamped, frame
        self._lock = threading.Lock()
        self._measured: dict[str, tuple[float, float]] = {}  # signal -> value [SI], when it came [s]
        commanded = [signal.signal for message in mapping.incoming for signal in message.signals]
        kinds = {name.partition("/")[0] for name in commanded}
        self._valves = self._joints = self._twist = self._joy = None
        if "valve" in kinds:
            self._valves = node.create_publisher(DynamicInterfaceGroupValues, topics.VALVE_COMMANDS, topics.RELIABLE)
        if "joint" in kinds:
            self._joints = node.create_publisher(JointState, topics.JOINT_COMMANDS, topics.RELIABLE)
        if "cmd_vel" in kinds:
            kind = TwistStamped if stamped else Twist
            self._twist = node.create_publisher(kind, topics.CMD_VEL, topics.RELIABLE)
        if "joy" in kinds:
            self._joy = node.create_publisher(Joy, topics.JOY, topics.RELIABLE)
        self._speeds = dict.fromkeys(_TWIST, 0.0)
        self._axes = array("f", bytes(4 * _count(commanded, "joy/axis_")))
        self._buttons = array("i", bytes(4 * _count(commanded, "joy/button_")))
        shown = {signal.signal for message in mapping.outgoing for signal in message.signals}
        held = {signal.signal for message in mapping.incoming for signal in message.signals if signal.safe is None}
        self._subscribe(shown | held, imus)

    def command(self, values: Mapping[str, float]) -> None:
        """Publishes commands."""
        parts: dict[str, dict[str, float]] = {}
        for name, value in values.items():
            kind, _, rest = name.partition("/")
            parts.setdefault(kind, {})[rest] = value
        now = self._node.get_clock().now().nanoseconds
        if self._valves is not None and "valve" in parts:
            self._valves.publish(messages.make_valve_commands(now, parts["valve"]))
        if self._joints is not None and "joint" in parts:
            self._joints.publish(_joint_commands(now, parts["joint"]))
        if self._twist is not None and "cmd_vel" in parts:
            self._speeds.update(parts["cmd_vel"])
            twist = tuple(self._speeds.values())
            self._twist.publish(
                messages.make_stamped_twist(self._frame, now, twist) if self._stamped else messages.make_twist(twist)
            )
        if self._joy is not None and "joy" in parts:
            self._joy.publish(self._joy_message(now, parts["joy"]))

    def measure(self, names: Collection[str]) -> Mapping[str, float]:
        """Returns the latest measurements; NaN where there is none, or none for `SILENCE`."""
        oldest = self._clock() - SILENCE
        with self._lock:
            found = {name: self._measured.get(name, (math.nan, math.inf)) for name in names}
        return {name: value if heard >= oldest else math.nan for name, (value, heard) in found.items()}

    def _joy_message(self, now: int, parts: Mapping[str, float]) -> Joy:
        for name, value in parts.items():
            kind, _, number = name.partition("_")
            if kind == "axis":
                self._axes[int(number)] = value
            else:
                self._buttons[int(number)] = round(value)
        message = Joy(axes=self._axes, buttons=self._buttons)
        messages.set_stamp(message.header.stamp, now)
        return message

    def _subscribe(self, names: Collection[str], imus: Collection[str]) -> None:
        kinds = {name.partition("/")[0] for name in names}
        items: dict[str, list[str]] = {}
        for kind in ("imu", "contact", "force_torque"):
            found = {name.split("/")[1] for name in names if name.startswith(f"{kind}/")}
            items[kind] = sorted(found)
        reliable, sensor = topics.RELIABLE, topics.SENSOR_DATA
        if "joint" in kinds:
            self._hear(JointState, topics.JOINT_STATES, _joint_states, reliable)
        if "hydraulics" in kinds:
            self._hear(DynamicInterfaceGroupValues, STREAMS["hydraulics/state"].shown, _hydraulics, reliable)
        if kinds & {"pose", "twist"}:
            self._hear(Odometry, topics.GROUND_TRUTH, _ground_truth, reliable)
        if "odom" in kinds:
            self._hear(Odometry, topics.ODOMETRY, _odometry, reliable)
        if "joy" in kinds:
            self._hear(Joy, topics.JOY, _joy, reliable)
        for name, topic in _IMU.topics(imus).items():
            if name in items["imu"]:
                self._hear(Imu, topic, partial(_imu, name), sensor)
        for name, topic in _CONTACT.topics(items["contact"]).items():
            self._hear(WrenchStamped, topic, partial(_wrench, f"contact/{name}"), sensor)
        for name, topic in _FORCE_TORQUE.topics(items["force_torque"]).items():
            self._hear(WrenchStamped, topic, partial(_wrench, f"force_torque/{name}"), sensor)

    def _hear(self, kind: type, topic: str, read: Callable[[Any], Iterator[tuple[str, float]]], quality) -> None:
        def take(message: Any) -> None:
            now = self._clock()
            with self._lock:
                self._measured.update((name, (value, now)) for name, value in read(message))

        self._node.create_subscription(kind, topic, take, quality)


def _count(names: Collection[str], beginning: str) -> int:
    """Length of an array that holds all numbered signals of a beginning."""
    numbers = [int(name.removeprefix(beginning)) for name in names if name.startswith(beginning)]
    return max(numbers, default=-1) + 1


def _joint_commands(now: int, commands: Mapping[str, float]) -> JointState:
    """Commands by ``<joint>/<quantity>`` as a message; quantities that are not commanded are NaN."""
    joints = {name.rpartition("/")[0]: (name.rpartition("/")[2], value) for name, value in commands.items()}
    message = JointState(name=list(joints))
    messages.set_stamp(message.header.stamp, now)
    for quantity in ("position", "velocity", "effort"):
        if any(one == quantity for one, _ in joints.values()):
            setattr(message, quantity, [value if one == quantity else math.nan for one, value in joints.values()])
    return message


def _joint_states(message: JointState) -> Iterator[tuple[str, float]]:
    for quantity in ("position", "velocity", "effort"):
        for name, value in zip(message.name, getattr(message, quantity), strict=False):
            yield f"joint/{name}/{quantity}", value


def _hydraulics(message: DynamicInterfaceGroupValues) -> Iterator[tuple[str, float]]:
    for group, values in zip(message.interface_groups, message.interface_values, strict=False):
        for name, value in zip(values.interface_names, values.values, strict=False):
            yield f"hydraulics/{group}/{name}", value


def _ground_truth(message: Odometry) -> Iterator[tuple[str, float]]:
    place = message.pose.pose.position
    yield from _parts("pose/", place)
    yield from _angles("pose/", message.pose.pose.orientation)
    yield from _parts("twist/linear_", message.twist.twist.linear)
    yield from _parts("twist/angular_", message.twist.twist.angular)


def _odometry(message: Odometry) -> Iterator[tuple[str, float]]:
    twist = message.twist.twist
    values = (twist.linear.x, twist.linear.y, twist.angular.z)
    return ((f"odom/{name}", value) for name, value in zip(_TWIST, values, strict=True))


def _imu(name: str, message: Imu) -> Iterator[tuple[str, float]]:
    yield from _angles(f"imu/{name}/", message.orientation)
    yield from _parts(f"imu/{name}/angular_velocity_", message.angular_velocity)
    yield from _parts(f"imu/{name}/linear_acceleration_", message.linear_acceleration)


def _wrench(beginning: str, message: WrenchStamped) -> Iterator[tuple[str, float]]:
    yield from _parts(f"{beginning}/force_", message.wrench.force)
    yield from _parts(f"{beginning}/torque_", message.wrench.torque)


def _joy(message: Joy) -> Iterator[tuple[str, float]]:
    for number, value in enumerate(message.axes):
        yield f"joy/axis_{number}", value
    for number, value in enumerate(message.buttons):
        yield f"joy/button_{number}", float(value)


def _parts(beginning: str, vector: Vector3) -> Iterator[tuple[str, float]]:
    return ((f"{beginning}{axis}", getattr(vector, axis)) for axis in _AXES)


def _angles(beginning: str, turn: Quaternion) -> Iterator[tuple[str, float]]:
    """Roll, pitch and yaw of a unit quaternion, about the fixed axes x, y and z in this order [rad]."""
    x, y, z, w = turn.x, turn.y, turn.z, turn.w
    yield f"{beginning}roll", math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    yield f"{beginning}pitch", math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
    yield f"{beginning}yaw", math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
