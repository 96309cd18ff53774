"""The physics thread's loop: take commands, step, hand out samples, keep pace. It knows nothing of ROS."""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from grouser.physics.carry_over import carry_over
from grouser.physics.description.machine import Pose, Vector3
from grouser.physics.description.names import member_prefix
from grouser.physics.errors import DivergenceError, GrouserError, ParameterError
from grouser.physics.simulation import Simulation
from grouser.recording.events import Commanded, Diverged, Event, FaultsChanged, Placed, Rewound, Stopped, WasReset
from grouser.recording.recorder import Recorder
from grouser.runtime.lockstep import Lockstep
from grouser.runtime.mailbox import Mailbox
from grouser.runtime.pacing import Pacer
from grouser.runtime.report import LoopMeter, LoopReport
from grouser.runtime.robot_runtime import Pilot
from grouser.runtime.sampling import Moment, nanoseconds_at
from grouser.runtime.schedule import StreamSchedule
from grouser.runtime.simulated import Simulated
from grouser.runtime.streams import CLOCK
from grouser.runtime.trajectory_following import Order


@dataclass(frozen=True)
class Outcome:
    """What became of a request: whether it was carried out, and in words; the error that refused it, if one did."""

    success: bool
    message: str
    error: GrouserError | None = None


_STEPPING = Outcome(False, "a request for steps is being carried out")
_INACTIVE = Outcome(False, "the simulator is not active")


class PhysicsLoop:
    """Steps a simulation in its own thread.

    A tick is the time to the next sample of any stream, or the schedule's longest tick: commands are taken at its
    start, all its steps are one crossing into compiled code, and its samples are handed out at its end. Every method
    but `finish` runs in the physics thread; others reach it through the mailbox.

    Args:
        simulation: at its start.
        schedule: which streams are sampled when.
        pacer: keeps level with the wall clock.
        pilots: of the robots, by name; what is said of one robot's topics begins with its name and a slash. That of the
            machine which the simulator was started with is "".
        mailbox: where commands and calls arrive.
        emit: takes what was sampled, and whether to wait for room; returns False if it had to be left out.
        warn: takes a warning for the user.
        fail: takes the reason when the simulation cannot go on.
        start_paused: whether it waits to be set going.
        start_active: whether it may step and hand out from the start, or only when it is activated.
        lockstep: waits for controllers; None: nobody is waited for.
        recorder: takes down all that is done to the simulation; None: nobody does.

    Attributes:
        report: figures, renewed a few times a second; a new object each time, so any thread may read it.
    """

    def __init__(
        self,
        simulation: Simulation,
        schedule: StreamSchedule,
        pacer: Pacer,
        pilots: Mapping[str, Pilot],
        mailbox: Mailbox,
        emit: Callable[[Moment, bool], bool],
        warn: Callable[[str], None],
        fail: Callable[[str], None],
        start_paused: bool = False,
        start_active: bool = True,
        lockstep: Lockstep | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self.report = LoopReport(active=start_active, paused=start_paused)
        self._simulation = simulation
        self._schedule = schedule
        self._pacer = pacer
        self._pilots = dict(pilots)
        self._mailbox = mailbox
        self._emit = emit
        self._warn = warn
        self._fail = fail
        self._lockstep = lockstep or Lockstep((), 1, 0.0, mailbox, warn)
        self._recorder = recorder
        self._meter = LoopMeter(simulation.step_size)
        self._paused = start_paused
        self._active = start_active
        self._stepping = False
        self._failure = ""
        self._dropped = 0
        self._refused = 0
        # Steps before the last reset: a reset takes the simulation's own count back to zero, but not the stamps.
        self._earlier_steps = 0
        self._finished = threading.Event()

    @property
    def robots(self) -> dict[str, Simulated]:
        """The machines, by name; for the physics thread alone."""
        return {name: pilot.robot for name, pilot in self._pilots.items()}

    @property
    def step_size(self) -> float:
        """Of the simulation [s]."""
        return self._simulation.step_size

    @property
    def step(self) -> int:
        """Number of steps that the stamps count."""
        return self._earlier_steps + self._simulation.step_count

    def run(self) -> None:
        """Runs until `finish`."""
        self._note_faults()
        if self._active:
            self._begin()
        while True:
            self._mailbox.run_calls(self)
            # Looked at after the calls only: running them takes back the attention that `finish` asks for, and a finish
            # that comes later than this look asks for it anew.
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

    def finish(self) -> None:
        """Ends `run` after the present tick; from any thread."""
        self._finished.set()
        self._mailbox.attention.set()

    def set_active(self, active: bool) -> Outcome:
        """Goes on, or neither steps nor hands out anything until it is activated again; nothing else changes.

        Commands that came meanwhile are dropped: nobody was to act on them.
        """
        if self._stepping:
            return _STEPPING
        if active and not self._active:
            self._mailbox.take_commands()
            self._begin()
        self._active = active
        self._refresh_report()
        return Outcome(True, "active" if active else "inactive")

    def set_paused(self, paused: bool) -> Outcome:
        """Pauses, or goes on from where it paused."""
        if self._stepping:
            return _STEPPING
        if not self._active and not paused:
            return _INACTIVE
        if self._failure and not paused:
            return Outcome(False, f"reset first: {self._failure}")
        if self._paused and not paused:
            self._pacer.restart(self.step)
            self._meter.resume()
            if self._lockstep.waits_at(self.step):  # a controller that came during the pause has heard nothing yet
                self._hand_out(self._schedule.names)
            self._lockstep.resume()
        self._paused = paused
        self._refresh_report()
        return Outcome(True, "paused" if paused else "running")

    def step_paused(self, count: int, after_step: Callable[[int], bool] | None = None) -> Outcome:
        """Advances exactly `count` steps of a paused simulation, as fast as possible.

        Between its ticks it serves the mailbox, so that an emergency stop is heard however many steps there are; what
        would change the count (a pause, a reset, more steps) is refused meanwhile.

        Args:
            count: of steps.
            after_step: called after each step with their number so far; returns whether to go on.
        """
        if self._stepping:
            return _STEPPING
        if not self._active:
            return _INACTIVE
        if self._failure:
            return Outcome(False, f"reset first: {self._failure}")
        if not self._paused:
            return Outcome(False, "stepping requires a paused simulation")
        start, target = self.step, self.step + count
        canceled = False

        def go_on() -> bool:
            nonlocal canceled
            canceled = after_step is not None and not after_step(self.step - start)
            return not canceled

        self._stepping = True
        self._lockstep.resume()
        while self.step < target and not self._failure and not self._finished.is_set() and not canceled:
            self._mailbox.run_calls(self)
            if self._lockstep.wait(self.step):
                self._advance(min(target - self.step, self._steps_of_tick()), after_step and go_on)
        self._stepping = False
        self._refresh_report()
        if self._failure:
            return Outcome(False, self._failure)
        self._hand_out(self._schedule.names - self._schedule.due(self.step))
        return Outcome(self.step == target, f"{self.step - start} steps, now at t = {self._time():.6f} s")

    def reset(self, rewind_time: bool) -> Outcome:
        """Puts the machine back to its start; stamps keep running forward unless `rewind_time`.

        Commands that still wait, from a pause or a failure, were meant for the machine as it was: they are dropped.
        """
        if self._stepping:
            return _STEPPING
        self._mailbox.take_commands()
        reached = 0 if rewind_time else self.step
        if self._recorder is not None:  # what went wrong before is no longer seen after
            self._recorder.note_state(self._stamp(), self.step, self._simulation.state, self._may_wait())
        self._note(WasReset(self.step, reached))
        self._simulation.reset()
        self._earlier_steps = reached - self._simulation.step_count
        self._failure = ""
        for pilot in self._pilots.values():
            pilot.reset(self.step)
        self._pacer.restart(self.step)
        self._meter.resume()
        self._arrive(self._schedule.names)
        self._refresh_report()
        return Outcome(True, f"reset, now at t = {self._time():.6f} s")

    def rewind(self) -> Outcome:
        """Sets the stamps back to zero; machines go on as they are, but for their trajectories, which have a time."""
        if self._stepping:
            return _STEPPING
        passed = self.step
        self._note(Rewound(passed))
        self._earlier_steps -= passed
        for pilot in self._pilots.values():
            pilot.supervisor.rewind(passed)
            pilot.stop_trajectory("time is set back")
        self._pacer.restart(self.step)
        self._arrive(self._schedule.names)
        self._refresh_report()
        return Outcome(True, "now at t = 0 s")

    def stop_robot(self, name: str) -> None:
        """Emergency stop of a robot: latched until a reset."""
        if (pilot := self._pilots.get(name)) is not None:
            self._note(Stopped(self.step, name))
            pilot.stop()
            self._refresh_report()

    def exchange(
        self,
        simulation: Simulation,
        members: Collection[str],
        schedule: StreamSchedule,
        newcomers: Mapping[str, Callable[[Simulated], Pilot]],
        event: Callable[[int], Event],
    ) -> Outcome:
        """Goes on with another simulation, in which machines have come or gone; those that stay notice nothing.

        Args:
            simulation: just made.
            members: names of the machines in it.
            schedule: of what is sampled from now on.
            newcomers: name of each machine that has come -> what makes its pilot.
            event: what has happened, before a step.
        """
        if self._stepping:
            return _STEPPING
        try:
            carry_over(self._simulation, simulation)
        except GrouserError as error:
            return Outcome(False, str(error), error)
        self._note(event(self.step))
        self._take(simulation, members, schedule, newcomers)
        return Outcome(True, f"{len(self._pilots)} machines")

    def begin_anew(self, simulation: Simulation, schedule: StreamSchedule, event: Callable[[int], Event]) -> Outcome:
        """Goes on, paused, with a simulation that has no machines; arguments as of `exchange`.

        Stamps keep running forward.
        """
        if self._stepping:
            return _STEPPING
        reached = self.step
        self._note(event(reached))
        self._earlier_steps = reached - simulation.step_count
        self._paused, self._failure = True, ""
        self._take(simulation, (), schedule, {})
        return Outcome(True, "another world")

    def _take(self, simulation, members, schedule, newcomers):
        self._simulation, self._schedule = simulation, schedule
        for name in self._pilots.keys() - members:
            self._pilots.pop(name).stop_trajectory("the machine was taken out")
            self._lockstep.leave_out(name)
        for name in members:
            if name in self._pilots:
                self._pilots[name].rebind(simulation.part(name))
            else:
                self._pilots[name] = newcomers[name](simulation.part(name))
        self._hand_out(self._schedule.names)
        self._refresh_report()

    def place(
        self,
        name: str,
        pose: Pose,
        linear: Vector3,
        angular: Vector3,
    ) -> Outcome:
        """Puts a machine somewhere else: see `Simulation.place`."""
        placed = Placed(self.step, name, pose.position, pose.quaternion, linear, angular)
        try:
            self._pilots[name].robot.place(pose.position, pose.quaternion, linear, angular)
        except GrouserError as error:
            return Outcome(False, str(error), error)
        self._note(placed)
        self._hand_out(self._schedule.names)
        return Outcome(True, "placed")

    def follow(self, name: str, order: Order) -> None:
        """Has a robot's drives follow a trajectory."""
        if (pilot := self._pilots.get(name)) is not None and pilot.follower is not None:
            pilot.follower.follow(order, self.step)

    def cancel_trajectory(self, name: str, ticket: bytes) -> None:
        """Has a trajectory end, if it is not over already."""
        if (pilot := self._pilots.get(name)) is not None and pilot.follower is not None:
            pilot.follower.cancel(ticket)

    def stop_trajectory(self, name: str, reason: str) -> None:
        """Has all trajectories of a robot end."""
        if (pilot := self._pilots.get(name)) is not None:
            pilot.stop_trajectory(reason)

    def set_faults(self, name: str, faults: Mapping[tuple[str, str], bool | float]) -> None:
        """Has components of a robot fail or be mended, with values that have been checked."""
        if (pilot := self._pilots.get(name)) is not None:
            for (component, fault), value in faults.items():
                pilot.robot.faults[component][fault] = value
            self._note_faults()

    def clear_faults(self) -> Outcome:
        """Mends everything."""
        mended = self._simulation.faults.clear()
        self._note_faults()
        return Outcome(True, ", ".join(mended) or "all was well")

    def change_pace(self, real_time_factor: float, overrun_limit: float) -> None:
        """Aims at another real-time factor from now on."""
        self._pacer.overrun_limit = overrun_limit
        self._pacer.change_real_time_factor(real_time_factor, self.step)

    def change_command_timeout(self, name: str, seconds: float, own: Mapping[str, float]) -> None:
        """Allows those who command a robot another length of silence [s], some one of their own; 0: any."""
        if (pilot := self._pilots.get(name)) is not None:
            pilot.supervisor.timeout = seconds
            pilot.supervisor.timeouts = dict(own)

    def change_sampling(self, schedule: StreamSchedule, terrain_reach: float) -> None:
        """Samples at other rates, and terrain to another distance from the wheels [m]."""
        self._schedule = schedule
        for pilot in self._pilots.values():
            pilot.change_terrain_reach(terrain_reach)

    def change_lockstep_deadline(self, deadline: float) -> None:
        """Waits for the sources of the lockstep so long at most [s of wall time]; 0: any time."""
        self._lockstep.change_deadline(deadline)

    def _begin(self) -> None:
        """Begins to keep pace, with a sample of everything."""
        self._arrive(self._schedule.names)
        self._pacer.restart(self.step)
        self._meter.restart()
        self._lockstep.resume()

    def _time(self) -> float:
        return self.step * self._simulation.step_size

    def _stamp(self) -> int:
        return nanoseconds_at(self.step, self._simulation.step_size)

    def _may_wait(self) -> bool:
        """Whether there is no pace to keep: then waiting costs nothing, and nothing is lost."""
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
        return min(self._schedule.steps_to_next(self.step), self._lockstep.steps_to_next(self.step))

    def _advance(self, count: int, go_on: Callable[[], bool] | None = None) -> None:
        """One tick: at most up to the next sample, or to the first step after which `go_on` says no."""
        heard = self._lockstep.take_commands(self.step)
        interval = count * self._simulation.step_size
        for name, pilot in self._pilots.items():
            own = {source: values for source, values in heard.items() if source.rpartition("/")[0] == name}
            self._command(name, pilot.commands(self.step, own, interval))
        started, first = time.perf_counter(), self.step
        try:
            if go_on is None:
                self._simulation.step(count)
            else:
                self._step_singly(count, go_on)
        except DivergenceError as error:
            self._failure = str(error)
            self._note(Diverged(self.step, self._failure))
            for pilot in self._pilots.values():
                pilot.stop_trajectory(self._failure)
            self._refresh_report()
            self._fail(self._failure)
            return
        self._meter.add(self.step - first, time.perf_counter() - started)
        self._arrive(self._schedule.due(self.step))
        if self._meter.refresh_due():
            self._refresh_report()

    def _step_singly(self, count: int, go_on: Callable[[], bool]) -> None:
        for _ in range(count):
            self._simulation.step(1)
            if not go_on():
                break

    def _command(self, name: str, commands: Mapping[str, float]) -> None:
        """Gives a robot its commands, all or, when one is refused, none."""
        try:
            self._pilots[name].robot.command.update(commands)
        except ParameterError as error:
            self._refused += 1
            self._warn(f"command refused: {error}")
        else:
            if commands:
                prefix = member_prefix(name)
                self._note(Commanded(self.step, {f"{prefix}{actuator}": told for actuator, told in commands.items()}))

    def _arrive(self, streams: frozenset[str]) -> None:
        """What is due at a step that has just been reached."""
        stamp = self._stamp()
        if self._recorder is not None:
            self._recorder.note_second(stamp, self.step, self._simulation.state, self._may_wait())
        self._lockstep.begin(self.step, stamp)
        self._hand_out(streams)

    def _hand_out(self, streams: frozenset[str]) -> None:
        if streams and self._active:
            stamp = self._stamp()
            if CLOCK in streams:  # others keep time by it: it does not wait until the samples are taken
                self._hand_over(Moment(stamp, clock=True))
            sampled = streams - {CLOCK}
            if sampled:
                samples = {name: pilot.sample(stamp, sampled) for name, pilot in self._pilots.items()}
                self._hand_over(Moment(stamp, samples=samples))

    def _hand_over(self, moment: Moment) -> None:
        if not self._emit(moment, self._may_wait()):
            self._dropped += 1

    def _refresh_report(self) -> None:
        simulation, figures = self._simulation, self._meter.figures()
        if self._paused or self._failure or not self._active:
            figures["real_time_factor"] = 0.0
        solver, energy, balance = simulation.diagnostics, simulation.energy(), simulation.energy_balance()
        supervisors = [pilot.supervisor for pilot in self._pilots.values()]
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
            emergency_stop=any(pilot.robot.emergency_stop for pilot in self._pilots.values()),
            watchdog_trips=sum(supervisor.trips for supervisor in supervisors),
            silent_sources=tuple(source for supervisor in supervisors for source in supervisor.silent_sources),
            late_commands=dict(self._lockstep.late),
            program=self._pilots[""].supervisor.program_state(self.step) if "" in self._pilots else "none",
            refused_commands=self._refused,
            **figures,
        )
