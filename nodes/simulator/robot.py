"""The ROS interface of a robot: topics, parameters and actions in its namespace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from control_msgs.msg import DynamicInterfaceGroupValues
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped, WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from grouser.function_blocks.diagram import Diagram
from grouser.nodes.shared import bridge_faults, messages, topics
from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.simulator.fault_parameters import FaultParameters
from grouser.nodes.simulator.parameters import DECLARATIONS, PUBLISH_MAP_TF, SimulatorParameters
from grouser.nodes.simulator.program_topics import ProgramTopics
from grouser.nodes.simulator.state_publishing import StatePublisher
from grouser.nodes.simulator.stop_subscription import StopSubscription
from grouser.nodes.simulator.trajectory_action import TrajectoryServer
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.machine import Machine, member_prefix
from grouser.physics.description.data.world import World
from grouser.physics.simulation.view import MachineView
from grouser.program import TWIST, CommandProgram
from grouser.runtime.belt_watch import BeltWatch
from grouser.runtime.driving import Driver, Odometer
from grouser.runtime.frames import FrameTree
from grouser.runtime.mailbox import Mailbox
from grouser.runtime.program_playing import DiagramPlayer, ProgramPlayer, TimedPlayer
from grouser.runtime.robot_runtime import RobotRuntime
from grouser.runtime.streams import StreamSource
from grouser.runtime.supervision import CommandSupervisor
from grouser.runtime.trajectory_following import SOURCE, TrajectoryFollower
from grouser.runtime.vehicle_parts import make_vehicle

_WARNING_PERIOD = 1.0  # [s]


@dataclass(frozen=True)
class Place:
    """Names of a robot among several.

    Attributes:
        name: in the simulation, unique; "" for the first machine.
        namespace: of its topics, parameters and frames; "" for that of the node, and frames without a prefix.
    """

    name: str = ""
    namespace: str = ""

    @property
    def prefix(self) -> str:
        """Prefix of its command sources."""
        return member_prefix(self.name)

    @property
    def frame_prefix(self) -> str:
        """Prefix of its frames: the namespace of its topics, without a leading slash."""
        namespace = self.namespace.strip("/")
        return f"{namespace}/" if namespace else ""


class RobotInterface:
    """The ROS interface of one machine.

    Args:
        node: that has the publishers and subscriptions.
        place: names of the robot.
        machine: its description.
        world: that it is in.
        parameters: of the node.
        mailbox: passes commands to the physics thread.
        refuse: takes the topic and the error of an invalid command.
        valves: their order on `valve_commands_array`; empty: as in the machine's file.
        program: control program to play; None: none.

    Raises:
        GrouserError: a parameter or the program does not suit the machine.

    Attributes:
        place, machine: as given.
        publisher: of its samples.
        faults: parameters of its components.
        commanded: its command sources.
        frames: names of its frames on /tf.
        moved_frames: those of them whose transforms it publishes again and again.
    """

    def __init__(
        self,
        node: Node,
        place: Place,
        machine: Machine,
        world: World,
        parameters: SimulatorParameters,
        mailbox: Mailbox,
        refuse: Callable[[str, ParameterError], None],
        valves: Sequence[str] = (),
        program: CommandProgram | Diagram | None = None,
    ) -> None:
        self.place = place
        self.machine = machine
        self._node = node
        self._mailbox = mailbox
        self._refuse = refuse
        self._program = program
        self._valves = _ordered_valves(machine, valves)
        self._modes = {drive.joint: drive.mode for drive in machine.drives}
        self._vehicle = make_vehicle(machine) if machine.floating_base else None
        self._can_drive = self._vehicle is not None and self._vehicle.driven
        if isinstance(program, CommandProgram):
            program.check([valve.name for valve in machine.valves], self._modes, TWIST if self._can_drive else ())
        self._endpoints = endpoints = Endpoints(node, place.namespace)
        self.faults = FaultParameters(endpoints, machine, parameters.scheme)
        odom, footprint = parameters.odom_frame, parameters.base_footprint_frame
        self._frames = frames = FrameTree(machine, world.ground, odom, footprint, place.frame_prefix)
        self.frames = frames.names()
        if place.frame_prefix:  # the node has its own already
            endpoints.declare({PUBLISH_MAP_TF: DECLARATIONS[PUBLISH_MAP_TF]})
        source = StreamSource(
            *(machine, world, frames, parameters.map_frame, odom, footprint),
            publish_link_tf=parameters.publish_link_tf,
            publish_map_tf=endpoints.value(PUBLISH_MAP_TF),
        )
        moving = frames.moving if source.publish_link_tf else [frames.moving[joint] for joint in frames.floating]
        self.moved_frames = frozenset(child for _, child in (*frames.base, *frames.carried, *moving))
        if source.publish_map_tf:
            self.moved_frames |= {frames.top}
        self.publisher = StatePublisher(endpoints, source, parameters)
        self.commanded: list[str] = []
        self._program_topics: ProgramTopics | None = None
        self._create_inputs(parameters)

    def change(self, parameters: SimulatorParameters) -> None:
        """Applies changed parameters of the node, and of the machine's namespace."""
        self.publisher.change(parameters, self._endpoints.value(PUBLISH_MAP_TF))

    def runtime(self, robot: MachineView, parameters: SimulatorParameters) -> RobotRuntime:
        """Makes its runtime for the physics thread.

        Args:
            robot: in the simulation.
            parameters: of the node.
        """
        vehicle = self._vehicle
        odometer = None if vehicle is None else Odometer(vehicle, robot, self._frames)
        driver = Driver(vehicle, robot) if vehicle is not None and self._can_drive else None
        supervisor = CommandSupervisor(
            parameters.step,
            parameters.command_timeout,
            {**_safe_values(self._valves, self._modes), **dict.fromkeys(TWIST, 0.0)},
            self._player(robot, parameters.step),
            self._warn,
            self.own_timeouts(parameters),
        )
        follower = None
        if self._trajectories is not None:
            steered = driver.joints if driver is not None else ()
            follower = TrajectoryFollower(robot, steered, self._trajectories.report, self._warn)
        streams = frozenset(self.publisher.rates)
        return RobotRuntime(
            robot,
            supervisor,
            streams,
            driver,
            odometer,
            follower,
            parameters.limits,
            BeltWatch(robot, self.machine.tracks, self._warn),
        )

    def _player(self, robot: MachineView, step_size: float) -> ProgramPlayer | None:
        program = self._program
        if program is None:
            return None
        if isinstance(program, Diagram):
            player = DiagramPlayer(program, robot.signals, self._can_drive, step_size)
            if self._program_topics is not None:
                self._program_topics.show(player)
            return player
        initial = {name: robot.command[name] for name in program.actuators if name not in TWIST}
        return TimedPlayer(program, initial, step_size)

    def own_timeouts(self, parameters: SimulatorParameters) -> dict[str, float]:
        """Longest silence [s] of sources with their own; trajectories have no limit."""
        return {f"{self.place.prefix}{topics.CMD_VEL}": parameters.cmd_vel_timeout, SOURCE: 0.0}

    def destroy(self) -> None:
        """Destroys publishers, subscriptions and parameters."""
        self._endpoints.destroy()

    def _create_inputs(self, parameters: SimulatorParameters) -> None:
        valves, modes = self._valves, self._modes
        self._subscribe(DynamicInterfaceGroupValues, topics.VALVE_COMMANDS, messages.valve_commands, valves)
        self._subscribe(Float64MultiArray, topics.VALVE_COMMANDS_ARRAY, messages.valve_array_commands, valves)
        self._subscribe(JointState, topics.JOINT_COMMANDS, messages.joint_commands, modes)
        if self._can_drive:
            twist = TwistStamped if parameters.enable_stamped_cmd_vel else Twist
            self._subscribe(twist, topics.CMD_VEL, messages.twist_command)
        self._endpoints.create_subscription(WrenchStamped, topics.PUSH, self._on_push, topics.RELIABLE)
        self._trajectories = None
        if any(mode != "effort" for mode in modes.values()):
            self._trajectories = TrajectoryServer(
                self._endpoints,
                self.place.name,
                modes,
                parameters.step,
                self._mailbox.call,
                lambda topic, error: self._refuse(f"{self.place.prefix}{topic}", error),
                self._warn,
            )
        if isinstance(self._program, Diagram):
            self._program_topics = ProgramTopics(
                self._endpoints,
                self._program,
                lambda values: self._mailbox.call(lambda loop: loop.set_program_inputs(self.place.name, values)),
                lambda error: self._refuse(f"{self.place.prefix}{topics.PROGRAM_INPUTS}", error),
            )
        own = self._endpoints.name(topics.EMERGENCY_STOP)
        if self._node.resolve_topic_name(own) != topics.STOP_OF_ALL:  # which stops it, too
            StopSubscription(self._endpoints, topics.EMERGENCY_STOP, self._on_emergency_stop)
        self._endpoints.create_subscription(
            DiagnosticArray, topics.BRIDGE_FAULTS, self._on_bridge_faults, bridge_faults.READ
        )

    def _subscribe(self, message_type: type, topic: str, convert: Callable, *known: object) -> None:
        """Subscribes to commands: each message is converted for the physics thread, or refused as a whole."""
        source = f"{self.place.prefix}{topic}"

        def receive(message):
            try:
                commands: Mapping[str, float] = convert(message, *known)
            except ParameterError as error:
                self._refuse(source, error)
                return
            header = getattr(message, "header", None)
            stamp = 0 if header is None else messages.nanoseconds_of(header.stamp)
            self._mailbox.post_commands(source, commands, stamp)

        self._endpoints.create_subscription(message_type, topic, receive, topics.RELIABLE)
        self.commanded.append(source)

    def _on_push(self, message: WrenchStamped) -> None:
        """Pushes a link of the machine, or an object."""
        try:
            link, force, moment = messages.push_of(message, self.place.frame_prefix)
        except ParameterError as error:
            self._refuse(f"{self.place.prefix}{topics.PUSH}", error)
            return
        self._mailbox.call(lambda loop: loop.push(self.place.name, link, force, moment))

    def _on_bridge_faults(self, message: DiagnosticArray) -> None:
        """Has the faults of the machine's bridges recorded."""
        try:
            faults = bridge_faults.faults_of(message)
        except ParameterError as error:
            self._refuse(f"{self.place.prefix}{topics.BRIDGE_FAULTS}", error)
            return
        self._mailbox.call(lambda loop: loop.note_bridge_faults(self.place.name, faults))

    def _on_emergency_stop(self) -> None:
        whose = f" of {self.place.name}" if self.place.name else ""
        self._node.get_logger().warning(f"emergency stop{whose}", throttle_duration_sec=_WARNING_PERIOD)
        self._mailbox.call(lambda loop: loop.stop_robot(self.place.name))

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(text, throttle_duration_sec=_WARNING_PERIOD)


def _ordered_valves(machine: Machine, wanted: Sequence[str]) -> tuple[str, ...]:
    """The valves in the order of valve_commands_array."""
    names = tuple(valve.name for valve in machine.valves)
    for name in wanted:
        if name not in names:
            raise ParameterError("valves", name, f"one of {', '.join(names) or 'none: this machine has no valves'}")
    return tuple(wanted) or names


def _safe_values(valves: Sequence[str], modes: Mapping[str, str]) -> dict[str, float]:
    """Actuator -> its safe command; a drive in position mode has none and holds its target."""
    return dict.fromkeys([*valves, *(joint for joint, mode in modes.items() if mode != "position")], 0.0)
