"""SR and RS: what is set stays set until it is reset."""

from grouser.function_blocks.block import TRUTH, with_state


class SetDominant:
    """Q1 is set by S1 and reset by R; S1 wins."""

    def __init__(self) -> None:
        self.state = False

    def __call__(self, _: float, on: bool, off: bool) -> tuple[bool]:
        self.state = on or (self.state and not off)
        return (self.state,)


class ResetDominant:
    """Q1 is set by S and reset by R1; R1 wins."""

    def __init__(self) -> None:
        self.state = False

    def __call__(self, _: float, on: bool, off: bool) -> tuple[bool]:
        self.state = not off and (self.state or on)
        return (self.state,)


BLOCKS = (
    with_state("SR", SetDominant, {"S1": TRUTH, "R": TRUTH}, {"Q1": TRUTH}),
    with_state("RS", ResetDominant, {"S": TRUTH, "R1": TRUTH}, {"Q1": TRUTH}),
)
