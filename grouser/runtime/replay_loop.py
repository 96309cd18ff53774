"""The loop of the physics thread for a recording: shows its moments, forward and back, and lets nothing change them."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from grouser.physics.description.data.machine import Machine
from grouser.recording.timeline import Timeline
from grouser.runtime.objects import PlainObjects, is_plain
from grouser.runtime.outcome import Outcome, refused
from grouser.runtime.physics_loop import PhysicsLoop
from grouser.runtime.report import ReplayReport
from grouser.runtime.robot_runtime import RobotRuntime
from grouser.runtime.trajectory_following import Order

_BACKWARD_PERIOD = 0.04  # of pictures while it goes back [s of wall time]
_BACKWARD_TICK = 1000  # steps between pictures while it goes back without a pace
_FIXED = refused("a recording is replayed, which nothing can change")


class ReplayLoop(PhysicsLoop):
    """Shows a recorded run by the samples of a simulator.

    Time stamps count all steps since the start of the recording, so that every moment has a stamp of its own. It
    pauses at either end. Commands are dropped; requests that would change the run are refused.

    Args:
        timeline: of the recording.
        runtimes: of its robots at the start, by name; other members are shown if they are plain objects.
        show_objects: takes the present plain objects by name when others are there.
        further: as of `PhysicsLoop`, from `schedule` on.
    """

    def __init__(
        self,
        timeline: Timeline,
        schedule: Any,
        pacer: Any,
        runtimes: Mapping[str, RobotRuntime],
        *further: Any,
        show_objects: Callable[[Mapping[str, Machine]], None],
        **options: Any,
    ) -> None:
        super().__init__(timeline.simulation, schedule, pacer, runtimes, *further, **options)
        self._timeline = timeline
        self._robots = dict(runtimes)
        self._show_objects = show_objects
        self._backward = False
        self._follow_machines()

    @property
    def step(self) -> int:
        """Number of steps since the start of the recording."""
        return self._timeline.moment

    def seek(self, seconds: float) -> None:
        """Shows the moment at a time since the start of the recording [s], or the nearest there is."""
        self.end_steps("a jump")
        self._go_to(round(seconds / self.step_size))
        self._pacer.restart(self.step)
        self._hand_out(self._schedule.names)
        self._refresh_report()

    def set_backward(self, backward: bool) -> None:
        """Goes back from now on, or forward."""
        self._backward = backward
        self._pacer.restart(self.step)
        self._meter.resume()
        self._refresh_report()

    def set_paused(self, paused: bool) -> Outcome:
        """Pauses or goes on; at the end it begins anew."""
        if self._paused and not paused and self.step == (0 if self._backward else self._timeline.end):
            self._go_to(self._timeline.end if self._backward else 0)
        return super().set_paused(paused)

    def reset(self, rewind_time: bool) -> Outcome:
        """Goes back to the start of the recording."""
        self.seek(0.0)
        return Outcome(True, "at the start of the recording")

    def stop_robot(self, name: str) -> None:
        """Pauses: a recorded machine cannot be stopped."""
        self.set_paused(True)

    def stop_all(self) -> None:
        """Pauses."""
        self.set_paused(True)

    def rewind(self) -> Outcome:
        """Refused."""
        return _FIXED

    def release_stop(self) -> Outcome:
        """Refused."""
        return _FIXED

    def exchange(self, *_arguments: Any) -> Outcome:
        """Refused."""
        return _FIXED

    def begin_anew(self, *_arguments: Any) -> Outcome:
        """Refused."""
        return _FIXED

    def place(self, *_arguments: Any) -> Outcome:
        """Refused."""
        return _FIXED

    def begin_recording(self, *_arguments: Any) -> Outcome:
        """Refused."""
        return _FIXED

    def push(self, *_arguments: Any) -> None:
        """Dropped, as commands are."""

    def clear_faults(self) -> Outcome:
        """Refused."""
        return _FIXED

    def set_faults(self, name: str, faults: Mapping[tuple[str, str], bool | float]) -> None:
        """Warns that nothing changes."""
        self._warn(_FIXED.message)

    def follow(self, name: str, order: Order) -> None:
        """Ends a trajectory at once."""
        super().follow(name, order)
        self.stop_trajectory(name, _FIXED.message)

    def _steps_of_tick(self) -> int:
        if not self._backward:
            return super()._steps_of_tick()
        wanted = _BACKWARD_PERIOD * self._pacer.real_time_factor / self.step_size
        return max(1, round(wanted)) if wanted else _BACKWARD_TICK

    def _advance(self, count: int) -> None:
        self._mailbox.take_commands()
        started, first = time.perf_counter(), self.step
        self._go_to(first - count if self._backward else first + count)
        passed = abs(self.step - first)
        if passed:
            self._meter.add(passed, time.perf_counter() - started)
        if self._steps is not None:
            self._steps.add(passed)
        if self._backward:
            self._pacer.restart(self.step)
            self._hand_out(self._schedule.names)
        else:
            self._hand_out(self._schedule.due(self.step))
        if self.step == (0 if self._backward else self._timeline.end):
            if self._steps is not None:
                self._steps.end("the end of the recording")
            self._paused = True
            self._hand_out(self._schedule.names)
            self._refresh_report()
        elif self._meter.refresh_due():
            self._refresh_report()

    def _go_to(self, moment: int) -> None:
        before = self._timeline.simulation
        known = len(self._timeline.differences)
        self._timeline.seek(min(max(moment, 0), self._timeline.end))
        if self._timeline.simulation is not before:
            self._follow_machines()
        if len(self._timeline.differences) > known:
            self._warn(f"this is not what was recorded {self._difference()}")

    def _follow_machines(self) -> None:
        """Reads from the present simulation, which has others when machines have come or gone."""
        self._simulation = simulation = self._timeline.simulation
        machine = simulation.machine
        members = {member.name: member.machine for member in machine.members} or {"": machine}
        self._runtimes = {name: robot for name, robot in self._robots.items() if name in members}
        for name, robot in self._runtimes.items():
            robot.rebind(simulation.part(name))
        objects = {name: one for name, one in members.items() if name not in self._runtimes and is_plain(one)}
        self._objects = PlainObjects(simulation, objects)
        self._show_objects(objects)

    def _difference(self) -> str:
        differences = self._timeline.differences
        if not differences:
            return ""
        first = min(differences)
        return f"at t = {first * self.step_size:.3f} s: {differences[first]}"

    def _replay_report(self) -> ReplayReport:
        timeline = self._timeline
        return ReplayReport(
            end=timeline.end * self.step_size,
            backward=self._backward,
            compared=timeline.compared,
            difference=self._difference(),
            problem=timeline.problem,
            memory=timeline.checkpoint_memory,
        )
