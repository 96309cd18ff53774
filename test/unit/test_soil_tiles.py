"""Tiles of soft ground: lookup by the hash table, levels of the terrain, growth of the arrays."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from grouser.physics.contact.terrain import ground_surface, make_terrain
from grouser.physics.description.data.soil import Soil, SoilGround
from grouser.physics.description.data.world import Ground, Heightfield
from grouser.physics.soil import tiles

CELL = 0.05
SAND = Soil("sand", "test", 1.5e6, 1.1, 500.0, 0.5, 0.02, 1500.0, 0.6)
PLACES = [(0, 0), (1, 0), (0, -1), (-1, 0), (3, 7), (7, 3), (-123456, 654321), (10**8, -(10**8)), (64, 64), (128, 0)]
TYPES = np.array([[-1, 0], [0, -1]])


class Kept(NamedTuple):
    """The fields of `SoilState` that hold tiles."""

    tile_count: np.ndarray
    tile_place: np.ndarray
    tile_table: np.ndarray
    tile_restless: np.ndarray
    soil_cell: np.ndarray


def empty(capacity=16):
    return Kept(**tiles.make_tiles(capacity))


def plane(slope=0.0, **soil):
    ground = SoilGround((SAND,), "deformable", CELL, **soil)
    return make_terrain(Ground(normal=(-math.sin(slope), 0.0, math.cos(slope)), point=(0.0, 0.0, 1.0), soil=ground))


def hills():
    heights = np.arange(12.0).reshape(4, 3) ** 2 / 100.0
    return make_terrain(Ground(heightfield=Heightfield(heights, 0.5, (-1.0, -1.0)), soil=SoilGround((SAND,))))


def open_all(state, terrain, places=PLACES):
    side = tiles.SIDE
    return [tiles.open_cell(terrain, CELL, state, a * side * CELL, b * side * CELL) // tiles.TILE for a, b in places]


def test_tiles_are_opened_in_order_and_found_again():
    state, terrain = empty(), plane()
    assert open_all(state, terrain) == list(range(len(PLACES)))
    assert open_all(state, terrain) == list(range(len(PLACES))), "opened once"
    assert state.tile_count[0] == len(PLACES)


def test_hash_table_at_capacity_finds_every_tile():
    """The hash table has four times as many slots as tiles."""
    state, terrain = empty(64), plane()
    places = [(a, b) for a in range(-4, 4) for b in range(-4, 4)]
    assert open_all(state, terrain, places) == list(range(64))
    assert open_all(state, terrain, reversed(places)) == list(reversed(range(64)))


def test_growing_the_tile_arrays_keeps_their_content():
    state, terrain = empty(), plane()
    open_all(state, terrain)
    state.soil_cell[:] += np.arange(len(state.soil_cell))
    state.tile_restless[:] = np.arange(state.tile_restless.size).reshape(-1, 4)
    larger = tiles.with_capacity(state, 64)
    count = len(PLACES)
    assert [len(larger.tile_place), len(larger.tile_table)] == [64, 256]
    assert open_all(larger, terrain) == list(range(count))
    assert np.array_equal(larger.soil_cell[: count * tiles.TILE], state.soil_cell[: count * tiles.TILE])
    assert np.array_equal(larger.tile_restless[:count], state.tile_restless[:count])
    assert not larger.soil_cell[count * tiles.TILE :].any()
    assert not np.shares_memory(larger.soil_cell, state.soil_cell)


def test_first_capacity_holds_the_tiles_of_four_steps():
    assert tiles.first_capacity(0) == 1, "one tile without wheels"
    for most in (1, 8, 9, 100):
        room = tiles.first_capacity(most)
        assert room >= 4 * most
        assert room & (room - 1) == 0


@pytest.mark.parametrize("side", [1, 2, 31, 32, 33, 64, 65])
def test_tiles_of_window_is_the_greatest_number_touched(side):
    touched = [(first + side - 1) // tiles.SIDE - first // tiles.SIDE + 1 for first in range(tiles.SIDE)]
    assert max(touched) ** 2 <= tiles.tiles_of_window(side) <= (max(touched) + 1) ** 2


@pytest.mark.parametrize("first", [(-40, 20), (0, 0), (-1, -1), (31, 31), (-32, 0)])
def test_window_lists_its_cells_row_by_row(first):
    rows, columns = 40, 7
    state, terrain = empty(), plane(0.2)
    place = np.full(rows * columns, -1)
    tiles.open_window(terrain, CELL, state, *first, rows, columns, place)
    expected = [
        tiles.open_cell(terrain, CELL, state, (first[0] + i) * CELL, (first[1] + j) * CELL)
        for i in range(rows)
        for j in range(columns)
    ]
    assert place.tolist() == expected
    assert len(set(expected)) == rows * columns
    x = (first[0] + np.arange(rows)) * CELL
    level = state.soil_cell[place + tiles.LEVEL].reshape(rows, columns)
    assert level == pytest.approx(np.repeat(1.0 + math.tan(0.2) * x[:, None], columns, axis=1), abs=1e-12)


def test_cell_is_the_square_around_its_centre():
    state, terrain = empty(), plane()
    here = tiles.open_cell(terrain, CELL, state, 3 * CELL, -2 * CELL)
    for x, y in ((-0.49, 0.0), (0.49, 0.49), (0.0, -0.49)):
        assert tiles.open_cell(terrain, CELL, state, (3 + x) * CELL, (-2 + y) * CELL) == here
    for x, y in ((-0.51, 0.0), (0.0, 0.51)):
        assert tiles.open_cell(terrain, CELL, state, (3 + x) * CELL, (-2 + y) * CELL) != here


def test_tile_levels_follow_the_height_field_and_are_flat_beyond():
    terrain = hills()
    state = empty()
    for x, y in ((-1.0, -1.0), (-0.25, 0.0), (0.1, -0.35)):
        at = tiles.open_cell(terrain, CELL, state, x, y)
        i, j = math.floor(x / CELL + 0.5), math.floor(y / CELL + 0.5)
        assert state.soil_cell[at + tiles.LEVEL] == tiles.natural_level(terrain, i * CELL, j * CELL)
    for x, y, corner in ((-50.0, -50.0, 0.0), (50.0, 50.0, 1.21), (50.0, -50.0, 0.81)):
        assert tiles.natural_level(terrain, x, y) == corner


def test_soil_type_of_cells():
    """A soil type applies half a grid cell around its point; beyond the map that of the border."""
    terrain = plane(types=TYPES, types_cell=1.0, types_origin=(0.0, 0.0))
    state = empty()
    for x, y, kind in ((0.0, 0.0, -1), (0.4, 0.4, -1), (0.6, 0.0, 0), (0.0, 0.6, 0), (1.0, 1.4, -1), (9.0, -9.0, 0)):
        at = tiles.open_cell(terrain, CELL, state, x, y)
        assert state.soil_cell[at + tiles.TYPE] == kind


def test_elastic_rebound_of_a_cell():
    """Rebound along Wong's line from the yield point to zero pressure."""
    stays = tiles.unloaded_sinkage(4e7, 2e8, 0.03, 2e4)
    assert 2e4 - (4e7 + 2e8 * 0.03) * (0.03 - stays) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("x, y", [(0.0, 0.0), (0.3, -0.7), (5.0, 5.0)])
def test_cell_levels_are_those_of_the_world(x, y):
    rising = Ground(normal=(-0.6, 0.0, 0.8), point=(1.0, 2.0, 3.0))
    field = Ground(heightfield=Heightfield(np.array([[0.0, 0.0], [1.0, 1.0]]), 2.0, (-1.0, -1.0)))
    assert ground_surface(None, x, y) == (0.0, 0.0, 0.0, 1.0)
    assert ground_surface(rising, x, y) == pytest.approx((3.0 + 0.75 * (x - 1.0), -0.6, 0.0, 0.8))
    for ground in (rising, field):
        assert ground_surface(ground, x, y)[0] == pytest.approx(tiles.natural_level(make_terrain(ground), x, y))
    assert ground_surface(field, 0.3, -0.7)[1:] == pytest.approx((-1.0 / math.sqrt(5.0), 0.0, 2.0 / math.sqrt(5.0)))
