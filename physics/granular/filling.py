"""Starts of beds: grains on a lattice that is not quite regular, and boxes around them."""

import math

import numpy as np

from grouser.physics.base.checks import require_count, require_range, require_size
from grouser.physics.base.errors import ParameterError
from grouser.physics.granular.boundaries import Plane

_MOST = 10_000_000


def lattice(
    count: int, length: float, width: float, radius: float, spacing: float = 1.1, jitter: float = 0.04, seed: int = 1
) -> np.ndarray:
    """Positions of grains in layers above a floor at z = 0, between x = 0 and length, y = 0 and width.

    Args:
        count: number of grains.
        length, width: of the floor [m].
        radius: of the largest grain [m].
        spacing: of the lattice, by the diameter [-].
        jitter: largest displacement along each axis, by the diameter, at most half of what the spacing leaves [-].
        seed: of the displacements.

    Returns:
        Centres [m], (count, 3), layer by layer from the floor upwards.

    Raises:
        ParameterError: a floor narrower than a grain, or grains that would touch.
    """
    require_count("count", count, 1, _MOST)
    diameter = 2.0 * require_size("radius", radius)
    require_range("spacing", spacing, 1.0, 100.0)
    if not 0.0 <= jitter <= 0.5 * (spacing - 1.0):
        raise ParameterError("jitter", jitter, f"from 0 to {0.5 * (spacing - 1.0):g}, half of what the spacing leaves")
    across = [math.floor(side / (spacing * diameter)) for side in (length, width)]
    if min(across) < 1:
        raise ParameterError("length, width", (length, width), f"at least {spacing * diameter:g} m, the spacing")
    layer = across[0] * across[1]
    place = np.arange(count)
    index = np.stack([place % layer % across[0], place % layer // across[0], place // layer], axis=1)
    pitch = np.array([length / across[0], width / across[1], spacing * diameter])
    shift = np.random.default_rng(seed).uniform(-1.0, 1.0, (count, 3)) * jitter * diameter
    return (index + 0.5) * pitch + shift


def open_box(length: float, width: float, material: str) -> list[Plane]:
    """A floor at z = 0 and four walls, between x = 0 and length, y = 0 and width [m]."""
    return [
        Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), material),
        *walls(length, width, material),
    ]


def walls(length: float, width: float, material: str) -> list[Plane]:
    """Four upright walls, between x = 0 and length, y = 0 and width [m]."""
    return [
        Plane((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), material),
        Plane((length, 0.0, 0.0), (-1.0, 0.0, 0.0), material),
        Plane((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), material),
        Plane((0.0, width, 0.0), (0.0, -1.0, 0.0), material),
    ]
