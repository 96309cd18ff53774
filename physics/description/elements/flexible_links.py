"""Flexible links: given stiffnesses, or those of a round rod."""

import math
from dataclasses import dataclass

from grouser.physics.description.data.compliance import (
    FlexibleLink,
)
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    choice,
    link,
    non_negative,
    place,
    positive,
)
from grouser.physics.description.table.family import Entry, Extension, Family, Scope

ELEMENTS_MAX = 200
_STIFFNESSES = ("bending_stiffness_y", "bending_stiffness_z", "torsional_stiffness")
_ROUND_ROD = ("modulus", "shear_modulus", "diameter")
_STIFFNESS_MAX = 1e15


@dataclass(frozen=True)
class WrittenFlexibleLink:
    """A `FlexibleLink` as written: three stiffnesses [N m2], or two moduli [Pa] and the diameter [m] of a round rod."""

    link: str
    method: str
    size: int
    xyz: Vector3
    rpy: Vector3
    length: float
    bending_stiffness_y: float | None
    bending_stiffness_z: float | None
    torsional_stiffness: float | None
    modulus: float | None
    shear_modulus: float | None
    diameter: float | None
    damping_time: float


FLEXIBLE_LINK = ElementKind(
    "flexible_link",
    "A link that bends and twists along an elastic axis. Its stiffness is given by three stiffnesses, or by modulus, "
    "shear_modulus and diameter of a round rod.",
    (
        link("link with a mass"),
        choice("method", "method of discretisation", ("rigid_elements",)),
        Attribute("size", Kind.COUNT, "-", "number of elements", required=True, minimum=1, maximum=ELEMENTS_MAX),
        *place("start of the elastic axis, which runs along x"),
        positive("length", "m", "of the elastic axis"),
        positive("bending_stiffness_y", "N m2", "E I of bending about the frame's y", default_text="of the rod"),
        positive("bending_stiffness_z", "N m2", "E I of bending about the frame's z", default_text="of the rod"),
        positive("torsional_stiffness", "N m2", "G I_p", default_text="of the rod"),
        positive("modulus", "Pa", "Young's modulus E of a rod", default_text="none"),
        positive("shear_modulus", "Pa", "shear modulus G of a rod", default_text="none"),
        positive("diameter", "m", "of a round rod: I = pi d4 / 64, I_p = pi d4 / 32", default_text="none"),
        non_negative("damping_time", "s", "damping over stiffness (proportional damping)", default=0.0),
    ),
    WrittenFlexibleLink,
    field="flexible_links",
    unique="link",
)


def complete_flexible_link(entry: Entry, _scope: Scope) -> FlexibleLink:
    """Returns a flexible link with the given stiffnesses, or those of the given round rod.

    Raises:
        MachineError: not exactly one of the two is given, or a stiffness is out of range.
    """
    written, element = entry.value, entry.element
    given = [name for name in (*_STIFFNESSES, *_ROUND_ROD) if getattr(written, name) is not None]
    ways = [way for way in (_STIFFNESSES, _ROUND_ROD) if any(name in given for name in way)]
    if len(ways) != 1:
        raise element.error(
            f"its stiffness is given {'in two ways' if ways else 'nowhere'}",
            f"give either {', '.join(_STIFFNESSES)} or {', '.join(_ROUND_ROD)}",
        )
    for name in ways[0]:
        if name not in given:
            raise element.error(f"{name} is missing beside {given[0]}", f"give all of {', '.join(ways[0])}")
    if ways[0] is _ROUND_ROD:
        bending_y = bending_z = written.modulus * math.pi / 64.0 * written.diameter**4
        torsion = written.shear_modulus * math.pi / 32.0 * written.diameter**4
    else:
        bending_y, bending_z, torsion = (getattr(written, name) for name in _STIFFNESSES)
    for name, value in zip(_STIFFNESSES, (bending_y, bending_z, torsion), strict=True):
        if not 0.0 < value <= _STIFFNESS_MAX:
            raise element.error(
                f"its rod has {name} = {value:g} N m2; valid: above 0, at most {_STIFFNESS_MAX:g}",
                "the diameter is in metres, the moduli are in pascals",
            )
    return _flexible_link(written, bending_y, bending_z, torsion)


def _flexible_link(written: WrittenFlexibleLink, bending_y: float, bending_z: float, torsion: float) -> FlexibleLink:
    return FlexibleLink(
        written.link,
        written.method,
        written.size,
        written.xyz,
        written.rpy,
        written.length,
        bending_stiffness_y=bending_y,
        bending_stiffness_z=bending_z,
        torsional_stiffness=torsion,
        damping_time=written.damping_time,
    )


def check_flexible_links_have_mass(machine: Machine, extension: Extension) -> None:
    """Checks that every flexible link has a mass.

    Raises:
        MachineError: a flexible link has none.
    """
    inertials = {link.name: link.inertial for link in machine.links}
    for entry in extension["flexible_links"]:
        inertial = inertials[entry.value.link]
        if inertial is None or inertial.mass == 0.0:
            raise entry.element.error(f"link '{entry.value.link}' has no mass", "give it an <inertial> or a <density>")


FAMILY = Family(
    (FLEXIBLE_LINK,), complete={"flexible_links": complete_flexible_link}, check=check_flexible_links_have_mass
)
