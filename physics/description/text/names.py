"""What belongs to a member of several machines, and suggestions for mistyped names."""

import difflib
from collections.abc import Iterable

_NAMES_SHOWN = 12
_NAMES_COMPARED = 2000


def closest(name: str, valid: Iterable[str]) -> str:
    """What to say after an unknown name: the closest valid one, else the valid ones.

    Args:
        name: what was written.
        valid: what could have been written.

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
    """Returns a value as it appears in a message: quoted, on one line, and not longer than `length` characters."""
    quoted = repr(text)
    return quoted if len(quoted) <= length else quoted[: length - 4] + "...'"
