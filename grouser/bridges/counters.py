"""Rolling counters: which message is new, which is repeated, and how many were lost."""

from dataclasses import dataclass
from enum import Enum

# Profile -> modulus. Where the counter is, checksums.py knows.
MODULI = {"j1939_tsc1": 8, "e2e_5": 256, "e2e_11": 15, "u16": 65536}
_RUN = 3  # jumps in sequence that become the new base


class Verdict(Enum):
    """What a counter says about its message."""

    NEW = "new"
    REPEATED = "repeated"
    JUMP = "jump"
    RESYNCHRONISED = "resynchronised"
    INVALID = "invalid counter"


@dataclass
class RollingCounter:
    """Follows the counter of a message.

    Attributes:
        modulus: its values are 0 to modulus - 1.
        max_jump: steps ahead up to which a message is new.
        lost: messages that the last one shows as lost.
    """

    modulus: int
    max_jump: int
    lost: int = 0
    _last: int | None = None
    _jumped_to: int = 0
    _run: int = 0

    def judge(self, value: int) -> Verdict:
        """Judges the counter of the next message.

        A message that is ahead by more than `max_jump`, or behind, jumps; the base stays, so that a late message does
        no harm. Three jumps in sequence are a sender that began anew: the last one is the new base.
        """
        self.lost = 0
        if not 0 <= value < self.modulus:
            return Verdict.INVALID
        ahead = 1 if self._last is None else (value - self._last) % self.modulus
        if ahead == 0:
            return Verdict.REPEATED
        if ahead <= self.max_jump:
            self.lost = ahead - 1
            self._last, self._run = value, 0
            return Verdict.NEW
        in_sequence = self._run > 0 and (value - self._jumped_to) % self.modulus == 1
        self._run = self._run + 1 if in_sequence else 1
        self._jumped_to = value
        if self._run < _RUN:
            return Verdict.JUMP
        self._last, self._run = value, 0
        return Verdict.RESYNCHRONISED
