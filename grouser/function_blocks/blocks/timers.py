"""TON, TOF, TP: the timers of IEC 61131-3. Time is counted from the cycle in which the input changed."""

from grouser.function_blocks.block import TIME, TRUTH, with_state

_SLACK = 1e-9  # of a preset time


def is_over(elapsed: float, preset: float) -> bool:
    """Whether a preset time has passed; a sum of intervals does not miss it by rounding."""
    return elapsed >= preset * (1.0 - _SLACK)


class OnDelay:
    """Q is true once IN has been true for PT; ET is the time since it became true, at most PT."""

    def __init__(self) -> None:
        self.elapsed: float | None = None

    def __call__(self, interval: float, on: bool, preset: float) -> tuple[bool, float]:
        if not on:
            self.elapsed = None
            return False, 0.0
        self.elapsed = 0.0 if self.elapsed is None else self.elapsed + interval
        return is_over(self.elapsed, preset), min(self.elapsed, preset)


class OffDelay:
    """Q is true while IN is, and for PT after; ET is the time since IN became false, at most PT."""

    def __init__(self) -> None:
        self.begun = False
        self.elapsed: float | None = None

    def __call__(self, interval: float, on: bool, preset: float) -> tuple[bool, float]:
        if on:
            self.begun, self.elapsed = True, None
            return True, 0.0
        if not self.begun:
            return False, 0.0
        self.elapsed = 0.0 if self.elapsed is None else self.elapsed + interval
        return not is_over(self.elapsed, preset), min(self.elapsed, preset)


class Pulse:
    """Q becomes true with IN, and is so for PT, whatever IN does; ET is the time since."""

    def __init__(self) -> None:
        self.elapsed: float | None = None
        self.before = False

    def __call__(self, interval: float, on: bool, preset: float) -> tuple[bool, float]:
        if self.elapsed is not None:
            self.elapsed += interval
        if self.elapsed is None and on and not self.before:
            self.elapsed = 0.0
        self.before = on
        if self.elapsed is None:
            return False, 0.0
        if not is_over(self.elapsed, preset):
            return True, self.elapsed
        if not on:  # ET stays at PT as long as IN is true
            self.elapsed = None
            return False, 0.0
        return False, preset


_INPUTS, _OUTPUTS = {"IN": TRUTH, "PT": TIME}, {"Q": TRUTH, "ET": TIME}
BLOCKS = (
    with_state("TON", OnDelay, _INPUTS, _OUTPUTS),
    with_state("TOF", OffDelay, _INPUTS, _OUTPUTS),
    with_state("TP", Pulse, _INPUTS, _OUTPUTS),
)
