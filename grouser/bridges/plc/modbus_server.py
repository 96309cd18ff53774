"""The machine as a Modbus server: a controller writes commands into registers and reads measurements from others.

Holding and input registers are one address space. A message is written whole, by one request of function 6, 16 or 23;
whoever writes a part of one, or outside `writable`, gets exception 2. Reads of one without values get exception 6.
"""

import asyncio
import math
import socket
import time
from collections.abc import Callable, Mapping

from pymodbus import FramerType
from pymodbus.constants import ExcCodes
from pymodbus.pdu import ExceptionResponse
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.server.requesthandler import ServerRequestHandler
from pymodbus.simulator import DataType, SimData, SimDevice

from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received, Sink
from grouser.bridges.plc.event_loop import EventLoopThread
from grouser.bridges.plc.heartbeat import Heartbeats
from grouser.bridges.plc.modbus_schema import ModbusInterface, SerialLine
from grouser.bridges.plc.register_message import RegisterMessage
from grouser.bridges.plc.registers import ADDRESS_MAX
from grouser.bridges.transport import TransportError

CONNECTIONS_MAX = 32
IDLE_MAX = 60.0  # [s] without a request, after which a connection is closed: its peer may be gone without a word
UNREAD_MAX = 65536  # bytes of answers that a client has not taken
_FRAME_MAX = 254  # largest length in a header of Modbus TCP
_START_LIMIT = 5.0
_READS = (3, 4, 23)
_WRITES = (6, 16, 23)


class ModbusServer:
    """Transport of a server.

    Args:
        mapping: of a Modbus bridge with the role `server`.
    """

    def __init__(self, mapping: BridgeMapping):
        self._interface: ModbusInterface = mapping.interface
        self._commands = [RegisterMessage(message) for message in mapping.incoming]
        self._measurements = {message.name: RegisterMessage(message) for message in mapping.outgoing}
        blocks = [*self._commands, *self._measurements.values()]
        ends = [last + 1 for _, last in self._interface.writable]
        self._first = min([block.start for block in blocks] + [first for first, _ in self._interface.writable])
        self._end = max([block.end for block in blocks] + ends)
        self._images: dict[str, list[int]] = {}  # registers of the measurements as they were sent last
        self._sent: dict[str, int] = {}
        self._heartbeats = Heartbeats()
        self._sink: Sink | None = None
        self._loop: EventLoopThread | None = None
        self._server: ModbusTcpServer | ModbusSerialServer | None = None

    def open(self, sink: Sink) -> None:
        """See `Transport`."""
        self._sink, self._heartbeats, self._images = sink, Heartbeats(), {}
        self._loop = EventLoopThread("modbus_server")
        try:
            self._loop.run(self._serve(), _START_LIMIT)
        except (RuntimeError, OSError, TimeoutError) as error:
            self._server = None
            self.close()
            raise TransportError(f"a Modbus server cannot be opened at {self._place()}: {error}") from None

    def close(self) -> None:
        """See `Transport`."""
        if self._loop is None:
            return
        if self._server is not None:
            self._loop.run(self._server.shutdown())
        self._loop.close()
        self._loop = self._server = None

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """See `Transport`: writes the registers that clients read."""
        if self._server is None:
            raise TransportError("the Modbus server is closed")
        sent = self._sent.get(message, 0) + 1
        words = self._measurements[message].encode(values, sent)
        if words is None:
            self._images.pop(message, None)
            return False
        self._images[message] = words
        self._sent[message] = sent
        return True

    def _place(self) -> str:
        line = self._interface.line
        return line.device if isinstance(line, SerialLine) else f"{line.host}:{line.port}"

    async def _serve(self) -> None:
        registers = SimData(0, count=ADDRESS_MAX + 1, datatype=DataType.REGISTERS)
        device = SimDevice(self._interface.unit, simdata=[registers], action=self._access)
        line = self._interface.line
        if isinstance(line, SerialLine):
            self._server = _SerialServer(
                self._lost,
                [device],
                framer=FramerType.RTU,
                port=line.device,
                baudrate=line.baudrate,
                parity=line.parity,
                stopbits=line.stop_bits,
            )
        else:
            self._server = _TcpServer([device], address=(line.host, line.port))
        await self._server.serve_forever(background=True)

    async def _access(
        self, function: int, start: int, address: int, count: int, registers: list[int], written: list[int] | None
    ) -> ExcCodes | None:
        """Answers a request: None to let it happen, else the exception."""
        if function not in (_READS if written is None else _WRITES):
            return ExcCodes.ILLEGAL_FUNCTION
        if written is not None:
            return self._write(address, written)
        if address < self._first or address + count > self._end:
            return ExcCodes.ILLEGAL_ADDRESS
        for name, block in self._measurements.items():
            if block.start < address + count and address < block.end:
                if (words := self._images.get(name)) is None:
                    return ExcCodes.DEVICE_BUSY
                registers[block.start - start : block.end - start] = words
        return None

    def _write(self, address: int, words: list[int]) -> ExcCodes | None:
        now, end = time.monotonic(), address + len(words)
        touched = [block for block in self._commands if block.start < end and address < block.end]
        inside = any(low <= address and end - 1 <= high for low, high in self._interface.writable)
        if not inside or not touched:
            self._receive(Received("", now, refusal="not writable"))
            return ExcCodes.ILLEGAL_ADDRESS
        partial = [block for block in touched if not (address <= block.start and block.end <= end)]
        for block in partial:
            self._receive(Received(block.name, now, refusal="written in part"))
        if partial:
            return ExcCodes.ILLEGAL_ADDRESS
        parts = [(block, words[block.start - address : block.end - address]) for block in touched]
        refusals = [self._refusal(block, part) for block, part in parts]
        for (block, part), refusal in zip(parts, refusals, strict=True):
            self._receive(Received(block.name, now, {} if refusal else block.decode(part), refusal=refusal))
        return ExcCodes.ILLEGAL_VALUE if "not a number" in refusals else None

    def _refusal(self, block: RegisterMessage, words: list[int]) -> str:
        if not all(map(math.isfinite, block.decode(words).values())):
            return "not a number"
        return "" if self._heartbeats.changed(block.name, block.decode_heartbeat(words)) else "heartbeat stands still"

    def _lost(self, reason: object) -> None:
        assert self._sink is not None
        self._sink.broken(f"the serial line {self._place()} was lost: {reason}", time.monotonic())

    def _receive(self, received: Received) -> None:
        assert self._sink is not None  # set before the server begins
        self._sink.receive(received)


class _Connection(ServerRequestHandler):
    """A connection that nobody can use up: broken frames, unread answers and silence end it."""

    def __init__(self, server, is_serial: bool):
        super().__init__(server, None, None, None)
        self._is_serial = is_serial
        self._idle: asyncio.TimerHandle | None = None

    def callback_connected(self) -> None:
        super().callback_connected()
        if self._is_serial:
            return
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD_MAX)
        if len(self.server.active_connections) > CONNECTIONS_MAX:
            self._end()
        else:
            self._wait()

    def callback_disconnected(self, exc) -> None:
        super().callback_disconnected(exc)
        if self._idle is not None:
            self._idle.cancel()
        if self._is_serial and not self.server.serving.done():
            self.server.lost(exc or "its device is gone")

    def callback_data(self, data: bytes, addr=None) -> int:
        if self._is_serial:
            return super().callback_data(data, addr)
        protocol, length = int.from_bytes(data[2:4], "big"), int.from_bytes(data[4:6], "big")
        if len(data) >= 6 and (protocol != 0 or not 2 <= length <= _FRAME_MAX):
            self._end()
            return len(data)
        if self.transport.get_write_buffer_size() > UNREAD_MAX:
            self._end()
            return len(data)
        used = super().callback_data(data, addr)
        if used:
            self._wait()
        return used

    async def handle_request(self) -> None:
        request = self.last_pdu
        if not request or request.dev_id in self.server.context.device_ids():
            await super().handle_request()
        elif not self._is_serial:  # on a line the unit that was asked answers
            refusal = ExceptionResponse(request.function_code, ExcCodes.GATEWAY_NO_RESPONSE, request.dev_id)
            refusal.transaction_id = request.transaction_id
            self.server_send(refusal, self.last_addr)

    def _wait(self) -> None:
        if self._is_serial:
            return
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self.loop.call_later(IDLE_MAX, self._end)

    def _end(self) -> None:
        if self.transport:
            self.transport.abort()


class _TcpServer(ModbusTcpServer):
    def callback_new_connection(self):
        return _Connection(self, is_serial=False)


class _SerialServer(ModbusSerialServer):
    """A server on a line that calls `lost` with the reason when its device is gone."""

    def __init__(self, lost: Callable[[object], None], devices: list[SimDevice], **line):
        super().__init__(devices, **line)
        self.lost = lost

    def callback_new_connection(self):
        return _Connection(self, is_serial=True)
