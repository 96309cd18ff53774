"""A robot in the physics thread: who commands it, and how it is read. It knows nothing of ROS."""

import math
from collections.abc import Mapping

from grouser.runtime.driving import Driver, Odometer
from grouser.runtime.sampling import Sample
from grouser.runtime.simulated import Simulated
from grouser.runtime.streams import take_sample
from grouser.runtime.supervision import CommandSupervisor
from grouser.runtime.trajectory_following import SOURCE, TrajectoryFollower


class Pilot:
    """What a robot's actuators are told, and what is sampled of it.

    Args:
        robot: of the simulation.
        supervisor: decides between those who command.
        streams: topics of those that are sampled; None: all.
        driver: turns the twist of a vehicle into commands of its drives; None for a machine that has none.
        odometer: of a vehicle; None for a machine that is none.
        follower: of trajectories; None for a machine whose drives can follow none.
        terrain_reach: how far from the wheels terrain is sampled [m].

    Attributes:
        robot, supervisor: as given.
    """

    def __init__(
        self,
        robot: Simulated,
        supervisor: CommandSupervisor,
        streams: frozenset[str] | None = None,
        driver: Driver | None = None,
        odometer: Odometer | None = None,
        follower: TrajectoryFollower | None = None,
        terrain_reach: float = math.inf,
    ) -> None:
        self.robot = robot
        self.supervisor = supervisor
        self.follower = follower
        self._streams = streams
        self._driver = driver
        self._odometer = odometer
        self._terrain_reach = terrain_reach

    def commands(self, step: int, heard: Mapping[str, Mapping[str, float]], interval: float) -> dict[str, float]:
        """What the actuators are told now.

        Args:
            step: the present step.
            heard: what has arrived since the last time: source -> actuator -> value.
            interval: for which the commands will hold [s].

        Returns:
            Actuator -> value; those that are not in it keep what they have.
        """
        if self.follower is not None and (told := self.follower.commands(step, heard)):
            heard = {**heard, SOURCE: told}
        commands = self.supervisor.commands(step, heard)
        return commands if self._driver is None else self._driver.commands(commands, interval)

    def sample(self, nanoseconds: int, streams: frozenset[str]) -> Sample:
        """Copies what streams need that are due."""
        wanted = streams if self._streams is None else streams & self._streams
        return take_sample(self.robot, nanoseconds, wanted, self._odometer, self._terrain_reach)

    def change_terrain_reach(self, reach: float) -> None:
        """Samples terrain so far from the wheels [m]."""
        self._terrain_reach = reach

    def rebind(self, robot: Simulated) -> None:
        """Goes on with the same machine in another simulation."""
        self.robot = robot
        for part in (self.follower, self._driver, self._odometer):
            if part is not None:
                part.rebind(robot)

    def reset(self, step: int) -> None:
        """Forgets who commanded what, after the simulation has gone back to its start."""
        self.supervisor.reset(step)
        for part in (self.follower, self._driver, self._odometer):
            if part is not None:
                part.reset()

    def stop(self) -> None:
        """Emergency stop: latched until a reset."""
        self.robot.emergency_stop = True
        self.supervisor.stop_program()
        self.stop_trajectory("emergency stop")

    def stop_trajectory(self, reason: str) -> None:
        """Has all trajectories end."""
        if self.follower is not None:
            self.follower.stop(reason)
