"""Operator control: dead-man button, restart, silence, modes, speed ranges, rates, invalid input."""

import math

import pytest

from grouser.physics.base.errors import ParameterError
from grouser.runtime.control_mapping import ControlMapping, Lever
from grouser.runtime.operating import Operating

PATIENCE = 0.2  # [s]
PERIOD = 0.05  # [s] between two samples
AT_ONCE = 1e6  # [1/s]: a lever without a limit of its rate
DEAD_MAN, STOP, DIG, TRAVEL, SLOWER, FASTER = range(6)


def valve(name, axis, **changes):
    return Lever("valve", name, 1.0, axis, **{"dead_band": 0.1, "rate": AT_ONCE, **changes})


PATTERN = ControlMapping(
    levers=(valve("blade", 2), valve("boom", 0, mode="dig"), valve("track", 0, mode="travel")),
    dead_man_button=DEAD_MAN,
    emergency_stop_button=STOP,
    modes=(("dig", DIG), ("travel", TRAVEL)),
    speed_ranges=(("slow", 0.25), ("half", 0.5), ("full", 1.0)),
    first_range=2,
    slower_button=SLOWER,
    faster_button=FASTER,
)


class Joystick:
    """Sends joystick input every `PERIOD`."""

    def __init__(self, pattern=PATTERN):
        self.operating = Operating(pattern, PATIENCE)
        self.time = 100.0

    def say(self, *axes, down=(), times=1):
        """Sends input with these axes, others at 0; returns the valves' commands a period later."""
        for _ in range(times):
            buttons = [int(number in down) for number in range(8)]
            self.operating.receive([*axes, *[0.0] * (4 - len(axes))], buttons, self.time)
            self.time += PERIOD
            self.operating.advance(self.time)
        return self.operating.commands().valves

    def begin(self):
        """Presses the dead-man button with all levers in neutral."""
        self.say()
        self.say(down=[DEAD_MAN])

    def pause(self, time):
        """Sends nothing for a time; returns the valves' commands after it."""
        self.time += time
        self.operating.advance(self.time)
        return self.operating.commands().valves


@pytest.fixture
def joystick():
    return Joystick()


NEUTRAL = {"blade": 0.0, "boom": 0.0, "track": 0.0}


def test_lever_commands_its_valve_while_the_dead_man_button_is_held(joystick):
    joystick.begin()
    assert joystick.operating.enabled
    assert joystick.say(1.0, down=[DEAD_MAN]) == {"blade": 0.0, "boom": 1.0, "track": 0.0}
    assert joystick.say(-1.0, 0.0, 1.0, down=[DEAD_MAN]) == {"blade": 1.0, "boom": -1.0, "track": 0.0}
    assert joystick.say(-1.0, 0.0, 1.0) == NEUTRAL
    assert not joystick.operating.enabled


def test_no_motion_without_the_dead_man_button(joystick):
    joystick.say()
    assert joystick.say(1.0, 0.0, 1.0, times=5) == NEUTRAL


def test_releasing_the_dead_man_button_is_neutral_at_once():
    joystick = Joystick(ControlMapping((valve("boom", 0, rate=1.0),), DEAD_MAN))
    joystick.begin()
    assert joystick.say(1.0, down=[DEAD_MAN], times=30)["boom"] == 1.0
    joystick.operating.receive([1.0], [0], joystick.time)
    assert joystick.operating.commands().valves == {"boom": 0.0}


def test_button_that_is_down_from_the_start_does_not_enable(joystick):
    assert joystick.say(down=[DEAD_MAN], times=5) == NEUTRAL
    assert not joystick.operating.enabled
    assert joystick.say(1.0, down=[DEAD_MAN], times=5) == NEUTRAL


def test_lever_out_of_neutral_at_enabling_has_no_effect_until_neutral(joystick):
    joystick.say(1.0)
    assert joystick.say(1.0, down=[DEAD_MAN], times=5) == NEUTRAL
    assert joystick.say(1.0, 0.0, 1.0, down=[DEAD_MAN])["blade"] == 1.0  # the other lever has one
    joystick.say(0.1, down=[DEAD_MAN])  # in the dead band
    assert joystick.say(1.0, down=[DEAD_MAN])["boom"] == 1.0


def test_silence_is_neutral(joystick):
    joystick.begin()
    joystick.say(1.0, down=[DEAD_MAN])
    since = PERIOD  # since the last sample
    assert joystick.pause(0.99 * PATIENCE - since)["boom"] == 1.0
    assert joystick.pause(0.02 * PATIENCE) == NEUTRAL


def test_after_silence_the_dead_man_button_must_be_pressed_again(joystick):
    joystick.begin()
    joystick.say(1.0, down=[DEAD_MAN])
    joystick.pause(2.0 * PATIENCE)
    assert joystick.say(1.0, down=[DEAD_MAN], times=5) == NEUTRAL
    assert joystick.say(0.0, down=[DEAD_MAN], times=5) == NEUTRAL
    assert joystick.say(1.0, down=[DEAD_MAN], times=5) == NEUTRAL
    joystick.begin()
    assert joystick.say(1.0, down=[DEAD_MAN])["boom"] == 1.0


@pytest.mark.parametrize("gap", ["silence", "malformed"])
def test_button_pressed_during_silence_or_invalid_input_does_not_enable(joystick, gap):
    joystick.say()
    if gap == "silence":
        joystick.pause(2.0 * PATIENCE)
    else:
        with pytest.raises(ParameterError):
            joystick.operating.receive([], [], joystick.time)
    joystick.say(down=[DEAD_MAN], times=5)
    assert not joystick.operating.enabled


def test_silence_counts_even_if_advance_was_not_called(joystick):
    """After a standstill of the process, input that was queued meanwhile does not enable motion."""
    joystick.begin()
    joystick.say(1.0, down=[DEAD_MAN])
    joystick.time += 2.0 * PATIENCE
    assert joystick.say(1.0, down=[DEAD_MAN]) == NEUTRAL


@pytest.mark.parametrize(
    ("axes", "buttons"),
    [
        ([1.0, 0.0], [1, 0, 0, 0, 0, 0]),
        ([], []),
        ([1.0, 0.0, 0.0], [1]),
        ([math.nan, 0.0, 0.0], [1, 0, 0, 0, 0, 0]),
        ([1.0, math.nan, 0.0], [1, 0, 0, 0, 0, 0]),  # of an axis that is not mapped
        ([1.0, 0.0, 7.0], [1, 0, 0, 0, 0, 0]),
        ([1.0, 0.0, 0.0], [1, 0, 0, 0, 0, 3]),
    ],
)
def test_malformed_input_is_neutral_and_disables_motion(joystick, axes, buttons):
    joystick.begin()
    joystick.say(1.0, down=[DEAD_MAN])
    with pytest.raises(ParameterError):
        joystick.operating.receive(axes, buttons, joystick.time)
    assert joystick.operating.commands().valves == NEUTRAL
    assert joystick.say(1.0, down=[DEAD_MAN], times=5) == NEUTRAL
    joystick.begin()
    assert joystick.say(1.0, down=[DEAD_MAN])["boom"] == 1.0


def test_emergency_stop_stays_set_until_motion_is_enabled_again(joystick):
    joystick.begin()
    assert joystick.say(1.0, down=[DEAD_MAN, STOP]) == NEUTRAL
    assert joystick.operating.emergency_stop
    assert joystick.say(1.0, down=[DEAD_MAN], times=3) == NEUTRAL
    assert joystick.operating.emergency_stop
    joystick.say()
    joystick.say(down=[DEAD_MAN, STOP])  # not while it is pressed
    assert joystick.operating.emergency_stop and not joystick.operating.enabled
    joystick.begin()
    assert not joystick.operating.emergency_stop
    assert joystick.say(1.0, down=[DEAD_MAN])["boom"] == 1.0


@pytest.mark.parametrize("axes", [[0.0, 0.0, 0.0], [math.nan] * 3, []])
def test_emergency_stop_takes_effect_in_malformed_input_too(axes):
    operating = Operating(PATTERN, PATIENCE)
    try:
        operating.receive(axes, [0, 1, 0, 0, 0, 0], 1.0)
    except ParameterError:
        assert axes != [0.0, 0.0, 0.0]
    assert operating.emergency_stop


def test_mode_change_requires_neutral_of_its_levers(joystick):
    joystick.begin()
    joystick.say(1.0, 0.0, 0.7, down=[DEAD_MAN])
    at_change = joystick.say(1.0, 0.0, 0.7, down=[DEAD_MAN, TRAVEL])
    assert joystick.operating.mode == "travel"
    assert at_change["boom"] == 0.0 and at_change["track"] == 0.0
    assert at_change["blade"] == pytest.approx((0.7 - 0.1) / 0.9)  # a lever of all modes stays active
    assert joystick.say(1.0, down=[DEAD_MAN], times=5) == NEUTRAL
    joystick.say(0.0, down=[DEAD_MAN])
    assert joystick.say(1.0, down=[DEAD_MAN]) == {"blade": 0.0, "boom": 0.0, "track": 1.0}
    joystick.say(0.0, down=[DEAD_MAN, DIG])
    assert joystick.say(1.0, down=[DEAD_MAN])["boom"] == 1.0


def test_speed_range_changes_once_for_each_press(joystick):
    joystick.begin()
    assert joystick.say(1.0, down=[DEAD_MAN])["boom"] == 1.0
    assert joystick.say(1.0, down=[DEAD_MAN, SLOWER], times=4)["boom"] == 0.5
    joystick.say(1.0, down=[DEAD_MAN])
    joystick.say(1.0, down=[DEAD_MAN, SLOWER])
    joystick.say(1.0, down=[DEAD_MAN])
    assert joystick.say(1.0, down=[DEAD_MAN, SLOWER])["boom"] == 0.25  # the lowest range
    assert joystick.say(1.0, down=[DEAD_MAN, FASTER])["boom"] == 0.5


def test_rate_limits_the_change_of_a_command():
    joystick = Joystick(ControlMapping((valve("boom", 0, rate=2.0),), DEAD_MAN))
    joystick.begin()
    said = [joystick.say(1.0, down=[DEAD_MAN])["boom"] for _ in range(11)]
    said += [joystick.say(-1.0, down=[DEAD_MAN])["boom"] for _ in range(21)]
    wanted = [min(0.1 * count, 1.0) for count in range(1, 12)] + [
        max(1.0 - 0.1 * count, -1.0) for count in range(1, 22)
    ]
    assert said == pytest.approx(wanted)


def test_levers_of_one_actuator_add_up_and_are_limited():
    joystick = Joystick(ControlMapping((valve("boom", 0), valve("boom", 1), valve("stick", 1)), DEAD_MAN))
    joystick.begin()
    assert joystick.say(1.0, -0.55, down=[DEAD_MAN]) == pytest.approx({"boom": 0.5, "stick": -0.5})
    both = joystick.say(1.0, 1.0, down=[DEAD_MAN])
    assert both["boom"] == 1.0 and both["stick"] == pytest.approx(1.0)


def test_levers_of_joints_and_twists():
    pattern = ControlMapping(
        levers=(
            Lever("velocity", "drum", 3.0, 0, rate=AT_ONCE),
            Lever("effort", "winch", -20.0, 1, rate=AT_ONCE),
            Lever("twist", "x", 0.5, 2, rate=AT_ONCE),
            Lever("twist", "yaw", 0.25, 0, rate=AT_ONCE),
            Lever("twist", "curvature", 2.0, 3, rate=AT_ONCE),
        ),
        dead_man_button=DEAD_MAN,
    )
    joystick = Joystick(pattern)
    joystick.begin()
    joystick.say(1.0, 1.0, -1.0, 1.0, down=[DEAD_MAN])
    commands = joystick.operating.commands()
    assert commands.velocities == {"drum": 3.0} and commands.efforts == {"winch": -20.0} and commands.valves == {}
    assert commands.twist == (-0.5, 0.0, 0.25 - 2.0 * 0.5)  # in reverse a car turns the other way
    assert Joystick().operating.commands().twist is None


def test_new_mapping_starts_in_neutral_with_its_own_mode_and_speed(joystick):
    joystick.begin()
    joystick.say(1.0, down=[DEAD_MAN, TRAVEL, SLOWER])
    joystick.operating.use(ControlMapping((valve("lift", 0),), DEAD_MAN))
    assert joystick.operating.mode == "" and joystick.operating.speed_range == 0
    assert joystick.say(1.0, down=[DEAD_MAN], times=5) == {"lift": 0.0}
    joystick.begin()
    assert joystick.say(1.0, down=[DEAD_MAN]) == {"lift": 1.0}
