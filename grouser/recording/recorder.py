"""Records a simulation while it runs, without waiting for the disk."""

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.trees import copied
from grouser.physics.integrators.context import State
from grouser.physics.simulation.simulation import Snapshot
from grouser.recording.events import Event, StateGiven, StateReached
from grouser.recording.mcap_file import RecordingWriter
from grouser.recording.origin import Origin
from grouser.recording.state_arrays import written
from grouser.recording.state_hash import state_hash

DATED_FILE = "recording_%Y-%m-%d_%H-%M-%S.mcap"  # name of a file for which none was given
_SECOND = 1_000_000_000  # [ns]
_FLUSH_PERIOD = 1.0  # [s] longest loss when the process is killed
_ROOM = 1000  # length of the queue to the disk, a few seconds of events
_NOT_ENDED = "the run ended by an error"

# The time [ns], and an event, or a function by which the writing thread makes it from copied arrays.
_Entry = tuple[int, Event | Callable[[], Event]]


class Recorder:
    """Writer of a recording, with a thread of its own.

    Args:
        file: to be written; it must not exist.
        warn: takes a warning for the user, from any thread.

    Raises:
        ParameterError: the file exists, or its folder does not.

    Attributes:
        file: as given.
        problem: reason why the recording is incomplete; "" if it is complete.
    """

    def __init__(self, file: str | Path, warn: Callable[[str], None]) -> None:
        self.file = Path(file)
        self.problem = ""
        self._warn = warn
        if self.file.exists() or not self.file.parent.is_dir():
            raise ParameterError("record", str(file), "a new file in a folder that exists")
        self._queue: queue.Queue[_Entry | None] = queue.Queue(_ROOM)
        self._thread: threading.Thread | None = None
        self._second = -1
        self._ended = False

    def begin(self, origin: Origin) -> None:
        """Starts the recording with its origin.

        Raises:
            ParameterError: the file cannot be written.
        """
        try:
            stream = self.file.open("xb")
        except OSError as error:
            raise ParameterError("record", str(self.file), f"a file that can be written ({error.strerror})") from None
        self._thread = threading.Thread(target=self._run, args=(stream, origin), name="recorder", daemon=True)
        self._thread.start()

    def note(self, nanoseconds: int, event: Event, may_wait: bool = False) -> None:
        """Records an event.

        Args:
            nanoseconds: simulation time.
            event: to record.
            may_wait: whether to wait where the disk is behind; otherwise the recording ends there.
        """
        self._put((nanoseconds, event), may_wait)

    def note_state(self, nanoseconds: int, step: int, state: State, may_wait: bool = False) -> None:
        """Records a state; arguments as of `note`."""
        self._second = nanoseconds // _SECOND
        kept = copied(state)
        self._put((nanoseconds, lambda: StateReached(step, state_hash(kept))), may_wait)

    def note_beginning(self, nanoseconds: int, step: int, snapshot: Snapshot) -> None:
        """Records the snapshot from which a recording in the midst of a run begins."""
        self._put((nanoseconds, lambda: StateGiven(step, written(snapshot.state), written(snapshot.command))), True)

    def note_second(self, nanoseconds: int, step: int, state: State, may_wait: bool = False) -> None:
        """Records a state if it is the first in a second of simulation time; arguments as of `note`."""
        if nanoseconds // _SECOND != self._second:
            self.note_state(nanoseconds, step, state, may_wait)

    def end(self) -> None:
        """Marks the run as complete."""
        self._ended = True

    def close(self) -> None:
        """Writes the remaining events and closes the file."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()

    def _put(self, entry: _Entry, may_wait: bool) -> None:
        if self.problem:
            return
        try:
            self._queue.put(entry, block=may_wait)
        except queue.Full:
            self._give_up("the disk cannot keep up")

    def _give_up(self, problem: str) -> None:
        self.problem = problem
        self._warn(f"the recording {self.file} ends before the run: {problem}")

    def _run(self, stream: IO[bytes], origin: Origin) -> None:
        try:
            with stream:
                self._write(RecordingWriter(stream, origin))
        except OSError as error:
            self._give_up(error.strerror or str(error))
            with contextlib.suppress(queue.Empty):  # Releases threads that wait for room.
                while True:
                    self._queue.get_nowait()

    def _write(self, writer: RecordingWriter) -> None:
        """Writes events until `None`, and flushes at least once a second."""
        flush_at = time.monotonic() + _FLUSH_PERIOD
        while True:
            try:
                entry = self._queue.get(timeout=max(flush_at - time.monotonic(), 0.0))
                if entry is None:
                    break
                nanoseconds, content = entry
                writer.write(nanoseconds, content() if callable(content) else content)
            except queue.Empty:
                pass
            if time.monotonic() >= flush_at:
                writer.flush()
                flush_at = time.monotonic() + _FLUSH_PERIOD
        writer.finish(self.problem or ("" if self._ended else _NOT_ENDED))
