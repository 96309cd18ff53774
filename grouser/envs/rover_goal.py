"""The rover drives over soft ground to a place."""

import math

import numpy as np

from grouser.envs.task import Episode, Outcome, Quantity, Task, shared_machine
from grouser.loading import load_world
from grouser.physics.base import spatial
from grouser.physics.simulation.simulation import Simulation
from grouser.program import TWIST
from grouser.runtime.driving import Driver
from grouser.runtime.vehicle_parts import make_vehicle

_NEAREST, _FARTHEST = 1.5, 4.0  # of goals [m]
_NEAR = 0.25  # when the rover is at its goal [m]
_SPEED, _YAW_RATE = 0.4, 0.4  # at an action of 1 [m/s, rad/s]
_TILTED = 0.5  # [rad]
_PROGRESS, _EFFORT, _BONUS = 1.0, 0.002, 1.0


class RoverGoal(Task):
    """The rover on dry sand, by speed and yaw rate."""

    purpose = (
        "The rover stands on level dry sand, in which its wheels sink, slip and leave ruts, and has to drive to a "
        "place 1.5 to 4 m away in any direction. Steering angles and wheel speeds follow from speed and yaw rate, as "
        "by `cmd_vel`."
    )
    reward = (
        "the way by which it came nearer to the goal in metres, minus 0.002 times the mean square of the "
        "actions; 1 for success, -1 for tilting"
    )
    end = "success: the middle of the rover is within 0.25 m of the goal; failure: it is tilted by more than 0.5 rad"
    actions = (Quantity("forward speed", _SPEED, "m/s"), Quantity("yaw rate to the left", _YAW_RATE, "rad/s"))
    observations = (
        Quantity("distance of the goal", 5.0, "m"),
        Quantity("cosine of its direction from ahead", 1.0, "-"),
        Quantity("sine of its direction, left positive", 1.0, "-"),
        Quantity("forward speed", 0.6, "m/s"),
        Quantity("speed to the left", 0.6, "m/s"),
        Quantity("yaw rate", 0.6, "rad/s"),
        Quantity("roll", 0.5, "rad"),
        Quantity("pitch", 0.5, "rad"),
        *(
            Quantity(f"slip ratio of the {place} wheel", 1.0, "-")
            for place in ("front left", "middle left", "rear left", "front right", "middle right", "rear right")
        ),
    )
    interval, settling, most_steps = 100, 300, 300

    def __init__(self) -> None:
        vehicle = make_vehicle(shared_machine("rover"))
        assert vehicle is not None, "the rover has wheels"
        self._vehicle = vehicle

    def make_simulation(self) -> Simulation:
        """The rover on the world `sand`."""
        return Simulation(shared_machine("rover"), load_world("sand"))

    def start(self, simulation: Simulation, random: np.random.Generator) -> Episode:
        """Samples heading, direction and distance evenly."""
        heading, direction = random.uniform(-math.pi, math.pi, 2)
        distance = random.uniform(_NEAREST, _FARTHEST)
        simulation.reset()
        position, _ = simulation.base_pose()
        simulation.place(tuple(position), (0.0, 0.0, math.sin(0.5 * heading), math.cos(0.5 * heading)))
        goal = position[:2] + distance * np.array([math.cos(direction), math.sin(direction)])
        return _Driving(simulation, Driver(self._vehicle, simulation), goal)


class _Driving(Episode):
    def __init__(self, simulation: Simulation, driver: Driver, goal: np.ndarray) -> None:
        super().__init__(simulation)
        self._driver, self._goal = driver, goal
        self._distance = 0.0

    def begin(self):
        self._distance = self._way()[0]
        return True

    def act(self, action):
        interval = RoverGoal.interval * self.simulation.step_size
        twist = dict(zip(TWIST, (_SPEED * float(action[0]), 0.0, _YAW_RATE * float(action[1])), strict=True))
        self.simulation.command.update(self._driver.commands(twist, interval))

    def _way(self):
        """Distance of the goal, and cosine and sine of its direction seen from the rover."""
        position, quaternion = self.simulation.base_pose()
        turn = spatial.matrix(tuple(quaternion))
        ahead = turn[:2, 0] / math.hypot(*turn[:2, 0])
        x, y = self._goal - position[:2]
        distance = math.hypot(x, y)
        along, left = ahead[0] * x + ahead[1] * y, ahead[0] * y - ahead[1] * x
        return distance, along / max(distance, 1e-9), left / max(distance, 1e-9)

    def _attitude(self):
        """Roll and pitch [rad]."""
        x, y, z, w = self.simulation.base_pose()[1]
        return math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)), math.asin(2.0 * (w * y - z * x))

    def observe(self):
        linear, angular = self.simulation.base_twist()
        slips = (state.slip_ratio for state in self.simulation.wheel.values())
        return *self._way(), linear[0], linear[1], angular[2], *self._attitude(), *slips

    def judge(self, action):
        before, self._distance = self._distance, self._way()[0]
        success, tilted = self._distance <= _NEAR, max(map(abs, self._attitude())) > _TILTED
        cost = _EFFORT * float(np.mean(np.square(action, dtype=float)))
        gain = _PROGRESS * (before - self._distance)
        return Outcome(gain + _BONUS * (success - float(tilted)) - cost, success or tilted, success and not tilted)
