"""The link of one incoming message: whether what it says may be obeyed."""

from enum import Enum

from grouser.bridges.mapping.data import Recovery


class LinkState(Enum):
    """States of a link; only in `LIVE` its message is obeyed, in all others its commands are safe."""

    ABSENT = "absent"
    CHECKING = "checking"
    LIVE = "live"
    STALE = "stale"
    LATCHED = "latched"


class Link:
    """State machine of a link. Time comes in, in any unit, and never goes back; `tick` must be called after a timeout.

    A link becomes live by `good` valid messages in a row of which the last one has all commands neutral. It falls when
    its last valid message is older than `timeout` (one exactly as old is in time), by an error code, or when the device
    is gone. A refused message does not extend it. A fall of a live link with the recovery ``acknowledge`` is latched.

    Args:
        timeout: longest age of the last valid message.
        good: valid messages in a row, >= 1.
        recovery: what follows a fall.

    Attributes:
        state: as of the last call.
        heard: time of the last valid message; None before it.
    """

    def __init__(self, timeout: float, good: int = 3, recovery: Recovery = "automatic") -> None:
        self.state = LinkState.ABSENT
        self.heard: float | None = None
        self._timeout = timeout
        self._good = good
        self._recovery = recovery
        self._count = 0
        self._alive = False  # since the last valid message there was no error and no loss of the device
        self._neutral = False

    @property
    def deadline(self) -> float | None:
        """Time after which it falls unless a valid message arrives; None where it cannot fall."""
        if self.state in (LinkState.CHECKING, LinkState.LIVE) and self.heard is not None:
            return self.heard + self._timeout
        return None

    def tick(self, now: float) -> LinkState:
        """Lets the link fall if its last valid message is too old."""
        if self.state in (LinkState.CHECKING, LinkState.LIVE) and self._is_old(now):
            self._fall()
        return self.state

    def valid(self, now: float, neutral: bool) -> LinkState:
        """Takes a valid message, with all commands neutral or not."""
        self.tick(now)
        self.heard, self._neutral, self._alive = now, neutral, True
        if self.state in (LinkState.ABSENT, LinkState.STALE):
            self.state, self._count = LinkState.CHECKING, 0
        if self.state is LinkState.CHECKING:
            self._count += 1
            if self._count >= self._good and neutral:
                self.state = LinkState.LIVE
        return self.state

    def refused(self, now: float) -> LinkState:
        """Takes a refused message: it changes nothing but the count of messages in a row."""
        self.tick(now)
        self._count = 0
        return self.state

    def error(self, now: float) -> LinkState:
        """Takes an error code on a used field, or the news that the device is gone: the link falls at once."""
        self.tick(now)
        self._alive = False
        if self.state in (LinkState.CHECKING, LinkState.LIVE):
            self._fall()
        return self.state

    def restart(self, now: float) -> LinkState:
        """Takes the news that the sender began anew: a live link falls; messages are counted from here."""
        self.tick(now)
        if self.state is LinkState.LIVE:
            self._fall()
        self._count = 0
        return self.state

    def acknowledge(self, now: float) -> str:
        """Lets a latched link be checked again, if its device sends valid messages and is in neutral.

        Returns:
            Why not; "" if it is checked again, or was not latched.
        """
        self.tick(now)
        if self.state is not LinkState.LATCHED:
            return ""
        if not self._alive or self._is_old(now):
            return "no valid message arrives"
        if not self._neutral:
            return "its commands are not neutral: let go of the levers"
        self.state, self._count = LinkState.CHECKING, 0
        return ""

    def _is_old(self, now: float) -> bool:
        return self.heard is None or now - self.heard > self._timeout

    def _fall(self) -> None:
        latches = self._recovery == "acknowledge" and self.state is LinkState.LIVE
        self.state = LinkState.LATCHED if latches else LinkState.STALE
        self._count = 0
