"""Parameters of real-time scheduling, and what diagnostics say of it."""

import contextlib
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grouser.bridges.scheduling import PRIORITIES, Granted, Scheduling, apply_scheduling
from grouser.nodes.shared.parameters import Declaration

_SWITCH_INTERVAL = 1e-4  # [s]


def scheduling_declarations(threads: str) -> dict[str, Declaration]:
    """Declarations of the parameters.

    Args:
        threads: whose they are, in words.
    """
    return {
        "scheduling": Declaration(
            "other", f"Scheduling of {threads}; fifo needs the right to it.", choices=("other", "fifo")
        ),
        "priority": Declaration(50, "Of the scheduling fifo.", True, *PRIORITIES),
        "cpu": Declaration(-1, f"Processor that {threads} stay on; -1: any.", True, -1, 1023),
        "lock_memory": Declaration(False, "Whether the process keeps its memory from being paged out."),
    }


def scheduling_of(values: Mapping[str, Any]) -> Scheduling:
    """The scheduling that values of the parameters ask for."""
    return Scheduling(values["scheduling"], values["priority"], values["cpu"], values["lock_memory"])


class PacedScheduling:
    """Scheduling of a thread that steps at a pace, and of those that publish what it hands over.

    Args:
        asked: for the one that steps; where they want the same processor, the clock comes after it, then the samples.

    Attributes:
        asked: the same.
        granted: what the thread that steps got; None before it runs.
    """

    def __init__(self, asked: Scheduling) -> None:
        self.asked = asked
        self.granted: Granted | None = None

    def of_stepping(self) -> None:
        """Applies it to the calling thread, which steps."""
        self.granted = apply_scheduling(self.asked)
        if self.granted.policy == "fifo":
            # A thread that wakes would wait for the interpreter for up to 5 ms, and longer for one that holds it while
            # other programs run.
            sys.setswitchinterval(_SWITCH_INTERVAL)
            self._raise_others()

    def _raise_others(self) -> None:
        """Gives the other threads of the process the lowest priority of the scheduling; what they start has none."""
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        for thread in threading.enumerate():
            with contextlib.suppress(OSError):  # it has ended
                if thread.native_id is not None and os.sched_getscheduler(thread.native_id) == os.SCHED_OTHER:
                    os.sched_setscheduler(thread.native_id, policy, os.sched_param(PRIORITIES[0]))

    def of_clock(self) -> None:
        """Applies it to the calling thread, which publishes the clock."""
        self._apply_behind(1)

    def of_publishing(self) -> None:
        """Applies it to the calling thread, which publishes."""
        self._apply_behind(2)

    def _apply_behind(self, places: int) -> None:
        apply_scheduling(replace(self.asked, priority=max(PRIORITIES[0], self.asked.priority - places)))


def scheduling_values(asked: Scheduling, granted: Granted | None) -> dict[str, str]:
    """What was asked and what was got, for diagnostics; None: the threads do not run yet."""
    values = {"scheduling_asked": _text(asked.policy, asked.priority)}
    if granted is not None:
        values["scheduling"] = _text(granted.policy, granted.priority)
        values["cpu"] = "any" if granted.cpu < 0 else str(granted.cpu)
        values["memory_locked"] = str(granted.memory_locked).lower()
    return values


def _text(policy: str, priority: int) -> str:
    return f"{policy} {priority}" if policy == "fifo" else policy
