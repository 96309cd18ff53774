"""Progress of the compiler, reported in the same words to terminals, logs and scripts.

Code from the cache is not reported, nor are the first two seconds of compiling.
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
_IDLE_SECONDS = 2.0  # without compiling, after which the end is reported


class Progress(NamedTuple):
    """Progress of the compiler.

    Attributes:
        seconds: time that compiling has taken [s].
        share: completed share of the work; None: the amount of work is unknown. 1 where nothing is being compiled.
        left: estimated time to completion, from the time taken so far [s]; None: unknown.
    """

    seconds: float
    share: float | None = None
    left: float | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing is being compiled at present."""
        return self.share == 1.0


Report = Callable[[Progress], None]


def progress_text(progress: Progress) -> str:
    """The progress as a message for the user."""
    if progress.ended:
        return f"the physics is prepared for this computer: it took {progress.seconds:.0f} s"
    doing = "preparing the physics (only after an update)"
    if progress.share is None or progress.left is None:
        return f"{doing}: {progress.seconds:.0f} s so far"
    return f"{doing}: {100.0 * progress.share:.0f} %, about {max(1.0, progress.left):.0f} s left"


class _StandardError:
    """Prints one line when waiting begins and one at the end: scripts get them wherever their output goes."""

    def __init__(self):
        self._printed = False

    def __call__(self, progress: Progress) -> None:
        if progress.ended == self._printed and sys.stderr is not None:  # None, if closed: print would take the output
            print(progress_text(progress), file=sys.stderr, flush=True)
            self._printed = not progress.ended


class _Receiver:
    """A receiver of progress reports.

    Attributes:
        report: function that is called with the progress.
        before: compile time spent before the first report to this receiver [s].
        waiting: whether compiling has been reported, and its end has not.
    """

    def __init__(self, report: Report, before: float):
        self.report, self.before, self.waiting = report, before, False


class _Meter(event.Listener):
    """Measures the time in which kernels are compiled, by this process or for it; a thread reports it meanwhile."""

    def __init__(self):
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._depth = 0
        self._begun = self._ended = self._spent = 0.0
        self._estimate: Callable[[], tuple[float, float]] | None = None
        self._receivers = [_Receiver(_StandardError(), 0.0)]

    def on_start(self, event: event.Event) -> None:
        """Numba starts to compile a function, perhaps in the middle of one that calls it."""
        if isinstance(event.data["dispatcher"]._cache, KernelCache):
            self._begin()

    def on_end(self, event: event.Event) -> None:
        """Numba has compiled a function, and continues with its caller."""
        if isinstance(event.data["dispatcher"]._cache, KernelCache):
            self._end()

    def conclude(self) -> None:
        """Reports the end of compiling to a receiver that waits."""
        with self._lock:
            receiver, total = self._receivers[-1], self._total()
            if receiver.waiting:
                receiver.report(Progress(total - receiver.before, 1.0, 0.0))
            receiver.waiting, receiver.before = False, total

    @contextmanager
    def estimating(self, estimate: Callable[[], tuple[float, float]]) -> Iterator[None]:
        """Uses an estimate meanwhile: completed share of the work, and seconds left."""
        self._estimate = estimate
        self._begin()
        try:
            yield
        finally:
            self._end()
            self._estimate = None

    @contextmanager
    def reporting(self, report: Report) -> Iterator[None]:
        """Reports to another receiver meanwhile."""
        with self._lock:
            receiver = _Receiver(report, self._total())
            self._receivers.append(receiver)
        try:
            yield
        finally:
            with self._lock:
                if self._receivers[-1] is receiver:
                    self.conclude()
                self._receivers.remove(receiver)
                self._receivers[-1].before = self._total()

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
        """Reports until nothing has been compiled for a while: one function often follows another."""
        while True:
            time.sleep(_PERIOD)
            with self._lock:
                if self._depth:
                    self._report()
                elif time.monotonic() - self._ended >= _IDLE_SECONDS:
                    self.conclude()
                    self._thread = None
                    return

    def _report(self) -> None:
        receiver, estimate = self._receivers[-1], self._estimate
        seconds = self._total() - receiver.before
        if seconds >= _SILENT_SECONDS:
            receiver.waiting = True
            receiver.report(Progress(seconds, *(estimate() if estimate else ())))

    def _total(self) -> float:
        return self._spent + (time.monotonic() - self._begun if self._depth else 0.0)


@functools.cache
def meter() -> _Meter:
    """The meter of this process, which receives numba's events from the first call on."""
    measuring = _Meter()
    event.register("numba:compile", measuring)
    atexit.register(measuring.conclude)
    return measuring


@contextmanager
def reporting_compilation(report: Report) -> Iterator[None]:
    """Reports the compiler's progress to a function meanwhile, instead of the standard error stream.

    Args:
        report: called by a thread of its own, twice a second while something is compiled, and once at the end.
    """
    with meter().reporting(report):
        yield
