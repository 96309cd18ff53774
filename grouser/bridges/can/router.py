"""From frames to the messages of a mapping, and back to their data."""

from collections.abc import Collection, Mapping

from grouser.bridges.can.frames import CanFrame
from grouser.bridges.can.identifier import GLOBAL_ADDRESS, Identifier, is_broadcast, unpack_identifier
from grouser.bridges.can.name import Name
from grouser.bridges.can.settings import GroupAddress
from grouser.bridges.can.transport_protocol import PRIORITY as TRANSPORT_PRIORITY
from grouser.bridges.checksums import PROFILES, next_counter
from grouser.bridges.mapping.data import BridgeMapping, MessageMapping
from grouser.bridges.messages import Received

STRANGER = "sender not the named node"


class Router:
    """Finds the message of a frame and decodes it.

    Args:
        mapping: with its messages.
    """

    def __init__(self, mapping: BridgeMapping) -> None:
        self._frames: dict[tuple[int, bool], MessageMapping] = {}
        self._groups: dict[int, list[MessageMapping]] = {}
        for message in mapping.incoming:
            address = message.address
            if isinstance(address, GroupAddress):
                self._groups.setdefault(address.pgn, []).append(message)
            else:
                self._frames[address.identifier, address.is_extended] = message

    @property
    def long_groups(self) -> frozenset[int]:
        """Parameter groups of messages above 8 bytes."""
        return frozenset(
            pgn for pgn, group in self._groups.items() if any(message.address.codec.length > 8 for message in group)
        )

    @property
    def has_named_senders(self) -> bool:
        """Whether a message comes from a node that is known by its NAME."""
        return any(message.address.name is not None for group in self._groups.values() for message in group)

    def of_sender(self, address: int, names: Mapping[int, Name]) -> frozenset[str]:
        """Names of the J1939 messages that an address sends.

        Args:
            address: of the sender.
            names: of all nodes, by address.
        """
        return frozenset(
            message.name
            for group in self._groups.values()
            for message in group
            if message.address.source == address or _is_named(message.address, names.get(address))
        )

    def of_device(self, node: int) -> frozenset[str]:
        """Names of the messages that a CANopen device sends."""
        return frozenset(message.name for message in self._frames.values() if message.address.device == node)

    def device_of(self, frame: CanFrame) -> int | None:
        """The CANopen device whose process data a frame is."""
        message = self._frames.get((frame.identifier, frame.is_extended))
        return None if message is None else message.address.device

    def receive(
        self, frame: CanFrame, names: Mapping[int, Name], own_addresses: Collection[int], now: float
    ) -> Received | None:
        """The message in a frame, decoded or refused; None if the mapping has none.

        Args:
            frame: that arrived.
            names: of all J1939 nodes, by address.
            own_addresses: of the bridge; messages to other nodes are not taken where it has one.
            now: [s].
        """
        message = self._frames.get((frame.identifier, frame.is_extended))
        if message is not None:
            return _decoded(message, frame, now)
        if not frame.is_extended or not self._groups:
            return None
        identifier = unpack_identifier(frame.identifier)
        group = self._groups.get(identifier.pgn)
        if group is None:
            return None
        if own_addresses and identifier.destination not in (GLOBAL_ADDRESS, *own_addresses):
            return None
        name = names.get(identifier.source)
        at_address = [message for message in group if message.address.source == identifier.source]
        senders = [message for message in group if _is_named(message.address, name)]
        senders += [message for message in at_address if message.address.name is None]
        if senders:
            return _decoded(senders[0], frame, now)
        return Received(at_address[0].name, now, refusal=STRANGER) if at_address else None


class Encoder:
    """Makes the data of an outgoing message, with counter and checksum.

    Args:
        message: of the mapping.
    """

    def __init__(self, message: MessageMapping) -> None:
        self.message = message
        self._counter = 0

    def encode(self, values: Mapping[str, float], identifier: int) -> bytes | None:
        """The data; None where a value is not a number and there is no code for that.

        Args:
            values: by field.
            identifier: of the frame.
        """
        data = self.message.address.codec.encode(values)
        rule = self.message.checksum
        if data is None or rule is None:
            return data
        data = PROFILES[rule.profile].protect(data, self._counter, identifier, rule.data_id)
        self._counter = next_counter(rule.profile, self._counter)
        return data


def whole_group(source: int, pgn: int, data: bytes) -> CanFrame:
    """A parameter group that came in several frames, as if it had come in one."""
    return CanFrame(Identifier(TRANSPORT_PRIORITY, pgn, source, GLOBAL_ADDRESS).pack(), True, data)


def group_identifier(address: GroupAddress, source: int) -> Identifier:
    """Identifier of an outgoing message, as if it went in one frame."""
    destination = GLOBAL_ADDRESS if is_broadcast(address.pgn) else address.destination
    return Identifier(address.priority, address.pgn, source, destination)


def _is_named(address: GroupAddress, name: Name | None) -> bool:
    return address.name is not None and address.name == name


def _decoded(message: MessageMapping, frame: CanFrame, now: float) -> Received:
    data = frame.data
    if len(data) != message.address.codec.length:
        return Received(message.name, now, refusal="length")
    rule = message.checksum
    if rule is not None and not PROFILES[rule.profile].is_intact(data, frame.identifier, rule.data_id):
        return Received(message.name, now, refusal="checksum")
    decoded = message.address.codec.decode(data)
    return Received(
        message=message.name,
        time=now,
        values=decoded.values,
        errors=decoded.errors,
        absent=decoded.absent,
        counter=None if message.counter is None else PROFILES[message.counter.profile].counter(data),
        refusal=decoded.refusal,
    )
