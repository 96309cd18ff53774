"""Motion through waypoints against independent polynomials; tolerances; trajectories and goals as messages."""

import math

import numpy as np
import pytest
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointComponentTolerance, JointTolerance
from scipy.interpolate import CubicHermiteSpline, PPoly, interp1d
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from grouser.nodes.simulator import trajectory_messages
from grouser.physics.base.errors import ParameterError
from grouser.runtime.trajectory import Spline, Tolerance, Tolerances, Waypoint

# Six terms with coefficients up to 100 have rounding errors of 1e-13, and so has the reference; a derivative multiplies
# them by up to 5 and divides by 0.2 s, the shortest piece.
ROUNDING = 1e-12
ROUNDING_OF_VELOCITY = 25.0 * ROUNDING
ROUNDING_OF_ACCELERATION = 25.0 * ROUNDING_OF_VELOCITY
MODES = {"shoulder": "position", "elbow": "position", "wheel": "velocity", "winch": "effort"}
NO_LIMITS = Tolerances(*[Tolerance(np.full(2, math.inf), np.full(2, math.inf))] * 2, math.inf)


@pytest.fixture
def data():
    """Times (5,), and position, velocity and acceleration of three joints there, (3, 5, 3)."""
    generator = np.random.default_rng(7)
    return np.cumsum(generator.uniform(0.2, 1.5, 5)), generator.uniform(-2.0, 2.0, (3, 5, 3))


def quintics(times, values):
    """Quintic pieces by their definition: position, velocity and acceleration at both ends as six linear equations."""
    coefficients = np.empty((6, len(times) - 1, values.shape[2]))
    for piece, length in enumerate(np.diff(times)):
        conditions = [
            [math.perm(power, order) * end ** max(power - order, 0) for power in range(6)]
            for end in (0.0, length)
            for order in range(3)
        ]
        given = values[:, piece : piece + 2].transpose(1, 0, 2).reshape(6, -1)
        coefficients[::-1, piece] = np.linalg.solve(conditions, given)
    return PPoly(coefficients, times)


@pytest.mark.parametrize("given", [1, 2, 3], ids=["positions", "velocities", "accelerations"])
def test_pieces_are_the_polynomials_of_least_degree(data, given):
    times, values = data
    spline = Spline([Waypoint(time, *values[:given, k]) for k, time in enumerate(times)])
    expected = {
        1: lambda: interp1d(times, values[0], axis=0),
        2: lambda: CubicHermiteSpline(times, values[0], values[1]),
        3: lambda: quintics(times, values),
    }[given]()
    for time in np.linspace(times[0], times[-1], 101)[:-1]:
        motion = spline.sample(time)
        np.testing.assert_allclose(motion.position, expected(time), rtol=0.0, atol=ROUNDING)
        if given > 1:
            np.testing.assert_allclose(motion.velocity, expected(time, 1), rtol=0.0, atol=ROUNDING_OF_VELOCITY)
            np.testing.assert_allclose(motion.acceleration, expected(time, 2), rtol=0.0, atol=ROUNDING_OF_ACCELERATION)
        else:
            piece = np.searchsorted(times, time, side="right") - 1
            slope = (values[0, piece + 1] - values[0, piece]) / (times[piece + 1] - times[piece])
            np.testing.assert_allclose(motion.velocity, slope, rtol=ROUNDING)
            np.testing.assert_array_equal(motion.acceleration, 0.0)


def test_piece_has_the_derivatives_that_both_ends_specify():
    rest = np.zeros(1)
    waypoints = [Waypoint(0.0, rest, rest, rest), Waypoint(1.0, rest + 1.0, rest), Waypoint(2.0, rest + 2.0)]
    spline = Spline(waypoints)
    assert spline.sample(0.25).position == pytest.approx(3 * 0.25**2 - 2 * 0.25**3)  # the cubic between two rests
    assert spline.sample(1.25).position == pytest.approx(1.25)
    assert spline.end == 2.0


def test_motion_is_at_rest_before_and_after_the_trajectory():
    spline = Spline([Waypoint(1.0, np.array([3.0]), np.array([1.0])), Waypoint(2.0, np.array([5.0]), np.array([1.0]))])
    for time, position in ((0.0, 3.0), (2.0, 5.0), (9.0, 5.0)):
        motion = spline.sample(time)
        assert [motion.position, motion.velocity, motion.acceleration] == [[position], [0.0], [0.0]]


def test_single_waypoint_is_a_constant_position():
    spline = Spline([Waypoint(0.0, np.array([3.0]))])
    assert [spline.sample(time).position[0] for time in (-1.0, 0.0, 1.0)] == [3.0, 3.0, 3.0]


def test_overflow_of_coefficients_is_reported():
    far = np.array([1e308])
    assert Spline([Waypoint(0.0, far), Waypoint(1.0, 0.5 * far)]).finite
    assert not Spline([Waypoint(0.0, far), Waypoint(1.0, -far)]).finite


def test_tolerance_violation_names_joint_and_values():
    tolerance = Tolerance(np.array([0.1, math.inf]), np.array([math.inf, 0.5]))
    none = np.zeros(2)
    assert tolerance.violation(["a", "b"], np.array([0.1, 1e9]), np.array([1e9, -0.5])) == ""
    assert tolerance.violation(["a", "b"], np.array([-0.11, 0.0]), none) == (
        "the position of a is off by -0.11, 0.1 is allowed"
    )
    assert tolerance.violation(["a", "b"], none, np.array([0.0, 0.6])) == (
        "the velocity of b is off by 0.6, 0.5 is allowed"
    )


def point(time: float, positions=(0.0, 0.0), **parts) -> JointTrajectoryPoint:
    whole = math.floor(time)
    return JointTrajectoryPoint(
        time_from_start=Duration(sec=whole, nanosec=round((time - whole) * 1e9)), positions=list(positions), **parts
    )


def message(*points: JointTrajectoryPoint, joints=("shoulder", "elbow")) -> JointTrajectory:
    return JointTrajectory(joint_names=list(joints), points=list(points))


def test_message_becomes_waypoints():
    heard = message(point(0.0, (1.0, 2.0)), point(1.5, (3.0, 4.0), velocities=[0.0, 1e-9], accelerations=[5.0, 6.0]))
    trajectory = trajectory_messages.joint_trajectory(heard, MODES, False)
    assert trajectory.joints == ("shoulder", "elbow")
    assert trajectory.start is None
    first, last = trajectory.waypoints
    assert (first.time, first.position.tolist(), first.velocity, first.acceleration) == (0.0, [1.0, 2.0], None, None)
    assert (last.time, last.velocity.tolist(), last.acceleration.tolist()) == (1.5, [0.0, 1e-9], [5.0, 6.0])
    heard.header.stamp = Time(sec=12, nanosec=500_000_000)
    assert trajectory_messages.joint_trajectory(heard, MODES, False).start == 12.5


MOVING_AT_THE_END = message(point(1.0, velocities=[0.0, 0.1]))


def test_final_velocity_is_accepted_if_allowed():
    assert trajectory_messages.joint_trajectory(MOVING_AT_THE_END, MODES, True).waypoints[0].velocity.tolist() == [
        0.0,
        0.1,
    ]


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("joint_names = []", message(point(1.0, ()), joints=())),
        ("joint_names[1] = 'elbo'", message(point(1.0), joints=("shoulder", "elbo"))),
        ("joint_names[1] = 'shoulder'", message(point(1.0), joints=("shoulder", "shoulder"))),
        ("joint_names[1] = 'winch'", message(point(1.0), joints=("shoulder", "winch"))),
        ("points = []", message()),
        ("length of points[0].positions = 1", message(point(1.0, (0.0,)))),
        ("length of points[0].positions = 0", message(point(1.0, (), velocities=[0.0, 0.0]))),
        ("length of points[1].velocities = 1", message(point(1.0), point(2.0, velocities=[0.0]))),
        ("length of points[0].accelerations", message(point(1.0, velocities=[0.0, 0.0], accelerations=[0.0]))),
        ("points[0].accelerations", message(point(1.0, accelerations=[0.0, 0.0]))),
        ("length of points[0].effort = 2", message(point(1.0, effort=[1.0, 1.0]))),
        ("points[0].positions = [0.0, nan]", message(point(1.0, (0.0, math.nan)))),
        ("points[0].positions = [inf, 0.0]", message(point(1.0, (math.inf, 0.0)))),
        ("points[0].velocities = [nan, 0.0]", message(point(1.0, velocities=[math.nan, 0.0]))),
        ("points[0].velocities = [0.0, 0.1]", MOVING_AT_THE_END),
        ("points[0].time_from_start = -0.5", message(point(-0.5))),
        ("points[1].time_from_start = 1.0", message(point(1.0), point(1.0))),
        ("points[2].time_from_start = 1.5", message(point(1.0), point(2.0), point(1.5))),
    ],
)
def test_invalid_trajectory_is_rejected_with_field_and_value(field, bad):
    with pytest.raises(ParameterError) as refusal:
        trajectory_messages.joint_trajectory(bad, MODES, False)
    assert str(refusal.value).startswith(field)


def goal(**parts) -> FollowJointTrajectory.Goal:
    return FollowJointTrajectory.Goal(trajectory=message(point(1.0)), **parts)


def test_tolerance_zero_is_the_default_and_negative_is_no_limit():
    defaults = Tolerances(
        Tolerance(np.array([0.1, 0.2]), np.array([math.inf, math.inf])),
        Tolerance(np.array([0.3, 0.4]), np.array([0.01, 0.01])),
        2.0,
    )
    read = trajectory_messages.goal_tolerances(goal(), defaults)
    assert read.path.position.tolist() == [0.1, 0.2]
    assert read.goal.velocity.tolist() == [0.01, 0.01]
    assert read.goal_time == 2.0
    read = trajectory_messages.goal_tolerances(
        goal(
            path_tolerance=[JointTolerance(name="elbow", position=0.5, velocity=3.0, acceleration=9.0)],
            goal_tolerance=[
                JointTolerance(name="elbow", position=-1.0, velocity=0.0),
                JointTolerance(name="shoulder", position=0.0, velocity=-1.0),
            ],
            goal_time_tolerance=Duration(sec=0, nanosec=250_000_000),
        ),
        defaults,
    )
    assert read.path.position.tolist() == [0.1, 0.5]
    assert read.path.velocity.tolist() == [math.inf, 3.0]
    assert read.goal.position.tolist() == [0.3, math.inf]
    assert read.goal.velocity.tolist() == [math.inf, 0.01]
    assert read.goal_time == 0.25
    assert (
        trajectory_messages.goal_tolerances(goal(goal_time_tolerance=Duration(sec=-1)), defaults).goal_time == math.inf
    )
    assert defaults.path.position.tolist() == [0.1, 0.2]  # unchanged


@pytest.mark.parametrize(
    ("field", "parts"),
    [
        ("path_tolerance.name[0] = 'wheel'", {"path_tolerance": [JointTolerance(name="wheel", position=0.1)]}),
        ("goal_tolerance.name[1] = 'elbow'", {"goal_tolerance": [JointTolerance(name="elbow")] * 2}),
        ("goal_tolerance[0].position = nan", {"goal_tolerance": [JointTolerance(name="elbow", position=math.nan)]}),
    ],
)
def test_invalid_tolerances_are_rejected(field, parts):
    with pytest.raises(ParameterError) as refusal:
        trajectory_messages.goal_tolerances(goal(**parts), NO_LIMITS)
    assert str(refusal.value).startswith(field)


def test_fields_for_multi_dof_joints_are_rejected():
    several = goal()
    several.multi_dof_trajectory.joint_names = ["base"]
    for bad in (
        several,
        goal(component_path_tolerance=[JointComponentTolerance()]),
        goal(component_goal_tolerance=[JointComponentTolerance()]),
    ):
        with pytest.raises(ParameterError, match="several coordinates"):
            trajectory_messages.goal_trajectory(bad, MODES, False)
    assert trajectory_messages.goal_trajectory(goal(), MODES, False).joints == ("shoulder", "elbow")
