"""Force feedback: measurements as effects of a device, whose other end is a socketpair."""

import errno
import math
import socket
import struct

import pytest
from bridge_bench import Bench
from bridge_pieces import RememberingPlant
from hypothesis import given
from hypothesis import strategies as st
from patience import wait_until

from grouser.bridges.joystick.device import DeviceIdentity, OpenDevice
from grouser.bridges.joystick.feedback import ForceFeedback
from grouser.bridges.joystick.transport import JoystickTransport
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.runner import BridgeRunner
from grouser.physics.base.errors import MachineError

RUMBLE, CONSTANT, EV_FF = 0x50, 0x52, 0x15  # linux/input-event-codes.h
PRESSURE = "hydraulics/boom/pressure_piston_side"
MAPPING = f"""
version: 1
bridge: joystick
machine: excavator
interface: {{devices: {{pad: {{name: "*"}}}}}}
timeout: 1.0
messages:
  - name: feel
    direction: out
    period: 0.02
    target: {{device: pad}}
    signals:
      - {{target: rumble_strong, signal: {PRESSURE}, unit: bar, scale: 200, range: [0, 200]}}
      - {{target: force_x, signal: joint/swing/velocity, scale: -2.0}}
"""


class Motors:
    """Keeps the effects of a device, as `struct ff_effect` has them, and reads what is written to it."""

    def __init__(self, kinds=(RUMBLE, CONSTANT)):
        self.end, self._own = socket.socketpair()
        self.end.settimeout(10.0)
        self.effects = {}
        self.full = False
        self.feedback = ForceFeedback(self._upload, self._own.send, kinds)

    def _upload(self, effect):
        data = bytes(memoryview(effect).cast("B"))
        assert len(data) == 48  # struct ff_effect on 64 bit
        if self.full:
            raise OSError(errno.ENOSPC, "no room")
        number = struct.unpack_from("<h", data, 2)[0]
        if number == -1:
            number = len(self.effects)
        assert 0 <= number <= len(self.effects)
        self.effects[number] = data
        return number

    def events(self, count):
        data = b""
        while len(data) < 24 * count:
            data += self.end.recv(24 * count - len(data))
        return [row[2:] for row in struct.iter_unpack("<qqHHi", data)]

    def close(self):
        self.end.close()
        self._own.close()


@pytest.fixture
def motors():
    motors = Motors()
    yield motors
    motors.close()


def rumble(data):
    """Strong and weak magnitude of an effect, and its length [ms]."""
    kind, _, _, _, _, length, delay = struct.unpack_from("<HhHHHHH", data)
    assert (kind, delay) == (RUMBLE, 0)
    return (*struct.unpack_from("<HH", data, 16), length)


def constant(data):
    """Level and direction of an effect, and its length [ms]."""
    kind, _, direction, _, _, length, delay = struct.unpack_from("<HhHHHHH", data)
    assert (kind, delay) == (CONSTANT, 0)
    return (*struct.unpack_from("<h", data, 16), direction, length)


def test_effects_are_uploaded_once_and_started_again(motors):
    assert motors.feedback.play({"rumble_strong": 1.0, "rumble_weak": 0.25, "force_y": -1.0}, 0.05)
    assert motors.events(2) == [(EV_FF, 0, 1), (EV_FF, 1, 1)]
    assert rumble(motors.effects[0]) == (65535, 16384, 150)
    assert constant(motors.effects[1]) == (-32767, 0x0000, 150)
    assert motors.feedback.play({"rumble_strong": 0.0, "force_y": 0.5, "force_x": 0.5}, 0.01)
    assert motors.events(3) == [(EV_FF, 0, 1), (EV_FF, 2, 1), (EV_FF, 1, 1)]
    assert rumble(motors.effects[0]) == (0, 0, 100)
    assert constant(motors.effects[1]) == (16384, 0x0000, 100)
    assert constant(motors.effects[2]) == (16384, 0xC000, 100)


@given(st.floats(0.0, 1.0), st.floats(-1.0, 1.0), st.floats(0.005, 10.0))
def test_every_strength_fits_its_field(strength, force, period):
    motors = Motors()
    assert motors.feedback.play({"rumble_weak": strength, "force_x": force}, period)
    assert rumble(motors.effects[0])[1] == pytest.approx(65535 * strength, abs=0.51)
    level, _, length = constant(motors.effects[1])
    assert level == pytest.approx(32767 * force, abs=0.51)
    assert length >= 1000.0 * period  # it does not pause between two messages
    motors.close()


def test_nothing_is_played_without_a_value_or_a_motor():
    motors = Motors(kinds=(RUMBLE,))
    assert not motors.feedback.play({"rumble_strong": 0.5, "rumble_weak": math.nan}, 0.02)
    assert not motors.feedback.play({"rumble_strong": 0.5, "force_x": 0.5}, 0.02)
    assert motors.feedback.lacks(["rumble_weak", "force_y"]) == ["force_y"]
    assert not motors.effects
    motors.close()


class FeltBench(Bench):
    """A bridge whose joysticks are made by the test: name of a file -> its motors."""

    def __init__(self, mapping, folder, pads):
        self.plant, self.links, self.openings = RememberingPlant(), [], []
        self._pads = pads
        self.transport = JoystickTransport(mapping, folder, self._open)
        self.runner = BridgeRunner(mapping, self.transport, self.plant, self.links.append, self.openings.append)
        self.runner.start()

    def _open(self, file, rule):
        if file.name not in self._pads:
            return None
        self.near, far = socket.socketpair()
        far.setblocking(False)
        identity = DeviceIdentity(str(file), "wheel", 1, 2)
        motors = self._pads[file.name]
        feedback = None if motors is None else motors.feedback
        return OpenDevice(
            identity, far.fileno(), {}, False, 0.02, lambda: ({}, set()), feedback=feedback, end=far.close
        )

    def figures(self):
        return self.runner.bridge.figures.outputs["feel"]


@pytest.fixture
def felt(tmp_path, motors):
    file = tmp_path / "felt.yaml"
    file.write_text(MAPPING)
    (folder := tmp_path / "input").mkdir()
    pads = {}
    bench = FeltBench(load_bridge_mapping(file), folder, pads)
    bench.wait_open()
    yield bench, folder, pads
    bench.runner.stop()


def test_a_pressure_is_felt_while_its_device_is_there(felt, motors):
    bench, folder, pads = felt
    bench.plant.measured = {PRESSURE: 50.0e5, "joint/swing/velocity": 1.0}
    wait_until(lambda: bench.figures().stopped > 2, "that nothing is sent to an absent device")
    assert bench.figures().sent == 0
    pads["event0"] = motors
    (folder / "event0").touch()
    motors.events(2)
    assert rumble(motors.effects[0])[:2] == (round(65535 * 0.25), 0)
    assert constant(motors.effects[1])[:2] == (-round(32767 * 0.5), 0xC000)
    bench.plant.measured = {PRESSURE: 300.0e5, "joint/swing/velocity": 0.0}  # more than the range: held, and counted
    wait_until(lambda: rumble(motors.effects[0])[0] == 65535, "the new pressure")
    assert bench.figures().held > 0
    bench.plant.measured = {}  # the simulator is gone: the effects run out
    before = bench.figures().stopped
    wait_until(lambda: bench.figures().stopped > before + 3, "silence")
    sent = bench.figures().sent
    wait_until(lambda: bench.figures().stopped > before + 6, "more silence")
    assert bench.figures().sent == sent
    bench.plant.measured = {PRESSURE: 0.0, "joint/swing/velocity": 0.0}
    wait_until(lambda: bench.figures().sent > sent, "that it is felt again")
    bench.near.close()
    wait_until(lambda: bench.transport.facts == {"pad": "absent"}, "that it is gone")
    before = bench.figures().stopped
    wait_until(lambda: bench.figures().stopped > before + 2, "that the bridge goes on")
    assert bench.runner.transport.state.is_open


@pytest.mark.parametrize(("kinds", "words"), [((RUMBLE,), "without force_x"), (None, "without rumble_strong, force_x")])
def test_what_a_device_lacks_is_said(felt, kinds, words):
    bench, folder, pads = felt
    pads["event0"] = None if kinds is None else Motors(kinds)
    (folder / "event0").touch()
    wait_until(lambda: bench.transport.facts["pad"].endswith(f"liveness: none, {words}"), words)
    wait_until(lambda: bench.figures().stopped > 2, "nothing sent")
    assert bench.figures().sent == 0


def test_a_device_without_room_for_an_effect_does_not_end_the_bridge(felt, motors):
    bench, folder, pads = felt
    bench.plant.measured = {PRESSURE: 50.0e5, "joint/swing/velocity": 1.0}
    motors.full = True
    pads["event0"] = motors
    (folder / "event0").touch()
    wait_until(lambda: bench.transport.facts["pad"].startswith("wheel"), "the device")
    before = bench.figures().stopped
    wait_until(lambda: bench.figures().stopped > before + 2, "nothing sent")
    motors.full = False
    wait_until(lambda: bench.figures().sent > 0, "that it is felt")
    assert bench.runner.transport.state.openings == 1


SECOND = """
  - {name: more, direction: out, period: 0.02, target: {device: pad}, signals: [{target: rumble_weak, signal: PLACE}]}
""".replace("PLACE", PRESSURE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MAPPING + SECOND, "device pad has two outgoing messages"),
        (MAPPING.replace("target: force_x", "target: force_z"), "target: 'force_z' is not valid"),
        (MAPPING.replace("[0, 200]", "[0, 300]"), "rumble_strong"),
        (MAPPING.replace("device: pad}", "device: wheel}"), "wheel"),
        (MAPPING.replace("target: {device: pad}", "source: {device: pad}"), "source"),
    ],
)
def test_refusals(tmp_path, text, said):
    file = tmp_path / "felt.yaml"
    file.write_text(text)
    with pytest.raises(MachineError, match=said):
        load_bridge_mapping(file)
