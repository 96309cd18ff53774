"""Progress in one line of a terminal."""

import shutil
import sys
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
