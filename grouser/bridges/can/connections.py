"""The transport of J1939-21 between two nodes, for parameter groups of 9 to 1785 bytes, both ways.

The sender asks (RTS); the receiver grants packets (CTS), as many as both can take, until all are there, and ends it.
Time comes in as an argument; what is to be sent is returned as destination, parameter group and bytes.
"""

from dataclasses import dataclass, field
from typing import Any

from grouser.bridges.can.identifier import Identifier
from grouser.bridges.can.transport_protocol import CONNECTION_PGN, DATA_PGN, HIGHEST_LENGTH, PACKET, packets_of

Frame = tuple[int, int, bytes]  # destination, parameter group, data

_REQUEST, _GRANT, _END, _ABORT = 0x10, 0x11, 0x13, 0xFF
_NO_LIMIT = 0xFF
_ABORT_RESOURCES, _ABORT_TIMEOUT = 2, 3
_RECEIVER_TIMEOUT = 0.75  # [s] between two packets (T1)
_SENDER_TIMEOUT = 1.25  # [s] after a grant or the last packet (T3); and of a receiver after its grant (T2)
_HOLD_TIMEOUT = 1.05  # [s] after a grant of no packet (T4)


@dataclass
class _Incoming:
    pgn: int
    length: int
    at_once: int  # packets that the sender lets be granted at a time
    until: float
    data: bytearray = field(default_factory=bytearray)
    received: int = 0
    granted: int = 0  # number of the last packet that was granted

    @property
    def packets(self) -> int:
        return -(-self.length // PACKET)


@dataclass
class _Outgoing:
    pgn: int
    data: bytes
    packets: list[bytes]
    until: float


@dataclass
class Progress:
    """What follows from a frame.

    Attributes:
        frames: to send.
        complete: parameter group and bytes that are complete by this frame; None: none is.
    """

    frames: list[Frame] = field(default_factory=list)
    complete: tuple[int, bytes] | None = None


class Connections:
    """The transfers from and to one node: one each way with every other node.

    Args:
        accepted: parameter groups that it takes; others are refused.

    Attributes:
        failures: how many transfers to a node were refused by it or came to no end, by its address.
    """

    def __init__(self, accepted: frozenset[int]) -> None:
        self._accepted = accepted
        self._incoming: dict[int, _Incoming] = {}
        self._outgoing: dict[int, _Outgoing] = {}
        self.failures: dict[int, int] = {}

    def send(self, destination: int, pgn: int, data: bytes, now: float) -> list[Frame]:
        """Begins to send a parameter group to a node; nothing while another one is under way to it."""
        if destination in self._outgoing:
            return []
        packets = packets_of(data)
        self._outgoing[destination] = _Outgoing(pgn, data, packets, now + _SENDER_TIMEOUT)
        size = len(data).to_bytes(2, "little")
        return [_control(destination, pgn, _REQUEST, *size, len(packets), _NO_LIMIT)]

    def receive(self, identifier: Identifier, data: bytes, now: float) -> Progress:
        """Takes a frame of the transport's two parameter groups that is for this node."""
        if len(data) != 8:
            return Progress()
        source = identifier.source
        if identifier.pgn == DATA_PGN:
            return self._packet(source, data, now)
        if identifier.pgn != CONNECTION_PGN:
            return Progress()
        pgn = int.from_bytes(data[5:8], "little")
        if data[0] == _REQUEST:
            return Progress(self._requested(source, pgn, data, now))
        outgoing = self._outgoing.get(source)
        if data[0] == _GRANT and outgoing is not None and outgoing.pgn == pgn:
            return Progress(self._granted(source, outgoing, data[1], data[2], now))
        if data[0] == _END and outgoing is not None and outgoing.pgn == pgn:
            del self._outgoing[source]
        elif data[0] == _ABORT:
            tables: tuple[dict[int, Any], ...] = (self._incoming, self._outgoing)
            for transfers in tables:
                transfer = transfers.get(source)
                if transfer is not None and transfer.pgn == pgn:
                    self._give_up(transfers, source)
        return Progress()

    def tick(self, now: float) -> list[Frame]:
        """Gives up transfers that have stopped; returns what to send."""
        frames = []
        tables: tuple[dict[int, Any], ...] = (self._incoming, self._outgoing)
        for transfers in tables:
            for other, transfer in list(transfers.items()):
                if now > transfer.until:
                    self._give_up(transfers, other)
                    frames.append(_control(other, transfer.pgn, _ABORT, _ABORT_TIMEOUT))
        return frames

    def clear(self) -> None:
        """Forgets all transfers: the node has lost its address."""
        self._incoming.clear()
        self._outgoing.clear()

    def _give_up(self, transfers: dict[int, Any], other: int) -> None:
        del transfers[other]
        if transfers is self._outgoing:
            self.failures[other] = self.failures.get(other, 0) + 1

    def _requested(self, source: int, pgn: int, data: bytes, now: float) -> list[Frame]:
        length = int.from_bytes(data[1:3], "little")
        incoming = _Incoming(pgn, length, data[4], now)
        if not 8 < length <= HIGHEST_LENGTH or data[3] != incoming.packets or data[4] == 0:
            return []
        if pgn not in self._accepted:
            return [_control(source, pgn, _ABORT, _ABORT_RESOURCES)]
        self._incoming[source] = incoming
        return [self._grant(source, incoming, now)]

    def _grant(self, source: int, incoming: _Incoming, now: float) -> Frame:
        following = incoming.received + 1
        count = min(incoming.packets - incoming.received, incoming.at_once)
        incoming.granted = incoming.received + count
        incoming.until = now + _SENDER_TIMEOUT
        return _control(source, incoming.pgn, _GRANT, count, following)

    def _packet(self, source: int, data: bytes, now: float) -> Progress:
        incoming = self._incoming.get(source)
        if incoming is None:
            return Progress()
        if data[0] != incoming.received + 1:
            # one that is known already is passed over; after one that was lost, it asks again from there
            is_last = data[0] == incoming.granted and data[0] > incoming.received
            return Progress([self._grant(source, incoming, now)] if is_last else [])
        incoming.data += data[1:]
        incoming.received += 1
        incoming.until = now + _RECEIVER_TIMEOUT
        if incoming.received == incoming.packets:
            del self._incoming[source]
            size = incoming.length.to_bytes(2, "little")
            end = _control(source, incoming.pgn, _END, *size, incoming.packets)
            return Progress([end], (incoming.pgn, bytes(incoming.data[: incoming.length])))
        return Progress([self._grant(source, incoming, now)] if incoming.received == incoming.granted else [])

    def _granted(self, source: int, outgoing: _Outgoing, count: int, first: int, now: float) -> list[Frame]:
        outgoing.until = now + (_SENDER_TIMEOUT if count else _HOLD_TIMEOUT)
        if not 1 <= first <= len(outgoing.packets):
            return []
        numbers = range(first, min(first + count, len(outgoing.packets) + 1))
        return [(source, DATA_PGN, bytes((number,)) + outgoing.packets[number - 1]) for number in numbers]


def _control(destination: int, pgn: int, *values: int) -> Frame:
    data = bytes(values).ljust(5, b"\xff") + pgn.to_bytes(3, "little")
    return destination, CONNECTION_PGN, data
