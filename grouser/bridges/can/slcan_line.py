"""slcan on the device file of a serial port, read and written by the line.

python-can reads a byte at a time. A frame that comes by itself finds cold caches, in which code takes two to eight
times as long: what saves processor time is code that does not run.
"""

import os
import select
import time
from collections import deque

import can
from can.interfaces.slcan import slcanBus

from grouser.bridges.line_writer import LineWriter

_AT_ONCE = 4096  # bytes of a read
_LONGEST = 200  # bytes of a line; CAN FD has 144
_DIGITS = {b"t": 3, b"T": 8, b"x": 8}  # of the identifier, of frames of data with 11 and 29 bits
_HIGHEST = {3: 0x7FF, 8: 0x1FFF_FFFF}  # identifier of so many digits
_OTHERS = frozenset(b"rRdDbBzZvVnNFaAsSoOlLcC")  # frames of other kinds, and answers of adapters
_PATIENCE = 1.0  # [s] of writing what opens and closes the adapter


class SlcanLine(slcanBus):
    """python-can's slcan; it receives frames of data alone, and knows no filters.

    Args:
        channel: a device file.
        options: of python-can.
    """

    def __init__(self, channel: str, **options) -> None:
        self._lines: deque[bytes] = deque()
        self._begun = b""  # a line whose end has not arrived
        self._writer: LineWriter | None = None
        super().__init__(channel, **options)
        self._readable = select.poll()
        self._readable.register(self.serialPortOrig.fileno(), select.POLLIN)

    def recv(self, timeout: float | None = None) -> can.Message | None:
        """Returns the next frame of data; None for none within the timeout [s], and for an answer.

        Raises:
            ValueError: a line is no frame.
            can.CanOperationError: the port is gone.
        """
        if not self._lines:
            self._read_lines(timeout)
        if not self._lines:
            return None
        line = self._lines.popleft()
        digits = _DIGITS.get(line[:1])
        if digits is None:
            if line[0] not in _OTHERS:
                raise ValueError(f"{line!r} is no frame")
            return None
        identifier = int(line[1 : digits + 1], 16)
        length = int(line[digits + 1 : digits + 2])
        data = bytes.fromhex(line[digits + 2 : digits + 2 + 2 * length].decode())
        # int takes signs and underscores as well; some adapters add a time stamp of four digits
        is_whole = len(line) - digits - 2 - 2 * length in (0, 4) and line.isalnum()
        if length > 8 or not is_whole or identifier > _HIGHEST[digits]:
            raise ValueError(f"{line!r} is no frame")
        return can.Message(time.time(), identifier, digits == 8, dlc=length, data=data)

    def _read_lines(self, timeout: float | None) -> None:
        """Takes what has arrived; waits for it up to the timeout [s]."""
        if not self._readable.poll(None if timeout is None else 1e3 * max(0.0, timeout)):
            return
        try:
            data = os.read(self.serialPortOrig.fileno(), _AT_ONCE)
        except BlockingIOError:
            return
        except OSError as error:
            raise can.CanOperationError(f"the port is gone: {error.strerror}") from error
        if not data:
            raise can.CanOperationError("the port is gone")
        # A bell is the adapter's answer to what it cannot do.
        *lines, self._begun = (self._begun + data.replace(b"\a", b"\r")).split(b"\r")
        self._lines.extend(filter(None, lines))
        if len(self._begun) > _LONGEST:
            self._begun = b""
            raise ValueError("a line without an end")

    def _write(self, string: str) -> None:
        port = self.serialPortOrig
        if self._writer is None:
            self._writer = LineWriter(port.fileno())
        wait = port.write_timeout
        try:
            self._writer.write(string.encode() + self.LINE_TERMINATOR, _PATIENCE if wait is None else wait)
        except OSError as error:
            raise can.CanOperationError(f"Could not write to serial device: {error}") from error
