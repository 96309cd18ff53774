"""Occupancy map of a world: cells with obstacles, and cells where the ground is too steep.

Every obstacle is convex, so that its part above a square cell is exact: the Minkowski sum of shape and square is
convex too, and a vertical line through the cell's middle meets the sum at the heights at which the cell's column
meets the shape. Round shapes are replaced by circumscribed polyhedra, at most 0.5 % larger.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull

from grouser.physics.base.errors import ParameterError
from grouser.physics.contact.terrain import ground_surface
from grouser.physics.description.data.rotation import matrix
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from grouser.physics.description.data.world import Ground, Obstacle, World

CELLS_MAX = 16_000_000
# Sides of a polyhedron around a round shape.
_SIDES = 48
# Margin by which a shape is extended upwards and downwards, so that a flat mesh is a solid [m].
_THICKNESS = 1e-6
# A face whose unit normal has a smaller vertical part is vertical; a cell that overlaps a shape by less [m] touches it.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Passable:
    """Obstacles and slopes that a machine can pass.

    Attributes:
        lowest: greatest height above the ground of an obstacle that is driven over [m].
        highest: least clearance above the ground of an obstacle that is driven under [m].
        steepest: greatest slope of the ground [rad].
    """

    lowest: float = 0.25
    highest: float = 2.0
    steepest: float = math.radians(20.0)


@dataclass(frozen=True, eq=False)
class OccupancyMap:
    """A map of square cells.

    Attributes:
        occupied: whether a cell cannot be entered, shape (cells along y, cells along x).
        origin: x, y of the corner of the first cell [m].
        resolution: side of a cell [m].
    """

    occupied: np.ndarray
    origin: tuple[float, float]
    resolution: float


def occupancy_map(
    world: World, passable: Passable = Passable(), resolution: float = 0.05, margin: float = 5.0
) -> OccupancyMap:
    """The occupancy map of a world.

    It covers the world's obstacles, the grids of its ground and its spawn pose. A cell is occupied if an obstacle
    above any part of it is not passable (heights from the ground at the cell's middle), or if the ground is too
    steep.

    Args:
        world: its obstacles and its natural ground, without ruts.
        passable: obstacles and slopes that do not count.
        resolution: side of a cell [m].
        margin: free border of the map [m].

    Raises:
        ParameterError: a number is not valid, or the map would have more than `CELLS_MAX` cells.
    """
    if not (math.isfinite(resolution) and resolution > 0.0):
        raise ParameterError("resolution", resolution, "above 0 m")
    if not (math.isfinite(margin) and margin >= 0.0):
        raise ParameterError("margin", margin, "0 m or more")
    if not passable.lowest <= passable.highest:
        raise ParameterError("lowest", passable.lowest, f"at most highest, {passable.highest:g} m")
    if not 0.0 <= passable.steepest <= 0.5 * math.pi:
        raise ParameterError("steepest", math.degrees(passable.steepest), "0 to 90 degrees")
    solids = [_corners(obstacle) for obstacle in world.obstacles]
    known = np.concatenate([np.array([world.spawn.position[:2]]), *(solid[:, :2] for solid in solids), _grids(world)])
    first = np.floor((known.min(axis=0) - margin) / resolution + _ROUNDING).astype(int)
    last = np.ceil((known.max(axis=0) + margin) / resolution - _ROUNDING).astype(int)
    columns, rows = (int(count) for count in np.maximum(last - first, 1))
    if columns * rows > CELLS_MAX:
        raise ParameterError("resolution", resolution, f"coarser: {columns} x {rows} cells are more than {CELLS_MAX}")
    x = (first[0] + np.arange(columns) + 0.5) * resolution
    y = (first[1] + np.arange(rows) + 0.5) * resolution
    height, rise = _ground(world.ground, x, y)
    occupied = rise < math.cos(passable.steepest) - _ROUNDING
    for solid in solids:
        window = tuple(
            slice(*np.searchsorted(along, [low - resolution, high + resolution]))
            for along, low, high in zip((y, x), solid.min(axis=0)[1::-1], solid.max(axis=0)[1::-1], strict=True)
        )
        bottom, top = _columns(solid, x[window[1]], y[window[0]], 0.5 * resolution)
        ground = height[window]
        occupied[window] |= (top > ground + passable.lowest) & (bottom < ground + passable.highest)
    origin = (float(first[0] * resolution), float(first[1] * resolution))
    return OccupancyMap(occupied, origin, resolution)


def _grids(world: World) -> np.ndarray:
    """Corners of the grids of the ground, shape (n, 2)."""
    corners = np.zeros((0, 2))
    if world.ground is None:
        return corners
    field, soil = world.ground.heightfield, world.ground.soil
    if field is not None:
        size = field.cell * (np.array(field.heights.shape) - 1)
        corners = np.vstack([corners, field.origin, field.origin + size])
    if soil is not None and soil.types is not None:
        half, size = 0.5 * soil.types_cell, soil.types_cell * np.array(soil.types.shape)
        low = np.array(soil.types_origin) - half
        corners = np.vstack([corners, low, low + size])
    return corners


def _ground(ground: Ground | None, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Height [m] and upward part of the unit normal at places, shape (y, x) each."""
    if ground is None or ground.heightfield is None:
        height, nx, ny, nz = ground_surface(ground, 0.0, 0.0)
        heights = height - (nx * x[np.newaxis, :] + ny * y[:, np.newaxis]) / nz
        return heights, np.full(heights.shape, nz)
    surface = np.array([[ground_surface(ground, float(a), float(b)) for a in x] for b in y])
    return surface[..., 0], surface[..., 3]


def _corners(obstacle: Obstacle) -> np.ndarray:
    """Points in the world whose convex hull is the obstacle, shape (n, 3)."""
    return shape_points(obstacle.geometry) @ matrix(obstacle.pose.quaternion).T + np.array(obstacle.pose.position)


def shape_points(geometry: Geometry) -> np.ndarray:
    """Points in a shape's frame whose convex hull is the shape, or a little around it if it is round, shape (n, 3)."""
    if isinstance(geometry, Box):
        signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
        return signs * np.array(geometry.size)
    if isinstance(geometry, Cylinder):
        return np.vstack([_ring(geometry.radius, z * geometry.length) for z in (-0.5, 0.5)])
    if isinstance(geometry, Sphere):
        return _ball(geometry.radius)
    if isinstance(geometry, Capsule):
        return np.vstack([_ball(geometry.radius) + np.array([0.0, 0.0, z * geometry.length]) for z in (-0.5, 0.5)])
    if isinstance(geometry, Mesh):
        return np.asarray(geometry.hull)
    raise TypeError(f"no obstacle has the shape {type(geometry).__name__}")


def _ring(radius: float, z: float) -> np.ndarray:
    """Corners of a regular polygon around a circle."""
    angle = 2.0 * math.pi / _SIDES * np.arange(_SIDES)
    reach = radius / math.cos(math.pi / _SIDES)
    return np.column_stack([reach * np.cos(angle), reach * np.sin(angle), np.full(_SIDES, z)])


def _ball(radius: float) -> np.ndarray:
    """Corners of a polyhedron around a ball: rings from pole to pole, as far apart as their corners."""
    reach = radius / math.cos(math.pi / _SIDES)
    latitudes = math.pi * (np.arange(_SIDES // 2 + 1) / (_SIDES // 2) - 0.5)
    return np.vstack([_ring(reach * math.cos(latitude), reach * math.sin(latitude)) for latitude in latitudes])


def _columns(corners: np.ndarray, x: np.ndarray, y: np.ndarray, half: float) -> tuple[np.ndarray, np.ndarray]:
    """Heights between which a convex solid is above square cells; top is below bottom where it is not above a cell.

    Args:
        corners: of the solid, shape (n, 3).
        x, y: middles of the cells [m].
        half: half of a cell's side [m].

    Returns:
        bottom, top: shape (y, x) each.
    """
    square = [(a, b, c) for a in (-half, half) for b in (-half, half) for c in (-_THICKNESS, _THICKNESS)]
    faces = np.unique(ConvexHull(np.concatenate([corners + offset for offset in square])).equations, axis=0)
    bottom, top = np.full((len(y), len(x)), -np.inf), np.full((len(y), len(x)), np.inf)
    for a, b, c, d in faces:
        beyond = a * x[np.newaxis, :] + b * y[:, np.newaxis] + d
        if c > _ROUNDING:
            np.minimum(top, -beyond / c, out=top)
        elif c < -_ROUNDING:
            np.maximum(bottom, -beyond / c, out=bottom)
        else:
            top[beyond > -_ROUNDING] = -np.inf
    return bottom, top
