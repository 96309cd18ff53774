"""Compiles independent kernels in several processes at once, and loads them from the cache.

Each process gets one job after the other, the longest first. If a process fails, this process compiles the remaining
jobs itself.
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
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

from numba.core.serialize import dumps

from grouser.physics.base.compilation import meter
from grouser.physics.base.kernel_cache import KernelCache, can_keep

# Expected time below which starting more processes costs more than it saves [s].
_WORTHWHILE = 3.0
# Threads that need the same kernels wait for the first, which compiles them.
_TURN = threading.Lock()
_WORKER = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import work; work()"


Clock = Callable[[], float]


class Job(NamedTuple):
    """A kernel to compile for certain argument types.

    Attributes:
        module: module of the kernel.
        function: its name there.
        arguments: numba's types of its arguments.
        cost: time to compile it with all that it calls, relative to other jobs: seconds on a reference computer [s].
    """

    module: str
    function: str
    arguments: tuple[Any, ...]
    cost: float

    @property
    def kernel(self) -> Any:
        """The kernel."""
        return getattr(import_module(self.module), self.function)


def compile_together(jobs: Sequence[Job]) -> None:
    """Compiles what is not in the cache, and loads everything; reports to the receiver set by `reporting_compilation`.

    With all jobs in the cache, this takes only the time to load them.

    Raises:
        numba.core.errors.NumbaError: of a kernel that cannot be compiled.
    """
    with _TURN:
        missing = sorted((job for job in jobs if not _is_cached(job)), key=lambda job: -job.cost)
        if missing:
            _WorkerPool(missing).compile_all()
        for job in jobs:
            job.kernel.compile(job.arguments)


def _is_cached(job: Job) -> bool:
    kernel = job.kernel
    return tuple(job.arguments) in kernel.overloads or kernel._cache.holds(job.arguments, kernel.targetctx)


class _WorkerPool:
    """Processes, a thread for each, and the queue of jobs."""

    def __init__(self, jobs: list[Job]):
        self._waiting = queue.SimpleQueue()
        for job in jobs:
            self._waiting.put(job)
        self._plan = Plan([job.cost for job in jobs])
        self._failed: list[Job] = []
        self._processes: list[subprocess.Popen] = []
        self._threads = [threading.Thread(target=self._run_worker, daemon=True) for _ in range(_size(jobs))]

    def compile_all(self) -> None:
        """Compiles all jobs."""
        with meter().estimating(self._plan.estimate):
            if len(self._threads) > 1:
                self._run_workers()
            while job := self._failed.pop() if self._failed else self._next():
                with self._plan.working_on(job.cost, time.process_time):
                    job.kernel.compile(job.arguments)

    def _run_workers(self) -> None:
        try:
            for thread in self._threads:
                thread.start()
            for thread in self._threads:
                thread.join()
        finally:  # after an interrupt nothing more need be compiled
            for process in self._processes:
                process.kill()

    def _next(self) -> Job | None:
        with contextlib.suppress(queue.Empty):
            return self._waiting.get_nowait()
        return None

    def _run_worker(self) -> None:
        """Runs one process until the queue is empty or the process fails."""
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
                with self._plan.working_on(job.cost, partial(_processor_time, process)):
                    done = _compile_in(job, process)
                if not done:
                    self._failed.append(job)
                    break
            process.kill()


def _size(jobs: list[Job]) -> int:
    """Number of processes that compile; 1: this one alone."""
    if not sys.executable or sum(job.cost for job in jobs) < _WORTHWHILE or not can_keep():
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, len(jobs))


def _processor_time(process: subprocess.Popen) -> float:
    """Processor time that another process has taken [s]: its clock of clock_getcpuclockid. 0 where there is none."""
    try:
        return time.clock_gettime(~process.pid << 3 | 2)
    except OSError:  # it has ended
        return 0.0


def _compile_in(job: Job, process: subprocess.Popen) -> bool:
    """Compiles a job in another process; returns whether it did and stored the code."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(dumps(tuple(job)))
        process.stdin.flush()
    except (OSError, pickle.PicklingError):
        return False
    return process.stdout.read(1) == b"1"


class Plan:
    """Completed share of some jobs, and time left, by the processor time that they have taken.

    The share grows while a job runs, and other programs that keep the processor busy slow it down, as they do the work.

    Args:
        costs: cost of each job.
    """

    def __init__(self, costs: Sequence[float]):
        self._lock = threading.Lock()
        self._total = sum(costs)
        self._begun = time.monotonic()
        self._running: dict[object, tuple[float, float, Clock]] = {}
        self._expected = self._taken = 0.0  # by the jobs that have ended: their costs, and their processor time
        self._share = 0.0

    @contextlib.contextmanager
    def working_on(self, cost: float, clock: Clock):
        """Counts a job as running meanwhile.

        Args:
            cost: of the job.
            clock: processor time of the process that does it [s].
        """
        key, begun = object(), clock()
        with self._lock:
            self._running[key] = cost, begun, clock
        yield
        with self._lock:
            del self._running[key]
            self._expected += cost
            self._taken += max(clock() - begun, 0.0)

    def estimate(self) -> tuple[float, float]:
        """Completed share of the work, which never decreases, and seconds left at the pace so far."""
        with self._lock:
            pace = self._taken / self._expected if self._taken else 1.0
            running = [
                _progress((clock() - begun) / (cost * pace)) * cost for cost, begun, clock in self._running.values()
            ]
            self._share = max(self._share, min(0.99, (self._expected + sum(running)) / self._total))
            elapsed = time.monotonic() - self._begun
            return self._share, elapsed * (1.0 / self._share - 1.0) if self._share else self._total


def _progress(taken: float) -> float:
    """Completed share of a job that has taken a share of its expected time.

    Up to half of the time it is that share. Then it approaches one: a job that takes longer still shows progress.
    """
    return taken if taken < 0.5 else 1.0 - 0.25 / taken


def work() -> None:
    """Main loop of a worker process: compiles jobs from the standard input, and answers each with one byte."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the parent process handles it
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # keeps other output out of the answers
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, jobs), daemon=True).start()
    while True:
        answers.write(b"1" if _compile(jobs.get()) else b"0")


def _receive(stream: IO[bytes], jobs: queue.SimpleQueue) -> None:
    """Reads jobs; ends this process, even while it compiles, when the parent has ended."""
    try:
        while True:
            jobs.put(Job(*pickle.load(stream)))
    finally:
        os._exit(1)


def _compile(job: Job) -> bool:
    kernel = job.kernel
    kernel.compile(job.arguments)
    return isinstance(kernel._cache, KernelCache) and kernel._cache.holds(job.arguments, kernel.targetctx)
