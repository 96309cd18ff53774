"""What browsers may say to the page, and whose hands count."""

import json

import pytest
from shipped import shipped_machine

from grouser import catalogue
from grouser.nodes.viewer.page.hands import Helm, joystick_of
from grouser.nodes.viewer.page.protocol import LONGEST, Hands, Order, ProtocolError, parse
from grouser.nodes.viewer.page.simulator import box_text
from grouser.physics.description import parse_machine
from grouser.runtime.control_mapping_reader import load_control_mapping
from grouser.runtime.machine_levers import extended, fits, sliders_of, travel_of
from grouser.runtime.operating import Operating
from grouser.runtime.position_targets import PositionTargets

HANDS = {"type": "hands", "enable": True, "axes": [0.5, -1], "buttons": [3], "sliders": {"a": 1}, "ahead": 0, "left": 0}


def test_hands_are_read() -> None:
    assert parse(json.dumps(HANDS)) == Hands(True, (0.5, -1.0), frozenset({3}), {"a": 1.0}, 0.0, 0.0)


def test_orders_are_read() -> None:
    assert parse('{"type": "step", "count": 10}') == Order("step", {"count": 10})
    assert parse('{"type": "box", "size": [1, 0.5, 2], "mass": 3}').values == {"size": (1.0, 0.5, 2.0), "mass": 3.0}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("{", "must be JSON"),
        ("[" * 9000, "must be JSON"),
        ("x" * (LONGEST + 1), "at most"),
        (b"{}", "must be text"),
        ("[]", "must be a JSON object"),
        ('{"type": ["stop"]}', "must be one of hands, stop"),
        ('{"type": "fly"}', 'type = "fly"'),
        ('{"type": "stop", "now": 1}', 'unknown field "now"'),
        ('{"type": "step"}', "count is missing"),
        ('{"type": "step", "count": 0}', "whole number from 1"),
        ('{"type": "step", "count": 1.5}', "whole number"),
        ('{"type": "pause", "value": 1}', "true or false"),
        ('{"type": "speed", "factor": NaN}', "number from 0 to 1000"),
        ('{"type": "speed", "factor": true}', "number from 0 to 1000"),
        ('{"type": "box", "size": [1, 1], "mass": 1}', "three lengths"),
        ('{"type": "box", "size": [1, 1, 1e9], "mass": 1}', "0.01 to 100"),
        (json.dumps({**HANDS, "axes": [1.5]}), "number from -1 to 1"),
        (json.dumps({**HANDS, "axes": ["0"]}), "number from -1 to 1"),
        (json.dumps({**HANDS, "axes": [0] * 65}), "at most 64"),
        (json.dumps({**HANDS, "buttons": [-1]}), "whole number from 0 to 63"),
        (json.dumps({**HANDS, "sliders": [1]}), "must be an object"),
    ],
)
def test_what_is_not_valid_is_refused_in_words(message: str | bytes, words: str) -> None:
    with pytest.raises(ProtocolError, match=words):
        parse(message)


def test_one_browser_commands_at_a_time() -> None:
    helm = Helm(timeout=0.3)
    assert helm.take("one", True, 0.0)
    assert not helm.take("two", True, 0.1)
    assert not helm.take("two", False, 0.1)
    assert helm.take("one", False, 0.2)  # it lets go
    assert helm.take("two", True, 0.25)
    assert not helm.leave("one")
    assert helm.take("one", True, 0.6)  # the other one has been silent
    assert helm.leave("one")
    assert helm.holder is None


def test_levers_of_a_machine_follow_the_rules_of_the_pattern() -> None:
    """A slider has no effect before motion is enabled, and adds to the stick that moves the same valve."""
    machine = shipped_machine("excavator")
    levers = extended(load_control_mapping(catalogue.pattern_file("excavator_iso")), machine)
    operating = Operating(levers.mapping, patience=1.0)

    def hold(now: float, enable: bool, boom: float = 0.0, stick: float = 0.0, ahead: float = 0.0, left: float = 0.0):
        hands = Hands(enable, (0.0, 0.0, 0.0, stick), frozenset(), {"boom_valve": boom}, ahead, left)
        operating.receive(*joystick_of(hands, levers), now)
        operating.advance(now + 0.9)
        return operating.commands().valves

    assert hold(0.0, False, boom=1.0)["boom_valve"] == 0.0
    assert hold(1.0, True, boom=1.0)["boom_valve"] == 0.0  # it was out of neutral when motion was enabled
    assert hold(2.0, True)["boom_valve"] == 0.0
    assert hold(3.0, True, boom=1.0)["boom_valve"] == pytest.approx(0.6)  # of the normal speed range
    assert hold(4.0, True, boom=1.0, stick=1.0)["boom_valve"] == pytest.approx(0.0)  # ahead: boom down
    driven = hold(5.0, True, ahead=1.0, left=0.5)
    assert 0.0 < driven["track_left_valve"] < driven["track_right_valve"]
    assert hold(6.0, False, boom=1.0)["boom_valve"] == 0.0


def test_a_slider_that_is_not_there_is_refused() -> None:
    levers = extended(None, shipped_machine("loader_crane"))
    with pytest.raises(ProtocolError, match="no slider 'boom'; there are lift_valve"):
        joystick_of(Hands(True, (), frozenset(), {"boom": 1.0}, 0.0, 0.0), levers)


@pytest.mark.parametrize(
    ("name", "patterns"),
    [
        ("excavator", {"excavator_iso", "excavator_sae", "excavator_tip"}),
        ("rover", {"car", "rover", "tank"}),
        ("loader_crane", {"loader_crane", "loader_crane_tip"}),
        ("rigid_pendulum", set()),
    ],
)
def test_patterns_that_fit_a_machine(name: str, patterns: set[str]) -> None:
    machine = shipped_machine(name)
    assert {file.stem for file in catalogue.pattern_files() if fits(load_control_mapping(file), machine)} == patterns


def test_every_valve_and_drive_has_a_lever() -> None:
    excavator, rover = shipped_machine("excavator"), shipped_machine("rover")
    assert {slider.actuator for slider in sliders_of(excavator)} == {valve.name for valve in excavator.valves}
    assert not sliders_of(rover)  # cmd_vel commands all of its drives
    assert {(one.kind, one.actuator) for one in travel_of(rover)} == {("twist", "x"), ("twist", "yaw")}
    pendulum = sliders_of(shipped_machine("rigid_pendulum"))
    assert [(one.kind, one.unit) for one in pendulum] == [("effort", "N m")] * 3
    (hinge,) = sliders_of(shipped_machine("servo_fin"))
    assert (hinge.kind, hinge.actuator, hinge.unit) == ("position", "hinge", "rad/s")


def test_position_targets_begin_where_the_joint_is_and_end_at_its_limits() -> None:
    targets = PositionTargets({"hinge": (-1.0, 1.0)})
    assert targets.advance({"hinge": 0.5}, 0.1) == {}  # nothing is measured yet
    targets.measure(["other", "hinge"], [9.0, 0.2])
    assert targets.advance({"hinge": 0.0}, 0.1) == {}  # not moved yet
    assert targets.advance({"hinge": 0.5}, 0.1) == {"hinge": pytest.approx(0.25)}
    targets.measure(["hinge"], [0.21])
    assert targets.advance({"hinge": 0.0}, 0.1) == {"hinge": pytest.approx(0.25)}
    assert targets.advance({"hinge": 0.5}, 100.0) == {"hinge": 1.0}
    targets.forget()
    targets.measure(["hinge"], [float("nan")])
    assert targets.advance({"hinge": -0.5}, 0.1) == {"hinge": pytest.approx(0.16)}


def test_a_box_is_a_valid_machine() -> None:
    box = parse_machine(box_text((1.0, 2.0, 0.5), 12.0), file="box")
    assert box.links[0].inertial is not None and box.links[0].inertial.mass == 12.0
