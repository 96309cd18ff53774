"""Strict reading of numbers, vectors and booleans from text: finite, no half-read values."""

import math
import re

# Decimal numbers only: Python's float() would also take "nan", "inf", "1_000" and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# White space as XML knows it.
_WHITE = " \t\r\n"
_SEPARATOR = re.compile(f"[{_WHITE}]+")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def number(text: str) -> float:
    """Returns the finite number that `text` spells.

    Raises:
        ValueError: it is not a decimal number, or too large for a double.
    """
    stripped = text.strip(_WHITE)
    if len(stripped) > 400 or not _NUMBER.fullmatch(stripped):
        raise ValueError("not a finite number")
    value = float(stripped)
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def numbers(text: str, count: int) -> tuple[float, ...]:
    """Returns the `count` finite numbers that `text` lists, separated by white space.

    Raises:
        ValueError: another count, or one of them is not a number.
    """
    words = _words(text)
    if len(words) != count:
        raise ValueError(f"{len(words)} numbers where {count} are needed")
    return tuple(number(word) for word in words)


def triples(text: str) -> tuple[tuple[float, float, float], ...]:
    """Returns the triples of finite numbers that `text` lists one after the other, separated by white space.

    Raises:
        ValueError: none, no multiple of three, or one of them is not a number.
    """
    words = _words(text)
    if not words or len(words) % 3 != 0:
        raise ValueError(f"{len(words)} numbers where a multiple of three is needed")
    values = [number(word) for word in words]
    return tuple(zip(values[0::3], values[1::3], values[2::3], strict=True))


def _words(text: str) -> list[str]:
    return _SEPARATOR.split(text.strip(_WHITE)) if text.strip(_WHITE) else []


def boolean(text: str) -> bool:
    """Returns the truth value that `text` spells: true, false, 1 or 0.

    Raises:
        ValueError: something else.
    """
    try:
        return _BOOLEANS[text.strip(_WHITE).lower()]
    except KeyError:
        raise ValueError("neither true nor false") from None
