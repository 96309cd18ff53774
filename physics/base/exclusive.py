"""A lock that refuses a second thread instead of letting it wait."""

import threading

from grouser.physics.base.errors import BusyError


class Exclusive:
    """A context that one thread at a time may be in.

    Raises:
        BusyError: another thread is in it; on entry.
    """

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise BusyError

    def __exit__(self, *_: object) -> None:
        self._lock.release()
