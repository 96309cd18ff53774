"""Slides of loose soil on tiles: heaps across the borders of tiles, balance of mass, faces that stand and that fail."""

import math

import numpy as np
import pytest

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.soil import Soil, SoilGround
from grouser.physics.description.data.world import Ground
from grouser.physics.soil.bed import SoilBed

CELL, GRAVITY = 0.05, 9.81
REPOSE, SWELL, DENSITY = math.radians(32.0), 1.25, 1600.0
LOOSE_DENSITY = DENSITY / SWELL


def soil(cohesion=0.0, repose=REPOSE, name="soil", density=DENSITY):
    return Soil(name, "test", 1.5e6, 1.1, cohesion, math.radians(30.0), 0.02, density, repose, swell=SWELL)


def bed(*soils, normal=(0.0, 0.0, 1.0), **fields):
    return SoilBed(Ground(normal=normal, soil=SoilGround(soils or (soil(),), cell=CELL, **fields)), GRAVITY)


def test_heap_across_tiles_is_a_cone_and_keeps_its_mass():
    """Poured around the corner of four tiles, whose sides are 1.6 m."""
    ground, mass, volume = bed(), 0.3 * LOOSE_DENSITY, 0.3
    ground.pour(mass, (1.5, 1.7), (-0.1, 0.1))
    assert ground.mass == pytest.approx(mass, rel=1e-14)
    ground.relax(20_000)
    assert ground.at_rest
    assert ground.mass == pytest.approx(mass, rel=1e-14)
    heights = ground.heights((0.0, 3.2), (-1.6, 1.6))
    tall = (3.0 * volume * math.tan(REPOSE) ** 2 / math.pi) ** (1.0 / 3.0)
    assert heights.max() == pytest.approx(tall, rel=0.03)
    # mean slope of the flanks
    slope = np.hypot(*np.gradient(heights, CELL))[(heights > 0.25 * tall) & (heights < 0.75 * tall)]
    assert math.degrees(math.atan(np.median(slope))) == pytest.approx(32.0, abs=0.5)
    assert np.degrees(np.arctan(slope)).max() < 33.5
    assert ground.loose((0.0, 3.2), (-1.6, 1.6)) == pytest.approx(heights, abs=1e-12)


@pytest.mark.parametrize("cells", [1, 3, 6])
def test_soil_between_vertical_walls_lies_at_repose(cells):
    """A wall beside it lets soil lie along it as it lies elsewhere."""
    ground, width = bed(soil(cohesion=2e4)), (0.0, (cells - 1) * CELL)
    ground.cut(-0.6, width, (-1.5, 1.5))
    ground.pour(0.2 * cells * CELL * LOOSE_DENSITY, width, (-0.05, 0.05))
    ground.relax(20_000)
    assert ground.at_rest
    heights = 0.6 + ground.heights(width, (-1.5, 1.5))
    slopes = np.degrees(np.arctan(np.abs(np.diff(heights, axis=1)) / CELL))
    flank = np.minimum(heights[:, 1:], heights[:, :-1]) > 0.08
    assert flank.sum() >= 10 * cells
    assert slopes[flank] == pytest.approx(32.0, abs=0.5)


def test_cut_soil_swells_when_it_is_laid():
    ground = bed(soil(cohesion=2e4))
    mass = ground.cut(-0.2, (0.0, 0.45), (0.0, 0.45))
    assert mass == pytest.approx(DENSITY * 0.2 * 0.5**2, rel=1e-12)
    assert ground.mass == pytest.approx(-mass, rel=1e-12)
    ground.pour(mass, (0.0, 0.45), (0.0, 0.45))
    assert ground.heights((0.0, 0.45), (0.0, 0.45)) == pytest.approx(0.05, rel=1e-9)
    assert abs(ground.mass) < 1e-9 * mass
    ground.relax(20_000)
    assert abs(ground.mass) < 1e-9 * mass


def trench(cohesion, depth):
    """A trench 0.6 m wide and 1 m long that has settled: ground, and heights across its middle [m]."""
    ground = bed(soil(cohesion))
    mass = ground.cut(-depth, (0.0, 0.55), (0.0, 0.95))
    ground.relax(50_000)
    assert ground.at_rest
    assert ground.mass == pytest.approx(-mass, rel=1e-12)
    return ground, ground.heights((-2.0, 2.0), (0.5, 0.5))[:, 0]


def standing_height(cohesion):
    return 4.0 * cohesion / (DENSITY * GRAVITY) * math.tan(math.radians(60.0))


@pytest.mark.parametrize("share", [0.5, 0.98])
def test_cut_stands_below_the_height_of_a_vertical_face(share):
    depth = share * standing_height(1500.0)
    ground, across = trench(1500.0, depth)
    assert set(np.round(across, 12)) == {0.0, round(-depth, 12)}
    assert not ground.loose((-2.0, 2.0), (0.5, 0.5)).any()


def test_higher_cut_fails_and_its_soil_lies_at_repose():
    ground, across = trench(1500.0, 1.05 * standing_height(1500.0))
    loose = ground.loose((-2.0, 2.0), (0.5, 0.5))[:, 0]
    assert loose.max() > 0.1
    assert across.min() > -standing_height(1500.0)
    # loose soil at repose, undisturbed soil up to the height of a vertical face
    steep = np.abs(np.diff(across)) > 1.01 * CELL * math.tan(REPOSE)
    bank = across - loose
    assert (np.minimum(loose[:-1], loose[1:])[steep] < 2e-4).all()
    assert np.abs(np.diff(bank)).max() < standing_height(1500.0)


def test_cut_without_cohesion_slides_to_repose():
    _, across = trench(0.0, 0.4)
    assert np.degrees(np.arctan(np.abs(np.diff(across)) / CELL)).max() < 32.5


def test_mass_is_kept_where_heavy_and_light_soil_meet():
    """Soil that slides from one to the other has its mass and takes the density of the other."""
    ground = bed(soil(), soil(name="light", density=800.0), types=np.array([[0], [1]]), types_cell=2.0)
    ground.pour(100.0, (0.9, 1.0), (0.0, 0.1))
    ground.relax(20_000)
    loose = ground.loose((-1.0, 3.0), (-2.0, 2.0))
    x = np.arange(-1.0, 3.001, CELL)
    assert loose[x < 0.95].any() and loose[x > 1.05].any()
    assert ground.mass == pytest.approx(100.0, rel=1e-13)


def test_natural_slope_below_repose_stays():
    ground = bed(normal=(-math.sin(0.5), 0.0, math.cos(0.5)))
    ground.pour(0.0, (0.0, 1.0), (0.0, 1.0))
    assert not ground.at_rest
    ground.relax(10)
    assert ground.at_rest and abs(ground.mass) < 1e-9


def test_wrong_ranges_are_refused():
    with pytest.raises(ParameterError, match="centre of a cell"):
        bed().cut(0.0, (0.01, 0.02), (0.0, 1.0))
    with pytest.raises(ParameterError, match="with soil"):
        SoilBed(Ground())
