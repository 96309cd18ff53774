"""A message as a block of Modbus registers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grouser.bridges.mapping.data import MessageMapping
from grouser.bridges.plc.registers import RegisterField, decode, encode

HEARTBEAT_MODULUS = 65536


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
    """The registers of a message, from the first to the last of its fields.

    Attributes:
        name: of the message.
        start: address of its first register.
        count: number of its registers; gaps between fields count.
    """

    def __init__(self, message: MessageMapping):
        self.name = message.name
        self.heartbeat: RegisterField | None = message.address.heartbeat
        self.table: str = message.address.table
        self._fields = fields_of(message)
        self.start = min(field.register for field in self._fields)
        self.count = max(field.last for field in self._fields) + 1 - self.start
        self._values: dict[str, RegisterField] = message.places

    @property
    def end(self) -> int:
        """Address behind its last register."""
        return self.start + self.count

    def decode(self, words: Sequence[int]) -> dict[str, float]:
        """Returns the values by field, of registers from `start` on."""
        return {name: decode(place, self._part(place, words)) for name, place in self._values.items()}

    def decode_heartbeat(self, words: Sequence[int]) -> int | None:
        """Returns the heartbeat among registers from `start` on; None without one."""
        return None if self.heartbeat is None else int(decode(self.heartbeat, self._part(self.heartbeat, words)))

    def encode(self, values: Mapping[str, float], heartbeat: int) -> list[int] | None:
        """Returns the registers from `start` on; gaps are 0. None: a value is not finite, for which there is no code.

        Raises:
            ValueError: a field cannot hold its value.
        """
        words = [0] * self.count
        for name, place in self._values.items():
            if not math.isfinite(values[name]):
                return None
            words[place.register - self.start : place.last + 1 - self.start] = encode(place, values[name])
        if self.heartbeat is not None:
            words[self.heartbeat.register - self.start] = heartbeat % HEARTBEAT_MODULUS
        return words

    def _part(self, field: RegisterField, words: Sequence[int]) -> Sequence[int]:
        return words[field.register - self.start : field.last + 1 - self.start]


def fields_of(message: MessageMapping) -> list[RegisterField]:
    """Returns all fields of a message, its enabling ones and the heartbeat too, each once, by address."""
    places = set(message.places.values())
    if message.address.heartbeat is not None:
        places.add(message.address.heartbeat)
    return sorted(places, key=lambda field: field.register)
