"""A message as a block of Modbus registers."""

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grouser.bridges.mapping.data import MessageMapping
from grouser.bridges.plc.registers import RegisterField, form_of, from_swapped, to_swapped

HEARTBEAT_MODULUS = 65536
_HEARTBEAT = " heartbeat"  # a name that no field can have


@dataclass(frozen=True)
class RegisterAddress:
    """What `source` or `target` of a message says.

    Attributes:
        heartbeat: register (u16) that changes from message to message; None: without.
        table: of a client's reads: ``holding`` (function 3) or ``input`` (function 4).
    """

    heartbeat: RegisterField | None = None
    table: str = "holding"


class RegisterMessage:
    """The registers of a message, from the first to the last of its fields, each two bytes, big endian.

    Attributes:
        name: of the message.
        start: address of its first register.
        count: number of its registers; gaps between fields count.
        end: address behind its last register.
        heartbeat: its heartbeat; None: without.
        table: see `RegisterAddress`.
    """

    def __init__(self, message: MessageMapping):
        self.name = message.name
        self.heartbeat: RegisterField | None = message.address.heartbeat
        self.table: str = message.address.table
        named = dict(message.places)
        if self.heartbeat is not None:
            named[_HEARTBEAT] = self.heartbeat
        self._fields: list[tuple[str, RegisterField]] = sorted(named.items(), key=lambda pair: pair[1].register)
        self.start = self._fields[0][1].register
        self.end = max(field.last for _, field in self._fields) + 1
        self.count = self.end - self.start
        self._names = [name for name, _ in self._fields]
        self._form = struct.Struct(_form_of_block([field for _, field in self._fields]))
        self._floats = [place for place, (_, field) in enumerate(self._fields) if field.type == "f32"]
        self._swapped = [place for place, (_, field) in enumerate(self._fields) if field.is_swapped]

    def decode(self, data: bytes) -> tuple[dict[str, float], int | None]:
        """Returns the values by field, which may be infinite or NaN, and the heartbeat; None without one.

        Args:
            data: two bytes for each register from `start` to `end`.
        """
        numbers = list(self._form.unpack(data))
        for place in self._swapped:
            numbers[place] = from_swapped(self._fields[place][1], numbers[place])
        values = dict(zip(self._names, numbers, strict=True))
        return values, values.pop(_HEARTBEAT, None)

    def encode(self, values: Mapping[str, float], heartbeat: int) -> bytes | None:
        """Returns the registers as `decode` takes them; gaps are 0. None: a value is not finite: there is no code.

        Raises:
            ValueError: a field cannot hold its value.
        """
        shown = {**values, _HEARTBEAT: heartbeat % HEARTBEAT_MODULUS}
        exact = [shown[name] for name in self._names]
        if not all(map(math.isfinite, exact)):
            return None
        numbers: list[float] = list(map(round, exact))
        for place in self._floats:
            numbers[place] = exact[place]
        try:
            for place in self._swapped:
                numbers[place] = to_swapped(self._fields[place][1], numbers[place])
            return self._form.pack(*numbers)
        except (struct.error, OverflowError):
            self._require_room(exact)
            raise

    def _require_room(self, exact: Sequence[float]) -> None:
        """Raises ValueError for the first field that cannot hold its value."""
        for (_, field), value in zip(self._fields, exact, strict=True):
            low, high = field.limits
            if not low <= (value if field.type == "f32" else round(value)) <= high:
                raise ValueError(f"{value:g} in register {field}: {field.type} holds {low:g} to {high:g}")


def words_of(data: bytes) -> list[int]:
    """Registers of their bytes."""
    return list(struct.unpack(f">{len(data) // 2}H", data))


def bytes_of(words: Sequence[int]) -> bytes:
    """Bytes of registers."""
    return struct.pack(f">{len(words)}H", *words)


def fields_of(message: MessageMapping) -> list[RegisterField]:
    """Returns all fields of a message, its enabling ones and the heartbeat too, each once, by address."""
    places = set(message.places.values())
    if message.address.heartbeat is not None:
        places.add(message.address.heartbeat)
    return sorted(places, key=lambda field: field.register)


def _form_of_block(fields: Sequence[RegisterField]) -> str:
    """The form of a block for `struct`; what lies between two fields is left out."""
    gaps = [max(0, following.register - field.last - 1) for field, following in pairwise(fields)]
    return ">" + "".join(f"{form_of(field)}{2 * gap}x" for field, gap in zip(fields, [*gaps, 0], strict=True))
