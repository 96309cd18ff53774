"""Writing whole lines to a serial port.

pyserial's `write` looks at the clock after it has written, too: of a thread that was stopped meanwhile it says that
the time is over although all is on its way. A busy computer then had its port opened again, by which what had arrived
is lost.
"""

import contextlib
import os
import select
import time


class LineWriter:
    """Writes to a port that does not block; no line is torn.

    Args:
        descriptor: of the port.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unsent = b""  # the end of a line that was begun
        self._room = select.poll()
        self._room.register(descriptor, select.POLLOUT)

    def write(self, line: bytes, timeout: float) -> None:
        """Writes a line, behind what is left of the one before.

        Args:
            line: with its end.
            timeout: longest time without room [s]; what has room is written, however late it is.

        Raises:
            TimeoutError: there is no room. A line that was begun goes on with the next one, another one is dropped.
            OSError: the port is gone.
        """
        left = self._unsent + line
        until = time.monotonic() + timeout
        while True:
            with contextlib.suppress(BlockingIOError):
                left = left[os.write(self._descriptor, left) :]
            if not left:
                break
            if not self._room.poll(1e3 * max(0.0, until - time.monotonic())):
                self._unsent = left if len(left) < len(line) else left[: -len(line)]
                raise TimeoutError(f"no room for {len(line)} bytes within {timeout:g} s")
        self._unsent = b""
