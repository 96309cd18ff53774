"""A configured simulator: machines in a world, their topics, and the threads that step and publish."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter

from grouser import catalogue
from grouser.nodes.shared.messages import refusal_text
from grouser.nodes.simulator.parameters import SimulatorParameters
from grouser.nodes.simulator.publishing import PublishingThread
from grouser.nodes.simulator.robot import Place, RobotInterface
from grouser.physics.base.compilation import Report, reporting_compilation
from grouser.physics.base.errors import GrouserError, ParameterError
from grouser.physics.description import load_machine, load_world
from grouser.physics.description.data.machine import Machine, Member
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import World
from grouser.physics.description.text.packages import read_packages
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.simulation.transfer import simulate
from grouser.physics.simulation.view import MachineView
from grouser.program import CommandProgram, load_program
from grouser.recording.events import Event, Joined, Left, WorldLoaded
from grouser.recording.origin import Origin
from grouser.recording.recorder import Recorder
from grouser.runtime import garbage
from grouser.runtime.lockstep import Lockstep
from grouser.runtime.mailbox import Mailbox, NoAnswerError, answer_of
from grouser.runtime.pacing import Pacer
from grouser.runtime.physics_loop import Outcome, PhysicsLoop
from grouser.runtime.report import LoopReport
from grouser.runtime.robot_runtime import RobotRuntime
from grouser.runtime.schedule import StreamSchedule
from grouser.runtime.streams import CLOCK, CLOCK_RATE, rehearse

_LONGEST_TICK = 0.01  # [s]: longest delay of a command when all streams are slower
_WARNING_PERIOD = 1.0  # [s]


class Session:
    """Runs a simulation in a thread of its own, with a ROS interface for each machine.

    Args:
        node: that has the topics.
        parameters: of the simulator.
        built: set when the simulation is ready to step, or could not be built.
        compiled: told, by a thread of its own, how far the compiler is.
        give_up: takes the error that ended one of the threads.

    Raises:
        GrouserError: a parameter, the machine, the world or the program is not valid.

    Attributes:
        machine: the first one.
        world: the loaded one; `NOWHERE`: none.
        recorder: of the run; None: not recorded.
    """

    def __init__(
        self,
        node: Node,
        parameters: SimulatorParameters,
        built: threading.Event,
        compiled: Report,
        give_up: Callable[[BaseException], None],
    ) -> None:
        self._node = node
        self._parameters = parameters
        self._built = built
        self._compiled = compiled
        self._give_up = give_up
        self._stopping = threading.Event()
        self._refused = 0
        self._told: frozenset[str] = frozenset()
        self._mailbox = Mailbox()
        self._loop: PhysicsLoop | None = None
        self._starts_active = False
        self._beginning = threading.Lock()
        self.machine = load_machine(
            catalogue.machine_file(parameters.machine),
            parameters.xacro_arguments(),
            parameters.base or None,
            read_packages(parameters.packages),
        )
        self.world = load_world(catalogue.world_file(parameters.world))
        for warning in self.machine.warnings:
            node.get_logger().warning(warning)
        program = _load_program(parameters.program)
        self._members = {"": Member(self.machine)}
        self._robots: dict[str, RobotInterface] = {}  # replaced whenever it changes: other threads iterate over it
        self._publishing = PublishingThread(node, give_up)
        self._physics_thread = threading.Thread(target=self._run, name="physics", daemon=True)
        try:
            self._add(self._make_robot(Place(), self.machine, parameters.valves, program))
            self._lockstep = self._make_lockstep()
            self.recorder = Recorder(parameters.record, self._warn) if parameters.record else None
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
        """Starts the physics and the publishing thread."""
        for robot in self._robots.values():
            robot.publisher.publish_description(robot.machine.urdf)
        self._publishing.start()
        self._physics_thread.start()

    def stop(self) -> None:
        """Ends both threads; a physics thread that is still compiling ends after the compilation."""
        self._stopping.set()
        if self._loop is not None:
            self._loop.finish()
        self._mailbox.close()
        if self._built.is_set() and self._physics_thread.is_alive():
            self._physics_thread.join()
        self._publishing.finish()

    def destroy(self) -> None:
        """Destroys the topics, after the end of the threads."""
        for name in self._robots:
            self._remove(name)
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
        return self._mailbox.call(function)

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
        self._parameters = parameters
        call, timeout = self._mailbox.call, parameters.command_timeout
        call(lambda loop: loop.change_pace(parameters.real_time_factor, parameters.overrun_limit))
        call(lambda loop: loop.change_lockstep_deadline(parameters.lockstep_deadline))
        for name, robot in self._robots.items():
            robot.change(parameters)
            own = robot.own_timeouts(parameters)
            call(partial(PhysicsLoop.change_command_timeout, name=name, seconds=timeout, own=own))
            faults = robot.faults.among(changes)
            if faults:
                call(partial(PhysicsLoop.set_faults, name=name, faults=faults))
        schedule = self._schedule(self._robots)
        call(lambda loop: loop.change_sampling(schedule, parameters.terrain_reach))

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
    def namespaces(self) -> frozenset[str]:
        """Namespaces of the machines."""
        return frozenset(robot.place.namespace for robot in self._robots.values())

    def spawn(self, name: str, machine: Machine, namespace: str, pose: Pose) -> None:
        """Adds a machine while the simulation runs.

        Args:
            name: unique among the members.
            machine: its description.
            namespace: of its topics and parameters.
            pose: of its root link in the world.

        Raises:
            GrouserError: it cannot share the simulation with the others, or overlaps another body.
        """
        member = Member(machine, pose)
        robot = self._make_robot(Place(name, namespace), machine)
        self._add(robot)
        try:
            made = partial(robot.runtime, parameters=self._parameters)
            self._exchange({**self._members, name: member}, {name: made}, partial(_joined, name, member))
        except BaseException:
            self._remove(name)
            raise
        robot.publisher.publish_description(machine.urdf)

    def delete(self, name: str) -> None:
        """Removes a machine while the simulation runs.

        Raises:
            GrouserError: it is not possible now.
        """
        self._exchange(
            {member: one for member, one in self._members.items() if member != name},
            {},
            lambda step: Left(step, name),
        )
        self._remove(name)

    def load_world(self, world: World) -> None:
        """Removes all machines and loads another world; the simulation pauses.

        Raises:
            GrouserError: it is not possible now.
        """
        simulation, schedule = self._simulate({}, world), self._schedule({})
        loaded = partial(WorldLoaded, file=world.file, world=world.source)
        self._require(lambda loop: loop.begin_anew(simulation, schedule, loaded))
        self._members, self.world = {}, world
        garbage.collect()
        for name in self._robots:
            self._remove(name)

    def _exchange(
        self,
        members: Mapping[str, Member],
        newcomers: Mapping[str, Callable[[MachineView], RobotRuntime]],
        event: Callable[[int], Event],
    ) -> None:
        """Continues with other members. The simulation is made in this thread; the physics thread does not wait."""
        simulation = self._simulate(members, self.world)
        schedule = self._schedule({name: robot for name, robot in self._robots.items() if name in members})
        self._require(lambda loop: loop.exchange(simulation, members, schedule, newcomers, event))
        self._members = dict(members)
        garbage.collect()  # a simulation has large arrays, and views in reference cycles with it

    def _require(self, call: Callable[[PhysicsLoop], Outcome]) -> None:
        outcome = self.request(call)
        if not outcome.success:
            raise outcome.error or GrouserError(outcome.message)

    def _simulate(self, members: Mapping[str, Member], world: World) -> Simulation:
        parameters = self._parameters
        settings = (parameters.step, parameters.scheme, parameters.integrator or None, parameters.spawn)
        simulation = simulate(members, world, *settings)
        rehearse(simulation)
        for warning in simulation.warnings:
            if warning not in self._told:  # those about machines that stay were reported before
                self._node.get_logger().warning(warning)
        self._told = frozenset(simulation.warnings)
        return simulation

    def _schedule(self, robots: Mapping[str, RobotInterface]) -> StreamSchedule:
        rates = {CLOCK: self._parameters.rates[CLOCK_RATE.parameter]}
        for robot in robots.values():
            rates.update(robot.publisher.rates)
        return StreamSchedule.from_rates(rates, self._parameters.step, _LONGEST_TICK)

    def _make_robot(
        self, place: Place, machine: Machine, valves: tuple[str, ...] = (), program: CommandProgram | None = None
    ) -> RobotInterface:
        parameters, mailbox = self._parameters, self._mailbox
        return RobotInterface(
            self._node,
            place,
            machine,
            self.world,
            parameters,
            mailbox,
            self._refuse,
            valves,
            program,
        )

    def _add(self, robot: RobotInterface) -> None:
        self._robots = {**self._robots, robot.place.name: robot}
        self._publishing.add(robot.place.name, robot.publisher)

    def _remove(self, name: str) -> None:
        robot = self._robots[name]
        self._robots = {other: one for other, one in self._robots.items() if other != name}
        self._publishing.remove(name)
        robot.destroy()

    def _make_lockstep(self) -> Lockstep:
        parameters = self._parameters
        known = [source for robot in self._robots.values() for source in robot.commanded]
        for name in parameters.lockstep_sources:
            if name not in known:
                raise ParameterError("lockstep_sources", name, f"one of {', '.join(known)}")
        period = max(1, round(parameters.lockstep_period / parameters.step))
        return Lockstep(parameters.lockstep_sources, period, parameters.lockstep_deadline, self._mailbox, self._warn)

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
            self._built.set()
            if not self._stopping.is_set():
                self._loop.run()
        except BaseException as error:
            self._give_up(error)
            # An error of the user's input is reported in one line; a defect needs its traceback.
            if not isinstance(error, GrouserError):
                raise
        finally:
            self._built.set()
            self._mailbox.close()
            if self.recorder is not None:
                self.recorder.close()

    def _build(self) -> Callable[..., PhysicsLoop]:
        parameters = self._parameters
        simulation = self._simulate(self._members, self.world)
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
            self._mailbox,
            self._publishing.queue,
            self._warn,
            lambda text: self._node.get_logger().error(f"paused: {text}"),
            parameters.start_paused,
            lockstep=self._lockstep,
            recorder=self.recorder,
        )

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(text, throttle_duration_sec=_WARNING_PERIOD)


def _joined(name: str, member: Member, step: int) -> Joined:
    machine, pose = member.machine, member.pose or Pose()
    base = machine.base
    return Joined(
        step, name, machine.file, machine.source, base, dict(machine.packages), pose.position, pose.quaternion
    )


def _load_program(name: str) -> CommandProgram | None:
    return load_program(catalogue.program_file(name)) if name else None
