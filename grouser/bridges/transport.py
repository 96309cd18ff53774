"""Transports: the only part of a bridge that knows a protocol; and what keeps one open."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from grouser.bridges.messages import Sink

BACK_OFF = (0.1, 2.0)  # [s]: first and longest wait before it is opened again
CLOSED = "closed"  # the reason of a transport that was stopped


class TransportError(Exception):
    """A device, bus or peer is not there, or was lost; the text says which and why, and what helps."""


class Transport(Protocol):
    """Moves messages between a device or a bus and a bridge.

    Between `open` and `close` it hands what it receives to its sink from threads of its own. A failure there goes to
    `Sink.broken`; it never ends silently. It may have a property `facts`, a mapping of words for diagnostics,
    an attribute `tamper`, a function by which the bytes of every message go before they are decoded, and a method
    `cancel`, called from another thread, after which an `open` that takes long fails, as do all later ones.
    """

    def open(self, sink: Sink) -> None:
        """Opens the device and begins to receive; returns when it is open.

        Raises:
            TransportError: it cannot be opened. Nothing is left open.
        """

    def close(self) -> None:
        """Ends receiving and closes; returns when its threads have ended. Does nothing when it is closed."""

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """Sends a message.

        Args:
            message: name of an outgoing message of the mapping.
            values: field (`SignalMapping.field`) -> value as the protocol has it, after scale and offset. NaN: there is
                none; it goes out as the protocol's error code.

        Returns:
            Whether it was sent. False: a value is NaN and the protocol has no code for it.

        Raises:
            TransportError: it cannot be sent: closed, or lost.
        """


@dataclass(frozen=True)
class TransportState:
    """Whether a transport is open.

    Attributes:
        is_open: messages can flow.
        reason: why not, or why it was reopened last; "" at first.
        openings: how often it was opened.
        has_ended: whether it stays closed; else it is opened again.
    """

    is_open: bool = False
    reason: str = ""
    openings: int = 0
    has_ended: bool = False


def failure_text(error: Exception) -> str:
    """What an exception says, with its kind where it is not one of a transport."""
    return str(error) if isinstance(error, TransportError) else f"{type(error).__name__}: {error}"


class KeptOpen:
    """Keeps a transport open: opens it again after failures, and waits longer from failure to failure.

    It is the sink of the transport, and hands on to the sink of the bridge.

    Args:
        transport: to keep open.
        sink: of the bridge.
        told: called once a change of the state, from the thread that keeps it open.
        prepare: called first in that thread; threads that the transport makes inherit its scheduling.
        tamper: for the transport's attribute of that name; None: none.

    Attributes:
        state: of the transport.
        can_tamper: whether it has the attribute `tamper`.
    """

    def __init__(
        self,
        transport: Transport,
        sink: Sink,
        told: Callable[[TransportState], None] = lambda state: None,
        prepare: Callable[[], object] = lambda: None,
        tamper: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self._transport = transport
        self._sink = sink
        self._told = told
        self._prepare = prepare
        self.can_tamper = hasattr(transport, "tamper")
        if self.can_tamper and tamper is not None:
            transport.tamper = tamper  # type: ignore[attr-defined]
        self._attention = threading.Event()
        self._ending = threading.Event()
        self._failure = ""
        self._thread = threading.Thread(target=self._keep, name="transport", daemon=True)
        self.state = TransportState()

    def start(self) -> None:
        """Begins to open it."""
        self._thread.start()

    def end(self, reason: str) -> None:
        """Lets it be closed for good."""
        if not self._ending.is_set():
            self._failure = reason
        self._ending.set()
        self._attention.set()

    def stop(self) -> None:
        """Closes it; returns when it is closed."""
        self.end(CLOSED)
        getattr(self._transport, "cancel", lambda: None)()
        self._thread.join()

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """As `Transport.send`; False while it is not open. A failure leads to reopening."""
        if not self.state.is_open:
            return False
        try:
            return self._transport.send(message, values)
        except Exception as error:  # noqa: BLE001 - of a codec, too
            self.broken(failure_text(error), time.monotonic())
            return False

    @property
    def facts(self) -> Mapping[str, str]:
        """What the transport tells of itself, in words: its devices, its address; for diagnostics."""
        return getattr(self._transport, "facts", {})

    def receive(self, received) -> None:
        """Hands on."""
        self._sink.receive(received)

    def lost(self, reason, time, messages=None) -> None:
        """Hands on."""
        self._sink.lost(reason, time, messages)

    def broken(self, reason: str, time: float) -> None:
        """Lets all links fall, and the transport be opened again."""
        self._sink.lost(reason, time, None)
        if not self._ending.is_set():
            self._failure = reason
        self._attention.set()

    def _keep(self) -> None:
        self._prepare()
        wait, longest = BACK_OFF
        while not self._ending.is_set():
            self._attention.clear()
            if self._ending.is_set():
                break
            began = time.monotonic()
            try:
                self._transport.open(self)
            except Exception as error:  # noqa: BLE001 - of any library
                self._change(TransportState(False, failure_text(error), self.state.openings))
                if not isinstance(error, TransportError):  # who promises that nothing is left open
                    self._close()
            else:
                self._change(TransportState(True, self.state.reason, self.state.openings + 1))
                self._attention.wait()
                self._change(TransportState(False, self._failure, self.state.openings, self._ending.is_set()))
                self._close()
            if time.monotonic() - began > longest:  # it was open for a while
                wait = BACK_OFF[0]
            self._ending.wait(wait)
            wait = min(2.0 * wait, longest)
        reason = self.state.reason if self._failure == CLOSED else self._failure
        self._change(TransportState(False, reason, self.state.openings, True))

    def _close(self) -> None:
        try:
            self._transport.close()
        except Exception as error:  # noqa: BLE001 - of any library
            self._change(replace(self.state, reason=f"{self.state.reason}; closing it: {failure_text(error)}"))

    def _change(self, state: TransportState) -> None:
        told, self.state = self.state, state
        if (state.is_open, state.reason) != (told.is_open, told.reason):
            self._told(state)
