"""Whether the end of a flexible link carries something that loads it."""

from collections.abc import Iterator
from typing import Any

from grouser.physics.description.elements.flexible_links.places import ROUNDING
from grouser.physics.description.table.family import Scope
from grouser.physics.description.urdf.placement import along_axis


def carries_at_end(flexible: Any, scope: Scope) -> bool:
    """Whether a mass, a loop joint or a cylinder is at the end of a flexible link, or on what joints hold there.

    Frames without mass, which only mark places, do not load it.

    Args:
        flexible: the link, with its length.
        scope: links, joints and elements.
    """
    holding = list(_holding(scope))
    loaded = {name for name, link in scope.links.items() if link.inertial is not None and link.inertial.mass > 0.0}
    loaded |= {frame.link for frame in holding}

    def at_end(xyz: Any) -> bool:
        return along_axis(flexible, xyz) > flexible.length * (1.0 - ROUNDING)

    def is_loaded(link: str) -> bool:
        return link in loaded or any(is_loaded(one.child) for one in scope.joints.values() if one.parent == link)

    on_link = (frame for frame in holding if frame.link == flexible.link)
    held = (one for one in scope.joints.values() if one.parent == flexible.link and at_end(one.pose.position))
    return any(at_end(frame.xyz) for frame in on_link) or any(is_loaded(one.child) for one in held)


def _holding(scope: Scope) -> Iterator[Any]:
    """Frames of loop joints and attachments of cylinders."""
    for entry in scope.extension["loop_joints"]:
        yield from (entry.value.parent, entry.value.child)
    for entry in scope.extension["cylinders"]:
        yield from (entry.value.barrel, entry.value.rod)
