"""Places along flexible links, as written: lengths that follow from joints, and `at` in place of points."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.elements.flexible_links.element import FLEXIBLE_LINK, WrittenFlexibleLink
from grouser.physics.description.table.attributes import ElementKind, Kind
from grouser.physics.description.table.family import Entry, Extension
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.placement import along_axis, elastic_axis
from grouser.physics.description.urdf.robot import Robot

# Share of the length by which places may disagree by rounding.
ROUNDING = 1e-4

_Axes = Mapping[str, WrittenFlexibleLink]


def with_places(elements: Iterable[ElementKind], extension: Extension, robot: Robot) -> Extension:
    """Gives flexible links their length, and what is attached `at` a place along one its point `xyz`.

    Args:
        elements: the table.
        extension: elements with valid references.
        robot: links and joints.

    Raises:
        MachineError: a length that is not given follows from no joint, or a place is not on the elastic axis of a
            flexible link, or is another than `xyz`.
    """
    field = FLEXIBLE_LINK.field
    links = tuple(Entry(one.element, _with_length(one, robot)) for one in extension[field])
    axes = {one.value.link: one.value for one in links}
    placed = {**extension, field: links}
    for kind in elements:
        placed[kind.field] = tuple(
            Entry(one.element, _placed(one.element, one.value, kind, axes, one.element.label))
            for one in placed[kind.field]
        )
    return placed


def _with_length(entry: Entry, robot: Robot) -> WrittenFlexibleLink:
    written = entry.value
    if written.length > 0.0:
        return written
    places = [along_axis(written, joint.pose.position) for joint in robot.joints if joint.parent == written.link]
    if max(places, default=0.0) <= 0.0:
        raise entry.element.error(
            f"link '{written.link}' has no length, and no joint on it ahead of the start of its axis",
            'give length="..." in metres',
        )
    return replace(written, length=max(places))


def _placed(element: Element, value: Any, kind: ElementKind, axes: _Axes, owner: str) -> Any:
    """A value, or a part of it, with the points of places along axes; `owner` is the whole element, for messages."""
    changed = {}
    for part in (one for one in kind.parts if not one.repeated):
        held = element.optional(part.tag)
        if held is not None:
            changed[part.tag] = _placed(held, getattr(value, part.tag), part, axes, owner)
    if any(one.kind is Kind.ALONG and one.name in element.attributes for one in kind.attributes):
        changed["xyz"] = _point(element, value, axes, owner)
    return replace(value, **changed) if changed else value


def _point(element: Element, value: Any, axes: _Axes, owner: str) -> Vector3:
    at, flexible = element.number("at"), axes.get(value.link)
    inside = "" if owner == element.label else f" in {owner}"
    if flexible is None:
        raise element.error(
            f"at = {at:g} m is given{inside}, and link '{value.link}' is not flexible",
            "give xyz, or the link a <flexible_link>",
        )
    slack = ROUNDING * flexible.length
    if not 0.0 <= at <= flexible.length + slack:
        raise element.error(
            f"at = {at:g} m{inside} is not on the elastic axis of link '{value.link}'; valid: 0 to "
            f"{flexible.length:g} m"
        )
    if "xyz" in element.attributes:
        along = along_axis(flexible, value.xyz)
        if abs(along - at) > slack:
            raise element.error(
                f"at = {at:g} m{inside} disagrees with xyz, which is at {along:.6g} m along the elastic axis of link "
                f"'{value.link}'",
                "give one of the two",
            )
        return value.xyz
    x, y, z = (np.array(flexible.xyz) + at * elastic_axis(flexible)).tolist()
    return x, y, z
