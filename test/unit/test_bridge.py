"""A bridge on a clock of its own: what is obeyed, what is refused, and when the machine is safe."""

import math
import subprocess
import sys

import pytest
from bridge_pieces import RememberingPlant, mapping, message, said, signal

from grouser.bridges.bridge import Bridge
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.data import CounterRule, Enable
from grouser.bridges.messages import Received

BOOM = signal("y", "valve/boom", scale=-1.0)


def make(*messages, sent=None, **changes):
    plant, changed = RememberingPlant(), []
    bridge = Bridge(
        mapping(*messages, **changes),
        plant,
        send=lambda name, values: (sent.append((name, values)) if sent is not None else None) is None,
        told=changed.append,
        clock=lambda: 0.0,
    )
    return bridge, plant, changed


def bring_live(bridge, name="stick", field="y", until=0.04):
    for number in range(3):
        bridge.receive(said(name, until - 0.02 * (2 - number), **{field: 0.0}))


def test_nothing_moves_before_the_link_is_live_and_neutral():
    bridge, plant, _ = make(message("stick", BOOM))
    bridge.begin()
    for number in range(5):
        bridge.receive(said("stick", 0.02 * number, y=0.5))
    assert plant.now == {"valve/boom": 0.0}
    assert bridge.states == {"stick": LinkState.CHECKING}
    bridge.receive(said("stick", 0.1, y=0.0))
    bridge.receive(said("stick", 0.12, y=0.5))
    assert plant.now == {"valve/boom": -0.5}


def test_silence_is_found_by_the_timer_and_told_once():
    bridge, plant, changes = make(message("stick", BOOM))
    bring_live(bridge)
    bridge.receive(said("stick", 0.06, y=1.0))
    assert bridge.tick(0.16) == pytest.approx(0.16, abs=1e-3)  # in time; the deadline is at hand
    assert plant.now == {"valve/boom": -1.0}
    bridge.tick(0.1601)
    bridge.tick(0.2)
    assert plant.now == {"valve/boom": 0.0}
    assert [change.after for change in changes] == [LinkState.CHECKING, LinkState.LIVE, LinkState.STALE]
    assert bridge.reasons == {"stick": "silence"}
    figures = bridge.figures.inputs["stick"]
    assert (figures.valid, figures.obeyed, figures.safe_entries) == (4, 2, 1)
    assert figures.longest_hold == pytest.approx(0.1001)


@pytest.mark.parametrize(
    ("received", "reason"),
    [
        (said("stick", 0.06, y=1.0001), "out of range"),
        (said("stick", 0.06, y=math.nan), "not a number"),
        (said("stick", 0.06, y=math.inf), "not a number"),
        (said("stick", 0.06, x=0.0), "missing"),
        (Received("stick", 0.06, {"y": 0.0}, absent=frozenset({"y"})), "not available"),
        (Received("stick", 0.06, refusal="checksum"), "checksum"),
    ],
)
def test_a_refused_message_is_counted_and_does_not_extend(received, reason):
    bridge, plant, _ = make(message("stick", BOOM))
    bring_live(bridge)
    bridge.receive(said("stick", 0.05, y=0.5))
    bridge.receive(received)
    assert plant.now == {"valve/boom": -0.5}
    assert dict(bridge.figures.inputs["stick"].refused) == {reason: 1}
    bridge.tick(0.1501)
    assert bridge.states == {"stick": LinkState.STALE}


def test_an_error_code_on_a_used_field_is_safe_at_once_and_one_elsewhere_is_not():
    bridge, plant, _ = make(message("stick", BOOM))
    bring_live(bridge)
    bridge.receive(Received("stick", 0.06, {"y": 0.5}, errors=frozenset({"button4"})))
    assert plant.now == {"valve/boom": -0.5}
    bridge.receive(Received("stick", 0.08, {}, errors=frozenset({"y"})))
    assert plant.now == {"valve/boom": 0.0}
    assert bridge.reasons == {"stick": "an error code"}


def test_a_lost_device_lets_its_messages_fall_and_no_others():
    bridge, plant, _ = make(message("stick", BOOM), message("other", signal("y", "valve/swing")))
    bring_live(bridge)
    bring_live(bridge, "other")
    bridge.lost("device gone", 0.05, ["stick"])
    assert bridge.states == {"stick": LinkState.STALE, "other": LinkState.LIVE}
    bridge.lost("bus-off", 0.06)
    assert bridge.states["other"] is LinkState.STALE
    assert bridge.reasons == {"stick": "device gone", "other": "bus-off"}
    assert plant.now == {"valve/boom": 0.0, "valve/swing": 0.0}


def test_acknowledging_a_latched_link():
    bridge, plant, _ = make(message("stick", BOOM), recovery="acknowledge")
    bring_live(bridge)
    bridge.tick(1.0)
    assert bridge.acknowledge(1.0) == {"stick": "no valid message arrives"}
    bridge.receive(said("stick", 1.02, y=0.5))
    assert "neutral" in bridge.acknowledge(1.03)["stick"]
    bridge.receive(said("stick", 1.04, y=0.0))
    assert bridge.acknowledge(1.05) == {}
    bring_live(bridge, until=1.1)
    bridge.receive(said("stick", 1.12, y=0.5))
    assert plant.now == {"valve/boom": -0.5}


def test_units_scale_and_offset():
    position = signal("p", "joint/foot/position", unit="mm", factor=0.001, scale=0.5, offset=100.0, low=0.0, high=300.0)
    bridge, plant, _ = make(message("plc", position, timeout=1.0), good=1)
    bridge.receive(said("plc", 0.0, p=-200.0))  # 0 mm, which is safe: neutral
    bridge.receive(said("plc", 0.02, p=200.0))
    assert plant.now == {"joint/foot/position": pytest.approx(0.2)}


def test_a_rate_limits_the_way_but_not_to_safe():
    bridge, plant, _ = make(message("stick", signal("y", "valve/boom", rate=5.0), timeout=1.0))
    bring_live(bridge)
    bridge.receive(said("stick", 0.06, y=1.0))
    assert plant.now["valve/boom"] == pytest.approx(0.1)
    bridge.tick(0.1)
    assert plant.now["valve/boom"] == pytest.approx(0.3)
    bridge.tick(0.5)
    assert plant.now["valve/boom"] == 1.0
    bridge.lost("device gone", 0.51)
    assert plant.now["valve/boom"] == 0.0


def test_a_position_may_hold():
    hold = signal("p", "joint/foot/position", safe=None)
    bridge, plant, _ = make(message("plc", hold), good=1)
    bridge.begin()
    bridge.receive(said("plc", 0.0, p=0.7))  # any command is neutral
    bridge.tick(0.2)
    assert plant.commands == [{"joint/foot/position": 0.7}]


def foot_at_a_rate(rate=5.0):
    return message("plc", signal("p", "joint/foot/position", safe=None, rate=rate), timeout=1.0)


def test_a_position_that_holds_starts_where_the_joint_is_at_its_rate():
    bridge, plant, _ = make(foot_at_a_rate(), good=1)
    plant.measured = {"joint/foot/position": -0.4}
    bridge.receive(said("plc", 0.0, p=0.7))
    assert plant.commands == [{"joint/foot/position": -0.4}]
    bridge.tick(0.1)
    assert plant.now["joint/foot/position"] == pytest.approx(0.1)
    bridge.tick(0.3)
    assert plant.now["joint/foot/position"] == 0.7


def test_a_position_that_holds_goes_on_after_a_fall_from_its_last_command():
    bridge, plant, _ = make(foot_at_a_rate(), good=1)
    plant.measured = {"joint/foot/position": 0.0}
    bridge.receive(said("plc", 0.0, p=0.5))
    bridge.tick(0.2)
    bridge.lost("device gone", 0.3)
    bridge.receive(said("plc", 5.0, p=-0.5))
    assert plant.now["joint/foot/position"] == 0.5
    bridge.tick(5.05)
    assert plant.now["joint/foot/position"] == pytest.approx(0.25)


def test_a_position_that_nobody_knows_is_not_commanded_at_a_rate():
    bridge, plant, _ = make(foot_at_a_rate(), good=1)
    bridge.receive(said("plc", 0.0, p=0.7))
    plant.measured = {"joint/foot/position": math.nan}
    bridge.receive(said("plc", 0.1, p=0.7))
    assert plant.commands == []
    plant.measured = {"joint/foot/position": 0.6}
    bridge.receive(said("plc", 0.2, p=0.7))
    assert plant.now["joint/foot/position"] == pytest.approx(0.7, abs=0.1)
    assert bridge.states == {"plc": LinkState.LIVE}


def test_modes_that_exclude_each_other_share_an_actuator():
    def in_mode(number, name):
        return signal("y", name, enable=Enable(None, "mode", number))

    bridge, plant, _ = make(message("stick", in_mode(0.0, "valve/boom"), in_mode(1.0, "valve/travel")), good=1)
    bridge.receive(said("stick", 0.0, y=0.0, mode=0.0))
    bridge.receive(said("stick", 0.02, y=0.5, mode=0.0))
    assert plant.now == {"valve/boom": 0.5, "valve/travel": 0.0}
    bridge.receive(said("stick", 0.04, y=0.5, mode=1.0))
    assert plant.now == {"valve/boom": 0.0, "valve/travel": 0.5}
    bridge.receive(said("stick", 0.06, y=0.5))
    assert bridge.figures.inputs["stick"].refused == {"missing": 1}


def test_a_counter_that_stands_still_is_silence():
    bridge, _, _ = make(message("ecu", BOOM, counter=CounterRule("e2e_5")))
    for number in range(3):
        bridge.receive(Received("ecu", 0.02 * number, {"y": 0.0}, counter=number))
    for number in range(3, 8):
        bridge.receive(Received("ecu", 0.02 * number, {"y": 0.5}, counter=2))
    bridge.tick(0.15)
    figures = bridge.figures.inputs["ecu"]
    assert bridge.states == {"ecu": LinkState.STALE}
    assert dict(figures.refused) == {"repeated": 5}


def test_lost_messages_are_counted_and_a_sender_that_began_anew_is_checked_anew():
    bridge, _, changes = make(message("ecu", BOOM, counter=CounterRule("e2e_5"), timeout=1.0))
    for time, counter in enumerate((0, 1, 2, 5, 100, 101, 102, 103, 104)):
        bridge.receive(Received("ecu", 0.02 * time, {"y": 0.0}, counter=counter))
    figures = bridge.figures.inputs["ecu"]
    assert figures.lost == 2
    assert dict(figures.refused) == {"jump": 2}
    assert [change.after for change in changes] == [
        LinkState.CHECKING,
        LinkState.LIVE,
        LinkState.STALE,
        LinkState.CHECKING,
        LinkState.LIVE,
    ]
    assert figures.safe_entries == 1
    assert bridge.reasons == {"ecu": "the sender began anew"}


def test_a_sender_that_began_anew_lets_its_link_fall_where_one_message_is_enough():
    bridge, plant, changes = make(message("ecu", BOOM, counter=CounterRule("e2e_5"), timeout=1.0), good=1)
    for time, (counter, value) in enumerate(((0, 0.0), (1, 0.5), (100, 0.0), (101, 0.0), (102, 0.0))):
        bridge.receive(Received("ecu", 0.02 * time, {"y": value}, counter=counter))
    assert [(change.after, change.reason) for change in changes[-2:]] == [
        (LinkState.STALE, "the sender began anew"),
        (LinkState.LIVE, "valid messages"),
    ]
    assert bridge.figures.inputs["ecu"].safe_entries == 1
    assert plant.now == {"valve/boom": 0.0}


def test_live_commands_are_repeated_for_who_watches_for_silence():
    bridge, plant, _ = make(message("stick", BOOM, timeout=1.0))
    bring_live(bridge)
    bridge.receive(said("stick", 0.06, y=0.5))
    before, now = len(plant.commands), 0.06
    while now < 0.56:
        now = bridge.tick(now)
    assert len(plant.commands) - before == pytest.approx(10, abs=1)
    assert plant.commands[-1] == {"valve/boom": -0.5}


def test_measurements_go_out_in_their_period_held_at_the_border():
    pressure = signal("p", "hydraulics/boom/pressure", unit="bar", factor=1e5, scale=0.1, low=0.0, high=400.0)
    sent = []
    bridge, plant, _ = make(message("pressures", pressure, direction="out"), sent=sent)
    plant.measured = {"hydraulics/boom/pressure": 2.5e7}
    assert bridge.tick(0.0) == pytest.approx(0.02)
    bridge.tick(0.01)
    bridge.tick(0.02)
    plant.measured = {"hydraulics/boom/pressure": 5e7}
    bridge.tick(0.09)  # two sending times have passed
    plant.measured = {}
    bridge.tick(0.1)
    assert [values["p"] for _, values in sent[:3]] == pytest.approx([2500.0, 2500.0, 4000.0])
    assert math.isnan(sent[3][1]["p"])
    figures = bridge.figures.outputs["pressures"]
    assert (figures.sent, figures.held, figures.skipped) == (4, 1, 2)


def test_bytes_of_no_known_message_touch_no_link():
    bridge, _, _ = make(message("stick", BOOM))
    bring_live(bridge)
    bridge.receive(Received("", 0.05, refusal="checksum"))
    bridge.receive(said("other", 0.05, y=0.0))
    assert dict(bridge.figures.strangers) == {"checksum": 1, "unknown message": 1}
    assert bridge.states == {"stick": LinkState.LIVE}


def test_a_bridge_starts_without_the_compiler():
    code = "import grouser.bridges.bridge, grouser.bridges.mapping.reader, sys; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_position_that_is_no_longer_enabled_stays_and_goes_on_from_there():
    enable = Enable(None, "mode", 1.0)
    foot = signal("p", "joint/foot/position", safe=None, rate=1.0, enable=enable)
    bridge, plant, _ = make(message("plc", foot), good=1)
    plant.measured = {"joint/foot/position": 0.0}
    for number, (target, mode) in enumerate([(0.0, 1.0), (0.02, 1.0), (0.5, 0.0), (0.5, 1.0)]):
        bridge.receive(said("plc", 0.02 * number, p=target, mode=mode))
        assert plant.now["joint/foot/position"] == pytest.approx((0.0, 0.02, 0.02, 0.04)[number])
