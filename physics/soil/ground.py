"""Soft ground as kernels get it: natural ground, its soils, and the cells that store how it was changed."""

from typing import NamedTuple

from grouser.physics.contact.terrain import Terrain
from grouser.physics.soil.laws import Soils


class SoftGround(NamedTuple):
    """Ground whose cells can be dug.

    Attributes:
        soils: of the world.
        terrain: natural ground.
        spacing: of the cells [m].
        gravity: downwards [m/s2].
    """

    soils: Soils
    terrain: Terrain
    spacing: float
    gravity: float
