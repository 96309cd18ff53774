"""What experiments with heaps share: settling, draining through a round hole, and the slope of what is left."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from grouser.experiments.spheres import WALL, sphere_material
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.granular import Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Plate
from grouser.physics.granular.filling import lattice, walls
from grouser.physics.granular.grain_rows import Grains

SECTORS = 8
# A bed rests once its mean speed is below this share of sqrt(g d), looked at every so often [s]; it is given up after
# so long [s].
_RESTS, _LOOKED, _LONGEST = 2e-3, 0.02, 60.0
# Below the floor by so many diameters grains are removed. Draining ends when nothing has left for so long [s].
_DEPTH, _QUIET = 4.0, 0.5


class Discharge(NamedTuple):
    """What has left a box.

    Attributes:
        time: since the hole was opened [s], (samples,).
        left: mass above the floor [kg], (samples,).
    """

    time: np.ndarray
    left: np.ndarray


def surface_of(parameters: Mapping[str, Any]) -> Surface:
    """The surface of all pairs."""
    return Surface(parameters["restitution"], parameters["friction"], rolling_friction=parameters["rolling_friction"])


def settled_box(parameters: Mapping[str, Any]) -> GranularBed:
    """Spheres at rest in a box with a level floor that is a thin plate, for a hole to be opened in."""
    radius, side = parameters["radius"], parameters["side"]
    bed = _box(parameters, lattice(parameters["count"], side, side, radius, seed=parameters["seed"]), 0.0)
    rest(bed)
    return bed


def open_hole(parameters: Mapping[str, Any], bed: GranularBed, diameter: float) -> GranularBed:
    """The bed of `settled_box` with a round hole in the middle of its floor.

    Raises:
        ParameterError: a hole wider than the floor.
    """
    if diameter >= parameters["side"]:
        raise ParameterError("diameter", diameter, f"below the side of the floor, {parameters['side']:g} m")
    opened = _box(parameters, bed.position, 0.5 * diameter)
    opened.restore(bed.snapshot())
    return opened


def _box(parameters: Mapping[str, Any], place: np.ndarray, hole: float) -> GranularBed:
    side, middle = parameters["side"], 0.5 * parameters["side"]
    floor = Plate((middle, middle, 0.0), (0.0, 0.0, 1.0), "wall", inner_radius=hole)
    return GranularBed(
        Grains(place, parameters["radius"], "sphere"),
        [sphere_material(parameters), WALL],
        boundaries=[Boundary("box", [floor, *walls(side, side, "wall")])],
        default_surface=surface_of(parameters),
    )


def rest(bed: GranularBed) -> None:
    """Steps until the bed rests."""
    quiet = _RESTS * math.sqrt(9.81 * 2.0 * float(bed.radius.min()))
    end = bed.time + _LONGEST
    each = max(round(_LOOKED / bed.step_size), 1)
    bed.step(5 * each)
    while float(np.linalg.norm(bed.velocity, axis=1).mean()) > quiet and bed.time < end:
        bed.step(each)


def drain(bed: GranularBed, until: float = 0.0) -> Discharge:
    """Steps until nothing falls through the floor any more.

    Args:
        bed: with a hole in its floor at z = 0.
        until: share of the mass that is left when it ends earlier [-].
    """
    start, whole = bed.time, float(bed.mass.sum())
    each, below = max(round(0.005 / bed.step_size), 1), -_DEPTH * float(bed.radius.max())
    time, left, changed = [0.0], [whole], 0.0
    while time[-1] - changed < _QUIET and left[-1] > until * whole:
        bed.step(each)
        height = bed.position[:, 2]
        time.append(bed.time - start)
        left.append(float(bed.mass[height > 0.0].sum()))
        if left[-1] < left[-2]:
            changed = time[-1]
        if (height < below).any():
            bed.remove(bed.ident[height < below])
        if not bed.count:
            break
    return Discharge(np.array(time), np.array(left))


def slopes(bed: GranularBed, centre: float, inner: float, outer: float) -> np.ndarray:
    """Slope of the surface along each of eight sectors around a vertical line, upwards away from it [rad].

    The surface is the highest point of the grains in rings one diameter wide, fitted by a line.

    Args:
        bed: grains.
        centre: x and y of the line [m].
        inner, outer: radii between which the slope is taken [m].

    Returns:
        Of the sectors with at least two rings, (sectors,).
    """
    place, diameter = bed.position, 2.0 * float(bed.radius.max())
    away = place[:, :2] - centre
    distance = np.hypot(*away.T)
    sector = np.floor((np.arctan2(away[:, 1], away[:, 0]) + math.pi) / (2.0 * math.pi) * SECTORS).astype(int) % SECTORS
    edges = np.arange(inner, outer + 1e-9, diameter)
    found = []
    for s in range(SECTORS):
        middle, height = [], []
        for low, high in pairwise(edges):
            inside = (sector == s) & (distance >= low) & (distance < high) & (place[:, 2] > 0.0)
            if inside.any():
                highest = np.flatnonzero(inside)[np.argmax(place[inside, 2])]
                middle.append(distance[highest])
                height.append(place[highest, 2])
        if len(middle) > 1:
            found.append(math.atan(np.polyfit(middle, height, 1)[0]))
    return np.array(found)


def bulk_volume(bed: GranularBed) -> float:
    """Volume under the surface of the grains: the highest in each square of a diameter's side [m3]."""
    place, diameter = bed.position, 2.0 * float(bed.radius.max())
    cell = np.floor(place[:, :2] / diameter).astype(int)
    tops: dict[tuple[int, int], float] = {}
    for (a, b), z in zip(cell.tolist(), (place[:, 2] + bed.radius).tolist(), strict=True):
        tops[a, b] = max(tops.get((a, b), 0.0), z)
    return float(sum(tops.values()) * diameter**2)
