"""ROS 2 bags in the storage format MCAP: a folder with a file of messages, and metadata.yaml for rosbag2."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from mcap.writer import Writer

from grouser import __version__
from grouser.physics.base.errors import ParameterError

# Of metadata.yaml, as ROS 2 Jazzy writes it.
_VERSION = 9
_ENCODING = "cdr"


@dataclass(frozen=True)
class BagTopic:
    """A topic in a bag.

    Attributes:
        name: absolute.
        type: of its messages, package/msg/Name.
        definition: of the type and of all types in it, in the format ros2msg.
        type_hash: of the type (RIHS01); "" if it is not known.
        quality: of service, by the names of rosbag2.
    """

    name: str
    type: str
    definition: str
    type_hash: str
    quality: Mapping[str, Any]


class BagWriter:
    """Writes a bag.

    Args:
        folder: of the bag; it must not exist.

    Raises:
        ParameterError: it exists, or cannot be made.
        OSError: as of every method: the file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir()
        except OSError as error:
            raise ParameterError(
                "bag", str(folder), f"a new folder in a folder that exists ({error.strerror})"
            ) from None
        self._file = folder / f"{folder.name}_0.mcap"
        try:
            self._stream = self._file.open("xb")
        except OSError as error:
            folder.rmdir()
            raise ParameterError(
                "bag", str(folder), f"a folder in which a file can be made ({error.strerror})"
            ) from None
        self._writer = Writer(self._stream)
        self._writer.start(profile="ros2", library=f"grouser {__version__}")
        self._schemas: dict[str, int] = {}
        self._topics: dict[int, BagTopic] = {}
        self._counts: dict[int, int] = {}
        self._first, self._last = 0, 0

    def add(self, topic: BagTopic) -> int:
        """Adds a topic; returns its number."""
        if topic.type not in self._schemas:
            self._schemas[topic.type] = self._writer.register_schema(topic.type, "ros2msg", topic.definition.encode())
        metadata = {
            "offered_qos_profiles": yaml.safe_dump([dict(topic.quality)], sort_keys=False),
            "topic_type_hash": topic.type_hash,
        }
        number = self._writer.register_channel(topic.name, _ENCODING, self._schemas[topic.type], metadata)
        self._topics[number] = topic
        self._counts[number] = 0
        return number

    def write(self, topic: int, nanoseconds: int, message: bytes) -> None:
        """Adds a serialized message of a topic at a time."""
        self._writer.add_message(topic, nanoseconds, message, nanoseconds, sequence=self._counts[topic])
        begun = any(self._counts.values())
        self._first = min(self._first, nanoseconds) if begun else nanoseconds
        self._last = max(self._last, nanoseconds) if begun else nanoseconds
        self._counts[topic] += 1

    def flush(self) -> None:
        """Hands everything to the operating system."""
        self._writer.flush()
        self._stream.flush()

    def finish(self) -> None:
        """Ends the bag; one without messages is removed."""
        if not any(self._counts.values()):
            self._stream.close()
            shutil.rmtree(self._folder)
            return
        metadata = self._metadata()
        serialized = yaml.safe_dump(metadata, sort_keys=False)
        self._writer.add_metadata("rosbag2", {"serialized_metadata": serialized})
        self._writer.finish()
        self._stream.close()
        whole = yaml.safe_dump({"rosbag2_bagfile_information": metadata}, sort_keys=False)
        (self._folder / "metadata.yaml").write_text(whole, encoding="utf-8")

    def _metadata(self) -> dict[str, Any]:
        return {
            "version": _VERSION,
            "storage_identifier": "mcap",
            **self._extent(),
            "topics_with_message_count": [
                {
                    "topic_metadata": {
                        "name": topic.name,
                        "type": topic.type,
                        "serialization_format": _ENCODING,
                        "offered_qos_profiles": [dict(topic.quality)],
                        "type_description_hash": topic.type_hash,
                    },
                    "message_count": self._counts[number],
                }
                for number, topic in self._topics.items()
            ],
            "compression_format": "",
            "compression_mode": "",
            "relative_file_paths": [self._file.name],
            "files": [{"path": self._file.name, **self._extent()}],
            "custom_data": None,
            "ros_distro": os.environ.get("ROS_DISTRO", "unknown"),
        }

    def _extent(self) -> dict[str, Any]:
        return {
            "starting_time": {"nanoseconds_since_epoch": self._first},
            "duration": {"nanoseconds": self._last - self._first},
            "message_count": sum(self._counts.values()),
        }
