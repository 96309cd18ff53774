"""LIMIT, SEL, MUX, DEADBAND."""

from collections.abc import Sequence
from typing import Any

from grouser.function_blocks.block import LIKE, NUMBER, SAME, TRUTH, Block, BlockType, Port, refuse_rest, stateless


def limited(lowest: float, value: float, highest: float) -> float:
    """The value within its limits; the highest where they are crossed, as IEC 61131-3 has it."""
    return min(max(lowest, value), highest)


def without_dead_band(value: float, width: float) -> float:
    """0 within the width to both sides of 0, and without a jump outside."""
    return value - limited(-abs(width), value, abs(width))


def _mux(parameters: dict[str, Any], wired: Sequence[str]) -> Block:
    refuse_rest(parameters, ("K", "IN0", "IN1"))
    last = max((int(name[2:]) for name in wired if name[:2] == "IN" and name[2:].isdigit()), default=1)
    inputs = {"K": NUMBER} | {f"IN{number}": LIKE for number in range(last + 1)}

    def choose(_: float, which: float, *values: float) -> tuple[float]:
        return (values[int(limited(0.0, which, last))],)

    return Block("MUX", inputs, {"OUT": LIKE}, lambda: choose)


BLOCKS = (
    stateless("LIMIT", "IN, at least MN and at most MX", {"MN": LIKE, "IN": LIKE, "MX": LIKE}, LIKE, limited),
    stateless(
        "SEL",
        "IN1 if G is true, else IN0",
        {"G": TRUTH, "IN0": LIKE, "IN1": LIKE},
        LIKE,
        lambda which, off, on: on if which else off,
    ),
    BlockType("MUX", "the input with the number K: IN0, IN1, ...", ("K", "IN0", "IN1", "..."), _mux),
    stateless(
        "DEADBAND",
        "IN less what is within WIDTH of 0",
        {"IN": LIKE, "WIDTH": Port(unit=SAME)},
        LIKE,
        without_dead_band,
    ),
)
