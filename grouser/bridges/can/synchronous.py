"""Process data of CANopen that go and count with SYNC (CiA 301: transmission types 1 to 240)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from grouser.bridges.can.settings import SYNCHRONOUS, FrameAddress
from grouser.bridges.mapping.data import BridgeMapping, MessageMapping
from grouser.bridges.messages import Received


def _synchronous(messages: tuple[MessageMapping, ...]) -> dict[str, int]:
    """Transmission types by message."""
    addresses = {message.name: message.address for message in messages}
    return {
        name: one.transmission
        for name, one in addresses.items()
        if isinstance(one, FrameAddress) and one.transmission in SYNCHRONOUS
    }


@dataclass
class SynchronousData:
    """Holds what arrives and what is to be sent until a SYNC.

    Attributes:
        incoming, outgoing: transmission types by the names of synchronous messages.
    """

    incoming: Mapping[str, int]
    outgoing: Mapping[str, int]
    _arrived: dict[str, Received] = field(default_factory=dict)
    _shown: dict[str, Mapping[str, float]] = field(default_factory=dict)
    _passed: dict[str, int] = field(default_factory=dict)  # SYNCs since it was sent

    def take(self, received: Received) -> None:
        """Holds a message that arrived, instead of an earlier one."""
        self._arrived[received.message] = received

    def show(self, message: str, values: Mapping[str, float] | None) -> None:
        """Holds values to be sent; None: there are none."""
        if values is None:
            self._shown.pop(message, None)
        else:
            self._shown[message] = values

    def release(self, now: float) -> tuple[list[Received], dict[str, Mapping[str, float]]]:
        """Takes a SYNC: returns what counts now [s], and the values of the messages that go now."""
        arrived = [replace(received, time=now) for received in self._arrived.values()]
        self._arrived.clear()
        going = {}
        for message, every in self.outgoing.items():
            self._passed[message] = self._passed.get(message, 0) + 1
            if self._passed[message] >= every:
                self._passed[message] = 0
                if message in self._shown:
                    going[message] = self._shown[message]
        return arrived, going

    def clear(self) -> None:
        """Begins anew."""
        for held in (self._arrived, self._shown, self._passed):
            held.clear()


def synchronous_data(mapping: BridgeMapping) -> SynchronousData:
    """The synchronous messages of a mapping."""
    return SynchronousData(_synchronous(mapping.incoming), _synchronous(mapping.outgoing))
