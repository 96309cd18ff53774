"""A ROS 2 bag of what a node publishes, written where it is published."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock

from grouser.nodes.shared.definitions import definition_of, type_hash_of
from grouser.nodes.shared.messages import nanoseconds_of
from grouser.recording.bag_file import BagTopic, BagWriter

_FLUSH_PERIOD = 1.0  # [s] longest loss when the process is killed


class Bag:
    """Records messages in the order in which they are published, from any thread.

    Times in the bag are simulation time: the stamp of a message or, of one without a stamp, that of the latest /clock.

    Args:
        folder: of the bag, a new one.
        warn: takes a warning for the user.

    Raises:
        ParameterError: the folder exists, or cannot be made.

    Attributes:
        folder: as given.
        problem: reason why the bag is incomplete; "" if it is complete.
    """

    def __init__(self, folder: str, warn: Callable[[str], None]) -> None:
        self.folder = Path(folder)
        self.problem = ""
        self._warn = warn
        self._writer = BagWriter(self.folder)
        self._lock = threading.Lock()
        self._topics: dict[tuple[str, str], int] = {}
        self._now = 0
        self._flush_at = time.monotonic() + _FLUSH_PERIOD
        self._open = True

    def add(self, publisher: Publisher) -> "RecordedPublisher":
        """A publisher whose messages are recorded.

        Raises:
            GrouserError: the definition of its messages is not installed.
        """
        message_class: Any = publisher.msg_type
        kind = f"{message_class.__module__.split('.')[0]}/msg/{message_class.__name__}"
        topic = publisher.topic_name
        with self._lock:
            if (topic, kind) not in self._topics:
                quality = _quality(publisher.qos_profile)
                entry = BagTopic(topic, kind, definition_of(kind), type_hash_of(kind), quality)
                self._topics[topic, kind] = self._writer.add(entry)
            return RecordedPublisher(publisher, self._topics[topic, kind], self)

    def record(self, topic: int, message: Any) -> None:
        """Records a message of a topic; of one that is serialized already the clock has the stamp."""
        data = message if isinstance(message, bytes) else serialize_message(message)
        with self._lock:
            if not self._open:
                return
            stamp = stamp_of(message)
            if isinstance(message, Clock):
                self._now = stamp
            try:
                self._writer.write(topic, stamp or self._now, data)
                if time.monotonic() >= self._flush_at:
                    self._flush_at = time.monotonic() + _FLUSH_PERIOD
                    self._writer.flush()
            except OSError as error:
                self._give_up(error)

    def close(self) -> None:
        """Ends the bag; messages after this are not recorded."""
        with self._lock:
            if self._open:
                self._open = False
                try:
                    self._writer.finish()
                except OSError as error:
                    self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self._open = False
        self.problem = error.strerror or str(error)
        self._warn(f"the bag {self.folder} ends before the run: {self.problem}")


class RecordedPublisher:
    """A publisher whose messages also go into a bag, which counts as a subscriber.

    Args:
        publisher: that publishes.
        topic: its number in the bag.
        bag: that records.

    Attributes:
        publisher: as given.
    """

    def __init__(self, publisher: Publisher, topic: int, bag: Bag) -> None:
        self.publisher = publisher
        self._topic = topic
        self._bag = bag

    def publish(self, message: Any) -> None:
        """Publishes and records a message."""
        self.publisher.publish(message)
        self._bag.record(self._topic, message)

    def get_subscription_count(self) -> int:
        """Number of subscribers, with the bag."""
        return self.publisher.get_subscription_count() + 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self.publisher, name)


def stamp_of(message: Any) -> int:
    """Time stamp of a message, or of the first one of several parts in it [ns]; 0 if it has none."""
    for parts in ("transforms", "markers"):
        message = next(iter(getattr(message, parts, ())), message)
    if isinstance(message, Clock):
        return nanoseconds_of(message.clock)
    return nanoseconds_of(message.header.stamp) if hasattr(message, "header") else 0


def _quality(profile: QoSProfile) -> dict[str, Any]:
    """Quality of service by the names of rosbag2."""
    policies = ("history", "reliability", "durability", "liveliness")
    durations = ("deadline", "lifespan", "liveliness_lease_duration")
    return {
        **{name: getattr(profile, name).name.lower() for name in policies},
        "depth": profile.depth,
        **{
            name: dict(zip(("sec", "nsec"), divmod(getattr(profile, name).nanoseconds, 1_000_000_000), strict=True))
            for name in durations
        },
        "avoid_ros_namespace_conventions": bool(profile.avoid_ros_namespace_conventions),
    }
