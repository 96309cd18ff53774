"""Lockstep: the simulation waits for its controllers, so that results do not depend on the wall clock."""

import sys
import threading
import time
from collections.abc import Callable, Collection

from grouser.runtime.mailbox import Mailbox


class Lockstep:
    """Waits at the start of every period until all controllers have commanded.

    Commands are taken at the start of a period only, in the order of their sources' names: their times and order of
    arrival within a period make no difference.

    Args:
        sources: command sources to wait for; empty: no waiting, and commands are taken at every tick.
        period: [steps], >= 1.
        deadline: longest wait [s of wall time]; 0: any.
        mailbox: where commands arrive; its attention interrupts a wait.
        warn: takes a warning for the user.
        clock: monotonic wall clock [s].

    Attributes:
        late: source -> how often it missed the deadline.
    """

    def __init__(
        self,
        sources: Collection[str],
        period: int,
        deadline: float,
        mailbox: Mailbox,
        warn: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.late: dict[str, int] = {}
        self._sources = frozenset(sources)
        self._period = period
        self._deadline = deadline
        self._mailbox = mailbox
        self._warn = warn
        self._clock = clock
        self._waiting_since: float | None = None

    def change_deadline(self, deadline: float) -> None:
        """Changes the longest wait [s of wall time], also of a wait that is under way."""
        self._deadline = deadline

    def leave_out(self, robot: str) -> None:
        """Removes the sources of a robot that has been deleted."""
        gone = {source for source in self._sources if source.rpartition("/")[0] == robot}
        self._sources -= gone
        self._mailbox.excuse(gone)

    def begins_at(self, step: int) -> bool:
        """Whether a period begins at `step`."""
        return bool(self._sources) and step % self._period == 0

    def waits_at(self, step: int) -> bool:
        """Whether a period begins at `step` and a source is missing."""
        return self.begins_at(step) and bool(self._mailbox.missing)

    def steps_to_next(self, step: int) -> int:
        """Number of steps from `step` to the start of the next period; >= 1."""
        return self._period - step % self._period if self._sources else sys.maxsize

    def begin(self, step: int, nanoseconds: int) -> None:
        """Expects commands from now on. Call it before the samples of `step` are handed out.

        Args:
            step: where a period may begin.
            nanoseconds: simulation time; commands with an earlier stamp answer an older sample.
        """
        if self.begins_at(step):
            self._mailbox.expect(self._sources, nanoseconds)
            self._waiting_since = None

    def resume(self) -> None:
        """Restarts the deadline after a pause."""
        self._waiting_since = None

    def wait(self, step: int) -> bool:
        """Waits for missing sources.

        Returns:
            Whether the simulation may go on; False: serve the mailbox, then call again.
        """
        if not self.waits_at(step):
            return True
        now = self._clock()
        if self._waiting_since is None:
            self._waiting_since = now
        remaining = self._waiting_since + self._deadline - now if self._deadline > 0.0 else threading.TIMEOUT_MAX
        if remaining > 0.0:
            self._mailbox.attention.wait(remaining)
            return False
        self._give_up()
        return True

    def take_commands(self, step: int) -> dict[str, dict[str, float]]:
        """Takes the commands that are due at `step`: source -> actuator -> value."""
        if not self._sources:
            return self._mailbox.take_commands()
        return dict(sorted(self._mailbox.take_commands().items())) if self.begins_at(step) else {}

    def _give_up(self) -> None:
        late = sorted(self._mailbox.missing)
        self._mailbox.expect((), 0)
        for source in late:
            self.late[source] = self.late.get(source, 0) + 1
        self._warn(f"{' and '.join(late)} did not command within {self._deadline:g} s: the simulation goes on without")
