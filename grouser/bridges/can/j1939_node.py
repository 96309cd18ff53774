"""A J1939 node: what it does by itself on the bus. It touches none; time comes in as an argument.

It claims its address before it says anything else, answers requests, reports its active faults by DM1 at one second and
on change, and is silent when it has no address.
"""

from collections import deque
from collections.abc import Collection

from grouser.bridges.can.address_claim import CLAIM_PGN, AddressClaim, ClaimState
from grouser.bridges.can.connections import Connections, Frame
from grouser.bridges.can.diagnostics import ActiveFaults, encode_dm1
from grouser.bridges.can.frames import CanFrame
from grouser.bridges.can.identifier import GLOBAL_ADDRESS, HIGHEST_ADDRESS, NULL_ADDRESS, Identifier
from grouser.bridges.can.j1939_peers import DM1_PGN
from grouser.bridges.can.name import Name
from grouser.bridges.can.transport_protocol import (
    CONNECTION_PGN,
    DATA_PGN,
    PACKET_INTERVAL,
    BroadcastAssembler,
    broadcast_packets,
)
from grouser.bridges.can.transport_protocol import PRIORITY as TRANSPORT_PRIORITY

REQUEST_PGN = 59904
ACKNOWLEDGEMENT_PGN = 59392
COMMANDED_ADDRESS_PGN = 65240
_PRIORITY = 6
_NEGATIVE_ACKNOWLEDGEMENT = 1
_DM1_INTERVAL = 1.0  # [s]


class J1939Node:
    """An own node.

    Args:
        claim: of its address.
        accepted: parameter groups above 8 bytes that it takes from another node, beside DM1 and the commanded address.

    Attributes:
        claim: as given.
        faults: that it reports; may be set at any time.
    """

    def __init__(self, claim: AddressClaim, accepted: Collection[int] = ()) -> None:
        self.claim = claim
        self.faults = ActiveFaults()
        self._said: dict[int, tuple[int, int, bytes]] = {}  # PGN -> priority, destination, data
        self._reported: ActiveFaults | None = None
        self._next_report = 0.0
        self._packets: deque[tuple[int, int, bytes]] = deque()  # what it is part of, parameter group, data
        self._next_packet = 0.0
        self._broadcasts = BroadcastAssembler()
        self._connections = Connections(frozenset({DM1_PGN, COMMANDED_ADDRESS_PGN, *accepted}))
        self._complete: list[tuple[int, int, bytes]] = []

    def start(self, now: float) -> list[CanFrame]:
        """Claims the address and asks all nodes for theirs; returns what to send."""
        return [request(CLAIM_PGN, GLOBAL_ADDRESS, NULL_ADDRESS), *self.claim.start(now)]

    def say(self, pgn: int, data: bytes, priority: int, destination: int, now: float) -> list[CanFrame] | None:
        """Says a parameter group, which is then also the answer to requests for it.

        Returns:
            what to send now: of more than 8 bytes, nothing or the first frame; the others follow. None: it does not go,
            because the node has no address, or the last one of this group, or to this node, is still under way.
        """
        if not self.claim.is_claimed:
            return None
        frames = self._group(pgn, data, priority, destination, now)
        if frames is not None:
            self._said[pgn] = priority, destination, data
        return frames

    def tick(self, now: float) -> list[CanFrame]:
        """Lets time pass; returns what to send."""
        frames = self.claim.tick(now)
        if not self.claim.is_claimed:
            self._packets.clear()
            self._connections.clear()
            return frames
        frames += self._transport(self._connections.tick(now))
        if self.faults != self._reported or now >= self._next_report:
            self._reported = self.faults
            self._next_report = now + _DM1_INTERVAL
            frames += self._report()
        if self._packets and now >= self._next_packet:
            self._next_packet = now + PACKET_INTERVAL
            _, pgn, data = self._packets.popleft()
            frames.append(self._frame(TRANSPORT_PRIORITY, pgn, GLOBAL_ADDRESS, data))
        return frames

    def receive(self, identifier: Identifier, data: bytes, taken: Collection[int], now: float) -> list[CanFrame]:
        """Takes a frame of another node.

        Args:
            identifier: of the frame.
            data: its bytes.
            taken: addresses of other nodes, as far as known.
            now: [s].

        Returns:
            what to send.
        """
        if identifier.pgn == CLAIM_PGN and len(data) == 8:
            return self.claim.receive(identifier.source, Name.unpack(data), taken, now)
        if identifier.pgn in (CONNECTION_PGN, DATA_PGN):
            return self._take_packet(identifier, data, now)
        if identifier.pgn != REQUEST_PGN or len(data) != 3:
            return []
        requested = int.from_bytes(data, "little")
        is_for_all = identifier.destination == GLOBAL_ADDRESS
        has_address = self.claim.state in (ClaimState.WAITING, ClaimState.CLAIMED)
        if not is_for_all and not (has_address and identifier.destination == self.claim.address):
            return []
        if requested == CLAIM_PGN:
            return self.claim.requested(now)
        if not self.claim.is_claimed:
            return []
        if requested == DM1_PGN:
            faults = encode_dm1(self.faults)
            if not is_for_all and len(faults) > 8:
                return self._transport(self._connections.send(identifier.source, DM1_PGN, faults, now))
            return self._report()
        if requested in self._said:
            priority, destination, said = self._said[requested]
            if len(said) > 8 and not is_for_all:
                destination = identifier.source
            return self._group(requested, said, priority, destination, now) or []
        return [] if is_for_all else [self._refusal(requested, identifier.source)]

    @property
    def failed_transfers(self) -> dict[int, int]:
        """How many transfers to a node were refused by it or came to no end, by its address."""
        return self._connections.failures

    def take_groups(self) -> list[tuple[int, int, bytes]]:
        """Takes what came by transfers to this node since the last call: source, parameter group, bytes."""
        complete, self._complete = self._complete, []
        return complete

    def _take_packet(self, identifier: Identifier, data: bytes, now: float) -> list[CanFrame]:
        """Takes a frame of a transport, to all or to this node."""
        if identifier.destination == GLOBAL_ADDRESS:
            complete, frames = self._broadcasts.receive(identifier, data, now), []
        elif self.claim.is_claimed and identifier.destination == self.claim.address:
            progress = self._connections.receive(identifier, data, now)
            complete, frames = progress.complete, self._transport(progress.frames)
            if complete is not None:
                self._complete.append((identifier.source, *complete))
        else:
            return []
        if complete is not None and complete[0] == COMMANDED_ADDRESS_PGN:
            frames += self._commanded(complete[1], now)
        return frames

    def _commanded(self, data: bytes, now: float) -> list[CanFrame]:
        """Takes the address that a NAME is ordered to, if it is its own."""
        if len(data) != 9 or data[:8] != self.claim.name.pack() or data[8] > HIGHEST_ADDRESS:
            return []
        return self.claim.command(data[8], now)

    def _transport(self, frames: list[Frame]) -> list[CanFrame]:
        return [self._frame(TRANSPORT_PRIORITY, pgn, destination, data) for destination, pgn, data in frames]

    def _report(self) -> list[CanFrame]:
        data = encode_dm1(self.faults)
        if len(data) <= 8:
            return [self._frame(_PRIORITY, DM1_PGN, GLOBAL_ADDRESS, data)]
        self._broadcast(DM1_PGN, data)
        return []

    def _group(self, pgn: int, data: bytes, priority: int, destination: int, now: float) -> list[CanFrame] | None:
        """What to send of a parameter group now; None: the one before it is under way."""
        if len(data) <= 8:
            return [self._frame(priority, pgn, destination, data)]
        if destination == GLOBAL_ADDRESS:
            return [] if self._broadcast(pgn, data) else None
        return self._transport(self._connections.send(destination, pgn, data, now)) or None

    def _broadcast(self, pgn: int, data: bytes) -> bool:
        """Says a group of more than 8 bytes to all after those that wait; not while the last one of it waits."""
        if any(whole == pgn for whole, _, _ in self._packets):
            return False
        self._packets.extend((pgn, *packet) for packet in broadcast_packets(pgn, data))
        return True

    def _refusal(self, pgn: int, requester: int) -> CanFrame:
        data = bytes((_NEGATIVE_ACKNOWLEDGEMENT, 0xFF, 0xFF, 0xFF, requester)) + pgn.to_bytes(3, "little")
        return self._frame(_PRIORITY, ACKNOWLEDGEMENT_PGN, GLOBAL_ADDRESS, data)

    def _frame(self, priority: int, pgn: int, destination: int, data: bytes) -> CanFrame:
        return CanFrame(Identifier(priority, pgn, self.claim.address, destination).pack(), True, data)


def request(pgn: int, destination: int, source: int) -> CanFrame:
    """A request for a parameter group.

    Args:
        pgn: that is requested.
        destination: node that shall answer, or all.
        source: own address; 0xFE is valid where claims are requested.
    """
    identifier = Identifier(_PRIORITY, REQUEST_PGN, source, destination)
    return CanFrame(identifier.pack(), True, pgn.to_bytes(3, "little"))
