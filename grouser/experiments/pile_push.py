"""A blade pushes a heap of loose soil over level ground, and loses some of it at its sides."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.blade_rig import Blade, BladeRig
from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.soil_bins import RUN_UNITS, SOIL, make_ground, run_figures
from grouser.physics.soil.bed import SoilBed

DESCRIPTION = "a blade pushes a heap of loose soil"
PARAMETERS = {
    "blade_width": positive(2.5, "m", "of the blade"),
    "blade_height": positive(0.5, "m", "of the blade"),
    "rake_deg": Parameter(60.0, "deg", "of the blade", minimum=20.0, maximum=110.0),
    "volume": positive(0.5, "m3", "loose, before the blade at the start"),
    "travel": Parameter(5.0, "m", "of the blade", minimum=0.5, maximum=50.0),
    "speed": Parameter(0.5, "m/s", "of the blade", minimum=0.01, maximum=5.0),
    "tool_friction_deg": Parameter(21.0, "deg", "delta, between blade and soil", minimum=0.0, maximum=50.0),
    **SOIL,
    "friction_angle_deg": Parameter(32.0, "deg", "phi", minimum=0.0, maximum=60.0),
    "density": positive(1500.0, "kg/m3", "of the loose soil"),
    "step": Parameter(1e-3, "s", "of time", minimum=1e-4, maximum=0.01),
}
REFERENCE = {"travel_m": "travel", "ratio": "draught_over_weight"}
_UNITS = {
    "travel": "m", "draught": "N", "carried_volume": "m3", "draught_over_weight": "-", "prism_volume": "m3",
    "side_loss": "m2", "berm_height": "m", **RUN_UNITS,
}  # fmt: skip
# Measurements; the ratio is the mean of those over the last part of the travel.
_SAMPLES, _PARTS, _LAST = 50, 20, 0.5
# Steps in which the heap comes to rest.
_SETTLES = 20_000


def run(**parameters: Any) -> Result:
    """Pushes.

    Returns:
        Over the travel, an array each: travel; draught; loose volume that moves with the blade, that on its slope
        included. Mean of the draught over the weight of that volume in the second half of the travel; volume of a full
        prism before the blade; loose volume left beside a metre of the way; greatest height of the berms.

    Raises:
        ParameterError: a soil that is out of range.
    """
    width, rake, repose = (
        parameters["blade_width"], math.radians(parameters["rake_deg"]), math.radians(parameters["repose_angle_deg"])
    )  # fmt: skip
    soil = {**parameters, "density": parameters["density"] * parameters["swell"]}
    bed, radius = _heap(soil, parameters["volume"], repose)
    length = parameters["blade_height"] / math.sin(rake)
    rig = BladeRig(soil, Blade(width, length, rake, math.radians(parameters["tool_friction_deg"]), 0.0), 0.0, bed)
    columns: dict[str, list[float]] = {name: [] for name in ("travel", "draught", "carried_volume", "ratio")}
    for _ in range(_SAMPLES):
        course = rig.drive(parameters["travel"] / _SAMPLES, parameters["speed"], _PARTS)
        carried = rig.pile() + width * _on_slope(rig, width, rake)
        weight = parameters["density"] * parameters["gravity"] * carried
        draught = float(course["draught"].mean())
        values = rig.position, draught, carried, draught / weight if weight > 0.0 else math.nan
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    after = [ratio for k, ratio in enumerate(columns.pop("ratio")) if k >= _LAST * _SAMPLES]
    loss, height = _berms(rig, width, 2.0 * radius)
    return Result(
        {
            **columns, "draught_over_weight": float(np.mean(after)),
            "prism_volume": 0.5 * width * parameters["blade_height"] ** 2 * (1 / math.tan(repose) + 1 / math.tan(rake)),
            "side_loss": loss, "berm_height": height,
            "mass_error": abs(rig.mass - bed.mass) / bed.mass,
            **run_figures(rig.seconds, rig.simulation.step_count, parameters["step"]),
        },
        _UNITS,
    )  # fmt: skip


def _heap(soil: Mapping[str, Any], volume: float, repose: float) -> tuple[SoilBed, float]:
    """A heap at rest whose foot is at x = 0, and its radius [m]."""
    radius = (3.0 * volume / (math.pi * math.tan(repose))) ** (1.0 / 3.0)
    bed = SoilBed(make_ground(soil), soil["gravity"])
    centre, core = 1.1 * radius, 0.3 * radius
    bed.pour(volume * soil["density"] / soil["swell"], (centre - core, centre + core), (-core, core))
    bed.relax(_SETTLES)
    return bed, radius


def _on_slope(rig: BladeRig, width: float, rake: float) -> float:
    """Area between the plate, the vertical above its edge, and the top of the soil there, mean over the width [m2]."""
    bed, x = rig.bed, rig.position + rig.cell
    heights = bed.heights((x, x + rig.cell), (-0.5 * width, 0.5 * width))[0]
    return float(np.mean(0.5 * np.maximum(heights, 0.0) ** 2)) / math.tan(rake)


def _berms(rig: BladeRig, width: float, begin: float) -> tuple[float, float]:
    """Loose volume beside a metre of the way behind the blade, both sides, and its greatest height [m2, m]."""
    bed, side = rig.bed, 0.5 * width
    way = (begin, rig.position - 2.0 * rig.cell)
    if way[1] - way[0] < rig.cell:
        return 0.0, 0.0
    berms = [bed.loose(way, (low, low + width)) for low in (side, -side - width)]
    volume = sum(float(berm.sum()) for berm in berms) * rig.cell**2
    return volume / (way[1] - way[0]), max(float(berm.max()) for berm in berms)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws what is carried, and the draught over its weight, over the travel.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns travel_m and ratio, where present.
    """
    upper, lower = figure.subplots(2, 1, sharex=True)
    carried = np.array(result["carried_volume"])
    upper.plot(result["travel"], carried, label="moves with the blade")
    upper.axhline(result["prism_volume"], color="grey", linestyle=":", label="full prism")
    upper.set_ylabel("loose volume [m³]")
    weight = parameters["density"] * parameters["gravity"] * carried
    with np.errstate(divide="ignore", invalid="ignore"):
        lower.plot(result["travel"], np.array(result["draught"]) / weight, label="draught over weight")
    draw_reference(lower, reference, "travel_m", "ratio")
    lower.set_ylabel("draught/weight [-]")
    for panel in (upper, lower):
        panel.set_xlabel("travel [m]")
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(f"blade of {parameters['blade_width']:g} m, rake {parameters['rake_deg']:g} degrees")
