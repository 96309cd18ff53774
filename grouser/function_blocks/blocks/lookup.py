"""LOOKUP: a table between whose points lines are drawn."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from grouser.function_blocks.block import Block, BlockError, BlockType, Port, refuse_rest, take_text

_KEYS = ("IN", "points", "unit")


def _make(parameters: dict[str, Any], _: Sequence[str]) -> Block:
    points = parameters.pop("points", None)
    if not isinstance(points, list) or len(points) < 2 or not all(_is_point(one) for one in points):
        raise BlockError("points is no list of two or more points", "write points: [[0, 0], [1, 0.5]]")
    places, values = np.array(points, dtype=float).T
    if not (np.diff(places) > 0.0).all():
        raise BlockError("the first numbers of its points do not rise", "sort them, and give each once")
    unit = take_text(parameters, "unit", "-")
    refuse_rest(parameters, _KEYS)
    return Block(
        "LOOKUP",
        {"IN": Port()},
        {"OUT": Port(unit=unit)},
        lambda: lambda _, value: (float(np.interp(value, places, values)),),
    )


def _is_point(one: Any) -> bool:
    return (
        isinstance(one, list)
        and len(one) == 2
        and all(isinstance(number, int | float) and math.isfinite(number) for number in one)
    )


BLOCKS = (BlockType("LOOKUP", "value of a table at IN, held beyond its ends; OUT has the unit `unit`", _KEYS, _make),)
