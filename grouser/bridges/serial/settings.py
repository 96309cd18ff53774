"""What a mapping says about a serial line or a UDP port, and where messages are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from grouser.bridges.mapping.data import Field
from grouser.bridges.packed_fields import PackedLayout

Form = Literal["frames", "json"]


@dataclass(frozen=True)
class SerialInterface:
    """A serial line.

    Attributes:
        port: its device file.
        baud_rate: [bit/s].
        form: of messages.
    """

    port: str
    baud_rate: int
    form: Form


@dataclass(frozen=True)
class UdpInterface:
    """A UDP port and its only peer.

    Attributes:
        host, port: of the peer; datagrams of other hosts are refused.
        local_host, local_port: to which the bridge listens.
        form: of messages, one in a datagram.
    """

    host: str
    port: int
    local_host: str
    local_port: int
    form: Form


@dataclass(frozen=True)
class NumberField:
    """A number in a line of JSON.

    Attributes:
        name: of the member of `signals`.
        limits: none.
    """

    name: str
    limits: None = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class SerialAddress:
    """A message.

    Attributes:
        kind: of its frames or lines, 0 to 255.
        layout: of the payload of a frame; None in lines of JSON.
    """

    kind: int
    layout: PackedLayout | None

    @property
    def fields(self) -> Mapping[str, Field]:
        """Fields of the payload, by name; empty in lines of JSON."""
        return {} if self.layout is None else dict(self.layout.fields)

    def __str__(self) -> str:
        return f"kind {self.kind}"
