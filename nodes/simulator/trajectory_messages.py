"""Trajectories, their tolerances and their progress as messages: pure functions."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from trajectory_msgs.msg import JointTrajectory

from grouser.nodes.shared.messages import LARGEST_TARGET, check_length, check_names, doubles, set_stamp
from grouser.physics.base.errors import ParameterError
from grouser.runtime.trajectory import Tolerance, Tolerances, Trajectory, Waypoint
from grouser.runtime.trajectory_following import Progress

# Final speeds up to this count as zero: some senders compute in single precision.
_NO_SPEED = float(np.finfo(np.float32).eps)
_NOT_FOR_ONE_COORDINATE = ("multi_dof_trajectory", "component_path_tolerance", "component_goal_tolerance")


def joint_trajectory(message: JointTrajectory, modes: Mapping[str, str], may_end_moving: bool) -> Trajectory:
    """A trajectory of joints with drives in position or velocity mode.

    Args:
        message: with at least one point.
        modes: joint -> mode of its drive.
        may_end_moving: whether the last point may have velocities other than zero.

    Raises:
        ParameterError: names the field that is not valid.
    """
    joints = tuple(message.joint_names)
    check_names("joint_names", joints, modes, "joints with a servo drive")
    for index, joint in enumerate(joints):
        if modes[joint] == "effort":
            raise ParameterError(
                f"joint_names[{index}]", joint, "a drive in position or velocity mode; it is in effort"
            )
    if not message.points:
        raise ParameterError("points", [], "at least one point")
    waypoints: list[Waypoint] = []
    for index, point in enumerate(message.points):
        field = f"points[{index}]"
        waypoint = _waypoint(field, point, len(joints))
        if waypoint.time < 0.0 or (waypoints and waypoint.time <= waypoints[-1].time):
            raise ParameterError(f"{field}.time_from_start", waypoint.time, "0 s or more, and more than the one before")
        waypoints.append(waypoint)
    last = waypoints[-1].velocity
    if last is not None and np.any(np.abs(last) > _NO_SPEED) and not may_end_moving:
        valid = "zero at the end, unless the parameter allow_nonzero_velocity_at_trajectory_end says otherwise"
        raise ParameterError(f"points[{len(waypoints) - 1}].velocities", last.tolist(), valid)
    stamp = message.header.stamp
    start = seconds(stamp) if stamp.sec or stamp.nanosec else None
    return Trajectory(joints, tuple(waypoints), start)


def goal_trajectory(goal: FollowJointTrajectory.Goal, modes: Mapping[str, str], may_end_moving: bool) -> Trajectory:
    """The trajectory of a goal, as `joint_trajectory` reads it.

    Raises:
        ParameterError: names the field that is not valid, or is for joints with several coordinates.
    """
    for field in _NOT_FOR_ONE_COORDINATE:
        value = getattr(goal, field)
        if value.joint_names or value.points if field == "multi_dof_trajectory" else value:
            raise ParameterError(field, "not empty", "empty: it is for joints with several coordinates")
    return joint_trajectory(goal.trajectory, modes, may_end_moving)


def goal_tolerances(goal: FollowJointTrajectory.Goal, defaults: Tolerances) -> Tolerances:
    """The tolerances of a goal: 0 stands for the default, a negative number for none.

    Args:
        goal: whose trajectory is valid.
        defaults: of its joints.

    Raises:
        ParameterError: names the field that is not valid.
    """
    joints = goal.trajectory.joint_names
    return Tolerances(
        _tolerance("path_tolerance", goal.path_tolerance, joints, defaults.path),
        _tolerance("goal_tolerance", goal.goal_tolerance, joints, defaults.goal),
        _resolved(seconds(goal.goal_time_tolerance), defaults.goal_time),
    )


def feedback(progress: Progress, nanoseconds: int) -> FollowJointTrajectory.Feedback:
    """Desired and actual motion of joints at a time [ns]; accelerations are not measured."""
    message = FollowJointTrajectory.Feedback(joint_names=list(progress.joints))
    set_stamp(message.header.stamp, nanoseconds)
    desired, position, velocity = progress.desired, progress.position, progress.velocity
    for point, values in (
        (message.desired, (desired.position, desired.velocity, desired.acceleration)),
        (message.actual, (position, velocity)),
        (message.error, (desired.position - position, desired.velocity - velocity)),
    ):
        set_stamp(point.time_from_start, round(1e9 * progress.elapsed))
        for field, numbers in zip(("positions", "velocities", "accelerations"), values, strict=False):
            setattr(point, field, doubles(numbers))
    return message


def seconds(time: Duration | Time) -> float:
    """A time [s]."""
    return time.sec + 1e-9 * time.nanosec


def _waypoint(field, point, count):
    parts = {}
    for name in ("positions", "velocities", "accelerations"):
        values = np.array(getattr(point, name))
        if len(values) or name == "positions":
            check_length(f"{field}.{name}", values, count, "one value for each joint")
            if not (np.abs(values) <= LARGEST_TARGET).all():  # NaN is refused too
                raise ParameterError(f"{field}.{name}", values.tolist(), "finite numbers")
            parts[name] = values
    if "accelerations" in parts and "velocities" not in parts:
        raise ParameterError(f"{field}.accelerations", parts["accelerations"].tolist(), "empty without velocities")
    check_length(f"{field}.effort", point.effort, 0, "no efforts: drives take positions or velocities")
    return Waypoint(seconds(point.time_from_start), *parts.values())


def _tolerance(field, entries: Sequence[JointTolerance], joints, default):
    if entries:
        check_names(f"{field}.name", [entry.name for entry in entries], joints, "joints of the trajectory")
    position, velocity = default.position.copy(), default.velocity.copy()
    for index, entry in enumerate(entries):
        place = joints.index(entry.name)
        for quantity, allowed in (("position", position), ("velocity", velocity)):
            value = getattr(entry, quantity)
            if math.isnan(value):
                raise ParameterError(f"{field}[{index}].{quantity}", value, "a number")
            allowed[place] = _resolved(value, allowed[place])
    return Tolerance(position, velocity)


def _resolved(value, default):
    return default if value == 0.0 else math.inf if value < 0.0 else value
