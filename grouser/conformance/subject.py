"""The simulator under examination: its messages so far, and its initial condition."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grouser.conformance import standard
from grouser.conformance.client import Client, ReceivedMessages, interface
from grouser.conformance.control import Control
from grouser.conformance.description import Description, read_description
from grouser.conformance.discovery import SimulatorInterface
from grouser.conformance.standard import OUTPUTS, Output

_PATIENCE_PAUSED = 2.0  # [s] of wall time without /clock after which a simulator counts as paused
_PATIENCE_ONCE = 3.0  # [s] of wall time for messages published once, and for /diagnostics
_TELLING = 3  # messages of /diagnostics, one of which is about the time before the first
_QUIET, _MOST_ROUNDS = 0.2, 20  # [s] of wall time without messages after which a paused simulator is settled; attempts
FEWEST, _MOST = (
    4,
    26,
)  # least and greatest number of messages wanted of a stream; between these those of a quarter of a second


@dataclass(frozen=True)
class Stream:
    """A subscribed topic.

    Attributes:
        topic: full name.
        name: without the namespace.
        output: its row of `standard`.
        recording: messages received.
        rate: by the node's parameter [Hz]; None where there is no rate.
    """

    topic: str
    name: str
    output: Output
    recording: ReceivedMessages
    rate: float | None

    @property
    def enough(self) -> bool:
        """Whether there are enough messages to measure the rate."""
        return len(self.recording.messages) >= self.wanted

    @property
    def wanted(self) -> int:
        """Number of messages needed to measure the rate."""
        if self.rate is None:
            return 0 if self.output.name == "/tf_static" else 1
        return int(np.clip(self.rate / 4.0, FEWEST, _MOST)) if self.rate else _MOST


class Subject:
    """A simulator and its known properties.

    Args:
        client: that communicates with it.
        offer: its topics, services and actions.
        passive: whether it must be left as it is.

    Attributes:
        parameters: of `standard.PARAMETERS`, with the node's values.
        own_parameters: names of those that the node has.
        step: of the simulation [s]; None if unknown.
        description: of the machine; None without a valid one.
        description_error: why not.
        control: pauses, steps and resets.
        streams: subscribed topics, by full name.
        silence: reason why no time is received, if known.
    """

    def __init__(self, client: Client, offer: SimulatorInterface, passive: bool) -> None:
        self.client = client
        self.offer = offer
        self.passive = passive
        found = client.parameters(offer.node, [*standard.PARAMETERS, standard.STEP, standard.STAMPED_TWIST])
        self.own_parameters = frozenset(found)
        self.parameters: dict[str, Any] = {**standard.PARAMETERS, **found}
        self.step: float | None = found.get(standard.STEP)
        self.control = Control(client, offer)
        self.silence = "neither /clock nor joint states"
        self.streams = self._listen()
        self.description: Description | None = None
        self.description_error = "never received"
        self._read_description()
        self._was_paused: bool | None = None
        self._first = -1  # time that was heard first [ns]; -1 before
        self._runs = False

    def stream(self, name: str) -> Stream | None:
        """A topic by its name in `standard`; None if not subscribed."""
        return self.streams.get(self.offer.full(name))

    def of(self, output_name: str) -> list[Stream]:
        """All topics of one row of `standard`."""
        return [stream for stream in self.streams.values() if stream.output.name == output_name]

    def diagnosis(self, words: str) -> str | None:
        """The newest value of /diagnostics whose key contains some words; None without one."""
        stream = self.stream("/diagnostics")
        message = None if stream is None else stream.recording.newest
        pairs = [pair for status in message.status for pair in status.values] if message else []
        return next((pair.value for pair in pairs if words in pair.key), None)

    def is_told(self, condition: Callable[[], bool]) -> bool:
        """Whether a condition on /diagnostics holds within a few messages."""
        stream = self.stream("/diagnostics")
        if stream is not None:
            messages, enough = stream.recording.messages, len(stream.recording.messages) + _TELLING
            self.client.until(lambda: condition() or len(messages) >= enough)
        return condition()

    @property
    def now(self) -> int:
        """Simulation time, as the newest /clock or joint states say [ns]; -1 before."""
        clocks = [stream.recording for name in ("/clock", "joint_states") if (stream := self.stream(name))]
        return max((recording.time for recording in clocks), default=-1)

    def watch(self) -> bool:
        """Receives enough messages of all streams, once; returns whether the simulator ran then."""
        if self._was_paused is None:
            self._was_paused = not self.client.until(self._goes_on, _PATIENCE_PAUSED)
            if self._was_paused and not self.passive:
                # It may be starting instead: then it refuses, and starts by itself.
                refusal = self.control.pause(False)
                self._was_paused = not refusal
                self.silence = refusal or self.silence
                self.client.until(self._goes_on)
            self._runs = self._goes_on()
            if self._runs:
                streams = self.streams.values()
                self.client.until(lambda: all(stream.enough for stream in streams if stream.rate is not None))
                self.client.until(lambda: all(stream.enough for stream in streams), _PATIENCE_ONCE)
        return self._runs

    def _goes_on(self) -> bool:
        """Whether time has gone on since a time was heard: one that stands may be told to newcomers."""
        if self._first < 0:
            self._first = self.now
        return self.now > self._first

    def settle(self) -> bool:
        """Receives the remaining messages of a paused simulator; returns whether they come to an end.

        A busy computer may be behind by seconds.
        """
        streams = [stream.recording.messages for stream in self.streams.values() if stream.rate is not None]
        count = -1
        for _ in range(_MOST_ROUNDS):
            before, count = count, sum(len(messages) for messages in streams)
            if count == before:
                return True
            self.client.spin(_QUIET)
        return False

    def publish(self, name: str, message: Any) -> None:
        """Publishes a message on one of the simulator's topics and waits until it has been received.

        A node that answers a later request has most likely processed the message first.
        """
        topic = self.offer.full(name)
        latched = any(entry.durability == standard.TRANSIENT_LOCAL for entry in self.offer.own_subscribers(topic))
        self.client.publish(topic, message, latched)
        self.client.parameters(self.offer.node, [standard.STEP])

    def leave(self) -> None:
        """Leaves the simulator running or paused, as it was found."""
        if self._was_paused is not None and not self.passive:
            self.control.pause(self._was_paused)
            self.control.leave()

    def _listen(self) -> dict[str, Stream]:
        """Subscribes to every topic with the right type, with a compatible quality of service."""
        streams = {}
        for output in OUTPUTS:
            for topic in self.offer.topics(output):
                publishers = self.offer.own_publishers(topic)
                kind = interface(output.type)
                if kind is None or {publisher.type for publisher in publishers} != {output.type}:
                    continue
                recording = self.client.listen(
                    topic,
                    kind,
                    all(publisher.reliability == standard.RELIABLE for publisher in publishers),
                    all(publisher.durability == standard.TRANSIENT_LOCAL for publisher in publishers),
                )
                rate = self.parameters[output.rate_parameter] if output.rate_parameter else output.rate
                streams[topic] = Stream(
                    topic, topic if output.name.startswith("/") else self.offer.short(topic), output, recording, rate
                )
        return streams

    def _read_description(self) -> None:
        stream = self.stream("robot_description")
        if stream is None or not self.client.until(lambda: stream.recording.messages, _PATIENCE_PAUSED):
            return
        try:
            self.description = read_description(stream.recording.newest.data)
        except ValueError as error:
            self.description_error = str(error)
