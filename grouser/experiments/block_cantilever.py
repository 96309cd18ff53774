"""A cantilever of deformable blocks under a tip load, then released: sag and bending frequency.

With order 1 the blocks do not bend: the sag is that of the joints and of shear. The closed forms are in docs/blocks.md.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.block_parameters import CHAIN, RELAXATION, RELEASED, draw_release, make_chain, release
from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Result, positive

DESCRIPTION = "a cantilever of deformable blocks is loaded at its tip and released"
PARAMETERS = {
    **CHAIN,
    "tip_load": positive(100.0, "N", "on the free end, downwards"),
    "relaxation": RELAXATION,
}
REFERENCE: Mapping[str, str] = {}
_UNITS = {
    "deflection": "m",
    "places": "m",
    "sag": "m",
    "stress": "Pa",
    **RELEASED,
}
# Mass of a cantilever at its tip that vibrates as slowly, as a share of its own.
_TIP_MASS = 33.0 / 140.0
# Of the slowest vibration in a record.
_PERIODS = 6


def run(**parameters: Any) -> Result:
    """Loads the tip by a uniform shear stress, relaxes, and lets the cantilever vibrate.

    Returns:
        Deflection of the tip's axis, `sag` at the ends of the blocks, the mean of each block's shear stress, bending
        frequencies after the release with the displacement of the tip, and the critical step.

    Raises:
        StateError: the relaxation finds no equilibrium.
    """
    assembly = make_chain(parameters)
    blocks, length, load = assembly.names[1:], parameters["length"], parameters["tip_load"]
    area = parameters["width"] * parameters["height"]
    places = [(number + 1) * length / len(blocks) for number in range(len(blocks))]
    assembly.press(blocks[-1], (1.0, 0.0, 0.0), (0.0, 0.0, -load / area))
    relaxed = assembly.relax(parameters["relaxation"])
    sag = [
        -float(assembly.displacement(block, (place, 0.0, 0.0))[2]) for block, place in zip(blocks, places, strict=True)
    ]
    stress = [float(assembly.stress(block)[4]) for block in blocks]
    mass = _TIP_MASS * parameters["density"] * area * length
    period = 2.0 * math.pi * math.sqrt(mass * sag[-1] / load)
    free = release(
        assembly, relaxed, period, _PERIODS, lambda: float(assembly.displacement(blocks[-1], (length, 0.0, 0.0))[2])
    )
    results = {
        "deflection": sag[-1],
        "places": places,
        "sag": sag,
        "stress": stress,
    }
    return Result(results | free, _UNITS)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the sag beside the slender beam, and the tip after the release.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: not drawn.
    """
    along, after = figure.subplots(2, 1)
    length, load = parameters["length"], parameters["tip_load"]
    stiffness = parameters["youngs_modulus"] * parameters["width"] * parameters["height"] ** 3 / 12.0
    x = np.linspace(0.0, length, 101)
    along.plot(x, -1e3 * load * x**2 * (3.0 * length - x) / (6.0 * stiffness), "--", color="grey", label="slender beam")
    along.plot([0.0, *result["places"]], -1e3 * np.array([0.0, *result["sag"]]), "o-", label="ends of the blocks")
    along.set_xlabel("distance from the wall [m]")
    along.set_ylabel("displacement [mm]")
    along.grid(alpha=0.3)
    along.legend(fontsize="small")
    draw_release(after, result, "tip")
    figure.suptitle(f"cantilever of {parameters['blocks']} blocks of order {parameters['order']} under {load:g} N")
