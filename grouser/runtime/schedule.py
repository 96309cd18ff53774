"""Sampling schedule of the streams, in whole steps."""

from collections.abc import Collection, Mapping


def steps_between(rate: float, step_size: float) -> int:
    """Steps of `step_size` [s] from one sample to the next at a rate [Hz]; 0 Hz, or more than the steps: every step."""
    return 1 if rate == 0.0 else max(1, round(1.0 / (rate * step_size)))


class StreamSchedule:
    """When each stream is due.

    Args:
        intervals: name of a stream -> number of steps between two samples, >= 1.
        longest_tick: largest number of steps in a tick, >= 1.
        by_wall_time: names of the streams whose intervals `follow` the pace of the simulation.
    """

    def __init__(self, intervals: Mapping[str, int], longest_tick: int, by_wall_time: Collection[str] = ()) -> None:
        self.names = frozenset(intervals)
        self._own, self._intervals = dict(intervals), dict(intervals)
        self._longest_tick = longest_tick
        self._by_wall_time = frozenset(by_wall_time)

    @classmethod
    def from_rates(
        cls, rates: Mapping[str, float], step_size: float, longest_tick: float, by_wall_time: Collection[str] = ()
    ) -> "StreamSchedule":
        """A schedule from rates and a time, rounded to whole steps.

        Args:
            rates: name of a stream -> samples a second [Hz of simulation time]; 0, or more than the steps: every step.
            step_size: [s].
            longest_tick: [s].
            by_wall_time: names of streams.
        """
        intervals = {name: steps_between(rate, step_size) for name, rate in rates.items()}
        return cls(intervals, max(1, round(longest_tick / step_size)), by_wall_time)

    def follow(self, real_time_factor: float) -> None:
        """Lets streams by wall time come as much less often as the simulation is faster than real time."""
        faster = max(1, round(real_time_factor))
        self._intervals.update({name: self._own[name] * faster for name in self._by_wall_time & self.names})

    def due(self, step: int) -> frozenset[str]:
        """Names of the streams that are sampled at `step`."""
        return frozenset(name for name, interval in self._intervals.items() if step % interval == 0)

    def steps_to_next(self, step: int) -> int:
        """Number of steps from `step` to the next sample of any stream, or to the end of the longest tick; >= 1."""
        to_sample = min(interval - step % interval for interval in self._intervals.values())
        return min(to_sample, self._longest_tick)
