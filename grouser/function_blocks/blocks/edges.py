"""R_TRIG and F_TRIG: changes of a truth."""

from grouser.function_blocks.block import TRUTH, with_state


class RisingEdge:
    """Q is true for one cycle when CLK becomes true; in the first cycle if it is true then."""

    def __init__(self) -> None:
        self.before = False

    def __call__(self, _: float, now: bool) -> tuple[bool]:
        risen, self.before = now and not self.before, now
        return (risen,)


class FallingEdge:
    """Q is true for one cycle when CLK becomes false."""

    def __init__(self) -> None:
        self.before = False

    def __call__(self, _: float, now: bool) -> tuple[bool]:
        fallen, self.before = self.before and not now, now
        return (fallen,)


BLOCKS = (
    with_state("R_TRIG", RisingEdge, {"CLK": TRUTH}, {"Q": TRUTH}),
    with_state("F_TRIG", FallingEdge, {"CLK": TRUTH}, {"Q": TRUTH}),
)
