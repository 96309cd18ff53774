"""The node of the bridges, in a process of its own, and its plant over DDS."""

import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bridge_pieces import mapping, message
from bridge_pieces import signal as map_signal
from control_msgs.msg import DynamicInterfaceGroupValues
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Quaternion, Twist, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from patience import DEADLINE, wait_until
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import Imu, JointState, Joy
from std_srvs.srv import Trigger

from grouser.bridges.plant import SILENCE
from grouser.commands.hil_report import listen, report_lines
from grouser.nodes.bridges.ros_plant import RosPlant
from grouser.nodes.shared import messages, topics

RECORDED = Path(__file__).parents[1] / "data" / "joystick"
MODULE = "grouser.nodes.bridges.joystick_bridge"


def statuses(said: DiagnosticArray) -> dict[str, DiagnosticStatus]:
    return {one.name: one for one in said.status}


def set_parameter(peer, name: str, value: Any) -> Any:
    """Sets a parameter of the bridge; returns the result."""
    answer = peer.ask(
        SetParameters,
        "joystick_bridge/set_parameters",
        SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()]),
    )
    return answer.results[0]


@pytest.fixture
def make_plant(peer) -> Callable[..., RosPlant]:
    """Makes plants whose node hears with the peer."""
    nodes = []

    def make(*parts, imus=(), stamped=False, clock=time.monotonic) -> RosPlant:
        node = Node("bridge")
        nodes.append(node)
        plant = RosPlant(node, mapping(*parts), imus, stamped, "base_link", clock)
        peer.run(node)
        return plant

    yield make
    for node in nodes:
        peer.leave(node)
        node.destroy_node()


def test_commands_go_to_the_topics_of_the_machine(peer, make_plant):
    names = ["valve/boom", "valve/swing", "joint/drum/velocity", "joint/foot/position", "joint/arm/effort"]
    names += ["cmd_vel/angular_z", "joy/axis_2", "joy/button_1"]
    plant = make_plant(message("stick", *[map_signal(name, name) for name in names]))
    heard = {
        topic: peer.hear(kind, topic)
        for kind, topic in (
            (DynamicInterfaceGroupValues, topics.VALVE_COMMANDS),
            (JointState, topics.JOINT_COMMANDS),
            (Twist, topics.CMD_VEL),
            (Joy, topics.JOY),
        )
    }
    wait_until(lambda: all(plant_sees(peer, topic) for topic in heard), "subscribers")
    plant.command({name: 0.25 * number for number, name in enumerate(names, 1)} | {"joy/button_1": 1.0})
    valves = heard[topics.VALVE_COMMANDS].first()
    assert messages.valve_commands(valves, ["boom", "swing"]) == {"boom": 0.25, "swing": 0.5}
    joints = heard[topics.JOINT_COMMANDS].first()
    assert list(joints.name) == ["drum", "foot", "arm"]
    assert [math.isnan(value) for value in joints.velocity] == [False, True, True]
    assert (joints.velocity[0], joints.position[1], joints.effort[2]) == (0.75, 1.0, 1.25)
    assert heard[topics.CMD_VEL].first().angular.z == 1.5
    joy = heard[topics.JOY].first()
    assert (list(joy.axes), list(joy.buttons)) == ([0.0, 0.0, 1.75], [0, 1])


def plant_sees(peer, topic: str) -> bool:
    return bool(peer.node.count_publishers(topic))


def test_a_twist_may_be_stamped(peer, make_plant):
    plant = make_plant(message("stick", map_signal("x", "cmd_vel/linear_x")), stamped=True)
    twists = peer.hear(TwistStamped, topics.CMD_VEL)
    wait_until(lambda: plant_sees(peer, topics.CMD_VEL), "a publisher")
    plant.command({"cmd_vel/linear_x": 0.5})
    said = twists.first()
    assert (said.header.frame_id, said.twist.linear.x) == ("base_link", 0.5)


HALF = math.sqrt(0.5)


def test_measurements_come_from_the_topics_of_the_machine(peer, make_plant):
    wanted = {
        "joint/boom/position": 0.5,
        "joint/boom/effort": 7.0,
        "hydraulics/boom_cylinder/flow": 2.0,
        "pose/z": 3.0,
        "pose/yaw": math.pi / 2,
        "twist/angular_y": 0.25,
        "odom/angular_z": -0.5,
        "imu/left/roll": math.pi / 2,
        "imu/left/linear_acceleration_z": 9.8,
        "contact/foot/force_z": 100.0,
        "force_torque/wrist/torque_x": 4.0,
        "joy/axis_1": 0.5,
        "joy/button_0": 1.0,
    }
    signals = [map_signal(name, name) for name in wanted]
    plant = make_plant(message("out", *signals, direction="out"), imus=["left", "right"])
    assert all(math.isnan(value) for value in plant.measure(wanted).values())
    state, truth, odometry, imu, joy = JointState(), Odometry(), Odometry(), Imu(), Joy(axes=[0.0, 0.5], buttons=[1])
    state.name, state.position, state.velocity, state.effort = ["boom"], [0.5], [0.0], [7.0]
    groups = messages.make_group_values([("boom_cylinder", ("flow",))])
    groups.interface_values[0].values = [2.0]
    truth.pose.pose.position.z, truth.twist.twist.angular.y = 3.0, 0.25
    truth.pose.pose.orientation = Quaternion(x=0.0, y=0.0, z=HALF, w=HALF)
    odometry.twist.twist.angular.z = -0.5
    imu.orientation, imu.linear_acceleration.z = Quaternion(x=HALF, y=0.0, z=0.0, w=HALF), 9.8
    contact, wrist = WrenchStamped(), WrenchStamped()
    contact.wrench.force.z, wrist.wrench.torque.x = 100.0, 4.0
    for topic, said, quality in (
        ("joint_states", state, topics.RELIABLE),
        ("hydraulics/state", groups, topics.RELIABLE),
        ("ground_truth/odom", truth, topics.RELIABLE),
        ("odom", odometry, topics.RELIABLE),
        ("imu/left/data", imu, topics.SENSOR_DATA),
        ("contact_wrenches/foot", contact, topics.SENSOR_DATA),
        ("force_torque/wrist", wrist, topics.SENSOR_DATA),
        ("joy", joy, topics.RELIABLE),
    ):
        peer.say(topic, said, quality)
    peer.wait_for(lambda: not any(math.isnan(value) for value in plant.measure(wanted).values()), "all measurements")
    assert plant.measure(wanted) == pytest.approx(wanted)


def test_measurements_of_a_silent_machine_are_none_each_by_itself(peer, make_plant):
    names, now = ["joint/boom/position", "joy/axis_0"], [100.0]
    plant = make_plant(
        message("out", *[map_signal(name, name) for name in names], direction="out"), clock=lambda: now[0]
    )
    peer.say("joint_states", JointState(name=["boom"], position=[0.5]), topics.RELIABLE)
    peer.wait_for(lambda: plant.measure(names)["joint/boom/position"] == 0.5, "a joint")
    now[0] += SILENCE
    assert plant.measure(names)["joint/boom/position"] == 0.5
    peer.say("joy", Joy(axes=[0.25]), topics.RELIABLE)
    peer.wait_for(lambda: plant.measure(names)["joy/axis_0"] == 0.25, "a stick")
    now[0] += 0.01
    measured = plant.measure(names)
    assert math.isnan(measured["joint/boom/position"])
    assert measured["joy/axis_0"] == 0.25


def test_a_position_that_holds_is_measured(peer, make_plant):
    plant = make_plant(message("plc", map_signal("p", "joint/foot/position", safe=None, rate=1.0)))
    peer.say("joint_states", JointState(name=["foot"], position=[0.3]), topics.RELIABLE)
    peer.wait_for(lambda: plant.measure(["joint/foot/position"]) == {"joint/foot/position": 0.3}, "a joint")


def test_a_bridge_without_its_device_says_so_and_goes_on(peer, launch):
    state = peer.hear(DiagnosticArray, "joystick_bridge/state", topics.LATCHED)
    diagnostics = peer.hear(DiagnosticArray, topics.DIAGNOSTICS)
    process = launch(MODULE)
    said = state.wait_ever(lambda one: statuses(one)["joystick_bridge: transport"].level != b"\0", "a closed transport")
    assert statuses(said)["joystick_bridge: pad"].message == "absent"
    timing = statuses(
        diagnostics.wait(lambda one: "joystick_bridge: timing" in statuses(one), "diagnostics of the bridge")
    )["joystick_bridge: timing"]
    assert {"event_to_command_p99 [s]", "lateness_max [s]", "scheduling", "memory_locked"} <= {
        one.key for one in timing.values
    }
    heard = []
    wait_until(lambda: heard.append(listen(2.0)) or "joystick_bridge: pad" in heard[-1], "a report")
    assert heard[-1]["joystick_bridge: pad"]["level"] == "warning"
    lines = report_lines(heard[-1])
    assert [line for line in lines if line.split()[:3] == ["joystick_bridge:", "pad", "warning"]]
    assert [line for line in lines if "lateness_p99" in line]
    answer = peer.ask(Trigger, "joystick_bridge/acknowledge", Trigger.Request())
    assert (answer.success, answer.message) == (True, "acknowledged")
    assert set_parameter(peer, "faults.loss", 0.5).successful
    refused = set_parameter(peer, "faults.bit_flip", 0.5)
    assert not refused.successful and "guards" in refused.reason
    answer = peer.ask(Trigger, "joystick_bridge/clear_faults", Trigger.Request())
    assert (answer.success, answer.message) == (True, "loss")
    process.send_signal(signal.SIGTERM)
    text, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bridge: joystick\n", ("mapping.yaml:1", "'version' is missing")),
        ("version: 1\nbridge: canopn\n", ("mapping.yaml:2", "canopn")),
    ],
)
def test_a_mapping_that_is_not_valid_ends_the_process(launch, tmp_path, text, words):
    file = tmp_path / "mapping.yaml"
    file.write_text(text)
    process = launch(MODULE, "--ros-args", "-p", f"mapping:={file}")
    said, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert all(word in said for word in words), said


@pytest.mark.skipif(shutil.which("umockdev-run") is None, reason="umockdev-run is not installed (Debian: umockdev)")
def test_a_recorded_pad_becomes_joy(peer, tmp_path):
    """Live only from neutral: the whole recording but its end is deflected, so that its state after the end is said."""
    joys, state = peer.hear(Joy, topics.JOY), peer.hear(DiagnosticArray, "joystick_bridge/state", topics.LATCHED)
    device = ["-d", str(RECORDED / "pad.umockdev"), "-i", f"/dev/input/event7={RECORDED / 'pad.ioctl'}"]
    process = subprocess.Popen(
        ["umockdev-run", *device, "--", sys.executable, "-m", MODULE],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        live = state.wait_ever(lambda one: statuses(one)["joystick_bridge: pad"].message == "live", "a live link")
        found = {one.key: one.value for one in statuses(live)["joystick_bridge: transport"].values}
        assert found["pad"].startswith("Microsoft X-Box 360 pad (045e:028e)")
        repeated = joys.mark()
        joys.wait(lambda one: True, "a repetition", repeated)
        said = joys.all()[-1]
        assert (len(said.axes), len(said.buttons)) == (6, 15)
        assert not any(said.axes) and not any(said.buttons)
    finally:
        process.terminate()
        text, _ = process.communicate(timeout=DEADLINE)
    assert "absent -> checking" in text
