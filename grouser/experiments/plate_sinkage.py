"""A plate presses a soil cell down at a constant rate: the visco-elasto-plastic law by itself.

After Zuo et al., "Dynamic multibody simulation research of rigid wheel-soil interaction" (2009), equations (1) and (2).
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.soil.visco_plastic import steady_visco_plastic_pressure

DESCRIPTION = "a plate is pressed into a soil cell (Zuo et al., 2009)"


def _read_times(value: list) -> list[float]:
    if not value or not all(type(item) in (int, float) and 0.0 < item < math.inf for item in value):
        raise ValueError("times above 0 [s]")
    return [float(item) for item in value]


PARAMETERS = {
    "rate": positive(0.005, "m/s", "at which the plate goes down"),
    "soil_stiffness": positive(1e7, "Pa/m", "c_f of the cell"),
    "soil_viscosity": positive(2e5, "Pa s/m", "eta of the cell"),
    "plastic_modulus": Parameter(1e6, "Pa/m", "mu_v of the cell", minimum=0.0),
    "yield_stress": Parameter(3e3, "Pa", "mu_p of the cell", minimum=0.0),
    "times": Parameter([0.2, 0.5, 1.0], "s", "since the plate touched the soil", convert=_read_times),
}

_UNITS = {"time": "s", "sinkage": "m", "pressure": "Pa", "plastic_sinkage": "m"}
REFERENCE = {"z_m": "sinkage", "p_Pa": "pressure", "zp_m": "plastic_sinkage"}


def run(**parameters: Any) -> Result:
    """Presses the plate.

    Returns:
        At each of the times: sinkage of the plate, pressure on it, and plastic part of the sinkage.
    """
    curves = _press(parameters, parameters["times"])
    return Result(dict(zip(_UNITS, curves, strict=True)), _UNITS)


def _press(parameters: Mapping[str, Any], times) -> np.ndarray:
    """Time, sinkage, pressure and plastic sinkage, (4, times)."""
    cell = [parameters[name] for name in ("soil_stiffness", "soil_viscosity", "plastic_modulus", "yield_stress")]
    rate = parameters["rate"]
    return np.array([(time, rate * time, *steady_visco_plastic_pressure(*cell, rate, time)) for time in times]).T


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws pressure and plastic sinkage over the plate's sinkage.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns z_m, p_Pa, zp_m of a reference curve, where present.
    """
    last = max(parameters["times"])
    _, sinkage, pressure, plastic = _press(parameters, np.linspace(0.0, last, 401)[1:])
    for panel, curve, name, theirs, label in zip(
        figure.subplots(2, 1, sharex=True),
        (pressure, plastic),
        ("pressure", "plastic_sinkage"),
        ("p_Pa", "zp_m"),
        ("pressure [Pa]", "plastic sinkage [m]"),
        strict=True,
    ):
        (line,) = panel.plot(sinkage, curve)
        panel.plot(result["sinkage"], result[name], "o", color=line.get_color(), label="at the times asked for")
        draw_reference(panel, reference, "z_m", theirs)
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    panel.set_xlabel("sinkage of the plate [m]")
    figure.suptitle(f"plate pressed into a soil cell at {1e3 * parameters['rate']:g} mm/s")
