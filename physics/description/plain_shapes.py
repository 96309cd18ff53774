"""URDF text for readers that know boxes, cylinders, spheres and meshes only.

RViz and robot_state_publisher refuse a whole robot for one shape that their urdfdom does not know. That of ROS 2 Jazzy
and Kilted, 4.0, knows no capsule; from 5.1 on it does, in a robot that says version="1.1", which the older ones refuse.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose
from grouser.physics.description.text import numbers
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.origin import read_origin

_TAG = re.compile(rb"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")
_Edit = tuple[int, int, bytes]  # from and to where, and what is there instead


@dataclass
class _Part:
    """An element and where it stands: first byte, end of its start tag, end."""

    tag: str
    attributes: dict[str, str]
    start: int
    inside: int
    end: int = 0
    children: list["_Part"] = field(default_factory=list)

    def all(self, *tags: str) -> Iterator["_Part"]:
        return (child for child in self.children if child.tag in tags)


def with_plain_shapes(text: str) -> str:
    """The text with a cylinder and two spheres in the place of every capsule; all else as it is.

    Args:
        text: a URDF that has been read without an error.
    """
    if "<capsule" not in text:
        return text
    data = text.encode()
    shapes = [shape for link in _parse(data).all("link") for shape in link.all("visual", "collision")]
    capsules = [(shape, found) for shape in shapes for place in shape.all("geometry") for found in place.all("capsule")]
    edits = [(shape.start, shape.end, _plain(data, shape, capsule)) for shape, capsule in capsules]
    return _edited(data, 0, len(data), edits).decode()


def _parse(data: bytes) -> _Part:
    parser = expat.ParserCreate("utf-8")
    parents: list[_Part] = [_Part("", {}, 0, 0)]

    def start(tag: str, attributes: dict[str, str]) -> None:
        at = parser.CurrentByteIndex
        part = _Part(tag, attributes, at, _tag_end(data, at))
        parents[-1].children.append(part)
        parents.append(part)

    def end(_tag: str) -> None:
        part = parents.pop()
        empty = data[part.inside - 2 : part.inside] == b"/>"
        part.end = part.inside if empty else _tag_end(data, parser.CurrentByteIndex)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(data, True)
    return parents[0].children[0]


def _tag_end(data: bytes, start: int) -> int:
    tag = _TAG.match(data, start)
    assert tag is not None, "expat says that a tag begins here"
    return tag.end()


def _plain(data: bytes, shape: _Part, capsule: _Part) -> bytes:
    """A <visual> or <collision> with a cylinder, and two of it with a sphere."""
    radius, length = capsule.attributes["radius"], capsule.attributes["length"]
    cylinder = (capsule.start, capsule.end, f'<cylinder radius="{radius}" length="{length}"/>'.encode())
    sphere = (capsule.start, capsule.end, f'<sphere radius="{radius}"/>'.encode())
    origins = list(shape.all("origin"))
    at, to = (origins[0].start, origins[0].end) if origins else (shape.inside, shape.inside)
    blocks = [_edited(data, shape.start, shape.end, [cylinder])]
    for side in (-0.5, 0.5):
        centre = compose(_pose(origins), Pose((0.0, 0.0, side * numbers.number(length)))).position
        xyz = " ".join(map(repr, centre))
        blocks.append(_edited(data, shape.start, shape.end, [sphere, (at, to, f'<origin xyz="{xyz}"/>'.encode())]))
    return b"".join(blocks)


def _pose(origins: Iterable[_Part]) -> Pose:
    elements = [Element("origin", origin.attributes, "", None) for origin in origins]
    return read_origin(Element("", {}, "", None, elements))


def _edited(data: bytes, start: int, end: int, edits: Iterable[_Edit]) -> bytes:
    """Part of a text after edits that do not overlap."""
    pieces = []
    for first, last, instead in sorted(edits):
        pieces += [data[start:first], instead]
        start = last
    return b"".join([*pieces, data[start:end]])
