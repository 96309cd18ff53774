"""What stacks of CAN hand to the transport that owns the bus."""

from dataclasses import dataclass, field

from grouser.bridges.messages import Received


@dataclass(frozen=True)
class CanFrame:
    """A data frame.

    Attributes:
        identifier: 11 or 29 bits.
        is_extended: whether it has 29.
        data: up to 8 bytes.
    """

    identifier: int
    is_extended: bool
    data: bytes


@dataclass(frozen=True)
class Loss:
    """A sender that is gone, or no longer the one that it was.

    Attributes:
        reason: in words, for diagnostics.
        sender: its address (J1939) or node (CANopen).
        messages: names of its messages in the mapping.
    """

    reason: str
    sender: int
    messages: frozenset[str] = frozenset()


@dataclass
class Outcome:
    """What follows from a frame, or from the passing of time.

    Attributes:
        frames: to be sent, in order.
        losses: of senders, whose links fall at once.
        received: messages that count now.
        is_sync: whether a SYNC came or goes, by which process data may go, too.
    """

    frames: list[CanFrame] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    is_sync: bool = False
