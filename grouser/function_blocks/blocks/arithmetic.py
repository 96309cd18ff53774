"""ADD, SUB, MUL, DIV, NEG, ABS, MIN, MAX, and what else is a formula."""

import math
from collections.abc import Sequence
from typing import Any

from grouser.function_blocks.block import (
    LIKE,
    NUMBER,
    PRODUCT,
    QUOTIENT,
    Block,
    BlockType,
    Port,
    of_many,
    refuse_rest,
    stateless,
)

ANGLE = Port(unit="rad")


def divided(dividend: float, divisor: float) -> float:
    """The quotient; 0 for a divisor of 0, as a controller must go on."""
    return dividend / divisor if divisor != 0.0 else 0.0


def _of_units(name: str, meaning: str, unit: str, function: Any) -> BlockType:
    """Of two inputs with any units."""

    def make(parameters: dict[str, Any], _: Sequence[str]) -> Block:
        refuse_rest(parameters, ("IN1", "IN2"))
        ports = {"IN1": Port(), "IN2": Port()}
        return Block(name, ports, {"OUT": Port(unit=unit)}, lambda: lambda _, *values: (function(*values),))

    return BlockType(name, meaning, ("IN1", "IN2"), make)


BLOCKS = (
    of_many("ADD", "sum of the inputs", LIKE, LIKE, math.fsum),
    stateless("SUB", "IN1 less IN2", {"IN1": LIKE, "IN2": LIKE}, LIKE, lambda one, other: one - other),
    _of_units("MUL", "product of IN1 and IN2", PRODUCT, lambda one, other: one * other),
    _of_units("DIV", "IN1 over IN2; 0 where IN2 is 0", QUOTIENT, divided),
    stateless("NEG", "the input with the other sign", {"IN": LIKE}, LIKE, lambda value: -value),
    stateless("ABS", "amount of the input", {"IN": LIKE}, LIKE, abs),
    of_many("MIN", "smallest of the inputs", LIKE, LIKE, min),
    of_many("MAX", "largest of the inputs", LIKE, LIKE, max),
    stateless("SIN", "sine of an angle", {"IN": ANGLE}, NUMBER, math.sin),
    stateless("COS", "cosine of an angle", {"IN": ANGLE}, NUMBER, math.cos),
    stateless("ATAN2", "angle of a vector: Y across, X along", {"Y": LIKE, "X": LIKE}, ANGLE, math.atan2),
)
