"""The transports of serial lines and UDP ports."""

import socket
import termios
import threading
import time
from collections.abc import Callable, Mapping

import serial

from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received, Sink
from grouser.bridges.serial.frames import Splitter
from grouser.bridges.serial.settings import SerialInterface, UdpInterface
from grouser.bridges.serial.stack import PeerFault, SerialStack
from grouser.bridges.transport import TransportError

# What pyserial raises when an adapter is unplugged; termios.error is no OSError.
_FAILURES = (OSError, termios.error)
_POLL = 0.1  # [s] after which a thread looks whether it shall end
_WRITE_TIMEOUT = 0.2  # [s]
_LONGEST_DATAGRAM = 65536  # [bytes]


class SerialTransport:
    """A serial line.

    Args:
        mapping: of the bridge.

    Attributes:
        tamper: changes the bytes of every received piece before they are decoded; faults of the line.
    """

    def __init__(self, mapping: BridgeMapping) -> None:
        self.tamper: Callable[[bytes], bytes] = bytes
        self._interface: SerialInterface = mapping.interface
        self._stack = SerialStack(mapping, self._interface.form)
        self._lock = threading.Lock()  # of sending
        self._ending = threading.Event()
        self._line: serial.Serial | None = None
        self._thread: threading.Thread | None = None

    def open(self, sink: Sink) -> None:
        """As `Transport.open`."""
        interface = self._interface
        try:
            line = serial.Serial(
                interface.port, interface.baud_rate, timeout=_POLL, write_timeout=_WRITE_TIMEOUT, exclusive=True
            )
        except (*_FAILURES, ValueError) as error:
            raise TransportError(f"{interface.port}: {error}") from error
        self._ending.clear()
        with self._lock:
            self._line = line
        self._thread = threading.Thread(target=self._run, args=(line, sink), name="serial", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """As `Transport.close`."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with self._lock:
            line, self._line = self._line, None
        if line is not None:
            line.close()

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """As `Transport.send`."""
        with self._lock:
            if self._line is None:
                raise TransportError("the line is closed")
            piece = self._stack.encode(message, values, time.monotonic())
            if piece is None:
                return False
            try:
                self._line.write(piece + self._stack.end)
            except _FAILURES as error:
                raise TransportError(f"{self._interface.port}: {error}") from error
            return True

    def _run(self, line: serial.Serial, sink: Sink) -> None:
        reason = "receiving ended by an unforeseen error"  # which the thread reports itself
        try:
            self._receive(line, sink)
            reason = ""
        except _FAILURES as error:
            reason = f"{self._interface.port}: {error}"
        finally:
            if reason:
                sink.broken(reason, time.monotonic())

    def _receive(self, line: serial.Serial, sink: Sink) -> None:
        """Receives until the end, or raises."""
        splitter = Splitter(self._stack.end, self._stack.highest_length)
        oversized = 0
        while not self._ending.is_set():
            data = line.read(1)  # and then what else is there: one system call, not one a byte
            if not data:
                continue
            data += line.read(line.in_waiting)
            now = time.monotonic()
            for piece in splitter.split(data):
                _hand_on(self._stack.receive(self.tamper(piece), now), now, sink)
            for _ in range(splitter.oversized - oversized):
                sink.receive(Received("", now, refusal="oversized"))
            oversized = splitter.oversized


class UdpTransport:
    """A UDP port with one peer.

    Args:
        mapping: of the bridge.

    Attributes:
        tamper: changes the bytes of every received piece before they are decoded; faults of the line.
    """

    def __init__(self, mapping: BridgeMapping) -> None:
        self.tamper: Callable[[bytes], bytes] = bytes
        self._interface: UdpInterface = mapping.interface
        self._stack = SerialStack(mapping, self._interface.form)
        self._lock = threading.Lock()  # of sending
        self._ending = threading.Event()
        self._socket: socket.socket | None = None
        self._peer: tuple = ()
        self._thread: threading.Thread | None = None

    def open(self, sink: Sink) -> None:
        """As `Transport.open`."""
        interface = self._interface
        try:
            family, _, _, _, local = _resolved(interface.local_host, interface.local_port)
            self._peer = _resolved(interface.host, interface.port, family)[4]
            port = socket.socket(family, socket.SOCK_DGRAM)
        except OSError as error:
            raise TransportError(f"UDP port {interface.local_port}: {error}") from error
        try:
            port.bind(local)
        except OSError as error:
            port.close()
            raise TransportError(f"UDP port {interface.local_port} of {interface.local_host}: {error}") from error
        port.settimeout(_POLL)
        self._ending.clear()
        with self._lock:
            self._socket = port
        self._thread = threading.Thread(target=self._run, args=(port, sink), name="udp", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """As `Transport.close`."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with self._lock:
            port, self._socket = self._socket, None
        if port is not None:
            port.close()

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """As `Transport.send`. A peer that is not there is none of its failures: datagrams to it are lost."""
        with self._lock:
            if self._socket is None:
                raise TransportError("the UDP port is closed")
            piece = self._stack.encode(message, values, time.monotonic())
            if piece is None:
                return False
            try:
                self._socket.sendto(piece, self._peer)
            except OSError as error:
                raise TransportError(f"UDP to {self._interface.host}: {error}") from error
            return True

    def _run(self, port: socket.socket, sink: Sink) -> None:
        reason = "receiving ended by an unforeseen error"  # which the thread reports itself
        try:
            self._receive(port, sink)
            reason = ""
        except OSError as error:
            reason = f"UDP port {self._interface.local_port}: {error}"
        finally:
            if reason:
                sink.broken(reason, time.monotonic())

    def _receive(self, port: socket.socket, sink: Sink) -> None:
        """Receives until the end, or raises."""
        while not self._ending.is_set():
            try:
                data, sender = port.recvfrom(_LONGEST_DATAGRAM)
            except TimeoutError:
                continue
            now = time.monotonic()
            if sender[0] != self._peer[0]:
                sink.receive(Received("", now, refusal="another host"))
            else:
                _hand_on(self._stack.receive(self.tamper(data), now), now, sink)


def make_transport(mapping: BridgeMapping) -> SerialTransport | UdpTransport:
    """The transport of a mapping of a serial line or a UDP port."""
    return UdpTransport(mapping) if isinstance(mapping.interface, UdpInterface) else SerialTransport(mapping)


def _resolved(host: str, port: int, family: int = socket.AF_UNSPEC):
    return socket.getaddrinfo(host, port, family, socket.SOCK_DGRAM)[0]


def _hand_on(read: Received | PeerFault, now: float, sink: Sink) -> None:
    if isinstance(read, PeerFault):
        sink.lost(read.reason, now, None)
    else:
        sink.receive(read)
