"""A pad drives the rover: events, joystick bridge, joy, operator, cmd_vel, simulator; then it is unplugged.

The pad is a socketpair, whose other end is the unplugging; everything behind it is the real thing.
"""

import socket
import struct
import threading

import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import Joy

from grouser.bridges.joystick.device import DeviceIdentity, OpenDevice
from grouser.bridges.joystick.fields import AxisRange
from grouser.bridges.joystick.transport import JoystickTransport
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.runner import BridgeRunner
from grouser.catalogue import bridge_file
from grouser.nodes.bridges.ros_plant import RosPlant
from grouser.nodes.shared import topics

ABS, KEY = 3, 1
ABS_Y, SHOULDER = 1, 310
STICK = AxisRange(-32768, 32767)
AHEAD = -32767


class Pad:
    """The other end of a device."""

    def __init__(self):
        self._end, self._own = socket.socketpair()
        self._own.setblocking(False)

    def opened(self, file):
        return OpenDevice(
            identity=DeviceIdentity(str(file), "pad", 1, 2),
            descriptor=self._own.fileno(),
            ranges={ABS_Y: STICK},
            reports_time=False,
            report_period=0.02,
            ask=lambda: ({}, set()),
            end=self._own.close,
        )

    def say(self, *events):
        """Says events as one report."""
        rows = [*events, (0, 0, 0)]
        self._end.send(b"".join(struct.pack("@llHHi", 0, 0, *row) for row in rows))

    def unplug(self):
        self._end.close()


class Ports:
    """A folder of devices, into which pads are plugged."""

    def __init__(self, folder):
        self._folder, self._pads, self._count = folder, {}, 0

    def plug(self):
        """Plugs a new pad in."""
        name = f"event{self._count}"
        self._count += 1
        self._pads[name] = pad = Pad()
        (self._folder / name).touch()
        return pad

    def open(self, file, rule):
        return self._pads[file.name].opened(file) if file.name in self._pads else None


@pytest.fixture
def ports(peer, tmp_path):
    """The ports of a running joystick bridge, and the bridge."""
    file = tmp_path / "gamepad.yaml"  # patient: a busy computer may keep the bridge's threads waiting
    file.write_text(bridge_file("gamepad").read_text().replace("timeout: 0.2", "timeout: 30.0"))
    node, mapping = Node("joystick_bridge"), load_bridge_mapping(file)
    assert mapping.messages[0].timeout == 30.0
    (folder := tmp_path / "input").mkdir()
    places = Ports(folder)
    plant = RosPlant(node, mapping, (), False, "base_link")
    runner = BridgeRunner(mapping, JoystickTransport(mapping, folder, places.open), plant)
    runner.start()
    yield places, runner
    runner.stop()
    node.destroy_node()


def press_until_enabled(pad, twists):
    """Presses the dead man's button with the stick in neutral until the operator commands."""
    for _ in range(200):
        before = twists.mark()
        pad.say((KEY, SHOULDER, 0))
        threading.Event().wait(0.1)
        pad.say((KEY, SHOULDER, 1))
        threading.Event().wait(0.3)
        if twists.mark() >= before + 2:
            return
    raise AssertionError("the operator never commanded")


@pytest.mark.slow
def test_the_rover_stops_when_the_pad_is_unplugged_and_waits_for_neutral(peer, launch, start_simulator, ports):
    places, runner = ports
    start_simulator(machine="rover", enable_stamped_cmd_vel=False)
    twists = peer.hear(Twist, topics.CMD_VEL)
    truth = peer.hear(Odometry, topics.GROUND_TRUTH)
    joys = peer.hear(Joy, topics.JOY)
    launch(
        "grouser.nodes.operator",
        *("--ros-args", "-p", "pattern:=rover", "-p", "joy_timeout:=10.0", "-p", "enable_stamped_cmd_vel:=false"),
    )
    pad = places.plug()
    peer.wait_for(lambda: runner.bridge.states["pad"] is LinkState.LIVE, "a live link")
    press_until_enabled(pad, twists)
    pad.say((ABS, ABS_Y, AHEAD))
    truth.wait(lambda one: one.twist.twist.linear.x > 0.2, "the rover driving ahead")
    said, shown = twists.mark(), joys.mark()
    pad.unplug()
    # the bridge says so itself: the operator need not wait for silence
    joys.wait(lambda one: not any(one.buttons) and not any(one.axes), "a joystick in neutral", shown)
    twists.wait(lambda one: one.linear.x == 0.0, "the command to stop", said)
    truth.wait(lambda one: abs(one.twist.twist.linear.x) < 1e-3, "the rover standing")

    again = places.plug()  # with a hand on the stick already
    again.say((KEY, SHOULDER, 1), (ABS, ABS_Y, AHEAD))
    peer.wait_for(lambda: runner.bridge.states["pad"] is LinkState.CHECKING, "a link that is checked")
    spoken, valid = twists.mark(), runner.bridge.figures.inputs["pad"].valid
    peer.wait_for(lambda: runner.bridge.figures.inputs["pad"].valid > valid + 20, "messages that are not obeyed")
    assert twists.mark() == spoken
    again.say((ABS, ABS_Y, 0), (KEY, SHOULDER, 0))
    peer.wait_for(lambda: runner.bridge.states["pad"] is LinkState.LIVE, "a live link again")
    press_until_enabled(again, twists)
    again.say((ABS, ABS_Y, AHEAD))
    truth.wait(lambda one: one.twist.twist.linear.x > 0.2, "the rover driving again")
