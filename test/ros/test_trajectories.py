"""The topic joint_trajectory and the action follow_joint_trajectory of a simulated arm."""

import math
import re
from itertools import pairwise
from pathlib import Path

import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from geometry_msgs.msg import Twist, Vector3
from rclpy.action import get_action_names_and_types
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

Result = FollowJointTrajectory.Result
ARM = Path(__file__).parent / "data" / "arm.urdf"


def duration(seconds: float) -> Duration:
    whole = math.floor(seconds)
    return Duration(sec=whole, nanosec=round((seconds - whole) * 1e9))


def trajectory(joints: list[str], *points: tuple) -> JointTrajectory:
    """Points are (time, positions, velocities, accelerations), of which the last two may be missing."""
    fields = ("positions", "velocities", "accelerations")
    return JointTrajectory(
        joint_names=joints,
        points=[
            JointTrajectoryPoint(time_from_start=duration(time), **dict(zip(fields, values, strict=False)))
            for time, *values in points
        ],
    )


def away() -> JointTrajectory:
    """A trajectory that lasts longer than its test, also on a busy computer: 20 s of motion, then a hold."""
    return trajectory(["shoulder", "elbow"], (20.0, [2.0, 2.0]), (20_000.0, [2.0, 2.0]))


def goal(planned: JointTrajectory, **tolerances) -> FollowJointTrajectory.Goal:
    return FollowJointTrajectory.Goal(trajectory=planned, **tolerances)


def position(message: JointState, name: str) -> float:
    return message.position[message.name.index(name)]


@pytest.fixture
def arm(peer):
    return peer.act(FollowJointTrajectory, "follow_joint_trajectory")


@pytest.fixture
def joint_states(peer):
    return peer.hear(JointState, "joint_states")


def test_a_planned_motion_is_followed_to_its_end(peer, start_simulator, arm, joint_states):
    """As MoveIt sends it: positions, velocities and accelerations of some joints, from rest to rest."""
    start_simulator(machine=str(ARM), action_monitor_rate=10.0)
    planned = trajectory(
        ["elbow", "shoulder"],
        (0.0, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
        (0.5, [-0.5, 0.25], [-1.5, 0.75], [0.0, 0.0]),
        (1.0, [-1.0, 0.5], [0.0, 0.0], [0.0, 0.0]),
    )
    within = [JointTolerance(name=name, position=0.01) for name in ("shoulder", "elbow")]
    peer.wait_for(lambda: "/follow_joint_trajectory" in dict(get_action_names_and_types(peer.node)), "the action")
    handle = arm.send(goal(planned, goal_tolerance=within, goal_time_tolerance=duration(1.0)))
    assert handle.accepted
    status, result = arm.end(handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL)
    heard = joint_states.wait()
    assert position(heard, "elbow") == pytest.approx(-1.0, abs=0.01)
    assert position(heard, "shoulder") == pytest.approx(0.5, abs=0.01)
    feedback = arm.feedback.all()
    assert feedback[0].joint_names == ["elbow", "shoulder"]
    stamps = [one.header.stamp.sec * 10**9 + one.header.stamp.nanosec for one in feedback]
    assert {later - sooner for sooner, later in pairwise(stamps)} == {10**8}
    middle = next(one for one in feedback if one.desired.time_from_start == duration(0.5))
    assert middle.desired.positions.tolist() == pytest.approx([-0.5, 0.25])
    assert middle.desired.velocities.tolist() == pytest.approx([-1.5, 0.75])
    assert middle.actual.positions[0] == pytest.approx(-0.5, abs=0.05)
    for wanted, actual, error in zip(
        middle.desired.positions, middle.actual.positions, middle.error.positions, strict=True
    ):
        assert error == wanted - actual
    assert not middle.actual.accelerations


def test_violated_tolerances_end_a_trajectory_with_their_codes(start_simulator, arm, joint_states):
    start_simulator(machine=str(ARM), **{"constraints.elbow.trajectory": 1e-4, "constraints.goal_time": 0.1})
    # The drive lags behind by its damping times the speed over its stiffness, 10 mrad.
    handle = arm.send(goal(trajectory(["elbow"], (10.0, [10.0]))))
    status, result = arm.end(handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.PATH_TOLERANCE_VIOLATED)
    assert "position of elbow is off by" in result.error_string
    # The goal's own tolerances come first. Its weight bends the elbow's drive by more than a micrometre.
    close = goal(
        trajectory(["elbow"], (0.2, [0.3])),
        path_tolerance=[JointTolerance(name="elbow", position=-1.0)],
        goal_tolerance=[JointTolerance(name="elbow", position=1e-6)],
    )
    status, result = arm.end(arm.send(close))
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.GOAL_TOLERANCE_VIOLATED)
    assert "after its end the position of elbow is off by" in result.error_string
    late = trajectory(["elbow"], (0.1, [0.3]))
    late.header.stamp = Time(nanosec=1)
    status, result = arm.end(arm.send(goal(late)))
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, Result.OLD_HEADER_TIMESTAMP)
    # The arm holds where it was.
    first = position(joint_states.wait(), "elbow")
    stamp = joint_states.wait().header.stamp.sec
    last = position(joint_states.wait(lambda heard: heard.header.stamp.sec > stamp), "elbow")
    assert last == pytest.approx(first, abs=0.01)


def test_a_goal_is_canceled_and_replaced(start_simulator, arm, joint_states):
    start_simulator(machine=str(ARM))
    first = arm.send(goal(away()))
    second = arm.send(goal(away()))
    status, result = arm.end(first)
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_string == "replaced by a new trajectory"
    arm.feedback.wait(lambda told: told.desired.positions[1] > 0.05, "the arm under way")
    assert second.status == GoalStatus.STATUS_EXECUTING
    assert arm.cancel(second) == 1
    status, result = arm.end(second)
    assert (status, result.error_code) == (GoalStatus.STATUS_CANCELED, Result.SUCCESSFUL)
    stopped = position(joint_states.wait(), "elbow")
    stamp = joint_states.wait().header.stamp.sec
    held = position(joint_states.wait(lambda heard: heard.header.stamp.sec > stamp), "elbow")
    assert held == pytest.approx(stopped, abs=0.005)  # of the 0.1 rad/s at which it went, and what its weight bends


def test_other_sources_and_stops_end_a_trajectory(peer, start_simulator, arm, joint_states):
    start_simulator(machine=str(ARM))
    handle = arm.send(goal(away()))
    arm.feedback.wait()
    peer.say("joint_commands", JointState(name=["elbow"], position=[-0.3]))
    status, result = arm.end(handle)
    assert (status, result.error_string) == (GoalStatus.STATUS_ABORTED, "joint_commands took elbow over")
    joint_states.wait(lambda heard: abs(position(heard, "elbow") + 0.3) < 0.01, "the elbow where it was commanded")

    handle = arm.send(goal(away()))
    assert peer.ask(Trigger, "/simulator/reset", Trigger.Request()).success
    status, result = arm.end(handle)
    assert (status, result.error_string) == (GoalStatus.STATUS_ABORTED, "the simulation is reset")

    handle = arm.send(goal(away()))
    peer.say("emergency_stop", Bool(data=True))
    status, result = arm.end(handle)
    assert (status, result.error_string) == (GoalStatus.STATUS_ABORTED, "emergency stop")
    status, result = arm.end(arm.send(goal(away())))
    assert (status, result.error_string) == (GoalStatus.STATUS_ABORTED, "the emergency stop is latched")


def test_a_trajectory_comes_by_topic_and_an_empty_one_stops_it(peer, start_simulator, arm, joint_states):
    node = start_simulator(machine=str(ARM), command_timeout=0.05)
    handle = arm.send(goal(away()))
    begun = joint_states.mark()
    peer.say("joint_trajectory", trajectory(["elbow", "spindle"], (0.3, [0.4, 3.0])))
    assert arm.end(handle)[1].error_string == "replaced by a new trajectory"
    joint_states.wait(lambda heard: heard.velocity[heard.name.index("spindle")] > 9.0, "the spindle turning", begun)
    joint_states.wait(lambda heard: abs(position(heard, "elbow") - 0.4) < 0.01, "the elbow there")
    joint_states.wait(lambda heard: abs(heard.velocity[heard.name.index("spindle")]) < 0.01, "the spindle at rest")
    now = node.report.time
    peer.wait_for(lambda: node.report.time > now + 0.1, "time for silence")
    assert node.report.watchdog_trips == 0  # what is over is not silent
    handle = arm.send(goal(away()))
    arm.feedback.wait()
    peer.say("joint_trajectory", JointTrajectory())
    status, result = arm.end(handle)
    assert (status, result.error_string) == (GoalStatus.STATUS_ABORTED, "an empty trajectory was received")


def test_a_trajectory_ends_the_command_program(peer, start_simulator, arm, tmp_path):
    program = tmp_path / "program.yaml"
    program.write_text("commands:\n- {time: 0.0, joint: winch, value: 1.0}\n")
    node = start_simulator(machine=str(ARM), program=str(program))
    peer.wait_for(lambda: node.report.program == "finished", "its last command, which holds")
    handle = arm.send(goal(trajectory(["elbow"], (0.3, [0.2]))))
    assert arm.end(handle)[1].error_code == Result.SUCCESSFUL
    peer.wait_for(lambda: node.report.program == "stopped", "the program's end")


def test_a_twist_takes_a_vehicles_joints(peer, start_simulator, arm, joint_states):
    start_simulator(machine="rover", enable_stamped_cmd_vel=False, cmd_vel_timeout=0.0)
    handle = arm.send(goal(trajectory(["front_left_steering", "front_left_drive"], (20.0, [1.0, 1.0]))))
    arm.feedback.wait()
    peer.say("cmd_vel", Twist(linear=Vector3(x=0.2)))
    assert "cmd_vel took front_left_steering and front_left_drive over" in arm.end(handle)[1].error_string
    joint_states.wait(lambda heard: heard.velocity[heard.name.index("front_left_drive")] > 0.5, "the rover driving")


BAD = {
    "no joint": trajectory([], (1.0, [])),
    "joint unknown": trajectory(["ellbow"], (1.0, [0.5])),
    "joint twice": trajectory(["elbow", "elbow"], (1.0, [0.5, 0.5])),
    "joint in effort mode": trajectory(["winch"], (1.0, [0.5])),
    "one joint good, one bad": trajectory(["elbow", "tail"], (1.0, [0.5, 0.5])),
    "too few positions": trajectory(["shoulder", "elbow"], (1.0, [0.5])),
    "velocities too long": trajectory(["elbow"], (1.0, [0.5], [0.0, 0.0])),
    "not a number": trajectory(["elbow"], (1.0, [math.nan])),
    "times not increasing": trajectory(["elbow"], (1.0, [0.5]), (1.0, [0.6])),
    "moving at the end": trajectory(["elbow"], (1.0, [0.5], [0.3])),
}


def test_bad_trajectories_are_refused_whole_and_counted(peer, start_simulator, arm, joint_states):
    node = start_simulator(machine=str(ARM))
    handle = arm.send(goal(away()))
    for count, (what, bad) in enumerate(BAD.items()):
        assert not arm.send(goal(bad)).accepted, what
        assert node.refused_commands == 2 * count + 1, what
        peer.say("joint_trajectory", bad)
        peer.wait_for(lambda count=count: node.refused_commands == 2 * count + 2, f"the refusal of: {what}")
    assert not arm.send(goal(away(), path_tolerance=[JointTolerance(name="elbow", position=math.nan)])).accepted
    assert not arm.send(FollowJointTrajectory.Goal()).accepted
    # The active trajectory continues.
    arm.feedback.wait()
    assert handle.status == GoalStatus.STATUS_EXECUTING
    node.set_parameters([Parameter("allow_nonzero_velocity_at_trajectory_end", value=True)])
    assert arm.send(goal(BAD["moving at the end"])).accepted


def test_machine_without_suitable_drives_has_no_trajectory_topic(peer, start_simulator, joint_states, tmp_path):
    """Drives in effort mode follow no trajectory."""
    machine = tmp_path / "arm.urdf"
    machine.write_text(re.sub('mode="(position|velocity)"', 'mode="effort"', ARM.read_text()))
    node = start_simulator(machine=str(machine))
    joint_states.wait()

    def names():
        return {name for name, _ in peer.node.get_topic_names_and_types()}

    peer.wait_for(lambda: "/joint_commands" in names(), "the simulator's inputs")
    assert not any("trajectory" in name for name in names())
    assert "/follow_joint_trajectory" not in dict(get_action_names_and_types(peer.node))
    assert not node.get_parameters_by_prefix("constraints")
