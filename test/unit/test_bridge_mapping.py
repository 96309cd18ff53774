"""The mapping language: what is read, and what is refused, with file, line, key and remedy."""

import json
import math

import pytest

from grouser.bridges.mapping.checks import is_local
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.mapping.signals import commands_of, measurements_of
from grouser.bridges.mapping.units import UNITS
from grouser.catalogue import bridge_files, machine_file, machine_files
from grouser.commands.inspection import main as inspect
from grouser.physics.base.errors import MachineError
from grouser.physics.description import load_machine

WHOLE = """version: 1
bridge: joystick
machine: excavator
interface: {devices: {left: {id: "045e:02ea"}, right: {name: "Thrustmaster*"}}}
timeout: 0.25
recovery: acknowledge
good: 4
messages:
  - name: left_stick
    direction: in
    source: {device: left}
    period: 0.1
    signals:
      - {source: ABS_X, signal: valve/swing_valve, scale: -1.0, range: [-1, 1], safe: 0.0, neutral: 0.03}
      - {source: ABS_Y, signal: valve/boom_valve, scale: -100, unit: "%", range: [-50, 50], safe: 0.0, rate: 300}
  - name: right_stick
    direction: in
    source: {device: right}
    period: 0.02
    timeout: 0.04
    counter: {profile: e2e_5, max_jump: 2}
    checksum: {profile: e2e_5, data_id: 0x1234}
    signals:
      - {source: {axis: ABS_Z, rest: low}, signal: valve/blade_valve, range: [0, 1], safe: 0}
      - {source: ABS_Y, signal: valve/stick_valve, range: [-1, 1], safe: 0, enable: {source: BTN_TL, value: 0}}
      - {source: ABS_X, signal: valve/stick_valve, range: [-1, 1], safe: 0, enable: {source: BTN_TL, value: 1}}
"""


@pytest.fixture(scope="module")
def excavator(tmp_path_factory):
    """The excavator with xacro expanded, which is read faster."""
    file = tmp_path_factory.mktemp("machine") / "excavator.urdf"
    file.write_text(load_machine(machine_file("excavator")).source)
    return file


@pytest.fixture
def load(tmp_path, excavator):
    """Loads the text of a mapping."""

    def load_text(text):
        file = tmp_path / "mapping.yaml"
        file.write_text(text.replace("machine: excavator\n", f"machine: {excavator}\n"))
        return load_bridge_mapping(file)

    return load_text


def test_a_whole_mapping(load):
    mapping = load(WHOLE)
    assert (mapping.bridge, mapping.recovery, mapping.good) == ("joystick", "acknowledge", 4)
    assert mapping.machine.endswith("excavator.urdf")
    left, right = mapping.incoming
    assert (left.name, left.address, left.period, left.timeout) == ("left_stick", "left", 0.1, 0.25)
    assert (right.timeout, right.counter.max_jump, right.checksum.data_id) == (0.04, 2, 0x1234)
    boom = left.signals[1]
    assert (boom.signal, boom.unit, boom.factor, boom.low, boom.high) == ("valve/boom_valve", "%", 0.01, -50.0, 50.0)
    assert (boom.rate, left.signals[0].rate) == (300.0, math.inf)
    assert [signal.enable and signal.enable.value for signal in right.signals] == [None, 0.0, 1.0]


# What is replaced by what; the line of the message and words in it.
REFUSALS = [
    ("version: 1", "version: 2", 1, ("2", "valid: 1 to 1")),
    ("recovery: acknowledge", "recovers: acknowledge", 6, ("recovers", "did you mean 'recovery'")),
    ("recovery: acknowledge", "recovery: manual", 6, ("manual", "valid: acknowledge, automatic")),
    ("bridge: joystick", "bridge: joystic", 2, ("joystic", "did you mean 'joystick'")),
    ("machine: excavator\n", "machine: excavater\n", 3, ("excavater", "did you mean 'excavator'")),
    ("good: 4", "good: 0", 7, ("0", "valid: 1 to 100")),
    ("good: 4", "good: 2.5", 7, ("2.5", "not a whole number")),
    ("source: {device: left}", "source: {device: lefft}", 11, ("lefft", "did you mean 'left'")),
    ("name: right_stick", "name: left_stick", 16, ("left_stick", "given twice")),
    ("valve/swing_valve", "valve/swing_valv", 14, ("swing_valv", "did you mean 'valve/swing_valve'")),
    ("valve/swing_valve", "joint/boom/position", 14, ("is measured, not commanded",)),
    ("valve/swing_valve", "valve/boom_valve", 15, ("commanded in line 14 too", "enable")),
    ("value: 1}", "value: 0}", 26, ("valve/stick_valve", "commanded in line 25 too")),
    ("scale: -1.0", "scale: 0", 14, ("scale 0 moves nothing",)),
    ("safe: 0.0, neutral", "safe: 1.5, neutral", 14, ("safe 1.5", "valid: -1 to 1")),
    ("safe: 0.0, neutral", "safe: hold, neutral", 14, ("hold", "joint's position")),
    ("range: [-1, 1], safe: 0.0, neutral", "range: [-1, 1], neutral", 14, ("'safe' is missing",)),
    ("range: [-1, 1], safe: 0.0, neutral", "safe: 0.0, neutral", 14, ("'range' is missing",)),
    ("range: [-1, 1], safe: 0.0, neutral", "range: [1, -1], safe: 0.0, neutral", 14, ("is empty",)),
    ("range: [-50, 50]", "range: [-150, 150]", 15, ("more than the machine takes", "valid: -100 to 100")),
    ("range: [0, 1], safe: 0}", "range: [-1, 1], safe: 0}", 24, ("'ABS_Z' can hold: 0 to 1",)),
    ("rate: 300", "rate: 0", 15, ("rate 0", "above 0")),
    ("timeout: 0.04", "timeout: 0.039", 20, ("shorter than two periods", "valid: 0.04 or more")),
    ("timeout: 0.25", "timeout: 0.19", 9, ("shorter than two periods", "valid: 0.2 or more")),
    ("timeout: 0.25\n", "", 8, ("'timeout' is missing",)),
    ('unit: "%"', "unit: bar", 15, ("unit 'bar' does not fit", "valid: 1, %")),
    ("profile: e2e_5, max_jump", "profile: e2e_9, max_jump", 21, ("e2e_9", "e2e_5")),
    ("data_id: 0x1234", "data_id: 0x12345", 22, ("0x12345", "valid: 0 to 0xFFFF")),
    (", data_id: 0x1234", "", 22, ("'data_id' is missing",)),
    (
        "safe: 0.0, neutral",
        "safe: 0.0, sensor_fault: true, neutral",
        14,
        ("sensor_fault", "does not go with direction in"),
    ),
    ("neutral: 0.03", "neutral: -0.1", 14, ("-0.1", "valid: 0")),
    (
        "source: ABS_X, signal: valve/swing",
        "source: ABS_XX, signal: valve/swing",
        14,
        ("ABS_XX", "did you mean 'ABS_X'"),
    ),
    ('id: "045e:02ea"', "id: 45e", 4, ("vendor:product",)),
    ("rest: low}", "rest: low, side: negative}", 24, ("one side",)),
    ("rest: low}", "low: 5, high: 5}", 24, ("do not ascend",)),
    ('name: "Thrustmaster*"', 'id: "045e:02ea"', 4, ("device right", "fits the same devices as left")),
    ("period: 0.02", "period: 0.0049", 16, ("period 0.0049", "valid: 0.005 s and more", "whole milliseconds")),
    (
        "range: [0, 1], safe: 0}",
        "range: [0, 1], safe: 0, enable: {source: ABS_Z, value: 1}}",
        24,
        ("'ABS_Z' has two calibrations", "their enable"),
    ),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), REFUSALS)
def test_refusals_name_file_line_and_remedy(load, old, new, line, words):
    assert old in WHOLE
    with pytest.raises(MachineError) as refusal:
        load(WHOLE.replace(old, new, 1))
    text = str(refusal.value)
    assert f"mapping.yaml:{line}:" in text
    for word in words:
        assert word in text


def test_two_axes_with_two_calibrations_in_one_message(load):
    text = WHOLE.replace(
        "source: ABS_Y, signal: valve/boom", "source: {axis: ABS_X, dead_band: 0.1}, signal: valve/boom"
    )
    with pytest.raises(MachineError, match=r"yaml:15.*'ABS_X' has two calibrations"):
        load(text)


def test_without_a_machine_there_is_joy_alone(load):
    text = WHOLE.replace("machine: excavator\n", "")
    with pytest.raises(MachineError, match=r"yaml:13.*valve/swing_valve.*joy"):
        load(text)


@pytest.mark.parametrize("file", bridge_files(), ids=lambda file: file.stem)
def test_shipped_mappings_load(file):
    assert load_bridge_mapping(file).messages


@pytest.mark.parametrize("file", machine_files(), ids=lambda file: file.name)
def test_every_signal_of_every_machine_has_an_si_unit(file):
    machine = load_machine(file)
    for signals in (commands_of(machine), measurements_of(machine)):
        assert all(UNITS[signal.unit].factor == 1.0 and signal.low < signal.high for signal in signals.values())
    assert {f"valve/{valve.name}" for valve in machine.valves} <= commands_of(machine).keys()


def test_signals_of_the_rover():
    machine = load_machine(next(file for file in machine_files() if file.name.startswith("rover.")))
    assert {"cmd_vel/linear_x", "cmd_vel/angular_z", "joy/axis_0"} <= commands_of(machine).keys()
    assert {"odom/linear_x", "pose/roll", "joy/button_31"} <= measurements_of(machine).keys()


def test_inspect_prints_one_row_a_signal(load, tmp_path, capsys):
    load(WHOLE)
    assert inspect(["--bridge", str(tmp_path / "mapping.yaml")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("excavator.urdf: recovery acknowledge, 4 valid messages to be live")
    cells = ["left_stick", "->", "ABS_Y", "valve/boom_valve", "-0.5 to 0.5", "-0.5 to 0.5 1", "0.1", "0.25", "0"]
    assert lines[3].split() == " ".join(cells).split()
    assert len(lines) == 7


def test_inspect_writes_json(capsys):
    assert inspect(["--bridge", "gamepad", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["signals"][4]["signal"] == "joy/axis_4"
    assert facts["signals"][4]["raw"] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *(("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("[::1]", True), ("localhost", True)),
        *(("0.0.0.0", False), ("192.168.0.1", False), ("example.org", False), ("", False), ("localhost.evil", False)),
    ],
)
def test_which_hosts_are_this_computer(host, local):
    assert is_local(host) is local
