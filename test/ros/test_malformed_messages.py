"""Malformed messages: oversized, meaningless, or undecodable. The node continues."""

import math
import os
import signal
import time
from array import array
from pathlib import Path

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import DynamicInterfaceGroupValues, InterfaceValue, JointTolerance
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped, Vector3
from hypothesis import given
from hypothesis import strategies as st
from patience import DEADLINE
from rcl_interfaces.msg import Log
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Float64MultiArray, Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from grouser.nodes.shared import messages, topics
from grouser.nodes.simulator import trajectory_messages
from grouser.physics.base.errors import ParameterError
from grouser.program import TWIST

MEGABYTE = "x" * 1_000_000
MILLION = array("d", bytes(8_000_000))
LONGEST_WARNING = 1000  # characters: what still fits on a screen
HUGE = 1e308

MONSTERS = {
    "a million values of valves": ("valve_commands_array", Float64MultiArray(data=MILLION)),
    "a million valves": ("valve_commands", DynamicInterfaceGroupValues(interface_groups=["boom_valve"] * 1_000_000)),
    "a million values of one valve": (
        "valve_commands",
        DynamicInterfaceGroupValues(
            interface_groups=["boom_valve"],
            interface_values=[InterfaceValue(interface_names=["spool_command"], values=MILLION)],
        ),
    ),
    "a million interfaces of one valve": (
        "valve_commands",
        DynamicInterfaceGroupValues(
            interface_groups=["boom_valve"],
            interface_values=[InterfaceValue(interface_names=["spool_command"] * 1_000_000, values=[0.5])],
        ),
    ),
    "a valve's name of 1 MB": (
        "valve_commands",
        DynamicInterfaceGroupValues(
            header=Header(frame_id=MEGABYTE),
            interface_groups=[MEGABYTE],
            interface_values=[InterfaceValue(interface_names=["spool_command"], values=[0.5])],
        ),
    ),
    "an interface's name of 1 MB": (
        "valve_commands",
        DynamicInterfaceGroupValues(
            interface_groups=["boom_valve"],
            interface_values=[InterfaceValue(interface_names=[MEGABYTE], values=[0.5])],
        ),
    ),
    "a huge spool command": ("valve_commands_array", Float64MultiArray(data=[-HUGE])),
    "a joint's name of 1 MB": (
        "joint_commands",
        JointState(header=Header(frame_id=MEGABYTE), name=[MEGABYTE], position=[0.5]),
    ),
    "a million joints": ("joint_commands", JointState(name=["mast_joint"] * 1_000_000, position=MILLION)),
    "a million values of one joint": ("joint_commands", JointState(name=["mast_joint"], position=MILLION)),
    "no joint": ("joint_commands", JointState(position=[0.5])),
    "a joint twice": ("joint_commands", JointState(name=["mast_joint"] * 2, position=[0.5, 0.5])),
    "a trajectory of a million joints": (
        "joint_trajectory",
        JointTrajectory(joint_names=["mast_joint"] * 1_000_000, points=[JointTrajectoryPoint(positions=MILLION)]),
    ),
    "a trajectory of a joint with a name of 1 MB": (
        "joint_trajectory",
        JointTrajectory(
            header=Header(frame_id=MEGABYTE),
            joint_names=[MEGABYTE],
            points=[JointTrajectoryPoint(positions=[0.5])],
        ),
    ),
    "a million positions": (
        "joint_trajectory",
        JointTrajectory(joint_names=["mast_joint"], points=[JointTrajectoryPoint(positions=MILLION)]),
    ),
    "a hundred thousand points at the same time": (
        "joint_trajectory",
        JointTrajectory(joint_names=["mast_joint"], points=[JointTrajectoryPoint(positions=[0.5])] * 100_000),
    ),
}


@pytest.fixture
def joint_states(peer):
    return peer.hear(JointState, "joint_states")


@pytest.fixture
def warnings(peer):
    """Warnings of the simulator."""
    return peer.hear(Log, "/rosout", 1000)


def joint(message, name):
    return message.position[message.name.index(name)]


def moves(peer, joint_states):
    """Turns the mast, which shows that the simulator still receives commands."""
    peer.say("joint_commands", JointState(name=["mast_joint"], position=[0.4]))
    joint_states.wait(lambda message: abs(joint(message, "mast_joint") - 0.4) < 0.01, "the mast turned")


def test_oversized_messages_are_refused(peer, start_simulator, joint_states, warnings):
    """Each refusal is counted; the warning is short, names the field, and comes once a second at most."""
    node = start_simulator(command_timeout=0.0)
    start = joint_states.first()
    begun = time.monotonic()
    for count, (what, (topic, message)) in enumerate(MONSTERS.items(), start=1):
        peer.say(topic, message)
        peer.wait_for(lambda count=count: node.refused_commands == count, f"the refusal of: {what}")
    elapsed = time.monotonic() - begun
    heard = joint_states.wait()
    for name in ("boom_joint", "mast_joint", "drum_joint", "winch_joint"):
        # the chassis settles on the ground, and what hangs on it a little
        assert joint(heard, name) == pytest.approx(joint(start, name), abs=1e-3)
    moves(peer, joint_states)
    warnings.wait_ever(lambda message: "refused" in message.msg, "a refusal")
    said = [message for message in warnings.all() if "refused" in message.msg]
    assert max(len(message.msg) for message in said) < LONGEST_WARNING
    assert any("length of data = 1000000 is not valid: 1" in message.msg for message in said)
    assert len(said) <= 1 + elapsed


def test_warnings_of_refusals_are_limited_to_one_a_second(peer, start_simulator, warnings):
    node = start_simulator()
    bad = Float64MultiArray(data=[math.nan])
    begun = time.monotonic()
    for count in range(1, 1001):
        peer.say("valve_commands_array", bad)
        if count % 5 == 0:  # the queue holds ten
            peer.wait_for(lambda count=count: node.refused_commands == count, "the refusals")
    elapsed = time.monotonic() - begun
    warnings.wait_ever(lambda message: "refused" in message.msg, "a refusal")
    said = [message for message in warnings.all() if "refused" in message.msg]
    assert len(said) <= 1 + elapsed
    assert "valve_commands_array refused: data[0] = nan is not valid" in said[0].msg


@pytest.mark.parametrize("size", [HUGE, messages.LARGEST_TARGET])
def test_huge_targets_leave_the_simulation_finite(peer, start_simulator, joint_states, size):
    """They are refused, or the drives move towards them within their limits."""
    node = start_simulator(command_timeout=0.0)
    names = ["mast_joint", "drum_joint", "winch_joint"]
    joint_states.first()
    peer.say("joint_commands", JointState(name=names, position=[size] * 3, velocity=[size] * 3, effort=[size] * 3))
    point = JointTrajectoryPoint(positions=[size], velocities=[0.0], accelerations=[-size])
    point.time_from_start.nanosec = 1
    peer.say("joint_trajectory", JointTrajectory(joint_names=["mast_joint"], points=[point]))
    now = joint_states.wait()
    last = joint_states.wait(lambda message: nanoseconds(message) > nanoseconds(now) + 5e8, "half a second more")
    assert np.isfinite([last.position, last.velocity, last.effort]).all()
    assert not node.report.failure


@pytest.mark.parametrize("kind", [Twist, TwistStamped])
def test_a_huge_twist_leaves_the_simulation_finite(peer, start_simulator, joint_states, kind):
    node = start_simulator(machine="rover", enable_stamped_cmd_vel=kind is TwistStamped, cmd_vel_timeout=0.0)
    for linear, angular in ((HUGE, HUGE), (-HUGE, 0.0), (0.0, HUGE), (5e-324, -HUGE)):
        twist = Twist(linear=Vector3(x=linear, y=linear), angular=Vector3(z=angular))
        header = Header(frame_id=MEGABYTE)
        peer.say("cmd_vel", TwistStamped(header=header, twist=twist) if kind is TwistStamped else twist)
        now = joint_states.wait()
        heard = joint_states.wait(lambda message, now=now: nanoseconds(message) > nanoseconds(now) + 3e8, "0.3 s more")
        assert np.isfinite([heard.position, heard.velocity, heard.effort]).all()
        assert not node.report.failure


def refused(message) -> int | None:
    """The counter of refused commands."""
    return next(
        (int(pair.value) for one in message.status for pair in one.values if pair.key == "refused_commands"), None
    )


def nanoseconds(message):
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def test_oversized_goals_are_rejected(peer, start_simulator, joint_states):
    node = start_simulator()
    arm = peer.act(FollowJointTrajectory, "follow_joint_trajectory")
    good = JointTrajectory(joint_names=["mast_joint"], points=[JointTrajectoryPoint(positions=[0.1])])
    goals = [
        *(
            FollowJointTrajectory.Goal(trajectory=message)
            for _, message in MONSTERS.values()
            if type(message) is type(good)
        ),
        FollowJointTrajectory.Goal(trajectory=good, path_tolerance=[JointTolerance(name=MEGABYTE)]),
        FollowJointTrajectory.Goal(trajectory=good, goal_tolerance=[JointTolerance(name="mast_joint")] * 100_000),
    ]
    for count, goal in enumerate(goals, start=1):
        assert not arm.send(goal).accepted
        assert node.refused_commands == count
    last = arm.send(FollowJointTrajectory.Goal(trajectory=good))
    assert arm.end(last)[0] == GoalStatus.STATUS_SUCCEEDED


SPOILED = {
    "no message": b"",
    "a header only": bytes([0, 1, 0, 0]),
    "an unknown encoding": bytes([7, 7, 7, 7]) + bytes(100),
    "cut off": serialize_message(JointState(name=["mast_joint"], position=[0.5]))[:40],
    "a length beyond the end": bytes([0, 1, 0, 0]) + bytes(8) + bytes([255] * 8),
    "noise": np.random.default_rng(1).bytes(1000),
    "no text": serialize_message(JointState(name=["mast_joint"], position=[0.5])).replace(b"mast", b"\xff\xfe\xfd\xfc"),
}


@pytest.mark.parametrize("spoiled", SPOILED.values(), ids=SPOILED)
def test_undecodable_messages_do_not_end_the_node(peer, start_simulator, joint_states, spoiled):
    """A peer that declares the right type may send any bytes."""
    start_simulator(command_timeout=0.0)
    for topic, kind in (
        ("joint_commands", JointState),
        ("valve_commands", DynamicInterfaceGroupValues),
        ("valve_commands_array", Float64MultiArray),
        ("joint_trajectory", JointTrajectory),
    ):
        publisher = peer.publisher(kind, topic)
        publisher.publish(spoiled)
    moves(peer, joint_states)


def test_oversized_parameters_are_refused(peer, start_simulator, joint_states):
    start_simulator(command_timeout=0.0)
    changes = [
        Parameter(MEGABYTE, value=1.0),
        Parameter("machine", value=MEGABYTE),
        Parameter("command_timeout", value=math.nan),
        Parameter("command_timeout", value=HUGE),
        Parameter("command_timeout", value=[0.5] * 100_000),
        Parameter("real_time_factor", value=-0.0001),
        Parameter("faults.nobody.burst", value=1.0),
    ]
    results = peer.set_parameters(*changes)
    assert [result.successful for result in results] == [False] * len(changes)
    assert all(result.reason for result in results)
    moves(peer, joint_states)


def test_oversized_joy_messages_do_not_end_the_operator(peer, launch):
    process = launch("grouser.nodes.operator", "--ros-args", "-p", "pattern:=excavator_iso")
    valves = peer.hear(DynamicInterfaceGroupValues, "valve_commands")
    joystick = peer.publisher(Joy, topics.JOY)
    neutral = Joy(axes=[0.0] * 6, buttons=[0] * 21)
    held = Joy(axes=[0.0] * 6, buttons=[int(button == 9) for button in range(21)])

    def commands():
        """Presses the dead man's button; returns whether the operator then publishes."""
        before = len(valves.all())

        def press():
            joystick.publish(neutral)
            joystick.publish(held)
            return len(valves.all()) > before

        peer.wait_for(press, "an operator that commands")

    for monster in (
        Joy(),
        Joy(axes=array("f", bytes(4_000_000)), buttons=array("i", [1] * 1_000_000)),
        Joy(header=Header(frame_id=MEGABYTE), axes=[3.0e38] * 6, buttons=[1] * 21),
        Joy(axes=[0.0] * 6, buttons=[2**31 - 1] * 21),
    ):
        commands()
        joystick.publish(monster)
    commands()
    commanded = {value for message in valves.all() for entry in message.interface_values for value in entry.values}
    assert commanded == {0.0}
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, output
    assert "joy refused: length of axes = 0 is not valid" in output
    assert max(map(len, output.splitlines())) < LONGEST_WARNING


def resident(process) -> int:
    """Memory of a process [B]."""
    return os.sysconf("SC_PAGE_SIZE") * int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])


def test_refused_messages_do_not_leak_memory(compiled, peer, launch, loader_file):
    """Forty messages of 2 MB each: keeping a twentieth of each would exceed the limit."""
    process = launch(
        "grouser.nodes.simulator", "--ros-args", "-p", f"machine:={loader_file}", "-p", "diagnostics_rate:=50.0"
    )
    diagnostics = peer.hear(DiagnosticArray, "/diagnostics")
    message = MONSTERS["a joint's name of 1 MB"][1]
    peer.publisher(JointState, "joint_commands")
    diagnostics.first()
    used = []
    for count in range(1, 61):
        peer.say("joint_commands", message)
        diagnostics.wait(lambda message, count=count: refused(message) == count, "the refusal")
        if count in (20, 60):
            used.append(resident(process))
    assert used[1] - used[0] < 40 * 2e6 / 20


# Possible values of a float of a message, and names, known ones among them.
NUMBERS = st.floats(width=64) | st.sampled_from([0.0, -0.0, 1.0, -1.0, HUGE, 5e-324, math.nan, math.inf, -math.inf])
MODES = {"mast_joint": "position", "drum_joint": "velocity", "winch_joint": "effort"}
VALVES = ("boom_valve", "stick_valve")
NAMES = st.sampled_from([*MODES, *VALVES]) | st.text(max_size=5)


def lists(elements):
    return st.lists(elements, max_size=4)


def checked(convert, message, *known):
    """Every message gives commands or a refusal."""
    try:
        return convert(message, *known)
    except ParameterError as error:
        assert error.name
        return None


@given(lists(NUMBERS))
def test_any_valve_array_is_accepted_or_refused(values):
    commands = checked(messages.valve_array_commands, Float64MultiArray(data=values), VALVES)
    valid = len(values) == len(VALVES) and all(abs(value) <= 1.0 for value in values)
    assert commands == (dict(zip(VALVES, values, strict=True)) if valid else None)


@given(lists(NAMES), lists(st.tuples(lists(st.sampled_from(["spool_command", ""])), lists(NUMBERS))))
def test_any_valve_message_is_accepted_or_refused(groups, entries):
    message = DynamicInterfaceGroupValues(
        interface_groups=groups,
        interface_values=[InterfaceValue(interface_names=names, values=values) for names, values in entries],
    )
    commands = checked(messages.valve_commands, message, VALVES)
    if commands is not None:
        assert list(commands) == groups
        assert set(groups) <= set(VALVES)
        assert all(abs(value) <= 1.0 for value in commands.values())


@given(lists(NAMES), lists(NUMBERS), lists(NUMBERS), lists(NUMBERS))
def test_any_joint_message_is_accepted_or_refused(names, position, velocity, effort):
    message = JointState(name=names, position=position, velocity=velocity, effort=effort)
    commands = checked(messages.joint_commands, message, MODES)
    if commands is not None:
        assert list(commands) == names
        assert set(names) <= set(MODES)
        assert np.isfinite(list(commands.values())).all()


@given(st.lists(NUMBERS, min_size=6, max_size=6))
def test_any_twist_is_accepted_or_refused(numbers):
    message = Twist(linear=Vector3(x=numbers[0], y=numbers[1], z=numbers[2]))
    message.angular = Vector3(x=numbers[3], y=numbers[4], z=numbers[5])
    commands = checked(messages.twist_command, message)
    chosen = dict(zip(TWIST, (numbers[0], numbers[1], numbers[5]), strict=True))
    assert commands == (chosen if np.isfinite(numbers).all() else None)


@given(lists(NAMES), lists(st.tuples(*[lists(NUMBERS)] * 4, st.integers(-(2**31), 2**31 - 1))), st.booleans())
def test_any_trajectory_is_accepted_or_refused(names, points, may_end_moving):
    message = JointTrajectory(joint_names=names)
    for positions, velocities, accelerations, effort, seconds in points:
        point = JointTrajectoryPoint(
            positions=positions, velocities=velocities, accelerations=accelerations, effort=effort
        )
        point.time_from_start.sec = seconds
        message.points.append(point)
    trajectory = checked(trajectory_messages.joint_trajectory, message, MODES, may_end_moving)
    if trajectory is not None:
        assert {MODES[name] for name in trajectory.joints} <= {"position", "velocity"}
        for waypoint in trajectory.waypoints:
            assert waypoint.position.shape == (len(names),)
            assert np.isfinite(waypoint.position).all()
