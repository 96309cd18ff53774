"""The mailbox of the physics thread: other threads leave commands and calls in it without waiting."""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import CancelledError, Future
from typing import Any

Call = Callable[[Any], Any]


class NoAnswerError(Exception):
    """The physics thread failed, or ended, before it could answer a call."""


def answer_of(call: Future) -> Any:
    """Waits for the result of a call of a `Mailbox`.

    Raises:
        NoAnswerError: the physics thread failed or ended before it could answer.
    """
    try:
        return call.result()
    except CancelledError:
        raise NoAnswerError("the simulator is ending") from None
    except BaseException as error:
        raise NoAnswerError(f"the simulator failed: {error!r}") from error


class Mailbox:
    """Commands and calls for the physics thread.

    Commands are taken at the next tick. A call is a function of the physics loop that runs in its thread between two
    ticks; it wakes that thread at once, and its result arrives in a future.

    Attributes:
        taken_since: when the first one of the commands that were taken last had arrived, `time.monotonic` [s]; None:
            there were none.
        attention: set while a call is waiting, when the last missing source has commanded, and permanently once the
            mailbox is closed.
    """

    def __init__(self) -> None:
        self.attention = threading.Event()
        self._lock = threading.Lock()
        self._commands: dict[str, dict[str, float]] = {}
        self._waiting_since: float | None = None
        self.taken_since: float | None = None
        self._missing: set[str] = set()
        self._expected_since = 0
        self._calls: list[tuple[Call, Future]] = []
        self._closed = False

    @property
    def missing(self) -> frozenset[str]:
        """Expected sources that have not commanded yet."""
        with self._lock:
            return frozenset(self._missing)

    def expect(self, sources: Collection[str], nanoseconds: int) -> None:
        """Marks sources as missing until they command.

        Args:
            sources: expected to command.
            nanoseconds: simulation time; commands with an earlier stamp do not count.
        """
        with self._lock:
            self._missing = set(sources)
            self._expected_since = nanoseconds

    def excuse(self, sources: Collection[str]) -> None:
        """Marks sources as no longer missing."""
        with self._lock:
            self._missing.difference_update(sources)

    def post_commands(self, source: str, commands: Mapping[str, float], nanoseconds: int = 0) -> None:
        """Leaves commands; a later command of the same source for the same actuator replaces the earlier one.

        Args:
            source: name of the command source, for the silence watchdog.
            commands: actuator -> value.
            nanoseconds: their stamp; 0: none.
        """
        with self._lock:
            if self._waiting_since is None:
                self._waiting_since = time.monotonic()
            # The latest source comes last: its value holds where two sources command one actuator.
            self._commands[source] = {**self._commands.pop(source, {}), **commands}
            if source in self._missing and (nanoseconds == 0 or nanoseconds >= self._expected_since):
                self._missing.remove(source)
                if not self._missing:
                    self.attention.set()

    def drop_commands(self, robot: str) -> None:
        """Drops the commands to a robot, by the part of a source's name before the last slash."""
        with self._lock:
            for source in [source for source in self._commands if source.rpartition("/")[0] == robot]:
                del self._commands[source]

    def call(self, function: Call) -> Future:
        """Runs a function in the physics thread; the future is cancelled if that thread has ended."""
        future: Future = Future()
        with self._lock:
            if self._closed:
                future.cancel()
            else:
                self._calls.append((function, future))
                self.attention.set()
        return future

    def take_commands(self) -> dict[str, dict[str, float]]:
        """Takes all commands since the last call: source -> actuator -> value."""
        with self._lock:
            commands, self._commands = self._commands, {}
            self.taken_since, self._waiting_since = self._waiting_since, None
        return commands

    def run_calls(self, loop: Any) -> None:
        """Runs the waiting calls on the physics loop, in order of arrival. For the physics thread only.

        A call may run those behind it by calling this again. An exception goes to the caller's future and then ends the
        thread, because the state of the loop is unknown.
        """
        while (entry := self._next_call()) is not None:
            function, future = entry
            try:
                future.set_result(function(loop))
            except BaseException as error:
                future.set_exception(error)
                raise

    def close(self) -> None:
        """Cancels waiting calls and all later ones."""
        with self._lock:
            self._closed = True
            calls, self._calls = self._calls, []
            self.attention.set()
        for _, future in calls:
            future.cancel()

    def _next_call(self) -> tuple[Call, Future] | None:
        with self._lock:
            if self._calls:
                return self._calls.pop(0)
            if not self._closed:
                self.attention.clear()
            return None
