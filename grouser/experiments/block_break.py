"""A bonded chain is pulled, or bent by a load at its tip, until the first bond breaks.

The load grows so slowly that vibrations of the chain do not add to the stress.
"""

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.block_parameters import CHAIN, TIMES, make_chain
from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive

DESCRIPTION = "bonds of a chain of deformable blocks break by tension or bending"
PARAMETERS = {
    **CHAIN,
    "blocks": Parameter(3, "-", "in the chain", minimum=1, maximum=100),
    "length": positive(0.3, "m", "of the chain"),
    "tensile_strength": positive(1e5, "Pa", "of the bonded faces"),
    "load": Parameter("tension", "-", "along the chain, or across it at its tip", choices=("tension", "bending")),
}
REFERENCE: Mapping[str, str] = {}
_UNITS = {"breaks_at": "N", "load": "N", "displacement": "m", **TIMES}
# Strongest load that is tried, by the strength of the section; parts of it; and time of all by the slowest period.
_MOST, _PARTS, _PERIODS = 2.0, 1000, 60.0


def run(**parameters: Any) -> Result:
    """Raises the load until a bond breaks.

    Returns:
        Load at the first break; None where it bears twice the strength of its section. Displacement of the tip over the
        load until then. The error of the energy is that of half the load's work against what is stored.
    """
    assembly = make_chain(parameters, tensile_strength=parameters["tensile_strength"])
    blocks, length, height = assembly.names[1:], parameters["length"], parameters["height"]
    area = parameters["width"] * height
    strong = parameters["tensile_strength"] * area
    bends = parameters["load"] == "bending"
    most = _MOST * (strong * height / (6.0 * length) if bends else strong)
    direction = np.array([0.0, 0.0, -1.0]) if bends else np.array([1.0, 0.0, 0.0])
    assembly.press(blocks[-1], (1.0, 0.0, 0.0), most / area * direction)
    assembly.load_factor = 0.0
    stiffness = parameters["youngs_modulus"] * area / length
    softest = min(stiffness, parameters["normal_stiffness"] * area / len(blocks)) * (height / length) ** 2 / 4.0
    duration = _PERIODS * 2.0 * math.pi * math.sqrt(parameters["density"] * area * length / softest)
    every = max(math.ceil(duration / _PARTS / assembly.checked_step()), 1)
    loads, moved, compute_time, error = [], [], 0.0, 0.0
    breaks_at = None
    for part in range(_PARTS):
        assembly.load_factor = (part + 0.5) / _PARTS
        start = time.process_time()
        assembly.step(every)
        compute_time += time.process_time() - start
        if assembly.broken() > 0.0:
            breaks_at = most * assembly.load_factor
            break
        loads.append(most * assembly.load_factor)
        moved.append(float(direction @ assembly.displacement(blocks[-1], (length, 0.0, 0.0))))
        energy = assembly.energy()
        error = abs(-0.5 * energy.potential / (energy.total - energy.potential) - 1.0)
    results = {
        "breaks_at": breaks_at,
        "load": np.array(loads),
        "displacement": np.array(moved),
        "compute_time": compute_time,
        "simulated_time": (len(loads) + 1) * every * assembly.checked_step(),
        "energy_error": error,
    }
    return Result(results, _UNITS)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the load over the displacement of the tip, and where the first bond breaks.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: not drawn.
    """
    panel = figure.subplots()
    panel.plot(1e6 * result["displacement"], result["load"], label="bonded")
    if result["breaks_at"] is not None:
        panel.axhline(result["breaks_at"], color="black", linestyle="--", linewidth=0.9, label="first bond breaks")
    panel.set_xlabel("displacement of the tip [µm]")
    panel.set_ylabel("load [N]")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle(
        f"{parameters['load']} of {parameters['blocks']} bonded blocks, {parameters['tensile_strength']:g} Pa"
    )
