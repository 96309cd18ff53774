"""A node that commands a machine as an operator's hands say."""

from collections.abc import Mapping, Sequence
from typing import Any

from control_msgs.msg import DynamicInterfaceGroupValues
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from grouser import catalogue
from grouser.nodes.shared import messages, topics
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.machine_file.loader import load_machine
from grouser.runtime.control_mapping import ControlMapping
from grouser.runtime.control_mapping_reader import load_control_mapping
from grouser.runtime.operating import Commands, Operating
from grouser.runtime.position_targets import PositionTargets
from grouser.runtime.tip_driving import ArmReading, TipDriver, add_commands, read_arm

_WARNING_PERIOD = 1.0  # [s]
_FAREWELL = Duration(seconds=1)  # longest wait at the end
_STALE = 0.3  # age of joint_states from which the tip stands [s of wall time]


def load_pattern(name: str) -> tuple[ControlMapping, TipDriver | None]:
    """A control pattern by its name or path, and what drives its tip.

    Raises:
        GrouserError: it cannot be read.
    """
    pattern = load_control_mapping(catalogue.pattern_file(name))
    if pattern.tip is None:
        return pattern, None
    return pattern, TipDriver(pattern.tip, load_machine(catalogue.machine_file(pattern.tip.machine)))


class Commander(Node):
    """Converts levers and buttons to commands, by a control pattern and the rules of `Operating`.

    Args:
        name: of the node.
        source: of the levers and buttons, for warnings.
    """

    def __init__(self, name: str, source: str, **node_arguments: Any) -> None:
        super().__init__(name, **node_arguments)
        self._source = source
        # Monotonic wall time.
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._commanding = False
        self._published_stop = False

    def begin(
        self,
        pattern: ControlMapping,
        tip: TipDriver | None,
        rate: float,
        timeout: float,
        stamped: bool,
        frame: str,
    ) -> None:
        """Makes the topics.

        Args:
            pattern, tip: what the levers do at first.
            rate: of the commands while motion is enabled [Hz of wall time].
            timeout: silence after which all is in neutral [s of wall time].
            stamped: whether cmd_vel is a TwistStamped.
            frame: that a TwistStamped names.
        """
        self._period = 1.0 / rate
        self._frame = frame
        self._stamped = stamped
        self.operating = Operating(pattern, self._patience(timeout))
        self._valves = self.create_publisher(DynamicInterfaceGroupValues, topics.VALVE_COMMANDS, topics.RELIABLE)
        self._joints = self.create_publisher(JointState, topics.JOINT_COMMANDS, topics.RELIABLE)
        self._twist = self.create_publisher(TwistStamped if stamped else Twist, topics.CMD_VEL, topics.RELIABLE)
        self._emergency_stop = self.create_publisher(Bool, topics.EMERGENCY_STOP, topics.LATCHED)
        self._arm_subscription: Subscription | None = None
        self._positions = PositionTargets({})
        self._use_tip(tip)
        self._ticks = self.create_timer(self._period, self._on_tick, clock=self._steady)

    def finish(self) -> None:
        """Leaves the machine in neutral: waits until its subscribers have the last commands."""
        self.rest()
        for publisher in (self._valves, self._joints, self._twist):
            publisher.wait_for_all_acked(_FAREWELL)

    def rest(self) -> None:
        """Disables motion, with neutral commands."""
        self.operating.stop()
        self._publish_state()

    def use(
        self, pattern: ControlMapping, tip: TipDriver | None, limits: Mapping[str, tuple[float, float]] | None = None
    ) -> None:
        """Switches to another pattern, in neutral.

        Args:
            pattern, tip: what the levers do.
            limits: of the targets of joints that levers move in position mode [rad or m].
        """
        self.rest()  # neutral commands of the old pattern's actuators
        self.operating.use(pattern)
        self._positions = PositionTargets(limits or {})
        self._use_tip(tip)

    def set_timeout(self, timeout: float) -> None:
        """Sets the silence after which all is in neutral [s of wall time]."""
        self.operating.patience = self._patience(timeout)

    def receive(self, axes: Sequence[float], buttons: Sequence[int]) -> None:
        """Takes positions of levers and buttons; invalid ones are refused with a warning, and all is in neutral."""
        operating, now = self.operating, self._now()
        self._check_silence(now)
        before = operating.mode, operating.speed_range
        try:
            operating.receive(axes, buttons, now)
        except ParameterError as error:
            self._warn(messages.refusal_text(self._source, error))
        if (operating.mode, operating.speed_range) != before:
            speed, share = operating.pattern.speed_ranges[operating.speed_range]
            self.get_logger().info(f"{operating.mode or 'levers'} at {speed}, {100.0 * share:.0f} % of full speed")
        if not operating.enabled:
            self._publish_state()  # at once, not with the next tick
        elif self._ticks.is_canceled():
            self._ticks.reset()

    def stop_machine(self) -> None:
        """Emergency stop; every call publishes it."""
        self.operating.stop_machine()
        self._published_stop = False
        self._publish_state()

    def forget_stop(self) -> None:
        """Publishes no emergency stop to later subscribers; a latched one stays."""
        self.operating.emergency_stop = False
        self._publish_state()

    def _use_tip(self, tip: TipDriver | None) -> None:
        """Moves another tip, or none."""
        self._tip = tip
        self._arm: ArmReading | None = None
        if self._arm_subscription is not None:
            self.destroy_subscription(self._arm_subscription)
            self._arm_subscription = None
        if tip is not None or self._positions:
            self._arm_subscription = self.create_subscription(
                JointState, topics.JOINT_STATES, self._on_joint_states, topics.RELIABLE
            )

    def _patience(self, timeout: float) -> float:
        """Longest silence at a tick [s]: the next tick would exceed `timeout`."""
        return timeout - self._period

    def _now(self) -> float:
        return 1e-9 * self._steady.now().nanoseconds

    def _on_joint_states(self, message: JointState) -> None:
        self._positions.measure(message.name, message.position)
        if self._tip is not None:
            reading = read_arm(self._tip.joints, message.name, message.position, message.velocity, self._now())
            self._arm = self._arm if reading is None else reading

    def _on_tick(self) -> None:
        self._check_silence(self._now())
        self._publish_state()

    def _check_silence(self, now: float) -> None:
        moved = self.operating.enabled
        self.operating.advance(now)
        if moved and not self.operating.enabled:
            self._warn(
                f"{self._source} is silent: all in neutral; to go on, let go of the dead-man button and press it"
            )

    def _publish_state(self) -> None:
        """Publishes commands while motion is enabled, and neutral ones once when it is disabled."""
        operating = self.operating
        if operating.emergency_stop != self._published_stop:
            self._published_stop = operating.emergency_stop
            self._emergency_stop.publish(Bool(data=self._published_stop))
        if operating.enabled or self._commanding:
            self._publish(operating.commands())
        if not operating.enabled:
            self._positions.forget()
            self._ticks.cancel()  # nothing is to be done until levers and buttons arrive
        self._commanding = operating.enabled

    def _publish(self, commands: Commands) -> None:
        now = self.get_clock().now().nanoseconds
        valves = self._add_tip(commands)
        if valves:
            self._valves.publish(messages.make_valve_commands(now, valves))
        positions = self._positions.advance(commands.position_speeds, self._period)
        if commands.velocities or commands.efforts or positions:
            self._joints.publish(messages.make_joint_commands(now, commands.velocities, commands.efforts, positions))
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

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=_WARNING_PERIOD)
