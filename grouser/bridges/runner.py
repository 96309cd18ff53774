"""Runs a bridge: its transport, kept open, and its timer, each in a thread."""

import threading
import time
from collections.abc import Callable

from grouser.bridges.bridge import Bridge, LinkChange
from grouser.bridges.faults import FaultInjector
from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.plant import Plant
from grouser.bridges.scheduling import Granted, Scheduling, apply_scheduling
from grouser.bridges.transport import KeptOpen, Transport, TransportState


class BridgeRunner:
    """A bridge with its transport and its timer.

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
        self._scheduling = scheduling or Scheduling()
        self.bridge = Bridge(mapping, plant, self._send, link_told)
        self.faults = FaultInjector(self.bridge, seed, self.bridge.attention)
        self.bridge.disturb = self.faults.disturb
        self.transport = KeptOpen(
            transport, self.faults, transport_told, lambda: apply_scheduling(self._scheduling), self.faults.tamper
        )
        self.granted: Granted | None = None
        self._ending = threading.Event()
        self._timer = threading.Thread(target=self._run, name="bridge", daemon=True)

    def start(self) -> None:
        """Commands the safe state and begins to run."""
        self.bridge.begin()
        self._timer.start()
        self.transport.start()

    def stop(self) -> None:
        """Leaves the machine in the safe state and ends; returns when all threads have ended."""
        if self._ending.is_set():
            return
        self._ending.set()
        self.bridge.attention.set()
        self._timer.join()
        self.transport.stop()
        self.bridge.finish()

    def _send(self, message, values):
        return self.transport.send(message, values)

    def _run(self) -> None:
        self.granted = apply_scheduling(self._scheduling)
        while not self._ending.is_set():
            self.bridge.attention.clear()
            now = time.monotonic()
            following = min(self.faults.tick(now), self.bridge.tick(now))
            if not self.bridge.attention.wait(max(0.0, following - time.monotonic())):
                self.bridge.figures.lateness.add(max(0.0, time.monotonic() - following))
