"""Undisturbed and loose soil of a cell: loose soil lies on top and has the density rho / swell.

Solid mass is conserved: one metre of loose soil in a cell is 1 / swell metres of undisturbed soil. Loose soil on rigid
ground counts as that of the first soil.
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.laws import Soils
from grouser.physics.soil.tiles import (
    LEVEL,
    LOOSE,
    PRESSED,
    PRESSURE,
    SIDE,
    SINKAGE,
    SURFACE,
    TILE,
    TYPE,
    SoilState,
    natural_level,
    open_cell_of,
)


@inlined
def raise_surface(cell, at, height):
    """Adds soil to a cell, or removes it [m].

    Soil that falls into a rut reduces the cell's sinkage. Soil above the previous level raises the level.
    """
    cell[at + SURFACE] += height
    stays = cell[at + LEVEL] - cell[at + SURFACE] + height
    if height > 0.0 and stays > 0.0:
        left = max(1.0 - height / stays, 0.0)
        cell[at + SINKAGE] *= left
        cell[at + PRESSURE] *= left
        cell[at + LEVEL] = max(cell[at + LEVEL], cell[at + SURFACE])
    else:
        cell[at + LEVEL] += height


@inlined
def heave_surface(cell, at, height):
    """Raises the surface of a cell by soil that wheels push aside, or lowers it [m]."""
    raise_surface(cell, at, height)
    cell[at + PRESSED] -= height


@inlined
def press_surface(cell, at, sinkage, pressure, stays):
    """Stores the yield of a cell under a wheel or a track.

    Args:
        cell: layers of the tiles, changed.
        at: the cell.
        sinkage, pressure: at the yield [m, Pa]; plastic sinkage, and nothing, by the visco-elasto-plastic law.
        stays: sinkage that unloading leaves [m].

    Returns:
        By how much the surface has become lower [m].
    """
    surface = cell[at + LEVEL] - stays
    fallen = cell[at + SURFACE] - surface
    cell[at + PRESSED] += fallen
    cell[at + SINKAGE], cell[at + PRESSURE], cell[at + SURFACE] = sinkage, pressure, surface
    return fallen


@inlined
def soil_of(cell, at):
    """Index of the soil of a cell; the first one for loose soil on rigid ground."""
    return max(int(cell[at + TYPE]), 0)


@inlined
def loose_density(soils: Soils, k):
    """Density of loosened soil [kg/m3]."""
    return soils.density[k] / soils.swell[k]


@inlined
def undisturbed_top(cell, at):
    """Height of the undisturbed soil of a cell [m]."""
    return cell[at + SURFACE] - cell[at + LOOSE]


@inlined
def add_loose(cell, at, height):
    """Lays loose soil on a cell, or takes it off [m]."""
    loose = cell[at + LOOSE] + height
    raise_surface(cell, at, height)
    cell[at + LOOSE] = max(loose, 0.0)


@inlined
def lay_on(ground: SoftGround, i, j, mass, state: SoilState):
    """Lays loose soil on a cell, by its solid mass over the area [kg/m2]; opens its tile."""
    at = open_cell_of(ground.terrain, ground.spacing, state, i, j)
    add_loose(state.soil_cell, at, mass / loose_density(ground.soils, soil_of(state.soil_cell, at)))


@inlined
def loosen(soils: Soils, cell, at, height):
    """Turns the uppermost undisturbed soil of a cell into loose soil, which takes more room [m]."""
    swell = soils.swell[soil_of(cell, at)]
    add_loose(cell, at, (swell - 1.0) * height)
    cell[at + LOOSE] += height


@inlined
def take_soil(soils: Soils, cell, at, depth, share):
    """Takes soil off a part of a cell's area, down to a depth; what is left is spread over the cell.

    Args:
        soils: of the ground.
        cell: layers of the tiles, changed.
        at: the cell.
        depth: below the surface [m].
        share: of the area [-].

    Returns:
        Solid mass over the area of a cell [kg/m2], and its volume once it is loose, over the same area [m].
    """
    k = soil_of(cell, at)
    loose = share * min(depth, cell[at + LOOSE])
    bank = share * max(depth - cell[at + LOOSE], 0.0) if cell[at + TYPE] >= 0.0 else 0.0
    left = cell[at + LOOSE] - loose
    raise_surface(cell, at, -loose - bank)
    cell[at + LOOSE] = left
    volume = loose + soils.swell[k] * bank
    return loose_density(soils, k) * volume, volume


@kernel
def field_mass(ground: SoftGround, state: SoilState):
    """Solid mass above the natural ground; negative where more was dug than lies there [kg].

    What wheels and tracks compact or push aside counts where it was.

    Args:
        ground: natural ground and its soils.
        state: of the soil.
    """
    total, lost = 0.0, 0.0
    for tile in range(state.tile_count[0]):
        for n in range(SIDE * SIDE):
            mass = _solid_above(ground, state, tile, n)
            # compensated sum (Neumaier 1974): small changes of many cells
            added = total + mass
            lost += (total - added) + mass if abs(total) >= abs(mass) else (mass - added) + total
            total = added
    return (total + lost) * ground.spacing * ground.spacing


@kernel
def heaped_mass(ground: SoftGround, state: SoilState):
    """Solid mass of the cells that have more than the natural ground, above it [kg]; arguments as of `field_mass`."""
    total = 0.0
    for tile in range(state.tile_count[0]):
        for n in range(SIDE * SIDE):
            total += max(_solid_above(ground, state, tile, n), 0.0)
    return total * ground.spacing * ground.spacing


@inlined
def _solid_above(ground: SoftGround, state: SoilState, tile, n):
    """Solid mass of cell n of a tile above the natural ground, over its area [kg/m2]."""
    soils, spacing, cell, at = ground.soils, ground.spacing, state.soil_cell, tile * TILE + n
    x = spacing * (state.tile_place[tile, 0] * SIDE + n // SIDE)
    y = spacing * (state.tile_place[tile, 1] * SIDE + n % SIDE)
    k = soil_of(cell, at)
    bank = undisturbed_top(cell, at) + cell[at + PRESSED] - natural_level(ground.terrain, x, y)
    return soils.density[k] * bank + loose_density(soils, k) * cell[at + LOOSE]


@inlined
def standing_height(soils: Soils, k, gravity):
    """Height at which a vertical face of undisturbed soil stands, 4 c / (rho g) tan(45 deg + phi / 2) (Rankine) [m]."""
    return 4.0 * soils.cohesion[k] / (soils.density[k] * gravity) * failure_slope(soils, k)


@inlined
def failure_slope(soils: Soils, k):
    """Slope of the plane on which a vertical face fails, tan(45 deg + phi / 2) = tan phi + 1 / cos phi [-]."""
    return soils.friction[k] + math.sqrt(1.0 + soils.friction[k] * soils.friction[k])
