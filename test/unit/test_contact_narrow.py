"""Distances and contact points of simple shapes, against the library coal on random poses."""

import numpy as np
import pytest
from coal_solids import coal_distance
from contact_scene import Scene, free_bodies, hull_mesh, random_quaternion

from grouser.physics.base import spatial
from grouser.physics.contact.narrow import (
    nearest_on_segments,
    point_to_box,
    point_to_capsule,
    point_to_cylinder,
    point_to_hull,
)
from grouser.physics.contact.shapes import make_shapes
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, PointSet, Sphere
from grouser.physics.description.data.world import World
from grouser.physics.model.build import build_model

BOTH = pytest.mark.parametrize("of", [lambda leaf: leaf, lambda leaf: leaf.py_func], ids=["compiled", "python"])
ROUND_OFF = 1e-12
# tolerance of coal's iterations [m]
COAL = 1e-6

GEM = hull_mesh(np.random.default_rng(5).normal(size=(12, 3)) * [0.5, 0.3, 0.4] + [0.2, -0.1, 0.3])
SOLIDS = {
    "sphere": Sphere(0.4),
    "capsule": Capsule(0.2, 0.7),
    "box": Box((0.6, 1.0, 0.8)),
    "cylinder": Cylinder(0.4, 0.9),
    "mesh": GEM,
}


@pytest.mark.parametrize("name", SOLIDS)
@pytest.mark.parametrize("turned", [False, True], ids=["first", "second"])
def test_sphere_to_solid_distance_agrees_with_coal(name, turned):
    random = np.random.default_rng(3)
    ball, solid = Sphere(0.3), SOLIDS[name]
    scene = Scene(free_bodies(*((solid, ball) if turned else (ball, solid))))
    touching = 0
    for _ in range(200):
        poses = [(random.uniform(-0.6, 0.6, 3), random_quaternion(random)) for _ in range(2)]
        for body, pose in enumerate(poses):
            scene.place(body, *pose)
        order = (solid, ball) if turned else (ball, solid)
        distance, normal = coal_distance(order[0], poses[0], order[1], poses[1])
        found = scene.touch()
        assert bool(found) == (distance < 2e-3)
        for contact in found:
            touching += 1
            assert (contact.body, contact.other) == (0, 1)
            if name == "cylinder" and contact.gap < -0.3:
                # the centre is inside: at a curved wall coal stops before the nearest point
                assert contact.gap >= distance - COAL
                continue
            assert contact.gap == pytest.approx(distance, abs=COAL)
            # between equally near faces either normal is right; a centre near a solid's surface has no accurate normal
            if contact.gap > -0.25:
                assert contact.normal @ normal == pytest.approx(1.0, abs=1e-5)
    assert touching > 50


def test_capsule_to_capsule_distance_agrees_with_coal():
    random = np.random.default_rng(4)
    one, other = Capsule(0.2, 0.7), Capsule(0.3, 1.5)
    scene = Scene(free_bodies(one, other))
    touching = 0
    for _ in range(300):
        poses = [(random.uniform(-0.7, 0.7, 3), random_quaternion(random)) for _ in range(2)]
        for body, pose in enumerate(poses):
            scene.place(body, *pose)
        distance, normal = coal_distance(one, poses[0], other, poses[1])
        found = scene.touch()
        assert bool(found) == (distance < 2e-3)
        if found:
            touching += 1
            deepest = min(found, key=lambda contact: contact.gap)
            assert deepest.gap == pytest.approx(distance, abs=COAL)
            # axes within a millimetre of each other have an inaccurate normal in coal
            if distance > -0.499:
                assert deepest.normal @ normal == pytest.approx(1.0, abs=1e-5)
    assert touching > 50


def test_parallel_capsules_touch_at_both_ends_of_their_overlap():
    scene = Scene(free_bodies(Capsule(0.1, 1.0), Capsule(0.1, 1.0)))
    half = np.sqrt(0.5)
    found = scene.place(0, (0, 0, 0.2), (0, half, 0, half)).place(1, (0.3, 0, 0), (0, half, 0, half)).touch()
    assert sorted(round(float(contact.point[0]), 9) for contact in found) == [-0.2, 0.5]
    for contact in found:
        assert contact.gap == pytest.approx(0.0, abs=ROUND_OFF)
        assert contact.normal == pytest.approx([0, 0, 1], abs=ROUND_OFF)
        assert contact.point[2] == pytest.approx(0.1, abs=ROUND_OFF)


def test_crossed_capsules_have_one_contact_between_their_ends():
    scene = Scene(free_bodies(Capsule(0.1, 1.0), Capsule(0.1, 1.0)))
    # 0.05 rad: treated as parallel, but the ends are 1.5 mm higher than the crossing
    half, turn = np.sqrt(0.5), spatial.quaternion_exponential(0.0, 0.0, 0.05)
    lying = (0.0, half, 0.0, half)
    found = scene.place(0, (0, 0, 0.2), spatial.quaternion_product(*turn, *lying)).place(1, (0, 0, 0), lying).touch()
    crossing = min(found, key=lambda contact: contact.gap)
    assert crossing.gap == pytest.approx(0.0, abs=ROUND_OFF)
    assert crossing.point == pytest.approx([0, 0, 0.1], abs=1e-9)


def test_points_without_radius_never_touch_each_other():
    cloud = PointSet(np.zeros((3, 3)))
    assert len(Scene(free_bodies(cloud, cloud)).collision.pairs.first) == 0
    assert len(Scene(free_bodies(cloud, PointSet(np.zeros((3, 3)), 0.1))).collision.pairs.first) == 1


def test_every_point_of_a_set_is_a_contact():
    points = np.array([[-0.3, -0.2, 0.0], [0.3, -0.2, 0.0], [0.0, 0.3, 0.0], [5.0, 0.0, 0.0]])
    scene = Scene(free_bodies(Box((1.0, 1.0, 1.0)), PointSet(points, 0.05)))
    found = scene.place(0, (0, 0, 0)).place(1, (0, 0, 0.549)).touch()
    assert [contact.slot for contact in found] == [0, 1, 2]
    for contact, point in zip(found, points, strict=False):
        assert contact.gap == pytest.approx(-1e-3, abs=ROUND_OFF)
        assert contact.normal == pytest.approx([0, 0, -1], abs=ROUND_OFF)
        assert contact.point == pytest.approx([point[0], point[1], 0.5], abs=ROUND_OFF)


@BOTH
def test_point_to_shape_distances_against_their_definitions(of):
    random = np.random.default_rng(6)
    box, cylinder, capsule = np.array([0.3, 0.5, 0.4]), (0.4, 0.5), (0.2, 0.6)
    for point in random.uniform(-1.0, 1.0, (60, 3)):
        distance, *normal = of(point_to_box)(*point, *box)
        outside = np.maximum(np.abs(point) - box, 0.0)
        expected = np.linalg.norm(outside) if outside.any() else (np.abs(point) - box).max()
        check_distance(distance, normal, expected)

        distance, *normal = of(point_to_cylinder)(*point, *cylinder)
        beyond = np.array([np.hypot(point[0], point[1]) - cylinder[0], abs(point[2]) - cylinder[1]])
        expected = np.linalg.norm(np.maximum(beyond, 0.0)) if beyond.max() > 0.0 else beyond.max()
        check_distance(distance, normal, expected)

        distance, *normal = of(point_to_capsule)(*point, *capsule)
        foot = np.array([0.0, 0.0, np.clip(point[2], -capsule[1], capsule[1])])
        check_distance(distance, normal, np.linalg.norm(point - foot) - capsule[0])


def check_distance(distance, normal, expected):
    assert distance == pytest.approx(expected, abs=ROUND_OFF)
    assert np.linalg.norm(normal) == pytest.approx(1.0, abs=ROUND_OFF)


@BOTH
def test_point_to_hull_distance_and_normal_lead_to_the_surface(of):
    machine = free_bodies(GEM)
    shapes = make_shapes(machine, build_model(machine)[1], World())
    faces = (shapes.vertex, shapes.face, shapes.face_corner, 0, len(shapes.face))
    random = np.random.default_rng(7)
    for point in random.uniform(-1.0, 1.0, (40, 3)):
        distance, *normal = of(point_to_hull)(*point, *faces)
        heights = shapes.face[:, :3] @ (point - distance * np.array(normal)) - shapes.face[:, 3]
        # the foot is on the surface; no face's plane is farther away than the hull
        assert heights.max() == pytest.approx(0.0, abs=ROUND_OFF)
        assert (shapes.face[:, :3] @ point - shapes.face[:, 3]).max() <= distance + ROUND_OFF


@BOTH
def test_nearest_points_of_segments_are_perpendicular_or_at_their_ends(of):
    random = np.random.default_rng(8)
    inside = 0
    for _ in range(60):
        r = random.normal(size=3)
        u, v = (w / np.linalg.norm(w) for w in random.normal(size=(2, 3)))
        s, t = of(nearest_on_segments)(*r, *u, 0.6, *v, 0.9)
        way = r + t * v - s * u
        for along, half, slope in ((s, 0.6, -way @ u), (t, 0.9, way @ v)):
            if abs(along) < half:
                inside += 1
                assert slope == pytest.approx(0.0, abs=1e-9)
            else:
                assert slope * along <= 0.0
    assert inside > 20


def test_coincident_centres_give_a_unit_normal():
    scene = Scene(free_bodies(Sphere(0.4), Sphere(0.3)))
    (contact,) = scene.place(0, (1, 2, 3)).place(1, (1, 2, 3)).touch()
    assert contact.gap == pytest.approx(-0.7)
    assert np.linalg.norm(contact.normal) == pytest.approx(1.0)
