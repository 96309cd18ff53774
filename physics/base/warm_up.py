"""Compiles kernels that do not depend on each other in several processes at once, and loads them from the cache.

A process gets one job after the other, the longest first. Whatever goes wrong with it, this process compiles what is
left by itself.
"""

import contextlib
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

from numba.core.serialize import dumps

from grouser.physics.base.compilation import meter
from grouser.physics.base.kernel_cache import KernelCache

# Expected time below which a process of its own is not worth its start [s].
_WORTHWHILE = 3.0
_WORKER = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import work; work()"


class Job(NamedTuple):
    """A kernel that is to be compiled for certain arguments.

    Attributes:
        module: that has the kernel.
        function: its name there.
        arguments: numba's types of what it is called with.
        cost: time that it takes to compile it, with all that it calls, in relation to other jobs: seconds on some
            computer [s].
    """

    module: str
    function: str
    arguments: tuple[Any, ...]
    cost: float

    @property
    def kernel(self) -> Any:
        """The kernel itself."""
        return getattr(import_module(self.module), self.function)


def compile_together(jobs: Sequence[Job]) -> None:
    """Compiles what is not in the cache, and loads everything; whoever `reporting_compilation` names is told.

    With all jobs in the cache this takes what loading them takes.

    Raises:
        numba.core.errors.NumbaError: of a kernel that cannot be compiled.
    """
    missing = sorted((job for job in jobs if not _is_there(job)), key=lambda job: -job.cost)
    if missing:
        _Crew(missing).work_off()
    for job in jobs:
        job.kernel.compile(job.arguments)


def _is_there(job: Job) -> bool:
    kernel = job.kernel
    return tuple(job.arguments) in kernel.overloads or kernel._cache.holds(job.arguments, kernel.targetctx)


class _Crew:
    """Processes, a thread for each, and the jobs that nobody has begun."""

    def __init__(self, jobs: list[Job]):
        self._waiting = queue.SimpleQueue()
        for job in jobs:
            self._waiting.put(job)
        self._plan = Plan([job.cost for job in jobs], _size(jobs))
        self._failed: list[Job] = []
        self._processes: list[subprocess.Popen] = []
        self._threads = [threading.Thread(target=self._employ, daemon=True) for _ in range(_size(jobs))]

    def work_off(self) -> None:
        """Compiles all jobs."""
        with meter().estimating(self._plan.estimate):
            if len(self._threads) > 1:
                self._wait_for_others()
            while job := self._failed.pop() if self._failed else self._next():
                with self._plan.working_on(job.cost):
                    job.kernel.compile(job.arguments)

    def _wait_for_others(self) -> None:
        try:
            for thread in self._threads:
                thread.start()
            for thread in self._threads:
                thread.join()
        finally:  # whoever interrupts this wants nothing compiled any more
            for process in self._processes:
                process.kill()

    def _next(self) -> Job | None:
        with contextlib.suppress(queue.Empty):
            return self._waiting.get_nowait()
        return None

    def _employ(self) -> None:
        """Has one process compile until nothing is left, or it fails: then nothing more is asked of it."""
        path = json.dumps([str(Path(folder).absolute()) for folder in sys.path])
        command = [sys.executable, "-c", _WORKER.format(module=__name__), path]
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError:
            return
        self._processes.append(process)
        with process:
            while job := self._next():
                with self._plan.working_on(job.cost):
                    done = _hand_over(job, process)
                if not done:
                    self._failed.append(job)
                    break
            process.kill()


def _size(jobs: list[Job]) -> int:
    """How many processes compile; 1: this one alone."""
    if not sys.executable or sum(job.cost for job in jobs) < _WORTHWHILE:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, len(jobs))


def _hand_over(job: Job, process: subprocess.Popen) -> bool:
    """Whether a process has compiled a job, and kept the code."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(dumps(tuple(job)))
        process.stdin.flush()
    except (OSError, pickle.PicklingError):
        return False
    return process.stdout.read(1) == b"1"


class Plan:
    """How much of some jobs is done, and how long the rest takes.

    Args:
        costs: of all jobs.
        workers: how many are done at once.
    """

    def __init__(self, costs: Sequence[float], workers: int):
        self._lock = threading.Lock()
        self._total = self._ahead = sum(costs)
        self._workers = workers
        self._running: dict[object, tuple[float, float]] = {}
        self._expected = self._taken = 0.0
        self._share = 0.0

    @contextlib.contextmanager
    def working_on(self, cost: float):
        """A job is worked on meanwhile."""
        key, begun = object(), time.monotonic()
        with self._lock:
            self._running[key] = cost, begun
            self._ahead -= cost
        yield
        with self._lock:
            del self._running[key]
            self._expected += cost
            self._taken += time.monotonic() - begun

    def estimate(self) -> tuple[float, float]:
        """Share of the work that is done, and seconds that are left; the share never shrinks."""
        now = time.monotonic()
        with self._lock:
            elapsed = [(cost, now - begun) for cost, begun in self._running.values()]
            taken, expected = self._taken, self._expected
            if not expected:  # no job to judge by but those that go on: a minute for a job of ten seconds tells
                taken, expected = max([(time, cost) for cost, time in elapsed if time > cost], default=(1.0, 1.0))
            pace = taken / expected
            # a job that takes longer than expected is nearly done
            rest = [max(cost * pace - time, 0.05 * cost * pace) for cost, time in elapsed]
            seconds = sum(rest) + self._ahead * pace
            left = max([seconds / self._workers, *rest])
            self._share = max(self._share, min(0.99, 1.0 - seconds / (pace * self._total)))
            return self._share, left


def work() -> None:
    """A process of a crew: compiles the jobs that come in by the standard input, one byte in answer to each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the one who employs it decides
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever else is printed is no answer
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, jobs), daemon=True).start()
    while True:
        answers.write(b"1" if _compile(jobs.get()) else b"0")


def _receive(stream: IO[bytes], jobs: queue.SimpleQueue) -> None:
    """Reads jobs; when whoever sends them is gone, the process ends, whatever it is compiling."""
    try:
        while True:
            jobs.put(Job(*pickle.load(stream)))
    finally:
        os._exit(1)


def _compile(job: Job) -> bool:
    kernel = job.kernel
    kernel.compile(job.arguments)
    return isinstance(kernel._cache, KernelCache) and kernel._cache.holds(job.arguments, kernel.targetctx)
