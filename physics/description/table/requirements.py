"""Requirements that several families of elements share."""

from collections.abc import Collection

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
