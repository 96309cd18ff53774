"""Wheels: their values fit the joint that turns them, and the one that steers them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grouser.physics.description.data.mechanism import (
    Joint,
    Link,
)
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.soil import LEVELS, Wheel
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    choice,
    link,
    non_negative,
    positive,
)
from grouser.physics.description.table.family import Entry, Family, Scope
from grouser.physics.description.table.requirements import require_steers
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.meshes import MeshError
from grouser.physics.description.urdf.wheel_profile import mesh_profile

GROUSERS_MAX = 1000
_TURNING = ("continuous", "revolute")
# Sine of the largest angle between a wheel's axis and its joint's: files have few digits.
_SAME_AXIS = 1e-3
_THICKNESS_OF_SPACING = 0.05


@dataclass(frozen=True)
class WrittenWheel:
    """A `Wheel` as written; None for defaults that depend on its joint, its grousers or the ground."""

    link: str
    radius: float
    width: float
    xyz: Vector3
    axis: Vector3 | None
    grousers: int
    grouser_height: float
    grouser_thickness: float | None
    friction: float | None
    profile: str
    level: str | None
    steering: str | None


WHEEL = ElementKind(
    "wheel",
    "A wheel on soft ground. On rigid ground the link's collision shapes are in contact.",
    (
        link("link that a continuous or revolute joint turns"),
        positive("radius", "m", "without grousers"),
        positive("width", "m", "along the axis"),
        Attribute("xyz", Kind.POINT, "m", "centre in the link's frame", default=(0.0, 0.0, 0.0)),
        Attribute(
            "axis",
            Kind.DIRECTION,
            "-",
            "in the link's frame, parallel or antiparallel to the joint's axis; a positive turn about it rolls the "
            "wheel forward: with 0 1 0 along x, if z is up",
            default_text="the joint's axis",
        ),
        Attribute(
            "grousers",
            Kind.COUNT,
            "-",
            "number of bars across the rim, evenly spaced",
            default=0,
            minimum=0,
            maximum=GROUSERS_MAX,
        ),
        non_negative("grouser_height", "m", "from the rim, at most the radius; requires grousers", default=0.0),
        positive(
            "grouser_thickness",
            "m",
            "along the rim, less than the spacing; requires grousers",
            default_text="a twentieth of their spacing",
        ),
        positive(
            "friction",
            "-",
            "coefficient between a smooth rim and soil, if less than that of the soil itself",
            default_text="the soil's own",
        ),
        choice(
            "profile",
            "a cylinder with grousers, or the profile of the link's collision meshes: radius by angle about the axis "
            "and position along it",
            ("cylinder", "mesh"),
            default="cylinder",
        ),
        choice("level", "contact model on soil", LEVELS, required=False, default_text="the ground's"),
        Attribute(
            "steering",
            Kind.JOINT,
            "-",
            "joint above the link that steers the wheel: revolute or continuous, without mimic",
            default_text="none",
        ),
    ),
    WrittenWheel,
    field="wheels",
    unique="link",
)


def complete_wheel(entry: Entry, scope: Scope) -> Wheel:
    """Checks a wheel, and fills in the defaults that depend on its joint and its grousers.

    Args:
        entry: the wheel as written.
        scope: links and joints.

    Raises:
        MachineError: no joint turns the link, or the axes differ; invalid grousers or mesh; the steering joint cannot
            steer it.
    """
    written, element = entry.value, entry.element
    above = {joint.child: joint for joint in scope.joints.values()}
    joint = _turning_joint(element, written.link, above)
    height, thickness = _grousers(element, written)
    if written.steering is not None:
        _check_steering(element, scope.joints[written.steering], joint, above)
    axis = _axis(element, written, joint)
    return Wheel(
        link=written.link,
        radius=written.radius,
        width=written.width,
        position=written.xyz,
        axis=axis,
        grousers=written.grousers,
        grouser_height=height,
        grouser_thickness=thickness,
        friction=math.inf if written.friction is None else written.friction,
        level=written.level,
        profile=_mesh_profile(element, written, scope.links[written.link], axis) if written.profile == "mesh" else None,
        steering=written.steering or "",
    )


def _mesh_profile(element: Element, written: WrittenWheel, link: Link, axis: Vector3) -> np.ndarray:
    """Profile of the link's collision meshes."""
    if written.grousers:
        raise element.error("grousers and profile = 'mesh' both shape the wheel", "keep one of them")
    try:
        profile = mesh_profile(link, written.xyz, axis, written.width)
    except MeshError as problem:
        raise element.error(str(problem)) from None
    if profile is None:
        raise element.error(
            f"profile = 'mesh', and link '{link.name}' has no collision mesh within {written.width:g} m of width",
            "give the link one, or leave profile out",
        )
    return profile


def _turning_joint(element: Element, link: str, above: Mapping[str, Joint]) -> Joint:
    joint = above.get(link)
    if joint is None:
        raise element.error(f"link '{link}' is the root: no joint turns it", "name a link that a joint turns")
    if joint.type not in _TURNING:
        raise element.error(
            f"joint '{joint.name}', which holds link '{link}', is {joint.type}",
            f"name a link that a {' or '.join(_TURNING)} joint turns",
        )
    return joint


def _axis(element: Element, written: WrittenWheel, joint: Joint) -> Vector3:
    """The joint's axis, or its opposite if the wheel's axis is written so."""
    x, y, z = joint.axis
    if written.axis is None:
        return joint.axis
    off = math.hypot(*_cross(written.axis, joint.axis))
    if off > _SAME_AXIS:
        angle = math.degrees(math.asin(min(off, 1.0)))
        raise element.error(
            f"axis is {angle:.3g} degrees off the axis {x:g} {y:g} {z:g} of joint '{joint.name}'",
            "leave it out, or give the opposite where the wheel rolls backwards",
        )
    along = sum(a * b for a, b in zip(written.axis, joint.axis, strict=True))
    return joint.axis if along > 0.0 else (-x, -y, -z)


def _cross(a: Vector3, b: Vector3) -> Vector3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _grousers(element: Element, written: WrittenWheel) -> tuple[float, float]:
    """Height and thickness of the grousers [m]; zero without grousers."""
    height, thickness = written.grouser_height, written.grouser_thickness
    if written.grousers == 0:
        for name, value in (("grouser_height", height), ("grouser_thickness", thickness)):
            if value:
                raise element.error(f"{name} = {value:g} m is given without grousers", "give their number too")
        return 0.0, 0.0
    if height == 0.0:
        raise element.error(f"grousers = {written.grousers} is given without grouser_height", "give it [m]")
    if height > written.radius:
        raise element.error(f"grouser_height = {height:g} m is more than radius = {written.radius:g} m")
    spacing = 2.0 * math.pi * written.radius / written.grousers
    if thickness is None:
        return height, _THICKNESS_OF_SPACING * spacing
    if thickness >= spacing:
        raise element.error(
            f"grouser_thickness = {thickness:g} m leaves no room between {written.grousers} grousers; "
            f"valid: less than {spacing:.4g} m"
        )
    return height, thickness


def _check_steering(element: Element, steering: Joint, turning: Joint, above: Mapping[str, Joint]) -> None:
    if steering.name == turning.name:
        raise element.error(f"steering = '{steering.name}' is the joint that turns the wheel", "name one above it")
    require_steers(element, steering, turning.child, above)


FAMILY = Family((WHEEL,), complete={"wheels": complete_wheel})
