"""DELAY: the input of the cycle before; the one block through which a loop may go."""

from collections.abc import Sequence
from typing import Any

from grouser.function_blocks.block import LIKE, TRUTH, Block, BlockError, BlockType, refuse_rest


def _make(parameters: dict[str, Any], _: Sequence[str]) -> Block:
    start = parameters.pop("start", 0.0)
    if not isinstance(start, bool | int | float):
        raise BlockError(f"start is {start!r}; valid is a number, or true or false")
    refuse_rest(parameters, ("IN", "start"))
    port = TRUTH if isinstance(start, bool) else LIKE
    return Block("DELAY", {"IN": port}, {"OUT": port}, lambda: lambda _, value: (value,), True, (start,))


BLOCKS = (
    BlockType(
        "DELAY", "IN of the cycle before; `start` in the first one, true or false for truths", ("IN", "start"), _make
    ),
)
