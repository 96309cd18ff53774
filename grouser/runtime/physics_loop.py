"""The loop of the physics thread: take commands, step, hand out samples, keep pace."""

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence, Set

from grouser.physics.base.errors import DivergenceError, GrouserError, ParameterError
from grouser.physics.description.data.machine import member_prefix
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.machine_file.fleet import ROOT
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.simulation.transfer import transfer_state
from grouser.physics.simulation.view import MachineView
from grouser.recording.events import (
    BridgeFaultsChanged,
    Commanded,
    Diverged,
    Event,
    FaultsChanged,
    Placed,
    Released,
    Rewound,
    Stopped,
    WasReset,
)
from grouser.recording.origin import Origin
from grouser.recording.recorder import Recorder
from grouser.runtime.lockstep import Lockstep
from grouser.runtime.mailbox import Mailbox
from grouser.runtime.objects import PlainObjects
from grouser.runtime.outcome import Outcome, StepRequest, refused
from grouser.runtime.pacing import Pacer
from grouser.runtime.pushing import TimedPushes
from grouser.runtime.report import LoopMeter, LoopReport, RecordingReport, ReplayReport
from grouser.runtime.robot_runtime import RobotRuntime
from grouser.runtime.sampling import Limits, Moment, nanoseconds_at
from grouser.runtime.schedule import StreamSchedule
from grouser.runtime.streams import CLOCK, OBJECT_POSES
from grouser.runtime.trajectory_following import Order

_STEPPING = refused("a request for steps is being carried out")
_INACTIVE = refused("the simulator is not active")


class PhysicsLoop:
    """Steps a simulation in its own thread.

    A tick lasts to the next sample of any stream, or for the schedule's longest tick. Commands are taken at its start,
    all its steps are one call of compiled code, and its samples are handed out at its end. Every method except `finish`
    runs in the physics thread; other threads call it through the mailbox.

    Args:
        simulation: at its start.
        schedule: which streams are sampled when.
        pacer: keeps level with the wall clock.
        runtimes: of the robots, by name; the name of the first machine is "". Command sources begin with the robot's
            name and a slash. Other members of the simulation are plain objects.
        mailbox: where commands and calls arrive.
        emit: takes samples, and whether to wait for room; returns False if they were dropped.
        warn: takes a warning for the user.
        fail: takes the reason when the simulation cannot go on.
        start_paused: whether it starts paused.
        start_active: whether it may step and hand out samples before `set_active`.
        lockstep: waits for controllers; None: no waiting.
        recorder: records all events of the simulation from its start; None: no recording.
        push_timeout: silence after which a push on a link ends [s of simulation time]; 0: any.
        published: waits until what was handed out is published. The pace begins after that of the first samples, which
            takes longest and shares the interpreter with the physics; a request for steps is answered after that of its
            last.

    Attributes:
        report: figures, updated a few times a second; a new object each time, so that any thread may read it.
    """

    def __init__(
        self,
        simulation: Simulation,
        schedule: StreamSchedule,
        pacer: Pacer,
        runtimes: Mapping[str, RobotRuntime],
        mailbox: Mailbox,
        emit: Callable[[Moment, bool], bool],
        warn: Callable[[str], None],
        fail: Callable[[str], None],
        start_paused: bool = False,
        start_active: bool = True,
        lockstep: Lockstep | None = None,
        recorder: Recorder | None = None,
        published: Callable[[], None] = lambda: None,
        push_timeout: float = 0.5,
    ) -> None:
        self.report = LoopReport(active=start_active, paused=start_paused)
        self._simulation = simulation
        self._schedule = schedule
        self._pacer = pacer
        self._runtimes = dict(runtimes)
        self._objects = self._plain_objects()
        self._mailbox = mailbox
        self._emit = emit
        self._warn = warn
        self._fail = fail
        self._lockstep = lockstep or Lockstep((), 1, 0.0, mailbox, warn)
        self._recorder = recorder
        self._recorded_from = 0  # step
        self._pushes = TimedPushes(simulation.step_size, push_timeout)
        self._published = published
        self._meter = LoopMeter(simulation.step_size)
        self._paused = start_paused
        self._active = start_active
        self._steps: StepRequest | None = None  # being carried out
        self._failure = ""
        self._dropped = 0
        self._missed: set[str] = set()  # streams whose newest samples were dropped
        self._refused = 0
        # Steps before the last reset: a reset takes the simulation's own count back to zero, but not the stamps.
        self._earlier_steps = 0
        self._finished = threading.Event()

    @property
    def simulation(self) -> Simulation:
        """The present one; for the physics thread alone."""
        return self._simulation

    @property
    def step_size(self) -> float:
        """Of the simulation [s]."""
        return self._simulation.step_size

    @property
    def step(self) -> int:
        """Number of steps that the stamps count."""
        return self._earlier_steps + self._simulation.step_count

    @property
    def stepping(self) -> bool:
        """Whether a request for steps is being carried out; for any thread."""
        steps = self._steps
        return steps is not None and steps.going

    def run(self) -> None:
        """Runs until `finish`."""
        self._note_faults()
        if self._active:
            self._begin()
        while True:
            self._mailbox.run_calls(self)
            # Checked after the calls: running them clears the attention event that `finish` sets. A `finish` after this
            # check sets it again.
            if self._finished.is_set():
                break
            if self._paused or self._failure or not self._active:
                self._mailbox.attention.wait()
                continue
            if not self._lockstep.wait(self.step):
                continue
            count = self._steps_of_tick()
            if self._pacer.wait(self.step + count, self._mailbox.attention):
                self._advance(count)
        self._mailbox.close()
        self._refresh_report()
        if self._recorder is not None:
            self._recorder.note_state(self._stamp(), self.step, self._simulation.state, may_wait=True)
            self._recorder.end()

    def begin_recording(self, recorder: Recorder, machine_arguments: Mapping[str, str]) -> Outcome:
        """Records all events from now on; the recording begins with the present state.

        Args:
            recorder: a new one.
            machine_arguments: as of `Origin.of`.
        """
        if self._recorder is not None:
            return refused(f"the run is being recorded already, in {self._recorder.file}")
        if self._failure:
            return self._failed()
        simulation = self._simulation
        if simulation.machine.root == ROOT and not simulation.machine.members:
            return refused("there is no machine to record")
        try:
            recorder.begin(Origin.of(simulation, machine_arguments))
        except GrouserError as error:
            return Outcome(False, str(error), error)
        recorder.note_beginning(self._stamp(), self.step, simulation.snapshot())
        recorder.note_state(self._stamp(), self.step, simulation.state, may_wait=True)
        self._recorder, self._recorded_from = recorder, self.step
        self._refresh_report()
        return Outcome(True, f"recording in {recorder.file} from t = {self._time():.3f} s")

    def end_recording(self) -> Outcome:
        """Ends the recording with the present state; whoever made the recorder closes it."""
        if self._recorder is None:
            return refused("nothing is being recorded")
        recorder, self._recorder = self._recorder, None
        recorder.note_state(self._stamp(), self.step, self._simulation.state, self._may_wait())
        recorder.end()
        self._refresh_report()
        return Outcome(True, f"recorded up to t = {self._time():.3f} s; grouser replay {recorder.file} --view")

    def finish(self) -> None:
        """Ends `run` after the present tick; from any thread."""
        self._finished.set()
        self._mailbox.attention.set()

    def set_active(self, active: bool) -> Outcome:
        """Activates or deactivates stepping and the handing out of samples; the state does not change.

        Commands received while it was inactive are dropped. Deactivation ends a request for steps.
        """
        if not active:
            self.end_steps("deactivation")
        begins, self._active = active and not self._active, active
        if begins:
            self._mailbox.take_commands()
            self._begin()
        self._refresh_report()
        return Outcome(True, "active" if active else "inactive")

    def set_paused(self, paused: bool) -> Outcome:
        """Pauses or resumes; either ends a request for steps."""
        if not self._active and not paused:
            return _INACTIVE
        if self._failure and not paused:
            return self._failed()
        self.end_steps("a pause" if paused else "the start of the simulation")
        if self._paused and not paused:
            self._pacer.restart(self.step)
            self._meter.resume()
            if self._lockstep.waits_at(self.step):  # a controller that joined during the pause has no sample yet
                self._hand_out(self._schedule.names)
            self._lockstep.resume()
        self._paused = paused
        if paused:  # what is read while it stands is of now, even if there was no room for the last samples
            self._hand_out(frozenset(self._missed & self._schedule.names))
        self._refresh_report()
        return Outcome(True, "paused" if paused else "running")

    def show_again(self) -> None:
        """Hands out the samples of a paused simulation again, for those who have begun to listen; its time stands.

        Not before its first step: until then nobody has missed a motion.
        """
        if self._paused and not self.stepping and self.step > 0:
            self._hand_out(self._schedule.names - {CLOCK})

    def step_paused(self, count: int, after_step: Callable[[int], bool] | None = None) -> Outcome:
        """Advances exactly `count` steps of a paused simulation, as fast as possible.

        Calls in the mailbox run between ticks, so that an emergency stop takes effect at once. It ends the request, as
        do a pause, a start, a reset and a deactivation; other machines and more steps are refused meanwhile.

        Args:
            count: of steps.
            after_step: called after each step with the number of steps made; returns whether to go on.
        """
        if self._steps is not None:
            return _STEPPING
        if not self._active:
            return _INACTIVE
        if self._failure:
            return self._failed()
        if not self._paused:
            return Outcome(False, "stepping requires a paused simulation")
        self._steps = steps = StepRequest(count, after_step)
        self._lockstep.resume()
        while steps.going and not self._failure:
            self._mailbox.run_calls(self)
            if self._finished.is_set():
                steps.end("the end of the simulation")
            if steps.going and self._lockstep.wait(self.step):
                self._advance(min(steps.count - steps.made, self._steps_of_tick()))
        self._steps = None
        self._refresh_report()
        if self._failure:
            return Outcome(False, self._failure)
        self._hand_out(self._schedule.names - self._schedule.due(self.step))
        self._published()
        return steps.outcome(self._time())

    def reset(self, rewind_time: bool) -> Outcome:
        """Resets the simulation; time stamps keep increasing unless `rewind_time`.

        Pending commands were meant for the state before the reset and are dropped.
        """
        self.end_steps("a reset")
        self._mailbox.take_commands()
        reached = 0 if rewind_time else self.step
        if self._recorder is not None:  # the state before the reset is lost after it
            self._recorder.note_state(self._stamp(), self.step, self._simulation.state, self._may_wait())
        self._note(WasReset(self.step, reached))
        self._simulation.reset()
        self._earlier_steps = reached - self._simulation.step_count
        self._failure = ""
        self._pushes.keep(())
        for runtime in self._runtimes.values():
            runtime.reset(self.step)
        self._pacer.restart(self.step)
        self._meter.resume()
        self._arrive(self._schedule.names)
        self._refresh_report()
        return Outcome(True, f"reset, now at t = {self._time():.6f} s")

    def rewind(self) -> Outcome:
        """Sets time back to zero. The state does not change; trajectories, which refer to time, end."""
        self.end_steps("a reset")
        passed = self.step
        self._note(Rewound(passed))
        self._earlier_steps -= passed
        self._recorded_from -= passed
        self._pushes.rewind(passed)
        for runtime in self._runtimes.values():
            runtime.supervisor.rewind(passed)
            runtime.stop_trajectory("time is set back")
        self._pacer.restart(self.step)
        self._arrive(self._schedule.names)
        self._refresh_report()
        return Outcome(True, "now at t = 0 s")

    def stop_robot(self, name: str) -> None:
        """Emergency stop of a robot: latched until it is released or reset."""
        if (runtime := self._runtimes.get(name)) is not None:
            self.end_steps("an emergency stop")
            self._note(Stopped(self.step, name))
            self._command(name, runtime.stop())
            self._refresh_report()

    def stop_all(self) -> None:
        """Emergency stop of every robot; requested steps end also without any."""
        self.end_steps("an emergency stop")
        for name in self._runtimes:
            self.stop_robot(name)

    def release_stop(self) -> Outcome:
        """Releases the emergency stop of all robots, unless a command would move one."""
        stopped = {name: runtime for name, runtime in self._runtimes.items() if runtime.stopped}
        moving = [f"{member_prefix(name)}{actuator}" for name, one in stopped.items() for actuator in one.not_neutral()]
        if moving:
            return refused(f"{', '.join(moving)}: bring the commands to neutral (0) first")
        for name, runtime in stopped.items():
            self._note(Released(self.step, name))
            runtime.release(self.step)
        self._refresh_report()
        return Outcome(True, "released" if stopped else "no machine was stopped")

    def exchange(
        self,
        simulation: Simulation,
        robots: Collection[str],
        schedule: StreamSchedule,
        newcomers: Mapping[str, Callable[[MachineView], RobotRuntime]],
        events: Callable[[int], Sequence[Event]],
    ) -> Outcome:
        """Continues with another simulation after machines were added or removed; the others keep their state.

        Args:
            simulation: a new one.
            robots: names of the robots in it; its other members are plain objects.
            schedule: of the streams from now on.
            newcomers: name of each new robot -> factory of its runtime.
            events: makes the recorded events from the step.
        """
        if self.stepping:
            return _STEPPING
        try:
            transfer_state(self._simulation, simulation)
        except GrouserError as error:
            simulation.discard()
            return Outcome(False, str(error), error)
        for event in events(self.step):
            self._note(event)
        self._take(simulation, robots, schedule, newcomers)
        return Outcome(True, f"{len(self._runtimes)} robots")

    def begin_anew(self, simulation: Simulation, schedule: StreamSchedule, event: Callable[[int], Event]) -> Outcome:
        """Continues, paused, with a simulation without machines; arguments as for `exchange`.

        Time stamps keep increasing.
        """
        self.end_steps("another world")
        reached = self.step
        self._note(event(reached))
        self._earlier_steps = reached - simulation.step_count
        self._paused, self._failure = True, ""
        self._take(simulation, (), schedule, {})
        return Outcome(True, "another world")

    def _take(self, simulation, robots, schedule, newcomers):
        before, self._simulation, self._schedule = self._simulation, simulation, schedule
        for name in self._runtimes.keys() - robots:
            self._runtimes.pop(name).stop_trajectory("the machine was taken out")
            self._lockstep.leave_out(name)
        for name in robots:
            if name in self._runtimes:
                self._runtimes[name].rebind(simulation.part(name))
            else:
                self._mailbox.drop_commands(name)  # to an earlier machine of this name
                self._runtimes[name] = newcomers[name](simulation.part(name))
        self._objects = self._plain_objects()
        self._pushes.keep({*self._runtimes, *self._objects.names})
        before.discard()
        self._hand_out(self._schedule.names)
        self._refresh_report()

    def _plain_objects(self) -> PlainObjects:
        """The members that are no robots."""
        members = {member.name for member in self._simulation.machine.members}
        return PlainObjects(self._simulation, members - self._runtimes.keys())

    def place(
        self,
        name: str,
        pose: Pose,
        linear: Vector3,
        angular: Vector3,
    ) -> Outcome:
        """Moves a machine to another pose: see `Simulation.place`."""
        placed = Placed(self.step, name, pose.position, pose.quaternion, linear, angular)
        try:
            self._simulation.part(name).place(pose.position, pose.quaternion, linear, angular)
        except GrouserError as error:
            return Outcome(False, str(error), error)
        self._note(placed)
        self._hand_out(self._schedule.names)
        return Outcome(True, "placed")

    def follow(self, name: str, order: Order) -> None:
        """Starts a trajectory of a robot."""
        if (runtime := self._runtimes.get(name)) is not None and runtime.follower is not None:
            runtime.follower.follow(order, self.step)

    def cancel_trajectory(self, name: str, ticket: bytes) -> None:
        """Cancels a trajectory, if it has not ended yet."""
        if (runtime := self._runtimes.get(name)) is not None and runtime.follower is not None:
            runtime.follower.cancel(ticket)

    def stop_trajectory(self, name: str, reason: str) -> None:
        """Ends all trajectories of a robot."""
        if (runtime := self._runtimes.get(name)) is not None:
            runtime.stop_trajectory(reason)

    def push(self, name: str, link: str, force: Vector3, moment: Vector3) -> None:
        """Pushes a link of a robot, or a plain object by its name, until the next push or its timeout.

        Args:
            name: of the robot.
            link: of the robot; else name of a plain object, whose root link is pushed.
            force, moment: as of `TimedPushes.push`; all zero: the push ends.
        """
        if name not in self._runtimes:
            return
        links = self._runtimes[name].robot.machine.links
        if link in self._objects.names and all(link != one.name for one in links):
            name, link = link, self._simulation.part(link).machine.root
        try:
            pushed = self._pushes.push(self._simulation, self.step, name, link, force, moment)
        except ParameterError as error:
            self._refused += 1
            self._warn(f"push refused: {error}")
            if self._paused:  # no tick refreshes it
                self._refresh_report()
        else:
            if pushed is not None:
                self._note(pushed)

    def change_push_timeout(self, seconds: float) -> None:
        """Changes the silence after which a push ends [s of simulation time]; 0: any."""
        self._pushes.timeout = seconds

    def set_faults(self, name: str, faults: Mapping[tuple[str, str], bool | float]) -> None:
        """Sets faults of a robot's components; the values have been checked."""
        if (runtime := self._runtimes.get(name)) is not None:
            for (component, fault), value in faults.items():
                runtime.robot.faults[component][fault] = value
            self._note_faults()

    def clear_faults(self) -> Outcome:
        """Clears all faults."""
        mended = self._simulation.faults.clear()
        self._note_faults()
        return Outcome(True, ", ".join(mended) or "all was well")

    def note_bridge_faults(self, name: str, faults: Mapping[str, Mapping[str, bool | float]]) -> None:
        """Records all active faults of bridges of a robot: bridge -> fault -> value."""
        for bridge, present in faults.items():
            self._note(BridgeFaultsChanged(self.step, name, bridge, present))

    def set_program_inputs(self, name: str, values: Mapping[str, float | bool]) -> None:
        """Sets inputs of a robot's diagram."""
        if (runtime := self._runtimes.get(name)) is not None:
            runtime.supervisor.set_program_inputs(values)

    def change_pace(self, real_time_factor: float, overrun_limit: float) -> None:
        """Changes the real-time factor and the overrun limit."""
        self._pacer.overrun_limit = overrun_limit
        self._pacer.change_real_time_factor(real_time_factor, self.step)

    def change_command_timeout(self, name: str, seconds: float, own: Mapping[str, float]) -> None:
        """Changes the longest silence [s] of a robot's command sources, and of single sources; 0: any."""
        if (runtime := self._runtimes.get(name)) is not None:
            runtime.supervisor.timeout = seconds
            runtime.supervisor.timeouts = dict(own)

    def change_sampling(self, schedule: StreamSchedule, limits: Limits) -> None:
        """Changes the rates of streams and how much is sampled."""
        self._schedule = schedule
        for runtime in self._runtimes.values():
            runtime.change_limits(limits)

    def change_lockstep_deadline(self, deadline: float) -> None:
        """Changes the longest wait for lockstep sources [s of wall time]; 0: any."""
        self._lockstep.change_deadline(deadline)

    def end_steps(self, cause: str) -> None:
        """Ends the request for steps that is being carried out, if any."""
        if self._steps is not None:
            self._steps.end(cause)

    def _failed(self) -> Outcome:
        return refused(f"reset first: {self._failure}")

    def _begin(self) -> None:
        """Starts pacing and hands out a sample of every stream."""
        self._arrive(self._schedule.names)
        self._published()
        self._pacer.restart(self.step)
        self._meter.restart()
        self._lockstep.resume()

    def _time(self) -> float:
        return self.step * self._simulation.step_size

    def _stamp(self) -> int:
        return nanoseconds_at(self.step, self._simulation.step_size)

    def _may_wait(self) -> bool:
        """Whether there is no pace to keep, so that the loop may wait for room instead of dropping samples."""
        return self._paused or self._pacer.real_time_factor == 0.0

    def _note(self, event: Event) -> None:
        if self._recorder is not None:
            self._recorder.note(self._stamp(), event, self._may_wait())

    def _note_faults(self) -> None:
        faults: dict[str, dict[str, bool | float]] = {}
        for (component, name), value in self._simulation.faults.active.items():
            faults.setdefault(component, {})[name] = value
        self._note(FaultsChanged(self.step, faults))

    def _steps_of_tick(self) -> int:
        programs = (runtime.supervisor.steps_to_next(self.step) for runtime in self._runtimes.values())
        return min(
            self._schedule.steps_to_next(self.step),
            self._lockstep.steps_to_next(self.step),
            *(steps for steps in programs if steps is not None),
        )

    def _advance(self, count: int) -> None:
        """One tick: to the next sample, or to the step after which a request for steps is canceled."""
        received = self._lockstep.take_commands(self.step)
        interval = count * self._simulation.step_size
        for name, runtime in self._runtimes.items():
            own = {source: values for source, values in received.items() if source.rpartition("/")[0] == name}
            self._command(name, runtime.commands(self.step, own, interval))
        for ended in self._pushes.end_silent(self._simulation, self.step):
            self._note(ended)
        started, first = time.perf_counter(), self.step
        try:
            self._step(count)
        except DivergenceError as error:
            self._failure = str(error)
            self._note(Diverged(self.step, self._failure))
            for runtime in self._runtimes.values():
                runtime.stop_trajectory(self._failure)
            self._refresh_report()
            self._fail(self._failure)
            return
        self._meter.add(self.step - first, time.perf_counter() - started)
        if self._mailbox.taken_since is not None:
            self._meter.add_command(time.monotonic() - self._mailbox.taken_since)
            self._mailbox.taken_since = None
        self._arrive(self._schedule.due(self.step))
        if self._meter.refresh_due():
            self._refresh_report()

    def _step(self, count: int) -> None:
        steps = self._steps
        if steps is None or not steps.singly:
            self._simulation.step(count)
            if steps is not None:
                steps.add(count)
            return
        for _ in range(count):
            self._simulation.step(1)
            steps.add(1)
            if not steps.going:
                break

    def _command(self, name: str, commands: Mapping[str, float]) -> None:
        """Applies commands to a robot: all of them, or none if one is refused."""
        try:
            self._runtimes[name].robot.command.update(commands)
        except ParameterError as error:
            self._refused += 1
            self._warn(f"command refused: {error}")
        else:
            if commands:
                prefix = member_prefix(name)
                self._note(Commanded(self.step, {f"{prefix}{actuator}": value for actuator, value in commands.items()}))

    def _arrive(self, streams: frozenset[str]) -> None:
        """Records, begins a lockstep period and hands out samples at a step that was just reached."""
        stamp = self._stamp()
        if self._recorder is not None:
            self._recorder.note_second(stamp, self.step, self._simulation.state, self._may_wait())
        self._lockstep.begin(self.step, stamp)
        self._hand_out(streams)

    def _hand_out(self, streams: frozenset[str]) -> None:
        if streams and self._active:
            stamp = self._stamp()
            if CLOCK in streams:  # other nodes depend on it: it is sent before the samples are taken
                self._hand_over(Moment(stamp, clock=True), {CLOCK})
            sampled = streams - {CLOCK}
            if sampled:
                samples = {name: runtime.sample(stamp, sampled) for name, runtime in self._runtimes.items()}
                objects = self._objects.sample() if OBJECT_POSES in sampled else None
                self._hand_over(Moment(stamp, samples=samples, objects=objects), sampled)

    def _hand_over(self, moment: Moment, streams: Set[str]) -> None:
        if self._emit(moment, self._may_wait()):
            self._missed -= streams
        else:
            self._dropped += 1
            self._missed |= streams

    def _refresh_report(self) -> None:
        simulation, figures = self._simulation, self._meter.figures()
        if self._paused or self._failure or not self._active:
            figures["real_time_factor"] = 0.0
        self._schedule.follow(figures["real_time_factor"])
        solver, energy, balance = simulation.diagnostics, simulation.energy(), simulation.energy_balance()
        supervisors = [runtime.supervisor for runtime in self._runtimes.values()]
        self.report = LoopReport(
            time=self._time(),
            active=self._active,
            paused=self._paused,
            failure=self._failure,
            overruns=self._pacer.overruns,
            dropped_samples=self._dropped,
            iterations=solver.iterations,
            iterations_max=solver.iterations_max,
            residual=solver.residual,
            residual_max=solver.residual_max,
            unsettled_steps=solver.unsettled_steps,
            contact_count=solver.contact_count,
            kinetic_energy=energy.kinetic,
            potential_energy=energy.potential,
            elastic_energy=energy.elastic,
            actuator_work=sum(balance.actuator_work.values()),
            dissipation=sum(balance.dissipation.values()),
            balance_residual=balance.residual,
            hydraulic_energy=simulation.hydraulic_balance().totals() if simulation.machine.fluid else {},
            soil=simulation.soil_balance() if simulation.machine.shovels else None,
            emergency_stop=any(runtime.robot.emergency_stop for runtime in self._runtimes.values()),
            watchdog_trips=sum(supervisor.trips for supervisor in supervisors),
            silent_sources=tuple(source for supervisor in supervisors for source in supervisor.silent_sources),
            late_commands=dict(self._lockstep.late),
            program=self._runtimes[""].supervisor.program_state(self.step) if "" in self._runtimes else "none",
            refused_commands=self._refused,
            recording=self._recording_report(),
            replay=self._replay_report(),
            **figures,
        )

    def _recording_report(self) -> RecordingReport | None:
        """Figures of the recording that is being made; None: none is."""
        if self._recorder is None:
            return None
        seconds = (self.step - self._recorded_from) * self._simulation.step_size
        return RecordingReport(str(self._recorder.file), seconds, self._recorder.problem)

    def _replay_report(self) -> ReplayReport | None:
        """Figures of the recording that is replayed; None: none is."""
        return None
