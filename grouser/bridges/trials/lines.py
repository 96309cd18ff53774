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


class JoystickMessageLine:
    """BJM of J1939: neither counter nor checksum; the value is the axis y, the axis x is not there."""

    counter = None
    modulus = 1
    scale = 1.0

    def __init__(self) -> None:
        from grouser.bridges.can.joystick import JoystickCodec

        self._codec = JoystickCodec("bjm")

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """Writes the axis."""
        return self._codec.encode({FIELD: value})

    def decode(self, data: bytes, now: float) -> Received:
        """Reads the message."""
        decoded = self._codec.decode(data)
        return Received(MESSAGE, now, decoded.values, decoded.errors, decoded.absent, refusal=decoded.refusal)


class FrameLine:
    """Frames of a serial line with counter and CRC; the value is a signed word of thousandths."""

    counter = CounterRule("u16")
    modulus = MODULI["u16"]
    scale = 1.0 / _FULL

    def encode(self, value: float, counter: int, now: float) -> bytes:
        """Packs a frame."""
        from grouser.bridges.serial.frames import COMMAND, Frame, pack_frame

        payload = round(value * _FULL).to_bytes(2, "little", signed=True)
        return pack_frame(Frame(COMMAND, counter, round(1000.0 * now), payload))

    def decode(self, data: bytes, now: float) -> Received:
        """Unpacks a frame; what is refused belongs to no message."""
        from grouser.bridges.serial.frames import COMMAND, unpack_frame

        frame = unpack_frame(data)
        if isinstance(frame, str):
            return Received("", now, refusal=frame)
        if frame.kind != COMMAND or len(frame.payload) != 2:
            return Received("", now, refusal="kind")
        word = int.from_bytes(frame.payload, "little", signed=True)
        return Received(MESSAGE, now, {FIELD: float(word)}, counter=frame.counter)


LINES: dict[str, Callable[[], Line]] = {
    "bjm": JoystickMessageLine,
    "serial": FrameLine,
    "e2e_5": lambda: ProfileLine("e2e_5", 3),
    "e2e_11": lambda: ProfileLine("e2e_11", 2),
    "j1939_tsc1": lambda: ProfileLine("j1939_tsc1", 0),
}
