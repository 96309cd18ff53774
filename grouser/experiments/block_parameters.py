"""What the experiments with deformable blocks share: parameters, chains of blocks, and frequencies after a release."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.blocks.assembly import RELAXATIONS, Assembly, Relaxed
from grouser.physics.blocks.building import Block
from grouser.physics.blocks.polyhedron import make_box
from grouser.physics.blocks.walls import make_wall
from grouser.physics.description.data.blocks import BlockMaterial, Interface

MATERIAL = {
    "youngs_modulus": positive(1e9, "Pa", "E of the blocks"),
    "poisson_ratio": Parameter(0.0, "-", "n of the blocks", minimum=0.0, maximum=0.49),
    "density": positive(2000.0, "kg/m3", "of the blocks"),
}
ORDER = Parameter(1, "-", "of the modes: 1 for uniform strains, 2 for linear ones", choices=(1, 2))
NORMAL_STIFFNESS = positive(1e12, "Pa/m", "k_n of the faces")
SHEAR_STIFFNESS = Parameter(1e12, "Pa/m", "k_s of the faces", minimum=0.0)
CHAIN = {
    "blocks": Parameter(10, "-", "in the chain", minimum=1, maximum=1000),
    "length": positive(1.0, "m", "of the chain"),
    "width": positive(0.1, "m", "of its section"),
    "height": positive(0.1, "m", "of its section, along the tip load"),
    **MATERIAL,
    "order": ORDER,
    "normal_stiffness": NORMAL_STIFFNESS,
    "shear_stiffness": SHEAR_STIFFNESS,
}
RELAXATION = Parameter("viscous", "-", "damping on the way to equilibrium", choices=RELAXATIONS)
TIMES = {"compute_time": "s", "simulated_time": "s", "energy_error": "-"}
RELEASED = {
    "frequencies": "Hz",
    "critical_step": "s",
    "relaxation_steps": "-",
    "time": "s",
    "displacement": "m",
    **TIMES,
}
# Samples in a period, and the least share of the greatest peak that is one.
_SAMPLES, _LEAST_PEAK = 64, 5e-3


def make_chain(parameters: Mapping[str, Any], **options: Any) -> Assembly:
    """A chain of blocks along x without gravity, bonded to a wall at x = 0.

    Args:
        parameters: those of `CHAIN`.
        options: of the interface.
    """
    length, width, height = (parameters[name] for name in ("length", "width", "height"))
    corner = (0.0, -0.5 * width, -0.5 * height)
    wall = make_box("wall", (-0.1 * length, *corner[1:]), (0.0, 0.5 * width, 0.5 * height))
    blocks = make_wall((parameters["blocks"], 1, 1), (length / parameters["blocks"], width, height), corner)
    return Assembly(
        [Block("wall", wall, driven=True), *blocks],
        read_material(parameters),
        Interface(parameters["normal_stiffness"], parameters["shear_stiffness"], **options),
        order=parameters["order"],
        gravity=(0.0, 0.0, 0.0),
        collide=False,
    )


def read_material(parameters: Mapping[str, Any]) -> BlockMaterial:
    """The material among the parameters."""
    return BlockMaterial(*(parameters[name] for name in MATERIAL))


def release(
    assembly: Assembly, relaxed: Relaxed, period: float, periods: int, read: Callable[[], float]
) -> dict[str, Any]:
    """Takes all loads away, and lets an assembly in equilibrium vibrate without damping.

    Args:
        assembly: in equilibrium under its loads.
        relaxed: how it came there.
        period: expected slowest one [s].
        periods: how many are recorded.
        read: displacement that is recorded [m].

    Returns:
        The results of `RELEASED`; the error of the energy is its change as a share of it.
    """
    assembly.clear_loads()
    every = max(math.floor(period / _SAMPLES / assembly.checked_step()), 1)
    assembly.step(0)
    before = assembly.energy().total
    seen, compute_time = [read()], 0.0
    for _ in range(_SAMPLES * periods):
        start = time.process_time()
        assembly.step(every)
        compute_time += time.process_time() - start
        seen.append(read())
    times, values = every * assembly.checked_step() * np.arange(len(seen)), np.array(seen)
    return {
        "frequencies": find_frequencies(times, values),
        "critical_step": assembly.critical_step,
        "relaxation_steps": relaxed.steps,
        "time": times,
        "displacement": values,
        "compute_time": compute_time,
        "simulated_time": float(times[-1]),
        "energy_error": abs(assembly.energy().total / before - 1.0) if before > 0.0 else 0.0,
    }


def draw_release(panel: Any, result: Result, label: str) -> None:
    """Draws the displacement after a release over time [ms, µm]."""
    panel.plot(1e3 * result["time"], 1e6 * result["displacement"], linewidth=0.9, label=label)
    panel.set_xlabel("time after the release [ms]")
    panel.set_ylabel("displacement [µm]")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")


def find_frequencies(times: np.ndarray, values: np.ndarray) -> list[float]:
    """Frequencies of a sum of vibrations [Hz], ascending: the peaks of its spectrum under a Hann window.

    Args:
        times: evenly spaced [s].
        values: at these.
    """
    windowed = (values - values.mean()) * np.hanning(len(values))
    spectrum = np.abs(np.fft.rfft(windowed))
    spacing = 1.0 / (len(values) * (times[1] - times[0]))

    def strength(frequency: float) -> float:
        return -float(np.abs(windowed @ np.exp(-2j * np.pi * frequency * times)))

    # the window widens a peak to four bins, and leaves smaller ones beside it
    peaks = [
        place
        for place in range(4, len(spectrum) - 4)
        if spectrum[place] == spectrum[place - 4 : place + 5].max() > _LEAST_PEAK * spectrum.max()
    ]
    bounds = [((place - 1) * spacing, (place + 1) * spacing) for place in peaks]
    return [float(minimize_scalar(strength, bounds=bound, method="bounded").x) for bound in bounds]


def read_angles(value: list) -> list[float]:
    """Checks a list of slopes.

    Raises:
        ValueError: none, or one outside of 0 to 80 degrees.
    """
    if not value or not all(type(item) in (int, float) and 0.0 <= item <= 80.0 for item in value):
        raise ValueError("angles from 0 to 80 [deg]")
    return [float(item) for item in value]
