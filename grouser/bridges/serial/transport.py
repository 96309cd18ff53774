"""The transports of serial lines and UDP ports."""

import socket
import termios
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import serial

from grouser.bridges.line_writer import LineWriter
from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received, Sink
from grouser.bridges.receiving import Receiving
from grouser.bridges.serial.frames import Splitter
from grouser.bridges.serial.settings import SerialInterface, UdpInterface
from grouser.bridges.serial.stack import PeerFault, SerialStack
from grouser.bridges.transport import TransportError

# What pyserial raises when an adapter is unplugged; termios.error is no OSError.
_FAILURES = (OSError, termios.error)
_POLL = 0.1  # [s] after which a thread looks whether it shall end
_WRITE_TIMEOUT = 0.2  # [s]
_LONGEST_DATAGRAM = 65536  # [bytes]


class _Device(Protocol):
    def close(self) -> None: ...


class _LineTransport(ABC):
    """A line that carries pieces of bytes, which a stack decodes.

    Args:
        mapping: of the bridge.
        name: of its thread.
        failures: exceptions by which the line is lost.

    Attributes:
        tamper: changes the bytes of every received piece before they are decoded; faults of the line.
    """

    def __init__(self, mapping: BridgeMapping, name: str, failures: tuple[type[Exception], ...]) -> None:
        self.tamper: Callable[[bytes], bytes] = bytes
        self._stack = SerialStack(mapping, mapping.interface.form)
        self._name = name
        self._failures = failures
        self._lock = threading.Lock()  # of sending
        self._receiving = Receiving()
        self._device: Any = None

    def open(self, sink: Sink) -> None:
        """As `Transport.open`."""
        device = self._opened()
        with self._lock:
            self._device = device
        self._receiving.start(
            *(self._name, lambda: self._receive(device, sink), sink, self._failures),
            lambda error: f"{self._place}: {error}",
        )

    def close(self) -> None:
        """As `Transport.close`."""
        self._receiving.stop()
        with self._lock:
            device, self._device = self._device, None
        if device is not None:
            device.close()

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """As `Transport.send`. A peer of a UDP port that is not there is none of its failures: datagrams are lost."""
        with self._lock:
            if self._device is None:
                raise TransportError(f"{self._place} is closed")
            piece = self._stack.encode(message, values, time.monotonic())
            if piece is None:
                return False
            try:
                self._write(self._device, piece)
            except self._failures as error:
                raise TransportError(f"{self._place}: {error}") from error
            return True

    def _take(self, piece: bytes, now: float, sink: Sink) -> None:
        """Decodes a piece and hands it on."""
        read = self._stack.receive(self.tamper(piece), now)
        if isinstance(read, PeerFault):
            sink.lost(read.reason, now, None)
        else:
            sink.receive(read)

    @property
    @abstractmethod
    def _place(self) -> str:
        """What failures name."""

    @abstractmethod
    def _opened(self) -> _Device:
        """Opens the line, or raises a TransportError."""

    @abstractmethod
    def _write(self, device: Any, piece: bytes) -> None:
        """Sends a piece."""

    @abstractmethod
    def _receive(self, device: Any, sink: Sink) -> None:
        """Receives until the end, or raises."""


class SerialTransport(_LineTransport):
    """A serial line.

    Args:
        mapping: of the bridge.
    """

    def __init__(self, mapping: BridgeMapping) -> None:
        super().__init__(mapping, "serial", _FAILURES)
        self._interface: SerialInterface = mapping.interface

    @property
    def _place(self) -> str:
        return self._interface.port

    def _opened(self) -> serial.Serial:
        interface = self._interface
        try:
            port = serial.Serial(interface.port, interface.baud_rate, timeout=_POLL, exclusive=True)
        except (*_FAILURES, ValueError) as error:
            raise TransportError(f"{interface.port}: {error}") from error
        self._writer = LineWriter(port.fileno())
        return port

    def _write(self, device: serial.Serial, piece: bytes) -> None:
        self._writer.write(piece + self._stack.end, _WRITE_TIMEOUT)

    def _receive(self, device: serial.Serial, sink: Sink) -> None:
        splitter = Splitter(self._stack.end, self._stack.highest_length)
        oversized = 0
        while not self._receiving.ending.is_set():
            data = device.read(1)  # and then what else is there: one system call, not one a byte
            if not data:
                continue
            data += device.read(device.in_waiting)
            now = time.monotonic()
            for piece in splitter.split(data):
                self._take(piece, now, sink)
            for _ in range(splitter.oversized - oversized):
                sink.receive(Received("", now, refusal="oversized"))
            oversized = splitter.oversized


class UdpTransport(_LineTransport):
    """A UDP port with one peer.

    Args:
        mapping: of the bridge.
    """

    def __init__(self, mapping: BridgeMapping) -> None:
        super().__init__(mapping, "udp", (OSError,))
        self._interface: UdpInterface = mapping.interface
        self._peer: tuple = ()

    @property
    def _place(self) -> str:
        return f"UDP port {self._interface.local_port}"

    def _opened(self) -> socket.socket:
        interface = self._interface
        try:
            family, _, _, _, local = _resolved(interface.local_host, interface.local_port)
            self._peer = _resolved(interface.host, interface.port, family)[4]
            port = socket.socket(family, socket.SOCK_DGRAM)
        except OSError as error:
            raise TransportError(f"{self._place}: {error}") from error
        try:
            port.bind(local)
        except OSError as error:
            port.close()
            raise TransportError(f"{self._place} of {interface.local_host}: {error}") from error
        port.settimeout(_POLL)
        return port

    def _write(self, device: socket.socket, piece: bytes) -> None:
        try:
            device.sendto(piece, self._peer)
        except OSError as error:
            raise TransportError(f"UDP to {self._interface.host}: {error}") from error

    def _receive(self, device: socket.socket, sink: Sink) -> None:
        while not self._receiving.ending.is_set():
            try:
                data, sender = device.recvfrom(_LONGEST_DATAGRAM)
            except TimeoutError:
                continue
            now = time.monotonic()
            if sender[0] != self._peer[0]:
                sink.receive(Received("", now, refusal="another host"))
            else:
                self._take(data, now, sink)


def make_transport(mapping: BridgeMapping) -> SerialTransport | UdpTransport:
    """The transport of a mapping of a serial line or a UDP port."""
    return UdpTransport(mapping) if isinstance(mapping.interface, UdpInterface) else SerialTransport(mapping)


def _resolved(host: str, port: int, family: int = socket.AF_UNSPEC):
    return socket.getaddrinfo(host, port, family, socket.SOCK_DGRAM)[0]
