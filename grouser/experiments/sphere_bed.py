"""Spheres are dropped into a box and come to rest: solid fraction and coordination of the packing."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.spheres import BALANCE_UNITS, SPHERE, WALL, Clock, restitution, sphere_material
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.granular import Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary
from grouser.physics.granular.filling import lattice, open_box
from grouser.physics.granular.grain_rows import Grains

DESCRIPTION = "spheres are dropped into a box: solid fraction and coordination"

PARAMETERS = {
    "count": Parameter(10_000, "-", "of spheres", minimum=100, maximum=200_000),
    "side": positive(0.2, "m", "of the square floor"),
    "seed": Parameter(1, "-", "of the start", minimum=0),
    "friction": Parameter(0.5, "-", "Coulomb's mu", minimum=0.0),
    "rolling_friction": Parameter(0.0, "-", "mu_r", minimum=0.0),
    "spacing": Parameter(1.1, "-", "of the start's lattice, by the diameter", minimum=1.0, maximum=2.0),
    **SPHERE,
    "restitution": restitution(0.7),
    "duration": positive(1.5, "s", "time simulated"),
}
REFERENCE: dict[str, str] = {}
_UNITS = {
    "solid_fraction": "-", "coordination": "-", "top": "m", "residual_speed": "m/s",
    "microseconds_per_particle_step": "us", "sweep_height": "m", "sweep_solid_fraction": "-", **BALANCE_UNITS,
}  # fmt: skip
# Jitter of the start by the diameter, at most. Distance of the core from walls, floor and top, by the diameter.
_JITTER, _MARGIN = 0.04, 3.0
# Spacing of the points that measure the solid fraction, by the radius.
_POINTS = 0.25


def run(**parameters: Any) -> Result:
    """Drops the spheres and lets them settle.

    Returns:
        `solid_fraction` and `coordination` (contacts of a sphere) of the core, three diameters from all walls; `top`,
        the height below which 99 % of the centres are; `residual_speed`, the mean at the end;
        `microseconds_per_particle_step`, processor time. The solid fraction over the height is a table. The error of
        energy is by the work of the weights.
    """
    clock = Clock()
    bed = fill(parameters)
    before = bed.energy()["potential"]
    begun, steps = time.process_time(), round(parameters["duration"] / bed.step_size)
    bed.step(steps)
    taken = time.process_time() - begun
    place, radius, side = bed.position, parameters["radius"], parameters["side"]
    top = float(np.quantile(place[:, 2], 0.99))
    margin = 2.0 * radius * _MARGIN
    low, high = np.array([margin] * 3), np.array([side - margin, side - margin, top - margin])
    if not (high > low + 2.0 * radius).all():
        raise ParameterError("count", parameters["count"], f"enough for a core {margin:g} m from all walls")
    heights, fractions = _profile(place, radius, low, high)
    inside = ((place > low) & (place < high)).all(axis=1)
    return Result(
        {
            "solid_fraction": float(fractions.mean()),
            "coordination": float(_coordination(bed)[inside].mean()),
            "top": top,
            "residual_speed": float(np.linalg.norm(bed.velocity, axis=1).mean()),
            "microseconds_per_particle_step": 1e6 * taken / (steps * bed.count),
            "sweep_height": heights.tolist(),
            "sweep_solid_fraction": fractions.tolist(),
            **clock.results(bed, before - bed.energy()["potential"]),
        },
        _UNITS,
    )


def fill(parameters: Mapping[str, Any]) -> GranularBed:
    """The spheres on their lattice in the open box."""
    side, spacing, radius = parameters["side"], parameters["spacing"], parameters["radius"]
    jitter = min(_JITTER, 0.5 * (spacing - 1.0))
    surface = Surface(
        parameters["restitution"], parameters["friction"], rolling_friction=parameters["rolling_friction"]
    )
    return GranularBed(
        Grains(lattice(parameters["count"], side, side, radius, spacing, jitter, parameters["seed"]), radius, "sphere"),
        [sphere_material(parameters), WALL],
        boundaries=[Boundary("box", open_box(side, side, "wall"))],
        default_surface=surface,
        accounted=True,
    )


def _coordination(bed: GranularBed) -> np.ndarray:
    """Contacts of each sphere."""
    contacts = bed.contacts()
    between = ~contacts.boundary
    both = np.concatenate([contacts.first[between], contacts.second[between]])
    return np.bincount(both, minlength=bed.count)


def _profile(place: np.ndarray, radius: float, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Heights, and the share of the points of a fine grid at each that lie in a sphere."""
    axes = [np.arange(a + 0.5 * _POINTS * radius, b, _POINTS * radius) for a, b in zip(low, high, strict=True)]
    x, y = np.meshgrid(axes[0], axes[1], indexing="ij")
    tree = cKDTree(place)
    shares = []
    for z in axes[2]:
        distance, _ = tree.query(np.stack([x.ravel(), y.ravel(), np.full(x.size, z)], axis=1))
        shares.append(float((distance < radius).mean()))
    return axes[2], np.array(shares)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the solid fraction over the height.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: none is drawn.
    """
    panel = figure.subplots()
    panel.plot(result["sweep_solid_fraction"], result["sweep_height"], label="layers of the core")
    panel.axvline(result["solid_fraction"], color="grey", linestyle=":", label="mean")
    panel.set_xlabel("solid fraction [-]")
    panel.set_ylabel("height [m]")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle(
        f"{parameters['count']} spheres, friction {parameters['friction']:g}, "
        f"rolling friction {parameters['rolling_friction']:g}: solid fraction {result['solid_fraction']:.4f}"
    )
