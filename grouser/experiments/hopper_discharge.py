"""Spheres run out of a box through a round hole in its floor: rate, Beverloo's law, and what is left.

Beverloo, Leniger and van de Velde (1961): W = C rho_b sqrt(g) (D - k d)^(5/2).
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference
from grouser.experiments.heaps import Discharge, drain, open_hole, settled_box, slopes
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.spheres import BALANCE_UNITS, GRAVITY, SPHERE, Clock, number_list, restitution

DESCRIPTION = "spheres run out of a box through a hole (Beverloo et al., 1961)"

PARAMETERS = {
    "count": Parameter(6000, "-", "of spheres", minimum=100, maximum=200_000),
    "side": positive(0.16, "m", "of the square floor"),
    "diameter": Parameter([0.06, 0.075, 0.09], "m", "of the holes", convert=number_list(1e-3, 1e2)),
    "rolling_friction": Parameter(0.1, "-", "mu_r", minimum=0.0),
    "friction": Parameter(0.5, "-", "Coulomb's mu", minimum=0.0),
    **SPHERE,
    "restitution": restitution(0.7),
    "seed": Parameter(1, "-", "of the start", minimum=0),
    "until": Parameter(0.0, "-", "share of the mass that is left when a run ends earlier", minimum=0.0, maximum=0.5),
}
REFERENCE: dict[str, str] = {}
_UNITS = {
    "rate": "kg/s", "rate_scatter": "-", "beverloo_coefficient": "-", "beverloo_offset": "-", "bulk_density": "kg/m3",
    "left_mass": "kg", "crater_angle": "rad", "crater_scatter": "rad", "time": "s", "left": "kg", **BALANCE_UNITS,
}  # fmt: skip
# Shares of the mass left between which the rate is measured, in so many parts.
_FIRST, _LAST, _PARTS = 0.9, 0.5, 2


def run(**parameters: Any) -> Result:
    """Fills the box, and empties it through each hole.

    Returns:
        For each hole: `rate`, mass flow between 90 and 50 % left; `rate_scatter`, largest deviation of its halves
        from it, by it; `left_mass`; `crater_angle` and `crater_scatter`, mean and standard deviation of the
        slope towards the walls in eight sectors, absent where too little is left or the run ended earlier.
        `beverloo_coefficient` C and `beverloo_offset` k by all rates, absent for one hole. Curves of the last hole.
    """
    clock, settled = Clock(), settled_box(parameters)
    top = float(np.quantile(settled.position[:, 2], 0.99))
    density = float(settled.mass.sum()) / (parameters["side"] ** 2 * top)
    found: dict[str, list] = {"rate": [], "rate_scatter": [], "left_mass": [], "crater_angle": [], "crater_scatter": []}
    for diameter in parameters["diameter"]:
        bed = open_hole(parameters, settled, diameter)
        discharge = drain(bed, parameters["until"])
        rate, scatter = _rate(discharge)
        crater = slopes(bed, 0.5 * parameters["side"], 0.5 * diameter, 0.5 * parameters["side"])
        whole = parameters["until"] == 0.0 and len(crater) > 0
        values = rate, scatter, discharge.left[-1], *((crater.mean(), crater.std()) if whole else (None, None))
        for values_of, value in zip(found.values(), values, strict=True):
            values_of.append(None if value is None else float(value))
    coefficient, offset = _beverloo(parameters, found["rate"], density)
    return Result(
        {
            **{name: values if None not in values else None for name, values in found.items()},
            "beverloo_coefficient": coefficient,
            "beverloo_offset": offset,
            "bulk_density": density,
            "time": discharge.time,
            "left": discharge.left,
            **clock.results(bed),
        },
        _UNITS,
    )


def _rate(discharge: Discharge) -> tuple[float, float]:
    """Mass flow while 90 to 50 % are left [kg/s], and how far its halves are from it, by it."""
    share = discharge.left / discharge.left[0]
    steady = (share <= _FIRST) & (share >= _LAST)
    time, left = discharge.time[steady], discharge.left[steady]
    parts = [-float(np.polyfit(t, m, 1)[0]) for t, m in zip(np.array_split(time, _PARTS), np.array_split(left, _PARTS),
                                                           strict=True)]  # fmt: skip
    rate = -float(np.polyfit(time, left, 1)[0])
    return rate, max(abs(part - rate) for part in parts) / rate


def _beverloo(parameters: Mapping[str, Any], rate: list, density: float) -> tuple[float | None, float | None]:
    """C and k: W^(2/5) is linear in D."""
    holes = np.array(parameters["diameter"])
    if len(np.unique(holes)) < 2:
        return None, None
    slope, start = np.polyfit(holes, np.array(rate) ** 0.4, 1)
    return float(slope**2.5 / (density * math.sqrt(GRAVITY))), float(-start / slope / (2.0 * parameters["radius"]))


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the mass left over time, and the rates over the diameter with Beverloo's law.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: none is drawn.
    """
    emptying, rates = figure.subplots(2, 1)
    emptying.plot(result["time"], result["left"], label=f"hole of {1e3 * parameters['diameter'][-1]:g} mm")
    emptying.set_xlabel("time [s]")
    emptying.set_ylabel("mass left [kg]")
    holes = np.array(parameters["diameter"])
    rates.plot(1e3 * holes, result["rate"], "o", label="spheres")
    if result["beverloo_coefficient"] is not None:
        curve = np.linspace(0.8 * holes.min(), 1.1 * holes.max(), 100)
        open_width = np.maximum(curve - result["beverloo_offset"] * 2.0 * parameters["radius"], 0.0)
        flow = result["beverloo_coefficient"] * result["bulk_density"] * math.sqrt(GRAVITY) * open_width**2.5
        text = f"Beverloo: C = {result['beverloo_coefficient']:.3f}, k = {result['beverloo_offset']:.2f}"
        rates.plot(1e3 * curve, flow, ":", color="grey", label=text)
    rates.set_xlabel("diameter of the hole [mm]")
    rates.set_ylabel("rate [kg/s]")
    for panel in (emptying, rates):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(f"{parameters['count']} spheres run out of a box")
