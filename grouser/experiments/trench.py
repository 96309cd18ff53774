"""A trench is dug deeper layer by layer until its walls fall: by cohesion, the height at which they stand."""

import time
from collections.abc import Mapping
from typing import Any

from grouser.experiments.digging_parameters import numbers_within
from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.soil_bins import RUN_UNITS, SOIL, make_ground, run_figures
from grouser.physics.soil.bed import SoilBed

DESCRIPTION = "walls of a trench stand and fall"
PARAMETERS = {
    **SOIL,
    "cohesion": Parameter([500.0, 1000.0, 2000.0, 4000.0], "Pa", "c of each trench", convert=numbers_within(0.0, 2e4)),
    "width": positive(0.6, "m", "of the trench"),
    "length": positive(1.2, "m", "of the trench"),
    "layer": Parameter(0.01, "m", "that is dug at a time", minimum=1e-3, maximum=0.5),
    "deepest": Parameter(5.0, "m", "where digging ends", minimum=0.1, maximum=20.0),
    "step": Parameter(1e-3, "s", "of time", minimum=1e-4, maximum=0.01),
}
REFERENCE = {"cohesion_Pa": "cohesion", "height_m": "standing_height"}
_UNITS = {
    "cohesion": "Pa", "standing_height": "m", "collapses": "-", "collapse_time": "s", "collapsed_volume": "m3",
    "depth_after": "m", **RUN_UNITS,
}  # fmt: skip
# Steps after each layer in which walls begin to fall, and steps after which a slide is given up.
_WATCH, _LONGEST = 3, 200_000


def run(**parameters: Any) -> Result:
    """Digs a trench for each cohesion.

    Returns:
        For each cohesion: greatest depth at which the walls stand; whether they fell when they were dug deeper; time
        from then until the soil rests; loose volume that fell; and depth in the middle of the trench afterwards.
    """
    begun, steps, error = time.process_time(), 0, 0.0
    rows: dict[str, list] = {
        name: [] for name in ("standing_height", "collapses", "collapse_time", "collapsed_volume", "depth_after")
    }
    for cohesion in parameters["cohesion"]:
        bed = SoilBed(make_ground({**parameters, "cohesion": cohesion}), parameters["gravity"])
        height, removed, falls = _dig(bed, parameters)
        slides = bed.relax(_LONGEST)
        middle = 0.5 * parameters["length"]
        fallen = bed.spacing**2 * float(bed.loose(*_around(parameters)).sum())
        left = -float(bed.heights((0.0, 0.0), (middle, middle + bed.spacing)).max())
        for row, value in zip(rows.values(), (height, falls, slides * parameters["step"], fallen, left), strict=True):
            row.append(value)
        error, steps = max(error, abs(bed.mass + removed) / removed), steps + slides
    seconds = time.process_time() - begun
    return Result(
        {
            "cohesion": parameters["cohesion"], **rows, "mass_error": error,
            **run_figures(seconds, steps, parameters["step"]),
        },
        _UNITS,
    )  # fmt: skip


def _dig(bed: SoilBed, parameters: Mapping[str, Any]) -> tuple[float, float, bool]:
    """Digs layers until a wall falls; returns the depth before [m], the mass removed [kg], and whether one fell."""
    depth, removed, half = 0.0, 0.0, 0.5 * parameters["width"]
    while depth < parameters["deepest"]:
        removed += bed.cut(-depth - parameters["layer"], (-half, half), (0.0, parameters["length"]))
        bed.relax(_WATCH)
        if not bed.at_rest:
            return depth, removed, True
        depth += parameters["layer"]
    return depth, removed, False


def _around(parameters: Mapping[str, Any]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ranges along x and y in which soil may have fallen [m]."""
    margin = 2.0 * parameters["deepest"]
    half = 0.5 * parameters["width"] + margin
    return (-half, half), (-margin, parameters["length"] + margin)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the height at which walls stand over the cohesion.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns cohesion_Pa and height_m, where present.
    """
    panel = figure.subplots()
    panel.plot(result["cohesion"], result["standing_height"], "o-", label="walls stand")
    panel.plot(result["cohesion"], result["depth_after"], "s--", label="depth after the fall")
    draw_reference(panel, reference, "cohesion_Pa", "height_m")
    panel.set_xlabel("cohesion [Pa]")
    panel.set_ylabel("depth of the trench [m]")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle(f"trench {parameters['width']:g} m wide, phi {parameters['friction_angle_deg']:g} degrees")
