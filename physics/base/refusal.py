"""What integrators for smooth machines have no place for.

A room's `refused(its part of the system)` names what there is of it, and which integrators cannot have it.
"""

from collections.abc import Mapping
from typing import TypeAlias

# What there is -> integrators that refuse a machine with it.
Refused: TypeAlias = Mapping[str, tuple[str, ...]]

# Nothing that acts may start and stop; for trees, nothing may close a loop or have a memory either.
SMOOTH = ("implicit_midpoint", "variational")
SMOOTH_TREES = ("variational",)


def present(things: Mapping[str, bool], integrators: tuple[str, ...]) -> Refused:
    """Those of some things that are there, refused by these integrators."""
    return {name: integrators for name, there in things.items() if there}
