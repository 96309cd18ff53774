"""What integrators for smooth machines cannot simulate.

A room's `refused(its part of the system)` names what is present, and which integrators cannot have it.
"""

from collections.abc import Mapping
from typing import TypeAlias

# What is present -> integrators that refuse a machine with it.
Refused: TypeAlias = Mapping[str, tuple[str, ...]]

# Nothing may start or stop acting; for trees, there may be no loops and nothing with a memory either.
SMOOTH = ("implicit_midpoint", "variational")
SMOOTH_TREES = ("variational",)


def present(things: Mapping[str, bool], integrators: tuple[str, ...]) -> Refused:
    """Those of some things that are present, with the integrators that refuse them."""
    return {name: integrators for name, there in things.items() if there}
