"""Command supervision: program, sources, silence watchdog; and the mailbox between the threads."""

import threading
from concurrent.futures import CancelledError

import pytest

import grouser
from grouser.function_blocks.reader import load_diagram
from grouser.physics.base.errors import ParameterError
from grouser.program import CommandProgram, TimedCommand
from grouser.runtime.mailbox import Mailbox
from grouser.runtime.program_playing import DiagramPlayer, TimedPlayer
from grouser.runtime.supervision import CommandSupervisor

SAFE = {"boom": 0.0, "stick": 0.0, "drum": 0.0}  # the mast is in position mode and holds


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def supervisor(warnings):
    return CommandSupervisor(0.001, 0.5, SAFE, None, warnings.append)


def test_only_received_commands_pass(supervisor):
    assert supervisor.commands(0, {}) == {}
    assert supervisor.commands(10, {"valves": {"boom": 0.5}}) == {"boom": 0.5}
    assert supervisor.commands(20, {}) == {}


def test_source_may_have_its_own_timeout(warnings):
    supervisor = CommandSupervisor(0.001, 0.5, SAFE, None, warnings.append, {"joints": 0.2, "valves": 0.0})
    supervisor.commands(0, {"valves": {"boom": 0.5}, "joints": {"drum": 2.0}, "others": {"stick": 0.3}})
    assert supervisor.commands(199, {}) == {}
    assert supervisor.commands(200, {}) == {"drum": 0.0}
    assert supervisor.commands(500, {}) == {"stick": 0.0}
    assert supervisor.commands(100_000, {}) == {}
    assert [warning.split(":")[0] for warning in warnings] == [
        "joints has been silent for 0.2 s",
        "others has been silent for 0.5 s",
    ]


def test_silence_continues_after_a_rewind(supervisor):
    supervisor.commands(1000, {"valves": {"boom": 0.5}})
    supervisor.rewind(1300)
    assert supervisor.commands(199, {}) == {}
    assert supervisor.commands(200, {}) == {"boom": 0.0}


def test_silent_source_loses_its_actuators_once(supervisor, warnings):
    supervisor.commands(0, {"valves": {"boom": 0.5}, "joints": {"mast": 1.0, "drum": 2.0}})
    supervisor.commands(400, {"valves": {"boom": 0.4}})
    assert supervisor.commands(499, {}) == {}
    assert supervisor.commands(500, {}) == {"drum": 0.0}
    assert supervisor.silent_sources == ("joints",)
    assert supervisor.commands(510, {}) == {}
    assert supervisor.commands(900, {}) == {"boom": 0.0}
    assert supervisor.trips == 2
    assert len(warnings) == 2
    assert "joints" in warnings[0]


def test_source_that_commands_again_is_accepted(supervisor):
    supervisor.commands(0, {"valves": {"boom": 0.5}})
    supervisor.commands(500, {})
    assert supervisor.commands(600, {"valves": {"boom": 0.2}}) == {"boom": 0.2}
    assert supervisor.silent_sources == ()
    assert supervisor.commands(1100, {}) == {"boom": 0.0}


def test_actuator_belongs_to_the_latest_source(supervisor):
    supervisor.commands(0, {"valves": {"boom": 0.5, "stick": 0.5}})
    supervisor.commands(300, {"array": {"boom": 0.3}})
    assert supervisor.commands(500, {}) == {"stick": 0.0}
    assert supervisor.commands(800, {}) == {"boom": 0.0}


def test_source_without_actuators_may_be_silent(supervisor, warnings):
    supervisor.commands(0, {"valves": {"boom": 0.5}})
    supervisor.commands(300, {"array": {"boom": 0.3}})
    assert supervisor.commands(500, {}) == {}
    assert supervisor.silent_sources == ()
    assert supervisor.trips == 0
    assert not warnings
    assert supervisor.commands(800, {}) == {"boom": 0.0}
    assert supervisor.silent_sources == ("array",)


def test_without_a_timeout_silence_is_allowed(supervisor):
    supervisor.timeout = 0.0
    supervisor.commands(0, {"valves": {"boom": 0.5}})
    assert supervisor.commands(10**9, {}) == {}


def test_reset_clears_the_sources(supervisor):
    supervisor.commands(0, {"valves": {"boom": 0.5}})
    supervisor.reset(100)
    assert supervisor.commands(700, {}) == {}


@pytest.fixture
def player(warnings):
    program = CommandProgram([TimedCommand(1.0, "boom", 0.5), TimedCommand(2.0, "mast", 1.0, 1.0, "joint")])
    return CommandSupervisor(0.001, 0.5, SAFE, TimedPlayer(program, {"mast": 0.5}, 0.001), warnings.append)


def test_program_plays_without_timeout(player):
    assert player.commands(0, {}) == {}
    assert player.commands(1000, {}) == {"boom": 0.5}
    assert player.program_state(1000) == "playing"
    assert player.commands(2500, {}) == {"boom": 0.5, "mast": pytest.approx(0.75)}
    assert player.program_state(3000) == "finished"
    assert player.trips == 0


def test_any_source_takes_over_from_the_program(player, warnings):
    player.commands(1000, {})
    assert player.commands(1500, {"valves": {"stick": 0.2}}) == {"boom": 0.0, "stick": 0.2}
    assert player.program_state(1500) == "stopped"
    assert player.commands(1600, {}) == {}
    assert "valves took over" in warnings[0]


def test_program_restarts_with_a_reset(player):
    player.commands(1500, {"valves": {"stick": 0.2}})
    player.reset(2000)
    assert player.commands(2500, {}) == {}
    assert player.commands(3000, {}) == {"boom": 0.5}


def test_program_continues_after_a_rewind(player):
    player.commands(900, {})
    player.rewind(900)
    assert player.commands(99, {}) == {}
    assert player.commands(100, {}) == {"boom": 0.5}


def test_stopped_program_stays_stopped(player):
    player.stop_program()
    assert player.commands(1000, {}) == {}
    assert player.program_state(1000) == "stopped"


def test_later_commands_replace_earlier_ones_of_the_same_source():
    mailbox = Mailbox()
    mailbox.post_commands("valves", {"boom": 0.1, "stick": 0.2})
    mailbox.post_commands("array", {"boom": 0.3})
    mailbox.post_commands("valves", {"boom": 0.4})
    taken = mailbox.take_commands()
    assert taken == {"array": {"boom": 0.3}, "valves": {"boom": 0.4, "stick": 0.2}}
    assert list(taken) == ["array", "valves"]
    assert mailbox.take_commands() == {}


def test_calls_run_in_the_thread_of_run_calls():
    mailbox = Mailbox()
    future = mailbox.call(lambda loop: (loop, threading.get_ident()))
    assert mailbox.attention.is_set()
    server = threading.Thread(target=mailbox.run_calls, args=("loop",))
    server.start()
    ident = server.ident
    server.join()
    assert future.result() == ("loop", ident)
    assert ident != threading.get_ident()
    assert not mailbox.attention.is_set()


def test_closed_mailbox_cancels_calls():
    mailbox = Mailbox()
    early = mailbox.call(id)
    mailbox.close()
    late = mailbox.call(id)
    for future in (early, late):
        with pytest.raises(CancelledError):
            future.result(0)


def test_closed_mailbox_keeps_attention_set():
    mailbox = Mailbox()
    mailbox.close()
    mailbox.run_calls("loop")
    assert mailbox.attention.is_set()


def test_exception_of_a_call_reaches_caller_and_thread():
    mailbox = Mailbox()
    failing = mailbox.call(lambda loop: loop["missing"])
    behind = mailbox.call(len)
    with pytest.raises(KeyError, match="missing"):
        mailbox.run_calls({})
    assert isinstance(failing.exception(0), KeyError)
    mailbox.close()
    assert behind.cancelled()


def test_call_may_run_the_calls_behind_it():
    mailbox = Mailbox()
    served = []
    mailbox.call(lambda loop: (mailbox.run_calls(loop), served.append("first")))
    mailbox.call(lambda loop: served.append("second"))
    mailbox.run_calls("loop")
    assert served == ["second", "first"]


DIAGRAM = """cycle: 0.004
blocks:
  half: {type: MUL, IN1: operator.lift_valve, IN2: 0.5}
  late: {type: TON, IN: true, PT: 0.006}
  lever: {type: SEL, G: late, IN0: 0.0, IN1: half}
commands:
  lift_valve: lever
"""


@pytest.fixture(scope="module")
def lift():
    return grouser.Simulation(grouser.load_machine("hydraulic_lift"), grouser.load_world("flat"))


@pytest.fixture
def interlocked(warnings, lift, tmp_path):
    """A valve whose lever a diagram halves, from the third cycle on; another actuator is free."""
    file = tmp_path / "half.yaml"
    file.write_text(DIAGRAM)
    player = DiagramPlayer(load_diagram(file), lift.signals, False, 0.001)
    return CommandSupervisor(0.001, 0.1, {"lift_valve": 0.0, "other": 0.0}, player, warnings.append)


def test_a_diagram_takes_what_operators_command(interlocked, warnings):
    assert interlocked.commands(0, {"valves": {"lift_valve": 0.8, "other": 0.3}}) == {"lift_valve": 0.0, "other": 0.3}
    assert interlocked.steps_to_next(0) == 4 and interlocked.steps_to_next(1) == 3
    assert interlocked.commands(2, {"valves": {"lift_valve": 0.6}}) == {}  # between two cycles
    assert interlocked.commands(4, {}) == {"lift_valve": 0.0}
    assert interlocked.commands(8, {}) == {"lift_valve": 0.3}
    assert interlocked.program_state(8) == "playing"
    assert not warnings
    assert interlocked.commands(104, {}) == {"lift_valve": 0.0, "other": 0.0}  # silent for 0.1 s
    assert len(warnings) == 1


def test_a_diagram_is_not_passed_by(lift, warnings, tmp_path):
    """Commands that it does not read are refused, told once; those it reads do not reach the valve while it stands."""
    file = tmp_path / "fixed.yaml"
    file.write_text(DIAGRAM.replace("operator.lift_valve", "0.4"))
    supervisor = CommandSupervisor(
        0.001, 0.0, {"lift_valve": 0.0}, DiagramPlayer(load_diagram(file), lift.signals, False, 0.001), warnings.append
    )
    for step in (0, 4, 8):
        assert supervisor.commands(step, {"valves": {"lift_valve": 1.0}}) == {"lift_valve": 0.2 if step == 8 else 0.0}
    (told,) = warnings
    assert "reads operator.lift_valve" in told


def test_a_stop_halts_a_diagram_until_it_is_released(interlocked):
    for step in (0, 4, 8):
        interlocked.commands(step, {"valves": {"lift_valve": 0.8}})
    interlocked.stop_program()
    assert interlocked.commands(12, {"valves": {"lift_valve": 0.8}}) == {}
    assert interlocked.program_state(12) == "stopped"
    interlocked.release(13)
    assert interlocked.commands(13, {}) == {"lift_valve": 0.0}  # from its start, and the lever is to move first
    assert interlocked.commands(14, {"valves": {"lift_valve": 0.8}}) == {}
    assert interlocked.commands(17, {}) == {"lift_valve": 0.0}
    assert interlocked.commands(21, {}) == {"lift_valve": 0.4}


def test_a_block_that_fails_stops_the_diagram(lift, warnings, tmp_path):
    (tmp_path / "mine.py").write_text("def bad(x):\n    raise ValueError('no')\n")
    file = tmp_path / "bad.yaml"
    file.write_text(
        "cycle: 0.004\nblocks:\n  bad: {type: FUNCTION, in: {x: lift}, function: 'mine.py:bad'}\n"
        "commands:\n  lift_valve: bad\n"
    )
    supervisor = CommandSupervisor(
        0.001, 0.0, {"lift_valve": 0.0}, DiagramPlayer(load_diagram(file), lift.signals, False, 0.001), warnings.append
    )
    assert supervisor.commands(0, {}) == {"lift_valve": 0.0}
    assert supervisor.program_state(0) == "stopped" and supervisor.commands(4, {}) == {}
    supervisor.release(5)
    assert supervisor.program_state(5) == "stopped"
    (told,) = warnings
    assert "block bad: ValueError: no" in told


def test_a_cycle_is_a_whole_number_of_steps(lift, tmp_path):
    file = tmp_path / "half.yaml"
    file.write_text(DIAGRAM)
    with pytest.raises(ParameterError, match="a whole number of steps of 0.003 s"):
        DiagramPlayer(load_diagram(file), lift.signals, False, 0.003)
