"""Hands of the latency trial: each moves a lever by one protocol, and hears which deflection was obeyed last.

A deflection is a raw number from 0, neutral, to `FULL`; the bridge's reply carries that of the last command that a step
has taken. They run in the process of `stimulus`.
"""

import os
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

FULL = 30000  # raw value of full deflection; event n is the raw value n + 1
AXIS = 0  # ABS_X
COMMAND_ID, REPLY_ID = 0x120, 0x121  # frames on CAN
REGISTERS, REPLY_REGISTER = 100, 200  # of Modbus: a heartbeat, the deflection; the reply


class Hand(Protocol):
    """Moves the lever in one thread, and listens in another."""

    def move(self, raw: int) -> None:
        """Says a deflection."""

    def replies(self) -> Iterator[int]:
        """Waits for the deflections in the replies."""


class JoystickHand:
    """An event device's bytes in a socket; a stick hears no reply."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._descriptor: int = spec["descriptor"]

    def move(self, raw: int) -> None:
        """Writes a report."""
        from grouser.bridges.joystick.codes import EV_ABS, EV_SYN, SYN_REPORT
        from grouser.bridges.joystick.events import EVENT

        seconds, rest = divmod(time.time_ns(), 10**9)
        stamp = (seconds, rest // 1000)
        os.write(self._descriptor, EVENT.pack(*stamp, EV_ABS, AXIS, raw) + EVENT.pack(*stamp, EV_SYN, SYN_REPORT, 0))

    def replies(self) -> Iterator[int]:
        """None."""
        return iter(())


class SlcanHand:
    """A CAN adapter at the other end of a pseudo-terminal, which speaks slcan."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._descriptor: int = spec["descriptor"]

    def move(self, raw: int) -> None:
        """Says a frame of two bytes."""
        os.write(self._descriptor, b"t%03X2%s\r" % (COMMAND_ID, raw.to_bytes(2, "little").hex().upper().encode()))

    def replies(self) -> Iterator[int]:
        """Frames of the bridge."""
        head = b"t%03X2" % REPLY_ID
        rest = b""
        while data := os.read(self._descriptor, 4096):
            *lines, rest = (rest + data).split(b"\r")
            for line in lines:
                if line.startswith(head):
                    yield int.from_bytes(bytes.fromhex(line[len(head) : len(head) + 4].decode()), "little")


class BusHand:
    """A CAN bus by python-can."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        import can

        self._bus = can.Bus(interface=spec["interface"], channel=spec["channel"], ignore_config=True)

    def move(self, raw: int) -> None:
        """Says a frame of two bytes."""
        import can

        self._bus.send(can.Message(arbitration_id=COMMAND_ID, is_extended_id=False, data=raw.to_bytes(2, "little")))

    def replies(self) -> Iterator[int]:
        """Frames of the bridge."""
        while True:
            message = self._bus.recv()
            if message is not None and message.arbitration_id == REPLY_ID:
                yield int.from_bytes(message.data, "little")


class SerialHand:
    """Frames on a serial line, at the other end of a pseudo-terminal."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._descriptor: int = spec["descriptor"]
        self._counter = 0

    def move(self, raw: int) -> None:
        """Writes a frame."""
        os.write(self._descriptor, self._packed(raw) + b"\0")

    def replies(self) -> Iterator[int]:
        """Frames of the bridge."""
        from grouser.bridges.serial.frames import HIGHEST_LENGTH, Splitter

        splitter = Splitter(b"\0", HIGHEST_LENGTH)
        while data := os.read(self._descriptor, 4096):
            yield from map(self._unpacked, splitter.split(data))

    def _packed(self, raw: int) -> bytes:
        from grouser.bridges.serial.frames import COMMAND, Frame, pack_frame

        self._counter = (self._counter + 1) % 65536
        stamp = time.monotonic_ns() // 10**6 % 2**32
        return pack_frame(Frame(COMMAND, self._counter, stamp, raw.to_bytes(2, "little")))

    @staticmethod
    def _unpacked(piece: bytes) -> int:
        from grouser.bridges.serial.frames import unpack_frame

        frame = unpack_frame(piece)
        return 0 if isinstance(frame, str) else int.from_bytes(frame.payload, "little")


class UdpHand(SerialHand):
    """Frames in datagrams."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._counter = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", spec["own_port"]))
        self._socket.connect(("127.0.0.1", spec["port"]))

    def move(self, raw: int) -> None:
        """Sends a datagram."""
        self._socket.send(self._packed(raw))

    def replies(self) -> Iterator[int]:
        """Datagrams of the bridge."""
        while True:
            yield self._unpacked(self._socket.recv(512))


class ModbusHand:
    """A Modbus TCP client that writes at once and reads at a rate, each by a connection of its own."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._period = 1.0 / spec["rate"]
        self._writing, self._reading = (_connected(spec["port"]) for _ in range(2))
        self._heartbeat = 0

    def move(self, raw: int) -> None:
        """Writes heartbeat and deflection."""
        self._heartbeat = (self._heartbeat + 1) % 65536
        request = struct.pack(">HHHBBHHBHH", 1, 0, 11, 1, 16, REGISTERS, 2, 4, self._heartbeat, raw)
        self._writing.sendall(request)
        self._writing.recv(64)

    def replies(self) -> Iterator[int]:
        """Reads the register of the reply."""
        due = time.monotonic()
        while True:
            self._reading.sendall(struct.pack(">HHHBBHH", 1, 0, 6, 1, 4, REPLY_REGISTER, 1))
            answer = self._reading.recv(64)
            if len(answer) == 11:
                yield int.from_bytes(answer[9:], "big")
            due = max(due + self._period, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))


class OpcuaHand:
    """An OPC UA client that writes at once and reads at a rate."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        from asyncua.sync import Client

        self._period = 1.0 / spec["rate"]
        self._client = Client(f"opc.tcp://127.0.0.1:{spec['port']}/grouser")
        self._client.connect()
        self._reply = self._node("reply.Reply")
        self._nodes = [self._node("stick.Stick"), self._node("stick.Heartbeat")]
        self._heartbeat = 0

    def move(self, raw: int) -> None:
        """Writes deflection and heartbeat by one request."""
        from asyncua import ua

        self._heartbeat += 1
        kinds = (ua.VariantType.Int16, ua.VariantType.UInt32)
        values = [ua.Variant(one, kind) for one, kind in zip((raw, self._heartbeat), kinds, strict=True)]
        self._client.write_values(self._nodes, [ua.DataValue(value) for value in values])

    def replies(self) -> Iterator[int]:
        """Reads the variable of the reply."""
        due = time.monotonic()
        while True:
            value = self._reply.read_data_value(raise_on_bad_status=False)
            if value.Value is not None and value.Value.Value is not None:
                yield int(value.Value.Value)
            due = max(due + self._period, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))

    def _node(self, name: str) -> Any:
        return self._client.get_node(f"ns=2;s={name}")


HANDS: dict[str, Callable[[Mapping[str, Any]], Hand]] = {
    "joystick": JoystickHand,
    "slcan": SlcanHand,
    "bus": BusHand,
    "serial": SerialHand,
    "udp": UdpHand,
    "modbus": ModbusHand,
    "opcua": OpcuaHand,
}


def _connected(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection
