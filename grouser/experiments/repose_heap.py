"""Heaps of spheres: the slope at which they come to rest, over friction and rolling friction."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference
from grouser.experiments.heaps import bulk_volume, drain, open_hole, rest, settled_box, slopes, surface_of
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.spheres import BALANCE_UNITS, SPHERE, WALL, Clock, number_list, restitution, sphere_material
from grouser.physics.description.data.granular import Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Cylinder, Plane
from grouser.physics.granular.filling import lattice
from grouser.physics.granular.grain_rows import Grains

DESCRIPTION = "slopes of heaps of spheres, drained or poured from a lifted tube"

PARAMETERS = {
    "count": Parameter(3000, "-", "of spheres", minimum=100, maximum=200_000),
    "friction": Parameter([0.3, 0.5], "-", "Coulomb's mu", convert=number_list(0.0, 10.0)),
    "rolling_friction": Parameter([0.0, 0.05, 0.1], "-", "mu_r", convert=number_list(0.0, 10.0)),
    "method": Parameter("drain", "-", "through a hole in a box, or a tube is lifted", choices=("drain", "lift")),
    **SPHERE,
    "restitution": restitution(0.7),
    "side": positive(0.16, "m", "of the box that is drained"),
    "tube": positive(0.08, "m", "diameter of the tube that is lifted"),
    "lifting_speed": positive(0.1, "m/s", "of the tube"),
    "seed": Parameter(1, "-", "of the start", minimum=0),
}
REFERENCE: dict[str, str] = {}
_UNITS = {
    "angle": "rad", "scatter": "rad", "height": "m", "volume": "m3", "sweep_friction": "-",
    "sweep_rolling_friction": "-", **BALANCE_UNITS,
}  # fmt: skip
# Not the material of the tube, which is smooth.
_FLOOR = replace(WALL, name="floor")
# Diameter of the hole by that of the spheres: narrower ones jam [-].
_HOLE = 6.5
# Part of the radius of a heap beyond which its slope is taken; height of grains that lie on others, by the diameter.
_INNER, _SECOND_LAYER = 0.2, 1.0


def run(**parameters: Any) -> Result:
    """Makes a heap for each friction and each rolling friction.

    Returns:
        Lists over friction, and within it rolling friction: `angle` and `scatter`, mean and standard deviation of the
        slope in eight sectors, 0 where no heap is left; `height` and `volume` of the heap.
    """
    clock, bed = Clock(), None
    rows: dict[str, list[float]] = {
        name: [] for name in ("sweep_friction", "sweep_rolling_friction", "angle", "scatter", "height", "volume")
    }
    for friction in parameters["friction"]:
        for rolling in parameters["rolling_friction"]:
            chosen = {**parameters, "friction": friction, "rolling_friction": rolling}
            bed, found = _drained(chosen) if parameters["method"] == "drain" else _lifted(chosen)
            angle, scatter = (float(found.mean()), float(found.std())) if len(found) else (0.0, 0.0)
            height = float((bed.position[:, 2] + bed.radius).max()) if bed.count else 0.0
            values = friction, rolling, angle, scatter, height, bulk_volume(bed)
            for row, value in zip(rows.values(), values, strict=True):
                row.append(value)
    assert bed is not None
    return Result({**rows, **clock.results(bed)}, _UNITS)


def _drained(parameters: Mapping[str, Any]) -> tuple[GranularBed, np.ndarray]:
    """What a hole in the middle of the floor leaves in the corners and at the walls of a box."""
    side, hole = parameters["side"], _HOLE * 2.0 * parameters["radius"]
    bed = open_hole(parameters, settled_box(parameters), hole)
    drain(bed)
    return bed, slopes(bed, 0.5 * side, 0.5 * hole, 0.5 * side)


def _lifted(parameters: Mapping[str, Any]) -> tuple[GranularBed, np.ndarray]:
    """What runs out of a smooth tube that is lifted from a level, rough floor."""
    radius, wide = parameters["radius"], 0.5 * parameters["tube"]
    inner = wide * math.sqrt(2.0)
    place = lattice(parameters["count"], inner, inner, radius, seed=parameters["seed"]) - [inner / 2, inner / 2, 0.0]
    tall = float(place[:, 2].max()) + 4.0 * radius
    tube = Cylinder((0.0, 0.0, 0.5 * tall), (0.0, 0.0, 1.0), wide, "wall", tall)
    smooth = Surface(parameters["restitution"], 0.0)
    # grains neither slide nor roll away on it, as on one of glued grains: else a heap spreads to the slope mu_r
    rough = Surface(parameters["restitution"], 1.0, rolling_friction=1.0)
    bed = GranularBed(
        Grains(place, radius, "sphere"),
        [sphere_material(parameters), WALL, _FLOOR],
        {("sphere", "wall"): smooth, ("sphere", "floor"): rough},
        boundaries=[
            Boundary("floor", [Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), "floor")]),
            Boundary("tube", [tube]),
        ],
        default_surface=surface_of(parameters),
    )
    rest(bed)
    bed.set_velocity("tube", (0.0, 0.0, parameters["lifting_speed"]))
    bed.step(round(tall / parameters["lifting_speed"] / bed.step_size))
    rest(bed)
    # the heap reaches as far as grains lie on others
    upper = bed.position[:, 2] > _SECOND_LAYER * 2.0 * radius
    if not upper.any():
        return bed, np.zeros(0)
    base = float(np.quantile(np.hypot(*bed.position[upper, :2].T), 0.98))
    return bed, -slopes(bed, 0.0, _INNER * base, base)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the angle over rolling friction for each friction.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: none is drawn.
    """
    panel = figure.subplots()
    friction, rolling = np.array(result["sweep_friction"]), np.array(result["sweep_rolling_friction"])
    angle, scatter = np.degrees(result["angle"]), np.degrees(result["scatter"])
    for value in parameters["friction"]:
        own = friction == value
        panel.errorbar(rolling[own], angle[own], scatter[own], fmt="o-", capsize=3, label=f"friction {value:g}")
    panel.set_xlabel("rolling friction [-]")
    panel.set_ylabel("slope of the heap [deg]")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle(f"heaps of {parameters['count']} spheres, method {parameters['method']}")
