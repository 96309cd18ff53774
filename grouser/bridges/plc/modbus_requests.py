"""Requests to a Modbus server and their answers, without a connection: bytes come in and go out.

Holding and input registers are one address space. A message is written whole, by one request of function 6, 16 or 23;
whoever writes a part of one, or outside `writable`, gets exception 2. Reads of one without values get exception 6.
"""

import math
import struct
import time
from collections.abc import Callable, Mapping, Sequence

from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received
from grouser.bridges.plc.heartbeat import Heartbeats
from grouser.bridges.plc.register_message import RegisterMessage
from grouser.bridges.plc.registers import READ_MAX, WRITE_MAX

READ_HOLDING, READ_INPUT, WRITE_ONE, WRITE, READ_WRITE = 3, 4, 6, 16, 23
ILLEGAL_FUNCTION, ILLEGAL_ADDRESS, ILLEGAL_VALUE, BUSY, NO_RESPONSE = 1, 2, 3, 6, 11
_EXCEPTION = 0x80
_READ_WRITE_MAX = 121  # registers that function 23 writes
_PAIR, _TRIPLE, _EXCHANGE = struct.Struct(">HH"), struct.Struct(">HHB"), struct.Struct(">HHHHB")


class _RefusedError(Exception):
    """A request is answered by an exception, its code."""

    def __init__(self, code: int) -> None:
        self.code = code


class ModbusRequests:
    """The registers of a server, and what requests do to them.

    Args:
        mapping: of a Modbus bridge with the role `server`.
        receive: takes the messages that are written, and what is refused.
        clock: of these [s].
    """

    def __init__(
        self,
        mapping: BridgeMapping,
        receive: Callable[[Received], None],
        clock: Callable[[], float] = time.monotonic,
    ):
        self._writable: Sequence[tuple[int, int]] = mapping.interface.writable
        self._commands = [RegisterMessage(message) for message in mapping.incoming]
        self._measurements = {message.name: RegisterMessage(message) for message in mapping.outgoing}
        blocks = [*self._commands, *self._measurements.values()]
        self._first = min([block.start for block in blocks] + [first for first, _ in self._writable])
        self._end = max([block.end for block in blocks] + [last + 1 for _, last in self._writable])
        self._image = bytearray(2 * (self._end - self._first))
        self._known: set[str] = set()  # measurements that have values
        self._sent: dict[str, int] = {}
        self._heartbeats = Heartbeats()
        self._receive, self._clock = receive, clock

    def show(self, message: str, values: Mapping[str, float]) -> bool:
        """Writes a measurement for clients to read; returns False where a value is not finite: it has none then."""
        block = self._measurements[message]
        sent = self._sent.get(message, 0) + 1
        data = block.encode(values, sent)
        if data is None:
            self._known.discard(message)
            return False
        self._store(block.start, data)
        self._known.add(message)
        self._sent[message] = sent
        return True

    def answer(self, request: bytes) -> bytes:
        """Returns the answer to a request; both begin with the function."""
        function = request[0]
        try:
            if function in (READ_HOLDING, READ_INPUT):
                if len(request) != 5:
                    raise _RefusedError(ILLEGAL_VALUE)
                read = self._read(*_PAIR.unpack_from(request, 1))
                return bytes((function, len(read))) + read
            if function == WRITE:
                return self._take_write(request)
            if function == WRITE_ONE:
                if len(request) != 5:
                    raise _RefusedError(ILLEGAL_VALUE)
                self._write(_PAIR.unpack_from(request, 1)[0], request[3:])
                return request
            if function == READ_WRITE:
                return self._exchange(request)
            raise _RefusedError(ILLEGAL_FUNCTION)
        except _RefusedError as refusal:
            return bytes((function | _EXCEPTION, refusal.code))

    def _take_write(self, request: bytes) -> bytes:
        if len(request) < 6:
            raise _RefusedError(ILLEGAL_VALUE)
        address, count, length = _TRIPLE.unpack_from(request, 1)
        if not 1 <= count <= WRITE_MAX or length != 2 * count or len(request) != 6 + length:
            raise _RefusedError(ILLEGAL_VALUE)
        self._write(address, request[6:])
        return request[:5]

    def _exchange(self, request: bytes) -> bytes:
        if len(request) < 10:
            raise _RefusedError(ILLEGAL_VALUE)
        place, wanted, address, count, length = _EXCHANGE.unpack_from(request, 1)
        if not 1 <= count <= _READ_WRITE_MAX or length != 2 * count or len(request) != 10 + length:
            raise _RefusedError(ILLEGAL_VALUE)
        self._write(address, request[10:])
        read = self._read(place, wanted)
        return bytes((READ_WRITE, len(read))) + read

    def _read(self, address: int, count: int) -> bytes:
        end = address + count
        if not 1 <= count <= READ_MAX:
            raise _RefusedError(ILLEGAL_VALUE)
        if address < self._first or end > self._end:
            raise _RefusedError(ILLEGAL_ADDRESS)
        for name, block in self._measurements.items():
            if block.start < end and address < block.end and name not in self._known:
                raise _RefusedError(BUSY)
        return bytes(self._image[2 * (address - self._first) : 2 * (end - self._first)])

    def _write(self, address: int, data: bytes) -> None:
        now, end = self._clock(), address + len(data) // 2
        touched = [block for block in self._commands if block.start < end and address < block.end]
        inside = any(low <= address and end - 1 <= high for low, high in self._writable)
        if not inside or not touched:
            self._receive(Received("", now, refusal="not writable"))
            raise _RefusedError(ILLEGAL_ADDRESS)
        partial = [block for block in touched if not (address <= block.start and block.end <= end)]
        for block in partial:
            self._receive(Received(block.name, now, refusal="written in part"))
        if partial:
            raise _RefusedError(ILLEGAL_ADDRESS)
        parts = [self._message(block, data[2 * (block.start - address) :], now) for block in touched]
        for received in parts:
            self._receive(received)
        if any(received.refusal == "not a number" for received in parts):
            raise _RefusedError(ILLEGAL_VALUE)
        self._store(address, data)

    def _message(self, block: RegisterMessage, data: bytes, now: float) -> Received:
        values, heartbeat = block.decode(data[: 2 * block.count])
        if not all(map(math.isfinite, values.values())):
            return Received(block.name, now, refusal="not a number")
        if not self._heartbeats.changed(block.name, heartbeat):
            return Received(block.name, now, refusal="heartbeat stands still")
        return Received(block.name, now, values)

    def _store(self, address: int, data: bytes) -> None:
        place = 2 * (address - self._first)
        self._image[place : place + len(data)] = data
