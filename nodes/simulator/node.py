"""The simulator node: its lifecycle, services and parameters."""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import SetParametersResult
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.executors import MultiThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import SetBool, Trigger

from grouser.nodes.services.offer import offer_standard_services
from grouser.nodes.shared import topics
from grouser.nodes.shared.process import EXIT_BAD_INPUT, stop_on_signals
from grouser.nodes.shared.scheduling import PacedScheduling, scheduling_of
from grouser.nodes.simulator.bag import Bag, RecordedPublisher
from grouser.nodes.simulator.diagnostics import diagnostics_message
from grouser.nodes.simulator.node_host import NodeHost
from grouser.nodes.simulator.parameters import declare_parameters, fixed_parameter, updated
from grouser.nodes.simulator.session import Session
from grouser.physics.base.compilation import Progress, Report, progress_text
from grouser.physics.base.errors import GrouserError
from grouser.physics.description.data.machine import Machine
from grouser.recording.recorder import Recorder
from grouser.runtime.mailbox import Mailbox
from grouser.runtime.outcome import Outcome
from grouser.runtime.physics_loop import PhysicsLoop
from grouser.runtime.report import LoopReport

if TYPE_CHECKING:
    from grouser.nodes.services.services import SimulationServices

_EXIT_FAILED = 1
_MOST_FAILURES_OF_WAITING = 100
_COMPILATION_PERIOD = 10.0  # [s]
_UNCONFIGURED = "not configured"
_NOT_CONFIGURED = Outcome(False, f"the simulator is {_UNCONFIGURED}")


class SimulatorNode(LifecycleNode):
    """Has a simulation run while its lifecycle lets it.

    `configure` loads machine and world, offers their topics and builds the simulation, which compiles on a first run;
    `activate` lets it run; `deactivate` has it stand still; `cleanup` takes all of that away; `shutdown` ends the
    process too. With the parameter `autostart` the constructor loads, and `start` does the rest.

    Args:
        overrides: parameters with precedence over the command line and files.
        ended: set by the node when the simulation cannot be built, one of its threads fails, or it is shut down.
        compiled: told, by a thread of its own, how far the compiler is; None: the log says so.

    Raises:
        GrouserError: a parameter, the machine, the world or the program is not valid.

    Attributes:
        parameters: present values.
        built: set when the simulation is ready to step, or could not be built.
        error: of the build or of one of the threads; None if there was none.
        exit_status: of the process, by `error`: 0 for none, 2 for bad input, 1 for anything else.
    """

    def __init__(
        self,
        overrides: Sequence[Parameter] = (),
        ended: threading.Event | None = None,
        compiled: Report | None = None,
    ) -> None:
        super().__init__("simulator", parameter_overrides=list(overrides))
        self.built = threading.Event()
        self.error: BaseException | None = None
        self.exit_status = 0
        self._ended = threading.Event() if ended is None else ended
        self._report_compilation = self._log_compilation if compiled is None else compiled
        self._preparation = "getting the physics ready"
        self._bag: Bag | None = None
        self._session: Session | None = None
        self._standard_services: SimulationServices | None = None
        try:
            self.parameters = declare_parameters(self)
            if self.parameters.bag:
                self._bag = Bag(self.parameters.bag, self.get_logger().warning)
            self._create_services()
            self.add_on_set_parameters_callback(self._refuse_fixed)
            self.add_post_set_parameters_callback(self._on_parameters)
            self._starts_itself = self.parameters.autostart  # until `start`
            if self._starts_itself:
                self.trigger_configure()
                if self.error is not None:
                    raise self.error
        except BaseException:
            self.destroy_node()  # a second attempt needs its names and its log
            raise

    @property
    def machine(self) -> Machine:
        """The first machine of a configured simulator."""
        assert self._session is not None, _UNCONFIGURED
        return self._session.machine

    @property
    def recorder(self) -> Recorder | None:
        """Recorder of the run; None: not recorded."""
        return None if self._session is None else self._session.recorder

    @property
    def mailbox(self) -> Mailbox | None:
        """Mailbox of the physics loop; None: unconfigured."""
        return None if self._session is None else self._session.mailbox

    def machine_at(self, namespace: str) -> tuple[str, Machine] | None:
        """Name in the simulation and description of the robot with topics in a namespace; None: there is none."""
        for robot in () if self._session is None else self._session.interfaces:
            within = robot.place.namespace
            full = within if within.startswith("/") else f"{self.get_namespace().rstrip('/')}/{within}"
            if namespace.rstrip("/") == full.rstrip("/"):
                return robot.place.name, robot.machine
        return None

    @property
    def bag(self) -> Bag | None:
        """Bag of what is published; None: not recorded."""
        return self._bag

    @property
    def simulated_time(self) -> float:
        """Simulation time [s]; for any thread."""
        loop = None if self._session is None else self._session.loop
        return 0.0 if loop is None else loop.step * loop.step_size

    @property
    def report(self) -> LoopReport | None:
        """Figures of the physics thread; None before it has started."""
        return None if self._session is None else self._session.report

    @property
    def refused_commands(self) -> int:
        """Number of refused commands."""
        return 0 if self._session is None else self._session.refused_commands

    def start(self) -> None:
        """With `autostart`, starts the physics and the publishing thread."""
        if self._session is not None:
            self._session.start()
            self.trigger_activate()
        self._starts_itself = False

    def stop(self) -> None:
        """Ends both threads; a physics thread that is still compiling ends after the compilation."""
        if self._session is not None:
            self._session.stop()

    def destroy_node(self) -> None:
        """Destroys all entities of the node; rclpy does not destroy actions."""
        if self._session is not None:  # it is kept for its final report
            self._session.destroy()
        if self._standard_services is not None:
            self._standard_services.destroy()
        if self._bag is not None:
            self._bag.close()
        super().destroy_node()
        self._state_machine.destroy_when_not_in_use()  # rclpy does not, and it would keep the node in the graph

    def create_publisher(self, msg_type: Any, topic: str, qos_profile: QoSProfile | int, **options: Any) -> Any:
        """A publisher of the node, whose messages also go into the bag if there is one."""
        publisher = super().create_publisher(msg_type, topic, qos_profile, **options)
        bag = getattr(self, "_bag", None)  # the first ones are created before this class has any attribute
        return publisher if bag is None else bag.add(publisher)

    def destroy_publisher(self, publisher: Any) -> bool:
        """Destroys a publisher of `create_publisher`."""
        return super().destroy_publisher(publisher.publisher if isinstance(publisher, RecordedPublisher) else publisher)

    def on_configure(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Loads machine and world, creates their topics, and builds the simulation unless `start` does."""
        self.error, self.exit_status = None, 0
        self.built.clear()
        try:
            self._session = Session(self, self.parameters, self.built, self._note_compilation, self._give_up)
        except BaseException as error:
            self._keep(error)
            if isinstance(error, GrouserError):
                return TransitionCallbackReturn.FAILURE
            raise
        self.get_logger().info(self._introduction(self._session))
        if self._starts_itself:
            return TransitionCallbackReturn.SUCCESS
        self._session.start()
        self.built.wait()
        if self.error is None:
            return TransitionCallbackReturn.SUCCESS
        self.stop()
        self._clean_up()
        return TransitionCallbackReturn.FAILURE

    def on_activate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Lets the simulation run."""
        return self._set_active(True)

    def on_deactivate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Stops the simulation; its state stays."""
        return self._set_active(False)

    def on_cleanup(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Removes the simulation."""
        self.built.wait()
        self.stop()
        self._clean_up()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Ends the process."""
        self._ended.set()
        return TransitionCallbackReturn.SUCCESS

    def _set_active(self, active: bool) -> TransitionCallbackReturn:
        assert self._session is not None, "only a configured node gets here"
        outcome = self._session.set_active(active)
        if outcome.success:
            return TransitionCallbackReturn.SUCCESS
        self.get_logger().error(outcome.message)
        return TransitionCallbackReturn.FAILURE

    def _clean_up(self) -> None:
        if self._session is not None:
            self._session.destroy()
            self._session = None

    def _introduction(self, session: Session) -> str:
        """What is simulated, and where its topics are."""
        machine, world = session.machine, session.world
        return (
            f"{machine.name} ({machine.file}) in the world {world.name} ({world.file}), "
            f"step {1e3 * self.parameters.step:g} ms, as {self.get_fully_qualified_name()} "
            f"in ROS domain {self.context.get_domain_id()}"
        )

    def _keep(self, error: BaseException) -> None:
        """Keeps the first error; logs it unless the node configures itself."""
        building = not self.built.is_set()
        if self.error is None:
            self.exit_status = EXIT_BAD_INPUT if building and isinstance(error, GrouserError) else _EXIT_FAILED
            self.error = error
        if building and not self._starts_itself:
            self.get_logger().error(failure_text(error))

    def _give_up(self, error: BaseException) -> None:
        """Takes the error that ended a thread, and ends the process, except when a client configures the node."""
        building = not self.built.is_set()
        self._keep(error)
        if self.parameters.autostart or not building:
            self._ended.set()

    def _create_services(self) -> None:
        self._diagnostics = self.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, topics.RELIABLE)
        self._diagnostics_timer = self.create_timer(
            1.0 / self.parameters.diagnostics_rate,
            self._publish_diagnostics,
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        # The services wait for the physics thread, possibly for many steps. A group of their own does not block the
        # subscriptions, above all that of the emergency stop.
        services = MutuallyExclusiveCallbackGroup()
        self.create_service(Trigger, topics.RESET, self._on_reset, callback_group=services)
        self.create_service(SetBool, topics.PAUSE, self._on_pause, callback_group=services)
        # a second request for steps is refused while the first one is carried out
        self.create_service(Trigger, topics.STEP, self._on_step, callback_group=ReentrantCallbackGroup())
        self.create_service(Trigger, topics.CLEAR_FAULTS, self._on_clear_faults, callback_group=services)
        self.create_service(Trigger, topics.CLEAR_EMERGENCY_STOP, self._on_release, callback_group=services)
        self.create_service(SetBool, topics.RECORD, self._on_record, callback_group=services)
        host = NodeHost(lambda: self._session, lambda: self.parameters.map_frame, self._ended.set)
        self._standard_services = offer_standard_services(self, host)
        # rclpy raises an exception for a transition that is not possible now, which would end the executor.
        change_state = self._service_change_state.callback

        def answer(request, response):
            try:
                return change_state(request, response)
            except rclpy_implementation.RCLError:
                response.success = False
                return response

        self._service_change_state.callback = answer

    def _on_reset(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._request(lambda loop: loop.reset(self.parameters.reset_rewinds_time), response)

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        return self._request(lambda loop: loop.set_paused(request.data), response)

    def _on_step(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._request(lambda loop: loop.step_paused(self.parameters.step_request_count), response)

    def _on_clear_faults(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._request(lambda loop: loop.clear_faults(), response)
        if response.success and self._session is not None:
            self._session.clear_fault_parameters()
        return response

    def _on_record(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        session = self._session
        if session is None:
            outcome = _NOT_CONFIGURED
        else:
            outcome = session.begin_recording() if request.data else session.end_recording()
        response.success, response.message = outcome.success, outcome.message
        return response

    def _on_release(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._request(lambda loop: loop.release_stop(), response)

    def _request(self, call: Callable[[PhysicsLoop], Outcome], response):
        """Runs a function in the physics thread and waits for it: at most a tick, or the requested steps."""
        outcome = _NOT_CONFIGURED if self._session is None else self._session.request(call)
        response.success, response.message = outcome.success, outcome.message
        return response

    def _refuse_fixed(self, changes: list[Parameter]) -> SetParametersResult:
        fixed = "" if self._session is None else fixed_parameter(changes)
        reason = f"{fixed} can be set only while the simulator is {_UNCONFIGURED}" if fixed else ""
        return SetParametersResult(successful=not fixed, reason=reason)

    def _on_parameters(self, changes: list[Parameter]) -> None:
        self.parameters = updated(self.parameters, changes)
        period = round(1e9 / self.parameters.diagnostics_rate)
        if period != self._diagnostics_timer.timer_period_ns:
            self._diagnostics_timer.timer_period_ns = period
            self._diagnostics_timer.reset()  # otherwise the next one follows the old period
        if self._session is not None:
            self._session.change(self.parameters, changes)

    def _publish_diagnostics(self) -> None:
        waiting = self._preparation if self._session is not None else _UNCONFIGURED
        asked = PacedScheduling(scheduling_of(vars(self.parameters)))
        self._diagnostics.publish(
            diagnostics_message(
                *(self.get_name(), self.report or waiting, self.parameters.real_time_factor, self.refused_commands),
                asked if self._session is None else self._session.scheduling,
            )
        )

    def _note_compilation(self, progress: Progress) -> None:
        """Keeps for /diagnostics how far the compiler is, and reports it."""
        self._preparation = progress_text(progress)
        self._report_compilation(progress)

    def _log_compilation(self, progress: Progress) -> None:
        if not progress.ended:
            self.get_logger().info(progress_text(progress), throttle_duration_sec=_COMPILATION_PERIOD)


@contextmanager
def spinning(node: SimulatorNode) -> Iterator[SimulatorNode]:
    """Runs a node's threads and its executor; on exit, ends them in the only safe order.

    Physics ends first, so that nothing is published on a destroyed context; then the executor; the node is destroyed
    after the executor's thread has ended. A spinning thread that outlives the context aborts the process.
    """
    # threads: one for step requests, which take long, one for other services, which wait, one for everything else
    executor = MultiThreadedExecutor(3)
    executor.add_node(node)
    ending = threading.Event()

    def spin() -> None:
        # One thread may destroy an entity, in a cleanup or a shutdown, that another is about to wait on. rclpy then
        # raises an error once or a few times in a row; a permanent defect raises it every time.
        failures = 0
        while not ending.is_set() and executor.context.ok():
            try:
                executor.spin_once()
                failures = 0
            except (InvalidHandle, rclpy_implementation.RCLError) as error:
                failures += 1
                if failures > _MOST_FAILURES_OF_WAITING and not ending.is_set():
                    raise
                node.get_logger().debug(f"not waited for: {error}")

    thread = threading.Thread(target=spin, name="executor")
    thread.start()
    node.start()
    try:
        yield node
    finally:
        node.stop()
        ending.set()
        executor.create_task(lambda: None)  # wakes the thread
        thread.join()  # first: a shutdown takes away what the thread waits for
        executor.shutdown()
        node.destroy_node()


def failure_text(error: BaseException) -> str:
    """An error in one line; errors that are not grouser's begin with their type."""
    return str(error) if isinstance(error, GrouserError) else f"{type(error).__name__}: {error}"


def leave(status: int) -> NoReturn:
    """Ends the ROS context, then the process at once.

    The compiler in the physics thread of a first run cannot be interrupted (finished functions are in the cache), and
    an orderly exit with all compiled code takes half a second.
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
        if stop.is_set():  # Ctrl-C also ends the xacro process that reads the machine
            leave(0)
        print(f"simulator: {error}", file=sys.stderr)
        leave(EXIT_BAD_INPUT)
    with spinning(node):
        stop.wait()
    if node.error is not None:
        print(f"simulator: {failure_text(node.error)}", file=sys.stderr)
    leave(node.exit_status)
