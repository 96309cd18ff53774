"""The transport of CAN buses, by any interface of python-can."""

import termios
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import can

from grouser.bridges.can.frames import CanFrame, Outcome
from grouser.bridges.can.settings import CanInterface
from grouser.bridges.can.slcan_line import SlcanLine
from grouser.bridges.can.stack import CanStack
from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received, Sink
from grouser.bridges.receiving import Receiving
from grouser.bridges.transport import TransportError

# What interfaces of python-can raise when a bus is lost; of serial ports termios.error is no OSError.
_FAILURES = (can.CanError, OSError, termios.error)
# What they raise at bytes that are no frame.
_UNREADABLE = (ValueError, IndexError)
_UNREADABLE_IN_A_ROW = 20  # after which the interface is opened again, because it may never come out of it
_TICK = 0.01  # [s]
_SEND_TIMEOUT = 0.05  # [s] of waiting for room in the interface
_BUS_OFF = 0x40  # in the identifier of an error frame, as SocketCAN has it


class CanTransport:
    """A CAN bus.

    Args:
        mapping: of the bridge.

    Attributes:
        tamper: changes the bytes of every received frame before they are decoded; faults of the line.
    """

    def __init__(self, mapping: BridgeMapping) -> None:
        self.tamper: Callable[[bytes], bytes] = bytes
        self._interface: CanInterface = mapping.interface
        self._stack = CanStack(mapping)
        self._lock = threading.Lock()  # of the stack, and of sending
        self._receiving = Receiving()
        self._bus: can.BusABC | None = None

    @property
    def facts(self) -> dict[str, str]:
        """What diagnostics say about the nodes on the bus, in words by subject."""
        with self._lock:
            return self._stack.facts

    def open(self, sink: Sink) -> None:
        """As `Transport.open`."""
        bus = self._opened()
        try:
            with self._lock:
                self._bus = bus
                self._write(self._stack.start(time.monotonic()))
        except TransportError:
            self._bus = None
            _shut_down(bus)
            raise
        self._receiving.start("can", lambda: self._receive(bus, sink), sink, (TransportError, *_FAILURES))

    def close(self) -> None:
        """As `Transport.close`."""
        self._receiving.stop()
        with self._lock:
            bus, self._bus = self._bus, None
        if bus is not None:
            _shut_down(bus)

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """As `Transport.send`. False too while the bridge has no address, or is not operational as a CANopen node."""
        with self._lock:
            if self._bus is None:
                raise TransportError("the bus is closed")
            is_sent, frames = self._stack.encode(message, values, time.monotonic())
            self._write(frames)
            return is_sent

    def _opened(self) -> can.BusABC:
        interface = self._interface
        options: dict[str, Any] = dict(interface.options)
        name = f"{interface.interface} {interface.channel}".strip()
        try:
            if interface.interface == "slcan" and "://" not in interface.channel:
                bus: can.BusABC = SlcanLine(interface.channel, **options)
            else:  # by the mapping alone, not by python-can's own configuration files
                bus = can.Bus(interface.channel, interface.interface, ignore_config=True, **options)
        except (*_FAILURES, *_UNREADABLE, TypeError, NotImplementedError) as error:
            raise TransportError(f"{name}: {error or type(error).__name__}") from error
        try:
            bus.recv(0.0)  # of a SocketCAN interface that is down, the first one fails
        except _FAILURES as error:
            _shut_down(bus)
            raise TransportError(f"{name}: {error or type(error).__name__}") from error
        except _UNREADABLE:
            return bus
        return bus

    def _receive(self, bus: can.BusABC, sink: Sink) -> None:
        """Receives until the end, or raises."""
        unreadable = 0
        next_tick = 0.0
        while not self._receiving.ending.is_set():
            try:
                message = bus.recv(_TICK)
            except _UNREADABLE:
                sink.receive(Received("", time.monotonic(), refusal="no frame"))
                unreadable += 1
                if unreadable == _UNREADABLE_IN_A_ROW:
                    raise TransportError("what arrives are no frames; is the bitrate right?") from None
                continue
            now = time.monotonic()
            if message is not None:
                unreadable = 0
                self._take(message, now, sink)
            if now >= next_tick:
                next_tick = now + _TICK
                with self._lock:
                    outcome = self._stack.tick(now)
                    if outcome.frames:
                        self._write(outcome.frames)
                _tell(outcome, now, sink)

    def _take(self, message: can.Message, now: float, sink: Sink) -> None:
        if message.is_error_frame:
            if message.arbitration_id & _BUS_OFF:
                raise TransportError("bus-off")
            return
        # Not by `is_rx`, which is false for frames of other programs of this computer. Own frames do not come back.
        if message.is_remote_frame or message.is_fd:
            return
        frame = CanFrame(message.arbitration_id, message.is_extended_id, self.tamper(bytes(message.data)))
        with self._lock:
            received, outcome = self._stack.receive(frame, now)
            if outcome.frames:
                self._write(outcome.frames)
        if outcome.losses or outcome.received:
            _tell(outcome, now, sink)
        if received is not None:
            sink.receive(received)

    def _write(self, frames: list[CanFrame]) -> None:
        """Sends frames; the caller holds the lock."""
        if self._bus is None:
            return
        for frame in frames:
            message = can.Message(arbitration_id=frame.identifier, is_extended_id=frame.is_extended, data=frame.data)
            try:
                self._bus.send(message, timeout=_SEND_TIMEOUT)
            except _FAILURES as error:
                raise TransportError(str(error) or type(error).__name__) from error


def make_transport(mapping: BridgeMapping) -> CanTransport:
    """The transport of a mapping of a CAN bus."""
    return CanTransport(mapping)


def _tell(outcome: Outcome, now: float, sink: Sink) -> None:
    for received in outcome.received:
        sink.receive(received)
    for loss in outcome.losses:
        if loss.messages:
            sink.lost(loss.reason, now, loss.messages)


def _shut_down(bus: can.BusABC) -> None:
    try:
        bus.shutdown()
    except _FAILURES:
        # The device is gone already; there is nothing left to close.
        return
