"""Trajectories in the physics thread, on a real simulation: commands of drives, and ends of trajectories."""

import math
from pathlib import Path

import numpy as np
import pytest

import grouser
from grouser.runtime.trajectory import Tolerance, Tolerances, Trajectory, Waypoint
from grouser.runtime.trajectory_following import Ended, Ending, Order, Progress, TrajectoryFollower

MACHINE = Path(__file__).parents[1] / "ros" / "data" / "arm.urdf"
STEP = 0.001
TICK = 10


class Bench:
    """An arm, a follower, and its reports."""

    def __init__(self, steered=()):
        self.simulation = grouser.Simulation(grouser.load_machine(MACHINE), grouser.World(), step=STEP)
        self.news, self.warnings = [], []
        self.follower = TrajectoryFollower(self.simulation, steered, self.news.append, self.warnings.append)

    def follow(self, joints, *waypoints, start=None, ticket="one", **parts):
        trajectory = Trajectory(
            tuple(joints), tuple(Waypoint(t, *map(np.array, given)) for t, *given in waypoints), start
        )
        self.follower.follow(Order(trajectory, limits(len(joints), **parts), ticket), self.simulation.step_count)

    def tick(self, heard=None):
        """One tick; returns the follower's commands."""
        told = self.follower.commands(self.simulation.step_count, heard or {})
        self.simulation.command.update(told)
        self.simulation.step(TICK)
        return told

    def run(self, seconds):
        """Commands of the drives at each tick."""
        return [self.tick() for _ in range(round(seconds / (TICK * STEP)))]

    @property
    def endings(self):
        return [(news.ticket, news.ending) for news in self.news if isinstance(news, Ended)]


def limits(count, path=math.inf, goal=math.inf, stopped=math.inf, goal_time=math.inf):
    free = np.full(count, math.inf)
    return Tolerances(
        Tolerance(np.full(count, path), free), Tolerance(np.full(count, goal), np.full(count, stopped)), goal_time
    )


@pytest.fixture
def bench():
    return Bench()


def test_a_position_drive_gets_positions_and_a_velocity_drive_velocities(bench):
    bench.follow(["elbow", "spindle"], (1.0, [0.5, 2.0]))
    told = bench.run(1.0)
    np.testing.assert_allclose([tick["elbow"] for tick in told], np.linspace(0.0, 0.495, 100), atol=1e-12)
    assert [tick["spindle"] for tick in told] == pytest.approx([2.0] * 100)
    assert bench.tick() == {"elbow": 0.5, "spindle": 0.0}
    assert bench.tick() == {}
    assert bench.endings == [("one", Ending.SUCCEEDED)]
    # A velocity drive has no position feedback: 1 s at 2 rad/s less the start-up of about 10 ms.
    bench.run(0.2)
    assert bench.simulation.joint_position["spindle"] == pytest.approx(2.0, abs=0.05)
    assert bench.simulation.command["elbow"] == 0.5


def test_trajectory_starts_at_the_commands_of_its_drives(bench):
    """A drive sags under gravity: a start at the joint's position would be a step of its target."""
    bench.simulation.command["shoulder"] = 0.5
    bench.simulation.step(1000)
    assert bench.simulation.joint_position["shoulder"] > 0.5005
    bench.follow(["shoulder"], (1.0, [1.0], [0.0]))
    assert bench.tick() == {"shoulder": 0.5}
    # The next trajectory starts with the velocity of the first: no jump in either.
    bench.run(0.49)
    bench.follow(["shoulder"], (1.0, [0.0], [0.0]), ticket="two")
    told = np.array([tick["shoulder"] for tick in bench.run(0.05)])
    # half-way, at the highest speed, 1.5 times the mean: 0.75 m
    assert told[0] == pytest.approx(0.75)
    assert (told[1] - told[0]) / (TICK * STEP) == pytest.approx(0.75, abs=0.1)
    assert bench.endings == [("one", Ending.STOPPED)]


def test_velocity_drive_starts_with_its_commanded_speed(bench):
    bench.simulation.command["spindle"] = 2.0
    bench.follow(["spindle"], (1.0, [1.0], [0.0]))
    assert bench.tick() == {"spindle": 2.0}


def test_waypoint_at_time_zero_is_the_start(bench):
    bench.follow(["elbow"], (0.0, [0.3]), (1.0, [0.4]))
    assert bench.tick() == {"elbow": 0.3}
    bench.follow(["elbow"], (0.0, [0.1]), ticket="two")
    assert bench.tick() == {"elbow": 0.1}
    assert bench.endings == [("one", Ending.STOPPED), ("two", Ending.SUCCEEDED)]


def test_continuous_joint_takes_the_shorter_way(bench):
    bench.simulation.command["wrist"] = 6.0
    bench.follow(["wrist", "elbow"], (1.0, [0.5, 0.5]), (2.0, [1.0, 0.0]))
    told = bench.run(2.0)
    assert told[-1]["wrist"] == pytest.approx(math.tau + 1.0, abs=0.01)
    assert max(tick["wrist"] for tick in told) <= math.tau + 1.0
    assert max(tick["elbow"] for tick in told) == pytest.approx(0.5)


def test_past_waypoints_are_skipped(bench):
    bench.run(0.5)
    bench.follow(["elbow"], (0.2, [9.0]), (1.0, [0.5]), start=0.0)
    told = bench.run(0.5)
    np.testing.assert_allclose([tick["elbow"] for tick in told], np.linspace(0.0, 0.49, 50), atol=1e-12)


def test_trajectory_that_ends_in_the_past_is_not_followed(bench):
    bench.run(0.5)
    bench.follow(["elbow"], (0.2, [9.0]), start=0.1)
    assert bench.tick() == {}
    assert bench.endings == [("one", Ending.OUTDATED)]
    assert "t = 0.3 s, and now it is 0.5 s" in bench.news[0].text


def test_trajectory_waits_for_its_start_while_another_is_active(bench):
    bench.follow(["elbow"], (1.0, [0.5]))
    bench.follow(["elbow"], (0.5, [0.0]), start=0.3, ticket="two")
    told = [tick["elbow"] for tick in bench.run(0.8)]
    np.testing.assert_allclose(told[:31], np.linspace(0.0, 0.15, 31), atol=1e-12)
    np.testing.assert_allclose(told[30:], np.linspace(0.15, 0.003, 50), atol=1e-12)
    bench.tick()
    assert bench.endings == [("one", Ending.STOPPED), ("two", Ending.SUCCEEDED)]


def test_newer_trajectory_replaces_the_waiting_one(bench):
    bench.follow(["elbow"], (0.5, [0.3]), start=0.3)
    bench.follow(["elbow"], (0.5, [0.2]), start=0.4, ticket="two")
    assert bench.endings == [("one", Ending.STOPPED)]
    bench.follow(["elbow"], (0.5, [0.1]), ticket="three")
    assert bench.endings[1:] == [("two", Ending.STOPPED)]
    bench.run(0.6)
    assert bench.endings[2:] == [("three", Ending.SUCCEEDED)]
    assert bench.simulation.command["elbow"] == 0.1


def test_start_in_wall_time_causes_a_warning(bench):
    bench.follow(["elbow"], (0.5, [0.3]), start=1.7e9)
    assert "simulation time" in bench.warnings[0]
    bench.follower.cancel("one")
    assert bench.endings == [("one", Ending.CANCELED)]


def test_joints_without_a_next_trajectory_hold(bench):
    bench.follow(["elbow", "wrist", "spindle"], (1.0, [1.0, 1.0, 3.0]))
    bench.run(0.5)
    places = {joint: bench.simulation.joint_position[joint] for joint in ("wrist", "elbow")}
    bench.follow(["elbow"], (1.0, [0.0]), ticket="two")
    told = bench.tick()
    assert told == {"elbow": pytest.approx(0.5), "wrist": places["wrist"], "spindle": 0.0}
    assert bench.tick().keys() == {"elbow"}


@pytest.mark.parametrize("end", ["cancel", "stop"])
def test_ended_trajectory_holds_the_joints(bench, end):
    bench.follow(["elbow", "spindle"], (1.0, [1.0, 1.0]))
    bench.run(0.5)
    place = bench.simulation.joint_position["elbow"]
    if end == "cancel":
        bench.follower.cancel("another")
        assert not bench.endings
        bench.follower.cancel("one")
    else:
        bench.follower.stop("because")
    assert bench.tick() == {"elbow": place, "spindle": 0.0}
    assert bench.tick() == {}
    assert bench.endings == [("one", Ending.CANCELED if end == "cancel" else Ending.STOPPED)]


def test_command_of_another_source_ends_the_trajectory(bench):
    bench.follow(["elbow", "wrist"], (1.0, [1.0, 1.0]))
    bench.run(0.5)
    assert bench.tick({"joint_commands": {"winch": 1.0}}).keys() == {"elbow", "wrist"}
    place = bench.simulation.joint_position["wrist"]
    assert bench.tick({"joint_commands": {"elbow": 0.1}}) == {"wrist": place}
    assert bench.news[-1] == Ended("one", Ending.STOPPED, "joint_commands took elbow over")


def test_twist_ends_trajectories_of_its_joints():
    bench = Bench(steered=["spindle"])
    bench.follow(["elbow"], (1.0, [1.0]))
    bench.tick({"cmd_vel": {"twist.x": 1.0}})
    assert not bench.endings
    bench.follow(["elbow", "spindle"], (1.0, [1.0, 1.0]))
    assert bench.tick({"cmd_vel": {"twist.x": 1.0}}).keys() == {"elbow"}
    assert bench.news[-1].text == "cmd_vel took spindle over"


def test_emergency_stop_prevents_trajectories(bench):
    bench.simulation.emergency_stop = True
    bench.follow(["elbow"], (1.0, [1.0]))
    assert bench.tick() == {}
    assert bench.endings == [("one", Ending.STOPPED)]


def test_reset_sends_no_commands(bench):
    bench.follow(["elbow"], (1.0, [1.0]))
    bench.run(0.5)
    bench.follower.reset()
    assert bench.tick() == {}
    assert bench.endings == [("one", Ending.STOPPED)]


def test_path_tolerance_applies_until_the_end(bench):
    # The lag of the drive is damping times speed over stiffness; weight and inertia add less than that.
    lag = 80.0 / 8000.0 * 0.75
    bench.follow(["elbow"], (1.0, [0.5], [0.0]), path=2.0 * lag)
    bench.run(1.1)
    bench.follow(["elbow"], (1.0, [0.0], [0.0]), path=0.5 * lag, ticket="two")
    bench.run(0.5)
    assert bench.endings == [("one", Ending.SUCCEEDED), ("two", Ending.PATH_VIOLATED)]
    assert bench.news[-1].text.startswith("the position of elbow is off by -0.00")
    assert bench.simulation.command["elbow"] < 0.5


def test_goal_must_be_reached_in_time(bench):
    """The shoulder sags by far more than the tolerance."""
    bench.follow(["shoulder"], (0.5, [0.5]), goal=1e-6, goal_time=0.2)
    told = bench.run(0.7)
    assert [tick["shoulder"] for tick in told[50:]] == [0.5] * 20
    assert not bench.endings
    bench.run(0.02)
    assert bench.endings == [("one", Ending.GOAL_VIOLATED)]
    assert bench.simulation.command["shoulder"] != 0.5


def test_goal_is_reached_when_all_joints_are_at_rest_there(bench):
    bench.follow(["elbow"], (0.5, [0.5]), stopped=0.01)
    bench.run(0.5)
    assert abs(bench.simulation.joint_velocity["elbow"]) > 0.1
    while not bench.endings:
        speed = bench.simulation.joint_velocity["elbow"]
        bench.tick()
    assert bench.endings == [("one", Ending.SUCCEEDED)]
    assert abs(speed) <= 0.01
    assert bench.simulation.step_count * STEP < 0.8


def test_progress_is_reported_at_its_rate(bench):
    trajectory = Trajectory(("elbow",), (Waypoint(1.0, np.array([0.5])),))
    bench.follower.follow(Order(trajectory, limits(1), "one", 0.05), 0)
    bench.run(1.0)
    progress = [news for news in bench.news if isinstance(news, Progress)]
    assert [news.step for news in progress] == list(range(0, 1000, 50))
    last = progress[-1]
    assert last.elapsed == pytest.approx(0.95)
    assert last.desired.position == pytest.approx([0.475])
    assert last.desired.velocity == pytest.approx([0.5])
    assert last.position == pytest.approx([0.475], abs=0.01)


def test_oversized_numbers_move_nothing(bench):
    bench.follow(["elbow"], (0.5, [1e308]), (1.0, [-1e308]))
    assert bench.tick() == {}
    assert bench.endings == [("one", Ending.STOPPED)]


def test_same_trajectory_gives_identical_motion(bench):
    other = Bench()
    for one in (bench, other):
        one.follow(["shoulder", "elbow"], (0.5, [0.5, -0.5], [0.0, 0.0]))
        one.run(0.6)
    np.testing.assert_array_equal(bench.simulation.joint_position.values(), other.simulation.joint_position.values())
