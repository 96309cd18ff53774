"""A cylinder brings its load to a height and holds it there."""

import numpy as np

from grouser.envs.task import Episode, Outcome, Quantity, Task, shared_machine
from grouser.physics.simulation.simulation import Simulation

_LOWEST, _HIGHEST = 0.05, 0.45  # of starts and goals [m]
_NEAR, _SLOW = 0.005, 0.01  # when the load is at its goal [m, m/s]
_HELD = 10  # steps of the environment for which it has to be
_EFFORT, _BONUS = 0.02, 1.0


class HydraulicLift(Task):
    """The test rig of Strashnov and Mironenko (2023), by its valve."""

    purpose = (
        "A cylinder lifts 100 kg straight up. It starts at a random height and has to bring the load to another "
        "one, 0.05 to 0.45 m, and hold it."
    )
    reward = (
        "minus the distance from the goal in units of 0.5 m, minus 0.02 times the square of the action; 1 for success"
    )
    end = "success: the load has been within 5 mm of the goal, slower than 10 mm/s, for 0.2 s"
    actions = (Quantity("valve", 1.0, "-"),)
    observations = (
        Quantity("goal above the load", 0.5, "m"),
        Quantity("height of the load", 0.5, "m"),
        Quantity("velocity of the load", 0.3, "m/s"),
        Quantity("spool", 1.0, "-"),
        Quantity("pressure of the piston side", 20e6, "Pa"),
        Quantity("pressure of the rod side", 20e6, "Pa"),
    )
    interval, settling, most_steps = 20, 100, 250

    def make_simulation(self) -> Simulation:
        """The lift on flat ground."""
        return Simulation(shared_machine("hydraulic_lift"))

    def start(self, simulation: Simulation, random: np.random.Generator) -> Episode:
        """Samples the start and the goal evenly."""
        height, goal = random.uniform(_LOWEST, _HIGHEST, 2)
        simulation.reset({"lift": height})
        return _Lifting(simulation, float(goal))


class _Lifting(Episode):
    def __init__(self, simulation: Simulation, goal: float) -> None:
        super().__init__(simulation)
        self._goal = goal
        self._held = 0

    def act(self, action):
        self.simulation.command["lift_valve"] = action[0]

    def observe(self):
        height, pressure = self.simulation.joint_position["lift"], self.simulation.pressure["lift"]
        speed = self.simulation.joint_velocity["lift"]
        spool = self.simulation.circuit.spool_position["lift_valve"]
        return self._goal - height, height, speed, spool, pressure.piston_side, pressure.rod_side

    def judge(self, action):
        distance = abs(self._goal - self.simulation.joint_position["lift"])
        stands = distance <= _NEAR and abs(self.simulation.joint_velocity["lift"]) <= _SLOW
        self._held = self._held + 1 if stands else 0
        success = self._held >= _HELD
        cost = distance / 0.5 + _EFFORT * float(action[0]) ** 2
        return Outcome(_BONUS * success - cost, success, success)
