"""Joysticks of the kernel, made by uinput: found, read, unplugged while driving, and felt.

They need a writable /dev/uinput; `make uinput` runs them in an emulated computer, which has one.
"""

import os
import subprocess
import sys
import threading

import pytest
from bridge_bench import Bench
from patience import DEADLINE, wait_until

from grouser.bridges.joystick.transport import GONE
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.catalogue import bridge_file

pytestmark = pytest.mark.skipif(
    not os.access("/dev/uinput", os.W_OK),
    reason="not tested: joysticks of the kernel, which need /dev/uinput; `make uinput` has it",
)

AHEAD = -32767
VENDOR, PRODUCT = 0x1209, 0x4752
FELT = """
version: 1
bridge: joystick
interface: {devices: {pad: {id: "1209:4752"}}}
timeout: 30.0
messages:
  - name: pad
    direction: in
    period: 0.02
    signals:
      - {source: ABS_X, signal: joy/axis_0, scale: -1.0, range: [-1, 1], safe: 0.0, neutral: 0.1}
      - {source: BTN_SOUTH, signal: joy/button_0, range: [0, 1], safe: 0.0}
  - name: feel
    direction: out
    period: 0.05
    signals:
      - {target: rumble_strong, signal: joy/axis_1, range: [0, 1]}
      - {target: force_y, signal: joy/axis_2}
"""


class Pad:
    """A pad of the Xbox kind with motors; `effects` has what it was told to upload, `started` what to play."""

    def __init__(self):
        import evdev
        from evdev import AbsInfo, ecodes

        stick, trigger = AbsInfo(0, -32768, 32767, 16, 128, 0), AbsInfo(0, 0, 255, 0, 0, 0)
        axes = {ecodes.ABS_X: stick, ecodes.ABS_Y: stick, ecodes.ABS_RX: stick, ecodes.ABS_RY: stick}
        axes |= {ecodes.ABS_Z: trigger, ecodes.ABS_RZ: trigger}
        keys = [*range(0x130, 0x132), *range(0x133, 0x135), *range(0x136, 0x138), *range(0x13A, 0x13F)]
        able = {ecodes.EV_KEY: keys, ecodes.EV_ABS: list(axes.items()), ecodes.EV_FF: [0x50, 0x52]}
        self._codes = ecodes
        self._device = evdev.UInput(able, name="Pad of a test", vendor=VENDOR, product=PRODUCT, max_effects=4)
        self.effects, self.started = {}, []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def say(self, *events):
        """Says events as one report."""
        for kind, code, value in events:
            self._device.write(kind, code, value)
        self._device.syn()

    def unplug(self):
        self._device.close()

    def _serve(self):
        """Does what a driver does with effects: takes them, and plays them."""
        codes = self._codes
        try:
            for event in self._device.read_loop():
                if event.type == codes.EV_UINPUT and event.code == codes.UI_FF_UPLOAD:
                    upload = self._device.begin_upload(event.value)
                    upload.retval = 0
                    self.effects[upload.effect.id] = bytes(upload.effect)
                    self._device.end_upload(upload)
                elif event.type == codes.EV_UINPUT and event.code == codes.UI_FF_ERASE:
                    erase = self._device.begin_erase(event.value)
                    erase.retval = 0
                    self.effects.pop(erase.effect_id)
                    self._device.end_erase(erase)
                elif event.type == codes.EV_FF:
                    self.started.append((event.code, event.value))
        except (OSError, ValueError, TypeError):  # unplugged
            return


ABS, KEY = 3, 1
ABS_X, ABS_Y, SOUTH, SHOULDER = 0, 1, 304, 310


@pytest.fixture
def bench(tmp_path):
    file = tmp_path / "felt.yaml"
    file.write_text(FELT)
    bench = Bench(load_bridge_mapping(file))
    bench.wait_open()
    yield bench
    bench.runner.stop()


def test_a_pad_is_plugged_in_moved_felt_and_unplugged(bench):
    assert bench.transport.facts == {"pad": "absent"}
    pad = Pad()
    wait_until(lambda: bench.states["pad"] is LinkState.LIVE, "a live link")
    assert bench.transport.facts["pad"].startswith("Pad of a test (1209:4752) at /dev/input/event")
    pad.say((ABS, ABS_X, -16384), (KEY, SOUTH, 1))
    wait_until(lambda: bench.plant.now.get("joy/button_0") == 1.0, "the button")
    assert bench.plant.now["joy/axis_0"] == pytest.approx(0.5, abs=1e-3)
    bench.plant.measured = {"joy/axis_1": 0.25, "joy/axis_2": -0.5}
    wait_until(lambda: len(pad.started) >= 4, "the effects twice")
    assert sorted(pad.effects) == [0, 1]
    assert pad.started[:2] == [(0, 1), (1, 1)]
    rumble, force = pad.effects[0], pad.effects[1]
    assert int.from_bytes(rumble[:2], "little") == 0x50
    assert int.from_bytes(rumble[16:18], "little") == 16384
    assert int.from_bytes(force[:2], "little") == 0x52
    assert int.from_bytes(force[16:18], "little", signed=True) == -16384
    bench.plant.measured = {}
    pad.unplug()
    wait_until(lambda: bench.states["pad"] is LinkState.STALE, "the fall")
    assert bench.reasons["pad"] == GONE
    assert bench.plant.now == {"joy/axis_0": 0.0, "joy/button_0": 0.0}
    again = Pad()
    wait_until(lambda: bench.states["pad"] is LinkState.LIVE, "a live link again")
    again.unplug()


def test_events_that_nobody_reads_in_time_lose_no_state(bench):
    """The kernel's buffer overflows: what came before is thrown away, and the state is asked for."""
    pad = Pad()
    wait_until(lambda: bench.states["pad"] is LinkState.LIVE, "a live link")
    for value in range(3000):
        pad.say((ABS, ABS_X, 10 * value % 32000))
    pad.say((ABS, ABS_X, 32767), (KEY, SOUTH, 1))
    wait_until(lambda: bench.plant.now.get("joy/axis_0") == -1.0, "the last position")
    assert bench.plant.now["joy/button_0"] == 1.0
    pad.unplug()


@pytest.fixture
def programs(tmp_path):
    """joystick_bridge and the operator as processes, and a node that hears what they command."""
    rclpy = pytest.importorskip("rclpy")
    from geometry_msgs.msg import Twist

    mapping = tmp_path / "gamepad.yaml"  # patient: an emulated computer is slow
    mapping.write_text(bridge_file("gamepad").read_text().replace("timeout: 0.2", "timeout: 30.0"))
    commands = {
        "joystick_bridge": ["bridges.joystick_bridge", "--ros-args", "-p", f"mapping:={mapping}"],
        "operator": [
            *("operator", "--ros-args", "-p", "pattern:=rover"),
            *("-p", "joy_timeout:=10.0", "-p", "enable_stamped_cmd_vel:=false"),
        ],
    }
    running = [
        subprocess.Popen([sys.executable, "-m", f"grouser.nodes.{module}", *words])
        for module, *words in commands.values()
    ]
    rclpy.init(args=[])
    node, twists = rclpy.create_node("peer"), []
    node.create_subscription(Twist, "cmd_vel", lambda one: twists.append(one.linear.x), 10)

    def wait(condition, what):
        def step():
            rclpy.spin_once(node, timeout_sec=0.05)
            assert all(one.poll() is None for one in running), "a program has ended"
            return condition()

        wait_until(step, what)

    wait(lambda: {*commands} <= {*node.get_node_names()}, "both programs")
    yield wait, twists
    node.destroy_node()
    rclpy.try_shutdown()
    for one in running:
        one.terminate()
        one.wait(DEADLINE)


def test_a_pad_that_is_unplugged_while_it_drives_stops_the_rover(programs):
    wait, twists = programs

    def hold_dead_man(pad):
        """Presses the dead man's button with the stick in neutral until the operator commands."""
        before, count = len(twists), 0

        def press():
            nonlocal count
            count += 1
            if count % 20 == 1:
                pad.say((KEY, SHOULDER, count // 20 % 2))
            return len(twists) > before + 2 and twists[-1] == 0.0

        wait(press, "commands of the operator")
        pad.say((KEY, SHOULDER, 1))

    pad = Pad()
    hold_dead_man(pad)
    pad.say((ABS, ABS_Y, AHEAD))
    wait(lambda: twists[-1] > 0.2, "that the rover is to drive")
    pad.unplug()
    wait(lambda: twists[-1] == 0.0, "that it is to stop")
    again = Pad()  # with a hand on the stick already
    again.say((KEY, SHOULDER, 1), (ABS, ABS_Y, AHEAD))
    before, said = len(twists), 0

    def say_often():
        nonlocal said
        said += 1
        again.say((ABS, ABS_Y, AHEAD + 40 * said))
        return said == 100

    wait(say_often, "a hundred reports of a deflected stick")
    assert not any(twists[before:])
    again.say((ABS, ABS_Y, 0), (KEY, SHOULDER, 0))
    hold_dead_man(again)
    again.say((ABS, ABS_Y, AHEAD))
    wait(lambda: twists[-1] > 0.2, "that it drives again")
    again.unplug()
    wait(lambda: twists[-1] == 0.0, "that it stops again")
