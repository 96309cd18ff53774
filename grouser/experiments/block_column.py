"""A column of deformable blocks under an end pressure, then released: shortening, stresses, axial frequencies.

The column's closed forms are in docs/blocks.md.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.block_parameters import CHAIN, RELAXATION, RELEASED, draw_release, make_chain, release
from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Result, positive

DESCRIPTION = "a column of deformable blocks is compressed and released"
PARAMETERS = {
    **CHAIN,
    "end_pressure": positive(1e4, "Pa", "on the free end"),
    "relaxation": RELAXATION,
}
REFERENCE: Mapping[str, str] = {}
_UNITS = {
    "shortening": "m",
    "stress": "Pa",
    **RELEASED,
}
# Of the slowest vibration in a record: the second and third one need longer records than the first.
_PERIODS = 16


def run(**parameters: Any) -> Result:
    """Compresses the column by relaxation, and lets it vibrate.

    Returns:
        Shortening of the axis, mean stress along it of each block from the wall on, axial frequencies after the release
        with the displacement of the free end, and the critical step.

    Raises:
        StateError: the relaxation finds no equilibrium.
    """
    assembly = make_chain(parameters)
    blocks, length = assembly.names[1:], parameters["length"]
    end = (length, 0.0, 0.0)
    assembly.press(blocks[-1], (1.0, 0.0, 0.0), (-parameters["end_pressure"], 0.0, 0.0))
    relaxed = assembly.relax(parameters["relaxation"])
    shortening = -float(assembly.displacement(blocks[-1], end)[0])
    stress = [float(assembly.stress(block)[0]) for block in blocks]
    period = 4.0 * length / math.sqrt(parameters["youngs_modulus"] / parameters["density"])
    free = release(assembly, relaxed, period, _PERIODS, lambda: float(assembly.displacement(blocks[-1], end)[0]))
    results = {
        "shortening": shortening,
        "stress": stress,
    }
    return Result(results | free, _UNITS)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the stress along the column, and its free end after the release.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: not drawn.
    """
    along, after = figure.subplots(2, 1)
    count, length = parameters["blocks"], parameters["length"]
    places = (np.arange(count) + 0.5) * length / count
    along.plot(places, np.array(result["stress"]) / 1e3, "o", label="block")
    along.axhline(-parameters["end_pressure"] / 1e3, color="black", linestyle="--", linewidth=0.9, label="pressure")
    along.set_ylim(*sorted((0.0, -1.1e-3 * parameters["end_pressure"])))
    along.set_xlabel("distance from the wall [m]")
    along.set_ylabel("axial stress [kPa]")
    along.grid(alpha=0.3)
    along.legend(fontsize="small")
    draw_release(after, result, "free end")
    figure.suptitle(f"column of {count} blocks of order {parameters['order']} under {parameters['end_pressure']:g} Pa")
