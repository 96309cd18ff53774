"""Heaps of loose soil that a world has at the start: their shape and mass, at rest, and bad ones."""

import math

import numpy as np
import pytest

import grouser
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.data.soil import Heap, Soil, SoilGround
from grouser.physics.description.data.world import Ground
from grouser.physics.description.world.reader import parse_world
from grouser.physics.soil.bed import SoilBed

CELL, DENSITY, SWELL, REPOSE = 0.05, 1600.0, 1.25, math.radians(32.0)
SOIL = Soil("soil", "test", 1.5e6, 1.1, 2000.0, math.radians(30.0), 0.02, DENSITY, REPOSE, swell=SWELL)
FILE = "ground: {{soil: {{type: sandy_loam, cell: 0.05, heaps: [{}]}}}}"


def bed(*heaps, normal=(0.0, 0.0, 1.0)):
    return SoilBed(Ground(normal=normal, soil=SoilGround((SOIL,), cell=CELL, heaps=heaps)))


def test_a_heap_is_a_loose_cone_of_its_volume():
    """Midpoints of cells integrate a cone whose radius is 20 cells to a part in 20 squared."""
    ground = bed(Heap((1.62, -1.59), volume=0.5))
    assert ground.mass == pytest.approx(0.5 * DENSITY / SWELL, rel=1.0 / 400.0)
    ranges = (0.4, 2.8), (-2.8, -0.4)
    heights = ground.heights(*ranges)
    x, y = np.meshgrid(np.arange(8, 57) * CELL, np.arange(-56, -7) * CELL, indexing="ij")
    tall = (1.5 * math.tan(REPOSE) ** 2 / math.pi) ** (1.0 / 3.0)
    cone = np.maximum(tall - math.tan(REPOSE) * np.hypot(x - 1.62, y + 1.59), 0.0)
    assert heights == pytest.approx(cone, abs=1e-12)
    assert ground.loose(*ranges) == pytest.approx(cone, abs=1e-12)


def test_heaps_rest_until_they_are_cut_and_keep_their_mass():
    ground = bed(Heap((0.0, 0.0), height=0.3))
    assert ground.at_rest
    mass, before = ground.mass, ground.heights((-0.6, 0.6), (-0.6, 0.6)).max()
    taken = ground.cut(0.1, (0.0, 0.6), (-0.6, 0.6))
    ground.relax(20_000)
    assert ground.at_rest and ground.heights((-0.6, 0.6), (-0.6, 0.6)).max() < before - 0.02
    assert ground.mass + taken == pytest.approx(mass, rel=1e-12)


def test_heaps_that_meet_are_as_high_as_the_higher_one():
    both = bed(Heap((0.0, 0.0), height=0.3), Heap((0.3, 0.0), height=0.2))
    ranges = (-0.6, 0.8), (-0.6, 0.6)
    alone = [bed(heap).heights(*ranges) for heap in (Heap((0.0, 0.0), height=0.3), Heap((0.3, 0.0), height=0.2))]
    assert both.heights(*ranges) == pytest.approx(np.maximum(*alone), abs=1e-12)


def test_a_heap_on_a_slope_is_as_high_above_the_ground():
    angle = math.radians(10.0)
    ground = bed(Heap((0.5, 0.0), height=0.3), normal=(-math.sin(angle), 0.0, math.cos(angle)))
    (height,) = ground.loose((0.5, 0.5), (0.0, 0.0)).ravel()
    assert height == pytest.approx(0.3, abs=1e-12)


def test_the_world_yard_has_heaps():
    heaps = grouser.load_world("yard").soil.heaps
    assert heaps == (Heap((2.9, 0.0), height=0.4), Heap((0.0, 4.0), volume=1.0))


BAD = {
    "neither": ("{xy: [0, 0]}", "either a height or a volume"),
    "both": ("{xy: [0, 0], height: 1, volume: 1}", "either a height or a volume"),
    "no place": ("{height: 1}", "xy"),
    "flat": ("{xy: [0, 0], height: 0}", "heap height is 0.*0.01 to 10 m"),
    "volume": ("{xy: [0, 0], volume: -2}", "heap volume is -2.*1e-06 to 1000 m3"),
    "unknown": ("{xy: [0, 0], hight: 1}", "did you mean 'height'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_heaps_are_refused_with_their_line(case):
    text, words = BAD[case]
    with pytest.raises(MachineError, match=words) as refused:
        parse_world(FILE.format(text), "bad.yaml")
    assert "bad.yaml:1" in str(refused.value)


def test_a_heap_over_too_many_cells_is_refused():
    with pytest.raises(ParameterError, match="at most 1000 cells of 0.001 m; its radius is 1.6"):
        SoilGround((SOIL,), cell=0.001, heaps=(Heap((0.0, 0.0), height=1.0),))
