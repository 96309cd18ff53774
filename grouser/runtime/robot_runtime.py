"""A robot in the physics thread: its commands and its samples."""

from collections.abc import Mapping

from grouser.physics.simulation.view import MachineView
from grouser.runtime.belt_watch import BeltWatch
from grouser.runtime.driving import Driver, Odometer
from grouser.runtime.sampling import ALL, Limits, Sample
from grouser.runtime.streams import take_sample
from grouser.runtime.supervision import CommandSupervisor
from grouser.runtime.trajectory_following import SOURCE, TrajectoryFollower


class RobotRuntime:
    """Commands the actuators of a robot and samples its streams.

    Args:
        robot: of the simulation.
        supervisor: arbitrates between command sources.
        streams: topics of the streams to sample; None: all.
        driver: converts a twist into commands of drives; None for a machine that cannot drive.
        odometer: of a vehicle; None for other machines.
        follower: of trajectories; None for a machine whose drives cannot follow any.
        limits: of what is sampled.
        belts: warns of belts that jump or are thrown; None for a machine without tracks.

    Attributes:
        robot, supervisor: as given.
    """

    def __init__(
        self,
        robot: MachineView,
        supervisor: CommandSupervisor,
        streams: frozenset[str] | None = None,
        driver: Driver | None = None,
        odometer: Odometer | None = None,
        follower: TrajectoryFollower | None = None,
        limits: Limits = ALL,
        belts: BeltWatch | None = None,
    ) -> None:
        self.robot = robot
        self.supervisor = supervisor
        self.follower = follower
        self._streams = streams
        self._driver = driver
        self._odometer = odometer
        self._limits = limits
        self._belts = belts

    def commands(self, step: int, received: Mapping[str, Mapping[str, float]], interval: float) -> dict[str, float]:
        """Commands of the actuators for the next tick.

        Args:
            step: the present step.
            received: commands since the last tick: source -> actuator -> value.
            interval: for which the commands will hold [s].

        Returns:
            Actuator -> value; other actuators keep their commands.
        """
        if self._belts is not None:
            self._belts.look()
        if self.follower is not None and (targets := self.follower.commands(step, received)):
            received = {**received, SOURCE: targets}
        commands = self.supervisor.commands(step, received)
        return commands if self._driver is None else self._driver.commands(commands, interval)

    def sample(self, nanoseconds: int, streams: frozenset[str]) -> Sample:
        """Samples the streams that are due."""
        wanted = streams if self._streams is None else streams & self._streams
        return take_sample(self.robot, nanoseconds, wanted, self._odometer, self._limits)

    def change_limits(self, limits: Limits) -> None:
        """Changes how much is sampled."""
        self._limits = limits

    def rebind(self, robot: MachineView) -> None:
        """Continues with the same machine in another simulation."""
        self.robot = robot
        self.supervisor.rebind(robot)
        for part in (self.follower, self._driver, self._odometer, self._belts):
            if part is not None:
                part.rebind(robot)

    def reset(self, step: int) -> None:
        """Clears all command sources after the simulation was reset."""
        self.supervisor.reset(step)
        for part in (self.follower, self._driver, self._odometer, self._belts):
            if part is not None:
                part.reset()

    @property
    def stopped(self) -> bool:
        """Whether its emergency stop is latched."""
        return self.robot.emergency_stop

    def stop(self) -> dict[str, float]:
        """Emergency stop: latched until `release` or a reset.

        Returns:
            Commands of the actuators that a diagram had.
        """
        self.robot.emergency_stop = True
        self.stop_trajectory("emergency stop")
        commands = self.supervisor.stop_program()
        return commands if self._driver is None else self._driver.commands(commands, self.robot.step_size)

    def not_neutral(self) -> list[str]:
        """Actuators whose commands, or whose levers that a diagram reads, would move them after the emergency stop."""
        held = {joint for joint, mode in self.robot.command.drives.items() if mode == "position"}
        levers = [name for name, value in self.supervisor.levers.items() if value != 0.0 and name not in held]
        return list(dict.fromkeys([*self.robot.command.not_neutral(), *levers]))

    def release(self, step: int) -> None:
        """Releases the emergency stop; drives in position mode hold the present positions."""
        self.robot.release_emergency_stop()
        self.supervisor.release(step)

    def stop_trajectory(self, reason: str) -> None:
        """Ends all trajectories."""
        if self.follower is not None:
            self.follower.stop(reason)
