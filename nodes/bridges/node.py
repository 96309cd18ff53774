"""The node of all bridges: a transport and a mapping between a device or bus and the topics of a machine."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from grouser import catalogue
from grouser.bridges.bridge import LinkChange
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.plant import Plant
from grouser.bridges.protocols import KINDS, transport_of
from grouser.bridges.runner import BridgeRunner
from grouser.bridges.transport import CLOSED, TransportState
from grouser.nodes.bridges.diagnostics import diagnostics_message, state_message
from grouser.nodes.bridges.fault_parameters import FaultParameters, line_declarations
from grouser.nodes.bridges.rivals import Rivals
from grouser.nodes.bridges.ros_plant import RosPlant
from grouser.nodes.shared import topics
from grouser.nodes.shared.bridge_faults import faults_message
from grouser.nodes.shared.messages import set_stamp
from grouser.nodes.shared.parameters import Declaration, declare, stamped_by_default
from grouser.nodes.shared.process import run_node
from grouser.nodes.shared.scheduling import scheduling_declarations, scheduling_of
from grouser.physics.base.errors import GrouserError, ParameterError
from grouser.physics.description import load_machine

DECLARATIONS: dict[str, Declaration] = {
    "mapping": Declaration(
        "", "What the bridge does: path of a YAML file, or the name of one that comes with grouser."
    ),
    **scheduling_declarations("the bridge's threads"),
    "diagnostics_rate": Declaration(1.0, "Rate of /diagnostics [Hz of wall time].", True, 0.01, 100.0),
    "enable_stamped_cmd_vel": Declaration(
        stamped_by_default(),
        "Whether cmd_vel is a TwistStamped or a Twist; by default as the ROS distribution has it: stamped from Kilted.",
    ),
    "base_frame": Declaration("base_link", "Frame that a TwistStamped names: the machine's own."),
    "fault_seed": Declaration(0, "Of random faults.", True, 0, 2**31 - 1),
    **line_declarations(),
}


class BridgeNode(Node):
    """Connects a device or a bus to the topics of a machine, as a mapping says; a program is a class of its own.

    Args:
        overrides: parameters that come before those of the command line and of files.
        nearer: finds a plant in this process for a namespace and a mapping; None: the machine is behind topics.

    Raises:
        GrouserError: a parameter or the mapping is not valid, or a package is missing.

    Attributes:
        program: its name, by which it knows its kinds of mappings.
        default: mapping where the parameter is empty; "": none.
    """

    program: ClassVar[str]
    default: ClassVar[str] = ""

    @classmethod
    def main(cls, arguments: Sequence[str] | None = None) -> int:
        """Runs the node until a signal; returns the exit status, 2 for an invalid parameter or mapping.

        Args:
            arguments: the command line; None: that of the process.
        """
        return run_node(cls.program, cls, cls.finish, arguments)

    def __init__(
        self,
        overrides: Sequence[Parameter] = (),
        nearer: Callable[[str, BridgeMapping], Plant | None] = lambda namespace, mapping: None,
    ) -> None:
        super().__init__(self.program, parameter_overrides=list(overrides))
        faults = line_declarations()
        parameters = declare(self, {name: one for name, one in DECLARATIONS.items() if name not in faults})
        name = parameters["mapping"] or self.default
        if not name:
            raise ParameterError("mapping", "", "the path of a mapping file, or the name of a shipped one")
        mapping = load_bridge_mapping(catalogue.bridge_file(name))
        kind = KINDS[mapping.bridge]
        if kind.program != self.program:
            raise GrouserError(f"{mapping.file}: a mapping of the bridge {mapping.bridge} is for {kind.program}")
        plant = nearer(self.get_namespace(), mapping)
        if plant is None:
            stamped, frame = parameters["enable_stamped_cmd_vel"], parameters["base_frame"]
            plant = RosPlant(self, mapping, _imus(mapping), stamped, frame)
        else:
            self.get_logger().info("commands and measurements go directly to the simulation in this process")
        self._runner = BridgeRunner(
            mapping,
            transport_of(mapping),
            plant,
            self._on_link,
            self._on_transport,
            scheduling_of(parameters),
            parameters["fault_seed"],
        )
        self._state = self.create_publisher(DiagnosticArray, topics.BRIDGE_STATE, topics.LATCHED)
        self._fault_news = self.create_publisher(DiagnosticArray, topics.BRIDGE_FAULTS, topics.LATCHED)
        self._faults = FaultParameters(self, mapping, self._runner, self._publish_faults)
        self._diagnostics = self.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, topics.RELIABLE)
        self.create_service(Trigger, topics.ACKNOWLEDGE, self._acknowledge)
        self.create_service(Trigger, topics.CLEAR_FAULTS, self._clear_faults)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / parameters["diagnostics_rate"], self._publish_diagnostics, clock=steady)
        self._rivals = Rivals(self, mapping)
        self._publish_state()
        self._runner.start()

    def finish(self) -> None:
        """Leaves the machine in the safe state."""
        self._runner.stop()

    def destroy_node(self) -> None:
        """Ends the bridge, then the node."""
        self._runner.stop()
        super().destroy_node()

    def _on_link(self, change: LinkChange) -> None:
        """Says a change once: a fall of a live link as a warning."""
        text = f"{change.message}: {change.before.value} -> {change.after.value} ({change.reason})"
        if change.before is LinkState.LIVE:
            self.get_logger().warning(f"{text}: its commands are safe")
        else:
            self.get_logger().info(text)
        self._publish_state()

    def _on_transport(self, state: TransportState) -> None:
        if state.is_open:
            facts = ", ".join(f"{name} {value}" for name, value in self._runner.transport.facts.items())
            self.get_logger().info(f"open{': ' if facts else ''}{facts}")
        elif state.has_ended:
            if state.reason != CLOSED:
                self.get_logger().error(f"ended: {state.reason}; all commands are safe, start the bridge again")
        else:
            self.get_logger().warning(f"not open: {state.reason}; it is tried again")
        self._publish_state()

    def _look_for_rivals(self) -> None:
        """Lets no message command what another bridge commands, too; says each change once."""
        told, contests = self._runner.bridge.contested, self._rivals.contests()
        if contests == told:
            return
        self._runner.bridge.contest(contests, time.monotonic())
        for name in contests.keys() - told.keys():
            self.get_logger().error(f"{name}: {contests[name]}; its commands are safe")
        for name in told.keys() - contests.keys():
            self.get_logger().info(f"{name}: no other bridge commands the same any more")
        self._publish_state()

    def _acknowledge(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        refused = self._runner.bridge.acknowledge(time.monotonic())
        response.success = not refused
        response.message = "; ".join(f"{name}: {reason}" for name, reason in refused.items()) or "acknowledged"
        return response

    def _clear_faults(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = True
        response.message = ", ".join(self._faults.clear()) or "all was well"
        return response

    def _publish_faults(self, faults: Mapping[str, bool | float]) -> None:
        now = self.get_clock().now().nanoseconds
        self._fault_news.publish(faults_message(self.get_fully_qualified_name(), faults, now))

    def _publish_state(self) -> None:
        self._state.publish(self._stamped(state_message(self.get_name(), self._runner)))

    def _publish_diagnostics(self) -> None:
        self._look_for_rivals()
        self._diagnostics.publish(self._stamped(diagnostics_message(self.get_name(), self._runner)))

    def _stamped(self, message: DiagnosticArray) -> DiagnosticArray:
        set_stamp(message.header.stamp, self.get_clock().now().nanoseconds)
        return message


def _imus(mapping: BridgeMapping) -> list[str]:
    """Names of the machine's inertial measurement units, if the mapping shows any of them."""
    if not any(signal.signal.startswith("imu/") for message in mapping.outgoing for signal in message.signals):
        return []
    machine = load_machine(catalogue.machine_file(mapping.machine))
    return [sensor.name for sensor in machine.every_sensor if sensor.type == "imu"]
