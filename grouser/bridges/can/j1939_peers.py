"""The other nodes of a J1939 bus: who has which address, and their active faults."""

from grouser.bridges.can.address_claim import CLAIM_PGN
from grouser.bridges.can.diagnostics import ActiveFaults, decode_dm1
from grouser.bridges.can.frames import Loss
from grouser.bridges.can.identifier import HIGHEST_ADDRESS, Identifier
from grouser.bridges.can.name import Name
from grouser.bridges.can.transport_protocol import CONNECTION_PGN, DATA_PGN, BroadcastAssembler

DM1_PGN = 65226


class Peers:
    """Follows claims and DM1 of all nodes.

    Attributes:
        names: NAME by address, of the nodes that have claimed one since `Peers` was made.
        faults: active faults by address, as the node's last DM1 has them.
    """

    def __init__(self) -> None:
        self.names: dict[int, Name] = {}
        self.faults: dict[int, ActiveFaults] = {}
        self._assembler = BroadcastAssembler()
        self._complete: list[tuple[int, int, bytes]] = []

    def receive(self, identifier: Identifier, data: bytes, now: float) -> list[Loss]:
        """Takes a frame.

        Returns:
            addresses whose owner has changed or has given them up: what they say from now on is another node's.
        """
        if identifier.pgn == CLAIM_PGN:
            return self._claimed(identifier.source, data)
        if identifier.pgn in (CONNECTION_PGN, DATA_PGN):
            complete = self._assembler.receive(identifier, data, now)
            if complete is not None:
                self.learn(identifier.source, *complete)
                self._complete.append((identifier.source, *complete))
        else:
            self.learn(identifier.source, identifier.pgn, data)
        return []

    def take_broadcasts(self) -> list[tuple[int, int, bytes]]:
        """Takes what came to all in several frames since the last call: source, parameter group, bytes."""
        complete, self._complete = self._complete, []
        return complete

    def learn(self, source: int, pgn: int, data: bytes) -> None:
        """Takes a whole parameter group of a node, however it came."""
        if pgn == DM1_PGN and len(data) >= 6:
            self.faults[source] = decode_dm1(data)

    def _claimed(self, address: int, data: bytes) -> list[Loss]:
        if len(data) != 8:
            return []
        name = Name.unpack(data)
        losses = []
        for old in [old for old, owner in self.names.items() if owner == name and old != address]:
            del self.names[old]
            self.faults.pop(old, None)
            losses.append(Loss(f"address {old:#04x} given up", old))
        if address <= HIGHEST_ADDRESS:
            owner = self.names.get(address)
            self.names[address] = name
            if owner not in (None, name):
                self.faults.pop(address, None)
                losses.append(Loss(f"address {address:#04x} claimed by another node", address))
        return losses
