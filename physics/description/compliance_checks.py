"""What the elements of ``<grouser>`` say of elasticity: compliant joints and flexible links."""

import math
from collections.abc import Collection, Mapping

from grouser.physics.description.data.compliance import CompliantJoint, Directions, FlexibleLink
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ONE_COORDINATE, Joint
from grouser.physics.description.data.pose import AXES, Vector3
from grouser.physics.description.elements.flexible_links import WrittenFlexibleLink
from grouser.physics.description.table.family import Entry
from grouser.physics.description.table.requirements import require_independent
from grouser.physics.description.text.xml_tree import Element

_STIFFNESSES = ("bending_stiffness_y", "bending_stiffness_z", "torsional_stiffness")
_ROUND_ROD = ("modulus", "shear_modulus", "diameter")
_NEEDS_SPRING = ("axial_damping", "backlash", "rest_position")
_AXIAL = ("axial_stiffness", "cubic_stiffness", *_NEEDS_SPRING, "hysteresis", "hysteresis_stiffness")
# In the joint's frame, whose z axis is the joint's axis.
_ALL, _NORMAL = (True, True, True), (True, True, False)
# Translations and rotations that a joint blocks.
_BLOCKED: Mapping[str, tuple[Directions, Directions]] = {
    "fixed": (_ALL, _ALL),
    "revolute": (_ALL, _NORMAL),
    "continuous": (_ALL, _NORMAL),
    "prismatic": (_NORMAL, _ALL),
}
_STIFFNESS_MAX = 1e15


def complete_compliant_joint(entry: Entry, joints: Mapping[str, Joint]) -> CompliantJoint:
    """Checks a joint's elasticity against its type, and writes its single numbers out as triples.

    Raises:
        MachineError: a joint that cannot have it, or values that contradict each other.
    """
    compliance, element = entry.value, entry.element
    joint = joints[compliance.joint]
    if joint.type not in _BLOCKED:
        raise element.error(f"joint '{joint.name}' is {joint.type}", f"name a joint that is {' or '.join(_BLOCKED)}")
    if joint.type in ONE_COORDINATE:
        require_independent(element, joint)
    _check_axial(element, compliance, joint)
    translations, rotations = _BLOCKED[joint.type]
    stiffness, damping = _complete(element, compliance, joint, "", "along", translations)
    rotational_stiffness, rotational_damping = _complete(element, compliance, joint, "rotational_", "about", rotations)
    axial = {name: getattr(compliance, name) for name in _AXIAL}
    if not any((*stiffness, *rotational_stiffness, *axial.values())):
        raise element.error("it gives no elasticity", "give a stiffness, or remove the element")
    return CompliantJoint(
        joint.name,
        stiffness=stiffness,
        damping=damping,
        rotational_stiffness=rotational_stiffness,
        rotational_damping=rotational_damping,
        **axial,
    )


def _check_axial(element: Element, compliance: CompliantJoint, joint: Joint) -> None:
    given = [name for name in _AXIAL if getattr(compliance, name) != 0.0]
    if given and joint.type not in ONE_COORDINATE:
        raise element.error(
            f"{given[0]} is given, and joint '{joint.name}' is {joint.type}: it has no coordinate",
            "give stiffness and rotational_stiffness only",
        )
    if "axial_stiffness" not in given and "cubic_stiffness" not in given:
        for name in _NEEDS_SPRING:
            if name in given:
                raise element.error(
                    f"{name} is given without a spring", "give axial_stiffness or cubic_stiffness, or leave it out"
                )
    if ("hysteresis" in given) != ("hysteresis_stiffness" in given):
        raise element.error("hysteresis and hysteresis_stiffness go together", "give both above 0, or neither")


def _complete(
    element: Element, compliance: CompliantJoint, joint: Joint, prefix: str, word: str, blocked: Directions
) -> tuple[Vector3, Vector3]:
    """Stiffness and damping of the translations (`prefix` empty) or rotations as triples; `word` as in "along x"."""
    stiffness = _triple(element, compliance, joint, f"{prefix}stiffness", word, blocked, blocked)
    stiff = (stiffness[0] > 0.0, stiffness[1] > 0.0, stiffness[2] > 0.0)
    damping = _triple(element, compliance, joint, f"{prefix}damping", word, blocked, stiff)
    written = getattr(compliance, f"{prefix}damping")
    if isinstance(written, float) and written > 0.0 and not any(stiff):
        raise element.error(
            f"{prefix}damping is given without {prefix}stiffness", f"give {prefix}stiffness too, or leave it out"
        )
    for axis, value, has_spring in zip(AXES, damping, stiff, strict=True):
        if value > 0.0 and not has_spring:
            raise element.error(
                f"{prefix}damping {word} {axis} is {value:g}, where the joint is rigid",
                f"give {prefix}stiffness {word} {axis} too, or 0 here",
            )
    return stiffness, damping


def _triple(
    element: Element,
    compliance: CompliantJoint,
    joint: Joint,
    name: str,
    word: str,
    blocked: Directions,
    meant: Directions,
) -> Vector3:
    """The triple as written, or one number in the directions that it means."""
    value: float | Vector3 = getattr(compliance, name)
    if not isinstance(value, tuple):
        x, y, z = (value if here else 0.0 for here in meant)
        return (x, y, z)
    for axis, part, is_blocked in zip(AXES, value, blocked, strict=True):
        if part > 0.0 and not is_blocked:
            raise element.error(
                f"{name} {word} {axis} is {part:g}, the direction in which joint '{joint.name}' moves",
                f"give 0 there, and axial_{name.removeprefix('rotational_')} for the joint's own coordinate",
            )
    return value


def complete_flexible_link(entry: Entry) -> FlexibleLink:
    """Returns a flexible link with the stiffnesses that are given, or those of the round rod that is given.

    Raises:
        MachineError: not exactly one of the two, or stiffnesses that a double does not hold well.
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


def check_flexible_links_have_mass(machine: Machine, entries: Collection[Entry]) -> None:
    """Checks that there is a mass to divide among the elements of every flexible link.

    Raises:
        MachineError: there is none.
    """
    inertials = {link.name: link.inertial for link in machine.links}
    for entry in entries:
        inertial = inertials[entry.value.link]
        if inertial is None or inertial.mass == 0.0:
            raise entry.element.error(f"link '{entry.value.link}' has no mass", "give it an <inertial> or a <density>")
