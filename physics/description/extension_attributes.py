"""What a row of the table in `extension_schema` is made of: kinds of attributes, attributes, elements."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from grouser.physics.description.data.compliance import JointFrame
from grouser.physics.description.data.hydraulics import Attachment


class Kind(Enum):
    """How an attribute's text is read."""

    NUMBER = "number"
    COUNT = "count"
    POINT = "point"
    POINTS = "points"
    ANGLES = "angles"
    DIRECTION = "direction"
    DIRECTIONAL = "directional"
    BOOLEAN = "boolean"
    NAME = "name"
    CHOICE = "choice"
    LINK = "link"
    JOINT = "joint"
    VALVE = "valve"
    PORT = "port"
    MATERIAL = "material"


@dataclass(frozen=True)
class Attribute:
    """One attribute.

    Attributes:
        name: as written, and the dataclass's field.
        kind: how its text is read.
        unit: SI unit, "-" for none.
        description: for the documentation and nothing else.
        required: whether it must be given.
        default: its value when it is not given; None where `default_text` says what then holds.
        default_text: the default in words, where it is not a plain value.
        minimum, maximum: valid range; None: open.
        above_minimum: whether the minimum itself is out of range.
        choices: valid words of a CHOICE.
    """

    name: str
    kind: Kind
    unit: str
    description: str
    required: bool = False
    default: Any = None
    default_text: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above_minimum: bool = False
    choices: tuple[str, ...] = ()

    def valid(self) -> str:
        """The valid values in words; empty where every value of its kind is valid."""
        if self.choices:
            return " or ".join(self.choices)
        if self.minimum is not None and self.maximum is not None:
            return f"{'above ' if self.above_minimum else ''}{self.minimum:g} to {self.maximum:g}"
        if self.minimum is not None:
            return f"above {self.minimum:g}" if self.above_minimum else f"{self.minimum:g} or more"
        return "" if self.maximum is None else f"{self.maximum:g} or less"


@dataclass(frozen=True)
class ElementKind:
    """One element.

    Attributes:
        tag: as written.
        description: for the documentation.
        attributes: in the order of the documentation.
        build: the dataclass that its values fill.
        field: field of the result that collects the elements ("" for a part of another element).
        single: at most one in a machine.
        unique: attribute that no two elements of this tag share.
        parts: elements in it; each exactly once, or at most once.
        optional: of a part, whether it may be missing; its value is then None.
    """

    tag: str
    description: str
    attributes: tuple[Attribute, ...]
    build: type
    field: str = ""
    single: bool = False
    unique: str | None = None
    parts: tuple["ElementKind", ...] = ()
    optional: bool = False


def positive(name: str, unit: str, description: str, **more: Any) -> Attribute:
    """A number above zero, required unless it has a default."""
    more.setdefault("required", "default" not in more and "default_text" not in more)
    return Attribute(name, Kind.NUMBER, unit, description, minimum=0.0, above_minimum=True, **more)


def non_negative(name: str, unit: str, description: str, **more: Any) -> Attribute:
    """A number of zero or more, required unless it has a default."""
    more.setdefault("required", "default" not in more and "default_text" not in more)
    return Attribute(name, Kind.NUMBER, unit, description, minimum=0.0, **more)


def directional(name: str, unit: str, description: str, **more: Any) -> Attribute:
    """One number for several directions, or three for x, y and z; zero or more."""
    return Attribute(name, Kind.DIRECTIONAL, unit, description, minimum=0.0, **more)


def name_of(description: str, name: str = "name", **more: Any) -> Attribute:
    """A name, required unless it has a default."""
    more.setdefault("required", "default" not in more and "default_text" not in more)
    return Attribute(name, Kind.NAME, "-", description, **more)


def material_of(description: str, name: str = "material", **more: Any) -> Attribute:
    """A name of a material, which links and the world share; required unless it has a default."""
    return replace(name_of(description, name, **more), kind=Kind.MATERIAL)


def choice(name: str, description: str, choices: tuple[str, ...], **more: Any) -> Attribute:
    """One of some words, required unless it has a default."""
    more.setdefault("required", "default" not in more)
    return Attribute(name, Kind.CHOICE, "-", description, choices=choices, **more)


def joint(description: str) -> Attribute:
    """The joint that the element speaks of."""
    return Attribute("joint", Kind.JOINT, "-", description, required=True)


def link(description: str, name: str = "link") -> Attribute:
    """A link that the element speaks of."""
    return Attribute(name, Kind.LINK, "-", description, required=True)


def port(name: str, description: str, **more: Any) -> Attribute:
    """A port of a hydraulic element: it names a line. Required unless it has a default; "" is a port that is open."""
    more.setdefault("required", "default" not in more)
    return Attribute(name, Kind.PORT, "-", description, **more)


def place(what: str) -> tuple[Attribute, Attribute]:
    """Origin and orientation of a frame in a link's frame."""
    zero = (0.0, 0.0, 0.0)
    return (
        Attribute("xyz", Kind.POINT, "m", f"{what}: origin in the link's frame", default=zero),
        Attribute("rpy", Kind.ANGLES, "rad", "of the same frame: roll, pitch, yaw in the link's frame", default=zero),
    )


def attachment(tag: str, description: str) -> ElementKind:
    """A part that gives a point of a link."""
    point = Attribute("xyz", Kind.POINT, "m", "point in the link's frame", default=(0.0, 0.0, 0.0))
    return ElementKind(tag, description, (link("link that it is fixed to"), point), Attachment)


def joint_frame(tag: str, description: str) -> ElementKind:
    """A part that gives a frame of a link."""
    return ElementKind(tag, description, (link("link that it is fixed to"), *place("the frame")), JointFrame)
