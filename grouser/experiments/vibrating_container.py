"""A closed container of spheres vibrates: speeds, impacts, forces on a probe, circulation and work.

Quantities of vibratory finishing (Kang, Hashimoto, Johnson and Rhodes, 2017; da Silva Maciel and Spelt, 2020).
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.spheres import BALANCE_UNITS, SPHERE, WALL, Clock, number_list, restitution, sphere_material
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.granular import Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Mesh, Plane, Vibration
from grouser.physics.granular.filling import lattice, open_box
from grouser.physics.granular.grain_rows import Grains

DESCRIPTION = "a closed container of spheres vibrates, with a probe in it"

PARAMETERS = {
    "size": Parameter([0.2, 0.2, 0.2], "m", "of the container", convert=number_list(1e-2, 10.0, 3)),
    "count": Parameter(2000, "-", "of spheres", minimum=10, maximum=200_000),
    "amplitude": positive(0.002, "m", "of the vibration"),
    "frequency": positive(25.0, "Hz", "of the vibration"),
    "direction": Parameter([1.0, 0.0, 1.0], "-", "of the vibration", convert=number_list(-1.0, 1.0, 3)),
    "probe": positive(0.03, "m", "side of a cube that stands still in the middle, half its side above the floor"),
    **SPHERE,
    "restitution": restitution(0.7),
    "friction": Parameter(0.5, "-", "Coulomb's mu", minimum=0.0),
    "settling": positive(0.5, "s", "before the measurement, vibrating"),
    "duration": positive(1.0, "s", "of the measurement"),
    "seed": Parameter(1, "-", "of the start", minimum=0),
}
REFERENCE: dict[str, str] = {}
_UNITS = {
    "mean_speed": "m/s",
    "impact_speed_distribution": "m/s", "normal_force_distribution": "N", "circulation": "rad/s",
    "work_per_second": "W", "loss_per_second": "W", **BALANCE_UNITS,
}  # fmt: skip
# Shares of the distributions that are given.
_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
# Steps between two looks at the contacts of the probe; elastic contacts last twenty.
_LOOK = 4


def run(**parameters: Any) -> Result:
    """Fills the container, vibrates it, and measures.

    Returns:
        `mean_speed` of the spheres; quantiles at 10, 25, 50, 75, 90 and 99 % of the speed of spheres that come to touch
        the probe (`impact_speed_distribution`) and of the normal forces on it (`normal_force_distribution`), absent
        without impacts; `circulation`, turn rate of the bulk about y, its angular momentum by its moment of inertia;
        `work_per_second` of the container, and `loss_per_second` in the contacts. The error of energy is by the work.
    """
    clock, bed = Clock(), _make_bed(parameters)
    bed.step(max(round(parameters["settling"] / bed.step_size), 1))
    before = bed.energy()
    looks = max(round(parameters["duration"] / bed.step_size / _LOOK), 1)
    speeds, turning, forces, impacts = 0.0, 0.0, [], []
    touching: set[int] = set()
    for _ in range(looks):
        velocity = bed.velocity
        bed.step(_LOOK)
        speeds += float(np.linalg.norm(bed.velocity, axis=1).mean())
        turning += _turn_rate(bed)
        contacts = bed.contacts()
        on_probe = contacts.boundary & (contacts.second == 1)
        forces += contacts.normal_force[on_probe].tolist()
        there = set(contacts.first[on_probe].tolist())
        impacts += np.linalg.norm(velocity[sorted(there - touching)], axis=1).tolist()
        touching = there
    after, lasted = bed.energy(), looks * _LOOK * bed.step_size
    loss = sum(after[name] - before[name] for name in ("normal_loss", "friction_loss", "rolling_loss"))
    touched = bool(impacts) and bool(forces)
    return Result(
        {
            "mean_speed": speeds / looks,
            "impact_speed_distribution": np.quantile(impacts, _SHARES).tolist() if touched else None,
            "normal_force_distribution": np.quantile(forces, _SHARES).tolist() if touched else None,
            "circulation": turning / looks,
            "work_per_second": (after["boundary_work"] - before["boundary_work"]) / lasted,
            "loss_per_second": loss / lasted,
            **clock.results(bed, after["boundary_work"]),
        },
        _UNITS,
    )


def _make_bed(parameters: Mapping[str, Any]) -> GranularBed:
    """Spheres above the probe on a lattice, in a container with a lid."""
    length, width, height = parameters["size"]
    radius, probe = parameters["radius"], parameters["probe"]
    direction = np.array(parameters["direction"])
    norm = float(np.linalg.norm(direction))
    if norm == 0.0:
        raise ParameterError("direction", parameters["direction"], "a direction that is not zero")
    amplitude = parameters["amplitude"] * direction / norm
    middle = np.array([0.5 * length, 0.5 * width, probe])
    place = lattice(4 * parameters["count"], length, width, radius, seed=parameters["seed"])
    nearest = np.abs(place - middle).max(axis=1)
    place = place[nearest > 0.5 * probe + radius][: parameters["count"]]
    if place[:, 2].max() > height - radius:
        raise ParameterError("count", parameters["count"], f"of spheres that fit below the lid at {height:g} m")
    lid = Plane((0.0, 0.0, height), (0.0, 0.0, -1.0), "wall")
    speed = 4.0 * parameters["amplitude"] * 2.0 * math.pi * parameters["frequency"]
    return GranularBed(
        Grains(place, radius, "sphere"),
        [sphere_material(parameters), WALL],
        boundaries=[
            Boundary(
                "container", [*open_box(length, width, "wall"), lid],
                vibration=Vibration(amplitude, 2.0 * math.pi * parameters["frequency"]),
            ),
            Boundary("probe", [Mesh(middle + 0.5 * probe * _cube(), "wall")]),
        ],
        speed=max(speed, 1.0),
        default_surface=Surface(parameters["restitution"], parameters["friction"]),
        accounted=True,
    )  # fmt: skip


def _cube() -> np.ndarray:
    """Triangles of the cube from -1 to 1."""
    faces = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            corner = [np.insert(np.array(two), axis, side) for two in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            faces += [[corner[0], corner[1], corner[2]], [corner[0], corner[2], corner[3]]]
    return np.array(faces)


def _turn_rate(bed: GranularBed) -> float:
    """Turn rate about y through the centre of mass, of the rigid body with the same angular momentum [rad/s]."""
    away = bed.position - bed.position.mean(axis=0)
    motion = bed.velocity - bed.velocity.mean(axis=0)
    return float((away[:, 2] * motion[:, 0] - away[:, 0] * motion[:, 2]).sum() / (away[:, [0, 2]] ** 2).sum())


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the distributions of impact speeds and of normal forces on the probe.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: none is drawn.
    """
    speeds, forces = figure.subplots(1, 2)
    for panel, name, label in (
        (speeds, "impact_speed_distribution", "speed of impacts on the probe [m/s]"),
        (forces, "normal_force_distribution", "normal force on the probe [N]"),
    ):
        if result[name] is not None:
            panel.plot(result[name], 100.0 * np.array(_SHARES), "o-", label="probe")
            panel.legend(fontsize="small")
        panel.set_xlabel(label)
        panel.set_ylabel("share below [%]")
        panel.grid(alpha=0.3)
    figure.suptitle(
        f"{parameters['count']} spheres at {parameters['frequency']:g} Hz and "
        f"{1e3 * parameters['amplitude']:g} mm: mean speed {result['mean_speed']:.3f} m/s"
    )
