"""Contacts between boxes, cylinders, capsules and meshes: manifolds, and searches."""

import itertools
import math

import numpy as np
import pytest
from coal_solids import coal_distance
from contact_scene import STEP, Scene, free_bodies, hull_mesh, random_quaternion

from grouser.physics.base import spatial
from grouser.physics.contact.contacts import CONTACT_MARGIN
from grouser.physics.contact.narrow import point_to_shape
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder
from grouser.physics.description.data.world import Obstacle, World

# Sums of a dozen products of numbers about one.
ROUND_OFF = 1e-12
# A touching face is preferred unless another direction is better by more than this (`manifold.PREFERENCE`) [m].
PREFERENCE = 1e-5

CUBE = hull_mesh(list(itertools.product((-0.5, 0.5), repeat=3)))
GEM = hull_mesh(np.random.default_rng(5).normal(size=(12, 3)) * [0.5, 0.3, 0.4] + [0.2, -0.1, 0.3])
SOLIDS = {
    "box": Box((0.6, 1.0, 0.8)),
    "cylinder": Cylinder(0.4, 0.9),
    "capsule": Capsule(0.2, 0.7),
    "mesh": GEM,
}
SIDEWAYS = (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))


def about_y(angle):
    return (0.0, math.sin(0.5 * angle), 0.0, math.cos(0.5 * angle))


def sorted_points(found):
    return np.array(sorted(tuple(np.round(contact.point, 9) + 0.0) for contact in found))


def surface_distance(scene, shape, point):
    """Distance of a point in the world from the surface of one of the scene's shapes."""
    shapes, workspace = scene.collision.shapes, scene.workspace
    local = workspace.rotation[shape].T @ (point - scene.kinematics.origin - workspace.position[shape])
    faces = shapes.face_start[shape], shapes.face_start[shape + 1]
    of_all = (shapes.vertex, shapes.face, shapes.face_corner)
    return point_to_shape(shapes.kind[shape], shapes.size[shape], *of_all, *faces, *local)[0]


# --- manifolds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [1e-3, 1e-7, 0.0, -1e-7, -1e-3, -0.05])
@pytest.mark.parametrize("below", [Box((1.0, 1.0, 1.0)), CUBE], ids=["box", "mesh"])
def test_box_on_box_touches_at_the_corners_of_the_overlap(gap, below):
    scene = Scene(free_bodies(Box((1.0, 1.0, 1.0)), below))
    found = scene.place(0, (0.1, 0.2, 1.0 + gap)).place(1, (0, 0, 0)).touch()
    height = 0.5 + gap
    assert sorted_points(found) == pytest.approx(
        np.array([[-0.4, -0.3, height], [-0.4, 0.5, height], [0.5, -0.3, height], [0.5, 0.5, height]]), abs=1e-9
    )
    for contact in found:
        assert contact.gap == pytest.approx(gap, abs=ROUND_OFF)
        assert contact.normal == pytest.approx([0, 0, 1], abs=ROUND_OFF)


@pytest.mark.parametrize("angle", [1e-3, -0.4e-3, 0.3])
def test_every_corner_of_a_tilted_box_has_its_own_gap(angle):
    scene = Scene(free_bodies(Box((1.0, 0.6, 0.2)), Box((4.0, 4.0, 1.0))))
    lowest = 0.5 * abs(math.sin(angle)) + 0.1 * math.cos(angle)
    found = scene.place(0, (0, 0, 0.5 + lowest - 1e-4), about_y(angle)).place(1, (0, 0, 0)).touch()
    corners = [
        np.array(
            [x * math.cos(angle) - 0.1 * math.sin(angle), y, -x * math.sin(angle) - 0.1 * math.cos(angle) + lowest]
        )
        for x in (-0.5, 0.5)
        for y in (-0.3, 0.3)
    ]
    expected = {(round(x, 6), round(y, 6)): z - 1e-4 for x, y, z in corners if z - 1e-4 < 2e-3}
    assert len(found) == len(expected)
    for contact in found:
        assert contact.gap == pytest.approx(expected[round(contact.point[0], 6), round(contact.point[1], 6)], abs=1e-9)


def test_box_on_its_edge_touches_along_the_edge():
    scene = Scene(free_bodies(Box((1.0, 0.6, 1.0)), Box((4.0, 4.0, 1.0))))
    found = scene.place(0, (0, 0, 0.5 + math.sqrt(0.5)), about_y(math.pi / 4)).place(1, (0, 0, 0)).touch()
    assert sorted_points(found) == pytest.approx(np.array([[0, -0.3, 0.5], [0, 0.3, 0.5]]), abs=1e-9)
    assert [contact.normal[2] for contact in found] == pytest.approx([1.0, 1.0], abs=ROUND_OFF)


@pytest.mark.parametrize("gap", [1e-3, -1e-3])
def test_crossing_edges_touch_in_one_point(gap):
    # two cubes on edge, the upper one turned by a right angle: their edges cross
    scene = Scene(free_bodies(Box((1.0, 1.0, 1.0)), Box((1.0, 1.0, 1.0))))
    upper = spatial.quaternion_product(*(0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)), *about_y(math.pi / 4))
    scene.place(0, (0.1, 0.2, 2.0 * math.sqrt(0.5) + gap), upper).place(1, (0, 0, 0), about_y(math.pi / 4))
    (contact,) = scene.touch()
    assert contact.gap == pytest.approx(gap, abs=1e-12)
    assert contact.normal == pytest.approx([0, 0, 1], abs=1e-9)
    assert contact.point == pytest.approx([0.0, 0.2, math.sqrt(0.5) + gap], abs=1e-9)


@pytest.mark.parametrize("depth", [0.0, 1e-6, 1e-3])
def test_standing_cylinder_touches_at_four_points_of_its_rim(depth):
    scene = Scene(free_bodies(Cylinder(0.3, 1.0), Box((4.0, 4.0, 1.0))))
    found = scene.place(0, (0.1, 0.2, 1.0 - depth)).place(1, (0, 0, 0)).touch()
    assert len(found) == 4
    middle = np.mean([contact.point for contact in found], axis=0)
    assert middle == pytest.approx([0.1, 0.2, 0.5 - depth], abs=1e-9)
    for contact in found:
        assert np.linalg.norm(contact.point - middle) == pytest.approx(0.3, abs=1e-9)
        assert contact.gap == pytest.approx(-depth, abs=PREFERENCE)


@pytest.mark.parametrize("solid", [Cylinder(0.3, 1.0), Capsule(0.3, 1.0)], ids=["cylinder", "capsule"])
def test_lying_cylinder_or_capsule_touches_at_the_ends_of_a_line(solid):
    scene = Scene(free_bodies(solid, Box((1.0, 1.0, 1.0))))
    found = scene.place(0, (0.2, 0.1, 0.8), SIDEWAYS).place(1, (0, 0, 0)).touch()
    assert sorted_points(found) == pytest.approx(np.array([[-0.3, 0.1, 0.5], [0.5, 0.1, 0.5]]), abs=1e-9)
    assert [contact.gap for contact in found] == pytest.approx([0.0, 0.0], abs=ROUND_OFF)


def test_the_lowest_point_of_a_tilted_rim_is_a_contact():
    # tilted about an axis with no corner of the rim's polygon below it
    angle, heading = 0.1, 0.3
    turn = spatial.quaternion_product(*(0, 0, math.sin(0.5 * heading), math.cos(0.5 * heading)), *about_y(angle))
    lowest = 0.5 * math.cos(angle) + 0.3 * math.sin(angle)
    spin = (0.0, 0.0, math.sin(0.2), math.cos(0.2))
    scene = Scene(free_bodies(Cylinder(0.3, 1.0), Box((4.0, 4.0, 1.0))))
    scene.place(0, (0, 0, 0.5 + lowest - 1e-3), spatial.quaternion_product(*turn, *spin)).place(1, (0, 0, 0))
    deepest = min(scene.touch(), key=lambda contact: contact.gap)
    assert deepest.gap == pytest.approx(-1e-3, abs=1e-6)
    across = 0.3 * math.cos(angle) - 0.5 * math.sin(angle)
    # the rim is level at its lowest point: a depth error of 1e-6 is a position error of sqrt(2 r 1e-6 / sin(angle))
    expected = [across * math.cos(heading), across * math.sin(heading), 0.499]
    assert deepest.point == pytest.approx(expected, abs=math.sqrt(2 * 0.3 * 1e-6 / math.sin(angle)))


# pairs of capsules have a method of their own
@pytest.mark.parametrize("one, other", [pair for pair in itertools.product(SOLIDS, SOLIDS) if {*pair} != {"capsule"}])
@pytest.mark.parametrize("gap", [1e-3, 0.0, -1e-6, -1e-3])
def test_touching_solids_meet_at_their_nearest_points(one, other, gap):
    random = np.random.default_rng(list(SOLIDS).index(one) * 10 + list(SOLIDS).index(other))
    scene = Scene(free_bodies(SOLIDS[one], SOLIDS[other]))
    for _ in range(40):
        turns = [random_quaternion(random) for _ in range(2)]
        away = random.normal(size=3)
        away *= 4.0 / np.linalg.norm(away)
        poses = (away, turns[0]), (np.zeros(3), turns[1])
        distance, normal = coal_distance(SOLIDS[one], poses[0], SOLIDS[other], poses[1])
        # moved along the line between their nearest points, they touch at these
        scene.place(0, away - (distance - gap) * normal, turns[0]).place(1, np.zeros(3), turns[1])
        found = scene.touch()
        assert found
        least = min(contact.gap for contact in found)
        # for overlapping solids another direction can be better than this one
        assert least >= gap - PREFERENCE
        if gap >= 0.0:
            assert least <= gap + PREFERENCE
        for contact in found:
            assert surface_distance(scene, 0, contact.point) == pytest.approx(0.0, abs=PREFERENCE)
            opposite = contact.point - contact.gap * contact.normal
            assert surface_distance(scene, 1, opposite) == pytest.approx(0.0, abs=PREFERENCE)


def test_cylinder_that_has_rolled_past_an_edge_touches_it_across_its_axis():
    """The direction from the edge to the axis is exact also where the distance is tiny beside the solids."""
    random = np.random.default_rng(1)
    for _ in range(150):
        radius, length = random.uniform(0.02, 0.5), random.uniform(0.05, 0.6)
        past, spin = radius * math.sqrt(2.0 * 10.0 ** random.uniform(-5.0, -2.0)), random.uniform(0.0, 6.0)
        gap = math.hypot(past, radius) - radius
        if gap > CONTACT_MARGIN:
            continue
        scene = Scene(free_bodies(Cylinder(radius, length), Box((0.23, 1.6, 0.2))))
        lying = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
        turn = spatial.quaternion_product(*lying, *(0.0, 0.0, math.sin(0.5 * spin), math.cos(0.5 * spin)))
        found = scene.place(0, (0.115 + past, random.uniform(-0.4, 0.4), 0.1 + radius), turn).search()
        assert len(found) > 0
        across = np.array([past, 0.0, radius]) / math.hypot(past, radius)
        for contact in found:
            # its error in radians: the root of the rounding of the distance, as a share of the radius
            assert contact[3:6] == pytest.approx(across, abs=1e-5)
            assert contact[6] == pytest.approx(gap, abs=1e-7)


def test_manifolds_by_faces_and_by_search_agree():
    """A pair that is solved by its faces alone has the same manifold from the search."""
    random = np.random.default_rng(12)
    scene = Scene(free_bodies(Box((1.0, 0.6, 0.4)), Box((0.8, 1.0, 1.0))))
    cases = []
    for _ in range(200):
        yaw, tilt = random.uniform(0, 6), random.normal(scale=1e-3)
        turn = spatial.quaternion_product(*about_y(tilt), *(0, 0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)))
        place = (*random.uniform(-0.4, 0.4, 2), 0.7 + random.uniform(-2e-3, 1e-3))
        scene.clear_distances()
        before = scene.searches
        found = scene.place(0, place, turn).place(1, (0, 0, 0)).touch()
        if scene.searches == before:
            cases.append((place, turn, found))
    assert len(cases) > 150
    for place, turn, found in cases:
        scene.clear_distances()
        searched = scene.place(0, place, turn).search()
        points = np.array([contact.point for contact in found])
        apart = np.linalg.norm(searched[:, None, :3] - points, axis=2)
        assert len(searched) == len(found)
        nearest = apart.argmin(axis=1)
        assert sorted(nearest) == list(range(len(found))) and apart.min(axis=1).max() < 1e-6
        assert searched[:, 6] == pytest.approx([found[k].gap for k in nearest], abs=1e-9)


def test_reach_of_a_small_box_does_not_grow_with_the_slab_below():
    """A spinning box 0.3 m above the end of a slab of 40 m comes no nearer than its corners move."""
    for order in (1, -1):
        slab, box = (0, 1) if order < 0 else (1, 0)
        scene = Scene(free_bodies(*[Box((0.1, 0.1, 0.1)), Box((40.0, 4.0, 1.0))][::order]))
        linear, angular = np.array([0.5, 0.0, -2.0]), np.array([30.0, -20.0, 50.0])
        scene.place(slab, (0.0, 0.0, -0.5)).place(box, (19.0, 0.0, 0.3), (0, 0, 0, 1), linear, angular)
        assert not scene.touch() and scene.workspace.broad.count[0] == 1
        corner = 0.05 * math.sqrt(3.0)
        closing = 2.0 * STEP * (np.linalg.norm(linear) + np.linalg.norm(angular) * corner)
        remaining = 1.0 - 2.0 * STEP * np.linalg.norm(angular)
        assert scene.workspace.reach[0] == pytest.approx(closing / remaining, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_no_gap_closes_within_two_steps_beyond_the_reach(seed):
    """Solids of different sizes, moved on along their twists: every pair that meets was within reach before."""
    random = np.random.default_rng(seed)
    scene = Scene(free_bodies(Box((0.1, 0.2, 0.3)), Box((8.0, 6.0, 0.4))))
    met = 0
    for k in range(300):
        linear, angular = random.normal(scale=(40.0, 150.0)[k % 2], size=(2, 3)), random.normal(scale=30.0, size=(2, 3))
        place = np.array([[*random.uniform(-2, 2, 2), random.uniform(0.3, 0.8)], [0.0] * 3])
        turn = [random_quaternion(random), (0.0, 0.0, 0.0, 1.0)]
        for body in range(2):
            scene.place(body, place[body], turn[body], linear[body], angular[body])
        scene.clear_distances()
        scene.touch()
        listed = scene.workspace.broad.pair[: scene.workspace.broad.count[0]].tolist()
        pair = int(scene.collision.pairs.number[0, 1])
        reach = scene.workspace.reach[0] if pair in listed else CONTACT_MARGIN
        before = box_above_slab(place, turn)
        later = [
            spatial.quaternion_product(*spatial.quaternion_exponential(*(2.0 * STEP * angular[body])), *turn[body])
            for body in range(2)
        ]
        if box_above_slab(place + 2.0 * STEP * linear, later) <= 0.0:
            met += 1
            assert before <= reach
    assert met > 20


def box_above_slab(place, turn):
    """Least height of the box's corners above the plane of the slab's upper face [m]."""
    corners = np.array(list(itertools.product(*[(-0.5 * side, 0.5 * side) for side in (0.1, 0.2, 0.3)])))
    world = place[0] + corners @ spatial.matrix(turn[0]).T
    return float(((world - place[1]) @ spatial.matrix(turn[1])[:, 2]).min()) - 0.2


# --- searches --------------------------------------------------------------------------------------------------------


def tumble(scene, random, bodies):
    """Positions and speeds of bodies that tumble about each other, step by step."""
    place = random.uniform(-1.0, 1.0, (bodies, 3))
    turn = [random_quaternion(random) for _ in range(bodies)]
    linear, angular = random.normal(scale=2.0, size=(2, bodies, 3))
    for _ in range(400):
        linear -= 4.0 * STEP * place
        place += STEP * linear
        for body in range(bodies):
            turn[body] = spatial.quaternion_product(
                *spatial.quaternion_exponential(*(STEP * angular[body])), *turn[body]
            )
            scene.place(body, place[body], turn[body], linear[body], angular[body])
        yield


def test_contacts_do_not_depend_on_when_pairs_were_solved():
    # long and thin: often near each other, seldom in contact
    solids = (Box((1.6, 0.2, 0.2)), Cylinder(0.1, 1.5), Capsule(0.1, 1.4), hull_mesh(GEM.hull * [0.3, 3.0, 0.3]))
    world = World(ground=None, obstacles=(Obstacle("block", Box((0.4, 0.4, 0.4)), Pose((0.3, 0.1, -0.2))),))
    patient, eager = Scene(free_bodies(*solids), world), Scene(free_bodies(*solids), world)
    runs = (tumble(scene, np.random.default_rng(21), len(solids)) for scene in (patient, eager))
    touched = 0
    for _ in zip(*runs, strict=True):
        eager.clear_distances()
        found = patient.touch()
        assert len(eager.touch()) == len(found)
        for column, other in zip(patient.contacts, eager.contacts, strict=True):
            assert np.array_equal(column[: len(found)], other[: len(found)])
        touched += len(found)
    assert touched > 50
    assert patient.searches < 0.8 * eager.searches


def test_separate_pairs_are_not_solved_again():
    scene = Scene(free_bodies(Cylinder(0.3, 1.0), Cylinder(0.3, 1.0)))
    # crossed cylinders, 5 cm apart, that approach by 1 mm each step
    for step in range(60):
        height = 0.6505 - 1e-3 * step
        scene.place(0, (0, 0, height), (math.sqrt(0.5), 0, 0, math.sqrt(0.5)), linear=(0, 0, -1.0))
        found = scene.place(1, (0, 0, 0), SIDEWAYS).touch()
        # 2 mm are covered in two steps
        assert bool(found) == (height - 0.6 < 2e-3)
    # once at first, then each time the free distance may be used up
    assert scene.searches < 30


def test_far_pair_is_never_solved():
    scene = Scene(free_bodies(Cylinder(0.3, 1.0), Cylinder(0.3, 1.0)))
    assert scene.place(0, (0, 0, 3.0), SIDEWAYS).place(1, (0, 0, 0)).touch() == []
    assert scene.searches == 0


def test_resting_boxes_are_solved_by_their_faces():
    scene = Scene(free_bodies(*[Box((1.0, 1.0, 0.2))] * 10))
    for body in range(10):
        scene.place(
            body, (0.01 * body, 0, 0.2 * body - 1e-6 * body), (0, 0, math.sin(0.1 * body), math.cos(0.1 * body))
        )
    assert len(scene.touch()) == 9 * 4
    assert scene.searches == 0


@pytest.mark.parametrize("tilt", [3e-7, 4e-6, 7e-5, 8e-4, 2e-3])
@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (-0.8, 0.6, 0.0), (0.28, -0.96, 0.0)])
@pytest.mark.parametrize(
    ("size", "speed"), [((0.2, 0.14, 0.0007), 0.0), ((0.0008, 0.0009, 0.0006), 0.0), ((0.2, 0.14, 0.012), 8.0)]
)
@pytest.mark.parametrize("hull", [False, True])
@pytest.mark.parametrize("plate", [0, 1])
def test_thin_solid_touches_with_the_corners_of_its_lower_face(plate, hull, size, speed, axis, tilt):
    corners = 0.5 * np.array(list(itertools.product((-1, 1), repeat=3))) * size
    shape = hull_mesh(corners) if hull else Box(size)
    shapes = [Box((0.9, 0.8, 0.07))]
    shapes.insert(plate, shape)
    scene = Scene(free_bodies(*shapes))
    scene.place(1 - plate, (0.0, 0.0, -0.035))
    quaternion = (*(math.sin(0.5 * tilt) * np.array(axis)), math.cos(0.5 * tilt))
    low = (corners @ spatial.matrix(quaternion).T)[corners[:, 2] < 0.0][:, 2]
    scene.place(plate, (0.013, 0.007, -low.min()), quaternion, linear=(speed, 0.0, 0.0))
    gaps = [contact.gap for contact in scene.touch()], scene.search()[:, 6]
    for found in gaps:
        assert sorted(found) == pytest.approx(np.sort(low - low.min()), abs=1e-9)


@pytest.mark.parametrize("tilt", [0.0, 5e-6, 3e-4, 6e-3])
@pytest.mark.parametrize("coin", [0, 1])
def test_coin_touches_with_its_lower_face(coin, tilt):
    radius, thickness = 0.012, 0.0009
    shapes = [Box((0.4, 0.3, 0.05))]
    shapes.insert(coin, Cylinder(radius, thickness))
    scene = Scene(free_bodies(*shapes))
    scene.place(1 - coin, (0.0, 0.0, -0.025))
    quaternion = (math.sin(0.5 * tilt), 0.0, 0.0, math.cos(0.5 * tilt))
    centre = np.array((0.03, 0.02, 0.5 * thickness * math.cos(tilt) + radius * math.sin(tilt)))
    scene.place(coin, centre, quaternion)
    contacts = scene.search()
    assert len(contacts) == 4
    # the corners of its rim are 45 degrees apart, and those that differ by less than the preference are equal
    lowest = min(radius * tilt * (1.0 - math.cos(math.pi / 4)), PREFERENCE)
    assert -1e-9 < contacts[:, 6].min() < lowest + 1e-9
    for contact in contacts:
        on_coin = contact[:3] if coin == 0 else contact[:3] - contact[6] * contact[3:6]
        local = spatial.matrix(quaternion).T @ (on_coin - centre)
        assert local[2] == pytest.approx(-0.5 * thickness, abs=1e-9)
        assert abs(contact[6]) == pytest.approx(abs(on_coin[2]), abs=1e-9)
