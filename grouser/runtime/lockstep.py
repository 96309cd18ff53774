"""Simulation and controllers in lockstep: the one waits for the others, so that no wall clock decides what happens."""

import sys
import threading
import time
from collections.abc import Callable, Collection

from grouser.runtime.mailbox import Mailbox


class Lockstep:
    """Has a simulation wait, at the start of every period, until its controllers have commanded.

    Commands are taken at the start of a period only, in the order of their sources' names: neither when they arrive
    within a period nor who was first makes any difference.

    Args:
        sources: command sources that are waited for; none: nobody is, and commands are taken at every tick.
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
        """Has the longest wait be another one [s of wall time], that which is under way too."""
        self._deadline = deadline

    def leave_out(self, robot: str) -> None:
        """Waits no more for those who command a robot that is gone."""
        gone = {source for source in self._sources if source.rpartition("/")[0] == robot}
        self._sources -= gone
        self._mailbox.excuse(gone)

    def begins_at(self, step: int) -> bool:
        """Whether a period begins at `step`."""
        return bool(self._sources) and step % self._period == 0

    def waits_at(self, step: int) -> bool:
        """Whether a period begins at `step` and somebody is missing."""
        return self.begins_at(step) and bool(self._mailbox.missing)

    def steps_to_next(self, step: int) -> int:
        """Number of steps from `step` to where the next period begins; >= 1."""
        return self._period - step % self._period if self._sources else sys.maxsize

    def begin(self, step: int, nanoseconds: int) -> None:
        """To be called before what is sampled at `step` is handed out: from now on, commands answer it.

        Args:
            step: where a period may begin.
            nanoseconds: simulation time; commands that are stamped before it answer something older.
        """
        if self.begins_at(step):
            self._mailbox.expect(self._sources, nanoseconds)
            self._waiting_since = None

    def resume(self) -> None:
        """Goes on after a pause, which was nobody's lateness."""
        self._waiting_since = None

    def wait(self, step: int) -> bool:
        """Waits for whoever is missing.

        Returns:
            Whether the simulation may go on; False: serve the mailbox, then ask again.
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
        """The commands that are due at `step`: source -> actuator -> value."""
        if not self._sources:
            return self._mailbox.take_commands()
        return dict(sorted(self._mailbox.take_commands().items())) if self.begins_at(step) else {}

    def _give_up(self) -> None:
        late = sorted(self._mailbox.missing)
        self._mailbox.expect((), 0)
        for source in late:
            self.late[source] = self.late.get(source, 0) + 1
        self._warn(f"{' and '.join(late)} did not command within {self._deadline:g} s: the simulation goes on without")
