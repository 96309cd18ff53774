"""Sampling schedule of the streams, in whole steps."""

from collections.abc import Mapping


def steps_between(rate: float, step_size: float) -> int:
    """Steps of `step_size` [s] from one sample to the next at a rate [Hz]; 0 Hz, or more than the steps: every step."""
    return 1 if rate == 0.0 else max(1, round(1.0 / (rate * step_size)))


class StreamSchedule:
    """When each stream is due.

    Args:
        intervals: name of a stream -> number of steps between two samples, >= 1.
        longest_tick: largest number of steps in a tick, >= 1.
    """

    def __init__(self, intervals: Mapping[str, int], longest_tick: int) -> None:
        self.names = frozenset(intervals)
        self._intervals = dict(intervals)
        self._longest_tick = longest_tick

    @classmethod
    def from_rates(cls, rates: Mapping[str, float], step_size: float, longest_tick: float) -> "StreamSchedule":
        """A schedule from rates and a time, rounded to whole steps.

        Args:
            rates: name of a stream -> samples a second [Hz of simulation time]; 0, or more than the steps: every step.
            step_size: [s].
            longest_tick: [s].
        """
        intervals = {name: steps_between(rate, step_size) for name, rate in rates.items()}
        return cls(intervals, max(1, round(longest_tick / step_size)))

    def due(self, step: int) -> frozenset[str]:
        """Names of the streams that are sampled at `step`."""
        return frozenset(name for name, interval in self._intervals.items() if step % interval == 0)

    def steps_to_next(self, step: int) -> int:
        """Number of steps from `step` to the next sample of any stream, or to the end of the longest tick; >= 1."""
        to_sample = min(interval - step % interval for interval in self._intervals.values())
        return min(to_sample, self._longest_tick)
