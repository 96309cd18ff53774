"""The machine as a Modbus server: a controller writes commands into registers and reads measurements from others."""

import os
import select
import termios
import time
from collections.abc import Mapping

import serial

from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received, Sink
from grouser.bridges.plc.modbus_line import LineServer
from grouser.bridges.plc.modbus_listener import ModbusListener
from grouser.bridges.plc.modbus_requests import ModbusRequests
from grouser.bridges.plc.modbus_schema import ModbusInterface, SerialLine
from grouser.bridges.plc.network import Endpoint
from grouser.bridges.receiving import Receiving
from grouser.bridges.transport import Transport, TransportError

_POLL = 0.1  # [s] after which the thread of a line looks whether it shall end
_SILENCE = 0.02  # [s], and 3.5 characters: between two frames; adapters hold bytes back for up to 16 ms
_CHARACTERS, _BITS = 3.5, 11
_WRITE_TIMEOUT = 1.0  # [s]
# What pyserial raises when an adapter is unplugged; termios.error is no OSError.
_FAILURES = (OSError, termios.error)


class _Server:
    """What both kinds of servers have: the registers."""

    def __init__(self, mapping: BridgeMapping):
        self._mapping = mapping
        self._interface: ModbusInterface = mapping.interface
        self._requests: ModbusRequests | None = None

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """See `Transport`: writes the registers that clients read."""
        if self._requests is None:
            raise TransportError("the Modbus server is closed")
        return self._requests.show(message, values)


class TcpServer(_Server):
    """Transport of a server on a network.

    Args:
        mapping: of a Modbus bridge with the role `server` and the link `tcp`.
    """

    def __init__(self, mapping: BridgeMapping):
        super().__init__(mapping)
        self._listener: ModbusListener | None = None

    def open(self, sink: Sink) -> None:
        """See `Transport`."""
        line = self._interface.line
        assert isinstance(line, Endpoint)
        requests = ModbusRequests(self._mapping, sink.receive)
        listener = ModbusListener(self._interface.unit, requests.answer)
        try:
            listener.open(line.host, line.port, sink)
        except OSError as error:
            raise TransportError(f"a Modbus server cannot be opened at {line.host}:{line.port}: {error}") from None
        self._listener, self._requests = listener, requests

    def close(self) -> None:
        """See `Transport`."""
        if self._listener is not None:
            self._listener.close()
        self._listener = self._requests = None


class LineTransport(_Server):
    """Transport of a server on a serial line.

    Args:
        mapping: of a Modbus bridge with the role `server` and the link `rtu`.
    """

    def __init__(self, mapping: BridgeMapping):
        super().__init__(mapping)
        assert isinstance(self._interface.line, SerialLine)
        self._line = self._interface.line
        self._silence = max(_SILENCE, _CHARACTERS * _BITS / self._line.baudrate)
        self._receiving = Receiving()
        self._device: serial.Serial | None = None

    def open(self, sink: Sink) -> None:
        """See `Transport`."""
        line = self._line
        try:
            device = serial.Serial(
                line.device,
                line.baudrate,
                parity=line.parity,
                stopbits=line.stop_bits,
                write_timeout=_WRITE_TIMEOUT,
                exclusive=True,
            )
        except (*_FAILURES, ValueError) as error:
            raise TransportError(f"a Modbus server cannot be opened at {line.device}: {error}") from None
        self._device, self._requests = device, ModbusRequests(self._mapping, sink.receive)
        server = LineServer(self._interface.unit, self._requests.answer)
        self._receiving.start(
            *("modbus_server", lambda: self._serve(device, server, sink), sink, _FAILURES),
            lambda error: f"the serial line {line.device} was lost: {error}",
        )

    def close(self) -> None:
        """See `Transport`."""
        if self._device is None:
            return
        self._receiving.stop()
        self._device.close()
        self._device = self._requests = None

    def _serve(self, device: serial.Serial, server: LineServer, sink: Sink) -> None:
        """Answers until the end, or raises."""
        refused = 0
        while not self._receiving.ending.is_set():
            if select.select((device.fileno(),), (), (), self._silence if server.is_waiting else _POLL)[0]:
                data = os.read(device.fileno(), 512)
                if not data:
                    raise OSError("its device is gone")
                device.write(server.take(data))
            else:
                server.fall_silent()
            if server.refused > refused:
                refused = server.refused
                sink.receive(Received("", time.monotonic(), refusal="no frame"))


def make_server(mapping: BridgeMapping) -> Transport:
    """The transport of a mapping with the role `server`."""
    return LineTransport(mapping) if isinstance(mapping.interface.line, SerialLine) else TcpServer(mapping)
