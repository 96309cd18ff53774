"""Sliding down slopes: heaps are round cones at the angle of repose, and keep their volume."""

import math

import numpy as np
import pytest

from grouser.physics.soil.slopes import add_flows, find_flows

CELL = 0.05
DIRECTIONS = np.arange(16) * math.pi / 8.0


def cone_height(volume, repose):
    return (3.0 * volume * math.tan(repose) ** 2 / math.pi) ** (1.0 / 3.0)


def slide(heights, limit, rest=1e-5):
    """Sweeps until no height difference exceeds the limit by more than a share of it."""
    columns = heights.shape[1]
    steepest = np.full(heights.shape, limit)
    steepest[[0, -1], :] = steepest[:, [0, -1]] = math.inf
    surface, flows, change = heights.ravel(), np.zeros((2, heights.size)), np.zeros(heights.size)
    for _ in range(20_000):
        find_flows(surface, steepest.ravel(), columns, flows)
        if np.abs(flows).max() < rest * limit:
            return
        add_flows(flows, columns, change)
        surface += change
    raise AssertionError("the heap does not come to rest")


def heap(volume, repose):
    """A column of soil of 0.15 m side that has come to rest on level ground, heights [m]."""
    middle = round(1.4 * cone_height(volume, repose) / math.tan(repose) / CELL)
    heights = np.zeros((2 * middle + 1, 2 * middle + 1))
    heights[middle - 1 : middle + 2, middle - 1 : middle + 2] = volume / (9.0 * CELL**2)
    slide(heights, CELL * math.tan(repose))
    return heights


def radial_slopes(heights, first, last):
    """Mean slope between two distances from the middle, in sixteen directions, downwards [rad]."""
    middle, radius = heights.shape[0] // 2, np.linspace(first, last, 40)
    slopes = []
    for direction in DIRECTIONS:
        x, y = (middle + radius * side / CELL for side in (math.cos(direction), math.sin(direction)))
        i, j = np.floor(x).astype(int), np.floor(y).astype(int)
        u, v = x - i, y - j
        low = (1.0 - v) * heights[i, j] + v * heights[i, j + 1]
        high = (1.0 - v) * heights[i + 1, j] + v * heights[i + 1, j + 1]
        slopes.append(-math.atan(np.polyfit(radius, (1.0 - u) * low + u * high, 1)[0]))
    return np.array(slopes)


@pytest.mark.parametrize(("volume", "repose_deg"), [(0.05, 28.0), (0.05, 38.0), (0.3, 32.0), (1.0, 32.0)])
def test_heap_is_a_cone_at_the_angle_of_repose(volume, repose_deg):
    repose = math.radians(repose_deg)
    heights, tall = heap(volume, repose), cone_height(volume, repose)
    assert math.fsum(heights.ravel()) * CELL**2 == pytest.approx(volume, rel=1e-15)
    assert heights.max() == pytest.approx(tall, rel=0.03)
    base = tall / math.tan(repose)
    slopes = radial_slopes(heights, 0.25 * base, 0.75 * base)
    assert np.degrees(slopes) == pytest.approx(np.full(16, repose_deg), abs=1.5)


def test_slope_at_repose_stays():
    """In any direction of the slope, without a rounding error that would move soil."""
    i, j = np.meshgrid(np.arange(12.0), np.arange(9.0), indexing="ij")
    for direction in DIRECTIONS:
        heights = 0.999 * CELL * (i * math.cos(direction) + j * math.sin(direction))
        before = heights.copy()
        slide(heights, CELL)
        assert np.array_equal(heights, before)


def test_nothing_flows_into_cells_without_sliding():
    """Soil beside a wall of cells that hold it stays beside it."""
    heights = np.zeros((7, 7))
    heights[3, 3] = 1.0
    steepest = np.full(heights.shape, 0.5 * CELL)
    steepest[4, :] = steepest[[0, -1], :] = steepest[:, [0, -1]] = math.inf
    flows, change = np.zeros((2, heights.size)), np.zeros(heights.size)
    find_flows(heights.ravel(), steepest.ravel(), 7, flows)
    add_flows(flows, 7, change)
    change = change.reshape(heights.shape)
    assert change[3, 3] < 0.0 < change[2, 3] == change[3, 2] == change[3, 4]
    assert not change[4].any()
