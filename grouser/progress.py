"""Progress in one line of a terminal."""

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from grouser.physics.base.compilation import Progress, progress_text, reporting_compilation


class LiveLine:
    """The last line of a terminal, which is rewritten. It is cut to the width, as a wrapped line cannot be."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._length = 0

    def show(self, text: str) -> None:
        """Replaces the line."""
        width = shutil.get_terminal_size().columns - 1
        text = text[:width]
        print(f"\r{text:<{min(self._length, width)}}", end="", file=self._terminal, flush=True)
        self._length = len(text)

    def erase(self) -> None:
        """Erases the line."""
        if self._length:
            self.show("")
            print(end="\r", file=self._terminal, flush=True)

    def keep(self) -> None:
        """Begins a new line below."""
        if self._length:
            print(file=self._terminal)
            self._length = 0


@contextmanager
def showing_compilation() -> Iterator[None]:
    """Shows progress as one line on a terminal, erased at the end.

    Elsewhere one line at the start and one at the end.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    line = LiveLine(sys.stderr)

    def show(progress: Progress) -> None:
        line.show(progress_text(progress))

    try:
        with reporting_compilation(show):
            yield
    finally:
        line.erase()


_SILENT = 2.0  # Work up to so long shows nothing [s].


@contextmanager
def showing_work(name: str) -> Iterator[None]:
    """Shows on a terminal how long work has been going on, from two seconds on, and the progress of compiling.

    Elsewhere one line tells after two seconds that the work is going on.

    Args:
        name: of the work.
    """
    stream = sys.stderr
    if stream is None:
        yield
        return
    begin, done = time.monotonic(), threading.Event()
    line = LiveLine(stream)
    busy = threading.Lock()  # Two threads write the line.
    compiling = False

    def show_compilation(progress: Progress) -> None:
        nonlocal compiling
        with busy:
            compiling = not progress.ended
            line.show(progress_text(progress))

    def tick() -> None:
        if done.wait(_SILENT):
            return
        if not stream.isatty():
            print(f"{name}: computing", file=stream, flush=True)
            return
        while not done.is_set():
            with busy:
                if not compiling:
                    line.show(f"{name}: computing for {time.monotonic() - begin:.0f} s")
            done.wait(1.0)

    thread = threading.Thread(target=tick, name="progress", daemon=True)
    thread.start()
    try:
        if stream.isatty():
            with reporting_compilation(show_compilation):
                yield
        else:
            yield
    finally:
        done.set()
        thread.join()
        line.erase()


_REPORTS_EVERY = 10.0  # Of counted work, where there is no terminal [s].


class CountedWork:
    """Shows how much of counted work is done, and the time left; used in a `with` statement.

    On a terminal it is one line that is rewritten; elsewhere a line every ten seconds.

    Args:
        name: of what is counted, in the plural.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._stream = sys.stderr
        self._line = LiveLine(self._stream) if self._stream is not None and self._stream.isatty() else None

    def __enter__(self) -> "CountedWork":
        self._begin = self._shown = time.monotonic()
        self._before: int | None = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.erase()

    def show(self, done: int, failed: int, total: int) -> None:
        """Takes counts: of what is done, of failures among it, of all. What the first call tells was done before."""
        now = time.monotonic()
        if self._before is None:
            self._before, self._begin = done, now
        text = progress_of(self._name, (done, failed, total), done - self._before, now - self._begin)
        if self._line is not None:
            self._line.show(text)
        elif self._stream is not None and now - self._shown >= _REPORTS_EVERY:
            self._shown = now
            print(text, file=self._stream, flush=True)


def progress_of(name: str, counts: tuple[int, int, int], new: int, seconds: float) -> str:
    """Returns counted work in words.

    Args:
        name: of what is counted, in the plural.
        counts: of what is done, of failures among it, and of all.
        new: how many of the done are from this time.
        seconds: that these have taken [s].
    """
    done, failed, total = counts
    text = f"{done} of {total} {name}"
    if failed:
        text += f", {failed} failed"
    if new and seconds > 0.0:
        left = round((total - done) * seconds / new)
        hours, minutes = divmod(left // 60, 60)
        text += f", {new / seconds:.3g} a second, {hours}:{minutes:02d}:{left % 60:02d} left"
    return text
