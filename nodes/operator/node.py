"""Commands a machine by joystick: ``python -m grouser.nodes.operator``.

Subscribes to ``joy`` (sensor_msgs/Joy) of ROS's ``game_controller_node`` or another driver, and publishes
``valve_commands``, ``joint_commands`` and ``cmd_vel``, as the pattern requires, and ``emergency_stop``. Like
teleop_twist_joy it publishes neutral commands once when the dead-man button is released and nothing while it is up, so
that another node can command the machine meanwhile.

The joystick's silence is measured in wall time: the operator need not release a lever while the simulation is paused,
and a slow simulation does not delay the reaction to a lost joystick.
"""

from collections.abc import Sequence

from control_msgs.msg import DynamicInterfaceGroupValues
from geometry_msgs.msg import Twist, TwistStamped
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Bool

from grouser import catalogue
from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.parameters import Declaration, declare, stamped_by_default
from grouser.nodes.shared.process import run_node
from grouser.physics.base.errors import GrouserError, ParameterError
from grouser.runtime.control_mapping import ControlMapping
from grouser.runtime.control_mapping_reader import load_control_mapping
from grouser.runtime.operating import Commands, Operating

_WARNING_PERIOD = 1.0  # [s]

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
        self._operating = Operating(self._accepted, self._patience(parameters["joy_timeout"]))
        self._commanding = False
        self._published_stop = False
        self._valves = self.create_publisher(DynamicInterfaceGroupValues, topics.VALVE_COMMANDS, topics.RELIABLE)
        self._joints = self.create_publisher(JointState, topics.JOINT_COMMANDS, topics.RELIABLE)
        self._twist = self.create_publisher(TwistStamped if self._stamped else Twist, topics.CMD_VEL, topics.RELIABLE)
        self._emergency_stop = self.create_publisher(Bool, topics.EMERGENCY_STOP, topics.LATCHED)
        self.create_subscription(Joy, topics.JOY, self._on_joy, topics.RELIABLE)
        self.create_timer(self._period, self._on_tick, clock=self._steady)
        self.add_on_set_parameters_callback(self._refuse)
        self.add_post_set_parameters_callback(self._on_parameters)

    def finish(self) -> None:
        """Leaves the machine in neutral."""
        self._operating.stop()
        self._publish_state()

    def _load(self, name: str) -> ControlMapping:
        return load_control_mapping(catalogue.pattern_file(name))

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
        if commands.valves:
            self._valves.publish(messages.make_valve_commands(now, commands.valves))
        if commands.velocities or commands.efforts:
            self._joints.publish(messages.make_joint_commands(now, commands.velocities, commands.efforts))
        if commands.twist is not None:
            self._twist.publish(
                messages.make_stamped_twist(self._frame, now, commands.twist)
                if self._stamped
                else messages.make_twist(commands.twist)
            )

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
                self._operating.use(self._accepted)
                self.get_logger().info(f"pattern {change.value}")
            elif change.name == "joy_timeout":
                self._operating.patience = self._patience(change.value)

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=_WARNING_PERIOD)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the node until a signal; returns the exit status, 2 for an invalid parameter or pattern."""
    return run_node("operator", OperatorNode, OperatorNode.finish, arguments)
