"""Shows what is compiled while somebody waits for it."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from grouser.physics.base.kernel import reporting_compilation


def compilation_text(count: int, name: str, seconds: float) -> str:
    """How far the compiler is: the number of functions that are done, the present one, the time that went by."""
    return f"compiling the physics: {count} function{'s' * (count > 1)}, {name}, {seconds:.0f} s"


@contextmanager
def showing_compilation() -> Iterator[None]:
    """Shows what is compiled meanwhile as one line on a terminal, wiped away at the end; elsewhere says nothing."""
    if not sys.stderr.isatty():
        yield
        return
    started = time.monotonic()
    width = 0

    def show(count: int, name: str) -> None:
        nonlocal width
        text = compilation_text(count, name, time.monotonic() - started)
        print(f"\r{text:<{width}}", end="", file=sys.stderr, flush=True)
        width = len(text)

    try:
        with reporting_compilation(show):
            yield
    finally:
        if width:
            print(f"\r{'':{width}}\r", end="", file=sys.stderr, flush=True)
