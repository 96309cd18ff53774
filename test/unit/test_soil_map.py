"""Costs of soil on the cells of a map, and a path by Nav2's planner's cost that they lead around a soft patch."""

import numpy as np
import pytest
from nav2_laws import Planner, at, global_costs, nav2_parameters
from shipped import shipped_machine

from grouser import Simulation
from grouser.occupancy import OccupancyMap, occupancy_map
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground, World
from grouser.physics.description.soils.reader import load_soil
from grouser.soil_map import enter_ruts, soil_costs


@pytest.fixture(scope="module")
def yard():
    """Hard ground 16 m x 12 m with 4 m x 3 m of sand in the middle, in cells of 1 m, and a piece of loam."""
    types = np.full((16, 12), -1)
    types[6:10, 5:8] = 0
    types[0, 0] = 1
    soils = tuple(load_soil(name) for name in ("dry_sand", "sandy_loam"))
    soil = SoilGround(soils, types=types, types_cell=1.0, types_origin=(-7.5, -5.5))
    return World(ground=Ground(soil=soil))


@pytest.mark.parametrize("name", ["demolition_robot", "excavator"])
def test_soil_costs_of_tracks_are_the_sinkage_of_plates(yard, name):
    """Bekker's z of p = (k_c/b + k_phi) z^n under the longest straight runs, by half the radius of the belt's face."""
    machine, grid = shipped_machine(name), occupancy_map(yard, resolution=0.1)
    sand, track = yard.soil.soils[0], machine.tracks[0]
    area = sum(track.width * track.path.longest_run for track in machine.tracks)
    pressure = 9.80665 * Simulation(machine, yard).arrays.model.body_mass.sum() / area
    stiffness = sand.cohesive_modulus / track.width + sand.frictional_modulus
    sinkage = (pressure / stiffness) ** (1.0 / sand.exponent)
    found = at(grid, soil_costs(machine, yard, grid), 0.0, 0.0)
    assert found == pytest.approx(sinkage / (0.5 * (track.radius + track.thickness)), rel=0.01)


def test_soil_costs_are_the_used_bearing_strength_of_the_soil_in_each_cell(yard):
    rover = shipped_machine("rover")
    grid = occupancy_map(yard, resolution=0.1, margin=2.0)
    costs = soil_costs(rover, yard, grid)
    assert costs.shape == grid.occupied.shape
    sand, loam = 1.0 - Simulation(rover, yard).bearing_margins()
    assert 0.0 < loam < sand < 1.0
    # half a cell of the map inside and outside of the borders of the sand: x from -2 to 2, y from -1 to 2
    for x, y, expected in [
        (-1.95, -0.95, sand),
        (1.95, 1.95, sand),
        (-2.05, 0.0, 0.0),
        (2.05, 0.0, 0.0),
        (0.0, -1.05, 0.0),
        (0.0, 2.05, 0.0),
        (-7.95, -5.95, loam),
        (-9.0, -7.0, loam),  # beyond the grid its border continues
    ]:
        assert at(grid, costs, x, y) == expected, (x, y)


def test_ground_of_one_soil_and_rigid_ground_have_one_cost():
    rover = shipped_machine("rover")
    sand = World(ground=Ground(soil=SoilGround((load_soil("dry_sand"),))))
    grid = occupancy_map(sand, resolution=0.5)
    (margin,) = Simulation(rover, sand).bearing_margins()
    assert np.unique(soil_costs(rover, sand, grid)).tolist() == [1.0 - margin]
    assert not soil_costs(rover, World(), grid).any()


def test_machine_without_wheels_and_tracks_has_no_soil_costs():
    grid = occupancy_map(World())
    with pytest.raises(ParameterError, match="machine with <wheel> or <track> elements"):
        soil_costs(shipped_machine("four_bar"), World(), grid)


def test_ruts_are_entered_where_they_are_and_forgotten_where_they_are_filled():
    grid = OccupancyMap(np.zeros((20, 30), dtype=bool), (-1.0, -0.5), 0.1)
    costs = np.zeros((20, 30))
    ruts = np.full((50, 50), -0.01)  # 1 m x 1 m from (0, 0)
    ruts[10, 20:24] = (0.2, 0.4, 0.6, 0.8)  # y = 0.21; x = 0.41 to 0.47
    enter_ruts(costs, grid, ruts, (0.0, 0.0), 0.02)
    expected = np.zeros_like(costs)
    expected[7, 14] = 0.8
    np.testing.assert_array_equal(costs, expected)
    enter_ruts(costs, grid, np.full((50, 50), -0.01), (3.0, 0.0), 0.02)  # beyond the map
    np.testing.assert_array_equal(costs, expected)
    enter_ruts(costs, grid, np.zeros((50, 50)), (0.0, 0.0), 0.02)
    assert not costs.any()


@pytest.mark.parametrize("soil", [False, True])
def test_planned_path_goes_around_a_soft_patch_with_soil_layers(yard, soil):
    """Straight ahead it is 12 m, of which 4 m on sand; around the corner it is 0.3 m longer."""
    grid = occupancy_map(yard, resolution=0.1)
    costs = soil_costs(shipped_machine("rover"), yard, grid)
    parameters = nav2_parameters("rover_soil" if soil else "rover")["global_costmap"]
    path = Planner(grid, global_costs(grid, costs, parameters)).path((-6.0, 0.0), (6.0, 0.0))
    on_sand = np.array([at(grid, costs, *place) > 0.0 for place in path])
    length = np.sum(np.hypot(*np.diff(path, axis=0).T))
    assert length < 13.5
    if soil:
        assert not on_sand.any()
        assert path[:, 1].min() < -1.0
    else:
        assert np.count_nonzero(on_sand) == 40
