"""Faults of the line and of sensors, injected into a running bridge: the same seed gives the same faults."""

import heapq
import math
import random
import threading
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from grouser.bridges.messages import Received, Sink

BUS_OFF = "bus-off (injected)"


@dataclass(frozen=True)
class LineFaults:
    """Faults of what is received.

    Attributes:
        stale_stick: every message says what the first one said since then: a radio link that repeats for ever.
        bus_off: nothing is received, and the links fall at once.
        loss: share of messages that do not arrive.
        delay: longest time by which messages come late, each by its own [s].
        duplicate: share of messages that arrive twice.
        bit_flip: share of messages in which one bit is flipped before they are decoded.
    """

    stale_stick: bool = False
    bus_off: bool = False
    loss: float = 0.0
    delay: float = 0.0
    duplicate: float = 0.0
    bit_flip: float = 0.0


_SOUND = LineFaults()


@dataclass(frozen=True)
class SensorFault:
    """Faults of a measurement.

    Attributes:
        stuck_sensor: it shows what it showed first since then.
        sensor_noise: standard deviation [SI].
        sensor_offset: what it shows too much [SI].
    """

    stuck_sensor: bool = False
    sensor_noise: float = 0.0
    sensor_offset: float = 0.0


class FaultInjector:
    """Stands between a transport and a bridge, and between the plant's measurements and what is sent.

    Args:
        sink: of the bridge.
        seed: of all random faults.
        attention: set when `tick` is to be called sooner than it said.

    Attributes:
        injected: kind of fault -> how often.
    """

    def __init__(self, sink: Sink, seed: int = 0, attention: threading.Event | None = None) -> None:
        self.injected: Counter[str] = Counter()
        self._attention = attention or threading.Event()
        self._sink = sink
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._line = _SOUND
        self._sensors: dict[str, SensorFault] = {}
        self._frozen: dict[str, Received] = {}
        self._stuck: dict[str, float] = {}
        self._late: list[tuple[float, int, Received]] = []
        self._number = 0

    @property
    def line(self) -> LineFaults:
        """The present faults of the line."""
        return self._line

    def set_line(self, faults: LineFaults, now: float) -> None:
        """Changes the faults of the line."""
        with self._lock:
            goes_off = faults.bus_off and not self._line.bus_off
            if not faults.stale_stick:
                self._frozen.clear()
            if goes_off:
                self._late.clear()
            self._line = _SOUND if faults == _SOUND else faults
        if goes_off:
            self.injected["bus_off"] += 1
            self._sink.lost(BUS_OFF, now, None)

    def set_sensor(self, signal: str, fault: SensorFault) -> None:
        """Changes the faults of a measurement."""
        with self._lock:
            if not fault.stuck_sensor:
                self._stuck.pop(signal, None)
            self._sensors[signal] = fault

    def receive(self, received: Received) -> None:
        """Hands a message on: once, twice, later, changed or not at all."""
        if self._line is _SOUND:
            self._sink.receive(received)
            return
        with self._lock:
            arrivals = self._arrivals(received)
        for arrival in arrivals:
            self._sink.receive(arrival)

    def lost(self, reason: str, time: float, messages: Collection[str] | None = None) -> None:
        """Hands on."""
        self._sink.lost(reason, time, messages)

    def broken(self, reason: str, time: float) -> None:
        """Hands on."""
        self._sink.broken(reason, time)

    def tamper(self, data: bytes) -> bytes:
        """Returns the bytes of a message as a transport is to decode them: at times with one bit flipped."""
        if self._line.bit_flip == 0.0:
            return data
        with self._lock:
            if not data or self._random.random() >= self._line.bit_flip:
                return data
            self.injected["bit_flip"] += 1
            bit = self._random.randrange(8 * len(data))
        flipped = int.from_bytes(data, "little") ^ 1 << bit
        return flipped.to_bytes(len(data), "little")

    def tick(self, now: float) -> float:
        """Hands on what is late and due; returns when there is more [s]."""
        due = []
        with self._lock:
            while self._late and self._late[0][0] <= now:
                due.append(heapq.heappop(self._late)[2])
            following = self._late[0][0] if self._late else math.inf
        for received in due:
            self._sink.receive(replace(received, time=now))
        return following

    def disturb(self, measured: Mapping[str, float]) -> dict[str, float]:
        """Returns measurements [SI] as faulty sensors show them."""
        if not self._sensors:
            return dict(measured)
        with self._lock:
            return {name: self._disturbed(name, value) for name, value in measured.items()}

    def _arrivals(self, received: Received) -> list[Received]:
        line, chance = self._line, self._random.random
        if line.bus_off:
            return []
        if chance() < line.loss:
            self.injected["loss"] += 1
            return []
        if line.stale_stick and not received.refusal:
            self.injected["stale_stick"] += 1
            received = replace(self._frozen.setdefault(received.message, received), time=received.time)
        count = 1
        if chance() < line.duplicate:
            self.injected["duplicate"] += 1
            count = 2
        if line.delay == 0.0:
            return [received] * count
        for _ in range(count):
            self.injected["delay"] += 1
            self._number += 1
            heapq.heappush(self._late, (received.time + chance() * line.delay, self._number, received))
        self._attention.set()
        return []

    def _disturbed(self, name: str, value: float) -> float:
        fault = self._sensors.get(name)
        if fault is None:
            return value
        if fault.stuck_sensor:
            value = self._stuck.setdefault(name, value)
        noise = self._random.gauss(0.0, fault.sensor_noise) if fault.sensor_noise > 0.0 else 0.0
        return value + fault.sensor_offset + noise
