"""Nodes in processes of their own: when one is killed, the others continue, and it can be started again."""

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import DynamicInterfaceGroupValues
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, Joy
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from grouser.nodes.shared import topics

DEAD_MAN, LEVER, SPOOL = 9, 3, 0.5
SPEED = 3.0  # of the drum [rad/s]
JOY_PERIOD = 0.02  # [s]
PATTERN = f"dead_man_button: {DEAD_MAN}\nlevers: [{{axis: {LEVER}, valve: boom_valve, scale: {SPOOL}}}]\n"
CONTROLLER = f"""
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState

rclpy.init()
node = Node("controller")
publisher = node.create_publisher(JointState, "joint_commands", 10)
command = JointState(name=["drum_joint"], velocity=[{SPEED}])
node.create_timer(0.02, lambda: publisher.publish(command))
rclpy.spin(node)
"""
# Sends a goal of one second; is killed when the goal has been accepted, or earlier.
GOAL_SENDER = """
import sys
import rclpy
from control_msgs.action import FollowJointTrajectory
from builtin_interfaces.msg import Duration
from rclpy.action import ActionClient
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

rclpy.init()
node = Node("goal_sender")
client = ActionClient(node, FollowJointTrajectory, "follow_joint_trajectory")
client.wait_for_server()
point = JointTrajectoryPoint(positions=[float(sys.argv[1])], time_from_start=Duration(sec=1))
goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=["mast_joint"], points=[point]))
sent = client.send_goal_async(goal)
rclpy.spin_until_future_complete(node, sent)
print("accepted" if sent.result().accepted else "rejected", flush=True)
rclpy.spin(node)
"""


class Team:
    """Simulator, operator with a joystick, controller, viewer; each can be killed and started again."""

    def __init__(self, peer: Any, launch: Callable[..., subprocess.Popen], machine: str, pattern: str) -> None:
        self.peer = peer
        self._starts = {
            "simulator": lambda: launch("grouser.nodes.simulator", "--ros-args", "-p", f"machine:={machine}"),
            "operator": lambda: launch("grouser.nodes.operator", "--ros-args", "-p", f"pattern:={pattern}"),
            "viewer": lambda: launch("grouser.nodes.viewer", "--ros-args", "-p", "port:=0"),
            "controller": lambda: subprocess.Popen([sys.executable, "-c", CONTROLLER]),
        }
        self.members: dict[str, subprocess.Popen] = {}
        self.joint_states = peer.hear(JointState, "joint_states")
        self.hydraulics = peer.hear(DynamicInterfaceGroupValues, "hydraulics/state")
        self.clock = peer.hear(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
        # As an operator does when nothing moves: release, press again, push.
        publisher = peer.node.create_publisher(Joy, topics.JOY, topics.RELIABLE)
        gestures = itertools.cycle([(0, 0.0)] * 5 + [(1, 0.0)] * 5 + [(1, 1.0)] * 90)

        def say() -> None:
            button, lever = next(gestures)
            axes = [lever if axis == LEVER else 0.0 for axis in range(6)]
            publisher.publish(Joy(axes=axes, buttons=[button if n == DEAD_MAN else 0 for n in range(21)]))

        peer.node.create_timer(JOY_PERIOD, say)

    def start(self, name: str) -> None:
        self.members[name] = self._starts[name]()

    def kill(self, name: str) -> None:
        process = self.members.pop(name)
        process.kill()
        process.wait()

    def end(self) -> None:
        for name in list(self.members):
            self.kill(name)

    def wait_until_all_work(self) -> None:
        assert all(process.poll() is None for process in self.members.values())
        self.joint_states.wait(lambda message: abs(self.drum(message) - SPEED) < 0.05, "the drum that is controlled")
        self.hydraulics.wait(lambda message: abs(spool(message) - SPOOL) < 0.01, "the valve that is operated")
        # the viewer subscribes to wrenches when it has received the description
        self.peer.wait_for(lambda: self.hears("viewer", "contact_wrenches/chassis"), "the viewer with the machine")

    def hears(self, name: str, topic: str) -> bool:
        return any(one.node_name == name for one in self.peer.node.get_subscriptions_info_by_topic(f"/{topic}"))

    @staticmethod
    def drum(message: JointState) -> float:
        return message.velocity[message.name.index("drum_joint")]


def spool(message: DynamicInterfaceGroupValues) -> float:
    values = message.interface_values[0]
    return dict(zip(values.interface_names, values.values, strict=True))["spool_position"]


@pytest.fixture
def team(compiled, peer, launch, loader_file, tmp_path) -> Iterator[Team]:
    """A team with a simulator."""
    pattern = tmp_path / "pattern.yaml"
    pattern.write_text(PATTERN)
    team = Team(peer, launch, str(loader_file), str(pattern))
    team.start("simulator")
    yield team
    team.end()


@pytest.mark.slow
def test_nodes_continue_when_another_is_killed_and_restarted(team):
    """Actuators of a killed command source go to their safe values; those of other sources do not."""
    for name in ("operator", "viewer", "controller"):
        team.start(name)
    team.wait_until_all_work()

    team.kill("controller")
    team.joint_states.wait(lambda message: abs(team.drum(message)) < 0.01, "the drum at rest")
    team.hydraulics.wait(lambda message: abs(spool(message) - SPOOL) < 0.01, "the valve operated all the same")
    team.start("controller")
    team.wait_until_all_work()

    team.kill("operator")
    team.hydraulics.wait(lambda message: abs(spool(message)) < 1e-3, "the valve closed")
    team.joint_states.wait(lambda message: abs(team.drum(message) - SPEED) < 0.05, "the drum controlled all the same")
    team.start("operator")
    team.wait_until_all_work()

    team.kill("viewer")
    team.peer.wait_for(lambda: not team.hears("viewer", "contact_wrenches/chassis"), "the end of its lease")
    team.start("viewer")
    team.wait_until_all_work()

    reached = clock_time(team.clock.wait())
    team.kill("simulator")
    count = len(team.clock.all())
    team.start("simulator")
    team.peer.wait_for(lambda: len(team.clock.all()) > count, "another simulator")
    assert clock_time(team.clock.all()[count]) < reached  # time goes back, which nobody minds
    team.wait_until_all_work()


@pytest.mark.slow
def test_trajectory_continues_after_its_sender_is_killed(team):
    """An accepted goal runs to its own end, and the next sender is served."""
    for target in (0.3, -0.3):
        sender = subprocess.Popen([sys.executable, "-c", GOAL_SENDER, str(target)], stdout=subprocess.PIPE, text=True)
        try:
            assert sender.stdout.readline() == "accepted\n"
        finally:
            sender.kill()
            sender.communicate()
        team.joint_states.wait(
            lambda heard, target=target: abs(mast(heard) - target) < 0.01, f"the mast at {target} rad"
        )
    arm = team.peer.act(FollowJointTrajectory, "follow_joint_trajectory")
    point = JointTrajectoryPoint(positions=[0.0])
    goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=["mast_joint"], points=[point]))
    assert arm.end(arm.send(goal))[1].error_code == FollowJointTrajectory.Result.SUCCESSFUL


def mast(message: JointState) -> float:
    return message.position[message.name.index("mast_joint")]


def clock_time(message: Clock) -> float:
    return message.clock.sec + 1e-9 * message.clock.nanosec
