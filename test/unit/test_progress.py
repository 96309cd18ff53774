"""What is shown while something is compiled: really compiled, by the real compiler."""

import io
import re
import sys
import time

import numba
import pytest

from grouser.physics.base import compilation
from grouser.physics.base.compilation import Progress, progress_text, reporting_compilation
from grouser.physics.base.kernel import kernel
from grouser.progress import showing_compilation

_BEGUN = r"preparing the physics for this computer: \d+ s so far \(only after an update\)"
_ENDED = r"the physics is prepared for this computer: it took \d+ s"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """Nobody waits two seconds before it is said."""
    monkeypatch.setattr(compilation, "_SILENT_SECONDS", 0.0)
    monkeypatch.setattr(compilation, "_PERIOD", 0.001)
    monkeypatch.setattr(compilation, "_IDLE_SECONDS", 0.05)
    meter = compilation.meter()
    while meter._thread is not None:  # what an earlier test has compiled is at its end
        time.sleep(0.01)


def compile_something(decorate=kernel):
    factor = 0.5

    @decorate
    def halve(number):  # kept nowhere, as it has something from around it
        return factor * number

    assert halve(3.0) == 1.5


def test_a_terminal_shows_what_goes_on_and_is_left_clean(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with showing_compilation():
        compile_something()
    shown = terminal.getvalue().split("\r")
    assert all(re.fullmatch(_BEGUN, text.rstrip()) for text in shown[1:-3])
    assert re.fullmatch(_ENDED, shown[-3].rstrip())
    assert shown[-2:] == [" " * len(shown[-3].rstrip()), ""]


def test_a_terminal_shows_nothing_when_nothing_is_compiled(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with showing_compilation():
        pass
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("shown", [True, False], ids=["shown", "of itself"])
def test_a_file_is_told_when_it_begins_and_ends(monkeypatch, shown):
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    if shown:
        with showing_compilation():
            compile_something()
    else:
        compile_something()
    while compilation.meter()._thread is not None:
        time.sleep(0.01)
    begun, ended = file.getvalue().splitlines()
    assert re.fullmatch(_BEGUN, begun)
    assert re.fullmatch(_ENDED, ended)


def test_nothing_is_said_of_what_takes_no_time(monkeypatch):
    monkeypatch.setattr(compilation, "_SILENT_SECONDS", 100.0)
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    compile_something()
    assert file.getvalue() == ""


def test_what_is_compiled_one_after_the_other_is_one_wait(monkeypatch):
    monkeypatch.setattr(compilation, "_IDLE_SECONDS", 30.0)
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    compile_something()
    compile_something()
    compilation.meter().conclude()  # as when the process ends
    monkeypatch.setattr(compilation, "_IDLE_SECONDS", 0.0)
    assert len(file.getvalue().splitlines()) == 2


def test_functions_of_others_are_no_physics():
    told = []
    with reporting_compilation(told.append):
        compile_something(numba.njit)
    assert told == []


def test_whoever_asks_is_told_and_the_standard_error_stream_no_more(monkeypatch):
    file, told = io.StringIO(), []
    monkeypatch.setattr(sys, "stderr", file)
    with reporting_compilation(told.append):
        compile_something()
    assert [progress.ended for progress in told] == [False] * (len(told) - 1) + [True]
    assert len(told) > 1
    assert [progress.seconds for progress in told] == sorted(progress.seconds for progress in told)
    assert file.getvalue() == ""


def test_the_text():
    assert (
        progress_text(Progress(12.3)) == "preparing the physics for this computer: 12 s so far (only after an update)"
    )
    assert (
        progress_text(Progress(20.0, 0.4, 30.2))
        == "preparing the physics for this computer: 40 %, about 30 s left (only after an update)"
    )
    assert progress_text(Progress(50.4, 1.0, 0.0)) == "the physics is prepared for this computer: it took 50 s"
