"""The simulator node: steps a machine in real time and speaks with it over ROS 2."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import NoReturn

import rclpy
from control_msgs.msg import DynamicInterfaceGroupValues
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from grouser import catalogue
from grouser.nodes import messages, topics
from grouser.nodes.contact_publishing import ContactPublisher
from grouser.nodes.diagnostics import diagnostics_message
from grouser.nodes.driving import Driver, Odometer
from grouser.nodes.fault_parameters import FaultParameters
from grouser.nodes.frames import FrameTree
from grouser.nodes.mailbox import Mailbox
from grouser.nodes.motion_publishing import MotionPublisher
from grouser.nodes.pacing import Pacer
from grouser.nodes.parameters import SimulatorParameters, declare_parameters, updated
from grouser.nodes.physics_loop import Outcome, PhysicsLoop
from grouser.nodes.publishing import StatePublisher
from grouser.nodes.report import LoopReport
from grouser.nodes.samples import STREAMS, hydraulic_groups, movable_joints, take_sample
from grouser.nodes.schedule import StreamSchedule
from grouser.nodes.supervision import CommandSupervisor
from grouser.nodes.trajectory_action import TrajectoryServer
from grouser.nodes.trajectory_following import SOURCE, TrajectoryFollower
from grouser.physics.description import load_machine, load_world
from grouser.physics.description.machine import Machine
from grouser.physics.errors import GrouserError, ParameterError
from grouser.physics.kernel import reporting_compilation
from grouser.physics.simulation import Simulation
from grouser.physics.vehicle import make_vehicle
from grouser.program import TWIST, CommandProgram, load_program

_LONGEST_TICK = 0.01  # [s]: how long a command may wait for the next tick when all streams are slower
_WARNING_PERIOD = 1.0  # [s]
_EXIT_FAILED = 1
_EXIT_BAD_INPUT = 2


class SimulatorNode(Node):
    """Converts messages to commands and samples to messages; the physics runs in a thread of its own.

    The constructor loads the machine; `start` builds the simulation, which compiles on a first run, in the physics
    thread.

    Args:
        overrides: parameters that come before those of the command line and of files.
        ended: set by the node when the simulation cannot be built, or one of its threads fails.
        compiled: told, by the physics thread, how many functions are compiled and which one is at work; None: the log
            says that a compilation goes on.

    Raises:
        GrouserError: a parameter, the machine, the world or the program is not valid.

    Attributes:
        built: set when the simulation is ready to step, or could not be built.
        error: why it could not be built, or what ended one of its threads; None if all is well.
        exit_status: of the process, by `error`: 0 for none, 2 for bad input, 1 for anything else.
        machine: what is simulated.
    """

    def __init__(
        self,
        overrides: Sequence[Parameter] = (),
        ended: threading.Event | None = None,
        compiled: Callable[[int, str], None] | None = None,
    ) -> None:
        super().__init__("simulator", parameter_overrides=list(overrides))
        self.parameters = declare_parameters(self)
        self.built = threading.Event()
        self._ended = threading.Event() if ended is None else ended
        self._compiled = self._log_compilation if compiled is None else compiled
        self._stopping = threading.Event()
        self.error: BaseException | None = None
        self.exit_status = 0
        arguments = self.parameters.xacro_arguments()
        self.machine = load_machine(catalogue.machine_file(self.parameters.machine), arguments)
        self._world = load_world(catalogue.world_file(self.parameters.world))
        for warning in self.machine.warnings:
            self.get_logger().warning(warning)
        self._valves = _ordered_valves(self.machine, self.parameters.valves)
        self._modes = {drive.joint: drive.mode for drive in self.machine.drives}
        self._vehicle = make_vehicle(self.machine) if self.machine.floating_base else None
        self._can_drive = self._vehicle is not None and any(wheel.driven for wheel in self._vehicle.wheels)
        self._faults = FaultParameters(self, self.machine, self.parameters.scheme)
        self._program = self._load_program()
        self._mailbox = Mailbox()
        self._loop: PhysicsLoop | None = None
        self._refused = 0
        self._physics_thread = threading.Thread(target=self._simulate, name="physics", daemon=True)
        self._publisher = self._create_outputs()
        self._create_inputs()
        self.add_post_set_parameters_callback(self._on_parameters)

    @property
    def report(self) -> LoopReport | None:
        """Figures of the physics thread; None while the simulation is being built."""
        return None if self._loop is None else self._loop.report

    @property
    def refused_commands(self) -> int:
        """How many commands were refused."""
        report = self.report
        return self._refused + (0 if report is None else report.refused_commands)

    def start(self) -> None:
        """Starts the physics and the publishing thread."""
        self._publisher.publish_description(self.machine.urdf)
        self._publisher.start()
        self._physics_thread.start()

    def stop(self) -> bool:
        """Ends both threads; returns False if the physics thread is still compiling and cannot be ended."""
        self._stopping.set()
        if self._loop is not None:
            self._loop.finish()
        self._mailbox.close()
        if self.built.is_set():
            self._physics_thread.join()
        self._publisher.finish()
        return not self._physics_thread.is_alive()

    def destroy_node(self) -> None:
        """Destroys what the node has, its action first: rclpy leaves that to whoever made it."""
        if self._trajectories is not None:
            self._trajectories.destroy()
        super().destroy_node()

    def _load_program(self) -> CommandProgram | None:
        if not self.parameters.program:
            return None
        program = load_program(catalogue.program_file(self.parameters.program))
        program.check([valve.name for valve in self.machine.valves], self._modes, TWIST if self._can_drive else ())
        return program

    def _create_outputs(self) -> StatePublisher:
        machine, parameters = self.machine, self.parameters
        self._frames = FrameTree(machine, self._world.ground, parameters.odom_frame, parameters.base_footprint_frame)
        self._diagnostics = self.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, topics.RELIABLE)
        self.create_timer(
            1.0 / parameters.diagnostics_rate, self._publish_diagnostics, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._contacts = ContactPublisher(self, machine, parameters)
        return StatePublisher(
            self,
            movable_joints(machine),
            [link.name for link in machine.links if link.collisions],
            hydraulic_groups(machine),
            self._frames,
            MotionPublisher(self, machine, self._world, parameters),
            self._contacts,
            parameters.publish_link_tf,
            self._give_up,
        )

    def _create_inputs(self) -> None:
        self.create_subscription(
            DynamicInterfaceGroupValues,
            topics.VALVE_COMMANDS,
            lambda message: self._hear(topics.VALVE_COMMANDS, messages.valve_commands, message, self._valves),
            topics.RELIABLE,
        )
        self.create_subscription(
            Float64MultiArray,
            topics.VALVE_COMMANDS_ARRAY,
            lambda message: self._hear(
                topics.VALVE_COMMANDS_ARRAY, messages.valve_array_commands, message, self._valves
            ),
            topics.RELIABLE,
        )
        self.create_subscription(
            JointState,
            topics.JOINT_COMMANDS,
            lambda message: self._hear(topics.JOINT_COMMANDS, messages.joint_commands, message, self._modes),
            topics.RELIABLE,
        )
        if self._can_drive:
            self.create_subscription(
                TwistStamped if self.parameters.enable_stamped_cmd_vel else Twist,
                topics.CMD_VEL,
                lambda message: self._hear(topics.CMD_VEL, messages.twist_command, message),
                topics.RELIABLE,
            )
        self._trajectories = None
        if any(mode != "effort" for mode in self._modes.values()):
            self._trajectories = TrajectoryServer(
                self, self._modes, self.parameters.step, self._mailbox.call, self._refuse, self._warn
            )
        # A transient-local reader hears a stop that was sent before the node began, but no volatile writer; an
        # emergency stop is heard from whoever sends it. Hearing one twice does no harm: it is latched.
        for quality in (topics.LATCHED, QoSProfile(depth=1)):
            self.create_subscription(Bool, topics.EMERGENCY_STOP, self._on_emergency_stop, quality)
        # The services wait for the physics thread, a request for many steps for long: a group of their own keeps them
        # from the subscriptions, above all from the emergency stop.
        services = MutuallyExclusiveCallbackGroup()
        self.create_service(Trigger, topics.RESET, self._on_reset, callback_group=services)
        self.create_service(SetBool, topics.PAUSE, self._on_pause, callback_group=services)
        self.create_service(Trigger, topics.STEP, self._on_step, callback_group=services)
        self.create_service(Trigger, topics.CLEAR_FAULTS, self._on_clear_faults, callback_group=services)

    def _hear(self, source: str, convert: Callable, message: object, *known: object) -> None:
        """Converts a command and leaves it for the physics thread, or refuses it whole."""
        try:
            commands = convert(message, *known)
        except ParameterError as error:
            self._refuse(source, error)
        else:
            self._mailbox.post_commands(source, commands)

    def _refuse(self, source: str, error: ParameterError) -> None:
        self._refused += 1
        self.get_logger().warning(f"{source} refused: {error}", throttle_duration_sec=_WARNING_PERIOD)

    def _on_emergency_stop(self, message: Bool) -> None:
        if message.data:
            self.get_logger().warning("emergency stop", throttle_duration_sec=_WARNING_PERIOD)
            self._mailbox.call(PhysicsLoop.stop_machine)

    def _on_reset(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._ask(lambda loop: loop.reset(self.parameters.reset_rewinds_time), response)

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        return self._ask(lambda loop: loop.set_paused(request.data), response)

    def _on_step(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._ask(lambda loop: loop.step_paused(self.parameters.step_request_count), response)

    def _on_clear_faults(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._ask(PhysicsLoop.clear_faults, response)
        if response.success:
            self._faults.clear()
        return response

    def _ask(self, call: Callable[[PhysicsLoop], Outcome], response):
        """Has the physics thread do something and waits for it: at most a tick, or the requested steps."""
        if self._loop is None:
            outcome = Outcome(False, "the simulation is still being built")
        else:
            future = self._mailbox.call(call)
            try:
                error = future.exception()
            except CancelledError:
                outcome = Outcome(False, "the simulator is ending")
            else:
                outcome = future.result() if error is None else Outcome(False, f"the simulator failed: {error!r}")
        response.success, response.message = outcome.success, outcome.message
        return response

    def _on_parameters(self, changes: list[Parameter]) -> None:
        faults = self._faults.among(changes)
        if faults:
            self._mailbox.call(lambda loop: loop.set_faults(faults))
        self.parameters = parameters = updated(self.parameters, changes)
        self._mailbox.call(lambda loop: loop.change_pace(parameters.real_time_factor, parameters.overrun_limit))
        own = _own_timeouts(parameters)
        self._mailbox.call(lambda loop: loop.change_command_timeout(parameters.command_timeout, own))

    def _publish_diagnostics(self) -> None:
        self._diagnostics.publish(
            diagnostics_message(self.get_name(), self.report, self.parameters.real_time_factor, self.refused_commands)
        )

    def _simulate(self) -> None:
        """The physics thread: builds the simulation and runs it."""
        try:
            with reporting_compilation(self._compiled):
                self._loop = self._build()
            self.built.set()
            if not self._stopping.is_set():
                self._loop.run()
        except BaseException as error:
            self._give_up(error)
            # What the user can mend needs one line, which `error` is; a defect needs its traceback.
            if not isinstance(error, GrouserError):
                raise
        finally:
            self.built.set()
            self._mailbox.close()

    def _give_up(self, error: BaseException) -> None:
        """Keeps the error that ended a thread, the first one if there are more, and has the process end."""
        if self.error is None:
            bad_input = isinstance(error, GrouserError) and not self.built.is_set()
            self.exit_status = _EXIT_BAD_INPUT if bad_input else _EXIT_FAILED
            self.error = error
        self._ended.set()

    def _build(self) -> PhysicsLoop:
        parameters = self.parameters
        simulation = Simulation(
            self.machine,
            self._world,
            step=parameters.step,
            scheme=parameters.scheme,
            integrator=parameters.integrator or None,
        )
        for warning in simulation.warnings:
            self.get_logger().warning(warning)
        # What is not in the cache is compiled now, not while there is a pace to keep.
        simulation.step(1)
        take_sample(simulation, 0, STREAMS)
        simulation.energy_balance()
        simulation.reset()
        for (component, name), value in self._faults.values.items():
            simulation.faults[component][name] = value
        measured = {sensor.type for sensor in self.machine.sensors}
        rates = {
            "clock": parameters.clock_rate,
            "joint_states": parameters.joint_state_rate,
            "contact_wrenches": parameters.contact_rate,
            "joint_reactions": parameters.reaction_rate,
            "hydraulics": parameters.hydraulics_rate,
            **({"odometry": parameters.odom_rate} if self.machine.floating_base else {}),
            **({"imu": parameters.imu_rate} if "imu" in measured else {}),
            **({"scan": parameters.scan_rate} if "lidar" in measured else {}),
            **self._contacts.rates,
            **({"slip": parameters.slip_rate} if self.machine.wheels else {}),
            **({"terrain": parameters.terrain_rate} if self._world.soil is not None else {}),
        }
        vehicle = self._vehicle
        odometer = None if vehicle is None else Odometer(vehicle, simulation, self._frames)
        driver = Driver(vehicle, simulation) if vehicle is not None and self._can_drive else None
        program = self._program
        supervisor = CommandSupervisor(
            parameters.step,
            parameters.command_timeout,
            {**_safe_values(self._valves, self._modes), **dict.fromkeys(TWIST, 0.0)},
            program,
            {name: simulation.command[name] for name in program.actuators if name not in TWIST} if program else {},
            self._warn,
            _own_timeouts(parameters),
        )
        follower = None
        if self._trajectories is not None:
            steered = driver.joints if driver is not None else ()
            follower = TrajectoryFollower(simulation, steered, self._trajectories.tell, self._warn)
        return PhysicsLoop(
            simulation,
            StreamSchedule.from_rates(rates, parameters.step, _LONGEST_TICK),
            Pacer(parameters.step, parameters.real_time_factor, parameters.overrun_limit),
            supervisor,
            self._mailbox,
            self._publisher.queue,
            self._warn,
            self._fail,
            parameters.start_paused,
            driver,
            odometer,
            parameters.terrain_reach,
            follower,
        )

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=_WARNING_PERIOD)

    def _log_compilation(self, _count: int, _name: str) -> None:
        self.get_logger().info("compiling the physics: up to a minute, once for every version", once=True)

    def _fail(self, text: str) -> None:
        self.get_logger().error(f"paused: {text}")
        self._publish_diagnostics()


def _ordered_valves(machine: Machine, wanted: Sequence[str]) -> tuple[str, ...]:
    """The valves in the order of valve_commands_array."""
    names = tuple(valve.name for valve in machine.valves)
    for name in wanted:
        if name not in names:
            raise ParameterError("valves", name, f"one of {', '.join(names) or 'none: this machine has no valves'}")
    return tuple(wanted) or names


def _safe_values(valves: Sequence[str], modes: dict[str, str]) -> dict[str, float]:
    """Actuator -> its command when nobody commands it; a drive in position mode holds where it is commanded."""
    return dict.fromkeys([*valves, *(joint for joint, mode in modes.items() if mode != "position")], 0.0)


def _own_timeouts(parameters: SimulatorParameters) -> dict[str, float]:
    """Longest silence [s] of the sources that have their own; a trajectory that is over is none."""
    return {topics.CMD_VEL: parameters.cmd_vel_timeout, SOURCE: 0.0}


@contextmanager
def spinning(node: SimulatorNode) -> Iterator[SimulatorNode]:
    """Runs a node's threads, and the executor in another; on leaving, ends them in the one order that is safe.

    Physics ends first, so that nothing is published on a context that is gone; then the executor; only when its thread
    has ended is the node destroyed. A spinning thread that outlives the context aborts the process.
    """
    executor = MultiThreadedExecutor(2)  # one for the services, which wait, and one for everything else
    executor.add_node(node)
    ending = threading.Event()

    def spin() -> None:
        try:
            executor.spin()
        except InvalidHandle:
            # its shutdown destroys what it waits on
            if not ending.is_set():
                raise

    thread = threading.Thread(target=spin, name="executor")
    thread.start()
    node.start()
    try:
        yield node
    finally:
        ended = node.stop()
        ending.set()
        executor.shutdown()
        thread.join()
        if ended:
            node.destroy_node()


def stop_on_signals(stop: threading.Event) -> None:
    """Has Ctrl-C, SIGTERM and a closed terminal set `stop` rather than end the process under running threads."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup has it ignored
            signal.signal(number, lambda *_: stop.set())


def failure_text(error: BaseException) -> str:
    """An error in one line: those of grouser speak for themselves, others begin with their kind."""
    return str(error) if isinstance(error, GrouserError) else f"{type(error).__name__}: {error}"


def leave(status: int) -> NoReturn:
    """Ends the ROS context, then the process at once.

    The physics thread of a first run may be deep in the compiler, which cannot be interrupted (what it has finished is
    in the cache already); and taking all compiled code apart in good order takes half a second that nobody needs.
    """
    rclpy.try_shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the node until Ctrl-C or SIGTERM, then ends the process.

    The exit status is 0; 2 if the machine, the world or a parameter is not valid; 1 if a thread of the node failed.

    Args:
        arguments: the command line; None: that of the process.
    """
    stop = threading.Event()
    stop_on_signals(stop)
    rclpy.init(args=None if arguments is None else list(arguments), signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = SimulatorNode(ended=stop)
    except GrouserError as error:
        if stop.is_set():  # a Ctrl-C ends whatever was just reading the machine for us
            leave(0)
        print(f"simulator: {error}", file=sys.stderr)
        leave(_EXIT_BAD_INPUT)
    with spinning(node):
        stop.wait()
    if node.error is not None:
        print(f"simulator: {failure_text(node.error)}", file=sys.stderr)
    leave(node.exit_status)


if __name__ == "__main__":
    main()
