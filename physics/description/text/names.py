"""Suggestions for mistyped names, and shortened values for messages."""

import difflib
from collections.abc import Iterable

_NAMES_SHOWN = 12
_NAMES_COMPARED = 2000


def closest(name: str, valid: Iterable[str]) -> str:
    """Returns a suggestion for an unknown name: the closest valid name, else a list of the valid ones.

    Args:
        name: the unknown name.
        valid: all valid names.

    Returns:
        A sentence fragment such as ``did you mean 'boom'?``.
    """
    names = sorted(set(valid))
    if not names:
        return "there is none to choose from"
    lowered = {candidate.lower(): candidate for candidate in names[:_NAMES_COMPARED]}
    matches = difflib.get_close_matches(name[:200].lower(), lowered, n=1, cutoff=0.6)
    if matches:
        return f"did you mean '{lowered[matches[0]]}'?"
    shown = ", ".join(names[:_NAMES_SHOWN])
    return f"valid: {shown}" + (f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else "")


def shortened(text: str, length: int = 60) -> str:
    """Returns a text for messages: quoted, on one line, at most `length` characters."""
    quoted = repr(text)
    return quoted if len(quoted) <= length else quoted[: length - 4] + "...'"
