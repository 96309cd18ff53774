"""Players: programs at the other end of a bus or line, as processes of their own, obeying lines of JSON."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

from patience import DEADLINE, wait_until

PLAYERS = Path(__file__).resolve().parent / "players"
_REPETITION = 1.25  # [s]: after which J1939 repeats a request


class Player:
    """A player's process.

    Args:
        program: its file in `players`.
        arguments: of its command line.

    Attributes:
        lines: what it has written, whole lines.
    """

    def __init__(self, program: str, *arguments: object) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PLAYERS / program), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def tell(self, **command: object) -> None:
        """Sends a command."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def wait_for(self, beginning: str, since: int = 0) -> str:
        """Waits for a line; returns the first one from `since` on."""
        found: list[str] = []

        def is_there() -> bool:
            assert self._process.poll() is None, "the player has ended"
            found.extend(line for line in self.lines[since:] if line.startswith(beginning))
            return bool(found)

        wait_until(is_there, f"the player writes {beginning}")
        return found[0]

    def ask(self, frame: str, beginning: str) -> str:
        """Sends a request until it is answered, as a bus that is busy may lose either; returns the answer.

        Args:
            frame: the request.
            beginning: of the answer.
        """
        mark, asked = len(self.lines), 0.0

        def is_answered() -> bool:
            nonlocal asked
            assert self._process.poll() is None, "the player has ended"
            if time.monotonic() > asked + _REPETITION:
                asked = time.monotonic()
                self.tell(raw=frame)
            return any(line.startswith(beginning) for line in self.lines[mark:])

        wait_until(is_answered, f"an answer to {frame}")
        return next(line for line in self.lines[mark:] if line.startswith(beginning))

    def end(self) -> None:
        """Ends the process."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait(DEADLINE)
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))
