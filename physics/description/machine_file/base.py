"""Whether the root link of a machine is free to move."""

from collections.abc import Iterable

from grouser.physics.description.data.mechanism import Joint, Link

FIXED_ROOT = "world"
FLOATING = "floating"


def floats(root: str, links: Iterable[Link], joints: Iterable[Joint], base: str | None, warnings: list[str]) -> bool:
    """Returns whether a root link floats: as `base` says; else unless it is named FIXED_ROOT or has no mass.

    The mass is that of the root link and of the links that fixed joints join to it: without any, nothing could move it
    alone, as is usual for arms.

    Args:
        root: name of the root link.
        links, joints: of the machine.
        base: FLOATING, "fixed" or None.
        warnings: extended.
    """
    if base is not None:
        return base == FLOATING
    if root == FIXED_ROOT:
        return False
    joined, joints = {root}, tuple(joints)
    while more := {j.child for j in joints if j.type == "fixed" and j.parent in joined} - joined:
        joined |= more
    if any(link.name in joined and link.inertial is not None and link.inertial.mass > 0.0 for link in links):
        return True
    warnings.append(f"the root link '{root}' and what is fixed to it have no mass: it is fixed to the world")
    return False
