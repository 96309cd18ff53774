"""What ``<wheel>`` says must fit the joint that turns the wheel, and the one that steers it."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from grouser.physics.description.data.mechanism import Joint, Link
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.soil import Wheel
from grouser.physics.description.elements.wheels import WrittenWheel
from grouser.physics.description.table.family import Entry
from grouser.physics.description.table.requirements import require_independent
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.meshes import MeshError
from grouser.physics.description.urdf.wheel_profile import mesh_profile

_TURNING = ("continuous", "revolute")
# Sine of the angle by which a wheel's axis may be off its joint's: axes are written with few digits.
_SAME_AXIS = 1e-3
_THICKNESS_OF_SPACING = 0.05


def complete_wheel(entry: Entry, links: Mapping[str, Link], joints: Mapping[str, Joint]) -> Wheel:
    """Checks a wheel, and fills what follows from its joint and its grousers.

    Args:
        entry: the wheel as written.
        links, joints: by name.

    Raises:
        MachineError: no joint turns the link, or about another axis; grousers or a mesh that do not fit; a joint
            that cannot steer it.
    """
    written, element = entry.value, entry.element
    above = {joint.child: joint for joint in joints.values()}
    joint = _turning_joint(element, written.link, above)
    height, thickness = _grousers(element, written)
    if written.steering is not None:
        _check_steering(element, joints[written.steering], list(_way_up(written.link, above)), joint)
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
        profile=_mesh_profile(element, written, links[written.link], axis) if written.profile == "mesh" else None,
        steering=written.steering or "",
    )


def _mesh_profile(element: Element, written: WrittenWheel, link: Link, axis: Vector3) -> np.ndarray:
    """Outline of the link's collision meshes."""
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
    """The joint's axis, or its opposite where the wheel rolls that way."""
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
    """Height and thickness of the grousers [m]; zero for none."""
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


def _check_steering(element: Element, steering: Joint, chain: list[str], turning: Joint) -> None:
    if steering.type not in _TURNING:
        raise element.error(f"steering = '{steering.name}' is {steering.type}", f"name a {' or '.join(_TURNING)} joint")
    require_independent(element, steering)
    if steering.name == turning.name:
        raise element.error(f"steering = '{steering.name}' is the joint that turns the wheel", "name one above it")
    if steering.name not in chain:
        raise element.error(
            f"steering = '{steering.name}' does not move link '{turning.child}'", "name a joint above it in the tree"
        )


def _way_up(link: str, above: Mapping[str, Joint]) -> Iterator[str]:
    """Names of the joints from a link up to the root."""
    while link in above:
        yield above[link].name
        link = above[link].parent
