"""The publishing thread: takes samples from a bounded queue and publishes them.

Physics never waits for the middleware: serializing and sending a batch takes about as long as computing it, and a slow
subscriber can block a reliable writer. With a pace to keep, a sample is dropped and counted when the queue is full;
without one (as fast as possible, or single steps) the simulation waits for room.
"""

import contextlib
import queue
import threading
from collections.abc import Callable

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from grouser.nodes.shared import messages, topics
from grouser.nodes.simulator.object_publishing import ObjectPublisher
from grouser.nodes.simulator.state_publishing import StatePublisher
from grouser.runtime.sampling import Moment

_QUEUE_LENGTH = 64


class PublishingThread:
    """Publishes the clock, samples of robots and poses of plain objects from its own thread.

    Args:
        node: of the clock's publisher.
        objects: publisher of the objects.
        fail: called in the publishing thread with the error that ended it.
        prepare: called first in that thread.
    """

    def __init__(
        self,
        node: Node,
        objects: ObjectPublisher,
        fail: Callable[[BaseException], None],
        prepare: Callable[[], object] = lambda: None,
    ) -> None:
        self._queue: queue.Queue[Moment | None] = queue.Queue(_QUEUE_LENGTH)
        self._thread = threading.Thread(target=self._run, name="publishing")
        self._fail = fail
        self._prepare = prepare
        self._ended = threading.Event()
        self._publishers: dict[str, StatePublisher] = {}
        self._objects = objects
        self._at_work = threading.Lock()
        self._clock = Clock()
        self._node = node
        self._clock_publisher = node.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)

    def add(self, name: str, publisher: StatePublisher) -> None:
        """Starts to publish samples of a robot."""
        with self._at_work:
            self._publishers[name] = publisher

    def remove(self, name: str) -> None:
        """Stops publishing samples of a robot; its publishers are not used after this."""
        with self._at_work:
            del self._publishers[name]

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def finish(self) -> None:
        """Publishes the rest of the queue and ends the thread."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def destroy(self) -> None:
        """Destroys the publisher of the clock, after the end of the thread."""
        self._node.destroy_publisher(self._clock_publisher)

    def queue(self, moment: Moment, may_wait: bool) -> bool:
        """Queues samples.

        Args:
            moment: to be published.
            may_wait: whether to wait for room when the queue is full.

        Returns:
            Whether it was queued.
        """
        if self._ended.is_set():
            return False
        try:
            self._queue.put(moment, block=may_wait)
        except queue.Full:
            return False
        return True

    def publish(self, moment: Moment) -> None:
        """Publishes the samples of one step."""
        if moment.clock:
            messages.fill_clock(self._clock, moment.nanoseconds)
            self._clock_publisher.publish(self._clock)
        with self._at_work:
            for name, sample in moment.samples.items():
                if name in self._publishers:
                    self._publishers[name].publish(sample)
        if moment.objects is not None:
            self._objects.publish(moment.nanoseconds, moment.objects)

    def _run(self):
        try:
            self._prepare()
            while (moment := self._queue.get()) is not None:
                self.publish(moment)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            # The queue has no reader any more: empty it, so that no thread waits for room.
            self._ended.set()
            with contextlib.suppress(queue.Empty):
                while True:
                    self._queue.get_nowait()
