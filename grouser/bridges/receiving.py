"""The thread in which a transport receives: it ends when it is asked to, and tells of every other end."""

import threading
import time
from collections.abc import Callable

from grouser.bridges.messages import Sink

_UNFORESEEN = "receiving ended by an unforeseen error"  # which the thread reports itself


def tell_of_failures(
    work: Callable[[], None],
    sink: Sink,
    failures: tuple[type[Exception], ...],
    reason_of: Callable[[Exception], str] = lambda error: str(error) or type(error).__name__,
) -> None:
    """Does the work of a transport's thread; `Sink.broken` learns of an exception.

    Args:
        work: returns when the transport is closed.
        sink: of the transport.
        failures: exceptions by which a device, bus or peer is lost; any other one is raised again.
        reason_of: such a failure in words.
    """
    reason = _UNFORESEEN
    try:
        work()
        reason = ""
    except failures as error:
        reason = reason_of(error)
    finally:
        if reason:
            sink.broken(reason, time.monotonic())


class Receiving:
    """A thread that looks at `ending` again and again.

    Attributes:
        ending: set when it is to end.
    """

    def __init__(self) -> None:
        self.ending = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, name: str, work: Callable[[], None], *told: object) -> None:
        """Starts the thread of a name; `work` and the other arguments are those of `tell_of_failures`."""
        self.ending.clear()
        self._thread = threading.Thread(target=tell_of_failures, args=(work, *told), name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Asks it to end, and waits for it; does nothing where there is none."""
        self.ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
