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
from grouser.progress import LiveLine, showing_compilation

_BEGUN = r"preparing the physics \(only after an update\): \d+ s so far"
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


def test_progress_on_a_terminal_is_erased_at_the_end(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with showing_compilation():
        compile_something()
    shown = terminal.getvalue().split("\r")
    assert all(re.fullmatch(_BEGUN, text.rstrip()) for text in shown[1:-3])
    assert re.fullmatch(_ENDED, shown[-3].rstrip())
    assert shown[-2:] == [" " * len(shown[-3].rstrip()), ""]


def test_a_line_is_cut_to_the_width_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    terminal = Terminal()
    line = LiveLine(terminal)
    for text in ("123456789 123456789 123456789", "short"):
        line.show(text)
    line.erase()
    assert terminal.getvalue() == "\r123456789 123456789\r" + "short".ljust(19) + "\r     \r"


@pytest.mark.parametrize("share, left", [(None, None), (0.99, 999.0)])
def test_progress_fits_a_terminal_of_80_columns(share, left):
    assert len(progress_text(Progress(9999.0, share, left))) < 80


def test_a_terminal_shows_nothing_when_nothing_is_compiled(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with showing_compilation():
        pass
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("shown", [True, False], ids=["shown", "of itself"])
def test_progress_in_a_file_has_a_first_and_a_last_line(monkeypatch, shown):
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


def test_without_a_standard_error_stream_the_output_stays_clean(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    with showing_compilation():
        compile_something()
    compilation.meter().conclude()
    while compilation.meter()._thread is not None:
        time.sleep(0.01)
    assert capsys.readouterr().out == ""


def test_short_compilation_is_silent(monkeypatch):
    monkeypatch.setattr(compilation, "_SILENT_SECONDS", 100.0)
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    compile_something()
    assert file.getvalue() == ""


def test_compilations_in_sequence_are_reported_as_one(monkeypatch):
    monkeypatch.setattr(compilation, "_IDLE_SECONDS", 30.0)
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    compile_something()
    compile_something()
    compilation.meter().conclude()  # as when the process ends
    monkeypatch.setattr(compilation, "_IDLE_SECONDS", 0.0)
    assert len(file.getvalue().splitlines()) == 2


def test_functions_outside_the_package_are_not_reported():
    told = []
    with reporting_compilation(told.append):
        compile_something(numba.njit)
    assert told == []


def test_another_receiver_replaces_the_standard_error_stream(monkeypatch):
    file, told = io.StringIO(), []
    monkeypatch.setattr(sys, "stderr", file)
    with reporting_compilation(told.append):
        compile_something()
    assert [progress.ended for progress in told] == [False] * (len(told) - 1) + [True]
    assert len(told) > 1
    assert [progress.seconds for progress in told] == sorted(progress.seconds for progress in told)
    assert file.getvalue() == ""


def test_progress_text():
    assert progress_text(Progress(12.3)) == "preparing the physics (only after an update): 12 s so far"
    assert (
        progress_text(Progress(20.0, 0.4, 30.2))
        == "preparing the physics (only after an update): 40 %, about 30 s left"
    )
    assert progress_text(Progress(50.4, 1.0, 0.0)) == "the physics is prepared for this computer: it took 50 s"
