"""A track pulls on soft soil: a row of rigid shoes under a weight, at several slips.

After Bekker (1956, 1969), Janosi and Hanamoto (1961), and Wong, Theory of Ground Vehicles: pressure and sinkage of each
shoe with unloading and reloading, shear displacement of each shoe since it came down.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.soil_parameters import TRACK_SOIL, read_track_soil, slips
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.soil import Soil
from grouser.studies.tracks.shoe_row import ShoeRow, closed_form, steady_pull

DESCRIPTION = "a row of track shoes pulls on soft soil (Bekker, 1956; Wong)"

_MOST_SLIP = 0.95

PARAMETERS = {
    "weight": positive(10e3, "N", "on the track"),
    "contact_length": positive(1.5, "m", "of the track on the ground"),
    "width": positive(0.25, "m", "of the track"),
    "shoes_in_contact": Parameter(12, "-", "at a time", minimum=1, maximum=100),
    **TRACK_SOIL,
    "slip": slips(
        [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9], 0.0, _MOST_SLIP, f"slip ratios from 0 to {_MOST_SLIP:g}"
    ),
    "pressure": Parameter(
        "uniform", "-", "under the row: the same everywhere, or with peaks", choices=("uniform", "road_wheels")
    ),
    "road_wheel_count": Parameter(5, "-", "peaks of the pressure, with pressure = road_wheels", minimum=1, maximum=50),
    "pressure_amplitude": Parameter(
        0.8, "-", "of the peaks, as a share of the mean, with pressure = road_wheels", minimum=0.0, maximum=1.0
    ),
}

_UNITS = {"slip": "-", "thrust": "N", "resistance": "N", "drawbar_pull": "N", "sinkage": "m"}
REFERENCE = {
    "slip": "slip",
    "thrust_N": "thrust",
    "R_N": "resistance",
    "DP_N": "drawbar_pull",
    "sinkage_m": "sinkage",
}


def run(**parameters: Any) -> Result:
    """Drives the row at each slip until its motion repeats itself from shoe to shoe.

    Returns:
        One value a slip, means over a pitch: `thrust` of the shear; `resistance`, the work of compacting ground by the
        way of the hull; `drawbar_pull`, thrust less resistance; `sinkage`, mean of the shoes in contact.

    Raises:
        ParameterError: soil that carries nothing, a row that sinks deeper than it is long, or fewer than two shoes to a
            road wheel.
    """
    row, soil = _row(parameters), _soil(parameters)
    results: dict[str, list[float]] = {name: [] for name in _UNITS}
    for slip in parameters["slip"]:
        pull = steady_pull(row, soil, slip)
        for name, values in results.items():
            values.append(slip if name == "slip" else getattr(pull, name))
    return Result(results, _UNITS)


def _row(parameters: Mapping[str, Any]) -> ShoeRow:
    peaks = parameters["pressure"] == "road_wheels"
    shoes, wheels = parameters["shoes_in_contact"], parameters["road_wheel_count"]
    if peaks and 2 * wheels > shoes:
        raise ParameterError("road_wheel_count", wheels, f"at most half of the {shoes} shoes in contact")
    return ShoeRow(
        weight=parameters["weight"],
        length=parameters["contact_length"],
        width=parameters["width"],
        shoes=shoes,
        road_wheels=wheels if peaks else 0,
        amplitude=parameters["pressure_amplitude"] if peaks else 0.0,
    )


def _soil(parameters: Mapping[str, Any]) -> Soil:
    soil = read_track_soil(parameters)
    stiffness = soil.cohesive_modulus / parameters["width"] + soil.frictional_modulus
    pressure = parameters["weight"] / (parameters["width"] * parameters["contact_length"])
    carried = stiffness * parameters["contact_length"] ** soil.exponent
    if pressure > carried:
        most = carried * parameters["width"] * parameters["contact_length"]
        valid = f"at most {most:.4g} N, under which the track sinks as deep as its contact is long"
        raise ParameterError("weight", parameters["weight"], valid)
    return soil


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws thrust, resistance, drawbar pull and sinkage over slip, beside the closed form of uniform pressure.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns slip, thrust_N, R_N, DP_N, sinkage_m of a reference curve, where present.
    """
    row, soil = _row(parameters), _soil(parameters)
    curve = np.linspace(0.0, max(parameters["slip"]), 401)
    pulls = [closed_form(row, soil, slip) for slip in curve]
    for panel, name, theirs, label in zip(
        figure.subplots(2, 2, sharex=True).flat,
        ("thrust", "resistance", "drawbar_pull", "sinkage"),
        ("thrust_N", "R_N", "DP_N", "sinkage_m"),
        ("thrust [N]", "compaction resistance [N]", "drawbar pull [N]", "sinkage [m]"),
        strict=True,
    ):
        panel.plot(curve, [getattr(pull, name) for pull in pulls], ":", color="grey", label="closed form, uniform")
        panel.plot(result["slip"], result[name], "o", label=f"shoes, {parameters['pressure']}")
        draw_reference(panel, reference, "slip", theirs)
        # With zero in the range, so that changes are to scale.
        low, high = panel.get_ylim()
        panel.set_ylim(min(low, 0.0), 1.1 * max(high, 0.0))
        panel.set_xlabel("slip ratio [-]")
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(
        f"{parameters['shoes_in_contact']} shoes on soft soil: {parameters['weight']:g} N, "
        f"{parameters['contact_length']:g} m by {parameters['width']:g} m"
    )
