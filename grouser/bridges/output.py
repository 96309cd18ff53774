"""One outgoing message of a bridge: from measurements to the values of its fields."""

import math
from collections.abc import Mapping

from grouser.bridges.figures import OutputFigures
from grouser.bridges.mapping.data import MessageMapping


class Output:
    """Makes the values of an outgoing message, and knows when it is due.

    Args:
        message: of the mapping.

    Attributes:
        message, figures: its own.
        due: when it is to be sent next [s].
        names: signals that it shows.
    """

    def __init__(self, message: MessageMapping) -> None:
        self.message = message
        self.figures = OutputFigures()
        self.due = -math.inf
        # As tuples, because every message needs all of them.
        self._signals = [
            (one.field, one.signal, one.factor, one.low, one.high, one.offset, one.scale) for one in message.signals
        ]
        self.names = tuple(dict.fromkeys(signal.signal for signal in message.signals))

    def is_due(self, now: float) -> bool:
        """Whether it is to be sent now. Times that have passed are skipped, and counted."""
        if self.due == -math.inf:
            self.due = now
        if now < self.due:
            return False
        passed = math.floor((now - self.due) / self.message.period)
        self.figures.skipped += passed
        self.due += (passed + 1) * self.message.period
        return True

    def values(self, measured: Mapping[str, float]) -> dict[str, float]:
        """Returns field -> value as the protocol has it, from measurements [SI]; NaN where there is none."""
        values = {}
        for field, signal, factor, low, high, offset, scale in self._signals:
            shown = measured.get(signal, math.nan) / factor
            if not math.isfinite(shown):
                shown = math.nan
            elif not low <= shown <= high:
                shown = low if shown < low else high
                self.figures.held += 1
            values[field] = (shown - offset) / scale
        return values
