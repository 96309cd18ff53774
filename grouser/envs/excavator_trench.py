"""The excavator fills its bucket from the ground ahead and lifts it out."""

import math

import numpy as np

from grouser.envs.arm import command_valves, inclination, point_of_link, random_positions
from grouser.envs.task import Episode, Outcome, Quantity, Task, samples, shared_machine
from grouser.loading import load_world
from grouser.physics.base import spatial
from grouser.physics.simulation.simulation import Simulation

_JOINTS = ("boom", "stick", "bucket")
_TEETH, _BACK = (0.54, 0.0, 0.0), (0.203, 0.0, 0.239)  # tips and bottom, in the frame of `bucket_body` [m]
_RANGES = {"boom": (-0.3, 1.0), "stick": (-2.4, -0.8), "tipping_lever": (0.9, 1.6)}  # of starts [rad]
_START = ((2.4, 3.4), (0.1, 1.0))  # of the teeth at the start, ahead of the chassis and above the ground [m]
_FILLED = 0.6  # share of the heaped capacity
_LIFTED = 0.3  # height of teeth and bottom above the ground [m]
_TILTED = 0.25  # [rad]
_GAIN, _AWAY, _BONUS = 10.0, 0.1, 5.0
_WEIGHT = 16e3  # of the machine [N]


class ExcavatorTrench(Task):
    """The excavator on sandy loam, by boom, stick and bucket."""

    purpose = (
        "The excavator stands on level sandy loam, its bucket somewhere above the ground ahead. It has to cut in, fill "
        "the bucket to 0.6 of its heaped capacity, and lift it out. Soil resists, loads the bucket and spills from it, "
        "and leaves a trench."
    )
    reward = (
        "10 times what comes into the bucket, as a share of its heaped capacity and up to 0.6, and as much less for "
        "what is spilled; minus a tenth of the height of the teeth above the ground in metres, or, with a filled "
        "bucket, of what teeth and bottom lack to 0.3 m above it; 5 for success, -5 for tilting"
    )
    end = (
        "success: the bucket is filled, its teeth and its bottom 0.3 m above the ground; failure: the machine is "
        "tilted by more than 0.25 rad"
    )
    actions = tuple(Quantity(f"{joint} valve", 1.0, "-") for joint in _JOINTS)
    observations = (
        Quantity("teeth ahead of the chassis", 5.0, "m"),
        Quantity("teeth above the level ground", 3.0, "m"),
        Quantity("angle of the bucket, 0 with its teeth down, positive as it curls", math.pi, "rad"),
        Quantity("share of the heaped capacity in the bucket", 1.5, "-"),
        *(Quantity(f"position of {joint}", math.pi, "rad") for joint in _JOINTS),
        *(Quantity(f"velocity of {joint}", 2.0, "rad/s") for joint in _JOINTS),
        Quantity("force of the soil on the bucket", 2.0 * _WEIGHT, "N"),
        Quantity("pressure of the pump", 25e6, "Pa"),
    )
    interval, settling, most_steps = 50, 300, 300

    def make_simulation(self) -> Simulation:
        """The excavator on the world `quarry`."""
        return Simulation(shared_machine("excavator"), load_world("quarry"))

    def start(self, simulation: Simulation, random: np.random.Generator) -> Episode:
        """Samples positions of boom, stick and bucket until the bucket is above the ground ahead."""
        (near, far), (low, high) = _START
        for _ in samples():
            simulation.reset(random_positions(_RANGES, random))
            x, _, z = point_of_link(simulation, "bucket_body", _TEETH)
            if near <= x <= far and low <= z <= high and lowest(simulation) >= low and not simulation.overlaps():
                break
        return _Digging(simulation)


def lowest(simulation: Simulation) -> float:
    """Height of teeth or bottom of the bucket, of the lower of them, above the level ground [m]."""
    return min(float(point_of_link(simulation, "bucket_body", point)[2]) for point in (_TEETH, _BACK))


class _Digging(Episode):
    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation)
        self._fill = 0.0

    def begin(self):
        return inclination(self.simulation) <= 0.1 * _TILTED and lowest(self.simulation) > 0.0

    def act(self, action):
        command_valves(self.simulation, _JOINTS, action)

    def observe(self):
        simulation = self.simulation
        position, quaternion = simulation.base_pose()
        teeth = point_of_link(simulation, "bucket_body", _TEETH)
        ahead = (spatial.matrix(tuple(quaternion)).T @ (teeth - position))[0]
        x, _, z = spatial.matrix(tuple(simulation.link_pose("bucket_body")[1]))[:, 0]
        return (
            ahead,
            teeth[2],
            math.atan2(-x, -z),
            self._fill,
            *(simulation.joint_position[joint] for joint in _JOINTS),
            *(simulation.joint_velocity[joint] for joint in _JOINTS),
            float(np.linalg.norm(simulation.digging_force("bucket").force_world)),
            simulation.circuit.line_pressure["gallery"],
        )

    def judge(self, action):
        before, self._fill = self._fill, self.simulation.bucket_load("bucket").fill_factor
        filled = self._fill >= _FILLED
        if filled:
            away = max(0.0, _LIFTED - lowest(self.simulation))
        else:
            away = max(0.0, float(point_of_link(self.simulation, "bucket_body", _TEETH)[2]))
        success, tilted = filled and away == 0.0, inclination(self.simulation) > _TILTED
        gain = _GAIN * (min(self._fill, _FILLED) - min(before, _FILLED)) - _AWAY * away
        return Outcome(gain + _BONUS * (success - float(tilted)), success or tilted, success and not tilted)
