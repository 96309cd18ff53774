"""What transports and the bridge hand to each other."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Received:
    """A message that arrived, decoded or refused.

    Attributes:
        message: name of the message in the mapping; "" where the bytes do not tell: it is counted and touches no link.
        time: of its arrival, `time.monotonic` [s]; simulation time in lockstep.
        values: field (`SignalMapping.field`) -> its value as the protocol gives it, before scale and offset: a DBC
            signal's physical value, a register's number, an axis in [-1, 1], 0 or 1 for a button.
        errors: fields that hold the protocol's error code; a used one stops the machine at once.
        absent: fields that hold the protocol's code for "not available"; a used one makes the message refused.
        counter: the rolling counter, where the message has a counter rule.
        refusal: why the message is refused as a whole, in one word or few (``checksum``, ``length``, ``position
            above 1000``): a key of the counts, so without values; "": it is not.
    """

    message: str
    time: float
    values: Mapping[str, float] = field(default_factory=dict)
    errors: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    counter: int | None = None
    refusal: str = ""


class Sink(Protocol):
    """Takes what a transport receives; its methods may be called from any thread, and return soon."""

    def receive(self, received: Received) -> None:
        """Takes a message."""

    def lost(self, reason: str, time: float, messages: Collection[str] | None = None) -> None:
        """Takes the news that a device, bus or peer is gone: the links fall at once.

        Args:
            reason: in words, for diagnostics: ``device gone``, ``bus-off``, ``heartbeat lost``.
            time: as in `Received`.
            messages: names of those that are concerned; None: all incoming ones.
        """

    def broken(self, reason: str, time: float) -> None:
        """As `lost` for all messages; in addition the transport must be closed and opened again."""
