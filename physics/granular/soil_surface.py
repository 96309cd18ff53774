"""Soft ground below grains that are smaller than its cells: its surface bears them, and does not yield.

The surface is the quadratic B-spline of the heights of nine cells, so that height and slope are continuous; on plane
ground it is the plane. A grain touches the plane that touches the surface below the grain's centre.
"""

import math

from grouser.physics.base.kernel import inlined
from grouser.physics.contact.terrain import Terrain
from grouser.physics.soil.tiles import SURFACE, SoilState, cell_of, nearest_cell, surface_of


@inlined
def is_smaller_than_cells(spacing, radius):
    """Whether grains lie on the surface of the cells, instead of pressing them one by one."""
    return radius < spacing


@inlined
def surface_below_grain(spacing, cells: SoilState, x, y, z):
    """Unit normal of the surface below a place (3), and the distance from it [m]; infinite where no tile is open."""
    i, j = nearest_cell(x, spacing), nearest_cell(y, spacing)
    u, v = x / spacing - i, y / spacing - j
    height, rise_x, rise_y = 0.0, 0.0, 0.0
    for p in range(-1, 2):
        for q in range(-1, 2):
            at = cell_of(cells, i + p, j + q)
            if at < 0:
                return 0.0, 0.0, 1.0, math.inf
            level = cells.soil_cell[at + SURFACE]
            height += _weight(u, p) * _weight(v, q) * level
            rise_x += _slope(u, p) * _weight(v, q) * level / spacing
            rise_y += _weight(u, p) * _slope(v, q) * level / spacing
    up = 1.0 / math.sqrt(1.0 + rise_x * rise_x + rise_y * rise_y)
    return -rise_x * up, -rise_y * up, up, (z - height) * up


@inlined
def height_above_surface(terrain: Terrain, spacing, cells: SoilState, x, y, z):
    """Height of a place above the surface, also where no tile is open [m]."""
    i, j = nearest_cell(x, spacing), nearest_cell(y, spacing)
    u, v = x / spacing - i, y / spacing - j
    height = 0.0
    for p in range(-1, 2):
        for q in range(-1, 2):
            height += _weight(u, p) * _weight(v, q) * surface_of(terrain, spacing, cells, i + p, j + q)
    return z - height


@inlined
def _weight(u, p):
    """Weight of the cell p = -1, 0 or 1 at a place u from the nearest one, by the spacing."""
    return 0.75 - u * u if p == 0 else 0.5 * (0.5 + p * u) * (0.5 + p * u)


@inlined
def _slope(u, p):
    """Derivative of the weight by the place."""
    return -2.0 * u if p == 0 else p * (0.5 + p * u)
