"""The goal follower without ROS: obstacle memory, heading, and giving up."""

import math

import numpy as np
import pytest

from grouser.nodes.navigation.goal_follower import mounted, planar, read_place
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import quaternion_from_rpy
from grouser.runtime.goal_following import GoalFollower, Manners, ObstacleMemory, free_heading, wrapped

SECTOR = 2.0 * math.pi / 180  # angle between two candidate directions [rad]
NONE = np.zeros((0, 2))


def heading(points, target=0.0, held=0.0, radius=1.0):
    points = np.asarray(points, dtype=float).reshape(-1, 2)
    return free_heading(np.hypot(*points.T), np.arctan2(points[:, 1], points[:, 0]), radius, target, held)


def test_heading_is_the_goal_without_obstacles():
    assert heading(NONE, target=0.123) == 0.123


def test_obstacle_beside_the_path_leaves_the_goal_free():
    assert heading([[2.0, 1.01]]) == 0.0
    assert heading([[2.0, 0.99]]) != 0.0


def test_point_blocks_the_directions_of_its_circle():
    """A point 2 m ahead, inflated by 1 m, covers asin(1/2) on either side."""
    chosen = heading([[2.0, 0.0]], target=0.01)
    assert math.pi / 6 <= chosen < math.pi / 6 + SECTOR


def test_point_within_the_radius_blocks_a_half_plane():
    chosen = heading([[0.0, 0.5]], target=math.pi / 2)
    assert abs(chosen) < SECTOR or abs(abs(chosen) - math.pi) < SECTOR


def test_gap_is_taken_if_the_machine_fits():
    assert heading([[2.0, 1.1], [2.0, -1.1]]) == 0.0
    assert abs(heading([[2.0, 0.9], [2.0, -0.9]])) > math.asin(1.0 / math.hypot(2.0, 0.9)) + math.atan2(0.9, 2.0) - 1e-9


def test_previous_side_of_an_obstacle_is_kept():
    left = heading([[2.0, 0.0]], target=0.01, held=0.5)
    right = heading([[2.0, 0.0]], target=0.01, held=-0.5)
    assert left > 0.0 > right


def test_heading_is_none_if_all_directions_are_blocked():
    around = np.linspace(-math.pi, math.pi, 12)
    assert heading(np.column_stack([np.cos(around), np.sin(around)]) * 1.5) is None


def scan(memory, pose, beams):
    """A scan over 180 degrees with these distances by direction [degrees]; infinite in all others."""
    bearings = np.radians(np.arange(-90, 91))
    ranges = np.full(len(bearings), math.inf)
    for degrees, distance in beams.items():
        ranges[degrees + 90] = distance
    memory.see(pose, ranges, bearings)


def test_scan_becomes_points_in_the_frame():
    memory = ObstacleMemory(5.0)
    scan(memory, (1.0, 2.0, math.pi / 2), {0: 2.0, 90: 1.0, -45: 6.0})
    np.testing.assert_allclose(sorted(memory.points.tolist()), [[0.0, 2.0], [1.0, 4.0]], atol=1e-12)


def test_scan_replaces_points_in_the_field_of_view_only():
    memory = ObstacleMemory(5.0)
    scan(memory, (0.0, 0.0, 0.0), {0: 2.0, 30: 3.0})
    scan(memory, (0.0, 0.0, 0.0), {30: 3.0})  # the obstacle ahead is gone
    assert len(memory.points) == 1
    scan(memory, (0.0, 0.0, math.pi), {})  # turned round: it is behind now
    np.testing.assert_allclose(memory.points, [[3.0 * math.cos(math.pi / 6), 1.5]])
    scan(memory, (-3.0, 0.0, math.pi), {})  # out of reach
    assert len(memory.points) == 0


def test_lidar_with_full_view_remembers_nothing():
    memory = ObstacleMemory(5.0)
    bearings = np.radians(np.arange(-180, 181))
    for ranges in (np.full(361, 2.0), np.full(361, math.inf)):
        memory.see((0.0, 0.0, 0.0), ranges, bearings)
    assert len(memory.points) == 0


def test_repeated_points_are_merged():
    memory = ObstacleMemory(5.0)
    for turn in np.linspace(0.0, 2.0 * math.pi, 100):
        scan(memory, (0.0, 0.0, turn), dict.fromkeys(range(-90, 91), 2.0))
    # a ring of 2 m, which crosses at most 8 r / cell + 4 squares
    assert len(memory.points) <= 8 * 2.0 / 0.1 + 4


def drive(follower, start=(0.0, 0.0, 0.0), obstacles=NONE, duration=200.0):
    """An ideal vehicle; yields time, pose and step."""
    (x, y, yaw), interval = start, 0.05
    for count in range(int(duration / interval)):
        step = follower.step(count * interval, (x, y, yaw), obstacles)
        yield count * interval, (x, y, yaw), step
        if step.problem or step.reached == len(follower.waypoints):
            return
        x += interval * step.speed * math.cos(yaw)
        y += interval * step.speed * math.sin(yaw)
        yaw += interval * step.yaw_rate


def test_follower_visits_the_waypoints_in_order():
    manners = Manners()
    waypoints = [(3.0, 0.0), (3.0, 3.0), (-1.0, 1.0)]
    steps = list(drive(GoalFollower(manners, waypoints)))
    assert steps[-1][2].reached == 3 and not steps[-1][2].problem
    for number, place in enumerate(waypoints):
        at = next(pose for _, pose, step in steps if step.reached > number)
        assert math.dist(at[:2], place) <= manners.tolerance
    assert all(abs(step.speed) <= manners.speed and abs(step.yaw_rate) <= manners.yaw_rate for _, _, step in steps)


def test_follower_drives_around_a_known_wall_with_clearance():
    """A wall of 3 m across the path. The vehicle keeps its circle free, except for the distance of one interval."""
    manners = Manners(radius=1.0)
    wall = np.column_stack([np.full(31, 4.0), np.linspace(-1.5, 1.5, 31)])
    steps = list(drive(GoalFollower(manners, [(8.0, 0.0)]), obstacles=wall))
    assert steps[-1][2].reached == 1
    nearest = min(np.min(np.hypot(*(wall - pose[:2]).T)) for _, pose, _ in steps)
    # half of a sector, at the radius
    assert nearest > manners.radius * math.cos(SECTOR) - 0.05 * manners.speed


def test_follower_stops_at_a_closed_wall_and_reports_the_reason():
    manners = Manners(radius=1.0, patience=10.0)
    ring = 3.0 * np.column_stack([f(np.linspace(0.0, 2.0 * math.pi, 120)) for f in (np.cos, np.sin)])
    steps = list(drive(GoalFollower(manners, [(1.0, 0.0), (8.0, 0.0)]), obstacles=ring))
    _, pose, last = steps[-1]
    assert (last.speed, last.yaw_rate, last.reached) == (0.0, 0.0, 1)
    assert "waypoint 2 at 8, 0 is not reached: in 10 s it came no nearer than" in last.problem
    assert np.hypot(*pose[:2]) < 2.0 + 0.05 * manners.speed
    # its patience began at the latest when it stopped
    stood = next(time for time, at, _ in steps if at == pose)
    assert manners.patience < steps[-1][0] <= stood + manners.patience + 0.1


def test_patience_restarts_with_every_waypoint():
    """The second is 17 s away, and farther than the first was."""
    steps = list(drive(GoalFollower(Manners(patience=10.0), [(1.0, 0.0), (8.0, 0.0)])))
    assert steps[-1][2].reached == 2


def test_side_is_kept_while_the_machine_turns():
    """Around a point 2 m ahead: to the left, where it points first; still to the left when it points to the right."""
    follower = GoalFollower(Manners(radius=1.0), [(5.0, 0.0)])
    point = np.array([[2.0, 0.0]])
    assert follower.step(0.0, (0.0, 0.0, 0.1), point).yaw_rate > 0.0
    assert follower.step(0.1, (0.0, 0.0, -0.3), point).yaw_rate > 0.0


def test_obstacle_ahead_reduces_speed():
    manners = Manners(radius=1.0, headway=2.0, speed=2.0)
    follower = GoalFollower(manners, [(20.0, 0.0)])
    step = follower.step(0.0, (0.0, 0.0, 0.0), np.array([[2.5, 0.0]]))
    # 1.6 m are free ahead of nine tenths of its circle, while it turns aside by asin(1 / 2.5) or a sector more
    turn = math.asin(0.4)
    assert 0.8 * math.cos(turn + SECTOR) ** 2 < step.speed <= 0.8 * math.cos(turn) ** 2


def test_angles_are_wrapped():
    assert wrapped(np.array([0.0, 3.5 * math.pi, -math.pi])) == pytest.approx([0.0, -0.5 * math.pi, -math.pi])


@pytest.mark.parametrize("text", ["1.0 2.0", "1, 2", " 1.0,2 "])
def test_waypoint_is_read(text):
    assert read_place(text) == (1.0, 2.0)


@pytest.mark.parametrize("text", ["1.0", "1 2 3", "a b", "nan 1", "1 inf"])
def test_invalid_waypoint_is_rejected(text):
    with pytest.raises(ParameterError, match="waypoints"):
        read_place(text)


def test_lidar_pose_follows_from_its_mount():
    mount = Pose((0.5, 0.1, 0.4), quaternion_from_rpy(0.0, 0.0, math.pi))
    assert planar(mount) == pytest.approx((0.5, 0.1, math.pi))
    assert mounted((1.0, 2.0, math.pi / 2), mount) == pytest.approx((0.9, 2.5, 1.5 * math.pi))
