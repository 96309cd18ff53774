"""What experiments with spheres share: parameters, their checks, and the results that all of them give."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from grouser.experiments.protocol import Parameter, positive
from grouser.physics.description.data.granular import GrainMaterial
from grouser.physics.granular.bed import GranularBed

GRAVITY = 9.81
# The boundaries of the default sphere.
WALL = GrainMaterial("wall", 1e8, 0.3)

BALANCE_UNITS = {"compute_time": "s", "simulated_time": "s", "energy_error": "-", "momentum_error": "-"}

SPHERE = {
    "radius": positive(0.005, "m", "of the spheres"),
    "youngs_modulus": positive(1e7, "Pa", "of the spheres"),
    "poisson_ratio": Parameter(0.25, "-", "of the spheres", minimum=0.0, maximum=0.5),
    "density": positive(2500.0, "kg/m3", "of the spheres"),
}


def sphere_material(parameters: Any) -> GrainMaterial:
    """The material of `SPHERE`, named `sphere`."""
    return GrainMaterial("sphere", *(parameters[name] for name in ("youngs_modulus", "poisson_ratio", "density")))


def restitution(default: float) -> Parameter:
    """A restitution."""
    return Parameter(default, "-", "restitution of a head-on impact", minimum=0.001, maximum=1.0)


def number_list(lowest: float, highest: float, count: int | None = None) -> Callable[[list], list[float]]:
    """A conversion that takes lists of numbers in a range, of `count` items if given."""

    def convert(value: list) -> list[float]:
        right = all(type(item) in (int, float) and lowest <= item <= highest for item in value)
        if not value or not right or (count is not None and len(value) != count):
            many = "numbers" if count is None else f"{count} numbers"
            raise ValueError(f"{many} from {lowest:g} to {highest:g}")
        return [float(item) for item in value]

    return convert


class Clock:
    """Processor time of an experiment and the balance of its beds."""

    def __init__(self):
        self._begun = time.process_time()

    def results(
        self, bed: GranularBed, energy: float | None = None, momentum: np.ndarray | None = None
    ) -> dict[str, float | None]:
        """The results that all experiments give.

        Args:
            bed: at its end.
            energy: by which the error of the energy is divided [J]; None: no result.
            momentum: of the bed at the start, where nothing else acts on it; None: no result.
        """
        change = None
        if momentum is not None:
            moving = bed.mass @ np.linalg.norm(bed.velocity, axis=1)
            change = float(np.linalg.norm((bed.momentum() - momentum)[:3]) / moving)
        return {
            "compute_time": time.process_time() - self._begun,
            "simulated_time": bed.time,
            "energy_error": None if energy is None else bed.energy_error() / energy,
            "momentum_error": change,
        }


def weight(parameters: Any) -> float:
    """Weight of one of the spheres [N]."""
    return 4.0 / 3.0 * math.pi * parameters["radius"] ** 3 * parameters["density"] * GRAVITY
