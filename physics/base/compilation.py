"""How far the compiler is while somebody waits for it, in the same words for terminals, logs and scripts.

Nothing is said of what comes from the cache, nor of the first two seconds of compiling.
"""

import atexit
import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from numba.core import event

from grouser.physics.base.kernel_cache import KernelCache

_PERIOD = 0.5  # [s]
_SILENT_SECONDS = 2.0
_IDLE_SECONDS = 2.0  # after which it has ended


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

    def __call__(self, progress: Progress) -> None:
        if progress.ended == self._said:
            print(progress_text(progress), file=sys.stderr, flush=True)
            self._said = not progress.ended


class _Told:
    """Somebody who is told.

    Attributes:
        report: how.
        before: what had been spent when there was nothing to tell him yet [s].
        waits: he was told that something is compiled, and not yet that it has ended.
    """

    def __init__(self, report: Report, before: float):
        self.report, self.before, self.waits = report, before, False


class _Meter(event.Listener):
    """Measures the time in which kernels are compiled, by this process or for it; a thread tells of it meanwhile."""

    def __init__(self):
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._depth = 0
        self._begun = self._ended = self._spent = 0.0
        self._estimate: Callable[[], tuple[float, float]] | None = None
        self._told = [_Told(_StandardError(), 0.0)]

    def on_start(self, event: event.Event) -> None:
        """Numba begins a function, perhaps in the middle of one that calls it."""
        if isinstance(event.data["dispatcher"]._cache, KernelCache):
            self._begin()

    def on_end(self, event: event.Event) -> None:
        """Numba has finished a function, and goes on with the one around it."""
        if isinstance(event.data["dispatcher"]._cache, KernelCache):
            self._end()

    def conclude(self) -> None:
        """Tells whoever waits that nothing is compiled any more."""
        with self._lock:
            told, total = self._told[-1], self._total()
            if told.waits:
                told.report(Progress(total - told.before, 1.0, 0.0))
            told.waits, told.before = False, total

    @contextmanager
    def estimating(self, estimate: Callable[[], tuple[float, float]]) -> Iterator[None]:
        """Knows meanwhile how much there is to compile: the share that is done, and the seconds that are left."""
        self._estimate = estimate
        self._begin()
        try:
            yield
        finally:
            self._end()
            self._estimate = None

    @contextmanager
    def reporting(self, report: Report) -> Iterator[None]:
        """Tells somebody else meanwhile."""
        with self._lock:
            told = _Told(report, self._total())
            self._told.append(told)
        try:
            yield
        finally:
            with self._lock:
                if self._told[-1] is told:
                    self.conclude()
                self._told.remove(told)
                self._told[-1].before = self._total()

    def _begin(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._begun = time.monotonic()
            self._depth += 1
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="compilation progress", daemon=True)
                self._thread.start()

    def _end(self) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._ended = time.monotonic()
                self._spent += self._ended - self._begun

    def _run(self) -> None:
        """Tells until nothing has been compiled for a while: one function often follows upon another."""
        while True:
            time.sleep(_PERIOD)
            with self._lock:
                if self._depth:
                    self._tell()
                elif time.monotonic() - self._ended >= _IDLE_SECONDS:
                    self.conclude()
                    self._thread = None
                    return

    def _tell(self) -> None:
        told, estimate = self._told[-1], self._estimate
        seconds = self._total() - told.before
        if seconds >= _SILENT_SECONDS:
            told.waits = True
            told.report(Progress(seconds, *(estimate() if estimate else ())))

    def _total(self) -> float:
        return self._spent + (time.monotonic() - self._begun if self._depth else 0.0)


@functools.cache
def meter() -> _Meter:
    """The one of this process, which numba tells from now on."""
    measuring = _Meter()
    event.register("numba:compile", measuring)
    atexit.register(measuring.conclude)
    return measuring


@contextmanager
def reporting_compilation(report: Report) -> Iterator[None]:
    """Tells how far the compiler is meanwhile, and the standard error stream no more.

    Args:
        report: told by a thread of its own, twice a second while something is compiled, and once when it has ended.
    """
    with meter().reporting(report):
        yield
