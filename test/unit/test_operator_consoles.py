"""The shipped mappings of joysticks and grips for the operator: they say all that the shipped patterns use."""

import re

import pytest

from grouser import catalogue
from grouser.bridges.joystick.device import DeviceIdentity
from grouser.bridges.joystick.finding import fits
from grouser.bridges.joystick.schema import DeviceRule
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.physics.base.errors import MachineError
from grouser.resources import share_path
from grouser.runtime.control_mapping_reader import load_control_mapping

CONSOLES = ("gamepad", "playstation", "two_sticks", "grips_j1939")
PATTERNS = sorted(file.stem for file in share_path("config", "operator").glob("*.yaml"))


def console(name):
    return load_bridge_mapping(catalogue.bridge_file(name))


def numbers(mapping, kind):
    """Numbers of the axes or buttons of `joy` that a mapping says."""
    signals = [signal.signal for message in mapping.incoming for signal in message.signals]
    return {int(number) for name in signals for number in re.findall(rf"^joy/{kind}_(\d+)$", name)}


@pytest.mark.parametrize("name", CONSOLES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_console_has_all_levers_and_buttons_of_a_pattern(name, pattern):
    mapping, controls = console(name), load_control_mapping(catalogue.pattern_file(pattern))
    axes = {lever.axis for lever in controls.levers if lever.axis is not None}
    buttons = {button for lever in controls.levers for button in lever.buttons} | {*controls.control_buttons}
    assert axes <= numbers(mapping, "axis")
    assert buttons <= numbers(mapping, "button")


def test_square_and_triangle_are_where_the_letters_are():
    def button(name, source):
        return next(one.signal for one in console(name).messages[0].signals if one.field == source)

    assert button("gamepad", "BTN_NORTH") == button("playstation", "BTN_WEST") == "joy/button_2"  # X, square
    assert button("gamepad", "BTN_WEST") == button("playstation", "BTN_NORTH") == "joy/button_3"  # Y, triangle


def test_two_sticks_of_a_kind_are_told_apart_by_their_ports():
    left, right = console("two_sticks").interface.values()

    def stick(port):
        return DeviceIdentity("/dev/input/event3", "Logitech Extreme 3D", 0x46D, 0xC215, port=port)

    assert fits(stick("usb-0000:00:14.0-3.1/input0"), left)
    assert not fits(stick("usb-0000:00:14.0-3.1/input0"), right)
    assert fits(stick("usb-0000:00:14.0-3.2/input0"), right)
    assert not fits(stick("usb-0000:00:14.0-3.12/input0"), left)
    assert not fits(stick(""), left)
    assert fits(stick("anywhere"), DeviceRule("any", None, ""))


def test_two_rules_for_the_same_port_are_refused(tmp_path):
    text = catalogue.bridge_file("two_sticks").read_text()
    file = tmp_path / "sticks.yaml"
    file.write_text(text.replace('"*.2/input*"', '"*.1/input*"'))
    with pytest.raises(MachineError, match="fits the same devices as left.*ports"):
        load_bridge_mapping(file)


def test_grips_say_left_and_ahead_positive():
    mapping = console("grips_j1939")
    scale = {one.signal: one.scale for message in mapping.incoming for one in message.signals if one.field in "xy"}
    assert scale == {"joy/axis_0": -1.0, "joy/axis_1": 1.0, "joy/axis_2": -1.0, "joy/axis_3": 1.0}
