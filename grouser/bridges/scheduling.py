"""Real-time scheduling of threads: what was asked, and what the system gave."""

import ctypes
import os
from dataclasses import dataclass

_LOCK_ALL = 3  # MCL_CURRENT | MCL_FUTURE
PRIORITIES = (1, 99)


@dataclass(frozen=True)
class Scheduling:
    """Scheduling of a thread.

    Attributes:
        policy: ``other`` or ``fifo``.
        priority: of ``fifo``, in `PRIORITIES`.
        cpu: that it stays on; -1: any.
        lock_memory: whether the process keeps its memory from being paged out.
    """

    policy: str = "other"
    priority: int = 50
    cpu: int = -1
    lock_memory: bool = False


@dataclass(frozen=True)
class Granted:
    """What a thread got.

    Attributes:
        policy: ``other`` or ``fifo``.
        priority: of ``fifo``; else 0.
        cpu: that it stays on; -1: any.
        memory_locked: whether the process keeps its memory.
        refusals: what was asked and not given, each with the reason.
    """

    policy: str
    priority: int
    cpu: int
    memory_locked: bool
    refusals: tuple[str, ...] = ()


def apply_scheduling(asked: Scheduling) -> Granted:
    """Applies scheduling to the calling thread; what the system refuses is told, not raised."""
    refusals = []
    if asked.policy == "fifo":
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(asked.priority))
        except OSError as error:
            refusals.append(f"SCHED_FIFO {asked.priority}: {error.strerror}; allow it by rtprio in limits.conf")
    if asked.cpu >= 0:
        try:
            os.sched_setaffinity(0, {asked.cpu})
        except OSError as error:
            refusals.append(f"processor {asked.cpu}: {error.strerror}; there are {sorted(os.sched_getaffinity(0))}")
    locked = False
    if asked.lock_memory:
        libc = ctypes.CDLL(None, use_errno=True)
        locked = libc.mlockall(_LOCK_ALL) == 0
        if not locked:
            refusals.append(f"mlockall: {os.strerror(ctypes.get_errno())}; allow it by memlock in limits.conf")
    is_fifo = os.sched_getscheduler(0) == os.SCHED_FIFO
    cpus = os.sched_getaffinity(0)
    return Granted(
        policy="fifo" if is_fifo else "other",
        priority=os.sched_getparam(0).sched_priority if is_fifo else 0,
        cpu=next(iter(cpus)) if asked.cpu >= 0 and len(cpus) == 1 else -1,
        memory_locked=locked,
        refusals=tuple(refusals),
    )
