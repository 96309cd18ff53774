"""Outcomes of requests to the physics thread, and a request for steps while it is carried out."""

from collections.abc import Callable
from dataclasses import dataclass

from grouser.physics.base.errors import GrouserError, StateError


@dataclass(frozen=True)
class Outcome:
    """Result of a request: whether it was carried out, a text, and the error that refused it, if any."""

    success: bool
    message: str
    error: GrouserError | None = None


def refused(text: str) -> Outcome:
    """Outcome of a request that the present state of the simulation does not allow."""
    return Outcome(False, text, StateError(text))


class StepRequest:
    """Steps of a paused simulation that are being made.

    Args:
        count: of steps.
        after_step: called after each step with the number of steps made; returns whether to go on. None: not called.

    Attributes:
        count: as given.
        made: steps so far.
        singly: whether `after_step` is called.
    """

    def __init__(self, count: int, after_step: Callable[[int], bool] | None = None) -> None:
        self.count = count
        self.made = 0
        self.singly = after_step is not None
        self._after_step = after_step
        self._ended_by = ""

    @property
    def going(self) -> bool:
        """Whether steps remain to be made."""
        return self.made < self.count and not self._ended_by

    def end(self, cause: str) -> None:
        """Ends the request before the next step."""
        self._ended_by = self._ended_by or cause

    def add(self, steps: int) -> None:
        """Counts steps that were made."""
        self.made += steps
        if self._after_step is not None and not self._after_step(self.made):
            self.end("its cancellation")

    def outcome(self, time: float) -> Outcome:
        """Result at the simulation time of the last step [s]."""
        if self.made == self.count:
            return Outcome(True, f"{self.made} steps, now at t = {time:.6f} s")
        return Outcome(False, f"{self.made} of {self.count} steps, ended by {self._ended_by}")
