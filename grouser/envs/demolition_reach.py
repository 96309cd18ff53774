"""The chisel of the demolition robot goes to a point in the air."""

import numpy as np

from grouser.envs.arm import command_valves, inclination, point_of_link, random_positions
from grouser.envs.task import Episode, Outcome, Quantity, Task, samples, shared_machine
from grouser.physics.simulation.simulation import Simulation

_JOINTS = ("swing", "boom", "stick", "tool")
# Of starts and goals: a tenth of each joint's range is left at either end [rad].
_RANGES = {"swing": (-0.84, 0.84), "boom": (-0.1, 1.1), "stick": (-1.92, -0.48), "tool": (-1.31, 0.21)}
_TIP = (1.05, 0.0, 0.0)  # of the chisel, in the frame of `tool_link` [m]
_KNUCKLE = (1.35, 0.0, 0.0)  # in the frame of `stick_link` [m]
_LOWEST, _NEAREST = 0.3, 1.2  # height of tip and knuckle, and way of the tip ahead of the middle of the chassis [m]
_NEAR, _SLOW = 0.1, 0.2  # when the tip is at its goal [m, m/s]
_TILTED = 0.25  # [rad]
_EFFORT, _BONUS = 0.01, 5.0


class DemolitionReach(Task):
    """The demolition robot on its outriggers, by the valves of its arm."""

    purpose = (
        "The demolition robot stands on its outriggers, its arm anywhere. It has to bring the tip of its chisel to a "
        "point in the air that some position of the arm reaches, and stop there. Four cylinders share the oil of one "
        "pump."
    )
    reward = (
        "minus a tenth of the distance from the goal in metres, minus 0.01 times the mean square of the actions; 5 "
        "for success, -5 for tilting"
    )
    end = (
        "success: the tip is within 0.1 m of the goal and slower than 0.2 m/s; failure: the chassis is tilted by more "
        "than 0.25 rad, which takes an arm that pushes the ground"
    )
    actions = tuple(Quantity(f"{joint} valve", 1.0, "-") for joint in _JOINTS)
    observations = (
        *(Quantity(f"goal from the tip, {axis}", 8.0, "m") for axis in "xyz"),
        *(Quantity(f"tip from the chassis, {axis}", 5.0, "m") for axis in "xyz"),
        *(Quantity(f"position of {joint}", 2.2, "rad") for joint in _JOINTS),
        *(Quantity(f"velocity of {joint}", 1.0, "rad/s") for joint in _JOINTS),
        Quantity("pressure of the pump", 25e6, "Pa"),
    )
    interval, settling, most_steps = 50, 300, 200

    def make_simulation(self) -> Simulation:
        """The robot on flat ground."""
        return Simulation(shared_machine("demolition_robot"))

    def start(self, simulation: Simulation, random: np.random.Generator) -> Episode:
        """Samples positions of the arm until tip and knuckle are free, for the goal and for the start."""
        goal = _sample(simulation, random)
        _sample(simulation, random)
        return _Reaching(simulation, goal)


def _sample(simulation: Simulation, random: np.random.Generator) -> np.ndarray:
    """Puts the arm to a random valid position; returns the place of the tip [m], (3,)."""
    for _ in samples():
        simulation.reset(random_positions(_RANGES, random))
        place, knuckle = tip(simulation), point_of_link(simulation, "stick_link", _KNUCKLE)
        if min(place[2], knuckle[2]) >= _LOWEST and place[0] >= _NEAREST and not simulation.overlaps():
            break
    return place


def tip(simulation: Simulation) -> np.ndarray:
    """Tip of the chisel in the world [m], (3,)."""
    return point_of_link(simulation, "tool_link", _TIP)


class _Reaching(Episode):
    def __init__(self, simulation: Simulation, goal: np.ndarray) -> None:
        super().__init__(simulation)
        self._goal = goal
        self._tip = tip(simulation)

    def begin(self):
        self._tip = tip(self.simulation)
        return inclination(self.simulation) <= 0.1 * _TILTED

    def act(self, action):
        command_valves(self.simulation, _JOINTS, action)

    def observe(self):
        simulation = self.simulation
        base = simulation.base_pose()[0]
        position, velocity = simulation.joint_position, simulation.joint_velocity
        return (
            *(self._goal - self._tip),
            *(self._tip - base),
            *(position[joint] for joint in _JOINTS),
            *(velocity[joint] for joint in _JOINTS),
            simulation.circuit.line_pressure["gallery"],
        )

    def judge(self, action):
        before, self._tip = self._tip, tip(self.simulation)
        interval = DemolitionReach.interval * self.simulation.step_size
        speed = float(np.linalg.norm(self._tip - before)) / interval
        distance = float(np.linalg.norm(self._goal - self._tip))
        success, tilted = distance <= _NEAR and speed <= _SLOW, inclination(self.simulation) > _TILTED
        cost = 0.1 * distance + _EFFORT * float(np.mean(np.square(action, dtype=float)))
        return Outcome(_BONUS * (success - float(tilted)) - cost, success or tilted, success and not tilted)
