"""Spheres stand on each other: overlaps under their weight, in closed form."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.spheres import BALANCE_UNITS, SPHERE, WALL, Clock, restitution, sphere_material, weight
from grouser.physics.description.data.granular import Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Plane
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.materials import reduced_modulus

DESCRIPTION = "a column of spheres under its own weight (Hertz, 1882)"

PARAMETERS = {
    "count": Parameter(10, "-", "of spheres", minimum=1, maximum=1000),
    **SPHERE,
    "restitution": restitution(0.7),
    "duration": positive(10.0, "s", "time simulated"),
}
REFERENCE: dict[str, str] = {}
_UNITS = {"overlap": "m", "top": "m", "floor_force": "N", "residual_speed": "m/s", **BALANCE_UNITS}


def run(**parameters: Any) -> Result:
    """Sets the spheres on each other and waits.

    Returns:
        `overlap` of each contact from the floor upwards; `top`, height of the highest centre; `floor_force`, mean of
        the last tenth; `residual_speed`, the largest at the end. The error of energy is by the work of the weights.
    """
    clock, count, radius = Clock(), parameters["count"], parameters["radius"]
    place = np.zeros((count, 3))
    place[:, 2] = radius * (1.0 + 2.0 * np.arange(count))
    bed = GranularBed(
        Grains(place, radius, "sphere"),
        [sphere_material(parameters), WALL],
        boundaries=[Boundary("floor", [Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), "wall")])],
        default_surface=Surface(parameters["restitution"]),
        accounted=True,
    )
    steps = max(round(parameters["duration"] / bed.step_size), 10)
    bed.step(steps - steps // 10)
    bed.step(steps // 10)
    height = bed.position[:, 2]
    overlap = np.concatenate([[radius - height[0]], 2.0 * radius - np.diff(height)])
    return Result(
        {
            "overlap": overlap.tolist(),
            "top": float(height[-1]),
            "floor_force": float(-bed.reaction("floor")[0][2]),
            "residual_speed": float(np.linalg.norm(bed.velocity, axis=1).max()),
            **clock.results(bed, weight(parameters) * float((place[:, 2] - height).sum())),
        },
        _UNITS,
    )


def _closed_form(parameters: Mapping[str, Any]) -> np.ndarray:
    """Overlaps from the floor upwards [m]: (3 F/(4 E* sqrt(R*)))^(2/3)."""
    count, radius, material = parameters["count"], parameters["radius"], sphere_material(parameters)
    force = weight(parameters) * np.arange(count, 0, -1)
    modulus = np.full(count, reduced_modulus(material, material) * (0.5 * radius) ** 0.5)
    modulus[0] = reduced_modulus(material, WALL) * radius**0.5
    return (0.75 * force / modulus) ** (2.0 / 3.0)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the overlaps over the height.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: none is drawn.
    """
    panel = figure.subplots()
    places = np.arange(parameters["count"])
    panel.plot(1e6 * _closed_form(parameters), places, "-", color="grey", label="closed form")
    panel.plot(1e6 * np.array(result["overlap"]), places, "o", label="column")
    panel.set_xlabel("overlap [µm]")
    panel.set_ylabel("contact from the floor upwards")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle(f"a column of {parameters['count']} spheres of {1e3 * parameters['radius']:g} mm radius")
