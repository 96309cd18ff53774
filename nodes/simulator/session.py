"""A configured simulator: machines in a world, their topics, and the threads that step and publish."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter

from grouser import catalogue
from grouser.function_blocks.diagram import Diagram
from grouser.nodes.services.host import SpawnOrder
from grouser.nodes.shared import topics
from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.shared.messages import refusal_text
from grouser.nodes.shared.scheduling import PacedScheduling, scheduling_of
from grouser.nodes.simulator.latecomers import Latecomers
from grouser.nodes.simulator.neighbours import NeighbourWatch
from grouser.nodes.simulator.object_publishing import ObjectPublisher
from grouser.nodes.simulator.parameters import SimulatorParameters
from grouser.nodes.simulator.publishing import Publishing
from grouser.nodes.simulator.robot import Place, RobotInterface
from grouser.nodes.simulator.start import Start, load_start, make_lockstep, start_text
from grouser.nodes.simulator.stop_subscription import StopSubscription
from grouser.physics.base.compilation import Report, reporting_compilation
from grouser.physics.base.errors import GrouserError, ParameterError
from grouser.physics.description import load_world, parse_world
from grouser.physics.description.data.machine import Machine, Member
from grouser.physics.description.data.world import World
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.simulation.transfer import simulate
from grouser.physics.simulation.view import MachineView
from grouser.program import CommandProgram
from grouser.recording.events import Event, Left, WorldLoaded, joined_together
from grouser.recording.mcap_file import Recording
from grouser.recording.origin import Origin
from grouser.recording.recorder import DATED_FILE, Recorder
from grouser.recording.timeline import Timeline
from grouser.runtime import garbage
from grouser.runtime.mailbox import Mailbox, NoAnswerError, answer_of
from grouser.runtime.objects import is_plain
from grouser.runtime.outcome import Outcome
from grouser.runtime.pacing import Pacer
from grouser.runtime.physics_loop import PhysicsLoop
from grouser.runtime.replay_loop import ReplayLoop
from grouser.runtime.report import LoopReport
from grouser.runtime.robot_runtime import RobotRuntime
from grouser.runtime.schedule import StreamSchedule
from grouser.runtime.streams import CLOCK, OBJECT_POSES, STREAMS, is_of_sensor, rehearse

_LONGEST_TICK = 0.01  # [s]: longest delay of a command when all streams are slower
_WARNING_PERIOD = 1.0  # [s]


class Session:
    """Runs a simulation in a thread of its own, with a ROS interface for each machine that is no plain object.

    The first machine always has one.

    Args:
        node: that has the topics.
        parameters: of the simulator.
        built: set when the simulation is ready to step, or could not be built.
        compiled: told, by a thread of its own, how far the compiler is.
        give_up: takes the error that ended one of the threads.

    Raises:
        GrouserError: a parameter, the machine, the world or the program is not valid.

    Attributes:
        machine: the first one at the start.
        has_fleet: whether it started with a fleet; else its one machine has the names of the node.
        world: the loaded one; `NOWHERE`: none.
        recorder: the last one of the run; None: not recorded.
        mailbox: of the physics loop.
        scheduling: of its threads.
    """

    def __init__(
        self,
        node: Node,
        parameters: SimulatorParameters,
        built: threading.Event,
        compiled: Report,
        give_up: Callable[[BaseException], None],
    ) -> None:
        self._recording = Recording(parameters.replay) if parameters.replay else None
        parameters = self._recorded(parameters)
        self._node = node
        self._parameters = parameters
        self._built = built
        self._compiled = compiled
        self._give_up = give_up
        self._stopping = threading.Event()
        self._refused = 0
        self._told: frozenset[str] = frozenset()
        self.mailbox = Mailbox()
        self._loop: PhysicsLoop | None = None
        self._starts_active = False
        self._beginning = threading.Lock()
        if self._recording is None:
            self.world = load_world(catalogue.world_file(parameters.world))
            start = load_start(parameters, self.world)
        else:
            origin = self._recording.origin
            self.world = parse_world(origin.world, origin.world_file)
            start = Start(origin.members())
        self._start = self._members = start.members  # what the present world began with, and what is there
        self._program = start.program
        self.machine = next(iter(start.members.values())).machine
        self.has_fleet = "" not in start.members
        for warning in dict.fromkeys(text for member in start.members.values() for text in member.machine.warnings):
            node.get_logger().warning(warning)
        self._robots: dict[str, RobotInterface] = {}  # replaced whenever it changes: other threads iterate over it
        self._objects = ObjectPublisher(node, parameters)
        self.scheduling = PacedScheduling(scheduling_of(vars(parameters)))
        scheduling = self.scheduling
        self._publishing = Publishing(node, self._objects, give_up, scheduling.of_clock, scheduling.of_publishing)
        self._endpoints = Endpoints(node)
        self._physics_thread = threading.Thread(target=self._run, name="physics", daemon=True)
        try:
            for name, make in self._robots_of_start(self._start).items():
                self._add(make(name))
            StopSubscription(self._endpoints, topics.STOP_OF_ALL, self._stop_all)
            sources = [source for robot in self._robots.values() for source in robot.commanded]
            self._lockstep = make_lockstep(parameters, sources, self.mailbox, self._warn)
            self.recorder = Recorder(parameters.record, self._warn) if parameters.record else None
            self._neighbours = NeighbourWatch(node, self._moved_frames, node.get_logger().warning)
            self._endpoints.at_end(self._neighbours.destroy)
            self._endpoints.at_end(Latecomers(node, self._show_again).destroy)
        except GrouserError:
            self.destroy()
            raise

    @property
    def report(self) -> LoopReport | None:
        """Figures of the physics thread; None while the simulation is being built."""
        return None if self._loop is None else self._loop.report

    @property
    def refused_commands(self) -> int:
        """Number of refused commands."""
        return self._refused + (0 if self._loop is None else self._loop.report.refused_commands)

    def start(self) -> None:
        """Starts the threads of the physics and of publishing."""
        for robot in self._robots.values():
            robot.publisher.publish_description(robot.machine.urdf)
        self._publish_shapes()
        self._publishing.start()
        self._physics_thread.start()

    def stop(self) -> None:
        """Ends both threads; a physics thread that is still compiling ends after the compilation."""
        self._stopping.set()
        if self._loop is not None:
            self._loop.finish()
        self.mailbox.close()
        if self._built.is_set() and self._physics_thread.is_alive():
            self._physics_thread.join()
        self._publishing.finish()

    def destroy(self) -> None:
        """Destroys the topics, after the end of the threads."""
        for name in self._robots:
            self._remove(name)
        self._objects.destroy()
        self._endpoints.destroy()
        self._publishing.destroy()

    def set_active(self, active: bool) -> Outcome:
        """Activates or deactivates the simulation; one that is being built does so when it is ready."""
        with self._beginning:
            if self._loop is None:
                self._starts_active = active
                return Outcome(True, "")
        return self.request(lambda loop: loop.set_active(active))

    @property
    def loop(self) -> PhysicsLoop | None:
        """The loop of the physics thread; None while the simulation is being built."""
        return self._loop

    def call(self, function: Callable[[PhysicsLoop], Any]) -> Future:
        """Runs a function in the physics thread; the future is cancelled if that thread has ended."""
        return self.mailbox.call(function)

    def request(self, call: Callable[[PhysicsLoop], Outcome]) -> Outcome:
        """Runs a function in the physics thread and waits for it: at most a tick, or the requested steps."""
        if self._loop is None:
            return Outcome(False, "the simulation is still being built")
        try:
            return answer_of(self.call(call))
        except NoAnswerError as error:
            return Outcome(False, str(error))

    def change(self, parameters: SimulatorParameters, changes: list[Parameter]) -> None:
        """Applies changed parameters."""
        self._parameters = parameters = self._recorded(parameters)
        call, timeout = self.mailbox.call, parameters.command_timeout
        call(lambda loop: loop.change_pace(parameters.real_time_factor, parameters.overrun_limit))
        call(lambda loop: loop.change_lockstep_deadline(parameters.lockstep_deadline))
        call(lambda loop: loop.change_push_timeout(parameters.push_timeout))
        for name, robot in self._robots.items():
            robot.change(parameters)
            own = robot.own_timeouts(parameters)
            call(methodcaller("change_command_timeout", name=name, seconds=timeout, own=own))
            faults = robot.faults.among(changes)
            if faults:
                call(methodcaller("set_faults", name=name, faults=faults))
        for one in changes if self._recording is not None else ():
            if one.name == "replay_time":
                call(lambda loop: loop.seek(parameters.replay_time))
            elif one.name == "replay_backward":
                call(lambda loop: loop.set_backward(parameters.replay_backward))
        schedule = self._schedule(self._robots)
        call(lambda loop: loop.change_sampling(schedule, parameters.limits))

    def begin_recording(self) -> Outcome:
        """Records the run from now on, in the file of the parameter `record_file`."""
        file = Path(self._parameters.record_file or f"{datetime.now():{DATED_FILE}}").absolute()
        try:
            recorder = Recorder(file, self._warn)
        except ParameterError as error:
            return Outcome(False, str(error), error)
        arguments = self._parameters.xacro_arguments()
        outcome = self.request(lambda loop: loop.begin_recording(recorder, arguments))
        if outcome.success:
            self.recorder = recorder
        return outcome

    def end_recording(self) -> Outcome:
        """Ends the recording, and waits until its file is complete."""
        outcome = self.request(lambda loop: loop.end_recording())
        if not outcome.success or self.recorder is None:
            return outcome
        self.recorder.close()
        if self.recorder.problem:
            return Outcome(False, f"{outcome.message}, but it is incomplete: {self.recorder.problem}")
        return outcome

    def clear_fault_parameters(self) -> None:
        """Sets all fault parameters to healthy."""
        for robot in self._robots.values():
            robot.faults.clear()

    # --- adding and removing machines ---------------------------------------------------------------------------------

    @property
    def members(self) -> Mapping[str, Member]:
        """All machines by name; the name of the first one is ""."""
        return self._members

    @property
    def robots(self) -> Collection[str]:
        """Names of the machines with topics of their own; the others are plain objects."""
        return self._robots.keys()

    @property
    def interfaces(self) -> Collection[RobotInterface]:
        """Topics of the machines of `robots`."""
        return self._robots.values()

    def spawn(self, orders: Sequence[SpawnOrder]) -> None:
        """Adds machines while the simulation runs: all of them, or none if one is refused.

        Args:
            orders: names that are unique among the members, namespaces among the robots; "" and "": the first one's.

        Raises:
            GrouserError: one cannot share the simulation with the others, or overlaps another body.
        """
        newcomers = {order.name: Member(order.machine, order.pose) for order in orders}
        robots = {}
        for order in orders:
            if is_plain(order.machine):
                self._check_frame(order.name)
            else:
                robots[order.name] = partial(self._make_robot, namespace=order.namespace, machine=order.machine)
        self._join(newcomers, robots)

    def _join(self, newcomers: dict[str, Member], robots: Mapping[str, Callable[[str], RobotInterface]]) -> None:
        """Takes machines in, all or none; `robots` makes the topics of those that are no plain objects, by name."""
        made: dict[str, RobotInterface] = {}
        try:
            for name, make in robots.items():
                made[name] = make(name)
                self._add(made[name])
            self._exchange(
                {**self._members, **newcomers},
                {name: partial(robot.runtime, parameters=self._parameters) for name, robot in made.items()},
                partial(joined_together, newcomers),
            )
        except BaseException:
            for name in made:
                self._remove(name)
            raise
        for robot in made.values():
            robot.publisher.publish_description(robot.machine.urdf)

    def _robots_of_start(self, members: Mapping[str, Member]) -> dict[str, Callable[[str], RobotInterface]]:
        """Makers of the topics of machines at the start; the one without a name always has topics, and the program."""
        programs = {"": self._program}
        return {
            name: partial(self._make_robot, namespace=name, machine=member.machine, program=programs.get(name))
            for name, member in members.items()
            if not name or not is_plain(member.machine)
        }

    def remove_spawned(self) -> None:
        """Removes all machines that the present world did not begin with; exceptions as of `delete`."""
        spawned = [name for name, member in self._members.items() if self._start.get(name) is not member]
        if spawned:
            self.delete(spawned)

    def bring_back(self) -> None:
        """Brings back the machines of the start that were deleted; exceptions as of `spawn`."""
        gone = {name: member for name, member in self._start.items() if name not in self._members}
        if gone:
            missing = {name: replace(one, pose=one.pose or self.world.spawn) for name, one in gone.items()}
            self._start = {**self._start, **missing}
            self._join(missing, self._robots_of_start(missing))

    def delete(self, names: Collection[str]) -> None:
        """Removes machines while the simulation runs.

        Raises:
            GrouserError: it is not possible now.
        """
        remaining = {name: member for name, member in self._members.items() if name not in names}
        self._exchange(remaining, {}, lambda step: [Left(step, name) for name in names])
        for name in self._robots.keys() & names:
            self._remove(name)

    def load_world(self, world: World) -> None:
        """Removes all machines and loads another world; the simulation pauses.

        Raises:
            GrouserError: it is not possible now.
        """
        simulation, schedule = self._simulate({}, world), self._schedule({})
        loaded = partial(WorldLoaded, file=world.file, world=world.source)
        self._require(lambda loop: loop.begin_anew(simulation, schedule, loaded))
        self._report_warnings(simulation)
        self._members, self._start, self.world = {}, {}, world
        self._publish_shapes()
        for name in self._robots:
            self._remove(name)

    def _exchange(
        self,
        members: Mapping[str, Member],
        newcomers: Mapping[str, Callable[[MachineView], RobotRuntime]],
        events: Callable[[int], Sequence[Event]],
    ) -> None:
        """Continues with other members. The simulation is made in this thread; the physics thread does not wait."""
        simulation = self._simulate(members, self.world, newcomers)
        robots = {name: robot for name, robot in self._robots.items() if name in members}
        schedule = self._schedule(robots)
        self._require(lambda loop: loop.exchange(simulation, robots, schedule, newcomers, events))
        self._report_warnings(simulation)
        self._members = dict(members)
        self._publish_shapes()

    def _publish_shapes(self) -> None:
        objects = {name: member.machine for name, member in self._members.items() if name not in self._robots}
        self._objects.publish_shapes(objects)

    def _require(self, call: Callable[[PhysicsLoop], Outcome]) -> None:
        outcome = self.request(call)
        if not outcome.success:
            raise outcome.error or GrouserError(outcome.message)

    def _check_frame(self, name: str) -> None:
        """Refuses a plain object whose frame would be that of a robot or of the world."""
        parameters = self._parameters
        frames = {parameters.map_frame}.union(*(robot.frames for robot in self._robots.values()))
        if parameters.publish_object_tf and name in frames:
            raise ParameterError("name", name, "that of no frame on /tf, as publish_object_tf is set")

    def _simulate(self, members: Mapping[str, Member], world: World, robots: Collection[str] = ()) -> Simulation:
        """A simulation that is ready to step; those readings are compiled that new robots need."""
        parameters = self._parameters
        settings = (parameters.step, parameters.scheme, parameters.integrator or None)
        simulation = simulate(members, world, *settings, parameters.spawn, parameters.sleeping)
        rehearse(simulation, robots)
        return simulation

    def _report_warnings(self, simulation: Simulation) -> None:
        """Logs the warnings of a simulation, but not those that were reported before: of machines that stay."""
        for warning in simulation.warnings:
            if warning not in self._told:
                self._node.get_logger().warning(warning)
        self._told = frozenset(simulation.warnings)

    def _schedule(self, robots: Mapping[str, RobotInterface]) -> StreamSchedule:
        shared = ((topic, STREAMS[topic].rate) for topic in (CLOCK, OBJECT_POSES))
        rates = {topic: self._parameters.rates[rate.parameter] for topic, rate in shared if rate is not None}
        for robot in robots.values():
            rates.update(robot.publisher.rates)
        by_wall_time = [topic for topic in rates if self._parameters.wall_rates and not is_of_sensor(topic)]
        return StreamSchedule.from_rates(rates, self._parameters.step, _LONGEST_TICK, by_wall_time)

    def _make_robot(
        self, name: str, namespace: str, machine: Machine, program: CommandProgram | Diagram | None = None
    ) -> RobotInterface:
        parameters = self._parameters
        valves = () if name else parameters.valves
        return RobotInterface(
            *(self._node, Place(name, namespace), machine, self.world, parameters, self.mailbox, self._refuse),
            *(valves, program),
        )

    def _add(self, robot: RobotInterface) -> None:
        self._robots = {**self._robots, robot.place.name: robot}
        self._publishing.add(robot.place.name, robot.publisher)

    def _remove(self, name: str) -> None:
        robot = self._robots[name]
        self._robots = {other: one for other, one in self._robots.items() if other != name}
        self._publishing.remove(name)
        robot.destroy()

    def _show_again(self) -> None:
        if self._loop is not None:
            self.call(lambda loop: loop.show_again())

    def _moved_frames(self) -> frozenset[str]:
        return frozenset().union(*(robot.moved_frames for robot in self._robots.values()))

    def _refuse(self, source: str, error: ParameterError) -> None:
        self._refused += 1
        self._node.get_logger().warning(refusal_text(source, error), throttle_duration_sec=_WARNING_PERIOD)

    def _run(self) -> None:
        """The physics thread: builds the simulation and runs it."""
        try:
            with reporting_compilation(self._compiled):
                make_loop = self._build()
            with self._beginning:
                self._loop = make_loop(start_active=self._starts_active)
            garbage.freeze_present_objects()
            self.scheduling.of_stepping()  # not while compiling, which takes long
            self._built.set()
            if not self._stopping.is_set():
                self._neighbours.begin()
                self._node.get_logger().info(start_text(self._loop.report))
                self._loop.run()
        except BaseException as error:
            self._give_up(error)
            # An error of the user's input is reported in one line; a defect needs its traceback.
            if not isinstance(error, GrouserError):
                raise
        finally:
            self._built.set()
            self.mailbox.close()
            if self.recorder is not None:
                self.recorder.close()

    def _recorded(self, parameters: SimulatorParameters) -> SimulatorParameters:
        """The parameters with the settings of the recording that is replayed, if any.

        Raises:
            ParameterError: a replay is asked to record.
        """
        if self._recording is None:
            return parameters
        if parameters.record:
            raise ParameterError("record", parameters.record, "empty beside `replay`: there is a recording already")
        origin = self._recording.origin
        names = ("step", "scheme", "integrator", "spawn", "sleeping")
        return replace(parameters, lockstep_sources=(), **{name: getattr(origin, name) for name in names})

    def _build(self) -> Callable[..., PhysicsLoop]:
        if self._recording is not None:
            return self._build_replay(Timeline(self._recording))
        parameters = self._parameters
        simulation = self._simulate(self._members, self.world, self._robots)
        self._report_warnings(simulation)
        runtimes = {}
        for name, robot in self._robots.items():
            part = simulation.part(name)
            for (component, fault), value in robot.faults.values.items():
                part.faults[component][fault] = value
            runtimes[name] = robot.runtime(part, parameters)
        if self.recorder is not None:
            self.recorder.begin(Origin.of(simulation, parameters.xacro_arguments()))
        return partial(
            PhysicsLoop,
            simulation,
            self._schedule(self._robots),
            Pacer(parameters.step, parameters.real_time_factor, parameters.overrun_limit),
            runtimes,
            self.mailbox,
            self._publishing.queue,
            self._warn,
            lambda text: self._node.get_logger().error(f"paused: {text}"),
            parameters.start_paused,
            lockstep=self._lockstep,
            recorder=self.recorder,
            published=self._publishing.wait_until_published,
            push_timeout=parameters.push_timeout,
        )

    def _build_replay(self, timeline: Timeline) -> Callable[..., PhysicsLoop]:
        parameters, simulation = self._parameters, timeline.simulation
        for hint in timeline.hints:
            self._warn(hint)
        self._simulate(self._members, self.world, self._robots).discard()  # compiles the readings
        return partial(
            ReplayLoop,
            timeline,
            self._schedule(self._robots),
            Pacer(parameters.step, parameters.real_time_factor, parameters.overrun_limit),
            {name: robot.runtime(simulation.part(name), parameters) for name, robot in self._robots.items()},
            self.mailbox,
            self._publishing.queue,
            self._warn,
            lambda text: self._node.get_logger().error(f"paused: {text}"),
            parameters.start_paused,
            published=self._publishing.wait_until_published,
            show_objects=self._objects.publish_shapes,
        )

    def _stop_all(self) -> None:
        self._node.get_logger().warning("emergency stop of all machines", throttle_duration_sec=_WARNING_PERIOD)
        self.mailbox.call(lambda loop: loop.stop_all())

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(text, throttle_duration_sec=_WARNING_PERIOD)
