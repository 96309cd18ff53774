"""Recordings as MCAP files of JSON messages: first the origin, then the events, last the ending."""

import json
import struct
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from mcap.exceptions import McapError
from mcap.records import Channel, Message
from mcap.stream_reader import StreamReader
from mcap.writer import Writer
from zstandard import ZstdError

from grouser import __version__
from grouser.physics.base.errors import MachineError
from grouser.recording.events import SCHEMAS, TOPIC_OF, TOPICS, Event
from grouser.recording.origin import Origin

FORMAT = 6  # of the state's arrays, too
_ORIGIN, _ENDING = "origin", "ending"
_OBJECT = {"type": "object"}
# Exceptions of the library for a truncated or damaged file.
_BROKEN = (McapError, ZstdError, struct.error, ValueError, KeyError, MemoryError, OverflowError)


class RecordingWriter:
    """Writes a recording into a stream.

    Args:
        stream: binary, empty.
        origin: machine, world and settings.
        format: of the recording.

    Raises:
        OSError: as of every method: the stream cannot be written.
    """

    def __init__(self, stream: IO[bytes], origin: Origin, format: int = FORMAT) -> None:
        self._writer = Writer(stream)
        self._writer.start(profile="", library=f"grouser {__version__}")
        schemas = {_ORIGIN: _OBJECT, **SCHEMAS, _ENDING: _OBJECT}
        self._channels = {topic: self._register(topic, schema) for topic, schema in schemas.items()}
        self._latest = 0
        self._write(0, _ORIGIN, {"format": format, **asdict(origin)})
        self.flush()

    def write(self, nanoseconds: int, event: Event) -> None:
        """Adds an event at a simulation time."""
        self._latest = nanoseconds
        self._write(nanoseconds, TOPIC_OF[type(event)], asdict(event))

    def flush(self) -> None:
        """Writes the buffer, so that the file is readable up to here even if the process is killed."""
        self._writer.flush()

    def finish(self, problem: str) -> None:
        """Ends the file; `problem` describes missing parts, "" for none."""
        self._write(self._latest, _ENDING, {"problem": problem})
        self._writer.finish()

    def _register(self, topic: str, schema: dict[str, Any]) -> int:
        known = self._writer.register_schema(f"grouser.{topic}", "jsonschema", json.dumps(schema).encode())
        return self._writer.register_channel(topic, "json", known)

    def _write(self, nanoseconds: int, topic: str, content: dict[str, Any]) -> None:
        data = json.dumps(content, allow_nan=False).encode()
        self._writer.add_message(self._channels[topic], nanoseconds, data, nanoseconds)


class Recording:
    """Reader of a recording.

    Args:
        file: to be read.

    Raises:
        MachineError: it cannot be read, is not a recording, or has another format.

    Attributes:
        file: as given.
        origin: machine, world and settings.
        problem: missing parts, known when all events have been read; "" for none.
    """

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)
        self.problem = "it ends in the middle: the run was killed, or the file is cut off or damaged there"
        self._messages = self._read()
        topic, content = next(self._messages, ("", {}))
        if topic != _ORIGIN or not isinstance(content, dict):
            remedy = "`grouser record` writes them"
            raise MachineError("not a recording of grouser, or cut off at its start", file=file, remedy=remedy)
        if content.pop("format", None) != FORMAT:
            remedy = "replay it with the grouser that recorded it"
            raise MachineError(f"not a recording in format {FORMAT}", file=file, remedy=remedy)
        try:
            self.origin = Origin(**content)
        except TypeError as error:
            raise MachineError(f"its origin cannot be read: {error}", file=file) from None

    def events(self) -> Iterator[Event]:
        """All events in their order, once.

        Raises:
            MachineError: a message is not an event.
        """
        for topic, content in self._messages:
            try:
                if topic == _ENDING:
                    self.problem = content["problem"]
                else:
                    yield TOPICS[topic](**content)
            except (KeyError, TypeError) as error:
                raise MachineError(f"no event of a recording: {topic}: {error}", file=self.file) from None

    def _read(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Topic and content of every message, up to a damage of the file."""
        topics = {}
        try:
            with self.file.open("rb") as stream:
                for record in StreamReader(stream, validate_crcs=True, record_size_limit=2**30).records:
                    if isinstance(record, Channel):
                        topics[record.id] = record.topic
                    elif isinstance(record, Message):
                        yield topics[record.channel_id], json.loads(record.data)
        except OSError as error:
            raise MachineError(f"cannot be read: {error.strerror}", file=self.file) from None
        except _BROKEN:
            return
