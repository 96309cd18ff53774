"""Lines of the fault trial: one message with one value in [-1, 1], as each protocol writes and reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from grouser.bridges.checksums import PROFILES
from grouser.bridges.counters import MODULI
from grouser.bridges.mapping.data import BridgeMapping, CounterRule, MessageMapping, SignalMapping
from grouser.bridges.messages import Received

MESSAGE, FIELD, SIGNAL = "stick", "y", "valve/boom_valve"
DATA_ID = 0x1234
IDENTIFIER = 0x0C000003
UNIT, REGISTER = 1, 100  # of Modbus
_LENGTH = 8
_FULL = 1000
_OPCUA_FRAME = b"MSGF"


class Line(Protocol):
    """A protocol in the trial."""

    @property
    def counter(self) -> CounterRule | None:
        """Rule of its counter; None: it has none."""

    @property
    def modulus(self) -> int:
        """Of the counter; 1 without one."""

    @property
    def scale(self) -> float:
        """From what is decoded to the value."""

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """The bytes of a message."""

    def decode(self, data: bytes, now: float) -> Received:
        """What the bridge receives."""


@dataclass(frozen=True)
class ProfileLine:
    """Eight bytes of a CAN frame with counter and checksum of a profile; the value is a signed word of thousandths.

    Attributes:
        profile: name in `PROFILES`.
        place: of the word's first byte.
    """

    profile: str
    place: int
    scale: float = 1.0 / _FULL

    @property
    def counter(self) -> CounterRule:
        """The counter of the profile."""
        return CounterRule(self.profile)

    @property
    def modulus(self) -> int:
        """Of the counter."""
        return MODULI[self.profile]

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """Writes the word, then counter and checksum."""
        data = bytearray(_LENGTH)
        data[self.place : self.place + 2] = round(value * _FULL).to_bytes(2, "little", signed=True)
        return PROFILES[self.profile].protect(bytes(data), counter, IDENTIFIER, DATA_ID)

    def decode(self, data: bytes, now: float) -> Received:
        """Checks the checksum, then reads counter and word."""
        profile = PROFILES[self.profile]
        if len(data) != _LENGTH:
            return Received(MESSAGE, now, refusal="length")
        if not profile.is_intact(data, IDENTIFIER, DATA_ID):
            return Received(MESSAGE, now, refusal="checksum")
        word = int.from_bytes(data[self.place : self.place + 2], "little", signed=True)
        return Received(MESSAGE, now, {FIELD: float(word)}, counter=profile.counter(data))


class JoystickMessageLine:
    """BJM of J1939: neither counter nor checksum; the value is the axis y, the axis x is not there."""

    counter = None
    modulus = 1
    scale = 1.0

    def __init__(self) -> None:
        from grouser.bridges.can.joystick import JoystickCodec

        self._codec = JoystickCodec("bjm")

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """Writes the axis."""
        return self._codec.encode({FIELD: value})

    def decode(self, data: bytes, now: float) -> Received:
        """Reads the message."""
        decoded = self._codec.decode(data)
        return Received(MESSAGE, now, decoded.values, decoded.errors, decoded.absent, refusal=decoded.refusal)


class FrameLine:
    """Frames of a serial line with counter and CRC; the value is a signed word of thousandths."""

    counter = CounterRule("u16")
    modulus = MODULI["u16"]
    scale = 1.0 / _FULL

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """Packs a frame."""
        from grouser.bridges.serial.frames import COMMAND, Frame, pack_frame

        payload = round(value * _FULL).to_bytes(2, "little", signed=True)
        return pack_frame(Frame(COMMAND, counter, round(1000.0 * now), payload))

    def decode(self, data: bytes, now: float) -> Received:
        """Unpacks a frame; what is refused belongs to no message."""
        from grouser.bridges.serial.frames import COMMAND, unpack_frame

        frame = unpack_frame(data)
        if isinstance(frame, str):
            return Received("", now, refusal=frame)
        if frame.kind != COMMAND or len(frame.payload) != 2:
            return Received("", now, refusal="kind")
        word = int.from_bytes(frame.payload, "little", signed=True)
        return Received(MESSAGE, now, {FIELD: float(word)}, counter=frame.counter)


class JsonLine:
    """Lines of JSON with counter and CRC; the value is a number of thousandths."""

    counter = CounterRule("u16")
    modulus = MODULI["u16"]
    scale = 1.0

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """Writes a line."""
        from grouser.bridges.serial.frames import COMMAND
        from grouser.bridges.serial.json_lines import Line, write_line

        return write_line(Line(COMMAND, counter, round(1000.0 * now), {FIELD: round(value * _FULL) / _FULL}))

    def decode(self, data: bytes, now: float) -> Received:
        """Reads a line; what is refused belongs to no message."""
        from grouser.bridges.serial.frames import COMMAND
        from grouser.bridges.serial.json_lines import read_line

        line = read_line(data)
        if isinstance(line, str):
            return Received("", now, refusal=line)
        if line.kind != COMMAND:
            return Received("", now, refusal="kind")
        return Received(MESSAGE, now, line.signals, counter=line.counter)


class ModbusLine:
    """Writes of two registers in frames of Modbus RTU: a heartbeat, and the value as a signed word of thousandths."""

    counter = None
    modulus = 1 << 16
    scale = 1.0 / _FULL

    def __init__(self) -> None:
        from grouser.bridges.plc.modbus_line import LineServer
        from grouser.bridges.plc.modbus_requests import ModbusRequests
        from grouser.bridges.plc.modbus_schema import ModbusInterface, SerialLine
        from grouser.bridges.plc.register_message import RegisterAddress
        from grouser.bridges.plc.registers import RegisterField

        address = RegisterAddress(RegisterField(REGISTER, "u16"))
        message = _message(RegisterField(REGISTER + 1), address, self.scale)
        interface = ModbusInterface(SerialLine("server", ""), UNIT, ((REGISTER, REGISTER + 1),), "big")
        mapping = BridgeMapping("fault trial", "modbus", "", interface, messages=(message,))
        self._now = 0.0
        self._received: list[Received] = []
        requests = ModbusRequests(mapping, self._received.append, lambda: self._now)
        self._server = LineServer(UNIT, requests.answer)

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """Writes a request."""
        from grouser.bridges.plc.modbus_line import pack_line_frame
        from grouser.bridges.plc.modbus_requests import WRITE

        head = bytes((WRITE, *REGISTER.to_bytes(2, "big"), 0, 2, 4)) + counter.to_bytes(2, "big")
        return pack_line_frame(UNIT, head + round(value * _FULL).to_bytes(2, "big", signed=True))

    def decode(self, data: bytes, now: float) -> Received:
        """Lets a server answer what arrives between two silences."""
        self._now = now
        self._received.clear()
        self._server.take(data)
        self._server.fall_silent()
        return self._received[0] if self._received else Received("", now, refusal="no frame")


class OpcuaLine:
    """The values of a write request in a frame of OPC UA's connection protocol: a double, and a heartbeat.

    Without the channel's numbers between both, which its sender counts.
    """

    counter = None
    modulus = 1 << 32
    scale = 1.0

    def __init__(self) -> None:
        from grouser.bridges.plc.heartbeat import Heartbeats
        from grouser.bridges.plc.node_types import NodeField
        from grouser.bridges.plc.opcua_schema import NodeAddress

        self._message = _message(NodeField("Value"), NodeAddress(NodeField("Heartbeat", "uint32")), self.scale)
        self._heartbeats = Heartbeats()

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """Writes both, with their status."""
        from asyncua import ua
        from asyncua.ua.ua_binary import struct_to_binary

        good = ua.StatusCode(ua.StatusCodes.Good)
        double = ua.Variant(round(value * _FULL) / _FULL, ua.VariantType.Double)
        beat = ua.Variant(counter, ua.VariantType.UInt32)
        values = b"".join(struct_to_binary(ua.DataValue(one, StatusCode=good)) for one in (double, beat))
        return _OPCUA_FRAME + (len(_OPCUA_FRAME) + 4 + len(values)).to_bytes(4, "little") + values

    def decode(self, data: bytes, now: float) -> Received:
        """Reads both and judges them as the server does: what is no frame ends a connection, and no link."""
        from asyncua import ua
        from asyncua.common.utils import Buffer
        from asyncua.ua.ua_binary import struct_from_binary

        from grouser.bridges.plc.opcua_listener import is_broken
        from grouser.bridges.plc.opcua_message import fault_of, received_of
        from grouser.bridges.plc.opcua_schema import node_fields

        head = len(_OPCUA_FRAME) + 4
        if data[:4] != _OPCUA_FRAME or is_broken(data) or int.from_bytes(data[4:head], "little") != len(data):
            return Received("", now, refusal="no frame")
        rest = Buffer(data[head:])
        try:
            read = {place.node: struct_from_binary(ua.DataValue, rest) for place in node_fields(self._message)}
        except Exception:  # noqa: BLE001 - the library raises whatever the bytes lead to
            return Received(MESSAGE, now, refusal="type")
        if len(rest):
            return Received(MESSAGE, now, refusal="type")
        refusal, _ = fault_of(self._message, read)
        return (
            Received(MESSAGE, now, refusal=refusal)
            if refusal
            else received_of(self._message, read, self._heartbeats, now)
        )


def _message(place: Any, address: Any, scale: float) -> MessageMapping:
    """The trial's message at the places of a protocol."""
    signal = SignalMapping(place, FIELD, SIGNAL, "1", 1.0, scale, 0.0, -1.0, 1.0, safe=0.0)
    return MessageMapping(MESSAGE, "in", address, 0.02, 0.1, (signal,))


LINES: dict[str, Callable[[], Line]] = {
    "bjm": JoystickMessageLine,
    "serial": FrameLine,
    "json": JsonLine,
    "modbus": ModbusLine,
    "opcua": OpcuaLine,
    "e2e_5": lambda: ProfileLine("e2e_5", 3),
    "e2e_11": lambda: ProfileLine("e2e_11", 2),
    "j1939_tsc1": lambda: ProfileLine("j1939_tsc1", 0),
}
