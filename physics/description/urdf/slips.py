"""Slips of the pen in a URDF that other simulators read over: they are mended before it is read, and told."""

import re
from collections.abc import Iterator

from grouser.physics.description.text import numbers
from grouser.physics.description.text.mending import Mendings
from grouser.physics.description.text.xml_tree import Element

# Attributes of three numbers, by tag.
_TRIPLES = {"origin": ("xyz", "rpy"), "axis": ("xyz",), "mesh": ("scale",), "box": ("size",)}
# Elements whose attributes are numbers.
_NUMBERS = (*_TRIPLES, "limit", "dynamics", "mass", "inertia")
_SURPLUS_STOP = re.compile(r"([0-9]*\.[0-9]+)\.(?=\s|$)")
# Elements of which a joint has one.
_SINGLE = ("origin", "axis", "limit", "dynamics")
_SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius",)}
_SHAPES = (*_SIZES, "mesh")


def mend_slips(robot: Element, mendings: Mendings) -> None:
    """Mends the links and joints of a robot: separators, surplus numbers and elements, shapes without extent.

    Args:
        robot: changed.
        mendings: extended.
    """
    for part in (*robot.all("link"), *robot.all("joint")):
        owner = f"{part.tag} '{part.attributes.get('name', '')}'"
        for element in _below(part):
            _mend_stops(element, owner, mendings)
            for name in _TRIPLES.get(element.tag, ()):
                _mend_triple(element, name, owner, mendings)
        if part.tag == "joint":
            _keep_first(part, owner, mendings)
        else:
            _mend_shapes(part, owner, mendings)


def _below(element: Element) -> Iterator[Element]:
    for child in element.children:
        yield child
        yield from _below(child)


def _mend_triple(element: Element, name: str, owner: str, mendings: Mendings) -> None:
    text = element.attributes.get(name, "")
    if "," in text:
        text = text.replace(",", " ")
        mendings.add(element, owner, f"has commas between the numbers of {name}, which are read as blanks")
    words = text.split()
    if len(words) > 3 and all(map(_is_number, words)):
        text = " ".join(words[:3])
        mendings.add(element, owner, f"has more than three numbers in {name}, of which the first three are read")
    if name in element.attributes:
        element.attributes[name] = text


def _mend_stops(element: Element, owner: str, mendings: Mendings) -> None:
    """Takes a second full stop off the end of numbers."""
    for name, text in element.attributes.items() if element.tag in _NUMBERS else ():
        mended = _SURPLUS_STOP.sub(r"\1", text)
        if mended != text and all(map(_is_number, mended.split())):
            mendings.add(
                element, f"{owner} ({name} = '{text[:40]}')", "has a full stop after a number, which is left out"
            )
            element.attributes[name] = mended


def _is_number(word: str) -> bool:
    try:
        numbers.number(word)
    except ValueError:
        return False
    return True


def _keep_first(joint: Element, owner: str, mendings: Mendings) -> None:
    """Keeps the first of several elements of which a joint has one."""
    for tag in _SINGLE:
        for surplus in list(joint.all(tag))[1:]:
            mendings.add(surplus, owner, f"has more than one <{tag}>, of which the first is read")
            joint.children.remove(surplus)


def _mend_shapes(link: Element, owner: str, mendings: Mendings) -> None:
    """Leaves out visual shapes of no extent, and what is no shape in a <geometry>."""
    for holder in [child for child in link.children if child.tag in ("visual", "collision")]:
        for geometry in holder.all("geometry"):
            shapes = [child for child in geometry.children if child.tag in _SHAPES]
            others = [child for child in geometry.children if child.tag not in _SHAPES and ":" not in child.tag]
            if len(shapes) == 1 and others:
                mendings.add(others[0], owner, f"has <{others[0].tag}> in a <geometry>, which is left out")
                geometry.children = shapes
            if holder.tag == "visual" and len(shapes) == 1 and _is_empty(shapes[0]):
                mendings.add(shapes[0], owner, f"has a visual {shapes[0].tag} of size zero, which is not shown")
                link.children.remove(holder)


def _is_empty(shape: Element) -> bool:
    """Whether one of the sizes of a shape is zero."""
    words = [word for name in _SIZES.get(shape.tag, ()) for word in shape.attributes.get(name, "").split()]
    return any(_is_number(word) and numbers.number(word) == 0.0 for word in words)
