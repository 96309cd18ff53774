"""The timed command program: its values over time, and its file."""

import math

import pytest

from grouser.physics.base.errors import MachineError, ParameterError
from grouser.program import TWIST, CommandProgram, TimedCommand, load_program


def program_of(*commands, **options):
    return CommandProgram([TimedCommand(*command) for command in commands], **options)


def test_program_command_holds_from_its_time():
    program = program_of((1.0, "boom", 0.5), (2.0, "boom", -0.2))
    assert program.values(0.999) == {}
    assert program.values(1.0) == {"boom": 0.5}
    assert program.values(1.999) == {"boom": 0.5}
    assert program.values(2.0) == {"boom": -0.2}
    assert program.values(1e6) == {"boom": -0.2}


def test_program_is_independent_of_the_order_in_the_file():
    assert program_of((2.0, "boom", -0.2), (1.0, "boom", 0.5)).values(1.5) == {"boom": 0.5}


def test_ramp_is_linear_from_the_present_value():
    program = program_of((1.0, "boom", 0.5), (2.0, "boom", -0.5, 4.0))
    for time, value in [(2.0, 0.5), (3.0, 0.25), (4.0, 0.0), (6.0, -0.5), (7.0, -0.5)]:
        assert program.values(time)["boom"] == pytest.approx(value, abs=1e-15)


def test_first_ramp_starts_at_the_initial_value():
    program = program_of((0.0, "turn", 1.0, 2.0))
    assert program.values(1.0)["turn"] == pytest.approx(0.5)
    assert program.values(1.0, {"turn": 0.6})["turn"] == pytest.approx(0.8)


def test_next_command_interrupts_a_ramp():
    program = program_of((0.0, "boom", 1.0, 10.0), (5.0, "boom", 0.0, 1.0))
    assert program.values(4.999)["boom"] == pytest.approx(0.4999)
    assert program.values(5.0)["boom"] == pytest.approx(0.5)
    assert program.values(5.5)["boom"] == pytest.approx(0.25)


def test_actuators_are_independent():
    program = program_of((0.0, "boom", 0.5), (1.0, "stick", -0.5))
    assert program.actuators == ("boom", "stick")
    assert program.values(0.5) == {"boom": 0.5}
    assert program.values(1.5) == {"boom": 0.5, "stick": -0.5}


def test_repeated_program_restarts_from_the_last_values():
    program = program_of((1.0, "boom", 0.5), (3.0, "boom", 0.25), repeat=True, period=4.0)
    assert program.values(0.5) == {}
    assert program.values(4.5) == {"boom": 0.25}
    assert program.values(5.0) == {"boom": 0.5}
    assert program.values(4001.0) == {"boom": 0.5}
    assert not program.finished(1e9)


def test_program_is_finished_after_its_last_command():
    program = program_of((1.0, "boom", 0.5, 2.0))
    assert not program.finished(2.9)
    assert program.finished(3.0)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ((-0.1, "boom", 0.5), {}),
        ((math.nan, "boom", 0.5), {}),
        ((0.0, "boom", math.inf), {}),
        ((0.0, "boom", 1.1), {}),
        ((0.0, "boom", 0.5, -1.0), {}),
        ((0.0, "boom", 0.5), {"repeat": True}),
        ((2.0, "boom", 0.5), {"period": 1.0}),
        ((2.0, "boom", 0.5), {"period": math.nan}),
    ],
)
def test_invalid_program_commands_are_refused(command, options):
    with pytest.raises(ParameterError):
        program_of(command, **options)


GOOD = """\
# a demonstration
repeat: true
period: 12.0
commands:
  - {time: 1, valve: boom_valve, value: 0.6, ramp: 0.5}
  - {time: 4.0, valve: boom_valve, value: 0}

  - time: 5.0
    joint: track_joint
    value: 7.5
"""


def write(tmp_path, text):
    path = tmp_path / "program.yaml"
    path.write_text(text)
    return path


def test_program_file_is_read(tmp_path):
    program = load_program(write(tmp_path, GOOD))
    assert program.repeat
    assert program.period == 12.0
    assert program.commands == (
        TimedCommand(1.0, "boom_valve", 0.6, 0.5, "valve", 5),
        TimedCommand(4.0, "boom_valve", 0.0, 0.0, "valve", 6),
        TimedCommand(5.0, "track_joint", 7.5, 0.0, "joint", 8),
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("valve: boom_valve, value: 0.6", "valv: boom_valve, value: 0.6", 5, "did you mean 'valve'"),
        ("value: 0.6", "value: 1.6", 5, "[-1, 1]"),
        ("value: 0.6", "value: .nan", 5, "finite"),
        ("value: 0.6", "value: fast", 5, "valid is a number"),
        ("value: 0.6", "value: true", 5, "valid is a number"),
        ("time: 4.0, ", "", 6, "time is missing"),
        ("time: 4.0", "time: -4.0", 6, ">= 0"),
        ("valve: boom_valve, value: 0}", "valve: boom_valve, joint: x, value: 0}", 6, "one valve, joint or twist"),
        ("valve: boom_valve, value: 0}", "value: 0}", 6, "one valve, joint or twist"),
        ("joint: track_joint", "joint: 5", 8, "valid is a name"),
        ("- {time: 4.0, valve: boom_valve, value: 0}", "- lower the boom", 6, "is not a command"),
        ("repeat: true", "repeat: 3", 1, "true or false"),
        ("period: 12.0", "period: long", 1, "valid is a number"),
        ("period: 12.0", "period: 2.0", None, "5 s"),
        ("period: 12.0", "perod: 12.0", 1, "did you mean 'period'"),
        ("commands:", "comands:", 1, "a list `commands`"),
        ("# a demonstration", "]", 1, "not valid YAML"),
        ("value: 7.5", "value: 1" + 400 * "0", 8, "finite"),
        ("# a demonstration", "!!python/object:os.system {}", None, "program.yaml"),
    ],
)
def test_invalid_program_file_error_has_line_and_reason(tmp_path, old, new, line, words):
    assert GOOD.count(old) == 1
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(MachineError) as caught:
        load_program(path)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)
    if line is not None:
        assert caught.value.line == line


@pytest.mark.parametrize("text", ["", "5", "commands: 5", "[" * 5000, "a: &a [*a]", "? {}\n: 1", "2020-99-99", "\x00"])
def test_file_without_commands_is_refused(tmp_path, text):
    with pytest.raises(MachineError):
        load_program(write(tmp_path, text))


def test_missing_program_file_is_refused(tmp_path):
    with pytest.raises(MachineError, match="no such file"):
        load_program(tmp_path / "nothing.yaml")


def test_program_names_are_checked_against_a_machine(tmp_path):
    program = load_program(write(tmp_path, GOOD))
    program.check(["boom_valve"], {"track_joint": "velocity"})
    with pytest.raises(MachineError, match="did you mean 'bom_valve'") as caught:
        program.check(["bom_valve"], ["track_joint"])
    assert caught.value.line == 5
    with pytest.raises(MachineError, match="no joint with a servo drive 'track_joint'"):
        program.check(["boom_valve", "track_joint"], [])


def test_program_commands_the_twist_of_a_vehicle(tmp_path):
    text = "commands:\n  - {time: 0.0, twist: x, value: 0.2}\n  - {time: 1.0, twist: yaw, value: 3.0, ramp: 1.0}\n"
    program = load_program(write(tmp_path, text))
    program.check([], [], TWIST)
    assert program.values(1.5) == {"twist.x": 0.2, "twist.yaw": 1.5}
    with pytest.raises(MachineError, match="no twist of driven wheels 'twist.x'"):
        program.check([], [])
    with pytest.raises(MachineError, match="did you mean 'twist.x'"):
        load_program(write(tmp_path, text.replace("twist: x", "twist: xx"))).check([], [], TWIST)
