"""The teeth of the excavator follow the floor of a trench that is there already."""

import math
from itertools import pairwise

import numpy as np

from grouser.envs.arm import inclination, point_of_link, random_positions
from grouser.envs.task import Episode, Outcome, Quantity, Task, samples, shared_machine
from grouser.physics.base import spatial
from grouser.physics.description.data.world import Ground, Heightfield, World
from grouser.physics.simulation.simulation import Simulation

_JOINTS = ("boom", "stick", "bucket")
_TEETH = (0.54, 0.0, 0.0)  # in the frame of `bucket_body` [m]
_CELL = 0.1  # of the height field [m]
_TRENCH = (1.9, 3.9, 0.4, 0.5)  # first and last x, half width, depth [m]
_PASS = ((3.2, -0.4), (2.2, -0.4), (2.2, 0.2))  # x, z of the teeth's way: along the floor and out [m]
_SPACING = 0.1  # of its waypoints [m]
_REACHED = 0.1  # distance at which a waypoint is [m]
_RANGES = {"boom": (-0.3, 1.0), "stick": (-2.4, -0.8), "tipping_lever": (0.9, 1.6)}  # of starts [rad]
_START = ((2.4, 3.4), (0.2, 1.0))  # of the teeth at the start, x and z [m]
_TILTED = 0.25  # [rad]
_PROGRESS, _AWAY, _TOUCH, _BONUS = 10.0, 0.1, 0.1, 5.0
_WEIGHT = 16e3  # of the machine [N]


def _waypoints() -> np.ndarray:
    """The way of the teeth as points, x and z, (points, 2)."""
    parts = []
    for (x, z), (to_x, to_z) in pairwise(_PASS):
        count = round(math.hypot(to_x - x, to_z - z) / _SPACING)
        parts.append(np.linspace((x, z), (to_x, to_z), count + 1)[1:])
    return np.vstack([[_PASS[0]], *parts])


_WAY = _waypoints()


class ExcavatorTrench(Task):
    """The excavator at a trench, by boom, stick and bucket."""

    purpose = (
        "The excavator stands before a trench 0.5 m deep and 0.8 m wide, its teeth somewhere above it. They have to go "
        "down and follow the floor at a hand's breadth, 1 m towards the machine, and come out. The trench is there "
        "already and is rigid: grouser has no digging yet, and no earth is moved."
    )
    reward = (
        "10 for each metre of the way that the teeth have done, minus a tenth of their distance from its next point in "
        "metres, minus a tenth of the force of bucket and stick on ground and walls in units of the machine's weight; "
        "5 for success, -5 for tilting"
    )
    end = "success: the teeth have come out at the end of the way; failure: the machine is tilted by more than 0.25 rad"
    actions = tuple(Quantity(f"{joint} valve", 1.0, "-") for joint in _JOINTS)
    observations = (
        Quantity("next point from the teeth, x", 2.0, "m"),
        Quantity("next point from the teeth, z", 2.0, "m"),
        Quantity("point 0.3 m later from the teeth, x", 2.0, "m"),
        Quantity("point 0.3 m later from the teeth, z", 2.0, "m"),
        Quantity("share of the way that is done", 1.0, "-"),
        *(Quantity(f"position of {joint}", math.pi, "rad") for joint in _JOINTS),
        *(Quantity(f"velocity of {joint}", 2.0, "rad/s") for joint in _JOINTS),
        Quantity("force of bucket and stick on the ground", 2.0 * _WEIGHT, "N"),
        Quantity("pressure of the pump", 25e6, "Pa"),
    )
    interval, settling, most_steps = 50, 300, 300

    def make_simulation(self) -> Simulation:
        """The excavator before its trench, on rigid ground."""
        first, last, half, depth = _TRENCH
        x, y = np.arange(0.0, 5.0 + _CELL, _CELL), np.arange(-1.0, 1.0 + _CELL, _CELL)
        inside = ((x >= first) & (x <= last))[:, None] & (np.abs(y) <= half)
        field = Heightfield(np.where(inside, -depth, 0.0), _CELL, (0.0, -1.0))
        return Simulation(shared_machine("excavator"), World(ground=Ground(heightfield=field)))

    def start(self, simulation: Simulation, random: np.random.Generator) -> Episode:
        """Samples positions of boom, stick and bucket until the teeth are above the trench."""
        (near, far), (low, high) = _START
        for _ in samples():
            simulation.reset(random_positions(_RANGES, random))
            x, _, z = teeth(simulation)
            if near <= x <= far and low <= z <= high and not simulation.overlaps():
                break
        return _Following(simulation)


def teeth(simulation: Simulation) -> np.ndarray:
    """Middle of the teeth in the world [m], (3,)."""
    return point_of_link(simulation, "bucket_body", _TEETH)


class _Following(Episode):
    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation)
        self._next = 0

    def begin(self):
        return inclination(self.simulation) <= 0.1 * _TILTED and self._force() == 0.0

    def act(self, action):
        self.simulation.command.update({f"{joint}_valve": action[i] for i, joint in enumerate(_JOINTS)})

    def _force(self):
        """On bucket and stick by what they touch [N]."""
        wrench = self.simulation.contact_wrench
        return sum(float(np.linalg.norm(wrench[link][:3])) for link in ("bucket_body", "stick_link"))

    def _place(self):
        """Teeth from the chassis, along it and up [m], (2,)."""
        position, quaternion = self.simulation.base_pose()
        x, _, z = spatial.matrix(tuple(quaternion)).T @ (teeth(self.simulation) - position)
        return np.array([x, z])

    def observe(self):
        place = self._place()
        following, later = (_WAY[min(number, len(_WAY) - 1)] for number in (self._next, self._next + 3))
        position, velocity = self.simulation.joint_position, self.simulation.joint_velocity
        return (
            *(following - place),
            *(later - place),
            self._next / len(_WAY),
            *(position[joint] for joint in _JOINTS),
            *(velocity[joint] for joint in _JOINTS),
            self._force(),
            self.simulation.circuit.line_pressure["gallery"],
        )

    def judge(self, action):
        place, before = self._place(), self._next
        while self._next < len(_WAY) and math.dist(place, _WAY[self._next]) <= _REACHED:
            self._next += 1
        success, tilted = self._next == len(_WAY), inclination(self.simulation) > _TILTED
        away = 0.0 if success else math.dist(place, _WAY[self._next])
        gain = _PROGRESS * _SPACING * (self._next - before) - _AWAY * away - _TOUCH * self._force() / _WEIGHT
        return Outcome(gain + _BONUS * (success - float(tilted)), success or tilted, success and not tilted)
