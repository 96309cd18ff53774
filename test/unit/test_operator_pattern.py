"""Control patterns: deflection curve of a lever, pattern files, and checks of joystick input."""

import math

import pytest

from grouser.catalogue import pattern_file
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.resources import share_path
from grouser.runtime.control_mapping import ControlMapping, Lever
from grouser.runtime.control_mapping_reader import load_control_mapping

SHIPPED = sorted(path.stem for path in share_path("config", "operator").glob("*.yaml"))
PAGE = share_path("docs", "operator.md")

WHOLE = """\
dead_man_button: 9
emergency_stop_button: 1
speed: {slower_button: 13, faster_button: 14, ranges: {slow: 0.25, full: 1.0}, start: full}
dead_band: 0.2
curve: 1.5
rate: 4.0
levers:
  - {buttons: [12, 11], valve: blade_valve, scale: -0.5, rate: 2.0}
modes:
  dig:
    button: 0
    levers:
      - {axis: 0, joint: drum_joint, scale: 3.0}
      - {axis: 3, joint: winch_joint, quantity: effort, dead_band: 0.0, curve: 0.0}
  travel:
    button: 2
    levers: [{axis: 1, twist: curvature}]
"""


def lever(**changes):
    return Lever(**{"kind": "valve", "actuator": "boom_valve", "scale": 1.0, "axis": 0, "dead_band": 0.0, **changes})


def load(tmp_path, text):
    file = tmp_path / "pattern.yaml"
    file.write_text(text)
    return load_control_mapping(file)


@pytest.mark.parametrize("curve", [0.0, 1.5, 8.0])
def test_deflection_covers_the_full_range_in_both_directions(curve):
    bent = lever(dead_band=0.1, curve=curve)
    assert [bent.deflection([value], []) for value in (-1.0, -0.1, 0.0, 0.1, 1.0)] == [-1.0, 0.0, 0.0, 0.0, 1.0]
    ways = [bent.deflection([0.1 + 0.009 * count], []) for count in range(101)]
    assert ways == sorted(ways)
    assert bent.deflection([-0.7], []) == -bent.deflection([0.7], [])


def test_deflection_starts_at_zero_beyond_the_dead_band():
    assert lever(dead_band=0.2).deflection([0.6], []) == pytest.approx(0.5)
    assert 0.0 < lever(dead_band=0.2).deflection([0.2001], []) < 2e-4


def test_deflection_curve_is_exponential():
    assert lever(curve=2.0).deflection([0.5], []) == pytest.approx((math.e - 1.0) / (math.e**2 - 1.0))
    slope = lever(curve=1.5).deflection([1e-6], []) / 1e-6
    assert slope == pytest.approx(0.43, abs=0.005)  # two digits, as the docstring has it


def test_axes_of_joy_linux_may_exceed_one_slightly():
    assert lever().deflection([-32768 / 32767], []) == -1.0
    ControlMapping((lever(),), dead_man_button=0).check([-32768 / 32767], [0])


@pytest.mark.parametrize(("buttons", "value"), [([0, 0], 0.0), ([1, 0], -1.0), ([0, 1], 1.0), ([1, 1], 0.0)])
def test_two_buttons_form_a_lever(buttons, value):
    assert lever(axis=None, buttons=(0, 1), dead_band=0.1, curve=1.5).deflection([], buttons) == value


@pytest.mark.parametrize(
    ("axes", "buttons", "words"),
    [
        ([0.0] * 3, [0] * 3, "length of axes = 3 is not valid: at least 4"),
        ([], [0] * 3, "length of axes"),
        ([0.0] * 4, [0] * 2, "length of buttons = 2 is not valid: at least 3"),
        ([0.0, math.nan, 0.0, 0.0], [0] * 3, r"axes\[1\] = nan"),
        ([0.0, 0.0, 0.0, -math.inf], [0] * 3, r"axes\[3\] = -inf"),
        ([0.0, 0.0, 0.0, 1.01], [0] * 3, r"axes\[3\] = 1.01 is not valid: a finite number in \[-1, 1\]"),
        ([0.0] * 4, [0, 2, 0], r"buttons\[1\] = 2 is not valid: 0 or 1"),
        ([0.0] * 4, [0, -1, 0], r"buttons\[1\] = -1"),
    ],
)
def test_invalid_joystick_input_is_rejected(axes, buttons, words):
    pattern = ControlMapping((lever(axis=3), lever(axis=None, buttons=(1, 2))), dead_man_button=0)
    pattern.check([0.0] * 4, [0] * 3)
    pattern.check([0.0] * 9, [1] * 20)  # a joystick may have more than a pattern needs
    with pytest.raises(ParameterError, match=words):
        pattern.check(axes, buttons)


def test_file_with_all_keys_is_read(tmp_path):
    pattern = load(tmp_path, WHOLE)
    usual = {"dead_band": 0.2, "curve": 1.5, "rate": 4.0}
    assert pattern == ControlMapping(
        levers=(
            Lever("valve", "blade_valve", -0.5, None, (12, 11), **{**usual, "rate": 2.0}),
            Lever("velocity", "drum_joint", 3.0, 0, mode="dig", **usual),
            Lever("effort", "winch_joint", 1.0, 3, mode="dig", **{**usual, "dead_band": 0.0, "curve": 0.0}),
            Lever("twist", "curvature", 1.0, 1, mode="travel", **usual),
        ),
        dead_man_button=9,
        emergency_stop_button=1,
        modes=(("dig", 0), ("travel", 2)),
        speed_ranges=(("slow", 0.25), ("full", 1.0)),
        first_range=1,
        slower_button=13,
        faster_button=14,
    )


def test_file_with_required_keys_only_is_read(tmp_path):
    pattern = load(tmp_path, "dead_man_button: 5\nlevers: [{axis: 1, twist: x}]\n")
    assert pattern == ControlMapping((Lever("twist", "x", 1.0, 1),), 5)


# What is changed in `WHOLE`, and the line and words of the message.
BAD_FILES = {
    "no dead man": (("dead_man_button: 9\n", ""), 1, "key 'dead_man_button' is missing"),
    "unknown key": (("rate: 4.0", "rates: 4.0"), 6, "unknown key 'rates' (did you mean 'rate'?)"),
    "unknown lever key": (("valve: blade", "valv: blade"), 8, "unknown key 'valv' (did you mean 'valve'?)"),
    "unknown mode key": (("    button: 0", "    key: 0"), 11, "unknown key 'key'"),
    "unknown speed key": (("start:", "begin:"), 3, "unknown key 'begin'"),
    "axis too high": (("axis: 3", "axis: 64"), 14, "64 is out of range; valid: 0 to 63"),
    "axis negative": (("axis: 3", "axis: -1"), 14, "-1 is out of range"),
    "axis broken": (("axis: 3", "axis: 1.5"), 14, "1.5 is not a whole number; valid: 0 to 63"),
    "axis a word": (("axis: 3", "axis: right"), 14, "'right' is not a finite number"),
    "button broken": (("dead_man_button: 9", "dead_man_button: 9.5"), 1, "9.5 is not a whole number"),
    "no input": (("axis: 0, ", ""), 13, "it names nothing; valid is one of axis, buttons"),
    "two inputs": (("axis: 0", "axis: 0, buttons: [3, 4]"), 13, "axis and buttons"),
    "no actuator": (("joint: drum_joint, ", ""), 13, "it names nothing; valid is one of valve, joint, twist"),
    "two actuators": (("axis: 1,", "axis: 1, valve: a,"), 17, "it names valve and twist"),
    "unknown twist": (("curvature", "z"), 17, "'z' is not valid (valid: curvature, x, y, yaw)"),
    "unknown quantity": (("quantity: effort", "quantity: position"), 14, "'position' is not valid"),
    "quantity of a valve": (("scale: -0.5", "quantity: effort"), 8, "a valve has no quantity"),
    "valve beyond its spool": (("scale: -0.5", "scale: -1.5"), 8, "-1.5 is out of range; valid: -1 to 1"),
    "scale zero": (("scale: -0.5", "scale: 0"), 8, "0 moves nothing"),
    "scale not a number": (("scale: 3.0", "scale: nan"), 13, "'nan' is not a finite number"),
    "dead band too wide": (("dead_band: 0.2", "dead_band: 1.0"), 4, "1 is out of range; valid: 0 to 0.9"),
    "curve too sharp": (("curve: 1.5", "curve: 11"), 5, "11 is out of range; valid: 0 to 10"),
    "rate zero": (("rate: 4.0", "rate: 0"), 6, "0 is out of range; valid: 0.1 to 1000"),
    "one button": (("[12, 11]", "[12]"), 8, "two different buttons are needed"),
    "the same button twice": (("[12, 11]", "[12, 12]"), 8, "two different buttons are needed"),
    "speed too high": (("full: 1.0", "full: 1.1"), 3, "1.1 is out of range; valid: 0.01 to 1"),
    "speeds out of order": (("slow: 0.25", "slow: 1.0"), 3, "1 is out of order"),
    "no such speed": (("start: full", "start: ful"), 3, "did you mean 'full'?"),
    "no button for faster": (("faster_button: 14, ", ""), 3, "key 'faster_button' is missing"),
    "a button of two modes": (("button: 2", "button: 0"), 1, "button 0 does two things"),
    "dead man moves": (("dead_man_button: 9", "dead_man_button: 11"), 1, "button 11 does two things"),
    "a joint of two quantities": (("winch_joint", "drum_joint"), 1, "it has two quantities"),
    "no levers": (("levers: [{axis: 1, twist: curvature}]", "levers: 5"), 17, "a list is needed"),
    "not a mapping": (("{axis: 1, twist: curvature}", "axis 1"), 17, "a mapping is needed"),
    "not YAML": (("[{axis: 1", "[{axis: 1, ["), 17, "not valid YAML"),
}


@pytest.mark.parametrize(("change", "line", "words"), BAD_FILES.values(), ids=BAD_FILES)
def test_invalid_file_is_rejected_with_line_and_reason(tmp_path, change, line, words):
    assert WHOLE.count(change[0]) == 1
    with pytest.raises(MachineError) as caught:
        load(tmp_path, WHOLE.replace(*change))
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{tmp_path / 'pattern.yaml'}:{line}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["", "# nothing\n", "dead_man_button: 1\n"])
def test_pattern_without_levers_is_rejected(tmp_path, text):
    with pytest.raises(MachineError, match="empty|no levers"):
        load(tmp_path, text)


def test_patterns_are_found_by_name():
    with pytest.raises(MachineError, match="no control pattern called 'excavator_iso9'.*did you mean 'excavator_iso'"):
        pattern_file("excavator_iso9")
    assert set(SHIPPED) >= {"excavator_iso", "excavator_sae", "demolition_robot", "rover", "car", "tank"}


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_pattern_fits_a_game_controller(name):
    """It is documented, and needs no more than the six axes and 21 buttons of ROS's game_controller_node."""
    load_control_mapping(pattern_file(name)).check([0.0] * 6, [0] * 21)
    assert f"`{name}`" in PAGE.read_text()
