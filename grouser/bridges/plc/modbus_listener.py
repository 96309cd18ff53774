"""Connections of a Modbus TCP server that nobody can use up: broken frames, unread answers and silence end them.

Each has a thread that waits in the kernel, whose own limits end a wait: that takes a quarter of the processor time of
an event loop.
"""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable

from grouser.bridges.messages import Sink
from grouser.bridges.plc.modbus_requests import NO_RESPONSE
from grouser.bridges.receiving import Receiving, tell_of_failures

CONNECTIONS_MAX = 32
IDLE_MAX = 60  # [s] without a whole request, after which a connection is closed: its peer may be gone without a word
UNREAD_LIMIT = 5  # [s] that an answer waits for a client that takes none
_HEAD = struct.Struct(">HHH")  # transaction, protocol, length of what follows: a unit and a request
_LENGTHS = (2, 254)
_ROOM = 4096  # bytes taken at once
_EXCEPTION = 0x80

Answer = Callable[[bytes], bytes]  # of a request, both from the function on


class ModbusListener:
    """Answers requests of clients.

    Args:
        unit: which is answered; others get exception 11.
        answer: makes the answer to a request; called by one thread at a time.
    """

    def __init__(self, unit: int, answer: Answer) -> None:
        self._unit, self._answer = unit, answer
        self._answering = threading.Lock()
        self._accepting = Receiving()
        self._listener: socket.socket | None = None
        self._lock = threading.Lock()  # of the connections
        self._connections: dict[socket.socket, threading.Thread] = {}

    def open(self, host: str, port: int, sink: Sink) -> None:
        """Begins to listen.

        Raises:
            OSError: it cannot be bound.
        """
        families = [found[0] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        family = socket.AF_INET if socket.AF_INET in families else families[0]  # of localhost clients take 127.0.0.1
        listener = self._listener = socket.create_server((host, port), family=family)
        self._accepting.start("modbus_server", lambda: self._accept(listener, sink), sink, (OSError,))

    def close(self) -> None:
        """Ends listening and all connections."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        self._accepting.ending.set()
        _shut(listener)
        self._accepting.stop()
        listener.close()
        with self._lock:
            connections = dict(self._connections)
        for connection, thread in connections.items():
            _shut(connection)
            thread.join()

    def _accept(self, listener: socket.socket, sink: Sink) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                if self._accepting.ending.is_set():
                    return
                raise
            work = (lambda connection=connection: self._serve(connection), sink, ())
            thread = threading.Thread(target=tell_of_failures, args=work, name="modbus_connection", daemon=True)
            with self._lock:
                is_one_too_many = len(self._connections) >= CONNECTIONS_MAX
                if not is_one_too_many:
                    self._connections[connection] = thread
            if is_one_too_many:
                connection.close()
            else:
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        """Answers the requests of a connection until one of both sides ends it."""
        with contextlib.suppress(OSError):  # that of a peer ends its connection and nothing else
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", IDLE_MAX, 0))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", UNREAD_LIMIT, 0))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            rest, heard = b"", time.monotonic()
            while data := connection.recv(_ROOM):
                answers, rest = self._answers(rest + data)
                if answers is None or (not answers and time.monotonic() - heard > IDLE_MAX):
                    break
                if answers:
                    heard = time.monotonic()
                    connection.sendall(answers)
        with self._lock:
            del self._connections[connection]
        connection.close()

    def _answers(self, data: bytes) -> tuple[bytes | None, bytes]:
        """The answers to the whole requests in some bytes, None if one is none; and the bytes behind them."""
        answers, at = b"", 0
        while len(data) - at >= _HEAD.size:
            transaction, protocol, length = _HEAD.unpack_from(data, at)
            if protocol != 0 or not _LENGTHS[0] <= length <= _LENGTHS[1]:
                return None, b""
            begin = at + _HEAD.size
            at = begin + length
            if len(data) < at:
                return answers, data[begin - _HEAD.size :]
            answer = self._answered(data[begin], data[begin + 1 : at])
            answers += _HEAD.pack(transaction, 0, 1 + len(answer)) + data[begin : begin + 1] + answer
        return answers, data[at:]

    def _answered(self, unit: int, request: bytes) -> bytes:
        if unit != self._unit:
            return bytes((request[0] | _EXCEPTION, NO_RESPONSE))
        with self._answering:
            return self._answer(request)


def _shut(one: socket.socket) -> None:
    """Ends whatever a thread waits for at a socket."""
    with contextlib.suppress(OSError):  # its peer has ended it already
        one.shutdown(socket.SHUT_RDWR)
