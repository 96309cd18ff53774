"""Runs a bridge: its transport, kept open, its timer and what it sends, each in a thread."""

import math
import threading
import time
from collections.abc import Callable

from grouser.bridges.bridge import Bridge, LinkChange
from grouser.bridges.faults import FaultInjector
from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.plant import Plant
from grouser.bridges.scheduling import Granted, Scheduling, apply_scheduling
from grouser.bridges.transport import KeptOpen, Transport, TransportState, failure_text


class BridgeRunner:
    """A bridge with its transport and its timer.

    A failure of the timer or of what it sends, other than the transport's, ends the bridge: all links are lost, the
    machine is safe, and the transport stays closed with the failure as its reason.

    Args:
        mapping: what it does.
        transport: of the mapping, not open.
        plant: the machine.
        link_told: called once a change of a link, from any thread.
        transport_told: called once a change of the transport's state, from any thread.
        scheduling: of the transport's threads and of the timer.
        seed: of injected faults.

    Attributes:
        bridge, transport, faults: its parts.
        scheduling: that was asked for.
        granted: what the timer's thread got; None before it runs.
    """

    def __init__(
        self,
        mapping: BridgeMapping,
        transport: Transport,
        plant: Plant,
        link_told: Callable[[LinkChange], None] = lambda change: None,
        transport_told: Callable[[TransportState], None] = lambda state: None,
        scheduling: Scheduling | None = None,
        seed: int = 0,
    ) -> None:
        self.scheduling = scheduling or Scheduling()
        self.bridge = Bridge(mapping, plant, self._send, link_told)
        self.faults = FaultInjector(self.bridge, seed, self.bridge.attention)
        self.bridge.disturb = self.faults.disturb
        self.transport = KeptOpen(
            transport, self.faults, transport_told, lambda: apply_scheduling(self.scheduling), self.faults.tamper
        )
        self.granted: Granted | None = None
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(target=self._guard, args=(work,), name=name, daemon=True)
            for name, work in (("bridge", self._watch), ("bridge outputs", self._say))
        ]

    def start(self) -> None:
        """Commands the safe state and begins to run."""
        self.bridge.begin()
        for thread in self._threads:
            thread.start()
        self.transport.start()

    def stop(self) -> None:
        """Leaves the machine in the safe state and ends; returns when all threads have ended."""
        if self._ending.is_set():
            return
        self._ending.set()
        self.bridge.attention.set()
        for thread in self._threads:
            thread.join()
        self.transport.stop()
        self.bridge.finish()

    def _send(self, message, values):
        return self.transport.send(message, values)

    def _guard(self, work: Callable[[], None]) -> None:
        """Does the work of a thread: without it silence would not be found, so that its failure ends the bridge."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - any failure ends it
            reason = f"the bridge failed: {failure_text(error)}"
            try:
                self.bridge.fail(reason, time.monotonic())
            finally:
                self.transport.end(reason)

    def _watch(self) -> None:
        self.granted = apply_scheduling(self.scheduling)
        while not self._ending.is_set():
            self.bridge.attention.clear()
            now = time.monotonic()
            following = min(self.faults.tick(now), self.bridge.watch(now))
            if not self.bridge.attention.wait(max(0.0, following - time.monotonic())):
                self.bridge.figures.lateness.add(max(0.0, time.monotonic() - following))

    def _say(self) -> None:
        """Sends in a thread of its own: a transport may wait for its bus, and silence is found all the same."""
        apply_scheduling(self.scheduling)
        while not self._ending.is_set():
            following = self.bridge.say(time.monotonic())
            self._ending.wait(max(0.0, following - time.monotonic()) if following < math.inf else None)
