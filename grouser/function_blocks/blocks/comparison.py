"""GT, GE, EQ, LE, LT, NE."""

import operator

from grouser.function_blocks.block import LIKE, TRUTH, stateless

_WORDS = {
    "GT": "above",
    "GE": "at or above",
    "EQ": "equal to",
    "LE": "at or below",
    "LT": "below",
    "NE": "not equal to",
}

BLOCKS = tuple(
    stateless(
        name, f"true if IN1 is {words} IN2", {"IN1": LIKE, "IN2": LIKE}, TRUTH, getattr(operator, name.lower()), "Q"
    )
    for name, words in _WORDS.items()
)
