"""A bar of deformable blocks pulled at both ends, cut in several ways: the stress is the same everywhere.

Cuts right through the bar carry a uniform stress with any stiffness of their faces, also askew; where cuts meet, those
of a regular grid do. The sides are free. The bar floats, and would turn away from a pressure.
"""

import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from grouser.experiments.block_parameters import MATERIAL, NORMAL_STIFFNESS, ORDER, SHEAR_STIFFNESS, read_material
from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.blocks.assembly import Assembly
from grouser.physics.blocks.building import Block
from grouser.physics.blocks.polyhedron import make_prism
from grouser.physics.blocks.walls import make_wall
from grouser.physics.description.data.blocks import Interface

DESCRIPTION = "patch test of deformable blocks: uniform stress through cuts"
PARAMETERS = {
    "cut": Parameter("skewed", "-", "where the bar is cut", choices=("regular", "skewed")),
    **MATERIAL,
    "poisson_ratio": Parameter(0.25, "-", "n of the blocks", minimum=0.0, maximum=0.49),
    "order": ORDER,
    "normal_stiffness": NORMAL_STIFFNESS,
    "shear_stiffness": SHEAR_STIFFNESS,
    "end_stress": positive(1e4, "Pa", "that pulls at both ends"),
}
REFERENCE: Mapping[str, str] = {}
_UNITS = {
    "stress": "Pa",
    "largest_stress_error": "-",
    "relaxation_steps": "-",
    "compute_time": "s",
    "simulated_time": "s",
    "energy_error": "-",
}
_LENGTH, _WIDTH, _HEIGHT = 0.4, 0.1, 0.1
# Distances of the skewed cuts from the end, at the lower and at the upper side [m].
_CUTS = ((0.0, 0.0), (0.08, 0.13), (0.21, 0.17), (0.28, 0.32), (_LENGTH, _LENGTH))
# Unbalanced forces leave an error of the stress that is some hundred times as large a share.
_TOLERANCE = 1e-9


def _bar(cut: str) -> list[Block]:
    if cut == "regular":
        return make_wall((4, 1, 2), (_LENGTH / 4, _WIDTH, _HEIGHT / 2))
    blocks = []
    for number, ((low, high), (next_low, next_high)) in enumerate(pairwise(_CUTS)):
        outline = [(low, 0.0), (next_low, 0.0), (next_high, _HEIGHT), (high, _HEIGHT)]
        blocks.append(Block(f"block_{number}", make_prism(f"block_{number}", outline, 0.0, _WIDTH)))
    return blocks


def run(**parameters: Any) -> Result:
    """Pulls the bar by relaxation.

    Returns:
        Axial stress at the centre of each block, the largest error of any stress at any corner as a share of it, and
        that of the energy that is stored against half of the work at the ends.
    """
    blocks = _bar(parameters["cut"])
    interface = Interface(parameters["normal_stiffness"], parameters["shear_stiffness"])
    assembly = Assembly(
        blocks, read_material(parameters), interface, order=parameters["order"], gravity=(0.0, 0.0, 0.0), collide=False
    )
    pull = parameters["end_stress"]
    for block in blocks:
        ends = block.shape.vertices[:, 0]
        for side, sign in ((0.0, -1.0), (_LENGTH, 1.0)):
            if np.isclose(ends, side).sum() == 4:
                assembly.press(block.name, (sign, 0.0, 0.0), (sign * pull, 0.0, 0.0))
    start = time.process_time()
    relaxed = assembly.relax(tolerance=_TOLERANCE)
    compute_time = time.process_time() - start
    wanted = np.array([pull, 0.0, 0.0, 0.0, 0.0, 0.0])
    errors = [
        np.abs(assembly.stress(block.name, corner) - wanted).max() / pull
        for block in blocks
        for corner in block.shape.vertices
    ]
    energy = assembly.energy()
    results = {
        "stress": [float(assembly.stress(block.name)[0]) for block in blocks],
        "largest_stress_error": float(max(errors)),
        "relaxation_steps": relaxed.steps,
        "compute_time": compute_time,
        "simulated_time": 0.0,
        "energy_error": abs(-0.5 * energy.potential / (energy.strain + energy.springs) - 1.0),
    }
    return Result(results, _UNITS)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the bar's blocks, coloured by the error of their axial stress.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: not drawn.
    """
    from matplotlib.collections import PolyCollection

    panel = figure.subplots()
    blocks = _bar(parameters["cut"])
    error = np.abs(np.array(result["stress"]) / parameters["end_stress"] - 1.0)
    outlines = [block.shape.outline(0)[:, [0, 2]] for block in blocks]
    drawn = PolyCollection(outlines, array=error, edgecolor="black", label="block")
    panel.add_collection(drawn)
    panel.set_xlim(-0.02, _LENGTH + 0.02)
    panel.set_ylim(-0.02, _HEIGHT + 0.02)
    panel.set_xlabel("x [m]")
    panel.set_ylabel("z [m]")
    panel.legend(fontsize="small")
    figure.colorbar(drawn, ax=panel, label="error of the axial stress [-]", orientation="horizontal")
    figure.suptitle(
        f"{parameters['cut']} cuts, order {parameters['order']}, {parameters['end_stress']:g} Pa at both ends"
    )
