"""Drives a machine to waypoints around obstacles: ``python -m grouser.nodes.navigation.goal_follower``.

Subscribes to ``odom``, ``scan``, ``/tf``, ``/tf_static`` and ``goal_pose``; publishes ``cmd_vel``. With the parameter
`waypoints` it ends when the last of them is reached, or when it gives up; without, it waits for goals. It is an example
that needs nothing but rclpy; where Nav2 is installed, use that (docs/navigation.md).
"""

import math
import sys
import threading
from collections import deque
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import LaserScan
from tf2_msgs.msg import TFMessage

from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.parameters import Declaration, declare, stamped_by_default
from grouser.nodes.shared.process import run_node, spin_until
from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose, rotate
from grouser.runtime.goal_following import GoalFollower, Manners, ObstacleMemory, Place, PlanarPose

_WARNING_PERIOD = 5.0  # [s]
_EXIT_GAVE_UP = 1
# Number of odometry messages kept: a scan arrives a little after the odometry of its time.
_REMEMBERED = 50
# Odometry may come this much before its time [s].
_ROUNDING = 0.5e-3
_LATCHED_TF = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_MANNERS = Manners()


def _manner(name: str, description: str, lowest: float, highest: float) -> Declaration:
    return Declaration(getattr(_MANNERS, name), description, True, lowest, highest)


DECLARATIONS: dict[str, Declaration] = {
    "waypoints": Declaration(("",), "Where to go, one after the other, each as 'x y' [m]; empty: wait for goal_pose."),
    "frame": Declaration("odom", "Frame of the waypoints: the odometry's own, or the one that TF has above it."),
    "base_frame": Declaration("base_link", "Frame that a TwistStamped names: the machine's own."),
    "enable_stamped_cmd_vel": Declaration(
        stamped_by_default(),
        "Whether cmd_vel is a TwistStamped or a Twist; by default as the ROS distribution has it: stamped from Kilted.",
    ),
    "rate": Declaration(20.0, "Rate of cmd_vel [Hz of simulation time]; at most that of odom.", True, 1.0, 1000.0),
    "scan_timeout": Declaration(
        0.5, "The machine stops when scan has been silent for so long [s of simulation time].", True, 0.01, 60.0
    ),
    "odom_timeout": Declaration(
        1.0, "The machine stops when odom has been silent for so long [s of wall time].", True, 0.01, 60.0
    ),
    "radius": _manner("radius", "Of the circle about its origin that the machine keeps free [m].", 0.01, 100.0),
    "view": _manner("view", "Distance up to which obstacles matter [m].", 0.1, 100.0),
    "tolerance": _manner("tolerance", "Distance at which a waypoint is reached [m].", 0.01, 100.0),
    "speed": _manner("speed", "Greatest speed [m/s].", 0.001, 100.0),
    "yaw_rate": _manner("yaw_rate", "Greatest yaw rate [rad/s].", 0.001, 100.0),
    "headway": _manner("headway", "Time in which it would reach what is ahead [s].", 0.1, 100.0),
    "steering_time": _manner("steering_time", "In which it turns into the wanted direction [s].", 0.1, 100.0),
    "patience": _manner("patience", "It gives up when it came no nearer for so long [s].", 1.0, 3600.0),
    "progress": _manner("progress", "How much nearer it must come meanwhile [m].", 0.001, 100.0),
}


class GoalFollowerNode(Node):
    """Converts what a machine says of itself to a twist, by `goal_following`.

    Args:
        overrides: parameters that come before those of the command line and of files.

    Raises:
        GrouserError: a parameter is not valid.

    Attributes:
        ended: whether it has reached the last of its waypoints, or has given up.
        problem: why it gave up; "" if it did not.
    """

    def __init__(self, overrides: Sequence[Parameter] = ()) -> None:
        super().__init__("goal_follower", parameter_overrides=list(overrides))
        values = declare(self, DECLARATIONS)
        self._manners = Manners(**{name: values[name] for name in Manners.__dataclass_fields__})
        self._frame, self._base_frame = values["frame"], values["base_frame"]
        self._stamped = values["enable_stamped_cmd_vel"]
        self._period = 1.0 / values["rate"]
        self._scan_timeout, self._odom_timeout = values["scan_timeout"], values["odom_timeout"]
        waypoints = [read_place(text) for text in values["waypoints"]]
        self._on_a_tour = bool(waypoints)
        self.ended = False
        self.problem = ""
        self._follower = GoalFollower(self._manners, waypoints)
        self._reached = 0
        self._memory = ObstacleMemory(self._manners.view + self._manners.radius)
        self._frames = ReceivedFrames()
        self._odom_frame = ""
        self._poses: deque[tuple[int, PlanarPose]] = deque(maxlen=_REMEMBERED)
        self._scanned = -math.inf
        self._commanded = -math.inf
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._received_at = self._now()
        self._twist = self.create_publisher(TwistStamped if self._stamped else Twist, topics.CMD_VEL, topics.RELIABLE)
        self.create_subscription(Odometry, topics.ODOMETRY, self._on_odometry, topics.RELIABLE)
        self.create_subscription(LaserScan, topics.SCAN, self._on_scan, topics.SENSOR_DATA)
        self.create_subscription(TFMessage, topics.TF, self._on_transforms, topics.TF_QUALITY)
        self.create_subscription(TFMessage, topics.TF_STATIC, self._on_static_transforms, _LATCHED_TF)
        self.create_subscription(PoseStamped, topics.GOAL_POSE, self._on_goal, topics.RELIABLE)
        self.create_timer(0.5 * self._odom_timeout, self._look_at_clock, clock=self._steady)

    def stop(self) -> None:
        """Stops the machine."""
        stamp = self._poses[-1][0] if self._poses else 0
        self._publish_twist(stamp, 0.0, 0.0)

    def _on_static_transforms(self, message: TFMessage) -> None:
        for transform in message.transforms:
            self._receive(transform)

    def _on_transforms(self, message: TFMessage) -> None:
        """Takes the odometry frame only: `odom` gives the machine's pose in it."""
        for transform in message.transforms:
            if transform.child_frame_id == self._odom_frame:
                self._receive(transform)

    def _receive(self, transform) -> None:
        place, turn = transform.transform.translation, transform.transform.rotation
        try:
            pose = Pose((place.x, place.y, place.z), (turn.x, turn.y, turn.z, turn.w))
        except ParameterError as error:
            self._warn(f"the transform of {transform.child_frame_id} is refused: {error}")
            return
        self._frames.receive(transform.child_frame_id, transform.header.frame_id, pose)

    def _on_scan(self, message: LaserScan) -> None:
        stamp = messages.nanoseconds_of(message.header.stamp)
        if not self._poses:
            return
        base = min(self._poses, key=lambda entry: abs(entry[0] - stamp))[1]
        lidar = mounted(base, self._frames.world(message.header.frame_id))
        bearings = message.angle_min + message.angle_increment * np.arange(len(message.ranges))
        ranges = np.array(message.ranges)
        ranges[ranges < message.range_min] = math.nan
        self._memory.see(lidar, ranges, bearings)
        self._scanned = 1e-9 * stamp

    def _on_odometry(self, message: Odometry) -> None:
        self._received_at = self._now()
        self._odom_frame = message.header.frame_id
        stamp = messages.nanoseconds_of(message.header.stamp)
        now = 1e-9 * stamp
        if self._poses and stamp < self._poses[-1][0]:
            self._start_again()
        pose, problem = self._placed(message)
        if pose is not None:
            self._poses.append((stamp, pose))
        if not self._follower.waypoints or now < self._commanded + self._period - _ROUNDING:
            return
        self._commanded = now
        if pose is not None and now - self._scanned <= self._scan_timeout:
            self._act(stamp, pose)
        else:
            # A zero twist rather than nothing: a simulation in lockstep waits for the command.
            self._warn(problem or f"{topics.SCAN} is silent")
            self._publish_twist(stamp, 0.0, 0.0)

    def _placed(self, message: Odometry) -> tuple[PlanarPose | None, str]:
        """The pose in the frame of the waypoints; None with the reason if it is not known."""
        try:
            pose = _pose(message)
        except ParameterError as error:
            return None, f"{topics.ODOMETRY} refused: {error}"
        if self._frame != self._odom_frame:
            if not self._frames.known(self._odom_frame):
                return None, f"{topics.TF} has no transform from {self._frame} to {self._odom_frame}"
            pose = compose(self._frames.world(self._odom_frame), pose)
        return planar(pose), ""

    def _act(self, stamp: int, pose: PlanarPose) -> None:
        step = self._follower.step(1e-9 * stamp, pose, self._memory.points)
        self._publish_twist(stamp, step.speed, step.yaw_rate)
        for number in range(self._reached, step.reached):
            x, y = self._follower.waypoints[number]
            self.get_logger().info(f"waypoint {number + 1} at {x:g}, {y:g} is reached")
        self._reached = step.reached
        if step.problem:
            self.get_logger().error(step.problem)
        if step.problem or step.reached == len(self._follower.waypoints):
            self.problem = step.problem
            self.ended = self._on_a_tour
            self._follower = GoalFollower(self._manners, ())

    def _on_goal(self, message: PoseStamped) -> None:
        goal = message.pose.position.x, message.pose.position.y
        if message.header.frame_id != self._frame or not np.isfinite(goal).all():
            self._warn(
                f"{topics.GOAL_POSE} refused: it must be finite and in the frame {self._frame}, "
                f"it is in {message.header.frame_id!r}"
            )
            return
        self._follower, self._reached = GoalFollower(self._manners, [goal]), 0

    def _start_again(self) -> None:
        """Clears all that was received, after simulation time was set back."""
        self._poses.clear()
        self._memory = ObstacleMemory(self._manners.view + self._manners.radius)
        self._scanned = self._commanded = -math.inf
        self._follower = GoalFollower(self._manners, self._follower.waypoints[self._reached :])
        self._reached = 0

    def _look_at_clock(self) -> None:
        if self._now() - self._received_at > self._odom_timeout:
            self._warn(f"{topics.ODOMETRY} is silent")
            self.stop()

    def _now(self) -> float:
        return 1e-9 * self._steady.now().nanoseconds

    def _publish_twist(self, stamp: int, speed: float, yaw_rate: float) -> None:
        twist = (speed, 0.0, yaw_rate)
        self._twist.publish(
            messages.make_stamped_twist(self._base_frame, stamp, twist) if self._stamped else messages.make_twist(twist)
        )

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=_WARNING_PERIOD)


def read_place(text: str) -> Place:
    """A waypoint from its text, as '3.0 -1.5'.

    Raises:
        ParameterError: it is not two finite numbers.
    """
    try:
        x, y = (float(number) for number in text.replace(",", " ").split())
    except ValueError:
        x = y = math.nan
    if not (math.isfinite(x) and math.isfinite(y)):
        raise ParameterError("waypoints", text, "two numbers each, x and y, as '3.0 -1.5'")
    return x, y


def planar(pose: Pose) -> PlanarPose:
    """The planar part of a pose."""
    ahead = rotate(pose.quaternion, (1.0, 0.0, 0.0))
    return pose.position[0], pose.position[1], math.atan2(ahead[1], ahead[0])


def mounted(base: PlanarPose, mount: Pose) -> PlanarPose:
    """Planar pose of a sensor that is mounted upright on a base."""
    x, y, yaw = base
    forward, left, turn = planar(mount)
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return x + cosine * forward - sine * left, y + sine * forward + cosine * left, yaw + turn


def _pose(message: Odometry) -> Pose:
    x, y, z, *turn = messages.pose_array(message.pose.pose).tolist()
    return Pose((x, y, z), tuple(turn))


def _spin(node: GoalFollowerNode, executor: Executor, stop: threading.Event) -> None:
    spin_until(lambda: stop.is_set() or node.ended, executor)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the node until it reaches the last waypoint, gives up, or receives a signal.

    Returns:
        The exit status: 0, 1 when it gave up, 2 for an invalid parameter.
    """
    gave_up = False

    def finish(node: GoalFollowerNode) -> None:
        nonlocal gave_up
        node.stop()
        gave_up = bool(node.problem)

    status = run_node("goal_follower", GoalFollowerNode, finish, arguments, _spin)
    return status or (_EXIT_GAVE_UP if gave_up else 0)


if __name__ == "__main__":
    sys.exit(main())
