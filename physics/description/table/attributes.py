"""Rows of the table of elements: kinds of attributes, attributes, elements."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from grouser.physics.description.data.compliance import JointFrame
from grouser.physics.description.data.hydraulics import Attachment
from grouser.physics.description.table.plausible import PlausibleRange


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
    ALONG = "along"


@dataclass(frozen=True)
class Attribute:
    """An attribute of an element.

    Attributes:
        name: as written, and the dataclass's field.
        kind: how its text is read. ALONG is no field: with it `elements/flexible_links/places` finds the `xyz`.
        unit: SI unit, "-" for none.
        description: for the documentation.
        required: whether it must be given.
        default: its value when it is not given; None if `default_text` describes the default.
        default_text: the default as a text, for defaults that are not a plain value.
        minimum, maximum: valid range; None: open.
        above_minimum: whether the minimum itself is out of range.
        choices: valid words of a CHOICE.
        plausible: range outside which another unit is suspected; None: no such check.
        former_name: by which it may be written as well; "" for none.
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
    plausible: PlausibleRange | None = None
    former_name: str = ""

    def valid(self) -> str:
        """Returns the valid values as a text; empty if all values of its kind are valid."""
        if self.choices:
            return " or ".join(self.choices)
        if self.minimum is not None and self.maximum is not None:
            return f"{'above ' if self.above_minimum else ''}{self.minimum:g} to {self.maximum:g}"
        if self.minimum is not None:
            return f"above {self.minimum:g}" if self.above_minimum else f"{self.minimum:g} or more"
        return "" if self.maximum is None else f"{self.maximum:g} or less"


@dataclass(frozen=True)
class ElementKind:
    """A row of the table: one element.

    Attributes:
        tag: as written.
        description: for the documentation.
        attributes: in the order of the documentation.
        build: dataclass of its values.
        field: key under which the elements are collected; the field of `Machine`, if there is one of this name. "" for
            a part of another element.
        single: at most one in a machine.
        unique: attribute whose value must differ between elements of this tag.
        parts: child elements, each exactly once or as `optional` and `repeated` say.
        optional: whether this part may be missing; its value is then None.
        repeated: whether this part may occur any number of times; its value is a tuple, and holds no names.
        consumed: whether it only changes links or joints when a file is loaded; the machine does not keep it.
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
    repeated: bool = False
    consumed: bool = False


def positive(name: str, unit: str, description: str, **more: Any) -> Attribute:
    """A number above zero, required unless it has a default."""
    more.setdefault("required", "default" not in more and "default_text" not in more)
    return Attribute(name, Kind.NUMBER, unit, description, minimum=0.0, above_minimum=True, **more)


def non_negative(name: str, unit: str, description: str, **more: Any) -> Attribute:
    """A number of zero or more, required unless it has a default."""
    more.setdefault("required", "default" not in more and "default_text" not in more)
    return Attribute(name, Kind.NUMBER, unit, description, minimum=0.0, **more)


def directional(name: str, unit: str, description: str, **more: Any) -> Attribute:
    """One number for several directions, or three numbers for x, y and z; zero or more."""
    return Attribute(name, Kind.DIRECTIONAL, unit, description, minimum=0.0, **more)


def name_of(description: str, name: str = "name", **more: Any) -> Attribute:
    """A name, required unless it has a default."""
    more.setdefault("required", "default" not in more and "default_text" not in more)
    return Attribute(name, Kind.NAME, "-", description, **more)


def material_of(description: str, name: str = "material", **more: Any) -> Attribute:
    """Name of a contact material of links or of the world; required unless it has a default."""
    return replace(name_of(description, name, **more), kind=Kind.MATERIAL)


def choice(name: str, description: str, choices: tuple[str, ...], **more: Any) -> Attribute:
    """One of several words, required unless it has a default."""
    more.setdefault("required", "default" not in more)
    return Attribute(name, Kind.CHOICE, "-", description, choices=choices, **more)


def joint(description: str) -> Attribute:
    """Name of a joint, required."""
    return Attribute("joint", Kind.JOINT, "-", description, required=True)


def link(description: str, name: str = "link") -> Attribute:
    """Name of a link, required."""
    return Attribute(name, Kind.LINK, "-", description, required=True)


def port(name: str, description: str, **more: Any) -> Attribute:
    """A port of a hydraulic element: name of a line. Required unless it has a default; "" is an open port."""
    more.setdefault("required", "default" not in more)
    return Attribute(name, Kind.PORT, "-", description, **more)


def place(what: str) -> tuple[Attribute, Attribute]:
    """Attributes xyz and rpy: a frame in a link's frame."""
    zero = (0.0, 0.0, 0.0)
    return (
        Attribute("xyz", Kind.POINT, "m", f"{what}: origin in the link's frame", default=zero),
        Attribute(
            "rpy", Kind.ANGLES, "rad", "orientation of this frame: roll, pitch, yaw in the link's frame", default=zero
        ),
    )


_AT = Attribute(
    "at",
    Kind.ALONG,
    "m",
    "place along the elastic axis of a flexible link, instead of `xyz`; of both, `xyz` is the point and must be there",
    default_text="`xyz`",
    minimum=0.0,
)


def place_on_link(what: str) -> tuple[Attribute, ...]:
    """Attributes xyz, rpy and at: a frame in the frame of a link, which may be flexible."""
    return (*place(what), _AT)


def attachment(tag: str, description: str) -> ElementKind:
    """A part: a point of a link."""
    point = Attribute("xyz", Kind.POINT, "m", "point in the link's frame", default=(0.0, 0.0, 0.0))
    return ElementKind(tag, description, (link("link that it is fixed to"), point, _AT), Attachment)


def joint_frame(tag: str, description: str) -> ElementKind:
    """A part: a frame of a link."""
    return ElementKind(tag, description, (link("link that it is fixed to"), *place_on_link("the frame")), JointFrame)
