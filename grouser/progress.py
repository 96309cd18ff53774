"""Progress of compilation on the standard error."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from grouser.physics.base.compilation import Progress, progress_text, reporting_compilation


@contextmanager
def showing_compilation() -> Iterator[None]:
    """Shows progress as one line on a terminal, erased at the end.

    Elsewhere one line at the start and one at the end.
    """
    if not sys.stderr.isatty():
        yield
        return
    width = 0

    def show(progress: Progress) -> None:
        nonlocal width
        text = progress_text(progress)
        print(f"\r{text:<{width}}", end="", file=sys.stderr, flush=True)
        width = len(text)

    try:
        with reporting_compilation(show):
            yield
    finally:
        if width:
            print(f"\r{'':{width}}\r", end="", file=sys.stderr, flush=True)
