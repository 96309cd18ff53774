"""Occupancy maps of worlds: occupied cells against closed forms, and files for map servers."""

import math

import numpy as np
import pytest
import yaml

from grouser import cli
from grouser.catalogue import world_file
from grouser.occupancy import Passable, occupancy_map
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_world
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import quaternion_from_rpy
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from grouser.physics.description.data.world import Ground, Heightfield, Obstacle, World

CELL = 0.05  # [m]
# Allowed enlargement of round shapes: a ball's polyhedron of 48 sides reaches 1 / cos(pi / 48)^2 of its radius.
ROUND = 1.0 / math.cos(math.pi / 48.0) ** 2


def mapped(geometry, pose=Pose(), **options):
    """The map of a world with one obstacle on level ground."""
    return occupancy_map(World(obstacles=(Obstacle("one", geometry, pose),)), **{"resolution": CELL, **options})


def edges(grid):
    """Lower and upper x of the columns, then lower and upper y of the rows."""
    rows, columns = grid.occupied.shape
    x = grid.origin[0] + grid.resolution * np.arange(columns)
    y = grid.origin[1] + grid.resolution * np.arange(rows)
    return x, x + grid.resolution, y, y + grid.resolution


def span(grid):
    """Least and greatest x and y that is occupied."""
    west, east, south, north = edges(grid)
    columns, rows = grid.occupied.any(axis=0), grid.occupied.any(axis=1)
    return west[columns].min(), east[columns].max(), south[rows].min(), north[rows].max()


def square_distance(grid, x, y):
    """Distance of each cell's nearest point from a place."""
    west, east, south, north = edges(grid)
    dx = np.maximum(np.maximum(west - x, x - east), 0.0)
    dy = np.maximum(np.maximum(south - y, y - north), 0.0)
    return np.hypot(dx[np.newaxis, :], dy[:, np.newaxis])


def assert_disc(grid, x, y, radius):
    """Checks that all cells that overlap a disc are occupied, and none outside of a slightly larger disc."""
    distance = square_distance(grid, x, y)
    assert grid.occupied[distance < radius - 1e-9].all()
    assert not grid.occupied[distance > ROUND * radius + 1e-9].any()
    assert grid.occupied.any()


def test_box_aligned_with_the_grid_occupies_only_its_cells():
    grid = mapped(Box((1.0, 0.5, 1.0)), Pose((0.5, 0.25, 0.5)))
    assert span(grid) == pytest.approx((0.0, 1.0, 0.0, 0.5), abs=1e-12)
    assert grid.occupied.sum() == 20 * 10


def test_box_off_the_grid_occupies_every_overlapped_cell():
    grid = mapped(Box((1.0, 0.5, 1.0)), Pose((0.51, 0.27, 0.5)))
    assert grid.occupied.sum() == 21 * 11


def test_sheet_thinner_than_a_cell_is_occupied():
    grid = mapped(Box((0.001, 2.0, 1.0)), Pose((0.01, 0.0, 0.5)))
    assert grid.occupied.sum() == 40
    assert span(grid) == pytest.approx((0.0, 0.05, -1.0, 1.0), abs=1e-12)


def test_occupied_area_of_a_rotated_box():
    """The occupied area is within the outline offset by a cell's diagonal d: area + perimeter d + pi d^2 (Steiner)."""
    turn, diagonal = math.radians(30.0), CELL * math.sqrt(2.0)
    grid = mapped(Box((3.0, 1.0, 1.0)), Pose((0.0, 0.0, 0.5), quaternion_from_rpy(0.0, 0.0, turn)))
    assert 3.0 < grid.occupied.sum() * CELL**2 < 3.0 + 8.0 * diagonal + math.pi * diagonal**2
    east = 1.5 * math.cos(turn) + 0.5 * math.sin(turn)
    assert span(grid)[1] == pytest.approx(math.ceil(east / CELL) * CELL, abs=1e-9)


@pytest.mark.parametrize(("place", "radius"), [((0.0, 0.0), 0.4), ((0.313, -0.127), 0.4), ((0.0, 0.0), 8.0)])
def test_vertical_cylinder_occupies_a_disc(place, radius):
    assert_disc(mapped(Cylinder(radius, 1.0), Pose((*place, 0.5))), *place, radius)


def test_half_sunk_sphere_occupies_its_part_above_the_lowest_obstacle():
    grid = mapped(Sphere(0.9), passable=Passable(lowest=0.25))
    # a polyhedron a little larger is cut where it is wider still
    wider = math.sqrt((ROUND * 0.9) ** 2 - 0.25**2) / math.sqrt(0.9**2 - 0.25**2)
    distance = square_distance(grid, 0.0, 0.0)
    radius = math.sqrt(0.9**2 - 0.25**2)
    assert grid.occupied[distance < radius - 1e-9].all()
    assert not grid.occupied[distance > wider * radius].any()


def test_horizontal_capsule_occupies_a_strip():
    across = quaternion_from_rpy(math.radians(90.0), 0.0, 0.0)
    grid = mapped(Capsule(0.29, 2.0), Pose((0.0, 0.0, 0.3), across))
    assert span(grid) == pytest.approx((-0.3, 0.3, -1.3, 1.3), abs=1e-9)
    distance = np.minimum(square_distance(grid, 0.0, 1.0), square_distance(grid, 0.0, -1.0))
    _, _, south, north = edges(grid)
    ends = (south >= 1.0) | (north <= -1.0)
    assert grid.occupied[distance < 0.29 - 1e-9].all()
    assert not grid.occupied[ends][distance[ends] > ROUND * 0.29 + 1e-9].any()


def test_ramp_is_occupied_where_it_is_too_high():
    """A wedge by its convex hull, from 0 to 1 m over 4 m: higher than 0.26 m from x = 1.04 m on."""
    hull = np.array([[x, y, z] for y in (-1.0, 1.0) for x, z in ((0.0, 0.0), (4.0, 0.0), (4.0, 1.0))])
    grid = mapped(Mesh("wedge", "wedge", hull=hull), passable=Passable(lowest=0.26))
    assert span(grid) == pytest.approx((1.0, 4.0, -1.0, 1.0), abs=1e-9)


def test_flat_mesh_is_occupied():
    hull = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    assert mapped(Mesh("plate", "plate", hull=hull), Pose((0.0, 0.0, 0.5))).occupied.sum() == 20 * 20
    upright = Pose((0.0, 0.02, 0.0), quaternion_from_rpy(math.radians(90.0), 0.0, 0.0))
    assert mapped(Mesh("plate", "plate", hull=hull), upright).occupied.sum() == 20


@pytest.mark.parametrize(("bottom", "occupied"), [(1.99, True), (2.01, False)])
def test_high_obstacle_is_driven_under(bottom, occupied):
    assert mapped(Box((1.0, 1.0, 0.5)), Pose((0.0, 0.0, bottom + 0.25))).occupied.any() == occupied


@pytest.mark.parametrize(("top", "occupied"), [(0.24, False), (0.26, True)])
def test_low_obstacle_is_driven_over(top, occupied):
    assert mapped(Box((1.0, 1.0, 1.0)), Pose((0.0, 0.0, top - 0.5))).occupied.any() == occupied


def test_obstacle_heights_are_measured_from_the_ground():
    """A bar at a height of 0.3 m over ground that rises by 10 degrees towards x."""
    rise = math.radians(10.0)
    ground = Ground(normal=(-math.sin(rise), 0.0, math.cos(rise)))
    bar = Obstacle("bar", Box((10.0, 0.1, 0.02)), Pose((0.0, 0.0, 0.29)))
    grid = occupancy_map(World(ground=ground, obstacles=(bar,)), Passable(lowest=0.2, highest=1.0), CELL)
    # its top is 0.2 m above the ground where x tan(rise) = 0.1 m, its bottom 1 m above it where x tan(rise) = -0.72 m
    west, east, _, _ = span(grid)
    assert east == pytest.approx(0.1 / math.tan(rise), abs=CELL)
    assert west == pytest.approx(-0.72 / math.tan(rise), abs=CELL)


@pytest.mark.parametrize(("slope", "occupied"), [(19.9, False), (20.0, False), (20.1, True)])
def test_steep_slope_is_occupied(slope, occupied):
    normal = (-math.sin(math.radians(slope)), 0.0, math.cos(math.radians(slope)))
    grid = occupancy_map(World(ground=Ground(normal=normal)))
    assert np.all(grid.occupied == occupied)


def test_steep_part_of_a_height_field_is_occupied():
    """Level up to x = 1 m, then a slope of 45 degrees up to x = 2 m; the grid is known from 0 to 3 m."""
    profile = np.interp(np.arange(0.0, 3.05, 0.1), [1.0, 2.0], [0.0, 1.0])
    field = Heightfield(np.repeat(profile[:, np.newaxis], 11, axis=1), 0.1, (0.0, 0.0))
    grid = occupancy_map(World(ground=Ground(heightfield=field)), resolution=CELL, margin=0.5)
    assert grid.origin == pytest.approx((-0.5, -0.5), abs=1e-12)
    assert grid.occupied.shape == (40, 80)
    assert span(grid) == pytest.approx((1.0, 2.0, -0.5, 1.5), abs=1e-9)
    assert grid.occupied.sum() == 20 * 40


def test_walls_of_a_world_edge_are_occupied():
    """The world `mixed`, 26 m x 18 m: within its walls all but the boulder is free, and the walls are 1 m thick."""
    world = load_world(world_file("mixed"))
    grid = occupancy_map(world, margin=0.0)
    assert span(grid) == pytest.approx((-14.0, 14.0, -10.0, 10.0), abs=1e-9)
    boulder = math.pi * (0.4**2 - 0.25**2)
    inside = grid.occupied.sum() * grid.resolution**2 - (28.0 * 20.0 - 26.0 * 18.0)
    assert boulder < inside < boulder + 2.0 * math.pi * 0.4 * grid.resolution * math.sqrt(2.0)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"resolution": 0.0}, "resolution"),
        ({"resolution": math.nan}, "resolution"),
        ({"resolution": 1e-4}, "resolution"),
        ({"margin": -1.0}, "margin"),
        ({"passable": Passable(lowest=3.0)}, "lowest"),
        ({"passable": Passable(lowest=math.nan)}, "lowest"),
        ({"passable": Passable(steepest=math.nan)}, "steepest"),
        ({"passable": Passable(steepest=2.0)}, "steepest"),
    ],
)
def test_invalid_map_parameters_are_refused(options, name):
    with pytest.raises(ParameterError, match=name):
        occupancy_map(World(), **options)


def read_map(file):
    """Occupancies as nav2_map_server reads them in its mode trinary, rows from the least y on, and the YAML file."""
    about = yaml.safe_load(file.read_text())
    kind, size, depth, pixels = (file.parent / about["image"]).read_bytes().split(b"\n", 3)
    columns, rows = (int(number) for number in size.split())
    assert (kind, depth, about["mode"], about["negate"]) == (b"P5", b"255", "trinary", 0)
    grey = np.frombuffer(pixels, np.uint8).reshape(rows, columns)[::-1]
    share = 1.0 - grey / 255.0
    unknown = np.full(grey.shape, -1)
    return np.select([share >= about["occupied_thresh"], share <= about["free_thresh"]], [100, 0], unknown), about


def test_map_files_equal_the_map(tmp_path, capsys):
    file = tmp_path / "course.yaml"
    status = cli.main(["map", "obstacles", "--output", str(file), "--resolution", "0.1", "--margin", "2"])
    assert status == 0
    assert "course.pgm" in capsys.readouterr().out
    grid = occupancy_map(load_world(world_file("obstacles")), resolution=0.1, margin=2.0)
    read, about = read_map(file)
    np.testing.assert_array_equal(read, 100 * grid.occupied)
    assert (about["resolution"], about["origin"]) == (0.1, [*grid.origin, 0.0])
    # the post: at x = 2.5, y = -2.5, in the lower right of the picture
    column, row = (round((place - low) / 0.1 - 0.5) for place, low in zip((2.5, -2.5), grid.origin, strict=True))
    assert read[row, column] == 100


def test_missing_world_is_named(capsys):
    assert cli.main(["map", "obstacle"]) == 2
    assert "obstacles" in capsys.readouterr().err
