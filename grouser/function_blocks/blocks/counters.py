"""CTU and CTD: counters of rising edges."""

from grouser.function_blocks.block import NUMBER, TRUTH, Port, with_state


class CountUp:
    """CV counts the rising edges of CU, from 0 again with R; Q is true once it is PV."""

    def __init__(self) -> None:
        self.count = 0
        self.before = False

    def __call__(self, _: float, up: bool, reset: bool, preset: float) -> tuple[bool, float]:
        risen, self.before = up and not self.before, up
        if reset:
            self.count = 0
        elif risen:
            self.count += 1
        return self.count >= preset, float(self.count)


class CountDown:
    """CV counts down from PV, which LD loads, with the rising edges of CD; Q is true once it is 0."""

    def __init__(self) -> None:
        self.count: float = 0.0
        self.before = False

    def __call__(self, _: float, down: bool, load: bool, preset: float) -> tuple[bool, float]:
        fallen, self.before = down and not self.before, down
        if load:
            self.count = preset
        elif fallen and self.count > 0.0:
            self.count = max(self.count - 1.0, 0.0)
        return self.count <= 0.0, self.count


_RESET = Port(truth=True, default=False)
_OUTPUTS = {"Q": TRUTH, "CV": NUMBER}
BLOCKS = (
    with_state("CTU", CountUp, {"CU": TRUTH, "R": _RESET, "PV": NUMBER}, _OUTPUTS),
    with_state("CTD", CountDown, {"CD": TRUTH, "LD": _RESET, "PV": NUMBER}, _OUTPUTS),
)
