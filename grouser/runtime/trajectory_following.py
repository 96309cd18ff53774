"""Trajectories in the physics thread: commands of the drives at every tick, and how a trajectory ends."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

import numpy as np

from grouser.physics.simulation.view import MachineView
from grouser.program import TWIST
from grouser.runtime.trajectory import JointMotion, Spline, Tolerances, Trajectory, Waypoint

# Name as a command source.
SOURCE = "a trajectory"
# A start later than this [s] is probably not in simulation time.
_LONG_WAIT = 60.0
_REPLACED = "replaced by a new trajectory"


class Ending(Enum):
    """How a trajectory ended."""

    SUCCEEDED = auto()
    CANCELED = auto()
    PATH_VIOLATED = auto()
    GOAL_VIOLATED = auto()
    OUTDATED = auto()
    STOPPED = auto()


@dataclass(frozen=True, eq=False)
class Order:
    """A trajectory to follow.

    Attributes:
        trajectory: its joints have drives in position or velocity mode.
        tolerances: of its joints.
        ticket: identifies the order to its client; None for an order without a client.
        report_interval: time between two progress reports [s]; infinite: no reports.
    """

    trajectory: Trajectory
    tolerances: Tolerances
    ticket: Any = None
    report_interval: float = math.inf


@dataclass(frozen=True, eq=False)
class Progress:
    """Progress of a trajectory.

    Attributes:
        ticket: of its order.
        step: of this report.
        joints: names.
        elapsed: since its start [s].
        desired: motion.
        position, velocity: of the joints, shape (joints,) [rad or m, s].
    """

    ticket: Any
    step: int
    joints: tuple[str, ...]
    elapsed: float
    desired: JointMotion
    position: np.ndarray
    velocity: np.ndarray


@dataclass(frozen=True)
class Ended:
    """End of a trajectory.

    Attributes:
        ticket: of its order.
        ending: how it ended.
        text: the reason.
    """

    ticket: Any
    ending: Ending
    text: str


class TrajectoryFollower:
    """Converts trajectories into commands of drives: positions for position drives, velocities for velocity drives.

    One trajectory is active at a time, and one more may wait for its start. A trajectory starts at the drives'
    commands: a position drive at its target, a velocity drive at its joint's position with the commanded speed. It
    ends when another source commands one of its joints. When it ends before its goal is reached, position drives hold
    the joints' positions and velocity drives stop.

    Args:
        simulation: of the machine.
        steered: joints that a twist commands.
        report: takes `Progress` and `Ended`.
        warn: takes a warning for the user.
    """

    def __init__(
        self,
        simulation: MachineView,
        steered: Collection[str],
        report: Callable[[Progress | Ended], None],
        warn: Callable[[str], None],
    ) -> None:
        self._simulation = simulation
        self._steered = frozenset(steered)
        self._report = report
        self._warn = warn
        self._waiting: _Run | None = None
        self._run: _Run | None = None
        self._commands: dict[str, float] = {}

    def rebind(self, simulation: MachineView) -> None:
        """Continues with the same machine in another simulation."""
        self._simulation = simulation
        for run in (self._run, self._waiting):
            if run is not None:
                run.rebind(simulation)

    def follow(self, order: Order, step: int) -> None:
        """Follows a trajectory from its start on; the active one continues until then, a waiting one is replaced.

        Args:
            order: what to follow.
            step: the present step.
        """
        trajectory, now = order.trajectory, step * self._simulation.step_size
        start = now if trajectory.start is None else trajectory.start
        end = start + trajectory.waypoints[-1].time
        if self._simulation.emergency_stop:
            self._report(Ended(order.ticket, Ending.STOPPED, "the emergency stop is latched"))
        elif end < now:
            self._report(Ended(order.ticket, Ending.OUTDATED, f"it ends at t = {end:g} s, and now it is {now:g} s"))
        else:
            if start > now + _LONG_WAIT:
                self._warn(f"a trajectory waits for {start - now:g} s: is its header.stamp in simulation time?")
            self._drop_waiting(Ending.STOPPED, _REPLACED)
            run = _Run(order, self._simulation, start)
            if start <= now:
                self._begin(run, now)
            else:
                self._waiting = run

    def cancel(self, ticket: Any) -> None:
        """Cancels a trajectory, if it has not ended yet."""
        if self._waiting is not None and self._waiting.ticket == ticket:
            self._drop_waiting(Ending.CANCELED, "canceled")
        if self._run is not None and self._run.ticket == ticket:
            self._end(Ending.CANCELED, "canceled")

    def stop(self, reason: str) -> None:
        """Ends the active and the waiting trajectory."""
        self._drop_waiting(Ending.STOPPED, reason)
        self._end(Ending.STOPPED, reason)

    def reset(self) -> None:
        """Ends both without commanding the drives."""
        self.stop("the simulation is reset")
        self._commands.clear()

    def commands(self, step: int, received: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Commands of drives for the next tick.

        Args:
            step: the present step.
            received: commands of other sources since the last tick: source -> actuator -> value.

        Returns:
            Joint -> position or velocity, without the joints that other sources command.
        """
        now = step * self._simulation.step_size
        for source, values in received.items():
            self._give_way(source, set(values))
        waiting = self._waiting
        if waiting is not None and waiting.start <= now:
            self._waiting = None
            self._begin(waiting, now)
        if self._run is not None:
            self._advance(self._run, step, now)
        commands, self._commands = self._commands, {}
        return commands

    def _give_way(self, source, actuators):
        if not actuators.isdisjoint(TWIST):
            actuators |= self._steered
        taken = [] if self._run is None else [joint for joint in self._run.joints if joint in actuators]
        if taken:
            self._end(Ending.STOPPED, f"{source} took {' and '.join(taken)} over")
        for joint in actuators:
            self._commands.pop(joint, None)

    def _begin(self, run, now):
        """Starts a trajectory; the active one ends."""
        run.plan(now, self._run)
        self._end(Ending.STOPPED, _REPLACED)
        if run.spline.finite:
            self._run = run
        else:
            self._report(Ended(run.ticket, Ending.STOPPED, "its numbers are too large to interpolate"))

    def _advance(self, run, step, now):
        """One tick of the active trajectory."""
        desired = run.desired(now)
        position, velocity = run.measured()
        self._commands.update(run.targets(desired.position, desired.velocity))
        if step >= run.next_report:
            run.next_report = step + run.order.report_interval / self._simulation.step_size
            self._report(Progress(run.ticket, step, run.joints, now - run.start, desired, position, velocity))
        overtime, tolerances = now - run.start - run.spline.end, run.order.tolerances
        tolerance = tolerances.path if overtime < 0.0 else tolerances.goal
        off = tolerance.violation(run.joints, desired.position - position, desired.velocity - velocity)
        if off and overtime < 0.0:
            self._end(Ending.PATH_VIOLATED, off)
        elif off and overtime > tolerances.goal_time:
            self._end(Ending.GOAL_VIOLATED, f"{overtime:.4g} s after its end {off}")
        elif not off and overtime >= 0.0:
            self._run = None
            self._report(Ended(run.ticket, Ending.SUCCEEDED, "the goal is reached"))

    def _end(self, ending, text):
        """Ends the active trajectory before its goal is reached: its joints hold."""
        run, self._run = self._run, None
        if run is not None:
            position, velocity = run.measured()
            self._commands.update(run.targets(position, np.zeros_like(velocity)))
            self._report(Ended(run.ticket, ending, text))

    def _drop_waiting(self, ending, text):
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._report(Ended(waiting.ticket, ending, text))


class _Run:
    """An order with its start and the indices of its joints."""

    def __init__(self, order, simulation, start):
        self.order = order
        self.ticket = order.ticket
        self.joints = order.trajectory.joints
        self.start = start
        self.next_report = 0 if math.isfinite(order.report_interval) else math.inf
        drives, continuous = simulation.command.drives, _continuous_joints(simulation)
        self.rebind(simulation)
        self._place = [self._position.names.index(joint) for joint in self.joints]
        self._by_velocity = np.array([drives[joint] == "velocity" for joint in self.joints])
        self._full_turn = np.array([joint in continuous for joint in self.joints]) * math.tau

    def rebind(self, simulation):
        """Continues with the same machine in another simulation."""
        self._position, self._velocity = simulation.joint_position, simulation.joint_velocity
        self._command = simulation.command

    def plan(self, now, before):
        """Plans the motion from the drives' commands through the remaining waypoints.

        A continuous joint takes the shorter way round to the first of them.
        """
        elapsed = now - self.start
        waypoints = self.order.trajectory.waypoints
        ahead = [waypoint for waypoint in waypoints if waypoint.time >= elapsed] or [waypoints[-1]]
        present = self._present(now, before)
        turns = np.zeros(len(self.joints))
        np.divide(present.position - ahead[0].position, self._full_turn, out=turns, where=self._full_turn > 0.0)
        shift = np.rint(turns) * self._full_turn
        ahead = [replace(waypoint, position=waypoint.position + shift) for waypoint in ahead]
        if ahead[0].time > elapsed:
            ahead.insert(0, Waypoint(elapsed, present.position, present.velocity, present.acceleration))
        self.spline = Spline(ahead)

    def _present(self, now, before):
        """Commanded motion of the drives: that of the trajectory before this one, for joints that it has."""
        command = np.array([self._command[joint] for joint in self.joints])
        present = np.array([command, np.where(self._by_velocity, command, 0.0), np.zeros_like(command)])
        if before is not None:
            desired = before.desired(now)
            motion = np.array([desired.position, desired.velocity, desired.acceleration])
            for place, joint in enumerate(self.joints):
                if joint in before.joints:
                    present[:, place] = motion[:, before.joints.index(joint)]
        present[0] = np.where(self._by_velocity, self.measured()[0], present[0])
        return JointMotion(*present)

    def desired(self, now):
        """The motion at a time [s]."""
        return self.spline.sample(now - self.start)

    def measured(self):
        """Positions and velocities of the joints."""
        return self._position.values()[self._place], self._velocity.values()[self._place]

    def targets(self, position, velocity):
        """Commands of the drives for a motion."""
        return dict(zip(self.joints, np.where(self._by_velocity, velocity, position).tolist(), strict=True))


def _continuous_joints(simulation):
    return {joint.name for joint in simulation.machine.joints if joint.type == "continuous"}
