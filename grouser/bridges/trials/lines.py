"""Lines of the fault trial: one message with one value in [-1, 1], as each protocol writes and reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from grouser.bridges.checksums import PROFILES
from grouser.bridges.counters import MODULI
from grouser.bridges.mapping.data import CounterRule
from grouser.bridges.messages import Received

MESSAGE, FIELD, SIGNAL = "stick", "y", "valve/boom_valve"
DATA_ID = 0x1234
IDENTIFIER = 0x0C000003
_LENGTH = 8
_FULL = 1000


class Line(Protocol):
    """A protocol in the trial."""

    @property
    def counter(self) -> CounterRule | None:
        """Rule of its counter; None: it has none."""

    @property
    def modulus(self) -> int:
        """Of the counter; 1 without one."""

    @property
    def scale(self) -> float:
        """From what is decoded to the value."""

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """The bytes of a message."""

    def decode(self, data: bytes, now: float) -> Received:
        """What the bridge receives."""


@dataclass(frozen=True)
class ProfileLine:
    """Eight bytes of a CAN frame with counter and checksum of a profile; the value is a signed word of thousandths.

    Attributes:
        profile: name in `PROFILES`.
        place: of the word's first byte.
    """

    profile: str
    place: int
    scale: float = 1.0 / _FULL

    @property
    def counter(self) -> CounterRule:
        """The counter of the profile."""
        return CounterRule(self.profile)

    @property
    def modulus(self) -> int:
        """Of the counter."""
        return MODULI[self.profile]

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """Writes the word, then counter and checksum."""
        data = bytearray(_LENGTH)
        data[self.place : self.place + 2] = round(value * _FULL).to_bytes(2, "little", signed=True)
        return PROFILES[self.profile].protect(bytes(data), counter, IDENTIFIER, DATA_ID)

    def decode(self, data: bytes, now: float) -> Received:
        """Checks the checksum, then reads counter and word."""
        profile = PROFILES[self.profile]
        if len(data) != _LENGTH:
            return Received(MESSAGE, now, refusal="length")
        if not profile.is_intact(data, IDENTIFIER, DATA_ID):
            return Received(MESSAGE, now, refusal="checksum")
        word = int.from_bytes(data[self.place : self.place + 2], "little", signed=True)
        return Received(MESSAGE, now, {FIELD: float(word)}, counter=profile.counter(data))


LINES: dict[str, Callable[[], Line]] = {
    "e2e_5": lambda: ProfileLine("e2e_5", 3),
    "e2e_11": lambda: ProfileLine("e2e_11", 2),
    "j1939_tsc1": lambda: ProfileLine("j1939_tsc1", 0),
}
