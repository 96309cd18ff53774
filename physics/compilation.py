"""How far the compiler is while somebody waits for it, in the same words for terminals, logs and scripts.

Nothing is said of what comes from the cache, nor of the first two seconds of compiling.
"""

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from numba.core import event

from grouser.physics.kernel_cache import KernelCache

_SILENT_SECONDS = 2.0


class Progress(NamedTuple):
    """How far the compiler is.

    Attributes:
        seconds: that it has taken [s].
        share: of the work that is done; None: it is not known how much there is. 1 where nothing is being compiled.
        left: that it still takes, by what it has taken so far [s]; None: not known.
    """

    seconds: float
    share: float | None = None
    left: float | None = None

    @property
    def ended(self) -> bool:
        """Nothing is being compiled, for now."""
        return self.share == 1.0


Report = Callable[[Progress], None]


def progress_text(progress: Progress) -> str:
    """What is shown to whoever waits."""
    if progress.ended:
        return f"the physics is prepared for this computer: it took {progress.seconds:.0f} s"
    if progress.share is None or progress.left is None:
        return f"preparing the physics for this computer: {progress.seconds:.0f} s so far (only after an update)"
    share, left = f"{100.0 * progress.share:.0f} %", max(1.0, progress.left)
    return f"preparing the physics for this computer: {share}, about {left:.0f} s left (only after an update)"


class _StandardError:
    """One line when somebody begins to wait, and one at the end: for scripts, whatever their output goes to."""

    def __init__(self):
        self._said = False
        self._before = 0.0

    def __call__(self, progress: Progress) -> None:
        if progress.ended and self._said:
            self._say(progress)
            self._said, self._before = False, progress.seconds
        elif not (progress.ended or self._said) and progress.seconds - self._before >= _SILENT_SECONDS:
            self._say(progress)
            self._said = True

    def _say(self, progress: Progress) -> None:
        spent = progress._replace(seconds=progress.seconds - self._before)
        print(progress_text(spent), file=sys.stderr, flush=True)


class _Meter(event.Listener):
    """Measures the time in which kernels are compiled, by this process or for it."""

    def __init__(self):
        self._lock = threading.RLock()
        self._depth = 0
        self._begun = self._spent = 0.0
        self._estimate: Callable[[], tuple[float, float]] | None = None
        self._reports: list[tuple[Report, float]] = [(_StandardError(), 0.0)]

    def on_start(self, event: event.Event) -> None:
        """Numba begins a function, perhaps in the middle of one that calls it."""
        if isinstance(event.data["dispatcher"]._cache, KernelCache):
            self.begin()

    def on_end(self, event: event.Event) -> None:
        """Numba has finished a function, and goes on with the one around it."""
        if isinstance(event.data["dispatcher"]._cache, KernelCache):
            self.end()

    def begin(self) -> None:
        """Something is compiled from now on."""
        with self._lock:
            if self._depth == 0:
                self._begun = time.monotonic()
            self._depth += 1
        self.tell()

    def end(self) -> None:
        """What began last has ended."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._spent += time.monotonic() - self._begun
        self.tell()

    def tell(self) -> None:
        """Has whoever is to be told know how far the compiler is."""
        with self._lock:
            report, before = self._reports[-1]
            seconds = self._total() - before
            if seconds < _SILENT_SECONDS:
                return
            if self._depth == 0:
                report(Progress(seconds, 1.0, 0.0))
            else:
                report(Progress(seconds, *(self._estimate() if self._estimate else ())))

    @contextmanager
    def estimating(self, estimate: Callable[[], tuple[float, float]]) -> Iterator[None]:
        """Knows meanwhile how much there is to compile: the share that is done, and the seconds that are left."""
        self._estimate = estimate
        self.begin()
        try:
            yield
        finally:
            self._estimate = None
            self.end()

    @contextmanager
    def reporting(self, report: Report) -> Iterator[None]:
        """Tells somebody else meanwhile."""
        with self._lock:
            entry = (report, self._total())
            self._reports.append(entry)
        try:
            yield
        finally:
            with self._lock:
                self._reports.remove(entry)

    def _total(self) -> float:
        return self._spent + (time.monotonic() - self._begun if self._depth else 0.0)


@functools.cache
def meter() -> _Meter:
    """The one of this process, which numba tells from now on."""
    measuring = _Meter()
    event.register("numba:compile", measuring)
    return measuring


@contextmanager
def reporting_compilation(report: Report) -> Iterator[None]:
    """Tells how far the compiler is meanwhile, and the standard error stream no more.

    Args:
        report: told by the thread that compiles, after each function; of jobs of several processes twice a second.
    """
    with meter().reporting(report):
        yield
