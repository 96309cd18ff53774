"""A thread that does something with each entry of a bounded queue."""

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Entry = TypeVar("Entry")

_QUEUE_LENGTH = 64
_PATIENCE = 1.0  # [s]


class QueuedThread(Generic[Entry]):
    """Takes entries in their order, in its own thread.

    Args:
        name: of the thread.
        take: called there with each entry.
        fail: called there with the error that ended it.
        prepare: called there first.
    """

    def __init__(
        self,
        name: str,
        take: Callable[[Entry], None],
        fail: Callable[[BaseException], None],
        prepare: Callable[[], object] = lambda: None,
    ) -> None:
        self._queue: queue.Queue[Entry | threading.Event | None] = queue.Queue(_QUEUE_LENGTH)
        self._thread = threading.Thread(target=self._run, name=name)
        self._take = take
        self._fail = fail
        self._prepare = prepare
        self._ended = threading.Event()

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def finish(self) -> None:
        """Takes the rest of the queue and ends the thread."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def queue(self, entry: Entry, may_wait: bool) -> bool:
        """Queues an entry.

        Args:
            entry: to be taken.
            may_wait: whether to wait for room when the queue is full.

        Returns:
            Whether it was queued.
        """
        if self._ended.is_set():
            return False
        try:
            self._queue.put(entry, block=may_wait)
        except queue.Full:
            return False
        return True

    def wait_until_taken(self) -> None:
        """Waits until what is in the queue has been taken, for no longer than `_PATIENCE`."""
        reached = threading.Event()
        with contextlib.suppress(queue.Full):
            self._queue.put(reached, timeout=_PATIENCE)
            reached.wait(0.0 if self._ended.is_set() else _PATIENCE)

    def _run(self):
        try:
            self._prepare()
            while (entry := self._queue.get()) is not None:
                if isinstance(entry, threading.Event):
                    entry.set()
                else:
                    self._take(entry)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            # The queue has no reader any more: empty it, so that no thread waits for room.
            self._ended.set()
            with contextlib.suppress(queue.Empty):
                while True:
                    entry = self._queue.get_nowait()
                    if isinstance(entry, threading.Event):
                        entry.set()
