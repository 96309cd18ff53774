"""Lines of JSON as the readable form of frames.

An object has `v` (version, 1), `kind`, `n` (counter), `t` (sender's time [ms]), `signals` (numbers by field) and, last,
`crc`: the CRC-32/ISO-HDLC over the line without that member, that is up to and without the comma before it, and a
closing brace. Not a number and infinity are refused on both ways.
"""

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from grouser.bridges.serial.frames import VERSION

HIGHEST_LENGTH = 4096  # [bytes] of a line
_NATURAL = {"v": 255, "kind": 255, "n": 65535, "t": 2**32 - 1}  # members and their highest values
_CHECK = re.compile(rb',\s*"crc"\s*:\s*([0-9]{1,10})\s*\}$')


@dataclass(frozen=True)
class Line:
    """A line.

    Attributes:
        kind: as of a `Frame`.
        counter: one more with each line of a kind, modulo 65536.
        time: of the sender [ms].
        signals: numbers by field.
    """

    kind: int
    counter: int
    time: int
    signals: Mapping[str, float]


def write_line(line: Line) -> bytes:
    """The bytes of a line, without the newline at its end.

    Raises:
        ValueError: a value that is not a finite number.
    """
    members = {"v": VERSION, "kind": line.kind, "n": line.counter, "t": line.time, "signals": dict(line.signals)}
    text = json.dumps(members, allow_nan=False, separators=(",", ":")).encode()
    return b'%s,"crc":%d}' % (text[:-1], zlib.crc32(text))


def read_line(data: bytes) -> Line | str:
    """The line, or why it is refused in a few words.

    Args:
        data: without the newline at its end; a carriage return there is not looked at.
    """
    data = data.strip()
    if len(data) > HIGHEST_LENGTH:
        return "length"
    check = _CHECK.search(data)
    if check is None:
        return "no checksum"
    text = data[: check.start()] + b"}"
    if int(check[1]) != zlib.crc32(text):
        return "checksum"
    try:
        members = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return "no JSON"
    if not isinstance(members, dict) or set(members) != {"v", "kind", "n", "t", "signals"}:
        return "members"
    if not all(_is_natural(members[name], highest) for name, highest in _NATURAL.items()):
        return "members"
    if members["v"] != VERSION:
        return "version"
    signals = members["signals"]
    if not isinstance(signals, dict) or not all(_is_number(value) for value in signals.values()):
        return "signals"
    return Line(members["kind"], members["n"], members["t"], {name: float(value) for name, value in signals.items()})


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member twice")
    return members


def _is_natural(value: Any, highest: int) -> bool:
    return type(value) is int and 0 <= value <= highest


def _is_number(value: Any) -> bool:
    try:
        return type(value) in (int, float) and isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False
