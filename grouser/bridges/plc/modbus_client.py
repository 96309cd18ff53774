"""A controller that is a Modbus server: the bridge reads its commands and writes the measurements to it."""

import math
import threading
import time
from collections.abc import Mapping

from pymodbus import FramerType
from pymodbus.client import ModbusSerialClient, ModbusTcpClient
from pymodbus.exceptions import ModbusException

from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received, Sink
from grouser.bridges.plc.heartbeat import Heartbeats
from grouser.bridges.plc.modbus_schema import ModbusInterface, SerialLine
from grouser.bridges.plc.register_message import RegisterMessage, bytes_of, words_of
from grouser.bridges.receiving import tell_of_failures
from grouser.bridges.transport import TransportError

ANSWER_LIMIT = 1.0  # [s]: longest wait for an answer


class ModbusClient:
    """Transport of a client. Messages are read at their periods.

    A message without a new heartbeat is not one: the link falls by its timeout.

    Args:
        mapping: of a Modbus bridge with the role `client`.
    """

    def __init__(self, mapping: BridgeMapping):
        self._interface: ModbusInterface = mapping.interface
        self._commands = [(RegisterMessage(message), message.period) for message in mapping.incoming]
        self._measurements = {message.name: RegisterMessage(message) for message in mapping.outgoing}
        self._heartbeats = Heartbeats()
        self._attention = threading.Condition()
        self._waiting: dict[str, list[int]] = {}  # to be written
        self._sent: dict[str, int] = {}
        self._sink: Sink | None = None
        self._client: ModbusTcpClient | ModbusSerialClient | None = None
        self._thread: threading.Thread | None = None
        self._ending = False

    def open(self, sink: Sink) -> None:
        """See `Transport`."""
        self._sink, self._heartbeats, self._ending = sink, Heartbeats(), False
        self._waiting.clear()
        client = self._make_client()
        try:
            connected = client.connect()
        except (ModbusException, OSError) as error:
            raise TransportError(f"no Modbus server at {self._place()}: {error}") from None
        if not connected:
            raise TransportError(f"no Modbus server at {self._place()}")
        self._client = client
        told = (
            *(lambda: self._run(client), sink, (ModbusException, OSError)),
            lambda error: f"the Modbus server at {self._place()} does not answer: {error}",
        )
        self._thread = threading.Thread(target=tell_of_failures, args=told, name="modbus_client", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """See `Transport`."""
        if self._client is None or self._thread is None:
            return
        with self._attention:
            self._ending = True
            self._attention.notify()
        self._thread.join()
        self._client.close()
        self._client = self._thread = None

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """See `Transport`: leaves the message for the thread that writes; a later one replaces it."""
        if self._client is None:
            raise TransportError("the Modbus client is closed")
        sent = self._sent.get(message, 0) + 1
        data = self._measurements[message].encode(values, sent)
        if data is None:
            return False
        with self._attention:
            self._sent[message] = sent
            self._waiting[message] = words_of(data)
            self._attention.notify()
        return True

    def _place(self) -> str:
        line = self._interface.line
        return line.device if isinstance(line, SerialLine) else f"{line.host}:{line.port}"

    def _make_client(self) -> ModbusTcpClient | ModbusSerialClient:
        line = self._interface.line
        if isinstance(line, SerialLine):
            return ModbusSerialClient(
                line.device,
                framer=FramerType.RTU,
                baudrate=line.baudrate,
                parity=line.parity,
                stopbits=line.stop_bits,
                timeout=ANSWER_LIMIT,
                retries=0,
            )
        return ModbusTcpClient(line.host, port=line.port, timeout=ANSWER_LIMIT, retries=0)

    def _run(self, client: ModbusTcpClient | ModbusSerialClient) -> None:
        due = {block.name: time.monotonic() for block, _ in self._commands}
        while True:
            with self._attention:
                first = min(due.values(), default=math.inf)
                while not self._ending and not self._waiting and (left := first - time.monotonic()) > 0.0:
                    self._attention.wait(left if math.isfinite(left) else None)
                if self._ending:
                    return
                waiting, self._waiting = self._waiting, {}
            for name, words in waiting.items():
                self._write(client, self._measurements[name], words)
            for block, period in self._commands:
                if due[block.name] <= time.monotonic():
                    self._read(client, block)
                    due[block.name] = max(due[block.name] + period, time.monotonic())

    def _write(self, client, block: RegisterMessage, words: list[int]) -> None:
        answer = client.write_registers(block.start, words, device_id=self._interface.unit)
        if answer.isError():
            raise ModbusException(f"exception {answer.exception_code} to the write of '{block.name}'")

    def _read(self, client, block: RegisterMessage) -> None:
        assert self._sink is not None
        read = client.read_holding_registers if block.table == "holding" else client.read_input_registers
        answer = read(block.start, count=block.count, device_id=self._interface.unit)
        now = time.monotonic()
        if answer.isError():
            self._sink.receive(Received(block.name, now, refusal=f"exception {answer.exception_code}"))
            return
        if len(answer.registers) != block.count:
            self._sink.receive(Received(block.name, now, refusal="length"))
            return
        values, heartbeat = block.decode(bytes_of(answer.registers))
        if not all(map(math.isfinite, values.values())):
            self._sink.receive(Received(block.name, now, refusal="not a number"))
        elif self._heartbeats.changed(block.name, heartbeat):
            self._sink.receive(Received(block.name, now, values))
