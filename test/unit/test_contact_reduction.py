"""Vertices of meshes along a direction, and the few contact points that keep the polygon on which a body stands."""

import numpy as np
import pytest
from contact_scene import Scene, free_bodies, hull_mesh, random_quaternion

from grouser.physics.base.packed import Packed
from grouser.physics.contact.hull_graph import clear_cap, find_cap, highest_vertex, make_cap
from grouser.physics.contact.reduction import BEARING, HULL_POINTS, choose_corners, make_chosen
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Ground, World

# Sums of three products of numbers about one.
ROUND_OFF = 1e-14
# By which the corners chosen may lie inside of the polygon, as a share of its diameter: a regular nonagon without a
# corner by 1 - cos(40 degrees) of the radius. A circle lies outside of an octagon by 3.8 %, and of one whose sides
# differ by one of 77 parts by 4.1 %.
POLYGON_ERROR, ROUND_ERROR = 0.12, 0.042


def ball(vertices, seed):
    """Points on an ellipsoid."""
    points = np.random.default_rng(seed).normal(size=(vertices, 3))
    return points / np.linalg.norm(points, axis=1)[:, None] * [0.4, 0.3, 0.5]


def prism(corners, radius=0.3, height=0.1, turn=0.0):
    """Corners of a prism over a regular polygon about the z axis."""
    angle = turn + 2.0 * np.pi * np.arange(corners) / corners
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return np.array([(*point, side * 0.5 * height) for side in (-1, 1) for point in ring])


HULLS = [ball(240, 1), ball(90, 2), ball(21, 3), ball(9, 4), prism(77), prism(120, height=1e-4), prism(12, radius=1e-3)]


@pytest.mark.parametrize("points", HULLS)
def test_highest_vertices_and_caps_are_those_of_a_scan(points):
    scene = Scene(free_bodies(hull_mesh(ball(50, 7)), hull_mesh(points)))
    shapes, (begin, end) = Packed(scene.collision.shapes), scene.collision.shapes.part[1, :2]
    vertex, faces = scene.collision.shapes.vertex, scene.collision.shapes.face_corner
    cap, random = Packed(make_cap(len(vertex), len(faces))), np.random.default_rng(5)
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    for direction in np.concatenate([random.normal(size=(300, 3)), axes, axes + 1e-9]):
        direction /= np.linalg.norm(direction)
        along = vertex[begin:end] @ direction
        size = np.abs(vertex[begin:end]).max()
        found = highest_vertex(shapes, 1, *direction)
        assert begin <= found < end
        assert vertex[found] @ direction == pytest.approx(along.max(), abs=ROUND_OFF * size)
        level = along.max() - random.choice([1e-5, 0.02, 0.5, 3.0]) * size
        vertices, count = find_cap(shapes, 1, *direction, level, cap)
        assert set(cap.vertex[:vertices].tolist()) == set((begin + np.flatnonzero(along >= level)).tolist())
        at = np.isin(faces, cap.vertex[:vertices]).any(axis=1)
        assert sorted(cap.face[:count].tolist()) == np.flatnonzero(at).tolist()
        clear_cap(cap, vertices, count)
        assert not cap.seen_vertex.any() and not cap.seen_face.any()


def farthest_outside(polygon, points):
    """Largest distance of points from a convex polygon, counter-clockwise."""
    edge = np.roll(polygon, -1, axis=0) - polygon
    outward = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / np.linalg.norm(edge, axis=1)[:, None]
    return float(np.einsum("pek,ek->pe", points[:, None] - polygon, outward).max())


@pytest.mark.parametrize("corners", [5, 8, 9, 17, 77, 200])
def test_chosen_corners_keep_the_polygon(corners):
    random = np.random.default_rng(corners)
    for _ in range(200):
        even = 2.0 * np.pi * np.arange(corners) / corners
        angle = even if random.random() < 0.3 else np.sort(random.uniform(0.0, 2.0 * np.pi, corners))
        polygon = np.zeros((corners, 4))
        polygon[:, :2] = np.stack([np.cos(angle), np.sin(angle)], axis=1) * random.uniform(0.05, 1.0, 2)
        chosen = make_chosen()
        number = choose_corners(polygon, corners, HULL_POINTS, *random.normal(size=2), chosen)
        assert 3 <= number <= HULL_POINTS
        picked = chosen[:number]
        assert np.all(np.diff(picked) > 0)
        diameter = np.linalg.norm(polygon[:, None, :2] - polygon[None, :, :2], axis=2).max()
        assert farthest_outside(polygon[picked, :2], polygon[:, :2]) <= POLYGON_ERROR * diameter


def test_a_rectangle_keeps_its_corners_alone():
    """Points along its sides are left out."""
    side = np.linspace(0.0, 1.0, 20)
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
    polygon = np.zeros((80, 4))
    polygon[:, :2] = np.concatenate(
        [a + side[:, None] * (b - a) for a, b in zip(corners, np.roll(corners, -1, 0), strict=True)]
    )
    chosen = make_chosen()
    assert choose_corners(polygon, 80, HULL_POINTS, 0.6, 0.8, chosen) == 4
    assert {tuple(point) for point in polygon[chosen[:4], :2].tolist()} == {tuple(point) for point in corners.tolist()}


@pytest.mark.parametrize("on_plane", [True, False])
@pytest.mark.parametrize("depth", [-1e-6, 0.0, 1e-5, 1e-3])
def test_flat_part_touches_with_few_points_of_its_outline(depth, on_plane):
    points = prism(77, turn=0.02)
    below = () if on_plane else (Box((4.0, 4.0, 1.0)),)
    scene = Scene(free_bodies(hull_mesh(points), *below), World(ground=Ground() if on_plane else None))
    if not on_plane:
        scene.place(1, (0.0, 0.0, -0.5))
    found = scene.place(0, (0.3, 0.1, 0.05 - depth)).touch()
    assert 4 <= len(found) <= HULL_POINTS
    place = np.array([contact.point[:2] - [0.3, 0.1] for contact in found])
    order = np.argsort(np.arctan2(place[:, 1], place[:, 0]))
    assert farthest_outside(place[order], points[:77, :2]) <= ROUND_ERROR * 0.6
    for contact in found:
        assert contact.gap == pytest.approx(-depth, abs=1e-12)
        assert contact.point[2] == pytest.approx(-depth, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_lowest_vertex_of_a_mesh_always_touches(seed):
    random = np.random.default_rng(seed)
    scene = Scene(free_bodies(hull_mesh(ball(240, seed))), World(ground=Ground()))
    vertex = scene.collision.shapes.vertex
    for _ in range(60):
        scene.place(0, (0.0, 0.0, 1.0), random_quaternion(random))
        scene.find_near()
        height = vertex @ scene.workspace.rotation[0][2]
        gap = random.choice([1e-4, 0.0, -1e-5, -2e-3])
        scene.q[2] += gap - (height.min() + scene.workspace.position[0, 2] + scene.kinematics.origin[2])
        found = scene.touch()
        assert 1 <= len(found) <= HULL_POINTS
        assert min(contact.gap for contact in found) == pytest.approx(gap, abs=1e-5)
        bearing = height < height.min() + max(gap, 0.0) - gap + BEARING
        assert len(found) >= min(3, np.count_nonzero(bearing))
