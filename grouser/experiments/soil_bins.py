"""What experiments with tools in level soil share: the soil, the path of a plate, and the results of every run."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from grouser.experiments.protocol import Parameter, positive
from grouser.physics.base.trees import copied
from grouser.physics.description.data.soil import Soil, SoilGround
from grouser.physics.description.data.world import Ground, World
from grouser.physics.description.soils.checks import check_soil
from grouser.physics.digging.dug_ground import DiggingTool, DugGround, upright_pose
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.soil.bed import SoilBed

SOIL = {
    "density": positive(1800.0, "kg/m3", "of undisturbed soil"),
    "cohesion": Parameter(1e4, "Pa", "c: faces of undisturbed soil stand by it", minimum=0.0),
    "friction_angle_deg": Parameter(30.0, "deg", "phi", minimum=0.0, maximum=60.0),
    "swell": Parameter(1.25, "-", "volume of loosened soil over that of undisturbed soil", minimum=1.0, maximum=3.0),
    "repose_angle_deg": Parameter(32.0, "deg", "of loose soil", minimum=1.0, maximum=60.0),
    "cell_size": Parameter(0.05, "m", "spacing of the cells", minimum=0.005, maximum=0.1),
    "gravity": positive(9.81, "m/s2", "weight of a mass"),
}
MOTION = {
    "speed": Parameter(0.5, "m/s", "of the edge", minimum=0.01, maximum=10.0),
    "step": Parameter(1e-3, "s", "of time", minimum=1e-4, maximum=0.01),
}
RUN_UNITS = {"compute_time": "s", "simulated_time": "s", "mass_error": "-", "microseconds_per_step": "-"}
# Fastest turn of a plate [rad/s].
_TURN = 1.0


def soil_of(parameters: Mapping[str, Any]) -> Soil:
    """The soil of `SOIL`; of lumps where the parameters say so.

    Raises:
        ParameterError: a number of the soil that is out of range.
    """
    soil = Soil(
        name="the soil",
        source="the parameters of the experiment",
        frictional_modulus=1.5e6,  # no wheel presses it
        exponent=1.0,
        cohesion=parameters["cohesion"],
        friction_angle=math.radians(parameters["friction_angle_deg"]),
        shear_displacement_modulus=0.02,
        density=parameters["density"],
        repose_angle=math.radians(parameters["repose_angle_deg"]),
        swell=parameters["swell"],
        lumps=parameters.get("lumps", False),
    )
    check_soil(soil)
    return soil


def make_ground(parameters: Mapping[str, Any]) -> Ground:
    """Level soil at height zero; errors as of `soil_of`."""
    return Ground(soil=SoilGround((soil_of(parameters),), cell=parameters["cell_size"]))


def make_world(parameters: Mapping[str, Any]) -> World:
    """The same as a world for machines; errors as of `soil_of`."""
    return World(name="level soil", ground=make_ground(parameters), gravity=(0.0, 0.0, -parameters["gravity"]))


def bed_of(simulation: Simulation) -> SoilBed:
    """A copy of the soil in a simulation in the world of `make_world`, as it is now."""
    world = simulation.world
    assert world.ground is not None
    bed = SoilBed(world.ground, -world.gravity[2])
    bed.state = copied(simulation.state.soil)
    return bed


def run_figures(seconds: float, steps: int, step: float) -> dict[str, float]:
    """The results of `RUN_UNITS` that runs of steps of some length [s] have in common, by their processor time [s]."""
    return {
        "compute_time": seconds, "simulated_time": steps * step, "microseconds_per_step": 1e6 * seconds / max(steps, 1),
    }  # fmt: skip


def lead_along(corners: Sequence[Sequence[float]], speed: float, step: float) -> np.ndarray:
    """Poses of a plate, one a step, along straight lines.

    Args:
        corners: rows of x [m], z [m] of the edge and rake of the plate [rad].
        speed: of the edge, in the mean of each line [m/s]; lines with much turning are slower.
        step: of time [s].

    Returns:
        As of `grouser.physics.digging.plate`, (steps + 1, POSE).
    """
    places = [np.array(corners[:1], dtype=float)]
    for start, end in zip(np.array(corners[:-1]), np.array(corners[1:]), strict=True):
        duration = max(math.hypot(*(end - start)[:2]) / speed, abs(end[2] - start[2]) / _TURN)
        steps = max(math.ceil(duration / step - 1e-9), 1)
        places.append(start + (end - start) * (np.arange(1, steps + 1) / steps)[:, np.newaxis])
    return np.array([upright_pose(x, z, rake) for x, z, rake in np.concatenate(places)])


class Dig:
    """A tool in level soil, with the processor time of its steps.

    Attributes:
        ground: soil and tool.
        steps: number made.
        cut_mass: that the edge took off, again where it had been pushed ahead [kg].
    """

    def __init__(self, parameters: Mapping[str, Any], tool: DiggingTool):
        bed = SoilBed(make_ground(parameters), parameters["gravity"])
        self.ground = DugGround(bed, tool, parameters["step"])
        self.steps, self.cut_mass, self._seconds = 0, 0.0, 0.0

    def follow(self, path: np.ndarray) -> np.ndarray:
        """Leads the tool along poses, see `DugGround.follow`."""
        if self.steps == 0:
            self.ground.follow(path[[0, 0]])  # compiled before it is timed
        begun = time.process_time()
        record = self.ground.follow(path)
        self._seconds += time.process_time() - begun
        self.steps += len(record)
        self.cut_mass += float(record[-1, 0])
        return record

    def hold(self, pose: np.ndarray, duration: float) -> np.ndarray:
        """Holds the tool for a time [s]."""
        return self.follow(np.tile(pose, (max(round(duration / self.ground.step_size), 1) + 1, 1)))

    def mass_error(self, added: float = 0.0) -> float:
        """Mass that the balance of ground, tool and air lacks or has too much, of what was cut or added [-].

        Args:
            added: mass that was laid on the ground before [kg].
        """
        moved = self.cut_mass + added
        return abs(self.ground.mass - added) / moved if moved > 0.0 else 0.0

    @property
    def seconds(self) -> float:
        """Processor time of the steps [s]."""
        return self._seconds
