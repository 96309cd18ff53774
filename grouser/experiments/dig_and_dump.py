"""The excavator digs a trench and dumps beside itself: where the soil is, what it costs, and how the heap stands."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.excavator_rig import BUCKET, DIG, DUMP, ExcavatorRig
from grouser.experiments.protocol import Parameter, Result
from grouser.experiments.soil_bins import RUN_UNITS, bed_of, run_figures
from grouser.physics.digging.capacity import HOE_HEAP, heaped_capacity
from grouser.physics.soil.bed import SoilBed

DESCRIPTION = "the excavator digs, swings, dumps, and a heap grows"
PARAMETERS = {
    "passes": Parameter(3, "-", "number of buckets", minimum=1, maximum=50),
    "wait": Parameter(5.0, "s", "after the last one", minimum=0.0, maximum=100.0),
    **DIG,
}
REFERENCE = {"pass": "pass", "fill": "fill_factor"}
_UNITS = {
    "time": "s", "mass_field": "kg", "mass_bucket": "kg", "mass_air": "kg", "pass": "-", "heap_height": "m",
    "heap_angle": "rad",
    "steepest_angle": "rad", "median_angle": "rad", "fill_factor": "-", "peak_force": "N", "mean_force": "N",
    "specific_energy": "J/m3", "energy_error": "-", **RUN_UNITS,
}  # fmt: skip
# Half of the side of the square that the heap is in [m]; heights below this share of the greatest are its foot.
_AROUND, _FOOT = 1.4, 0.2


def run(**parameters: Any) -> Result:
    """Digs.

    Returns:
        Over the time, an array each: time, solid mass above level ground, in the bucket and in the air. For each pass,
        the greatest loose volume carried over the bucket's heaped volume. Of the heap after the wait: height, angle of
        a cone of its volume and height, steepest and median gradient of its slopes. Greatest and mean force of the soil
        while it is dug; work of cutting over the undisturbed volume loaded; residual of the balance of energy over the
        work of the soil; residual of the balance of mass over what was moved.

    Raises:
        ParameterError: a soil that is out of range, or a cycle of the program that is no whole number of steps.
    """
    rig = ExcavatorRig(parameters)
    bucket = next(shovel for shovel in rig.simulation.machine.shovels if shovel.name == BUCKET)
    heaped = heaped_capacity(bucket.profile, bucket.opening, bucket.width, HOE_HEAP)
    loose_density = parameters["density"] / parameters["swell"]
    passes = [rig.dig(1) for _ in range(parameters["passes"])]
    course = {name: np.concatenate([one[name] for one in passes]) for name in passes[0]}
    forces = course["force"][course["force"] > 0.0]
    energy = rig.simulation.energy_balance()
    specific = rig.simulation.digging_force(BUCKET).specific_energy
    rig.wait(parameters["wait"])
    balance = rig.simulation.soil_balance()
    assert balance is not None
    lost = sum(amount for name, amount in energy.dissipation.items() if name.startswith("soil cut by"))
    return Result(
        {
            "time": course["time"], "mass_field": course["field"], "mass_bucket": course["carried"],
            "mass_air": course["falling"], "pass": list(range(1, len(passes) + 1)),
            "fill_factor": [float(one["bucket"].max()) / loose_density / heaped for one in passes],
            **_heap(bed_of(rig.simulation)),
            "peak_force": float(forces.max()), "mean_force": float(forces.mean()),
            "specific_energy": specific, "energy_error": abs(energy.residual) / lost,
            "mass_error": abs(balance.relative_residual),
            **run_figures(rig.seconds, rig.simulation.step_count, parameters["step"]),
        },
        _UNITS,
    )  # fmt: skip


def _heap(soil: SoilBed) -> dict[str, float]:
    """Height and angles of the heap where the program dumps."""
    x, y = ((place - _AROUND, place + _AROUND) for place in DUMP)
    heights, spacing = soil.heights(x, y), soil.spacing
    height, volume = float(heights.max()), float(np.maximum(heights, 0.0).sum()) * spacing**2
    slopes = np.hypot(*np.gradient(heights, spacing))
    # between the foot and the top, where the ground is plane
    flank = slopes[(heights > _FOOT * height) & (heights < (1.0 - _FOOT) * height)]
    return {
        "heap_height": height,
        "heap_angle": math.atan(math.sqrt(math.pi * height**3 / (3.0 * volume))),
        "steepest_angle": math.atan(float(flank.max())),
        "median_angle": math.atan(float(np.median(flank))),
    }


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws where the soil is over the time, and how full the bucket was in each pass.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns pass and fill, where present.
    """
    upper, lower = figure.subplots(2, 1)
    for name, label in (("mass_field", "ground"), ("mass_bucket", "bucket"), ("mass_air", "air")):
        upper.plot(result["time"], result[name], label=label)
    upper.set_xlabel("time [s]")
    upper.set_ylabel("solid mass [kg]")
    lower.plot(result["pass"], result["fill_factor"], "o-", label="bucket")
    draw_reference(lower, reference, "pass", "fill")
    lower.set_xlabel("pass")
    lower.set_ylabel("fill factor [-]")
    lower.set_ylim(0.0, 1.1 * max(result["fill_factor"]))
    lower.locator_params(axis="x", integer=True)
    for panel in (upper, lower):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(f"excavator, cells of {1e3 * parameters['cell_size']:g} mm")
