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
