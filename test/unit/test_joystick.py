"""Joysticks: events from bytes, axes from raw values, devices through a socketpair and through umockdev's replay."""

import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import DEADLINE

from grouser.bridges.joystick.codes import AXES, BUTTONS
from grouser.bridges.joystick.device import DeviceIdentity, OpenDevice
from grouser.bridges.joystick.events import EventDecoder, Report
from grouser.bridges.joystick.fields import AxisField, AxisRange, ButtonField
from grouser.bridges.joystick.finding import DeviceRefusedError, fits, is_joystick
from grouser.bridges.joystick.schema import DeviceRule
from grouser.bridges.joystick.transport import GONE, SILENT, JoystickTransport
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.transport import KeptOpen
from grouser.catalogue import bridge_file

RECORDED = Path(__file__).parents[1] / "data" / "joystick"
STICK = AxisRange(-32768, 32767)
TRIGGER = AxisRange(0, 255)
SYN, KEY, ABS, MSC = 0, 1, 3, 4
ABS_X, ABS_Y, BTN_SOUTH, TIMESTAMP = 0, 1, 304, 5
REPORT, DROPPED = (SYN, 0, 0), (SYN, 3, 0)


def event(kind, code, value):
    return struct.pack("@llHHi", 1795362510, 345699, kind, code, value)


def events(*rows):
    return b"".join(event(*row) for row in rows)


def test_the_reference_event():
    data = bytes.fromhex("CE0E036B0000000063450500000000000300 0000 EFD2FFFF") + event(*REPORT)
    assert list(EventDecoder().feed(data)) == [Report(axes={ABS_X: -11537})]


def test_nothing_is_said_before_the_report_ends():
    decoder = EventDecoder()
    assert not list(decoder.feed(events((ABS, ABS_X, 5), (KEY, BTN_SOUTH, 1))))
    assert list(decoder.feed(event(*REPORT))) == [Report({ABS_X: 5}, {BTN_SOUTH: True})]


def test_after_an_overflow_everything_up_to_the_next_report_is_thrown_away():
    stream = events((ABS, ABS_X, 1), DROPPED, (ABS, ABS_X, 2), REPORT, (ABS, ABS_X, 3), REPORT)
    assert list(EventDecoder().feed(stream)) == [Report(is_overflow=True), Report(axes={ABS_X: 3})]


def test_repetitions_of_the_kernel_are_no_presses():
    assert list(EventDecoder().feed(events((KEY, BTN_SOUTH, 2), REPORT))) == [Report()]


@given(st.lists(st.integers(0, 400), max_size=30), st.binary(max_size=600))
def test_any_bytes_in_any_pieces_give_the_same_reports(cuts, data):
    whole, pieces, start = list(EventDecoder().feed(data)), [], 0
    decoder = EventDecoder()
    for cut in [*cuts, len(data)]:
        pieces += decoder.feed(data[start : start + cut])
        start += cut
    assert pieces == whole


@pytest.mark.parametrize(
    ("field", "device", "raw", "value"),
    [
        (AxisField("ABS_X", 0), STICK, -32768, -1.0),
        (AxisField("ABS_X", 0), STICK, 32767, 1.0),
        (AxisField("ABS_X", 0), STICK, 0, 0.0),
        (AxisField("ABS_X", 0), TRIGGER, 128, 0.0),
        (AxisField("ABS_X", 0, centre=0), STICK, -16384, -0.5),
        (AxisField("ABS_X", 0, low=-32767, centre=0, high=32767), STICK, -32768, -1.0),
        (AxisField("ABS_X", 0, low=100, centre=300, high=400), STICK, 350, 0.5),
        (AxisField("ABS_X", 0, low=100, centre=300, high=400), STICK, 200, -0.5),
        (AxisField("ABS_X", 0, low=-100, high=100, dead_band=0.2), STICK, 20, 0.0),
        (AxisField("ABS_X", 0, low=-100, high=100, dead_band=0.2), STICK, -60, -0.5),
        (AxisField("ABS_X", 0, low=-100, high=100, exponent=2.0), STICK, -50, -0.25),
        (AxisField("ABS_X", 0, low=-100, high=100, inverted=True), STICK, 50, -0.5),
        (AxisField("ABS_Z", 2, rest="low"), TRIGGER, 0, 0.0),
        (AxisField("ABS_Z", 2, rest="low"), TRIGGER, 255, 1.0),
        (AxisField("ABS_Z", 2, rest="low", inverted=True), TRIGGER, 255, 0.0),
        (AxisField("ABS_HAT0Y", 17, side="negative"), AxisRange(-1, 1), -1, 1.0),
        (AxisField("ABS_HAT0Y", 17, side="negative"), AxisRange(-1, 1), 1, 0.0),
        (AxisField("ABS_HAT0Y", 17, side="positive"), AxisRange(-1, 1), 1, 1.0),
        (AxisField("ABS_X", 0), AxisRange(5, 5), 5, 0.0),
    ],
)
def test_calibration(field, device, raw, value):
    assert field.value(raw, device) == pytest.approx(value, abs=1e-12)


@given(
    st.integers(-(2**31), 2**31 - 1),
    st.floats(0.0, 0.9),
    st.floats(0.1, 10.0),
    st.sampled_from(["middle", "low"]),
    st.booleans(),
)
def test_no_raw_value_leaves_the_limits(raw, dead_band, exponent, rest, inverted):
    field = AxisField("ABS_X", 0, rest=rest, dead_band=dead_band, exponent=exponent, inverted=inverted)
    low, high = field.limits
    assert low <= field.value(raw, STICK) <= high


def test_codes_are_those_of_evdev():
    ecodes = pytest.importorskip("evdev", reason="the package evdev is not installed").ecodes.ecodes
    assert {name: ecodes[name] for name in (*AXES, *BUTTONS)} == {**AXES, **BUTTONS}


@pytest.mark.parametrize(
    ("rule", "fitting"),
    [
        (DeviceRule("pad", (0x45E, 0x28E), ""), True),
        (DeviceRule("pad", (0x45E, 0x28F), ""), False),
        (DeviceRule("pad", None, "Microsoft*"), True),
        (DeviceRule("pad", None, "*360 pa?"), True),
        (DeviceRule("pad", None, "microsoft*"), False),
        (DeviceRule("pad", (0x45E, 0x28E), "Sony*"), False),
    ],
)
def test_devices_are_chosen_by_identity_and_name(rule, fitting):
    identity = DeviceIdentity("/dev/input/event7", "Microsoft X-Box 360 pad", 0x45E, 0x28E)
    assert fits(identity, rule) is fitting


@pytest.mark.parametrize(
    ("axes", "keys", "properties", "used", "expected"),
    [
        ((0, 1), (304,), (), (), True),  # a pad
        ((0, 1), (288,), (), (), True),  # a stick
        ((0, 1, 2), (), (), ("ABS_X", "ABS_Z"), True),  # pedals
        ((0, 1), (), (), ("ABS_X", "ABS_Z"), False),
        ((0, 1), (272,), (), ("ABS_X", "BTN_SOUTH"), False),  # a mouse with absolute axes
        ((0, 1), (304,), (), ("ABS_X", "ABS_Z"), True),  # what a pad lacks is at rest
        ((0, 1), (304, 330), (0,), ("ABS_X",), False),  # a touchpad
        ((0, 1), (330,), (1,), ("ABS_X",), False),  # a touch screen
        ((0, 1, 2), (), (6,), ("ABS_X",), False),  # an accelerometer
        ((), (304,), (), (), False),
        ((0, 1), (), (), (), False),
    ],
)
def test_only_joysticks_are_taken(axes, keys, properties, used, expected):
    assert is_joystick(axes, keys, properties, used) is expected


class Plug:
    """The other end of a device."""

    def __init__(self, **changes):
        self.end, own = socket.socketpair()
        own.setblocking(False)
        self.asked = ({ABS_X: 0, ABS_Y: 0}, set())
        self.device = OpenDevice(
            **{
                "identity": DeviceIdentity("", "pad", 1, 2),
                "descriptor": own.fileno(),
                "ranges": {ABS_X: AxisRange(-100, 100), ABS_Y: AxisRange(0, 255)},
                "reports_time": False,
                "report_period": 0.02,
                "ask": lambda: self.asked,
                "end": own.close,
                **changes,
            }
        )

    def say(self, *rows):
        self.end.send(events(*rows, REPORT))

    def read(self, now=0.0):
        return sum(1 for _ in self.device.read(now))


def test_an_axis_that_has_not_moved_is_unknown_unless_the_device_is_trusted():
    plug, trusted = Plug(), Plug(trusted=True)
    trusted.asked = ({ABS_X: 7, ABS_Y: 128}, {BTN_SOUTH})
    for one in (plug, trusted):
        one.device.begin(0.0)
    assert (plug.device.axes, plug.device.buttons) == ({}, {})
    assert (trusted.device.axes, trusted.device.buttons) == ({ABS_X: 7, ABS_Y: 128}, {BTN_SOUTH: True})
    plug.say((ABS, ABS_Y, 200))
    assert plug.read() == 1
    assert plug.device.axes == {ABS_Y: 200}


def test_the_state_is_asked_after_an_overflow_but_only_of_axes_that_have_moved():
    plug = Plug()
    plug.say((ABS, ABS_X, 5), (KEY, BTN_SOUTH, 1))
    plug.end.send(events(DROPPED, (ABS, ABS_X, 6)))
    plug.say((ABS, ABS_X, 7))
    plug.asked = ({ABS_X: 90, ABS_Y: 0}, {BTN_SOUTH + 1})
    assert plug.read() == 2
    assert (plug.device.axes, plug.device.buttons) == ({ABS_X: 90}, {BTN_SOUTH + 1: True})


def test_a_device_that_reports_its_time_is_judged_by_it():
    plug = Plug(reports_time=True)
    plug.device.begin(0.0)
    assert plug.device.liveness == "timestamp"
    plug.say((MSC, TIMESTAMP, 1000))
    plug.read(1.0)
    assert not plug.device.is_silent(1.059)
    assert plug.device.is_silent(1.061)
    plug.say((ABS, ABS_X, 3))  # a report without the time: not of this device's kind
    plug.read(2.0)
    assert plug.device.is_silent(2.0)


def test_the_raw_device_beside_it_is_a_sign_of_life():
    end, raw = socket.socketpair()
    raw.setblocking(False)
    plug = Plug(raw=raw.fileno())
    plug.device.begin(0.0)
    assert plug.device.liveness == "raw"
    end.send(b"any report")
    assert not list(plug.device.read_raw(1.0))
    assert not plug.device.is_silent(1.059)
    end.close()
    with pytest.raises(OSError, match="gone"):
        list(plug.device.read_raw(1.1))
    raw.close()


def test_a_still_stick_without_either_is_never_silent():
    plug = Plug()
    plug.device.begin(0.0)
    assert plug.device.liveness == "none"
    assert not plug.device.is_silent(1e6)


class Listener:
    """Keeps what a transport says, and waits for it."""

    def __init__(self):
        self.received, self.losses, self.failures = [], [], []

    def receive(self, received):
        self.received.append(received)

    def lost(self, reason, time, messages=None):
        self.losses.append((reason, tuple(messages or ())))

    def broken(self, reason, time):
        self.failures.append(reason)

    def wait_for(self, condition):
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f"{self.losses} {self.failures} {self.received[-1:]}"
            time.sleep(0.005)

    def values(self):
        return {name: value for name, value in self.received[-1].values.items() if value} if self.received else None


@pytest.fixture
def plugged(tmp_path):
    """A transport over a folder, whose files are devices: name of a file -> Plug."""
    plugs, refused = {}, {}

    def opener(file, rule):
        if file.name in refused:
            raise DeviceRefusedError(refused[file.name])
        if file.name not in plugs:
            return None
        plug = plugs[file.name]
        plug.device.identity = DeviceIdentity(str(file), "pad", 1, 2)
        return plug.device

    listener = Listener()
    transport = JoystickTransport(load_bridge_mapping(bridge_file("gamepad")), tmp_path, opener)
    transport.open(listener)
    yield transport, listener, plugs, refused, tmp_path
    transport.close()
    assert not listener.failures


def test_plugging_in_moving_and_unplugging(plugged):
    transport, listener, plugs, _, folder = plugged
    assert transport.facts == {"pad": "absent"}
    plugs["event3"] = plug = Plug()
    (folder / "mouse0").touch()
    (folder / "event3").touch()
    listener.wait_for(lambda: len(listener.received) > 2)  # repeated although nothing moves
    assert listener.values() == {}
    assert transport.facts["pad"].startswith("pad (0001:0002)")
    plug.say((ABS, ABS_X, -50))
    listener.wait_for(lambda: listener.values() == {"ABS_X": -0.5})
    assert listener.received[-1].message == "pad"
    plug.end.close()
    listener.wait_for(lambda: listener.losses)
    assert listener.losses == [(GONE, ("pad",))]
    assert transport.facts == {"pad": "absent"}
    count = len(listener.received)
    plugs["event4"] = again = Plug()
    (folder / "event4").touch()
    listener.wait_for(lambda: len(listener.received) > count)
    assert listener.values() == {}  # what the stick was before is not known any more
    again.say((ABS, ABS_X, 100))
    listener.wait_for(lambda: listener.values() == {"ABS_X": 1.0})


def test_a_press_and_a_release_in_one_read_are_both_said(plugged):
    _, listener, plugs, _, folder = plugged
    plugs["event3"] = plug = Plug()
    plug.end.send(events((KEY, BTN_SOUTH, 1), REPORT, (KEY, BTN_SOUTH, 0), REPORT))
    (folder / "event3").touch()
    listener.wait_for(lambda: len(listener.received) > 2)
    assert [one.values["BTN_SOUTH"] for one in listener.received[:3]] == [1.0, 0.0, 0.0]


def test_a_device_that_falls_silent_is_told_once_and_comes_back(plugged):
    _, listener, plugs, _, folder = plugged
    plugs["event3"] = plug = Plug(reports_time=True)
    (folder / "event3").touch()
    listener.wait_for(lambda: listener.losses)
    count = len(listener.received)
    select.select([], [], [], 0.1)
    assert listener.losses == [(SILENT, ("pad",))]
    assert len(listener.received) == count
    plug.say((ABS, ABS_X, 100), (MSC, TIMESTAMP, 1))
    listener.wait_for(lambda: len(listener.received) > count)
    assert listener.received[count].values["ABS_X"] == 1.0


def test_a_folder_that_is_removed_and_made_again_is_watched_again(tmp_path):
    folder = tmp_path / "input"
    folder.mkdir()
    plug = Plug()

    def opener(file, rule):
        plug.device.identity = DeviceIdentity(str(file), "pad", 1, 2)
        return plug.device

    listener = Listener()
    kept = KeptOpen(JoystickTransport(load_bridge_mapping(bridge_file("gamepad")), folder, opener), listener)
    kept.start()
    listener.wait_for(lambda: kept.state.is_open)
    folder.rmdir()
    listener.wait_for(lambda: any("the folder was removed" in reason for reason, _ in listener.losses))
    folder.mkdir()
    listener.wait_for(lambda: kept.state.openings == 2)
    (folder / "event3").touch()
    listener.wait_for(lambda: listener.received)
    kept.stop()


def test_a_name_that_cannot_be_read_hides_no_other_device(plugged):
    transport, listener, plugs, _, folder = plugged
    opener = transport.opener

    def strict(file, rule):
        if file.name == "event2":
            b"pad \xff".decode()
        return opener(file, rule)

    transport.close()
    transport.opener = strict
    plugs["event3"] = Plug()
    (folder / "event2").touch()
    (folder / "event3").touch()
    transport.open(listener)
    listener.wait_for(lambda: listener.received)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_reader_that_ends_by_an_unforeseen_error_says_so(tmp_path):
    (tmp_path / "event3").touch()

    def opener(file, rule):
        raise RuntimeError("unforeseen")

    listener = Listener()
    transport = JoystickTransport(load_bridge_mapping(bridge_file("gamepad")), tmp_path, opener)
    transport.open(listener)
    listener.wait_for(lambda: listener.failures)
    assert "unforeseen" in listener.failures[0]
    transport.close()


def test_a_refused_device_is_named(plugged):
    transport, listener, _, refused, folder = plugged
    refused["event3"] = "pad is wireless"
    (folder / "event3").touch()
    listener.wait_for(lambda: "wireless" in transport.facts["pad"])
    assert not listener.received


_REPLAY = """
import json, sys, time
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.protocols import transport_of
from grouser.catalogue import bridge_file

class Sink:
    said = []
    def receive(self, received): self.said.append({k: v for k, v in received.values.items() if v})
    def lost(self, *news): pass
    def broken(self, *news): pass

transport = transport_of(load_bridge_mapping(bridge_file("gamepad")))
transport.open(Sink())
end = time.monotonic() + float(sys.argv[1])
while {"BTN_TL": 1.0} not in [{k: v for k, v in one.items() if k == "BTN_TL"} for one in Sink.said]:
    assert time.monotonic() < end, Sink.said
    time.sleep(0.01)
facts = dict(transport.facts)
transport.close()
print(json.dumps([facts, Sink.said]))
"""


@pytest.mark.skipif(shutil.which("umockdev-run") is None, reason="umockdev-run is not installed (Debian: umockdev)")
def test_a_recorded_pad_through_evdev():
    devices = ["-d", RECORDED / "pad.umockdev", "-i", f"/dev/input/event7={RECORDED / 'pad.ioctl'}"]
    devices += ["-e", f"/dev/input/event7={RECORDED / 'pad.events'}"]
    command = ["umockdev-run", *devices, "--", sys.executable, "-c", _REPLAY, str(DEADLINE)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=2 * DEADLINE, env=os.environ)
    facts, said = json.loads(run.stdout)
    assert facts == {"pad": "Microsoft X-Box 360 pad (045e:028e) at /dev/input/event7, liveness: none"}
    lengths = [one["ABS_RX"] for one in said if "ABS_RX" in one]
    assert sorted(set(lengths)) == [int(32767 * number / 20) / 32767 for number in range(1, 21)]
    assert lengths == sorted(lengths)


def test_buttons_say_zero_and_one():
    assert ButtonField("BTN_SOUTH", BTN_SOUTH).limits == (0.0, 1.0)
