"""Commands a machine by joystick: ``python -m grouser.nodes.operator``.

Subscribes to ``joy`` (sensor_msgs/Joy) of ROS's ``game_controller_node`` or another driver, and, for a pattern that
moves a tip, to ``joint_states``. Publishes ``valve_commands``, ``joint_commands`` and ``cmd_vel``, as the pattern
requires, and ``emergency_stop``. Like teleop_twist_joy it publishes neutral commands once when the dead-man button is
released and nothing while it is up, so that another node can command the machine meanwhile.

The joystick's silence is measured in wall time: the operator need not release a lever while the simulation is paused,
and a slow simulation does not delay the reaction to a lost joystick.
"""

from collections.abc import Sequence

from control_msgs.msg import DynamicInterfaceGroupValues
from geometry_msgs.msg import Twist, TwistStamped
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Bool

from grouser import catalogue
from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.parameters import Declaration, declare, stamped_by_default
from grouser.nodes.shared.process import run_node
from grouser.physics.base.errors import GrouserError, ParameterError
from grouser.physics.description.machine_file.loader import load_machine
from grouser.runtime.control_mapping import ControlMapping
from grouser.runtime.control_mapping_reader import load_control_mapping
from grouser.runtime.operating import Commands, Operating
from grouser.runtime.tip_driving import ArmReading, TipDriver, add_commands, read_arm

_WARNING_PERIOD = 1.0  # [s]
_FAREWELL = Duration(seconds=1)  # longest wait at the end
_STALE = 0.3  # age of joint_states from which the tip stands [s of wall time]

DECLARATIONS: dict[str, Declaration] = {
    "pattern": Declaration(
        "demolition_robot",
        "What the joystick's levers do: path of a YAML file, or the name of one that comes with grouser.",
        read_only=False,
    ),
    "joy_timeout": Declaration(
        0.2, "All is in neutral when joy has been silent for so long [s of wall time].", False, 0.1, 10.0
    ),
    "rate": Declaration(
        50.0, "Rate of the commands while the dead-man button is held [Hz of wall time].", True, 20.0, 1000.0
    ),
    "enable_stamped_cmd_vel": Declaration(
        stamped_by_default(),
        "Whether cmd_vel is a TwistStamped or a Twist; by default as the ROS distribution has it: stamped from Kilted.",
    ),
    "base_frame": Declaration("base_link", "Frame that a TwistStamped names: the machine's own."),
}


class OperatorNode(Node):
    """Converts what a joystick says to commands, by a control pattern.

    Args:
        overrides: parameters that come before those of the command line and of files.

    Raises:
        GrouserError: a parameter or the pattern is not valid.
    """

    def __init__(self, overrides: Sequence[Parameter] = ()) -> None:
        super().__init__("operator", parameter_overrides=list(overrides))
        parameters = declare(self, DECLARATIONS)
        self._period = 1.0 / parameters["rate"]
        self._frame = parameters["base_frame"]
        self._stamped = parameters["enable_stamped_cmd_vel"]
        # Monotonic wall time.
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._accepted = self._load(parameters["pattern"])
        self._operating = Operating(self._accepted[0], self._patience(parameters["joy_timeout"]))
        self._commanding = False
        self._published_stop = False
        self._valves = self.create_publisher(DynamicInterfaceGroupValues, topics.VALVE_COMMANDS, topics.RELIABLE)
        self._joints = self.create_publisher(JointState, topics.JOINT_COMMANDS, topics.RELIABLE)
        self._twist = self.create_publisher(TwistStamped if self._stamped else Twist, topics.CMD_VEL, topics.RELIABLE)
        self._emergency_stop = self.create_publisher(Bool, topics.EMERGENCY_STOP, topics.LATCHED)
        self.create_subscription(Joy, topics.JOY, self._on_joy, topics.RELIABLE)
        self._arm_subscription: Subscription | None = None
        self._use_tip(self._accepted[1])
        self.create_timer(self._period, self._on_tick, clock=self._steady)
        self.add_on_set_parameters_callback(self._refuse)
        self.add_post_set_parameters_callback(self._on_parameters)

    def finish(self) -> None:
        """Leaves the machine in neutral: waits until its subscribers have the last commands."""
        self._operating.stop()
        self._publish_state()
        for publisher in (self._valves, self._joints, self._twist):
            publisher.wait_for_all_acked(_FAREWELL)

    def _load(self, name: str) -> tuple[ControlMapping, TipDriver | None]:
        pattern = load_control_mapping(catalogue.pattern_file(name))
        if pattern.tip is None:
            return pattern, None
        return pattern, TipDriver(pattern.tip, load_machine(catalogue.machine_file(pattern.tip.machine)))

    def _use_tip(self, tip: TipDriver | None) -> None:
        """Moves another tip, or none."""
        self._tip = tip
        self._arm: ArmReading | None = None
        if self._arm_subscription is not None:
            self.destroy_subscription(self._arm_subscription)
            self._arm_subscription = None
        if tip is not None:
            self._arm_subscription = self.create_subscription(
                JointState, topics.JOINT_STATES, self._on_joint_states, topics.RELIABLE
            )

    def _patience(self, joy_timeout: float) -> float:
        """Longest silence at a tick [s]: the next tick would exceed `joy_timeout`."""
        return joy_timeout - self._period

    def _now(self) -> float:
        return 1e-9 * self._steady.now().nanoseconds

    def _on_joy(self, message: Joy) -> None:
        operating, now = self._operating, self._now()
        self._check_silence(now)
        before = operating.mode, operating.speed_range
        try:
            operating.receive(message.axes, message.buttons, now)
        except ParameterError as error:
            self._warn(messages.refusal_text(topics.JOY, error))
        if (operating.mode, operating.speed_range) != before:
            speed, share = operating.pattern.speed_ranges[operating.speed_range]
            self.get_logger().info(f"{operating.mode or 'levers'} at {speed}, {100.0 * share:.0f} % of full speed")
        if not operating.enabled:
            self._publish_state()  # at once, not with the next tick

    def _on_joint_states(self, message: JointState) -> None:
        if self._tip is not None:
            reading = read_arm(self._tip.joints, message.name, message.position, message.velocity, self._now())
            self._arm = self._arm if reading is None else reading

    def _on_tick(self) -> None:
        self._check_silence(self._now())
        self._publish_state()

    def _check_silence(self, now: float) -> None:
        moved = self._operating.enabled
        self._operating.advance(now)
        if moved and not self._operating.enabled:
            self._warn(f"{topics.JOY} is silent: all in neutral; to go on, let go of the dead-man button and press it")

    def _publish_state(self) -> None:
        """Publishes commands while motion is enabled, and neutral ones once when it is disabled."""
        operating = self._operating
        if operating.emergency_stop != self._published_stop:
            self._published_stop = operating.emergency_stop
            self._emergency_stop.publish(Bool(data=self._published_stop))
        if operating.enabled or self._commanding:
            self._publish(operating.commands())
        self._commanding = operating.enabled

    def _publish(self, commands: Commands) -> None:
        now = self.get_clock().now().nanoseconds
        valves = self._add_tip(commands)
        if valves:
            self._valves.publish(messages.make_valve_commands(now, valves))
        if commands.velocities or commands.efforts:
            self._joints.publish(messages.make_joint_commands(now, commands.velocities, commands.efforts))
        if commands.twist is not None:
            self._twist.publish(
                messages.make_stamped_twist(self._frame, now, commands.twist)
                if self._stamped
                else messages.make_twist(commands.twist)
            )

    def _add_tip(self, commands: Commands) -> dict[str, float]:
        """Spool commands of the levers, and those that move the tip."""
        if self._tip is None or commands.tip is None:
            return commands.valves
        arm, wanted = self._arm, commands.tip
        if any(wanted) and (arm is None or self._now() - arm.time > _STALE):
            lacking = ", ".join(self._tip.joints)
            self._warn(f"{topics.JOINT_STATES} is silent or lacks finite values of {lacking}: the tip stands")
            arm = None
        moved = self._tip.neutral() if arm is None else self._tip.commands(wanted, arm, self._period)
        return add_commands(commands.valves, moved)

    def _refuse(self, changes: list[Parameter]) -> SetParametersResult:
        """Refuses a pattern that cannot be read."""
        for change in changes:
            if change.name == "pattern":
                try:
                    self._accepted = self._load(change.value)
                except GrouserError as error:
                    return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _on_parameters(self, changes: list[Parameter]) -> None:
        for change in changes:
            if change.name == "pattern":
                self._operating.stop()
                self._publish_state()  # neutral commands of the old pattern's actuators
                pattern, tip = self._accepted
                self._operating.use(pattern)
                self._use_tip(tip)
                self.get_logger().info(f"pattern {change.value}")
            elif change.name == "joy_timeout":
                self._operating.patience = self._patience(change.value)

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=_WARNING_PERIOD)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the node until a signal; returns the exit status, 2 for an invalid parameter or pattern."""
    return run_node("operator", OperatorNode, OperatorNode.finish, arguments)
