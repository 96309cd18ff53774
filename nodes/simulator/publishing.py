"""Publishing: the clock and the samples, each from a thread with a bounded queue.

Physics never waits for the middleware: serializing and sending a batch takes about as long as computing it, and a slow
subscriber can block a reliable writer. With a pace to keep, a sample is dropped and counted when the queue is full;
without one (as fast as possible, or single steps) the simulation waits for room. The clock does not wait for earlier
samples; samples wait for the clock that was handed over before them.
"""

import threading
from collections.abc import Callable

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from grouser.nodes.shared import messages, topics
from grouser.nodes.simulator.object_publishing import ObjectPublisher
from grouser.nodes.simulator.queued_thread import QueuedThread
from grouser.nodes.simulator.state_publishing import StatePublisher
from grouser.runtime.sampling import Moment

_PATIENCE = 1.0  # [s] of samples that wait for the clock


class Publishing:
    """Publishes the clock, samples of robots and poses of plain objects.

    Args:
        node: of the clock's publisher.
        objects: publisher of the objects.
        fail: called with the error that ended a thread.
        prepare_clock, prepare: called first in the threads of the clock and of the samples.
    """

    def __init__(
        self,
        node: Node,
        objects: ObjectPublisher,
        fail: Callable[[BaseException], None],
        prepare_clock: Callable[[], object] = lambda: None,
        prepare: Callable[[], object] = lambda: None,
    ) -> None:
        self._clocks = QueuedThread("clock", self.publish_clock, fail, prepare_clock)
        self._samples = QueuedThread("publishing", self._publish_samples, fail, prepare)
        self._publishers: dict[str, StatePublisher] = {}
        self._objects = objects
        self._at_work = threading.Lock()
        self._clock = Clock()
        self._node = node
        self._clock_publisher = node.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
        self._said = threading.Condition()
        self._handed_over, self._published = 0, 0  # numbers of clocks

    def add(self, name: str, publisher: StatePublisher) -> None:
        """Starts to publish samples of a robot."""
        with self._at_work:
            self._publishers[name] = publisher

    def remove(self, name: str) -> None:
        """Stops publishing samples of a robot; its publishers are not used after this."""
        with self._at_work:
            del self._publishers[name]

    def start(self) -> None:
        """Starts the threads."""
        self._clocks.start()
        self._samples.start()

    def finish(self) -> None:
        """Publishes the rest of the queues and ends the threads."""
        self._clocks.finish()
        self._samples.finish()

    def destroy(self) -> None:
        """Destroys the publisher of the clock, after the end of the threads."""
        self._node.destroy_publisher(self._clock_publisher)

    def queue(self, moment: Moment, may_wait: bool) -> bool:
        """Queues a moment; called in one thread alone.

        Args:
            moment: to be published.
            may_wait: whether to wait for room when a queue is full.

        Returns:
            Whether it was queued.
        """
        is_queued = True
        if moment.clock:
            is_queued = self._clocks.queue(moment.nanoseconds, may_wait)
            self._handed_over += is_queued
        if moment.samples or moment.objects is not None:
            is_queued &= self._samples.queue((moment, self._handed_over), may_wait)
        return is_queued

    def wait_until_published(self) -> None:
        """Waits until what is in the queues has been published, for two seconds at most."""
        self._clocks.wait_until_taken()
        self._samples.wait_until_taken()

    def publish_clock(self, nanoseconds: int) -> None:
        """Publishes a time."""
        messages.fill_clock(self._clock, nanoseconds)
        self._clock_publisher.publish(self._clock)
        with self._said:
            self._published += 1
            self._said.notify_all()

    def _publish_samples(self, entry: tuple[Moment, int]) -> None:
        """Publishes the samples of one step, after so many clocks."""
        moment, clocks = entry
        with self._said:
            self._said.wait_for(lambda: self._published >= clocks, _PATIENCE)
        with self._at_work:
            for name, sample in moment.samples.items():
                if name in self._publishers:
                    self._publishers[name].publish(sample)
        if moment.objects is not None:
            self._objects.publish(moment.nanoseconds, moment.objects)
