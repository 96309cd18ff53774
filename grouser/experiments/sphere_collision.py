"""Two spheres, or a sphere and a wall, collide head-on: contact time, overlap, force and restitution."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.spheres import BALANCE_UNITS, Clock, number_list, restitution
from grouser.physics.description.data.granular import DAMPING_ENDS, GrainMaterial, Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Plane
from grouser.physics.granular.grain_rows import Grains

DESCRIPTION = "two spheres collide head-on (Hertz, 1882)"

PARAMETERS = {
    "radius": Parameter([0.005, 0.005], "m", "of both spheres", convert=number_list(1e-6, 1e3, 2)),
    "youngs_modulus": Parameter([1e7, 1e7], "Pa", "of both", convert=number_list(1.0, 1e15, 2)),
    "poisson_ratio": Parameter([0.25, 0.25], "-", "of both", convert=number_list(0.0, 0.5, 2)),
    "density": Parameter([2500.0, 2500.0], "kg/m3", "of both", convert=number_list(1e-3, 1e6, 2)),
    "speed": positive(1.0, "m/s", "at which they meet"),
    "restitution": restitution(0.7),
    "damping_end": Parameter("zero_force", "-", "where the contact ends", choices=DAMPING_ENDS),
    "wall": Parameter(False, "-", "whether the second is a wall"),
    "step": positive(1e-6, "s", "of time"),
}
REFERENCE: dict[str, str] = {}
_UNITS = {
    "contact_time": "s",
    "max_overlap": "m",
    "max_force": "N",
    "restitution": "-",
    "speed_after": "m/s",
    "time": "s",
    "overlap": "m",
    "force": "N",
    **BALANCE_UNITS,
}


def run(**parameters: Any) -> Result:
    """Lets them collide.

    Returns:
        `contact_time`: while there is a force; `max_overlap`, `max_force`; `restitution`, the speed at which they part
        by that at which they meet; `speed_after` of the first, along its motion before. Curves `overlap` and `force`
        over `time`. Errors of energy and momentum are by those before.
    """
    clock, speed, step = Clock(), parameters["speed"], parameters["step"]
    bed = _make_bed(parameters)
    start, energy = bed.momentum(), bed.energy()["kinetic"]
    reach = parameters["radius"][0] + (0.0 if parameters["wall"] else parameters["radius"][1])
    overlaps, forces = [], []
    met = False
    while not met or overlaps[-1] > 0.0:
        overlap = reach - _distance(bed, parameters["wall"])
        bed.step()
        overlaps.append(overlap)
        forces.append(float(bed.contacts().normal_force.sum()))
        met = met or overlap > 0.0
    parting = bed.velocity[0, 0] - (0.0 if parameters["wall"] else bed.velocity[1, 0])
    pressed = np.array(forces) != 0.0
    return Result(
        {
            "contact_time": step * int(pressed.sum()),
            "max_overlap": max(overlaps),
            "max_force": max(forces),
            "restitution": float(-parting / speed),
            "speed_after": float(bed.velocity[0, 0]),
            "time": step * np.arange(len(forces)),
            "overlap": np.array(overlaps),
            "force": np.array(forces),
            **clock.results(bed, energy, None if parameters["wall"] else start),
        },
        _UNITS,
    )


def _distance(bed: GranularBed, wall: bool) -> float:
    place = bed.position[:, 0]
    return float(-place[0]) if wall else float(place[1] - place[0])


def _make_bed(parameters: Mapping[str, Any]) -> GranularBed:
    """The first sphere moves along x towards the second, or towards a wall at x = 0; they touch in half a step."""
    radius, speed, wall = parameters["radius"], parameters["speed"], parameters["wall"]
    first, second = (
        GrainMaterial(name, parameters["youngs_modulus"][k], parameters["poisson_ratio"][k], parameters["density"][k])
        for k, name in enumerate(("first", "second"))
    )
    gap = 0.5 * speed * parameters["step"]
    surface = Surface(parameters["restitution"], damping_end=parameters["damping_end"])
    if wall:
        grains = Grains(np.array([[-radius[0] - gap, 0.0, 0.0]]), radius[0], "first", np.array([[speed, 0.0, 0.0]]))
        boundaries = [Boundary("wall", [Plane((0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), "second")])]
    else:
        mass = [one.density * size**3 for one, size in zip((first, second), radius, strict=True)]
        # in the frame of the common centre of mass
        share = mass[1] / (mass[0] + mass[1])
        place = np.array([[0.0, 0.0, 0.0], [radius[0] + radius[1] + gap, 0.0, 0.0]])
        motion = np.array([[share * speed, 0.0, 0.0], [(share - 1.0) * speed, 0.0, 0.0]])
        grains = Grains(place, np.array(radius), ("first", "second"), motion)
        boundaries = []
    return GranularBed(
        grains, [first, second], boundaries=boundaries, gravity=(0.0, 0.0, 0.0), step=parameters["step"], speed=speed,
        default_surface=surface, accounted=True,
    )  # fmt: skip


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws force and overlap over time, and the force over the overlap.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: none is drawn.
    """
    over_time, path = figure.subplots(1, 2)
    milliseconds, micrometres = 1e3 * result["time"], 1e6 * result["overlap"]
    over_time.plot(milliseconds, result["force"], label="force [N]")
    over_time.set_xlabel("time [ms]")
    over_time.set_ylabel("force [N]")
    over_time.axvline(1e3 * result["contact_time"], color="grey", linestyle=":", label="end of the contact")
    path.plot(micrometres, result["force"], label="contact")
    path.set_xlabel("overlap [µm]")
    path.set_ylabel("force [N]")
    for panel in (over_time, path):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    other = "wall" if parameters["wall"] else "sphere"
    figure.suptitle(f"sphere on {other} at {parameters['speed']:g} m/s: restitution {result['restitution']:.4f}")
