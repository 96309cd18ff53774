"""Warnings of xacro that is not expanded, and of arguments that a xacro file does not have."""

from collections.abc import Iterator

from grouser.physics.description.text.mending import Mendings
from grouser.physics.description.text.names import closest, shortened
from grouser.physics.description.text.xacro import Expansion
from grouser.physics.description.text.xml_tree import Element, is_unexpanded

_MISNAMED = "is xacro, though the name of the file does not end in .xacro: it is"
EXPANDED = f"{_MISNAMED} expanded"
AS_WRITTEN = f"{_MISNAMED} taken as it is written"


def unexpanded_warnings(root: Element, what_is_done: str) -> list[str]:
    """Returns one warning of the xacro in a file that is named as plain URDF, if there is any.

    Args:
        root: of the file, not expanded.
        what_is_done: EXPANDED, or AS_WRITTEN and a reason.
    """
    mendings = Mendings()
    for element in _all(root):
        unexpanded = next((text for text in element.attributes.values() if is_unexpanded(text)), None)
        if unexpanded is not None or element.tag.startswith("xacro:"):
            mendings.add(
                element,
                f"<{element.tag}>" if unexpanded is None else shortened(unexpanded),
                what_is_done,
            )
    return mendings.warnings()


def unknown_argument_warnings(file: str, expansion: Expansion) -> list[str]:
    """Returns a warning of each given argument that a xacro file and those that it includes neither declare nor use."""
    return [
        f"{file}: it has no xacro argument '{name[:80]}'; it is ignored ({closest(name, expansion.defaults)})"
        for name in expansion.unknown
    ]


def _all(element: Element) -> Iterator[Element]:
    yield element
    for child in element.children:
        yield from _all(child)
