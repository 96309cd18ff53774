"""Pacing: keeps the simulation in step with the wall clock by counting steps."""

import threading
import time
from collections.abc import Callable


class Pacer:
    """Computes when a step is due, and detects overruns.

    Step k is due `k * step_size / real_time_factor` after the start: a product, never a sum of periods, so that
    rounding errors do not accumulate. A delay of more than `overrun_limit` counts as one overrun, and the schedule
    restarts from now: time is lost, steps are not.

    Args:
        step_size: simulated time of a step [s].
        real_time_factor: simulated seconds per wall second; 0 for as fast as possible.
        overrun_limit: how far behind is an overrun [s, wall].
        clock: monotonic wall clock [s].
    """

    def __init__(
        self,
        step_size: float,
        real_time_factor: float,
        overrun_limit: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.step_size = step_size
        self.overrun_limit = overrun_limit
        self.overruns = 0
        self._real_time_factor = real_time_factor
        self._clock = clock
        self._anchor_time = clock()
        self._anchor_step = 0

    @property
    def real_time_factor(self) -> float:
        """Target of simulated seconds per wall second; 0 for as fast as possible."""
        return self._real_time_factor

    def restart(self, step: int) -> None:
        """Makes `step` due now: at the start, and after a pause."""
        self._anchor_time = self._clock()
        self._anchor_step = step

    def change_real_time_factor(self, real_time_factor: float, step: int) -> None:
        """Changes the target pace from `step` on."""
        if real_time_factor != self._real_time_factor:
            self._real_time_factor = real_time_factor
            self.restart(step)

    def due(self, step: int) -> float:
        """When `step` is due on the wall clock [s]; the start if there is no pace to keep."""
        if self._real_time_factor == 0.0:
            return self._anchor_time
        return self._anchor_time + (step - self._anchor_step) * self.step_size / self._real_time_factor

    def wait(self, step: int, interruption: threading.Event) -> bool:
        """Waits until `step` is due; returns at once if it is late.

        Args:
            step: the number of a step.
            interruption: setting it ends the wait early.

        Returns:
            Whether the step is due; False after an interruption.
        """
        if self._real_time_factor == 0.0:
            return not interruption.is_set()
        remaining = self.due(step) - self._clock()
        if remaining > 0.0:
            return not interruption.wait(remaining)
        if -remaining > self.overrun_limit:
            self.overruns += 1
            self.restart(step)
        return not interruption.is_set()
