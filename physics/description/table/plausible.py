"""Plausible ranges, by which a value in another unit is noticed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PlausibleRange:
    """Where the values of real parts are, far beyond both ends; zero is plausible too.

    A value outside is asked about only if it is inside as a number of one of the other units: then it was
    probably written in that unit.

    Attributes:
        low, high: in the attribute's unit.
        others: names of other units, each with its size in the attribute's unit.
    """

    low: float
    high: float
    others: tuple[tuple[str, float], ...]

    def meant(self, value: float) -> tuple[tuple[str, float], ...]:
        """Returns the units that a value is probably in, with what it is then; empty for a plausible value."""
        if value == 0.0 or self.low <= value <= self.high:
            return ()
        return tuple((unit, value * size) for unit, size in self.others if self.low <= value * size <= self.high)
