"""Whether the root link of a machine is free to move."""

from collections.abc import Iterable

from grouser.physics.description.data.mechanism import Joint, Link

FIXED_ROOT = "world"
FLOATING = "floating"


def floats(root: str, links: Iterable[Link], joints: Iterable[Joint], base: str | None, warnings: list[str]) -> bool:
    """Returns whether a root link floats: as `base` says; else unless it is named FIXED_ROOT or alone has no mass.

    Its mass is that of all links that fixed joints join to it. Arms are often published without any.

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
    heavy = {link.name for link in links if link.inertial is not None and link.inertial.mass > 0.0}
    if not heavy or heavy & joined:
        return True
    warnings.append(f"the root link '{root}' and what is fixed to it have no mass: it is fixed to the world")
    return False
