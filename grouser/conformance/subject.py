"""The simulator under examination: what it has said so far, and how it was found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grouser.conformance import standard
from grouser.conformance.client import Client, ReceivedMessages, interface
from grouser.conformance.control import Control
from grouser.conformance.description import Description, read_description
from grouser.conformance.discovery import Offer
from grouser.conformance.standard import OUTPUTS, Output

_PATIENCE_PAUSED = 2.0  # [s] of wall time without a /clock after which a simulator is taken to be paused
_PATIENCE_ONCE = 3.0  # [s] of wall time for what is said once, and for /diagnostics
_TELLING = 3  # messages of /diagnostics, of which one tells what happened before the first of them
_QUIET, _MOST_ROUNDS = 0.2, 20  # [s] of wall time in which nothing comes from a paused simulator; looks for that
FEWEST, _MOST = 4, 26  # messages of a stream that are wanted; between these a quarter of a second's


@dataclass(frozen=True)
class Stream:
    """A topic that is heard.

    Attributes:
        topic: full name.
        name: without the namespace.
        output: what it ought to be.
        recording: what has come.
        rate: that the node's parameter asks for [Hz]; None where there is no rate.
    """

    topic: str
    name: str
    output: Output
    recording: ReceivedMessages
    rate: float | None

    @property
    def enough(self) -> bool:
        """Whether its rate can be seen."""
        return len(self.recording.messages) >= self.wanted

    @property
    def wanted(self) -> int:
        """How many messages it takes for that."""
        if self.rate is None:
            return 0 if self.output.name == "/tf_static" else 1
        return int(np.clip(self.rate / 4.0, FEWEST, _MOST)) if self.rate else _MOST


class Subject:
    """A simulator and what is known of it.

    Args:
        client: that speaks with it.
        offer: what it has.
        passive: whether it must be left as it is.

    Attributes:
        parameters: of `standard.PARAMETERS`, with what the node says.
        own_parameters: names of those that the node has.
        step: of the simulation [s]; None if the node does not say.
        description: of the machine; None if there is none that can be read.
        description_error: why not.
        control: pauses, steps and resets.
        streams: what is heard, by full name of the topic.
        silence: why no time is heard, as far as that is known.
    """

    def __init__(self, client: Client, offer: Offer, passive: bool) -> None:
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
        self.description_error = "never heard"
        self._read_description()
        self._was_paused: bool | None = None

    def stream(self, name: str) -> Stream | None:
        """A topic by its name in `standard`; None if it is not heard."""
        return self.streams.get(self.offer.full(name))

    def of(self, output_name: str) -> list[Stream]:
        """All topics of one row of `standard`."""
        return [stream for stream in self.streams.values() if stream.output.name == output_name]

    def diagnosis(self, words: str) -> str | None:
        """The newest value of /diagnostics whose key has some words in it; None: it is not told."""
        stream = self.stream("/diagnostics")
        message = None if stream is None else stream.recording.newest
        pairs = [pair for status in message.status for pair in status.values] if message else []
        return next((pair.value for pair in pairs if words in pair.key), None)

    def is_told(self, condition: Callable[[], bool]) -> bool:
        """Whether a condition of what /diagnostics say holds, or comes to hold now."""
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
        """Hears enough of all streams, once; returns whether the simulator runs."""
        if self._was_paused is None:
            self._was_paused = not self.client.until(lambda: self.now >= 0, _PATIENCE_PAUSED)
            if self._was_paused and not self.passive:
                # It may be getting ready instead: then it refuses, and starts by itself.
                refusal = self.control.pause(False)
                self._was_paused = not refusal
                self.silence = refusal or self.silence
                self.client.until(lambda: self.now >= 0)
            if self.now >= 0:
                streams = self.streams.values()
                self.client.until(lambda: all(stream.enough for stream in streams if stream.rate is not None))
                self.client.until(lambda: all(stream.enough for stream in streams), _PATIENCE_ONCE)
        return self.now >= 0

    def settle(self) -> None:
        """Hears, from a paused simulator, what is still on its way; a busy computer may be behind by seconds."""
        streams = [stream.recording.messages for stream in self.streams.values() if stream.rate is not None]
        count = -1
        for _ in range(_MOST_ROUNDS):
            before, count = count, sum(len(messages) for messages in streams)
            if count == before:
                return
            self.client.spin(_QUIET)

    def say(self, name: str, message: Any) -> None:
        """Sends a message to one of the simulator's topics and waits until it has been heard.

        A node that answers a request that was sent behind the message has most likely taken that first.
        """
        topic = self.offer.full(name)
        latched = any(entry.durability == standard.TRANSIENT_LOCAL for entry in self.offer.own_subscribers(topic))
        self.client.say(topic, message, latched)
        self.client.parameters(self.offer.node, [standard.STEP])

    def leave(self) -> None:
        """Leaves the simulator running or paused, as it was found."""
        if self._was_paused is not None and not self.passive:
            self.control.pause(self._was_paused)
            self.control.leave()

    def _listen(self) -> dict[str, Stream]:
        """Hears every topic whose type is right, by what its publishers offer."""
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
