"""Contacts with a height field against a search over all of its triangles, and against a plane."""

import itertools
import math

import numpy as np
import pytest
from contact_scene import Scene, free_bodies, hull_mesh, random_quaternion

from grouser.physics.base import spatial
from grouser.physics.contact.terrain import make_terrain, nearest_to_sphere, surface_below
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, PointSet, Sphere
from grouser.physics.description.data.world import Ground, Heightfield, World

BOTH = pytest.mark.parametrize("of", [lambda leaf: leaf, lambda leaf: leaf.py_func], ids=["compiled", "python"])
ROUND_OFF = 1e-12
CELL, ORIGIN = 0.25, (-1.0, -2.0)
HILLS = np.random.default_rng(2).uniform(0.0, 0.3, (9, 17))


def field(heights, cell=CELL, origin=ORIGIN, **ground):
    return World(ground=Ground(heightfield=Heightfield(np.asarray(heights, dtype=float), cell, origin), **ground))


def slope(x_slope, y_slope=0.0, kink=0.0, cell=0.25, count=21):
    """A field about the origin with slopes x_slope and y_slope; for positive x, `kink` is added to x_slope."""
    x = cell * (np.arange(count) - count // 2)
    heights = np.where(x > 0.0, (x_slope + kink) * x, x_slope * x)[:, np.newaxis] + y_slope * x
    return field(heights, cell, (x[0], x[0]))


def triangles(heights, cell=CELL, origin=ORIGIN):
    """All triangles of a field, (triangles, 3, 3)."""
    i, j = np.meshgrid(np.arange(heights.shape[0]), np.arange(heights.shape[1]), indexing="ij")
    points = np.stack([origin[0] + cell * i, origin[1] + cell * j, heights], axis=-1)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    lower, upper = np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)
    return np.concatenate([lower.reshape(-1, 3, 3), upper.reshape(-1, 3, 3)])


def nearest_of_all(corners, point):
    """Nearest of the nearest points of triangles: inside or on one of the sides."""
    best = (math.inf, None)
    for a, b, c in corners:
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal)
        foot = point - (point - a) @ normal * normal
        inside = all(np.cross(q - p, foot - p) @ normal >= 0.0 for p, q in ((a, b), (b, c), (c, a)))
        feet = [foot] if inside else []
        for p, q in ((a, b), (b, c), (c, a)):
            feet.append(p + np.clip((point - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0) * (q - p))
        for each in feet:
            best = min(best, (float(np.linalg.norm(point - each)), tuple(each)))
    return best


# --- spheres ----------------------------------------------------------------------------------------------------------


@BOTH
def test_nearest_point_of_the_field_is_that_of_all_triangles(of):
    terrain, corners = make_terrain(field(HILLS).ground), triangles(HILLS)
    random, near = np.random.default_rng(3), np.zeros((3, 4))
    for _ in range(60):
        x, y = random.uniform(-0.7, 0.7), random.uniform(-1.7, 1.7)
        height = surface_below(terrain.heights, CELL, *ORIGIN, x, y)[0]
        point = np.array([x, y, height + random.uniform(0.01, 0.4)])
        distance, foot = nearest_of_all(corners, point)
        count = of(nearest_to_sphere)(terrain.heights, terrain.crest, CELL, *ORIGIN, *point, distance + 1e-3, near)
        assert count >= 1
        assert near[0, 3] == pytest.approx(distance, abs=ROUND_OFF)
        assert point - near[0, 3] * near[0, :3] == pytest.approx(np.array(foot), abs=1e-9)


def test_sphere_contacts_are_local_minima_of_the_distance():
    """The surface around every point found is farther away."""
    terrain = make_terrain(field(HILLS).ground)
    random, near = np.random.default_rng(4), np.zeros((3, 4))
    several = 0
    for _ in range(300):
        x, y = random.uniform(-0.7, 0.7), random.uniform(-1.7, 1.7)
        point = np.array([x, y, surface_below(terrain.heights, CELL, *ORIGIN, x, y)[0] + random.uniform(0.05, 0.3)])
        count = nearest_to_sphere(terrain.heights, terrain.crest, CELL, *ORIGIN, *point, 0.5, near)
        several += count > 1
        for k in range(count):
            foot = point - near[k, 3] * near[k, :3]
            assert surface_below(terrain.heights, CELL, *ORIGIN, *foot[:2])[0] == pytest.approx(foot[2], abs=1e-9)
            for angle in np.arange(0.0, 6.2, 0.3):
                u, v = foot[:2] + 1e-4 * np.array([math.cos(angle), math.sin(angle)])
                beside = np.array([u, v, surface_below(terrain.heights, CELL, *ORIGIN, u, v)[0]])
                assert np.linalg.norm(point - beside) > near[k, 3] - 1e-9
    assert several > 50


@pytest.mark.parametrize("tilt", [(0.0, 0.0), (0.3, -0.2)], ids=["level", "tilted"])
def test_flat_height_field_gives_the_contacts_of_a_plane(tilt):
    normal = np.array([-tilt[0], -tilt[1], 1.0]) / math.hypot(*tilt, 1.0)
    machine = free_bodies(Sphere(0.2), Box((0.3, 0.4, 0.2)), Cylinder(0.2, 0.3), Capsule(0.1, 0.4), hull_mesh(HULL))
    plane, even = Scene(machine, World(ground=Ground(normal=tuple(normal)))), Scene(machine, slope(*tilt))
    assert not even.collision.terrain.peak[1:-1, 1:-1].any()
    random = np.random.default_rng(6)
    touched = 0
    for _ in range(200):
        for body in range(5):
            place, turn = (*random.uniform(-1.0, 1.0, 2), 0.0), random_quaternion(random)
            lift = np.array([0.0, 0.0, tilt[0] * place[0] + tilt[1] * place[1]]) + random.uniform(0.05, 0.3) * normal
            for scene in (plane, even):
                scene.place(body, place + lift, turn, linear=(0.3, 0.2, -1.0))
        flat, found = ([c for c in scene.touch() if c.other_shape < 0] for scene in (plane, even))
        assert len(flat) == len(found)
        touched += len(found)
        for one, other in zip(flat, found, strict=True):
            assert (one.body, one.shape, one.law) == (other.body, other.shape, other.law)
            assert other.gap == pytest.approx(one.gap, abs=ROUND_OFF)
            assert other.normal == pytest.approx(normal, abs=1e-9)
            assert other.point == pytest.approx(one.point, abs=1e-9)
    assert touched > 300


HULL = np.random.default_rng(7).normal(size=(10, 3)) * 0.15


def test_ball_on_a_flat_field_has_one_contact_across_cell_borders():
    scene = Scene(free_bodies(Sphere(0.01)), slope(0.0))
    # a small fast ball searches 20 mm ahead, twice its radius: borders of triangles must give no contacts
    for step in range(700):
        (contact,) = scene.place(0, (1e-3 * step - 0.35, 3e-4 * step, 0.01), linear=(10.0, 3.0, 0.0)).touch()
        assert contact.normal == pytest.approx([0, 0, 1], abs=1e-9)
        assert contact.gap == pytest.approx(0.0, abs=ROUND_OFF)


def test_normal_of_a_ball_is_continuous_over_a_ridge():
    scene, radius = Scene(free_bodies(Sphere(0.2)), slope(0.5, kink=-1.0)), 0.2
    steep = math.atan(0.5)
    for angle in np.linspace(-1.5 * steep, 1.5 * steep, 61):
        # on the ridge, or on the slope on either side
        tilt = np.clip(angle, -steep, steep)
        slid = 0.3 * (angle - tilt)
        middle = radius * np.array([math.sin(tilt), 0, math.cos(tilt)])
        foot = slid * np.array([math.cos(tilt), 0.0, -math.sin(tilt)])
        (contact,) = scene.place(0, middle + foot).touch()
        assert contact.gap == pytest.approx(0.0, abs=ROUND_OFF)
        assert contact.normal == pytest.approx([math.sin(tilt), 0, math.cos(tilt)], abs=1e-9)
        assert contact.point == pytest.approx(foot, abs=1e-9)


def test_ball_in_a_valley_touches_both_sides():
    steep = math.atan(0.5)
    scene = Scene(free_bodies(Sphere(0.2)), slope(-0.5, kink=1.0))
    found = scene.place(0, (0, 0.1, 0.2 / math.cos(steep))).touch()
    assert sorted(round(float(contact.normal[0]), 9) for contact in found) == pytest.approx(
        [-math.sin(steep), math.sin(steep)], abs=1e-8
    )
    assert [contact.gap for contact in found] == pytest.approx([0.0, 0.0], abs=ROUND_OFF)
    assert len({contact.slot for contact in found}) == 2


def test_ball_below_the_surface_is_pushed_out():
    scene = Scene(free_bodies(Sphere(0.2)), slope(0.5))
    (contact,) = scene.place(0, (0.1, 0.1, -1.0)).touch()
    assert contact.normal == pytest.approx(np.array([-0.5, 0, 1]) / math.hypot(0.5, 1), abs=ROUND_OFF)
    assert contact.gap == pytest.approx(-1.05 / math.hypot(0.5, 1) - 0.2, abs=ROUND_OFF)


# --- points, rims and peaks -------------------------------------------------------------------------------------------


def test_field_continues_level_beyond_its_border():
    scene = Scene(free_bodies(PointSet(np.zeros((1, 3)))), field([[0.0, 0.0], [1.0, 1.0]], cell=1.0, origin=(0.0, 0.0)))
    for x, height, rise in ((-50.0, 0.0, 0.0), (0.25, 0.25, 1.0), (1.0 + 1e-9, 1.0, 0.0), (70.0, 1.0, 0.0)):
        (contact,) = scene.place(0, (x, 30.0, height)).touch()
        assert contact.gap == pytest.approx(0.0, abs=ROUND_OFF)
        assert contact.normal == pytest.approx(np.array([-rise, 0.0, 1.0]) / math.hypot(rise, 1.0))


def test_point_gap_is_the_distance_to_the_triangle_below():
    scene, random = Scene(free_bodies(PointSet(np.zeros((1, 3)))), field(HILLS)), np.random.default_rng(8)
    for _ in range(50):
        i, j = random.integers(0, 8), random.integers(0, 16)
        u, v = random.uniform(0, 1, 2)
        corner = np.array([ORIGIN[0] + CELL * i, ORIGIN[1] + CELL * j, HILLS[i, j]])
        side = (i + 1, j) if v <= u else (i, j + 1)
        one = np.array([CELL * (side[0] - i), CELL * (side[1] - j), HILLS[side] - HILLS[i, j]])
        other = np.array([CELL, CELL, HILLS[i + 1, j + 1] - HILLS[i, j]])
        normal = np.cross(one, other) / np.linalg.norm(np.cross(one, other))
        normal *= math.copysign(1.0, normal[2])
        foot = corner + np.array([CELL * u, CELL * v, 0.0])
        foot[2] += ((corner - foot) @ normal) / normal[2]
        (contact,) = scene.place(0, (*foot[:2], foot[2] + 5e-4)).touch()
        assert contact.normal == pytest.approx(normal, abs=1e-9)
        assert contact.gap == pytest.approx(5e-4 * normal[2], abs=ROUND_OFF)


def test_wheel_on_a_slope_touches_with_the_lowest_points_of_its_rims():
    scene = Scene(free_bodies(Cylinder(0.3, 0.2)), slope(0.4))
    normal = np.array([-0.4, 0.0, 1.0]) / math.hypot(0.4, 1.0)
    lying = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
    turn = spatial.quaternion_product(*spatial.quaternion_exponential(0.0, 0.7, 0.0), *lying)
    found = scene.place(0, 0.3 * normal, turn).touch()
    assert sorted(round(float(contact.point[1]), 9) for contact in found) == [-0.1, 0.1]
    for contact in found:
        assert contact.gap == pytest.approx(0.0, abs=ROUND_OFF)
        assert contact.point[[0, 2]] == pytest.approx([0.0, 0.0], abs=1e-9)


PLATE = hull_mesh(list(itertools.product((-1, 1), (-1, 1), (-0.1, 0.1))))


@pytest.mark.parametrize("solid", [Box((1.0, 1.0, 0.2)), Cylinder(0.5, 0.2), PLATE], ids=["box", "cylinder", "mesh"])
def test_peak_is_a_contact_of_a_face(solid):
    heights = np.zeros((21, 21))
    heights[10, 10] = 0.5
    scene = Scene(free_bodies(solid), field(heights, 0.1, (-1.0, -1.0)))
    (contact,) = scene.place(0, (0.2, 0.1, 0.599)).touch()
    assert contact.gap == pytest.approx(-1e-3, abs=ROUND_OFF)
    assert contact.normal == pytest.approx([0, 0, 1], abs=ROUND_OFF)
    assert contact.point == pytest.approx([0.0, 0.0, 0.499], abs=ROUND_OFF)
    assert (contact.body, contact.other, contact.other_shape) == (0, -1, -1)


def test_capsule_lies_on_peaks_between_its_ends():
    heights = np.zeros((21, 21))
    heights[10, 10] = 0.5
    scene = Scene(free_bodies(Capsule(0.1, 1.0)), field(heights, 0.1, (-1.0, -1.0)))
    (contact,) = scene.place(0, (0.2, 0.0, 0.6), (0, math.sqrt(0.5), 0, math.sqrt(0.5))).touch()
    assert contact.gap == pytest.approx(0.0, abs=ROUND_OFF)
    assert contact.point == pytest.approx([0.0, 0.0, 0.5], abs=ROUND_OFF)


def test_deepest_peaks_are_kept():
    heights = np.zeros((21, 21))
    places = [(4, 4), (4, 16), (16, 4), (16, 16), (10, 10), (10, 4)]
    for depth, place in enumerate(places):
        heights[place] = 0.5 + 1e-4 * depth
    scene = Scene(free_bodies(Box((1.8, 1.8, 0.2))), field(heights, 0.1, (-1.0, -1.0)))
    found = scene.place(0, (0, 0, 0.6)).touch()
    assert [round(contact.gap, 9) for contact in found] == [-5e-4, -4e-4, -3e-4, -2e-4]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e300])
def test_nan_state_gives_no_contacts(bad):
    scene = Scene(free_bodies(Sphere(0.2), Cylinder(0.3, 0.2)), field(HILLS))
    scene.place(0, (bad, 0.0, 0.1)).place(1, (0.0, 0.0, 0.1))
    scene.v[6:] = bad
    assert all(np.isfinite(contact.gap) for contact in scene.touch())
