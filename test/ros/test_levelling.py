"""A soft PLC levels the demolition robot over plc_bridge, each in a process of its own; then it dies."""

import math
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from control_msgs.msg import DynamicInterfaceGroupValues
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from patience import wait_until
from plc_peers import free_port
from sensor_msgs.msg import JointState
from soft_plc import LEGS, PASSWORD, USER
from std_srvs.srv import Trigger

from grouser.bridges.plc.credentials import add_user, make_certificate
from grouser.nodes.shared import messages, topics
from grouser.resources import share_path
from grouser.runtime.streams import STREAMS

SOFT_PLC = Path(__file__).parents[1] / "unit" / "soft_plc.py"
TIMEOUT = 3.0  # [s] in place of the shipped one, which a busy computer may exceed without a fault
PACE = 0.5  # of simulation time to the PLC's: a busy computer keeps the PLC from its cycle
VALVES = {leg: f"outrigger_{leg}_valve" for leg in LEGS}


class Robot:
    """What the simulator says of the robot."""

    def __init__(self, peer):
        self._peer = peer
        self.heard = {}
        links = {f"outrigger_link_{leg}": leg for leg in LEGS}
        peer.hear_by(Odometry, topics.GROUND_TRUTH, partial(self._hear, "pose"), topics.SENSOR_DATA)
        peer.hear_by(JointState, topics.JOINT_STATES, partial(self._hear, "joints"))
        for link, topic in STREAMS["contact_wrenches/<link>"].topics(links).items():
            peer.hear_by(WrenchStamped, topic, partial(self._hear, links[link]), topics.SENSOR_DATA)

    def _hear(self, name, message):
        self.heard[name] = message

    def is_there(self):
        return self.heard.keys() >= {"pose", "joints", *LEGS}

    def tilt(self):
        """Of the base [deg]."""
        turn = self.heard["pose"].pose.pose.orientation
        return math.degrees(math.acos(1.0 - 2.0 * (turn.x**2 + turn.y**2)))

    def least_load(self):
        """Of all feet [N]."""
        forces = [self.heard[leg].wrench.force for leg in LEGS]
        return min(math.hypot(force.x, force.y, force.z) for force in forces)

    def legs(self):
        """Position of each outrigger [m or rad]."""
        joints = self.heard["joints"]
        return [joints.position[list(joints.name).index(f"outrigger_{leg}")] for leg in LEGS]

    def time(self):
        stamp = self.heard["joints"].header.stamp
        return stamp.sec + 1e-9 * stamp.nanosec

    def wait(self, seconds):
        """Waits for simulation time to pass."""
        end = self.time() + seconds
        wait_until(lambda: self.time() >= end, "simulation time")

    def wait_level(self):
        """Waits until the base has been level on four loaded feet for a second of simulation time."""
        since = self.time()

        def has_stayed():
            nonlocal since
            if self.tilt() >= 0.5 or self.least_load() <= 1000.0:
                since = self.time()
            return self.time() >= since + 1.0

        wait_until(has_stayed, "a level robot on four feet")

    def lean(self, command):
        """Extends the legs of one side and retracts the others until the base is tilted, then lets go."""
        publisher = self._peer.publisher(DynamicInterfaceGroupValues, topics.VALVE_COMMANDS)

        def push():
            values = {VALVES[leg]: command * left for leg, (_, left) in LEGS.items()}
            publisher.publish(messages.make_valve_commands(0, values))
            return self.tilt() > 1.5

        wait_until(push, "a tilted robot")
        publisher.publish(messages.make_valve_commands(0, dict.fromkeys(VALVES.values(), 0.0)))
        self.wait(0.5)


@contextmanager
def soft_plc(*arguments):
    process = subprocess.Popen([sys.executable, str(SOFT_PLC), *map(str, arguments)])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def shipped_file(kind, folder, port):
    """The shipped mapping with another port; of OPC UA with certificates and a user."""
    text = share_path("config", "bridges", f"levelling_{kind}.yaml").read_text()
    interface = next(line for line in text.splitlines() if line.startswith("interface:"))
    changed = interface[: interface.index("port: ")] + f"port: {port}" + interface[interface.index("port: ") + 10 :]
    if kind == "opcua":
        certificate, key = make_certificate("bridge", folder)
        client, _ = make_certificate("plc", folder)
        (folder / "trusted").mkdir()
        (folder / "trusted" / "plc.der").write_bytes(client.read_bytes())
        add_user(USER, PASSWORD, folder / "users.yaml")
        files = f"certificate: {certificate}, private_key: {key}, users: users.yaml, trusted: {folder / 'trusted'}"
        changed = changed[: changed.rindex("}")] + f", security: {{{files}}}}}"
    file = folder / "mapping.yaml"
    file.write_text(text.replace(interface, changed).replace("timeout: 0.25", f"timeout: {TIMEOUT}"))
    return file


@pytest.mark.parametrize("kind", ["modbus", pytest.param("opcua", marks=pytest.mark.soak)])
def test_a_soft_plc_levels_the_robot_and_dies(kind, peer, launch, tmp_path):
    port = free_port()
    mapping = shipped_file(kind, tmp_path, port)
    plc = (kind, port) if kind == "modbus" else (kind, port, tmp_path)
    arguments = ("-p", "machine:=demolition_robot", "-p", "machine_arguments:=['lidar:=false']")
    arguments += ("-p", f"real_time_factor:={PACE}")
    launch("grouser.nodes.simulator", "--ros-args", *arguments)
    robot = Robot(peer)
    wait_until(robot.is_there, "the robot")
    robot.lean(0.3)
    assert robot.tilt() > 1.0
    states = peer.hear(DiagnosticArray, "plc_bridge/state", topics.LATCHED)
    launch("grouser.nodes.bridges.plc_bridge", "--ros-args", "-p", f"mapping:={mapping}")

    def wait_status(name, words, since=0):
        def says(message):
            return any(one.name == f"plc_bridge: {name}" and one.message == words for one in message.status)

        states.wait(says, f"{name} is {words}", since)

    def acknowledge():
        return peer.ask(Trigger, "plc_bridge/acknowledge", Trigger.Request())

    wait_status("transport", "open")
    with soft_plc(*plc) as process:
        wait_status("outriggers", "live")
        robot.wait_level()
        before = states.mark()
        process.kill()
        wait_status("outriggers", "latched: silence", before)
    robot.wait(0.2)
    legs = robot.legs()
    robot.wait(2.0)
    assert robot.legs() == pytest.approx(legs, abs=1e-3)
    assert robot.tilt() < 0.5
    refused = acknowledge()  # nobody is there: it says why not
    assert not refused.success and "outriggers" in refused.message
    before = states.mark()
    with soft_plc(*plc):
        wait_until(lambda: acknowledge().success, "an acknowledgement")
        wait_status("outriggers", "live", before)
        robot.wait_level()
