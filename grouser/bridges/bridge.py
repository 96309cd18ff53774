"""The bridge: from received messages to commands of the plant, and from its measurements to messages."""

import math
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from grouser.bridges.figures import BridgeFigures
from grouser.bridges.input import Input
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received
from grouser.bridges.output import Output
from grouser.bridges.plant import Plant

REPEAT = 0.05  # [s]: between repetitions of the commands of live links, for those who watch for silence
_RAMP = 0.005  # [s]: between steps of commands on their way
_PAST = 1e-4  # [s]: after a deadline, at which a link may still be in time
UNKNOWN = "unknown message"
FAILED = "bridge failed"
CONTESTED = "another bridge commands the same"

Send = Callable[[str, Mapping[str, float]], bool]


@dataclass(frozen=True)
class LinkChange:
    """A change of a link's state.

    Attributes:
        message: its name.
        before, after: the states.
        reason: in words.
        time: of the change, as the bridge's other times [s].
    """

    message: str
    before: LinkState
    after: LinkState
    reason: str
    time: float


class Bridge:
    """Takes messages from a transport's threads and `watch` and `say` from timers; commands the plant and sends.

    It is the sink of a transport, and knows no protocol. A link that is live enables nothing by itself: the emergency
    stop and the operator's rules stay where they are, behind it.

    Args:
        mapping: what it does.
        plant: the machine.
        send: sends the values of a message: `Transport.send`.
        told: called once for every change of a link's state, in the thread that found it.
        clock: of the times that come in, for latencies [s].

    Attributes:
        figures: what it counts.
        attention: set when `watch` is to be called sooner than it said.
        disturb: makes of measurements [SI] what is sent; faults of sensors.
        reasons: message -> why its link fell last.
        contested: message -> why it may not command: its actuator has another bridge.
    """

    def __init__(
        self,
        mapping: BridgeMapping,
        plant: Plant,
        send: Send,
        told: Callable[[LinkChange], None] = lambda change: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plant = plant
        self._send = send
        self._told = told
        self._clock = clock
        self._lock = threading.RLock()
        self._inputs = {message.name: Input(message, mapping, plant.measure) for message in mapping.incoming}
        self._outputs = [Output(message) for message in mapping.outgoing]
        self._repeat = -math.inf
        self._has_failed = False
        self.attention = threading.Event()
        self.disturb: Callable[[Mapping[str, float]], Mapping[str, float]] = dict
        self.reasons: dict[str, str] = {}
        self.contested: Mapping[str, str] = {}
        self.figures = BridgeFigures(
            {name: one.figures for name, one in self._inputs.items()},
            {one.message.name: one.figures for one in self._outputs},
        )

    @property
    def states(self) -> dict[str, LinkState]:
        """Message -> state of its link."""
        with self._lock:
            return {name: one.link.state for name, one in self._inputs.items()}

    def begin(self) -> None:
        """Commands the safe state, in which the machine is until a link is live."""
        with self._lock:
            for one in self._inputs.values():
                self._command(one.safe)

    def receive(self, received: Received) -> None:
        """Takes a message: obeys it, or counts why not."""
        with self._lock:
            if self._has_failed:
                self.figures.strangers[FAILED] += 1
                return
            one = self._inputs.get(received.message)
            if one is None:
                self.figures.strangers[received.refusal or UNKNOWN] += 1
                return
            if one.message.name in self.contested:
                received = replace(received, refusal=CONTESTED)
            self._age(one, received.time)
            before, heard = one.link.state, one.link.heard
            judgement = one.judge(received)
            if judgement.is_restart:
                one.link.restart(received.time)
                self._settle(one, before, heard, "the sender began anew", received.time)
                before, heard = one.link.state, one.link.heard
            if one.take(judgement, received.time):
                self._command(one.commands(received.time))
                self.figures.event_to_command.add(self._clock() - received.time)
                if one.is_moving():
                    self.attention.set()
            reason = "an error code" if judgement.is_error else "valid messages"
            self._settle(one, before, heard, reason, received.time)

    def lost(self, reason: str, time: float, messages: Collection[str] | None = None) -> None:
        """Takes the news that a device, bus or peer is gone."""
        with self._lock:
            for name, one in self._inputs.items():
                if messages is None or name in messages:
                    before, heard = one.link.state, one.link.heard
                    one.link.error(time)
                    self._settle(one, before, heard, reason, time)

    def contest(self, reasons: Mapping[str, str], time: float) -> None:
        """Takes the news of messages that may not command from now on, each with the reason; all others may again."""
        with self._lock:
            begun = {name: reason for name, reason in reasons.items() if name not in self.contested}
            self.contested = dict(reasons)
            for name, reason in begun.items():
                self.lost(reason, time, {name})

    def broken(self, reason: str, time: float) -> None:
        """As `lost`; whoever keeps the transport open opens it again."""
        self.lost(reason, time, None)

    def fail(self, reason: str, time: float) -> None:
        """Leaves the machine in the safe state for good: no link becomes live again."""
        with self._lock:
            self._has_failed = True
            self.lost(reason, time)
            self.begin()

    def tick(self, now: float) -> float:
        """Both `watch` and `say`; for who has one thread."""
        return min(self.watch(now), self.say(now))

    def watch(self, now: float) -> float:
        """Lets old links fall, moves commands and repeats them; returns when to call it next [s]."""
        with self._lock:
            following = now + REPEAT
            for one in self._inputs.values():
                self._age(one, now)
            following = min(following, self._move(now))
            deadlines = [one.link.deadline for one in self._inputs.values()]
            return min([following, *(deadline + _PAST for deadline in deadlines if deadline is not None)])

    def say(self, now: float) -> float:
        """Sends what is due; returns when to call it next [s]. It may wait for a bus, and keeps no lock meanwhile."""
        due = [output for output in self._outputs if output.is_due(now)]
        started = self._clock()
        measured = self.disturb(self._plant.measure({name for output in due for name in output.names}) if due else {})
        for output in due:
            sent = self._send(output.message.name, output.values(measured))
            output.figures.sent += sent
            output.figures.stopped += not sent
        if due:
            self.figures.measurement_to_sent.add(self._clock() - started)
        return min((output.due for output in self._outputs), default=math.inf)

    def acknowledge(self, now: float) -> dict[str, str]:
        """Acknowledges latched links; returns why not, by message, of those that stay latched."""
        with self._lock:
            refused = {}
            for name, one in self._inputs.items():
                before, heard = one.link.state, one.link.heard
                if reason := one.link.acknowledge(now):
                    refused[name] = reason
                self._settle(one, before, heard, "acknowledged", now)
            return refused

    def finish(self) -> None:
        """Leaves the machine in the safe state."""
        with self._lock:
            for one in self._inputs.values():
                if one.link.state is LinkState.LIVE:
                    self._command(one.safe)

    def _age(self, one: Input, now: float) -> None:
        """Lets the link fall if it is silent."""
        before, heard = one.link.state, one.link.heard
        one.link.tick(now)
        self._settle(one, before, heard, "silence", now)

    def _move(self, now: float) -> float:
        """Commands of live links whose commands are on their way, or are to be repeated; returns when to do it next."""
        repeats = now >= self._repeat + REPEAT
        moving = False
        for one in self._inputs.values():
            if one.link.state is LinkState.LIVE and (repeats or one.is_moving()):
                self._command(one.commands(now))
                moving |= one.is_moving()
        if repeats:
            self._repeat = now
        return now + _RAMP if moving else self._repeat + REPEAT

    def _settle(self, one: Input, before: LinkState, heard: float | None, reason: str, now: float) -> None:
        """Commands the safe state after a fall, and tells of a change."""
        after = one.link.state
        if before is after:
            return
        if before is LinkState.LIVE:
            one.forget()
            self._command(one.safe)
            one.figures.safe_entries += 1
            if heard is not None:
                one.figures.longest_hold = max(one.figures.longest_hold, now - heard)
        name = one.message.name
        if after in (LinkState.STALE, LinkState.LATCHED):
            self.reasons[name] = reason
        self.attention.set()
        self._told(LinkChange(name, before, after, reason, now))

    def _command(self, values: Mapping[str, float]) -> None:
        if values:
            self._plant.command(values)
