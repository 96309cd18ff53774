"""Requirements that several families of elements share."""

from collections.abc import Collection, Mapping

from grouser.physics.description.data.mechanism import ONE_COORDINATE, Joint
from grouser.physics.description.text.xml_tree import Element


def require_one_coordinate(element: Element, attribute: str, joint: Joint) -> None:
    """Requires a joint with one coordinate.

    Args:
        element: the element that names the joint.
        attribute: the attribute that names it, for messages.
        joint: the joint.

    Raises:
        MachineError: the joint has none or several.
    """
    if joint.type not in ONE_COORDINATE:
        raise element.error(
            f"{attribute} '{joint.name}' is {joint.type}",
            f"name a joint with one coordinate: {', '.join(ONE_COORDINATE)}",
        )


def require_independent(element: Element, joint: Joint) -> None:
    """Requires a joint with one coordinate that does not mimic another joint.

    Raises:
        MachineError: it is another joint.
    """
    require_one_coordinate(element, "joint", joint)
    if joint.mimic is not None:
        raise element.error(f"joint '{joint.name}' mimics '{joint.mimic.joint}'", f"name '{joint.mimic.joint}' instead")


def require_steers(element: Element, steering: Joint, moved: str, above: Mapping[str, Joint]) -> None:
    """Requires a joint that can steer a link: revolute or continuous, independent, and above it in the tree.

    Args:
        element: the element that names the joint as its `steering`.
        steering: the joint.
        moved: the link.
        above: link -> joint that holds it.

    Raises:
        MachineError: it cannot.
    """
    turning = ("revolute", "continuous")
    if steering.type not in turning:
        raise element.error(f"steering = '{steering.name}' is {steering.type}", f"name a {' or '.join(turning)} joint")
    require_independent(element, steering)
    link = moved
    while link in above and above[link].name != steering.name:
        link = above[link].parent
    if link not in above:
        raise element.error(
            f"steering = '{steering.name}' does not move link '{moved}'", "name a joint above it in the tree"
        )


def refuse_foreign(element: Element, valid: Collection[str], what: str) -> None:
    """Refuses attributes that do not apply to a kind of element.

    Args:
        element: the element.
        valid: names of the attributes that apply.
        what: the kind, for messages.

    Raises:
        MachineError: the element has another attribute.
    """
    for name in element.attributes:
        if name not in valid and ":" not in name and name != "xmlns":
            raise element.error(f"{name} does not apply to {what}", f"remove {name}")


def require_with(element: Element, name: str, other: str, has_other: bool) -> None:
    """Refuses an attribute without another one that it depends on.

    Args:
        element: the element.
        name: name of the attribute.
        other: name of the attribute that it depends on.
        has_other: whether that one is given.

    Raises:
        MachineError: the first is given without the other.
    """
    if name in element.attributes and not has_other:
        raise element.error(f"{name} is given without {other}", f"give {other} too, or remove {name}")
