"""Compliant joints: elasticity of constrained directions, and springs along the joint's own coordinate."""

from collections.abc import Mapping

from grouser.physics.description.data.compliance import CompliantJoint, Directions
from grouser.physics.description.data.mechanism import ONE_COORDINATE, Joint
from grouser.physics.description.data.pose import AXES, Vector3
from grouser.physics.description.table.attributes import Attribute, ElementKind, Kind, directional, joint, non_negative
from grouser.physics.description.table.family import Entry, Family, Scope
from grouser.physics.description.table.requirements import require_independent
from grouser.physics.description.text.xml_tree import Element

_OF_BLOCKED = "one number: all constrained directions; of three numbers, 0 is rigid"
_FRAME = (
    "Directions are those of the joint's frame; for a joint with an axis, of that frame after the smallest rotation "
    "that makes its z axis the joint's axis."
)
_NEEDS_SPRING = ("axial_damping", "backlash", "rest_position")
_AXIAL = ("axial_stiffness", "cubic_stiffness", *_NEEDS_SPRING, "hysteresis", "hysteresis_stiffness")
# Directions of the joint's frame, whose z axis is the joint's axis.
_ALL, _NORMAL = (True, True, True), (True, True, False)
# Constrained translations and rotations of each type of joint.
_BLOCKED: Mapping[str, tuple[Directions, Directions]] = {
    "fixed": (_ALL, _ALL),
    "revolute": (_ALL, _NORMAL),
    "continuous": (_ALL, _NORMAL),
    "prismatic": (_NORMAL, _ALL),
}


COMPLIANT_JOINT = ElementKind(
    "compliant_joint",
    "Elasticity of a joint: of its constrained directions, and a spring along its own coordinate. " + _FRAME,
    (
        joint("fixed, revolute, continuous or prismatic joint that mimics no other"),
        directional("stiffness", "N/m", f"translational; {_OF_BLOCKED}", default=0.0, default_text="rigid"),
        directional("damping", "N s/m", "translational; one number: all directions with a stiffness", default=0.0),
        directional("rotational_stiffness", "N m/rad", f"rotational; {_OF_BLOCKED}", default=0.0, default_text="rigid"),
        directional(
            "rotational_damping",
            "N m s/rad",
            "rotational; one number: all directions with a stiffness",
            default=0.0,
        ),
        non_negative("axial_stiffness", "N m/rad or N/m", "of a spring along the joint's coordinate", default=0.0),
        non_negative(
            "axial_damping", "N m s/rad or N s/m", "parallel to that spring, while it is engaged", default=0.0
        ),
        non_negative(
            "cubic_stiffness",
            "N m/rad3 or N/m3",
            "of that spring: effort per third power of its deflection",
            default=0.0,
        ),
        Attribute("rest_position", Kind.NUMBER, "rad or m", "of that spring", default=0.0),
        non_negative("backlash", "rad or m", "full width of the gap in which that spring does not act", default=0.0),
        non_negative("hysteresis", "N m or N", "largest hysteretic effort, parallel to the spring", default=0.0),
        non_negative(
            "hysteresis_stiffness",
            "N m/rad or N/m",
            "slope of that effort at a reversal; requires hysteresis",
            default=0.0,
        ),
    ),
    CompliantJoint,
    field="compliant_joints",
    unique="joint",
)


def complete_compliant_joint(entry: Entry, scope: Scope) -> CompliantJoint:
    """Checks the elasticity of a joint against its type, and expands single numbers to triples.

    Raises:
        MachineError: the joint cannot be compliant, or values contradict each other.
    """
    compliance, element = entry.value, entry.element
    joint = scope.joints[compliance.joint]
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
    """The triple as written, or the single number in the directions `meant`."""
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


FAMILY = Family((COMPLIANT_JOINT,), complete={"compliant_joints": complete_compliant_joint})
