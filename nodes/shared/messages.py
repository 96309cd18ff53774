"""Conversion between arrays and messages: pure functions.

A message that is sent often is made once (`make_…`) and filled for each sample (`fill_…`). Its number fields are
`array.array`, which rclpy takes without a check of every element.
"""

from array import array
from collections.abc import Collection, Mapping, Sequence, Sized
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_msgs.msg import DynamicInterfaceGroupValues, InterfaceValue
from geometry_msgs.msg import Pose, TransformStamped, Twist, TwistStamped, WrenchStamped
from nav_msgs.msg import OccupancyGrid, Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu as ImuMessage
from sensor_msgs.msg import JointState, LaserScan, PointCloud2, PointField
from std_msgs.msg import Float64MultiArray
from tf2_msgs.msg import TFMessage

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.sensors import Imu, Lidar
from grouser.physics.description.text.names import closest
from grouser.program import TWIST
from grouser.runtime.sampling import CostGrid

if TYPE_CHECKING:
    from grouser.physics.sensors.imu import ImuReading
    from grouser.physics.sensors.lidar import LidarScan
    from grouser.runtime.frames import FramePair

SPOOL_COMMAND = "spool_command"
# Variance of what planar odometry does not measure: height, roll and pitch [m2, rad2].
UNMEASURED = 1e6
_UNKNOWN = -1
# Side of a block of cells by which grids of costs grow [m].
_BLOCK = 4.0
# First number of the covariance of a quantity that a sensor does not measure (REP-145).
_NOT_MEASURED = -1.0
# Largest target of a joint, in its unit: finite after multiplication by a drive's stiffness.
LARGEST_TARGET = 1e100
_LONGEST_REFUSAL = 400  # characters
_JOINT_FIELDS = ("position", "velocity", "effort")


def set_stamp(stamp: Time | Duration, nanoseconds: int) -> None:
    """Writes a time [ns] into a stamp."""
    stamp.sec, stamp.nanosec = divmod(nanoseconds, 1_000_000_000)


def nanoseconds_of(stamp: Time) -> int:
    """The time of a stamp [ns]."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def fill_clock(message: Clock, nanoseconds: int) -> None:
    """Writes simulation time [ns]."""
    set_stamp(message.clock, nanoseconds)


def make_joint_state(names: Sequence[str]) -> JointState:
    """A message for joints in this order."""
    return JointState(name=list(names))


def fill_joint_state(message: JointState, nanoseconds: int, joints: np.ndarray) -> None:
    """Writes positions [rad or m], velocities [rad/s or m/s] and efforts [N m or N]: the rows of `joints`."""
    set_stamp(message.header.stamp, nanoseconds)
    message.position = doubles(joints[0])
    message.velocity = doubles(joints[1])
    message.effort = doubles(joints[2])


def fill_joint_efforts(message: JointState, stamp: Time, efforts: np.ndarray) -> None:
    """Writes a time and efforts [N m or N], shape (number of joints,)."""
    message.header.stamp = stamp
    message.effort = doubles(efforts)


def make_transforms(pairs: "Sequence[FramePair]") -> TFMessage:
    """A message with a transform for each pair (parent frame, child frame)."""
    message = TFMessage()
    for parent, child in pairs:
        transform = TransformStamped(child_frame_id=child)
        transform.header.frame_id = parent
        message.transforms.append(transform)
    return message


def fill_transforms(message: TFMessage, nanoseconds: int, poses: np.ndarray) -> None:
    """Writes the poses x y z qx qy qz qw of the child frames in their parents, shape (number of transforms, 7)."""
    for transform, pose in zip(message.transforms, poses.tolist(), strict=True):
        set_stamp(transform.header.stamp, nanoseconds)
        translation, rotation = transform.transform.translation, transform.transform.rotation
        translation.x, translation.y, translation.z, rotation.x, rotation.y, rotation.z, rotation.w = pose


def make_wrench(frame: str) -> WrenchStamped:
    """A message for a wrench in this frame."""
    message = WrenchStamped()
    message.header.frame_id = frame
    return message


def fill_wrench(message: WrenchStamped, nanoseconds: int, wrench: np.ndarray) -> None:
    """Writes force [N] and moment [N m], shape (6,)."""
    set_stamp(message.header.stamp, nanoseconds)
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench.tolist()


def make_group_values(groups: Sequence[tuple[str, Sequence[str]]]) -> DynamicInterfaceGroupValues:
    """A message with groups and the interfaces of each."""
    return DynamicInterfaceGroupValues(
        interface_groups=[group for group, _ in groups],
        interface_values=[InterfaceValue(interface_names=list(interfaces)) for _, interfaces in groups],
    )


def fill_group_values(message: DynamicInterfaceGroupValues, nanoseconds: int, values: Sequence[np.ndarray]) -> None:
    """Writes the values of each group."""
    set_stamp(message.header.stamp, nanoseconds)
    for group, row in zip(message.interface_values, values, strict=True):
        group.values = doubles(row)


def make_odometry(frame: str, child: str) -> Odometry:
    """A message for the pose of `child` in `frame`, with a twist in `child`."""
    message = Odometry(child_frame_id=child)
    message.header.frame_id = frame
    return message


def fill_odometry(message: Odometry, nanoseconds: int, pose: np.ndarray, twist: np.ndarray) -> None:
    """Writes a pose x y z qx qy qz qw, (7,), and a twist, linear then angular [m/s, rad/s], (6,)."""
    set_stamp(message.header.stamp, nanoseconds)
    _fill_pose(message.pose.pose, pose)
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = twist.tolist()


def fill_planar_covariances(message: Odometry, of_pose: np.ndarray, of_twist: np.ndarray) -> None:
    """Writes the covariances of x, y and yaw, (3, 3) each; height, roll and pitch are `UNMEASURED`."""
    message.pose.covariance = _planar_covariance(of_pose)
    message.twist.covariance = _planar_covariance(of_twist)


def _planar_covariance(covariance: np.ndarray) -> np.ndarray:
    whole = UNMEASURED * np.eye(6)
    planar = [0, 1, 5]
    whole[np.ix_(planar, planar)] = covariance
    return whole.ravel()


def _fill_pose(message: Pose, pose: np.ndarray) -> None:
    place, turn = message.position, message.orientation
    place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = pose.tolist()


def pose_array(message: Pose) -> np.ndarray:
    """A pose as x y z qx qy qz qw, (7,)."""
    place, turn = message.position, message.orientation
    return np.array([place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w])


def make_imu(frame: str, imu: Imu) -> ImuMessage:
    """A message for an inertial measurement unit, with the variances of its white noise.

    Covariances of zero are unknown (REP-145): those of quantities without noise. The bias is not part of them, as it is
    the same in many samples.
    """
    message = ImuMessage()
    message.header.frame_id = frame
    message.orientation_covariance = (imu.orientation_noise**2 * np.eye(3)).ravel()
    message.angular_velocity_covariance = (imu.gyroscope_deviation**2 * np.eye(3)).ravel()
    message.linear_acceleration_covariance = (imu.accelerometer_deviation**2 * np.eye(3)).ravel()
    return message


def fill_imu(message: ImuMessage, nanoseconds: int, reading: "ImuReading") -> None:
    """Writes orientation in the world, angular velocity and specific force, which is up at rest."""
    set_stamp(message.header.stamp, nanoseconds)
    turn, rate, force = message.orientation, message.angular_velocity, message.linear_acceleration
    turn.x, turn.y, turn.z, turn.w = reading.orientation.tolist()
    rate.x, rate.y, rate.z = reading.angular_velocity.tolist()
    force.x, force.y, force.z = reading.specific_force.tolist()


def imu_attitude(message: ImuMessage) -> tuple[np.ndarray, np.ndarray]:
    """Orientation, unit quaternion x y z w (4,), and angular velocity in the unit's frame [rad/s], (3,).

    Raises:
        ParameterError: names the field that is not finite, or an orientation that is not known (REP-145).
    """
    turn, rate = message.orientation, message.angular_velocity
    quaternion, omega = np.array([turn.x, turn.y, turn.z, turn.w]), np.array([rate.x, rate.y, rate.z])
    length = float(np.linalg.norm(quaternion))
    if message.orientation_covariance[0] == _NOT_MEASURED:
        raise ParameterError("orientation_covariance[0]", _NOT_MEASURED, "0 or more: the orientation is needed")
    if not (np.isfinite(length) and length > 0.0):
        raise ParameterError("orientation", quaternion.tolist(), "a quaternion: finite, and not zero")
    if not np.isfinite(omega).all():
        raise ParameterError("angular_velocity", omega.tolist(), "finite numbers")
    return quaternion / length, omega


def make_scan(frame: str, lidar: Lidar, interval: float) -> LaserScan:
    """A message for the scans of a lidar in a frame, each of one instant and an interval [s] after the last one."""
    message = LaserScan(
        angle_min=lidar.angle_min,
        angle_max=lidar.angle_max,
        angle_increment=lidar.angle_increment,
        time_increment=0.0,
        scan_time=interval,
        range_min=lidar.range_min,
        range_max=lidar.range_max,
    )
    message.header.frame_id = frame
    return message


def fill_scan(message: LaserScan, nanoseconds: int, scan: "LidarScan") -> None:
    """Writes distances [m]; infinite values have the meaning of `LidarScan` (REP-117)."""
    set_stamp(message.header.stamp, nanoseconds)
    message.ranges = array("f", scan.ranges.astype(np.float32).tobytes())


def point_cloud(frame: str, nanoseconds: int, columns: Mapping[str, np.ndarray]) -> PointCloud2:
    """Points with these fields as 32-bit floats, shape (number of points,) each."""
    points = np.column_stack(list(columns.values())).astype("<f4")
    message = PointCloud2(
        height=1,
        width=len(points),
        fields=[
            PointField(name=name, offset=4 * place, datatype=PointField.FLOAT32, count=1)
            for place, name in enumerate(columns)
        ],
        is_bigendian=False,
        point_step=4 * len(columns),
        row_step=4 * len(columns) * len(points),
        data=array("B", points.tobytes()),
        is_dense=bool(np.isfinite(points).all()),
    )
    message.header.frame_id = frame
    set_stamp(message.header.stamp, nanoseconds)
    return message


def cost_grid(frame: str, nanoseconds: int, grid: CostGrid) -> OccupancyGrid:
    """Costs from 0 to 1 as a grid of 0 to 100; cells that are not in the patch are unknown.

    The grid consists of whole blocks of `_BLOCK`, in which cells of the patch or the machine are. It is never empty,
    which Nav2 refuses, and does not change its size with every new cell, for which Nav2 would make its layer anew.
    """
    patch, message = grid.patch, OccupancyGrid()
    message.header.frame_id = frame
    set_stamp(message.header.stamp, nanoseconds)
    message.info.map_load_time = message.header.stamp
    message.info.resolution = float(patch.cell)
    message.info.origin.orientation.w = 1.0
    block = max(1, round(_BLOCK / patch.cell))
    known = np.rint(np.column_stack([patch.x, patch.y]) / patch.cell).astype(int)
    occupied = np.vstack([known, np.rint(grid.machine / patch.cell).astype(int)]) // block
    first, last = block * occupied.min(axis=0), block * (occupied.max(axis=0) + 1)
    message.info.width, message.info.height = (last - first).tolist()
    message.info.origin.position.x, message.info.origin.position.y = ((first - 0.5) * patch.cell).tolist()
    cells = np.full((message.info.height, message.info.width), _UNKNOWN, dtype=np.int8)
    columns, rows = (known - first).T
    cells[rows, columns] = np.rint(100.0 * grid.costs)
    message.data = array("b", cells.tobytes())
    return message


def make_valve_commands(nanoseconds: int, commands: Mapping[str, float]) -> DynamicInterfaceGroupValues:
    """Spool commands by valve, as `valve_commands` reads them."""
    message = make_group_values([(valve, (SPOOL_COMMAND,)) for valve in commands])
    fill_group_values(message, nanoseconds, [np.array([command]) for command in commands.values()])
    return message


def make_joint_commands(
    nanoseconds: int,
    velocities: Mapping[str, float],
    efforts: Mapping[str, float],
    positions: Mapping[str, float] = MappingProxyType({}),
) -> JointState:
    """Velocities [rad/s or m/s], efforts [N m or N] and positions [rad or m] by joint, as `joint_commands` reads them.

    Quantities that are not commanded are NaN; a field that no joint needs is empty.
    """
    names = [*velocities, *efforts, *positions]
    message = JointState(name=names)
    set_stamp(message.header.stamp, nanoseconds)
    for field, values in (("velocity", velocities), ("effort", efforts), ("position", positions)):
        if values:
            setattr(message, field, [values.get(name, np.nan) for name in names])
    return message


def make_twist(twist: Sequence[float]) -> Twist:
    """Speeds forward and to the left [m/s] and yaw rate [rad/s], as `twist_command` reads them."""
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = twist
    return message


def make_stamped_twist(frame: str, nanoseconds: int, twist: Sequence[float]) -> TwistStamped:
    """The same with the frame of its axes."""
    message = TwistStamped(twist=make_twist(twist))
    message.header.frame_id = frame
    set_stamp(message.header.stamp, nanoseconds)
    return message


def twist_command(message: Twist | TwistStamped) -> dict[str, float]:
    """Forward and sideways speed [m/s] and yaw rate [rad/s] by the names of `program.TWIST`; the rest is ignored.

    Raises:
        ParameterError: names the field that is not a finite number.
    """
    twist = message.twist if isinstance(message, TwistStamped) else message
    for part in ("linear", "angular"):
        for axis in ("x", "y", "z"):
            value = getattr(getattr(twist, part), axis)
            if not np.isfinite(value):
                raise ParameterError(f"{part}.{axis}", value, "a finite number")
    return dict(zip(TWIST, (twist.linear.x, twist.linear.y, twist.angular.z), strict=True))


def push_of(message: WrenchStamped, prefix: str) -> tuple[str, Vector3, Vector3]:
    """Link, force at its origin [N] and moment [N m] of a push, along the axes of the link.

    Args:
        message: in the frame of the link.
        prefix: of the frames of the machine.

    Raises:
        ParameterError: names the field that is empty or not a finite number.
    """
    link = message.header.frame_id.removeprefix(prefix)
    if not link:
        raise ParameterError("header.frame_id", message.header.frame_id, "the frame of a link or of an object")
    parts = []
    for part in ("force", "torque"):
        vector = getattr(message.wrench, part)
        values = (vector.x, vector.y, vector.z)
        for axis, value in zip("xyz", values, strict=True):
            if not np.isfinite(value):
                raise ParameterError(f"wrench.{part}.{axis}", value, "a finite number")
        parts.append(values)
    return link, parts[0], parts[1]


def make_push(frame: str, nanoseconds: int, force: Vector3, moment: Vector3) -> WrenchStamped:
    """A push on the link of a frame; arguments as `push_of` returns them."""
    message = make_wrench(frame)
    fill_wrench(message, nanoseconds, np.array([*force, *moment]))
    return message


def valve_commands(message: DynamicInterfaceGroupValues, valves: Sequence[str]) -> dict[str, float]:
    """Spool commands of a message with a group for each valve and the one interface `spool_command` in it.

    Raises:
        ParameterError: names the field that is not valid: an unknown valve or interface, a wrong length, a value that
            is not in [-1, 1].
    """
    groups, values = message.interface_groups, message.interface_values
    check_length("interface_values", values, len(groups), "one entry for each of interface_groups")
    check_names("interface_groups", groups, valves, "valves")
    commands = {}
    for index, (group, entry) in enumerate(zip(groups, values, strict=True)):
        field = f"interface_values[{index}]"
        if list(entry.interface_names) != [SPOOL_COMMAND]:
            raise ParameterError(f"{field}.interface_names", list(entry.interface_names), f"['{SPOOL_COMMAND}']")
        check_length(f"{field}.values", entry.values, 1, "one value")
        commands[group] = _checked_spool(f"{field}.values[0]", entry.values[0])
    return commands


def group_of(message: DynamicInterfaceGroupValues, group: str) -> dict[str, float]:
    """Values by the name of their interface, of a message with one group.

    Raises:
        ParameterError: there is another group or several, or names and values differ in number.
    """
    if list(message.interface_groups) != [group]:
        raise ParameterError("interface_groups", list(message.interface_groups), f"['{group}']")
    check_length("interface_values", message.interface_values, 1, "one entry")
    entry = message.interface_values[0]
    check_length("interface_values[0].values", entry.values, len(entry.interface_names), "one value for each name")
    return dict(zip(entry.interface_names, entry.values, strict=True))


def valve_array_commands(message: Float64MultiArray, valves: Sequence[str]) -> dict[str, float]:
    """Spool commands in the order of `valves`.

    Raises:
        ParameterError: names the field that is not valid: a wrong length, a value that is not in [-1, 1].
    """
    check_length("data", message.data, len(valves), f"one value for each valve: {', '.join(valves)}")
    return {valve: _checked_spool(f"data[{index}]", message.data[index]) for index, valve in enumerate(valves)}


def joint_commands(message: JointState, modes: Mapping[str, str]) -> dict[str, float]:
    """Targets of driven joints, each from the field of its drive's mode.

    Entries of other fields are ignored: a controller that commands velocities may leave positions NaN.

    Args:
        message: the command.
        modes: joint -> position, velocity or effort.

    Raises:
        ParameterError: names the field that is not valid: an unknown joint, a wrong length, a value that is not finite.
    """
    names = message.name
    check_names("name", names, modes, "joints with a servo drive")
    for field in _JOINT_FIELDS:
        values = getattr(message, field)
        if len(values):
            check_length(field, values, len(names), "as many values as names, or none")
    commands = {}
    for index, name in enumerate(names):
        field = modes[name]
        values = getattr(message, field)
        if not len(values):
            raise ParameterError(field, list(values), f"a value for {name}, whose drive is in {modes[name]} mode")
        if not abs(values[index]) <= LARGEST_TARGET:  # NaN is refused too
            raise ParameterError(f"{field}[{index}]", values[index], f"a finite number for {name}")
        commands[name] = float(values[index])
    return commands


def doubles(values: np.ndarray) -> array:
    """Numbers for a field of a message."""
    return array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def refusal_text(source: str, error: ParameterError) -> str:
    """Text for a refused command with field, value and valid values, shortened if it is long."""
    text = f"{source} refused: {error}"
    return (
        text
        if len(text) <= _LONGEST_REFUSAL
        else f"{text[: _LONGEST_REFUSAL // 2]} ... {text[-_LONGEST_REFUSAL // 2 :]}"
    )


def check_length(field: str, values: Sized, length: int, valid: str) -> None:
    """Raises a ParameterError unless a field has this length, which `valid` describes."""
    if len(values) != length:
        raise ParameterError(f"length of {field}", len(values), f"{length} ({valid})")


def check_names(field: str, names: Sequence[str], known: Collection[str], what: str) -> None:
    """Raises a ParameterError for a field of names that is empty or has an unknown or repeated name."""
    if not names:
        raise ParameterError(field, [], f"at least one of the {what}")
    for index, name in enumerate(names):
        if name not in known:
            raise ParameterError(f"{field}[{index}]", name, f"one of the {what}; {closest(name, known)}")
        if name in names[:index]:
            raise ParameterError(f"{field}[{index}]", name, "each name once")


def _checked_spool(field, value):
    if not -1.0 <= value <= 1.0:  # NaN is refused too
        raise ParameterError(field, value, "a finite number in [-1, 1]")
    return float(value)
