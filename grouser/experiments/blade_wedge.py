"""The force on a blade in plane ground, by the fundamental equation of earthmoving.

After Reece (1964), McKyes and Ali (1977), Perumpral et al. (1983) and McKyes (1985).
"""

import math
from collections.abc import Mapping
from typing import Any

from grouser.experiments.digging_parameters import SOIL, cut_soil_of, numbers, rows_of, varied
from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result
from grouser.physics.base.errors import ParameterError
from grouser.physics.digging.crescents import crescent_ratio, side_shear
from grouser.physics.digging.dead_wedge import dead_wedge
from grouser.physics.digging.failure_angle import failure_angle
from grouser.physics.digging.wedge import Cut, CutSoil, blade_force, draught_and_pull, wedge_factors

DESCRIPTION = "a blade cuts plane ground, by the fundamental equation of earthmoving (Reece, 1964; McKyes, 1985)"

_NUMBERS = {
    "depth": numbers(0.15, "m", "of the edge", 1e-4, 10.0),
    "rake_deg": numbers(45.0, "deg", "alpha, 90 for an upright blade", 1.0, 170.0),
    "slope_deg": numbers(0.0, "deg", "of the ground, which rises ahead", -60.0, 60.0),
    "width": numbers(0.6, "m", "of the blade", 1e-3, 100.0),
    "surcharge": numbers(0.0, "Pa", "q, on the ground", 0.0, 1e6),
    "speed": numbers(0.0, "m/s", "v, of the blade", 0.0, 100.0),
    **SOIL,
}
PARAMETERS = {
    **_NUMBERS,
    "angle": Parameter(
        "total",
        "-",
        "what the plane of failure makes least: the force or its weight factor",
        choices=("total", "weight"),
    ),
    "steep": Parameter(
        "plane", "-", "plane wedge, or the least draught of it and a dead wedge", choices=("plane", "least")
    ),
    "width_effect": Parameter(
        "none", "-", "what breaks out at the sides", choices=("none", "crescents", "side_plates")
    ),
    "side_length": numbers(0.3, "m", "of the side plates in the soil", 0.0, 10.0),
}
_UNITS = {
    **{name: parameter.unit for name, parameter in _NUMBERS.items()},
    "force": "N",
    "draught": "N",
    "vertical": "N",
    "failure_angle": "rad",
    "n_gamma": "-",
    "n_c": "-",
    "n_q": "-",
    "n_ca": "-",
    "n_a": "-",
    "crescent_ratio": "-",
    "dead_wedge": "-",
}
REFERENCE = {
    "depth_m": "depth",
    "rake_deg": "rake_deg",
    "slope_deg": "slope_deg",
    "draught_N": "draught",
    "vertical_N": "vertical",
}


def run(**parameters: Any) -> Result:
    """Cuts.

    Returns:
        For each item of the lists: the numbers themselves; force on the blade, at the angle of tool friction to its
        normal; draught, the horizontal force against the motion with adhesion and side plates; vertical force on the
        blade, positive where the soil draws it in; angle of the plane of failure; N_gamma, N_c, N_q, N_ca and N_a at
        that angle; width of a crescent over that of the blade; whether the dead wedge has the least draught, whose
        force is the whole one on the blade, and whose factors are those of the plane wedge at the plane wedge's angle.

    Raises:
        ParameterError: lists of several lengths, a plate that does not reach the ground, a wedge that jams at each
            angle, or crescents on a slope.
    """
    rows = [
        _cut(row, parameters["angle"] == "weight", parameters["steep"] == "least", parameters["width_effect"])
        for row in rows_of(parameters, [*_NUMBERS, "side_length"])
    ]
    return Result({name: [row[name] for row in rows] for name in _UNITS}, _UNITS)


def _cut(row: Mapping[str, float], by_weight: bool, least: bool, width_effect: str) -> dict[str, Any]:
    soil, cut = _read(row)
    crescents = width_effect == "crescents"
    if crescents and cut.slope != 0.0:
        raise ParameterError("slope_deg", row["slope_deg"], "0: crescents are known for level ground")
    failure = failure_angle(soil, cut, crescents, by_weight)
    if math.isnan(failure):
        angles = math.degrees(cut.rake + soil.friction + soil.tool_friction + max(0.0, cut.slope))
        valid = f"rake, friction, tool friction and slope of at most 179 deg together, not {angles:g}: the wedge jams"
        raise ParameterError("rake_deg", row["rake_deg"], valid)
    factors = wedge_factors(cut.rake, failure, soil.friction, soil.tool_friction, cut.slope)
    ratio = crescent_ratio(cut.depth, cut.width, cut.rake, failure) if crescents else 0.0
    force = blade_force(soil, cut, factors, ratio)
    draught, vertical = draught_and_pull(soil, cut, force)
    dead = dead_wedge(soil, cut, by_weight)
    sticks = least and dead.draught < draught
    if sticks:
        draught, vertical, failure = dead
        force, ratio = math.hypot(draught, vertical), 0.0
    if width_effect == "side_plates":
        draught += side_shear(soil, cut.depth, row["side_length"], cut.gravity)
    return {
        **row, "force": force, "draught": draught, "vertical": vertical, "failure_angle": failure,
        "n_gamma": factors.weight, "n_c": factors.cohesion, "n_q": factors.surcharge, "n_ca": factors.adhesion,
        "n_a": factors.inertia, "crescent_ratio": ratio, "dead_wedge": sticks,
    }  # fmt: skip


def _read(row: Mapping[str, float]) -> tuple[CutSoil, Cut]:
    rake, slope = math.radians(row["rake_deg"]), math.radians(row["slope_deg"])
    if not 0.0 < rake + slope < math.pi:
        valid = f"between {-row['rake_deg']:g} and {180.0 - row['rake_deg']:g}, so that the plate reaches the ground"
        raise ParameterError("slope_deg", row["slope_deg"], valid)
    return cut_soil_of(row), Cut(
        row["depth"], row["width"], rake, slope, row["surcharge"], row["speed"], row["gravity"]
    )


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws draught and vertical force, and the angle of failure, over the parameter that varies.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns depth_m, rake_deg or slope_deg, draught_N and vertical_N, where present.
    """
    across = varied(parameters, list(_NUMBERS))
    column = next((name for name, address in REFERENCE.items() if address == across), across)
    forces, angle = figure.subplots(2, 1, sharex=True)
    for name in ("draught", "vertical"):
        forces.plot(result[across], result[name], "o-", label=name)
        draw_reference(forces, reference, column, f"{name}_N")
    forces.set_ylabel("force [N]")
    angle.plot(result[across], [math.degrees(failure) for failure in result["failure_angle"]], "o-", label="failure")
    angle.set_ylabel("angle of failure [deg]")
    angle.set_xlabel(f"{across} [{_UNITS[across]}]")
    for panel in (forces, angle):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle("blade in plane ground")
