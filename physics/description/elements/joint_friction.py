"""Friction of joints: levels, laws and their parameters."""

from dataclasses import replace

from grouser.physics.description.data.mechanism import JointFriction
from grouser.physics.description.table.attributes import ElementKind, choice, joint, non_negative, positive
from grouser.physics.description.table.family import Entry, Family, Scope
from grouser.physics.description.table.requirements import require_one_coordinate

# The laws of dry friction that have an attribute.
_LAWS_WITH = {
    "stribeck_speed": ("stribeck", "lugre"),
    "bristle_stiffness": ("lugre",),
    "bristle_damping": ("lugre",),
}


JOINT_FRICTION = ElementKind(
    "joint_friction",
    "Dry and viscous friction of a joint with one coordinate. A sticking joint does not creep, up to the static level. "
    "With the law lugre bristles deflect, and creep under oscillating loads.",
    (
        joint("revolute, continuous or prismatic joint"),
        non_negative("static", "N m or N", "breakaway level"),
        non_negative("kinetic", "N m or N", "level in motion; at most the static one", default_text="the static level"),
        non_negative("viscous", "N m s/rad or N s/m", "viscous coefficient", default=0.0),
        choice(
            "law",
            "of dry friction: static level at rest and kinetic level in motion; one level; a Stribeck curve from "
            "static to kinetic; the same with bristles, which deflect before they slide",
            ("two_state", "coulomb", "stribeck", "lugre"),
            default="two_state",
        ),
        positive(
            "stribeck_speed",
            "rad/s or m/s",
            "v_s of kinetic + (static - kinetic) exp(-(v/v_s)2); required by stribeck and lugre",
            default_text="none",
        ),
        positive("bristle_stiffness", "N m/rad or N/m", "of bristles; required by lugre", default_text="none"),
        non_negative("bristle_damping", "N m s/rad or N s/m", "of bristles; lugre", default=0.0),
    ),
    JointFriction,
    field="frictions",
    unique="joint",
)


def complete_friction(entry: Entry, scope: Scope) -> JointFriction:
    """Checks the friction of a joint; the default kinetic level is the static one.

    Raises:
        MachineError: the joint has not exactly one coordinate, the kinetic level is above the static one, or attributes
            do not belong to the law.
    """
    friction, element = entry.value, entry.element
    require_one_coordinate(element, "joint", scope.joints[friction.joint])
    kinetic = friction.static if friction.kinetic is None else friction.kinetic
    if kinetic > friction.static:
        raise element.error(f"kinetic = {kinetic:g} is above static = {friction.static:g}", "swap them")
    if friction.law == "coulomb" and kinetic != friction.static:
        raise element.error(
            f"law coulomb has one level, and there are static = {friction.static:g} and kinetic = {kinetic:g}",
            "leave kinetic out, or use law two_state",
        )
    if friction.law == "lugre" and kinetic == 0.0:
        raise element.error("law lugre needs levels above 0", "give both, above 0")
    given = {
        "stribeck_speed": friction.stribeck_speed is not None,
        "bristle_stiffness": friction.bristle_stiffness is not None,
        "bristle_damping": friction.bristle_damping > 0.0,
    }
    for attribute, laws in _LAWS_WITH.items():
        if given[attribute] and friction.law not in laws:
            raise element.error(
                f"law {friction.law} has no {attribute}", f"leave it out, or use law {' or '.join(laws)}"
            )
        if friction.law in laws and not given[attribute] and attribute != "bristle_damping":
            raise element.error(f"law {friction.law} needs a {attribute}", f"give {attribute}, above 0")
    return replace(friction, kinetic=kinetic)


FAMILY = Family((JOINT_FRICTION,), complete={"frictions": complete_friction})
