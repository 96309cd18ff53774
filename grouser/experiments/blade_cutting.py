"""A blade on a carriage cuts level soil: the force as the soil first fails, and as a pile grows ahead.

The law is that of `blade_wedge`; here it acts in the steps of a machine, over cells that the blade cuts.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.blade_rig import Blade, BladeRig
from grouser.experiments.digging_parameters import SOIL, numbers, rows_of
from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result
from grouser.experiments.soil_bins import RUN_UNITS, run_figures

DESCRIPTION = "a blade on a carriage cuts level soil, and a pile grows ahead of it"

_NUMBERS = {
    "depth": numbers(0.15, "m", "of the edge", 0.005, 2.0),
    "rake_deg": numbers(45.0, "deg", "alpha, 90 for an upright blade", 10.0, 120.0),
    "width": numbers(0.6, "m", "of the blade", 0.02, 10.0),
    **SOIL,
}
PARAMETERS = {
    **_NUMBERS,
    "speed": Parameter(0.1, "m/s", "of the blade", minimum=0.01, maximum=5.0),
    "travel": Parameter(1.0, "m", "of the blade", minimum=0.05, maximum=20.0),
    "swell": Parameter(1.25, "-", "volume of loosened soil over that of undisturbed soil", minimum=1.0, maximum=3.0),
    "repose_angle_deg": Parameter(32.0, "deg", "of loose soil", minimum=1.0, maximum=60.0),
    "cell_size": Parameter(0.025, "m", "spacing of the cells", minimum=0.005, maximum=0.1),
    "step": Parameter(1e-3, "s", "of time", minimum=1e-4, maximum=0.01),
}
REFERENCE = {"depth_m": "depth", "rake_deg": "rake_deg", "draught_N": "steady_draught", "piled_N": "draught_with_pile"}
_UNITS = {
    **{name: parameter.unit for name, parameter in _NUMBERS.items()},
    "travel": "m", "draught": "N", "vertical": "N", "pile_volume": "m3", "steady_draught": "N",
    "draught_with_pile": "N", **RUN_UNITS,
}  # fmt: skip
# Plates are as long as the depth times this: no soil passes over them. Measurements of a run. Between these travels, by
# the depth, soil fails first: the force has grown to its whole, and the pile is small. The draught with the pile is the
# mean over the last part of the travel.
_PLATE, _SAMPLES, _FIRST, _LAST = 6.0, 400, (0.075, 0.1), 0.2


def run(**parameters: Any) -> Result:
    """Cuts, in fresh soil for each item of the lists.

    Returns:
        For each item: the numbers themselves; over the travel, an array each: travel, draught (against the motion),
        downward force; volume of loose soil ahead at the end; mean draught of the first failure, at a travel of
        0.075 to 0.1 depths; mean draught over the last fifth of the travel.

    Raises:
        ParameterError: lists of several lengths, or a soil that is out of range.
    """
    columns: dict[str, list] = {name: [] for name in [*_NUMBERS, "travel", "draught", "vertical", "pile_volume"]}
    columns |= {"steady_draught": [], "draught_with_pile": []}
    errors, seconds, steps = [], 0.0, 0
    for row in rows_of(parameters, list(_NUMBERS)):
        depth, rake = row["depth"], math.radians(row["rake_deg"])
        blade = Blade(
            row["width"], _PLATE * depth / math.sin(rake), rake, math.radians(row["tool_friction_deg"]), row["adhesion"]
        )
        rig = BladeRig({**parameters, **row}, blade, depth)
        first = rig.drive(min(0.2 * depth, 0.5 * parameters["travel"]), parameters["speed"], _SAMPLES // 4)
        after = rig.drive(parameters["travel"] - float(first["travel"][-1]), parameters["speed"], _SAMPLES)
        after["travel"] += first["travel"][-1]
        course = {name: np.concatenate([first[name], after[name]]) for name in first}
        failing = (course["travel"] >= _FIRST[0] * depth) & (course["travel"] <= _FIRST[1] * depth)
        piled = course["travel"] >= (1.0 - _LAST) * course["travel"][-1]
        cut = row["density"] * row["width"] * depth * course["travel"][-1]
        found = {
            **row, **course, "pile_volume": rig.pile(), "steady_draught": float(course["draught"][failing].mean()),
            "draught_with_pile": float(course["draught"][piled].mean()),
        }  # fmt: skip
        for name, column in columns.items():
            column.append(found[name])
        errors.append(abs(rig.mass) / cut)
        seconds, steps = seconds + rig.seconds, steps + rig.simulation.step_count
    return Result(
        {
            **columns, "mass_error": max(errors), **run_figures(seconds, steps, parameters["step"]),
        },
        _UNITS,
    )  # fmt: skip


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the draught over the travel, and at the first failure over what was varied.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns depth_m or rake_deg, draught_N and piled_N, where present.
    """
    over, column, label, unit = ("rake_deg", "rake_deg", "rake [deg]", "degrees")
    if len(set(result["rake_deg"])) == 1:
        over, column, label, unit = ("depth", "depth_m", "depth of the edge [m]", "m")
    upper, lower = figure.subplots(2, 1)
    for travel, draught, value in zip(result["travel"], result["draught"], result[over], strict=True):
        upper.plot(travel, draught, label=f"{label.split()[0]} {value:g} {unit}")
    upper.set_xlabel("travel [m]")
    upper.set_ylabel("draught [N]")
    lower.plot(result[over], result["steady_draught"], "o-", label="first failure")
    lower.plot(result[over], result["draught_with_pile"], "s-", label="with the pile")
    draw_reference(lower, reference, column, "draught_N")
    lower.set_xlabel(label)
    lower.set_ylabel("draught [N]")
    for panel in (upper, lower):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(f"blade of {result['width'][0]:g} m, cells of {1e3 * parameters['cell_size']:g} mm")
