"""The physics thread's loop: take commands, step, hand out samples, keep pace. It knows nothing of ROS."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grouser.nodes.driving import Driver, Odometer
from grouser.nodes.mailbox import Mailbox
from grouser.nodes.pacing import Pacer
from grouser.nodes.report import LoopMeter, LoopReport
from grouser.nodes.samples import Sample, nanoseconds_at, take_sample
from grouser.nodes.schedule import StreamSchedule
from grouser.nodes.supervision import CommandSupervisor
from grouser.nodes.trajectory_following import SOURCE, Order, TrajectoryFollower
from grouser.physics.errors import DivergenceError, ParameterError
from grouser.physics.simulation import Simulation


@dataclass(frozen=True)
class Outcome:
    """What became of a request: whether it was carried out, and in words."""

    success: bool
    message: str


_STEPPING = Outcome(False, "a request for steps is being carried out")


class PhysicsLoop:
    """Steps a simulation in its own thread.

    A tick is the time to the next sample of any stream, or the schedule's longest tick: commands are taken at its
    start, all its steps are one crossing into compiled code, and its samples are handed out at its end. Every method
    but `finish` runs in the physics thread; others reach it through the mailbox.

    Args:
        simulation: at its start.
        schedule: which streams are sampled when.
        pacer: keeps level with the wall clock.
        supervisor: decides what the actuators are told.
        mailbox: where commands and calls arrive.
        emit: takes a sample, and whether to wait for room; returns False if it had to be left out.
        warn: takes a warning for the user.
        fail: takes the reason when the simulation cannot go on.
        start_paused: whether it waits to be set going.
        driver: turns the twist of a vehicle into commands of its drives; None for a machine that has none.
        odometer: of a vehicle; None for a machine that is none.
        terrain_reach: how far from the wheels terrain is sampled [m].
        follower: of trajectories; None for a machine whose drives can follow none.

    Attributes:
        report: figures, renewed a few times a second; a new object each time, so any thread may read it.
    """

    def __init__(
        self,
        simulation: Simulation,
        schedule: StreamSchedule,
        pacer: Pacer,
        supervisor: CommandSupervisor,
        mailbox: Mailbox,
        emit: Callable[[Sample, bool], bool],
        warn: Callable[[str], None],
        fail: Callable[[str], None],
        start_paused: bool = False,
        driver: Driver | None = None,
        odometer: Odometer | None = None,
        terrain_reach: float = math.inf,
        follower: TrajectoryFollower | None = None,
    ) -> None:
        self.report = LoopReport(paused=start_paused)
        self._simulation = simulation
        self._schedule = schedule
        self._pacer = pacer
        self._supervisor = supervisor
        self._mailbox = mailbox
        self._emit = emit
        self._warn = warn
        self._fail = fail
        self._driver = driver
        self._odometer = odometer
        self._terrain_reach = terrain_reach
        self._follower = follower
        self._meter = LoopMeter(simulation.step_size)
        self._paused = start_paused
        self._stepping = False
        self._failure = ""
        self._dropped = 0
        self._refused = 0
        # Steps before the last reset: a reset takes the simulation's own count back to zero, but not the stamps.
        self._earlier_steps = 0
        self._finished = threading.Event()

    @property
    def step(self) -> int:
        """Number of steps that the stamps count."""
        return self._earlier_steps + self._simulation.step_count

    def run(self) -> None:
        """Runs until `finish`."""
        self._hand_out(self._schedule.names)
        self._pacer.restart(self.step)
        self._meter.restart()
        while True:
            self._mailbox.run_calls(self)
            # Looked at after the calls only: running them takes back the attention that `finish` asks for, and a finish
            # that comes later than this look asks for it anew.
            if self._finished.is_set():
                break
            if self._paused or self._failure:
                self._mailbox.attention.wait()
                continue
            count = self._schedule.steps_to_next(self.step)
            if self._pacer.wait(self.step + count, self._mailbox.attention):
                self._advance(count)
        self._mailbox.close()
        self._refresh_report()

    def finish(self) -> None:
        """Ends `run` after the present tick; from any thread."""
        self._finished.set()
        self._mailbox.attention.set()

    def set_paused(self, paused: bool) -> Outcome:
        """Pauses, or goes on from where it paused."""
        if self._stepping:
            return _STEPPING
        if self._failure and not paused:
            return Outcome(False, f"reset first: {self._failure}")
        if self._paused and not paused:
            self._pacer.restart(self.step)
            self._meter.resume()
        self._paused = paused
        self._refresh_report()
        return Outcome(True, "paused" if paused else "running")

    def step_paused(self, count: int) -> Outcome:
        """Advances exactly `count` steps of a paused simulation, as fast as possible.

        Between its ticks it serves the mailbox, so that an emergency stop is heard however many steps there are; what
        would change the count (a pause, a reset, more steps) is refused meanwhile.
        """
        if self._stepping:
            return _STEPPING
        if self._failure:
            return Outcome(False, f"reset first: {self._failure}")
        if not self._paused:
            return Outcome(False, "stepping requires a paused simulation")
        target = self.step + count
        self._stepping = True
        while self.step < target and not self._failure and not self._finished.is_set():
            self._mailbox.run_calls(self)
            self._advance(min(target - self.step, self._schedule.steps_to_next(self.step)))
        self._stepping = False
        self._refresh_report()
        if self._failure:
            return Outcome(False, self._failure)
        self._hand_out(self._schedule.names - self._schedule.due(self.step))
        return Outcome(self.step == target, f"{count} steps, now at t = {self._time():.6f} s")

    def reset(self, rewind_time: bool) -> Outcome:
        """Puts the machine back to its start; stamps keep running forward unless `rewind_time`.

        Commands that still wait, from a pause or a failure, were meant for the machine as it was: they are dropped.
        """
        if self._stepping:
            return _STEPPING
        self._mailbox.take_commands()
        reached = 0 if rewind_time else self.step
        self._simulation.reset()
        self._earlier_steps = reached - self._simulation.step_count
        self._failure = ""
        self._supervisor.reset(self.step)
        if self._follower is not None:
            self._follower.reset()
        if self._driver is not None:
            self._driver.reset()
        if self._odometer is not None:
            self._odometer.reset()
        self._pacer.restart(self.step)
        self._meter.resume()
        self._hand_out(self._schedule.names)
        self._refresh_report()
        return Outcome(True, f"reset, now at t = {self._time():.6f} s")

    def stop_machine(self) -> None:
        """Emergency stop: latched until a reset."""
        self._simulation.emergency_stop = True
        self._supervisor.stop_program()
        self.stop_trajectory("emergency stop")
        self._refresh_report()

    def follow(self, order: Order) -> None:
        """Has drives follow a trajectory."""
        if self._follower is not None:
            self._follower.follow(order, self.step)

    def cancel_trajectory(self, ticket: bytes) -> None:
        """Has a trajectory end, if it is not over already."""
        if self._follower is not None:
            self._follower.cancel(ticket)

    def stop_trajectory(self, reason: str) -> None:
        """Has all trajectories end."""
        if self._follower is not None:
            self._follower.stop(reason)

    def set_faults(self, faults: Mapping[tuple[str, str], bool | float]) -> None:
        """Has components fail or be mended, with values that have been checked."""
        for (component, name), value in faults.items():
            self._simulation.faults[component][name] = value

    def clear_faults(self) -> Outcome:
        """Mends everything."""
        return Outcome(True, ", ".join(self._simulation.faults.clear()) or "all was well")

    def change_pace(self, real_time_factor: float, overrun_limit: float) -> None:
        """Aims at another real-time factor from now on."""
        self._pacer.overrun_limit = overrun_limit
        self._pacer.change_real_time_factor(real_time_factor, self.step)

    def change_command_timeout(self, seconds: float, own: Mapping[str, float]) -> None:
        """Allows another length of silence [s], of some sources one of their own; 0: any."""
        self._supervisor.timeout = seconds
        self._supervisor.timeouts = dict(own)

    def _time(self) -> float:
        return self.step * self._simulation.step_size

    def _advance(self, count: int) -> None:
        """One tick: at most up to the next sample."""
        heard = self._mailbox.take_commands()
        if self._follower is not None and (told := self._follower.commands(self.step, heard)):
            heard[SOURCE] = told
        commands = self._supervisor.commands(self.step, heard)
        if self._driver is not None:
            commands = self._driver.commands(commands, count * self._simulation.step_size)
        self._command(commands)
        started = time.perf_counter()
        try:
            self._simulation.step(count)
        except DivergenceError as error:
            self._failure = str(error)
            self.stop_trajectory(self._failure)
            self._refresh_report()
            self._fail(self._failure)
            return
        self._meter.add(count, time.perf_counter() - started)
        self._hand_out(self._schedule.due(self.step))
        if self._meter.refresh_due():
            self._refresh_report()

    def _command(self, commands: Mapping[str, float]) -> None:
        """Gives commands to the simulation, all or, when one is refused, none."""
        try:
            self._simulation.command.update(commands)
        except ParameterError as error:
            self._refused += 1
            self._warn(f"command refused: {error}")

    def _hand_out(self, streams: frozenset[str]) -> None:
        if streams:
            stamp = nanoseconds_at(self.step, self._simulation.step_size)
            # Where there is no pace to keep, waiting costs nothing, and no sample is lost.
            may_wait = self._paused or self._pacer.real_time_factor == 0.0
            sample = take_sample(self._simulation, stamp, streams, self._odometer, self._terrain_reach)
            if not self._emit(sample, may_wait):
                self._dropped += 1

    def _refresh_report(self) -> None:
        simulation, figures = self._simulation, self._meter.figures()
        if self._paused or self._failure:
            figures["real_time_factor"] = 0.0
        solver, energy, balance = simulation.diagnostics, simulation.energy(), simulation.energy_balance()
        self.report = LoopReport(
            time=self._time(),
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
            emergency_stop=bool(simulation.emergency_stop),
            watchdog_trips=self._supervisor.trips,
            silent_sources=self._supervisor.silent_sources,
            program=self._supervisor.program_state(self.step),
            refused_commands=self._refused,
            **figures,
        )
