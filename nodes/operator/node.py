"""Commands a machine by joystick: ``python -m grouser.nodes.operator``.

Subscribes to ``joy`` (sensor_msgs/Joy) of ROS's ``game_controller_node`` or another driver, and, for a pattern that
moves a tip, to ``joint_states``. Publishes ``valve_commands``, ``joint_commands`` and ``cmd_vel``, as the pattern
requires, and ``emergency_stop``. Like teleop_twist_joy it publishes neutral commands once when the dead-man button is
released and nothing while it is up, so that another node can command the machine meanwhile.

The joystick's silence is measured in wall time: the operator need not release a lever while the simulation is paused,
and a slow simulation does not delay the reaction to a lost joystick.
"""

from collections.abc import Sequence

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter
from sensor_msgs.msg import Joy

from grouser.nodes.operator.commander import Commander, load_pattern
from grouser.nodes.shared import topics
from grouser.nodes.shared.parameters import Declaration, declare, stamped_by_default
from grouser.nodes.shared.process import run_node
from grouser.physics.base.errors import GrouserError

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


class OperatorNode(Commander):
    """Converts what a joystick says to commands, by a control pattern.

    Args:
        overrides: parameters that come before those of the command line and of files.

    Raises:
        GrouserError: a parameter or the pattern is not valid.
    """

    def __init__(self, overrides: Sequence[Parameter] = ()) -> None:
        super().__init__("operator", topics.JOY, parameter_overrides=list(overrides))
        parameters = declare(self, DECLARATIONS)
        self._accepted = load_pattern(parameters["pattern"])
        self.begin(
            *self._accepted,
            rate=parameters["rate"],
            timeout=parameters["joy_timeout"],
            stamped=parameters["enable_stamped_cmd_vel"],
            frame=parameters["base_frame"],
        )
        self.create_subscription(Joy, topics.JOY, self._on_joy, topics.RELIABLE)
        self.add_on_set_parameters_callback(self._refuse)
        self.add_post_set_parameters_callback(self._on_parameters)

    def _on_joy(self, message: Joy) -> None:
        self.receive(message.axes, message.buttons)

    def _refuse(self, changes: list[Parameter]) -> SetParametersResult:
        """Refuses a pattern that cannot be read."""
        for change in changes:
            if change.name == "pattern":
                try:
                    self._accepted = load_pattern(change.value)
                except GrouserError as error:
                    return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _on_parameters(self, changes: list[Parameter]) -> None:
        for change in changes:
            if change.name == "pattern":
                self.use(*self._accepted)
                self.get_logger().info(f"pattern {change.value}")
            elif change.name == "joy_timeout":
                self.set_timeout(change.value)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the node until a signal; returns the exit status, 2 for an invalid parameter or pattern."""
    return run_node("operator", OperatorNode, OperatorNode.finish, arguments)
