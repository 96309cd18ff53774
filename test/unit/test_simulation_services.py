"""The standard services without the ROS graph: names, regular expressions, regions, frames and resources."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from simulation_interfaces import msg, srv

from grouser import catalogue
from grouser.nodes.services import interfaces, resources
from grouser.nodes.services.bounds import RegionType, box_around
from grouser.nodes.services.host import Category, RunState, Scope, Shape
from grouser.nodes.services.motion import EntityMotion, Velocity, seen_from_outside
from grouser.nodes.services.naming import choose_name
from grouser.nodes.services.region import Region
from grouser.nodes.services.regular_expression import RegularExpression
from grouser.nodes.services.request_error import Reason, RequestError
from grouser.nodes.services.states import check_transition
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose, matrix, quaternion_from_rpy
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, PointSet, Sphere

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
GEOMETRIES = {
    "box": Box((1.0, 2.0, 3.0)),
    "sphere": Sphere(0.7),
    "cylinder": Cylinder(0.5, 2.0),
    "capsule": Capsule(0.5, 2.0),
    "mesh": Mesh("", "", hull=CUBE),
    "points": PointSet(CUBE, 0.1),
}
ANGLES = st.floats(-math.pi, math.pi)
NUMBERS = st.floats(-5.0, 5.0)
POSES = st.builds(
    lambda place, angles: Pose(place, quaternion_from_rpy(*angles)),
    st.tuples(NUMBERS, NUMBERS, NUMBERS),
    st.tuples(ANGLES, ANGLES, ANGLES),
)


def surface(geometry, count=4000) -> np.ndarray:
    """Points all over a shape's surface, edges and corners among them, in its frame, (n, 3)."""
    chance = np.random.default_rng(3)
    ball = chance.normal(size=(count, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    if isinstance(geometry, Box):
        # each point of a cube pushed out to a face, edge or corner
        return 0.5 * np.array(geometry.size) * np.clip(3.0 * ball, -1.0, 1.0)
    if isinstance(geometry, Sphere):
        return geometry.radius * ball
    if isinstance(geometry, Cylinder):
        angle = chance.uniform(-math.pi, math.pi, count)
        height = np.where(np.arange(count) % 2, 0.5, -0.5) * geometry.length
        return np.column_stack((geometry.radius * np.cos(angle), geometry.radius * np.sin(angle), height))
    if isinstance(geometry, Capsule):
        return geometry.radius * ball + [0.0, 0.0, 0.5 * geometry.length] * np.sign(ball[:, 2:])
    if isinstance(geometry, Mesh):
        return geometry.hull
    return (geometry.points[:, None, :] + geometry.radius * ball[None, : count // 8, :]).reshape(-1, 3)


@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize("present", list(RunState))
def test_state_transitions(present, number):
    quiet = (RunState.NO_WORLD, RunState.LOADING_WORLD)
    expected = None
    if number not in (0, 1, 2, 3):
        expected = Reason.INCORRECT_TRANSITION
    elif number == present:
        expected = Reason.ALREADY_IN_TARGET_STATE
    elif present is RunState.QUITTING or (present in quiet and number != RunState.QUITTING):
        expected = Reason.INCORRECT_TRANSITION
    if expected is None:
        assert check_transition(present, number) is RunState(number)
    else:
        with pytest.raises(RequestError) as caught:
            check_transition(present, number)
        assert caught.value.reason is expected


def test_state_numbers_are_those_of_the_messages():
    for state in RunState:
        assert interfaces.state_number(state) == state
    for scope in Scope:
        assert scope == getattr(srv.ResetSimulation.Request, f"SCOPE_{scope.name}")
    for category in Category:
        assert category == getattr(msg.EntityCategory, f"CATEGORY_{category.name}")
    for kind in RegionType:
        assert kind == getattr(msg.Bounds, f"TYPE_{kind.name}")


def test_each_error_reason_has_a_result_code():
    answers = [getattr(srv, name).Response for name in dir(srv) if name[0].isupper() and "_" not in name]
    answers += [msg.Result, msg.SpawnResult]
    for reason in Reason:
        codes = [getattr(answer, reason.value, None) for answer in answers]
        assert any(code is not None for code in codes), reason
    assert interfaces.result_code(Reason.UNSUPPORTED_FORMAT, srv.SpawnEntity.Response) == 103
    assert interfaces.result_code(Reason.UNSUPPORTED_FORMAT, srv.LoadWorld.Response) == 101
    assert interfaces.result_code(Reason.NAME_INVALID, srv.LoadWorld.Response) == msg.Result.RESULT_OPERATION_FAILED
    assert interfaces.result_code(Reason.NOT_FOUND, srv.LoadWorld.Response) == msg.Result.RESULT_NOT_FOUND


@given(
    st.text(max_size=12),
    st.text(max_size=12),
    st.sets(st.sampled_from(["a", "a_2", "a_3", "b", "_", "entity"])),
    st.booleans(),
)
def test_generated_entity_name_is_valid_and_unused(wanted, given, taken, may_rename):
    try:
        name = choose_name(wanted, given, taken, may_rename)
    except RequestError as error:
        assert error.reason in (Reason.NAME_INVALID, Reason.NAME_NOT_UNIQUE)
        assert not may_rename or error.reason is Reason.NAME_INVALID
        return
    assert name.isidentifier() and name.isascii()
    assert name not in taken
    if not may_rename:
        assert name == (wanted or given)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("rob", "my_robot_1", True),
        ("^rob", "my_robot_1", False),
        ("^my_(robot|crane)_[0-9]+$", "my_crane_12", True),
        ("a{2,3}$", "baaa", True),
        ("^a{2,3}$", "aaaa", False),
        ("[[:digit:]]", "a1", True),
        ("[[:digit:]]", "ab", False),
        ("[^[:alnum:]_]", "a-b", True),
        (r"[\d]", "3", False),  # POSIX has no classes after a backslash: this is a backslash or a d.
        (r"[\d]", "d", True),
        (r"a\.b", "axb", False),
        ("a|b|c", "xcx", True),
        ("é+", "caféé", True),
        ("", "anything", True),
    ],
)
def test_regular_expressions_follow_posix(pattern, text, found):
    assert RegularExpression(pattern).found_in(text) == found


@pytest.mark.parametrize("pattern", ["(", "[", "[[:nothing:]]", "a{2,1}", "*a|(", "a\0b", "a" * 1001])
def test_invalid_regular_expressions_are_refused(pattern):
    with pytest.raises(RequestError, match="filter"):
        RegularExpression(pattern)


@pytest.mark.parametrize("name", GEOMETRIES)
@given(pose=POSES, frame=POSES)
@settings(max_examples=20, deadline=None)
def test_bounding_box_of_a_shape_is_tight(name, pose, frame):
    geometry = GEOMETRIES[name]
    lower, upper = box_around([Shape(geometry, pose)], frame)
    world = surface(geometry) @ matrix(pose.quaternion).T + pose.position
    points = (world - frame.position) @ matrix(frame.quaternion)
    assert (points > lower - 1e-12).all() and (points < upper + 1e-12).all()
    # at least 500 points on each rounded part: some are within 0.3 rad of any direction, which is 5 % of 1 m
    assert points.min(axis=0) == pytest.approx(lower, abs=0.05)
    assert points.max(axis=0) == pytest.approx(upper, abs=0.05)


def test_no_shapes_have_no_bounding_box():
    assert box_around([], Pose()) is None


def distance(geometry, point) -> float:
    """Distance from a point to a solid, both in the solid's frame [m]; 0 inside."""
    if isinstance(geometry, Box):
        return float(np.linalg.norm(np.maximum(np.abs(point) - 0.5 * np.array(geometry.size), 0.0)))
    if isinstance(geometry, Mesh):
        return float(np.linalg.norm(point - np.clip(point, 0.0, 1.0)))
    if isinstance(geometry, PointSet):
        return max(np.linalg.norm(geometry.points - point, axis=1).min() - geometry.radius, 0.0)
    if isinstance(geometry, Sphere):
        return max(np.linalg.norm(point) - geometry.radius, 0.0)
    beside, above = math.hypot(*point[:2]), max(abs(point[2]) - 0.5 * geometry.length, 0.0)
    if isinstance(geometry, Cylinder):
        return math.hypot(max(beside - geometry.radius, 0.0), above)
    return max(math.hypot(beside, above) - geometry.radius, 0.0)


@pytest.mark.parametrize("name", GEOMETRIES)
@given(pose=POSES, place=st.tuples(NUMBERS, NUMBERS, NUMBERS), radius=st.floats(0.01, 5.0))
@settings(max_examples=60, deadline=None)
def test_sphere_region_overlaps_shapes_nearer_than_its_radius(name, pose, place, radius):
    geometry = GEOMETRIES[name]
    away = distance(geometry, matrix(pose.quaternion).T @ (np.array(place) - pose.position))
    assume(abs(away - radius) > 1e-5)  # coal's iterations end at 1e-6 m
    ball = Region(RegionType.SPHERE, np.array([place, (radius, 0.0, 0.0)]))
    assert ball.meets([Shape(geometry, pose)]) == (away < radius)


@pytest.mark.parametrize("name", GEOMETRIES)
@given(pose=POSES)
@settings(max_examples=30, deadline=None)
def test_box_and_hull_regions_overlap_shapes_that_reach_into_them(name, pose):
    """Not at a millimetre beyond the farthest point of a shape; yes at a millimetre less."""
    shape = Shape(GEOMETRIES[name], pose)
    lower, upper = box_around([shape], Pose())
    for gap in (0.001, -0.001):
        corners = np.array([[upper[0] + gap, *(lower[1:] - 1.0)], upper + 1.0])
        hull = np.array([[x, y, z] for x in corners[:, 0] for y in corners[:, 1] for z in corners[:, 2]])
        for region in (
            Region(RegionType.BOX, corners),
            Region(RegionType.BOX, corners[::-1]),
            Region(RegionType.CONVEX_HULL, hull),
        ):
            assert region.meets([shape]) == (gap < 0.0)
            assert not region.meets([])


def test_hull_region_may_be_flat_and_ignores_inner_points():
    ball = [Shape(Sphere(0.5), Pose((0.0, 0.0, 0.4)))]
    high = [Shape(Sphere(0.5), Pose((0.0, 0.0, 0.6)))]
    triangle = np.array([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]])
    for points in (triangle, triangle[::-1], np.vstack((triangle, [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]))):
        hull = Region(RegionType.CONVEX_HULL, points)
        assert hull.meets(ball) and not hull.meets(high)
    point = Region(RegionType.BOX, np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert point.meets(ball) and not point.meets(high)


@given(frame=POSES, pose=POSES, rate=st.tuples(*[NUMBERS] * 6), own=st.tuples(*[NUMBERS] * 6))
@settings(max_examples=50, deadline=None)
def test_relative_velocity_is_the_derivative_of_the_relative_pose(frame, pose, rate, own):
    """Against a central difference over 2 x 1e-5 s, whose error is below a third of 1e-10 s^2 times rates cubed."""

    def moved(start, velocity, time):
        turn = np.array(velocity[3:]) * time
        angle = np.linalg.norm(turn)
        axis = turn / angle if angle else turn
        quaternion = (*(axis * math.sin(0.5 * angle)), math.cos(0.5 * angle))
        place = np.array(start.position) + np.array(velocity[:3]) * time
        return Pose(tuple(place), compose(Pose((0, 0, 0), quaternion), Pose((0, 0, 0), start.quaternion)).quaternion)

    time = 1e-5
    before, after = (compose(moved(frame, rate, t), moved(pose, own, t)) for t in (-time, time))
    now = compose(frame, pose)
    seen = seen_from_outside(
        Velocity(own[:3], own[3:]), now.position, EntityMotion(frame, Velocity(rate[:3], rate[3:]))
    )
    linear = (np.array(after.position) - before.position) / (2.0 * time)
    assert seen.linear == pytest.approx(linear, abs=1e-5)
    spin = (matrix(after.quaternion) - matrix(before.quaternion)) @ matrix(now.quaternion).T / (2.0 * time)
    assert seen.angular == pytest.approx((spin[2, 1], spin[0, 2], spin[1, 0]), abs=1e-5)


def test_every_listed_machine_can_be_loaded():
    machines, problems = resources.list_machines([])
    assert problems == []
    assert len(machines) == len(catalogue.machine_files())
    for uri, introduction in machines.items():
        assert resources.read_machine(uri, "").name
        assert 0 < len(introduction) < 300


def test_every_listed_world_can_be_loaded():
    worlds, problems = resources.list_worlds([])
    assert problems == []
    assert {entry.world.name for entry in worlds} == {file.stem for file in catalogue.world_files()}
    for entry in worlds:
        assert resources.read_world(entry.uri, "", True, False).world.name == entry.world.name


def test_invalid_world_is_a_resource_error(tmp_path):
    (tmp_path / "a.yaml").write_text("name: a\n")
    (tmp_path / "b.yaml").write_text("fog: thick\n")
    worlds, problems = resources.list_worlds([str(tmp_path)])
    assert worlds[-1].world.name == "a"
    (problem,) = problems
    assert str(tmp_path / "b.yaml") in problem
    with pytest.raises(MachineError):
        catalogue.world_file("b")
