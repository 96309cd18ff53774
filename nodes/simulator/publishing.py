"""The publishing thread: takes samples from a bounded queue and sends them as messages.

Physics never waits for the middleware: serialising and sending a batch costs about as much as computing it, and a slow
subscriber can hold a reliable writer up. While there is a pace to keep, a sample that finds the queue full is left out
and counted; where there is none (as fast as possible, or stepped by hand) the simulation waits for room instead.
"""

import contextlib
import queue
import threading
from collections.abc import Callable

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from grouser.nodes.shared import messages, topics
from grouser.nodes.simulator.state_publishing import StatePublisher
from grouser.runtime.sampling import Moment

_QUEUE_LENGTH = 64


class PublishingThread:
    """Publishes the clock, and samples of robots, from its own thread.

    Args:
        node: whose publisher of the clock this is.
        fail: takes, in the publishing thread, the error that ended it.
    """

    def __init__(self, node: Node, fail: Callable[[BaseException], None]) -> None:
        self._queue: queue.Queue[Moment | None] = queue.Queue(_QUEUE_LENGTH)
        self._thread = threading.Thread(target=self._run, name="publishing")
        self._fail = fail
        self._ended = threading.Event()
        self._publishers: dict[str, StatePublisher] = {}
        self._at_work = threading.Lock()
        self._clock = Clock()
        self._node = node
        self._clock_publisher = node.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)

    def add(self, name: str, publisher: StatePublisher) -> None:
        """From now on, samples of a robot are published."""
        with self._at_work:
            self._publishers[name] = publisher

    def remove(self, name: str) -> None:
        """Leaves a robot's samples out: its publishers are not used any more."""
        with self._at_work:
            del self._publishers[name]

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def finish(self) -> None:
        """Sends what is in the queue and ends the thread."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def destroy(self) -> None:
        """Takes the publisher of the clock away, after the end of the thread."""
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
        """Sends the samples of one step."""
        if moment.clock:
            messages.fill_clock(self._clock, moment.nanoseconds)
            self._clock_publisher.publish(self._clock)
        with self._at_work:
            for name, sample in moment.samples.items():
                if name in self._publishers:
                    self._publishers[name].publish(sample)

    def _run(self):
        try:
            while (moment := self._queue.get()) is not None:
                self.publish(moment)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            # Nobody takes from the queue any more: whoever waits for room, or is just about to, finds some.
            self._ended.set()
            with contextlib.suppress(queue.Empty):
                while True:
                    self._queue.get_nowait()
