"""What is shown while something is compiled: really compiled, by the real compiler."""

import io
import sys

import numba

from grouser.progress import compilation_text, showing_compilation


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def compile_something():
    @numba.njit
    def halve(number):
        return 0.5 * number

    assert halve(3.0) == 1.5


def test_a_terminal_shows_what_is_compiled_and_is_left_clean(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with showing_compilation():
        compile_something()
    shown = terminal.getvalue().split("\r")
    assert shown[1].startswith("compiling the physics: 1 function, halve, ")
    assert shown[-2:] == [" " * len(shown[1]), ""]


def test_a_terminal_shows_nothing_when_nothing_is_compiled(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with showing_compilation():
        pass
    compile_something()
    assert terminal.getvalue() == ""


def test_a_file_is_told_nothing(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with showing_compilation():
        compile_something()
    assert file.getvalue() == ""


def test_the_text():
    assert compilation_text(43, "make_step", 21.4) == "compiling the physics: 43 functions, make_step, 21 s"
