"""A pulse of pressure runs along a bar of many deformable blocks: its speed is that of long waves."""

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.block_parameters import CHAIN, TIMES, read_material
from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.blocks.assembly import Assembly
from grouser.physics.blocks.walls import make_wall
from grouser.physics.description.data.blocks import Interface

DESCRIPTION = "a pulse runs along a bar of deformable blocks"
PARAMETERS = {
    **CHAIN,
    "blocks": Parameter(100, "-", "in the bar", minimum=20, maximum=2000),
    "normal_stiffness": positive(5e13, "Pa/m", "k_n of the faces: soft ones slow the wave"),
    "shear_stiffness": Parameter(5e13, "Pa/m", "k_s of the faces", minimum=0.0),
    "pressure": positive(1e4, "Pa", "peak of the pulse"),
    "pulse": Parameter(0.2, "-", "length of the pulse as a share of the bar's", minimum=0.05, maximum=0.3),
}
REFERENCE: Mapping[str, str] = {}
_UNITS = {"wave_speed": "m/s", "critical_step": "s", "time": "s", "near": "m/s", "far": "m/s", **TIMES}
# Places where the pulse is timed, as shares of the length, and instants of a pulse at which it is seen.
_NEAR, _FAR, _INSTANTS = 0.3, 0.7, 60


def run(**parameters: Any) -> Result:
    """Sends the pulse, half a sine in time, from one free end.

    Returns:
        Distance of two blocks by the time between the centroids of their speeds, and these speeds.
    """
    count, length = parameters["blocks"], parameters["length"]
    blocks = make_wall((count, 1, 1), (length / count, parameters["width"], parameters["height"]))
    assembly = Assembly(
        blocks,
        read_material(parameters),
        Interface(parameters["normal_stiffness"], parameters["shear_stiffness"]),
        order=parameters["order"],
        gravity=(0.0, 0.0, 0.0),
        collide=False,
    )
    expected = math.sqrt(parameters["youngs_modulus"] / parameters["density"])
    duration = parameters["pulse"] * length / expected
    assembly.press(blocks[0].name, (-1.0, 0.0, 0.0), (parameters["pressure"], 0.0, 0.0))
    near, far = (blocks[int(share * count)].name for share in (_NEAR, _FAR))
    every = max(round(duration / _INSTANTS / assembly.checked_step()), 1)
    spacing = every * assembly.checked_step()
    # until the pulse has passed the far block, before it comes back from the end
    times = spacing * np.arange(round((_FAR + 0.5 * (1.0 - _FAR) + parameters["pulse"]) * length / expected / spacing))
    speeds, compute_time, work = [], 0.0, 0.0
    for instant in times:
        share = (instant + 0.5 * spacing) / duration
        assembly.load_factor = math.sin(math.pi * share) if share < 1.0 else 0.0
        start = time.process_time()
        assembly.step(every)
        compute_time += time.process_time() - start
        speeds.append((assembly.velocity(near)[0], assembly.velocity(far)[0]))
        if share >= 1.0 and work == 0.0:
            work = assembly.energy().total
    first, second = np.array(speeds).T
    arrival = [float(times @ speed**2 / (speed @ speed)) for speed in (first, second)]
    distance = (int(_FAR * count) - int(_NEAR * count)) * length / count
    results = {
        "wave_speed": distance / (arrival[1] - arrival[0]),
        "critical_step": assembly.critical_step,
        "time": times,
        "near": first,
        "far": second,
        "compute_time": compute_time,
        "simulated_time": float(times[-1] + spacing),
        "energy_error": abs(assembly.energy().total / work - 1.0),
    }
    return Result(results, _UNITS)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the speeds of both blocks.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: not drawn.
    """
    panel = figure.subplots()
    for name, share in (("near", _NEAR), ("far", _FAR)):
        panel.plot(1e3 * result["time"], 1e3 * result[name], label=f"block at {share:g} of the length")
    panel.set_xlabel("time [ms]")
    panel.set_ylabel("axial speed [mm/s]")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle(f"pulse along {parameters['blocks']} blocks: {result['wave_speed']:.1f} m/s")
