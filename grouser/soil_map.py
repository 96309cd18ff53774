"""Costs of soft ground on the cells of a world's map: how far a machine's wheels sink in, and how deep ruts are."""

import numpy as np

from grouser.occupancy import OccupancyMap
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.physics.simulation.simulation import Simulation


def soil_costs(machine: Machine, world: World, grid: OccupancyMap) -> np.ndarray:
    """The cost of the natural ground in each cell of a map, before a wheel has been there.

    It is the bearing strength that a machine at rest uses up: 0 where its wheels do not sink and on rigid ground, 1
    where they sink by half a radius.

    Args:
        machine: with wheels; for all other shapes the surface is rigid.
        world: of the map.
        grid: the map.

    Returns:
        Costs from 0 to 1 [-], shape (cells along y, cells along x).

    Raises:
        ParameterError: the machine has neither wheels nor tracks, or a soil has no numbers for them.
    """
    if not machine.wheels and not machine.tracks:
        valid = "a machine with <wheel> or <track> elements: nothing else sinks into soil"
        raise ParameterError("machine", machine.name, valid)
    soil, (rows, columns) = world.soil, grid.occupied.shape
    if soil is None:
        return np.zeros((rows, columns))
    costs = 1.0 - Simulation(machine, world).bearing_margins()
    if soil.types is None:
        return np.full((rows, columns), costs[0])
    along_x, along_y = (
        np.floor((low + (np.arange(count) + 0.5) * grid.resolution - first) / soil.types_cell + 0.5).astype(int)
        for low, count, first in zip(grid.origin, (columns, rows), soil.types_origin, strict=True)
    )
    last_x, last_y = (size - 1 for size in soil.types.shape)
    kind = soil.types[np.clip(along_x, 0, last_x)[np.newaxis, :], np.clip(along_y, 0, last_y)[:, np.newaxis]]
    return np.where(kind < 0, 0.0, costs[kind])


def enter_ruts(
    costs: np.ndarray, grid: OccupancyMap, ruts: np.ndarray, origin: tuple[float, float], resolution: float
) -> None:
    """Enters the costs of ruts, which have cells of another size, into those of a map's cells.

    A cell gets the greatest of the ruts in it; cells of the map that the ruts' grid covers without knowing a rut get 0.

    Args:
        costs: of the map's cells, changed, (cells along y, cells along x).
        grid: the map.
        ruts: costs of their own cells, negative where nothing is known, (cells along y, cells along x).
        origin: corner of their first cell [m].
        resolution: side of their cells [m].
    """
    low = (np.array(origin) - grid.origin) / grid.resolution
    high = low + np.array(ruts.shape[::-1]) * resolution / grid.resolution
    (left, bottom), (right, top) = (
        np.clip(np.rint(corner).astype(int), 0, costs.shape[::-1]) for corner in (low, high)
    )
    costs[bottom:top, left:right] = 0.0
    rows, columns = np.nonzero(ruts > 0.0)
    x, y = (
        np.floor(first + (index + 0.5) * resolution / grid.resolution).astype(int)
        for first, index in zip(low, (columns, rows), strict=True)
    )
    inside = (x >= 0) & (x < costs.shape[1]) & (y >= 0) & (y < costs.shape[0])
    np.maximum.at(costs, (y[inside], x[inside]), ruts[rows[inside], columns[inside]])
