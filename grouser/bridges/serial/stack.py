"""From pieces of a serial line, or datagrams, to the messages of a mapping and back; without a line or socket."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan

from grouser.bridges.mapping.data import BridgeMapping, MessageMapping
from grouser.bridges.messages import Received
from grouser.bridges.serial import frames, json_lines
from grouser.bridges.serial.frames import FAULT, Frame, pack_frame, unpack_frame
from grouser.bridges.serial.json_lines import Line, read_line, write_line
from grouser.bridges.serial.settings import Form

_COUNTERS = 1 << 16
_TIMES = 1 << 32  # [ms]


@dataclass(frozen=True)
class PeerFault:
    """The peer says that it has a fault.

    Attributes:
        reason: in words.
    """

    reason: str = "the sender reports a fault"


class SerialStack:
    """Decodes pieces and encodes messages.

    Args:
        mapping: of the bridge.
        form: of its messages.

    Attributes:
        end: the byte that ends a piece on a line.
        highest_length: of a piece [bytes].
    """

    def __init__(self, mapping: BridgeMapping, form: Form) -> None:
        self._form = form
        self.end = b"\0" if form == "frames" else b"\n"
        self.highest_length = frames.HIGHEST_LENGTH if form == "frames" else json_lines.HIGHEST_LENGTH
        self._incoming = {message.address.kind: message for message in mapping.incoming}
        self._outgoing = {message.name: message for message in mapping.outgoing}
        self._counters = dict.fromkeys(self._outgoing, 0)

    def receive(self, piece: bytes, now: float) -> Received | PeerFault:
        """The message in a piece, decoded or refused.

        Args:
            piece: without its end.
            now: [s].
        """
        read = unpack_frame(piece) if self._form == "frames" else read_line(piece)
        if isinstance(read, str):
            return Received("", now, refusal=read)
        if read.kind == FAULT:
            return PeerFault()
        message = self._incoming.get(read.kind)
        if message is None:
            return Received("", now, refusal="kind")
        counter = None if message.counter is None else read.counter
        if isinstance(read, Line):
            return Received(message.name, now, read.signals, counter=counter)
        decoded = message.address.layout.decode(read.payload)
        return Received(message.name, now, decoded.values, decoded.errors, decoded.absent, counter, decoded.refusal)

    def encode(self, name: str, values: Mapping[str, float], now: float) -> bytes | None:
        """A piece without its end; None where a value is not a number.

        Args:
            name: of the message.
            values: by field.
            now: [s].
        """
        message: MessageMapping = self._outgoing[name]
        if any(isnan(value) for value in values.values()):
            return None
        head = message.address.kind, self._counters[name], round(1000.0 * now) % _TIMES
        if message.address.layout is None:
            piece = write_line(Line(*head, values))
        else:
            piece = pack_frame(Frame(*head, message.address.layout.encode(values)))
        self._counters[name] = (self._counters[name] + 1) % _COUNTERS
        return piece
