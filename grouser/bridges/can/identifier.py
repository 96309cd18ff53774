"""Identifiers of J1939: the 29 bits of an extended CAN frame.

SAE J1939-21: priority 3 bits, extended data page 1, data page 1, PDU format 8, PDU specific 8, source address 8. A PDU
format of 240 and more is a broadcast, whose PDU specific belongs to the parameter group number (PGN); below, it is the
destination address, and the PGN has zero in its place.
"""

from dataclasses import dataclass

GLOBAL_ADDRESS = 0xFF
NULL_ADDRESS = 0xFE  # the source address of a node without an address
HIGHEST_ADDRESS = 0xFD
HIGHEST_PGN = 0x3FFFF
_FIRST_BROADCAST_FORMAT = 240


@dataclass(frozen=True)
class Identifier:
    """An identifier of J1939.

    Attributes:
        priority: 0 (first) to 7.
        pgn: parameter group number, 0 to 0x3FFFF.
        source: address of the sender.
        destination: address of the receiver; 0xFF for all, always so for broadcast parameter groups.
    """

    priority: int
    pgn: int
    source: int
    destination: int = GLOBAL_ADDRESS

    def pack(self) -> int:
        """The 29 bits.

        Raises:
            ValueError: a part that does not fit its bits, or a destination that the parameter group cannot have.
        """
        for name, value, highest in (
            ("priority", self.priority, 7),
            ("pgn", self.pgn, HIGHEST_PGN),
            ("source", self.source, 0xFF),
            ("destination", self.destination, 0xFF),
        ):
            if not 0 <= value <= highest:
                raise ValueError(f"{name} {value:#x}: valid is 0 to {highest:#x}")
        specific = 0
        if not is_broadcast(self.pgn):
            if self.pgn & 0xFF:
                raise ValueError(f"pgn {self.pgn:#x}: one with a destination ends in 00")
            specific = self.destination
        elif self.destination != GLOBAL_ADDRESS:
            raise ValueError(f"destination {self.destination:#x}: pgn {self.pgn:#x} is a broadcast, valid is 0xff")
        return self.priority << 26 | self.pgn << 8 | specific << 8 | self.source


def unpack_identifier(bits: int) -> Identifier:
    """The parts of a 29-bit identifier."""
    pgn = bits >> 8 & HIGHEST_PGN
    destination = GLOBAL_ADDRESS
    if not is_broadcast(pgn):
        destination = pgn & 0xFF
        pgn &= ~0xFF
    return Identifier(bits >> 26 & 7, pgn, bits & 0xFF, destination)


def is_broadcast(pgn: int) -> bool:
    """Whether a parameter group goes to all nodes by its definition."""
    return (pgn >> 8 & 0xFF) >= _FIRST_BROADCAST_FORMAT
