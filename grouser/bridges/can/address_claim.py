"""The claim of a node's own address (SAE J1939-81), as a state machine; time comes in as an argument.

A node says its NAME with the address that it wants. Who has the lower NAME keeps a contested address; the other takes
another one if its NAME says that it can, or says that it cannot claim and is silent from then on.
"""

from collections.abc import Collection
from enum import Enum

from grouser.bridges.can.frames import CanFrame
from grouser.bridges.can.identifier import GLOBAL_ADDRESS, NULL_ADDRESS, Identifier
from grouser.bridges.can.name import Name

CLAIM_PGN = 60928
CONTENTION_TIME = 0.25  # [s] without a contender, after which a claimed address is used
FREE_ADDRESSES = range(128, 248)  # from which a node without a fixed address chooses
_CLAIM_PRIORITY = 6
# A node that cannot claim waits before it says so, differently from other nodes: up to 153 ms, by its own number.
_CANNOT_CLAIM_STEP = 0.0006  # [s]


class ClaimState(Enum):
    """Of an own address."""

    SILENT = "not claimed yet"
    WAITING = "claimed, waiting for contenders"
    CLAIMED = "claimed"
    LOST = "cannot claim an address"


class AddressClaim:
    """Claims an address and defends it.

    Args:
        name: of the node.
        address: that it prefers, 0 to 253.

    Attributes:
        name, preferred: as given.
        address: that it says, or would say.
        state: see `ClaimState`.
        contender: NAME that the last address was lost to; None if none was.
    """

    def __init__(self, name: Name, address: int) -> None:
        self.name = name
        self.preferred = address
        self.address = address
        self.state = ClaimState.SILENT
        self.contender: Name | None = None
        self._until = 0.0  # [s] end of waiting, or time at which to say that it cannot claim
        self._has_to_say_lost = False

    @property
    def is_claimed(self) -> bool:
        """Whether the address may be used."""
        return self.state is ClaimState.CLAIMED

    def start(self, now: float) -> list[CanFrame]:
        """Claims the preferred address; returns what to send."""
        return self._claim(self.preferred, now)

    def tick(self, now: float) -> list[CanFrame]:
        """Lets time pass; returns what to send."""
        if now < self._until:
            return []
        if self.state is ClaimState.WAITING:
            self.state = ClaimState.CLAIMED
        if self._has_to_say_lost:
            self._has_to_say_lost = False
            return [self._frame(NULL_ADDRESS)]
        return []

    def receive(self, address: int, name: Name, taken: Collection[int], now: float) -> list[CanFrame]:
        """Takes another node's claim.

        Args:
            address: that it claims.
            name: its NAME.
            taken: addresses of other nodes, as far as known.
            now: [s].

        Returns:
            what to send.
        """
        if address != self.address or self.state in (ClaimState.SILENT, ClaimState.LOST):
            return []
        if self.name.value < name.value:
            return [self._frame(self.address)]
        self.contender = name
        free = [other for other in FREE_ADDRESSES if other not in taken and other != address]
        # A node with our own NAME is a second one of the same device: no address ends that quarrel.
        if self.name.arbitrary_address and self.name != name and free:
            return self._claim(free[self.name.identity_number % len(free)], now)
        self.state = ClaimState.LOST
        return self._say_lost_soon(now)

    def command(self, address: int, now: float) -> list[CanFrame]:
        """Takes the address that another node has ordered it to; returns what to send."""
        if self.state is ClaimState.SILENT or (address == self.address and self.state is not ClaimState.LOST):
            return []
        return self._claim(address, now)

    def requested(self, now: float) -> list[CanFrame]:
        """Answers a request for the claim; returns what to send."""
        if self.state is ClaimState.LOST:
            return self._say_lost_soon(now)
        return [] if self.state is ClaimState.SILENT else [self._frame(self.address)]

    def _claim(self, address: int, now: float) -> list[CanFrame]:
        self.address = address
        self.state = ClaimState.WAITING
        self._until = now + CONTENTION_TIME
        self._has_to_say_lost = False
        return [self._frame(address)]

    def _say_lost_soon(self, now: float) -> list[CanFrame]:
        self._has_to_say_lost = True
        self._until = now + _CANNOT_CLAIM_STEP * (self.name.identity_number & 0xFF)
        return []

    def _frame(self, source: int) -> CanFrame:
        identifier = Identifier(_CLAIM_PRIORITY, CLAIM_PGN, source, GLOBAL_ADDRESS)
        return CanFrame(identifier.pack(), True, self.name.pack())
