"""Grains that pass through thin boundaries: in an impact whose overlap reaches their radius."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from grouser.physics.granular.bodies import Boundary, Cylinder, Mesh, Plate
from grouser.physics.granular.materials import reduced_modulus
from grouser.physics.granular.pairs import PairSurfaces


def crossing_speed(modulus: float, radius: float, mass: float) -> float:
    """Speed at which the overlap of an elastic Hertzian impact is the radius [m/s]: sqrt(16 E* R^3/(15 m)).

    Args:
        modulus: E* [Pa].
        radius, mass: of the grain [m, kg].
    """
    return math.sqrt(16.0 * modulus * radius**3 / (15.0 * mass))


def crossings(
    rows: Mapping[str, np.ndarray], boundaries: Sequence[Boundary], table: PairSurfaces, speed: float
) -> Iterator[str]:
    """Warns of each thin boundary that grains pass through at the fastest impact that is expected.

    Args:
        rows: of the grains (`grain_rows`).
        boundaries: bodies.
        table: of the materials.
        speed: that is expected [m/s].
    """
    names = [one.name for one in table.materials]
    for boundary in boundaries:
        walls = {names.index(shape.material) for shape in boundary.shapes if isinstance(shape, (Mesh, Plate, Cylinder))}
        least = min((_least_speed(rows, table, wall) for wall in walls), default=math.inf)
        if least <= speed:
            yield (
                f"grains pass through the thin boundary '{boundary.name}' from {least:.3g} m/s on, and impacts of "
                f"{speed:g} m/s are expected: give them a larger youngs_modulus, or make it of `Solids`"
            )


def _least_speed(rows: Mapping[str, np.ndarray], table: PairSurfaces, wall: int) -> float:
    """Least speed of grains that pass through a thin boundary of a material, by Hertz [m/s]."""
    radius, clump, least = rows["position"][:, 3], rows["clump"], math.inf
    mass = 1.0 / rows["velocity"][:, 3]
    mass[clump >= 0] = 1.0 / rows["clump_velocity"][clump[clump >= 0], 3]
    for kind in np.unique(rows["material"]).tolist():
        one, other = table.materials[kind], table.materials[wall]
        if table.between(one, other).normal != "hooke":
            own = np.flatnonzero(rows["material"] == kind)
            most = own[np.argmin(radius[own] ** 3 / mass[own])]
            least = min(least, crossing_speed(reduced_modulus(one, other), float(radius[most]), float(mass[most])))
    return least
