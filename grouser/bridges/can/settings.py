"""What a mapping says about a CAN bus: the interface, the nodes on it, and where messages are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cantools.database.can import Database

from grouser.bridges.can.canopen_network import DeviceSettings, OwnNodeSettings
from grouser.bridges.can.identifier import GLOBAL_ADDRESS
from grouser.bridges.can.name import Name
from grouser.bridges.decoded import Decoded
from grouser.bridges.mapping.data import Field

SYNCHRONOUS = range(1, 241)  # transmission types of CANopen: with each SYNC, or each n-th one
BY_ITSELF = 255  # transmission type: when it is due


class Codec(Protocol):
    """Between the bytes of a message and the values of its fields."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """Fields by name."""

    @property
    def length(self) -> int:
        """Of the message [bytes]."""

    def decode(self, data: bytes) -> Decoded:
        """The values in a message."""

    def encode(self, values: Mapping[str, float]) -> bytes | None:
        """The bytes of a message; None where a value is not a number and there is no code for that.

        Raises:
            ValueError: a value that its field cannot hold.
        """


@dataclass(frozen=True)
class Device:
    """A CANopen device.

    Attributes:
        settings: as a node.
        objects: of its data sheet (`canopen.ObjectDictionary`).
    """

    settings: DeviceSettings
    objects: Any


@dataclass(frozen=True)
class J1939Settings:
    """The bridge as a node of J1939.

    Attributes:
        name: that it claims its address with.
        address: that it prefers.
    """

    name: Name
    address: int


@dataclass(frozen=True)
class CanInterface:
    """The bus.

    Attributes:
        interface, channel: python-can's names.
        options: further arguments of python-can, such as bitrate.
        database: of messages; None: there is none.
        node: the bridge as a node of J1939; None: it only listens.
        devices: of CANopen, by their names in the mapping.
        own_node: the bridge as a node of CANopen; None: it is none.
        sync: time between two SYNCs that it sends [s]; None: another node does.
    """

    interface: str
    channel: str
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    database: Database | None = None
    node: J1939Settings | None = None
    devices: Mapping[str, Device] = field(default_factory=dict)
    own_node: OwnNodeSettings | None = None
    sync: float | None = None


@dataclass(frozen=True)
class FrameAddress:
    """A message with an identifier of its own.

    Attributes:
        identifier: 11 or 29 bits.
        is_extended: whether it has 29.
        codec: of its data.
        device: CANopen node that sends or takes it as process data; None: no node is watched for it.
        is_process_data: whether it is sent in the state "operational" alone.
        transmission: type of the bridge's own process data: one in `SYNCHRONOUS` counts, or goes, with SYNC.
    """

    identifier: int
    is_extended: bool
    codec: Codec
    device: int | None = None
    is_process_data: bool = False
    transmission: int = BY_ITSELF

    def __str__(self) -> str:
        return f"0x{self.identifier:08X}" if self.is_extended else f"0x{self.identifier:03X}"


@dataclass(frozen=True)
class GroupAddress:
    """A message of J1939: a parameter group and its sender.

    Attributes:
        pgn: parameter group number.
        codec: of its data.
        source: address of the sender of an incoming one; None: where `name` says.
        name: of the sender of an incoming one; None: whoever has the address.
        priority: of an outgoing one.
        destination: of an outgoing one.
        is_joystick: whether an outgoing one is repeated as joysticks do: at once on change, else each 100 ms.
    """

    pgn: int
    codec: Codec
    source: int | None = None
    name: Name | None = None
    priority: int = 6
    destination: int = GLOBAL_ADDRESS
    is_joystick: bool = False

    def __str__(self) -> str:
        sender = "" if self.source is None else f" of 0x{self.source:02X}"
        return f"PGN {self.pgn}{sender}"
