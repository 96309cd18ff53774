"""What a mapping file says, checked."""

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Direction = Literal["in", "out"]
Recovery = Literal["automatic", "acknowledge"]


class Field(Protocol):
    """Place of a value in a message, as the protocol names it: a frozen dataclass of its own.

    `str` gives its name in the message: the key of the values of a `Received`, and what `grouser inspect` prints.
    """

    @property
    def limits(self) -> tuple[float, float] | None:
        """Values that it can hold, before scale and offset; None: any float."""


@dataclass(frozen=True)
class CounterRule:
    """Rolling counter of a message.

    Attributes:
        profile: that says where it is and its modulus: see counters.py.
        max_jump: steps ahead up to which a message counts as new; the ones between are lost.
    """

    profile: str
    max_jump: int = 3


@dataclass(frozen=True)
class ChecksumRule:
    """Checksum of a message.

    Attributes:
        profile: see checksums.py.
        data_id: that both sides know and that does not travel; only of the e2e profiles.
    """

    profile: str
    data_id: int = 0


@dataclass(frozen=True)
class Enable:
    """A field of the same message that must have a value for a signal to be obeyed.

    Attributes:
        place: its `Field`.
        field: its name, as in `SignalMapping`.
        value: that it must have, as the protocol gives it.
    """

    place: Field
    field: str
    value: float


@dataclass(frozen=True)
class SignalMapping:
    """One value of a message and one signal of the machine: machine value = (value x scale + offset), then to SI.

    Attributes:
        place: what `source` or `target` says.
        field: name of the place in its message, `str(place)`; unique there.
        signal: of the machine, a name of `Plant`.
        unit: of the scaled value; "1" for none.
        factor: SI units in one `unit`.
        scale, offset: to the scaled value.
        low, high: range of the scaled value [`unit`]. In: refused outside. Out: held at the border.
        safe: command while the link is not live [`unit`]; None: the last command holds, as of a position drive; 0 for
            outgoing ones.
        neutral: |scaled value - safe| up to which a command is neutral [`unit`]; with a `safe` of None any is.
        rate: fastest change of a command [`unit` per second]; infinite without a limit. Not of the way to safe.
        sensor_fault: whether faults of sensors may be injected into an outgoing one.
        enable: condition for an incoming one; None: always.
        line: in the file.
    """

    place: Field
    field: str
    signal: str
    unit: str
    factor: float
    scale: float
    offset: float
    low: float
    high: float
    safe: float | None = 0.0
    neutral: float = 0.0
    rate: float = float("inf")
    sensor_fault: bool = True
    enable: Enable | None = None
    line: int = 0


@dataclass(frozen=True)
class MessageMapping:
    """A message and its signals.

    Attributes:
        name: unique in the file.
        direction: ``in``: to the machine; ``out``: from it.
        address: what `source` or `target` says, an object of the protocol's own: identifier, PGN and layout, unit.
        period: declared time between two messages [s]; of an outgoing one the time at which it is sent.
        timeout: silence after which an incoming one is stale [s].
        signals: at least one.
        counter, checksum: rules; None: none.
        line: in the file.
    """

    name: str
    direction: Direction
    address: Any
    period: float
    timeout: float
    signals: tuple[SignalMapping, ...]
    counter: CounterRule | None = None
    checksum: ChecksumRule | None = None
    line: int = 0

    @property
    def places(self) -> dict[str, Any]:
        """Where its fields are, by their names: those of the signals, then those of what enables them."""
        enables = [signal.enable for signal in self.signals if signal.enable is not None]
        return {one.field: one.place for one in self.signals} | {one.field: one.place for one in enables}


@dataclass(frozen=True)
class BridgeMapping:
    """A mapping file.

    Attributes:
        file: its path, for messages.
        bridge: kind of the bridge, a name of `protocols.KINDS`.
        machine: name or path of the machine, as for `grouser run`; "" for none: a mapping of joystick messages alone.
        interface: what `interface` says, an object of the protocol's own.
        recovery: how a link that was live recovers.
        good: valid messages in a row before a link is live.
        messages: in the order of the file.
    """

    file: str
    bridge: str
    machine: str
    interface: Any
    recovery: Recovery = "automatic"
    good: int = 3
    messages: tuple[MessageMapping, ...] = field(default=())

    @property
    def incoming(self) -> tuple[MessageMapping, ...]:
        """Messages to the machine."""
        return tuple(message for message in self.messages if message.direction == "in")

    @property
    def outgoing(self) -> tuple[MessageMapping, ...]:
        """Messages from the machine."""
        return tuple(message for message in self.messages if message.direction == "out")
