"""A serial cable between two programs: two pseudo-terminals and a thread that carries bytes between them.

Each end has a path that stays, as an adapter has with udev's help; unplugging an end takes its terminal away.
"""

import os
import selectors
import threading
import tty
from contextlib import suppress
from pathlib import Path

ENDS = ("left", "right")


class SerialCable:
    """The cable.

    Args:
        folder: where its ends `left` and `right` appear.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._masters: dict[str, int] = {}
        self._kept: dict[str, int] = {}  # the terminals, kept open so that a program may come and go
        self._ending = threading.Event()
        for end in ENDS:
            self.plug(end)
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def path(self, end: str) -> Path:
        """Where a program finds an end."""
        return self._folder / end

    def plug(self, end: str) -> None:
        """Makes the terminal of an end."""
        master, terminal = os.openpty()
        tty.setraw(terminal)
        os.set_blocking(master, False)
        with self._lock:
            self._masters[end] = master
            self._kept[end] = terminal
            self.path(end).unlink(missing_ok=True)
            self.path(end).symlink_to(os.ttyname(terminal))

    def unplug(self, end: str) -> None:
        """Takes the terminal of an end away, from under the program that has it open."""
        with self._lock:
            self.path(end).unlink()
            os.close(self._kept.pop(end))
            os.close(self._masters.pop(end))

    def close(self) -> None:
        """Ends the cable."""
        self._ending.set()
        self._thread.join()
        for end in list(self._masters):
            self.unplug(end)

    def _carry(self) -> None:
        while not self._ending.is_set():
            with self._lock:
                ends = dict(self._masters)
            with selectors.DefaultSelector() as selector:
                for end, master in ends.items():
                    with suppress(OSError, ValueError):  # unplugged just now
                        selector.register(master, selectors.EVENT_READ, end)
                # A short wait: an end that is plugged in meanwhile is seen then.
                for key, _ in selector.select(0.02) if ends else ():
                    self._pass_on(key.data)
            if not ends:
                self._ending.wait(0.02)

    def _pass_on(self, end: str) -> None:
        other = ENDS[1 - ENDS.index(end)]
        with self._lock, suppress(OSError):  # unplugged, or full because nobody reads
            data = os.read(self._masters[end], 4096) if end in self._masters else b""
            if data and other in self._masters:
                os.write(self._masters[other], data)
