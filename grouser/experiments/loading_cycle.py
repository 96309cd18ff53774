"""The excavator loads the bed of a truck: mass of each pass, what falls beside, and how many passes fill the bed."""

import math
from collections.abc import Mapping
from typing import Any

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.excavator_rig import DIG, ExcavatorRig
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.soil_bins import RUN_UNITS, run_figures

DESCRIPTION = "the excavator loads the bed of a truck"
PARAMETERS = {
    "bed_length": positive(1.2, "m", "of the bed, along the excavator"),
    "bed_width": positive(1.4, "m", "of the bed"),
    "bed_depth": positive(0.15, "m", "of the bed"),
    "rim_height": Parameter(0.6, "m", "of the bed's rim above the ground", minimum=0.0, maximum=0.9),
    "passes": Parameter(5, "-", "number of buckets", minimum=1, maximum=50),
    **DIG,
}
REFERENCE = {"pass": "pass", "bed_kg": "bed_mass"}
_UNITS = {
    "pass": "-", "pass_mass": "kg", "bed_mass": "kg", "cycle_time": "s", "beside": "kg", "bed_capacity": "kg",
    "passes_to_fill": "-", **RUN_UNITS,
}  # fmt: skip
_FULL = 0.99  # of the capacity


def run(**parameters: Any) -> Result:
    """Loads.

    Returns:
        After each pass, an array each: solid mass that the bucket brought; mass in the bed; time since the pass before.
        Mass that was brought and is not in the bed; mass that the bed holds, struck and heaped at repose; passes until
        it is full, None if it is not.

    Raises:
        ParameterError: a soil that is out of range, or a cycle of the program that is no whole number of steps.
    """
    size = parameters["bed_length"], parameters["bed_width"], parameters["bed_depth"], parameters["rim_height"]
    rig = ExcavatorRig(parameters, size)
    columns: dict[str, list[float]] = {name: [] for name in ("pass", "pass_mass", "bed_mass", "cycle_time")}
    before = 0.0
    for number in range(parameters["passes"]):
        course = rig.dig(1)
        values = number + 1, float(course["bucket"].max()), rig.truck_load.mass, rig.simulation.time - before
        before = rig.simulation.time
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    balance = rig.simulation.soil_balance()
    assert balance is not None
    capacity = rig.truck_capacity * parameters["density"] / parameters["swell"]
    filled = zip(columns["pass"], columns["bed_mass"], strict=True)
    full = [number for number, mass in filled if mass > _FULL * capacity]
    return Result(
        {
            **columns, "beside": math.fsum(columns["pass_mass"]) - columns["bed_mass"][-1], "bed_capacity": capacity,
            "passes_to_fill": full[0] if full else None, "mass_error": abs(balance.relative_residual),
            **run_figures(rig.seconds, rig.simulation.step_count, parameters["step"]),
        },
        _UNITS,
    )  # fmt: skip


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the mass in the bed over the passes.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns pass and bed_kg, where present.
    """
    panel = figure.subplots()
    panel.bar(result["pass"], result["pass_mass"], color="tan", label="brought by the pass")
    panel.plot(result["pass"], result["bed_mass"], "o-", label="in the bed")
    panel.axhline(result["bed_capacity"], color="grey", linestyle=":", label="the bed is full")
    draw_reference(panel, reference, "pass", "bed_kg")
    panel.set_xlabel("pass")
    panel.set_ylabel("solid mass [kg]")
    panel.locator_params(axis="x", integer=True)
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle(f"bed of {parameters['bed_length']:g} m by {parameters['bed_width']:g} m")
