"""The kinematic tree: one root, no cycle, all links known; mimics refer to independent joints."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grouser.physics.description.data.mechanism import ONE_COORDINATE, Joint, Link, Mimic
from grouser.physics.description.text.mending import Mendings
from grouser.physics.description.text.names import closest
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.joints import MIMIC_MAX


def find_root(robot: Element, links: Sequence[Link], joints: Sequence[Joint], elements: Mapping[str, Element]) -> str:
    """Returns the name of the root link.

    Args:
        robot: the root element, for messages.
        links: all links, names distinct.
        joints: all joints, names distinct.
        elements: the element of each joint.

    Raises:
        MachineError: an unknown link, a link with two parents, no root, several roots, or a cycle.
    """
    names = dict.fromkeys(link.name for link in links)
    parent_joint: dict[str, Joint] = {}
    for joint in joints:
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in names:
                raise elements[joint.name].error(f"its {role} link '{link[:80]}' does not exist", closest(link, names))
        if joint.child in parent_joint:
            other = parent_joint[joint.child]
            raise elements[joint.name].error(
                f"link '{joint.child}' is already the child of joint '{other.name}'; a link has one parent",
                "close loops with other means than a second parent",
            )
        parent_joint[joint.child] = joint
    roots = [link for link in links if link.name not in parent_joint]
    if not roots:
        raise _cycle(parent_joint, links[0].name, elements)
    if len(roots) > 1:
        shown = ", ".join(f"'{link.name}'" for link in roots[:6]) + (" ..." if len(roots) > 6 else "")
        raise robot.error(f"{len(roots)} links have no parent: {shown}; one root is allowed", "join them with joints")
    reached = set(in_tree_order(roots[0].name, joints))
    for name in names:
        if name not in reached:
            raise _cycle(parent_joint, name, elements)
    return roots[0].name


def in_tree_order(root: str, joints: Sequence[Joint]) -> list[str]:
    """Returns the links of the tree below `root`, parents before children, children in the order of their joints."""
    children: dict[str, list[str]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint.child)
    order = [root]
    for link in order:
        order.extend(children.get(link, ()))
    return order


def _cycle(parent_joint: Mapping[str, Joint], start: str, elements: Mapping[str, Element]) -> Exception:
    """The error for a link without a root above it."""
    seen: set[str] = set()
    link = start
    while link not in seen:
        seen.add(link)
        link = parent_joint[link].parent
    ring, at = [link], parent_joint[link].parent
    while at != link:
        ring.append(at)
        at = parent_joint[at].parent
    names = " <- ".join([*ring[:8], *(["..."] if len(ring) > 8 else []), ring[0]])
    return elements[parent_joint[link].name].error(
        f"the links form a cycle: {names}", "a URDF is a tree: remove one joint"
    )


def resolve_mimics(joints: Sequence[Joint], elements: Mapping[str, Element], mendings: Mendings) -> tuple[Joint, ...]:
    """Returns the joints with every mimic referring to an independent joint; chains are multiplied out.

    A joint that mimics an unknown joint, or one without exactly one coordinate, moves by itself.

    Raises:
        MachineError: a cycle of mimics, or factors that are too large.
    """
    by_name = {joint.name: joint for joint in joints}
    by_name = {name: _without_impossible_mimic(joint, by_name, elements, mendings) for name, joint in by_name.items()}
    resolved: dict[str, Joint] = {joint.name: joint for joint in by_name.values() if joint.mimic is None}
    for joint in by_name.values():
        chain: dict[str, tuple[Joint, Mimic]] = {}
        while joint.mimic is not None and joint.name not in resolved:
            chain[joint.name] = (joint, joint.mimic)
            joint = by_name[joint.mimic.joint]
            if joint.name in chain:
                raise elements[joint.name].error("its chain of mimics leads back to itself", "break the circle")
        for follower, mimic in reversed(chain.values()):
            above = resolved[mimic.joint].mimic
            if above is not None:
                mimic = _multiplied(mimic, above)
            if max(abs(mimic.multiplier), abs(mimic.offset)) > MIMIC_MAX:
                raise elements[follower.name].error(
                    f"its chain of mimics multiplies to {mimic.multiplier:g} and {mimic.offset:g}; "
                    f"valid: at most {MIMIC_MAX:g}"
                )
            resolved[follower.name] = replace(follower, mimic=mimic)
    return tuple(resolved[joint.name] for joint in joints)


def _without_impossible_mimic(
    joint: Joint, by_name: Mapping[str, Joint], elements: Mapping[str, Element], mendings: Mendings
) -> Joint:
    if joint.mimic is None:
        return joint
    leader = by_name.get(joint.mimic.joint)
    if leader is not None and leader.type in ONE_COORDINATE:
        return joint
    blame = elements[joint.name].required("mimic")
    what = "that does not exist" if leader is None else f"that is {leader.type}"
    mendings.add(blame, f"joint '{joint.name}'", f"mimics a joint {what}: it moves by itself")
    return replace(joint, mimic=None)


def _multiplied(own: Mimic, above: Mimic) -> Mimic:
    """A mimic of a mimic, by the position q of the joint above both: m (m' q + o') + o."""
    return Mimic(above.joint, own.multiplier * above.multiplier, own.multiplier * above.offset + own.offset)
