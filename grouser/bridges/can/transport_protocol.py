"""The broadcast transport of J1939-21 for parameter groups of 9 to 1785 bytes, both ways.

A broadcast announce message (BAM) says length and parameter group; packets of seven bytes with a sequence number follow
at least 50 ms apart. The transport between two nodes is in `connections`.
"""

from dataclasses import dataclass, field

from grouser.bridges.can.identifier import GLOBAL_ADDRESS, Identifier

CONNECTION_PGN = 60416
DATA_PGN = 60160
PRIORITY = 7
PACKET_INTERVAL = 0.05  # [s]
HIGHEST_LENGTH = 1785  # [bytes]
PACKET = 7  # [bytes]
_TIMER = 0.01  # [s]
_BROADCAST_ANNOUNCE = 0x20
_TIMEOUT = 0.75  # [s] between two packets


def broadcast_packets(pgn: int, data: bytes) -> list[tuple[int, bytes]]:
    """Parameter groups and bytes of the frames that say `data` to all, in order, each 50 ms after the one before.

    Raises:
        ValueError: 8 bytes or fewer, which go in a frame, or more than 1785.
    """
    packets = packets_of(data)
    announce = bytes((_BROADCAST_ANNOUNCE, *len(data).to_bytes(2, "little"), len(packets), 0xFF))
    frames = [(CONNECTION_PGN, announce + pgn.to_bytes(3, "little"))]
    frames += [(DATA_PGN, bytes((number,)) + packet) for number, packet in enumerate(packets, start=1)]
    return frames


def broadcast_time(length: int) -> float:
    """Longest time that a broadcast of so many bytes takes [s], its frames sent by a timer of 10 ms."""
    return (1 + -(-length // PACKET)) * (PACKET_INTERVAL + _TIMER)


def packets_of(data: bytes) -> list[bytes]:
    """Seven bytes each, the last one filled up.

    Raises:
        ValueError: 8 bytes or fewer, which go in a frame, or more than 1785.
    """
    if not 8 < len(data) <= HIGHEST_LENGTH:
        raise ValueError(f"{len(data)} bytes: valid is 9 to {HIGHEST_LENGTH}")
    return [data[first : first + PACKET].ljust(PACKET, b"\xff") for first in range(0, len(data), PACKET)]


@dataclass
class _Transfer:
    """A broadcast that has begun."""

    pgn: int
    length: int
    heard: float
    data: bytearray = field(default_factory=bytearray)
    next_packet: int = 1


class BroadcastAssembler:
    """Puts together the broadcasts of all nodes; each node has one at a time."""

    def __init__(self) -> None:
        self._transfers: dict[int, _Transfer] = {}

    def receive(self, identifier: Identifier, data: bytes, now: float) -> tuple[int, bytes] | None:
        """Takes a frame of the transport's two parameter groups.

        Args:
            identifier: of the frame.
            data: its bytes.
            now: [s].

        Returns:
            parameter group and bytes of a broadcast that is complete by this frame. A broadcast that misses a packet,
            or pauses for more than 0.75 s, is dropped.
        """
        if len(data) != 8 or identifier.destination != GLOBAL_ADDRESS:
            return None
        if identifier.pgn == CONNECTION_PGN:
            length = int.from_bytes(data[1:3], "little")
            if data[0] == _BROADCAST_ANNOUNCE and 8 < length <= HIGHEST_LENGTH and data[3] == -(-length // PACKET):
                self._transfers[identifier.source] = _Transfer(int.from_bytes(data[5:8], "little"), length, now)
            return None
        transfer = self._transfers.get(identifier.source)
        if transfer is None:
            return None
        if data[0] != transfer.next_packet or now - transfer.heard > _TIMEOUT:
            del self._transfers[identifier.source]
            return None
        transfer.data += data[1:]
        transfer.heard = now
        transfer.next_packet += 1
        if len(transfer.data) < transfer.length:
            return None
        del self._transfers[identifier.source]
        return transfer.pgn, bytes(transfer.data[: transfer.length])
