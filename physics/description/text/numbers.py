"""Strict parsing of finite numbers, vectors and booleans."""

import math
import re

# Decimal numbers only: Python's float() would also take "nan", "inf", "1_000" and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# White space of XML.
_WHITE = " \t\r\n"
_INFINITE = re.compile(r"([+-]?)(?:inf|infinity|\.inf)", re.IGNORECASE)
_LONGEST = 400
_SEPARATOR = re.compile(f"[{_WHITE}]+")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def number(text: str) -> float:
    """Parses a finite number.

    Raises:
        ValueError: not a decimal number, or too large for a double.
    """
    stripped = text.strip(_WHITE)
    if len(stripped) > _LONGEST or not _NUMBER.fullmatch(stripped):
        raise ValueError("not a finite number")
    value = float(stripped)
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def limit(text: str) -> float:
    """Parses a number that may be infinite: ``inf``, ``-inf``, or a decimal number that is too large for a double.

    Raises:
        ValueError: not a number.
    """
    stripped = text.strip(_WHITE)
    infinite = _INFINITE.fullmatch(stripped)
    if infinite:
        return -math.inf if infinite[1] == "-" else math.inf
    if len(stripped) > _LONGEST or not _NUMBER.fullmatch(stripped):
        raise ValueError("not a number")
    return float(stripped)


def numbers(text: str, count: int) -> tuple[float, ...]:
    """Parses `count` finite numbers, separated by white space.

    Raises:
        ValueError: another count, or one of them is not a number.
    """
    words = _words(text)
    if len(words) != count:
        raise ValueError(f"{len(words)} numbers where {count} are needed")
    return tuple(number(word) for word in words)


def triples(text: str) -> tuple[tuple[float, float, float], ...]:
    """Parses triples of finite numbers, separated by white space.

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
    """Parses a boolean: true, false, 1 or 0.

    Raises:
        ValueError: something else.
    """
    try:
        return _BOOLEANS[text.strip(_WHITE).lower()]
    except KeyError:
        raise ValueError("neither true nor false") from None
