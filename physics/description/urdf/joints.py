"""URDF joints."""

import math

from grouser.physics.description.data.mechanism import JOINT_TYPES, ONE_COORDINATE, Joint, JointLimit, Mimic
from grouser.physics.description.text.mending import Mendings
from grouser.physics.description.text.names import closest
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.origin import direction, read_origin

_WITH_AXIS = (*ONE_COORDINATE, "planar")
MIMIC_MAX = 1e6
# Bounds that no machine reaches [rad or m].
BEYOND_USE = 1e15


def read_joint(element: Element, mendings: Mendings) -> Joint:
    """Returns a joint; `resolve_mimics` resolves its mimic.

    Raises:
        MachineError: a name, type, number or range is wrong.
    """
    name = element.text("name")
    type_ = element.text("type").strip()
    if type_ == "spherical":
        _tell_spherical(element, name, mendings)
    elif type_ not in JOINT_TYPES:
        raise element.error(f"unknown joint type '{type_[:60]}'", closest(type_, JOINT_TYPES))
    parent = element.required("parent").text("link")
    child = element.required("child").text("link")
    if parent == child:
        raise element.error(f"link '{parent}' is both its parent and its child", "join two different links")
    axis = (1.0, 0.0, 0.0)
    axis_element = element.optional("axis")
    if type_ in _WITH_AXIS and axis_element is not None:
        axis = direction(axis_element, "xyz")
    damping, friction = _read_dynamics(element)
    return Joint(
        name,
        type_,
        parent,
        child,
        pose=read_origin(element),
        axis=axis,
        limit=_read_limit(element, name, type_, mendings),
        damping=damping,
        friction=friction,
        mimic=_read_mimic(element, name, type_, mendings),
        line=element.line or 0,
    )


def _tell_spherical(joint: Element, name: str, mendings: Mendings) -> None:
    """Tells of a type that other simulators read, too, but URDF does not have."""
    mendings.add(
        joint,
        f"joint '{name}'",
        "is spherical, a type that URDF does not have: it is a ball joint without limits",
    )


def _read_limit(joint: Element, name: str, type_: str, mendings: Mendings) -> JointLimit:
    element = joint.optional("limit")
    bounded = type_ in ("revolute", "prismatic")
    if element is None:
        if bounded:
            mendings.add(
                joint, f"joint '{name}'", f"is {type_} and has no <limit>: it moves without end, with any effort"
            )
        return JointLimit()
    given = element.attributes
    lower = upper = None
    if bounded and ("lower" in given or "upper" in given):
        lower, upper = _read_bounds(element, name, mendings)
    elif bounded:
        mendings.add(
            joint, f"joint '{name}'", f"is {type_} and has neither lower nor upper limit: it moves without end"
        )
    effort, velocity = (_read_maximum(element, name, quantity, mendings) for quantity in ("effort", "velocity"))
    return JointLimit(lower, upper, effort, velocity)


def _read_bounds(element: Element, joint: str, mendings: Mendings) -> tuple[float | None, float | None]:
    """Lower and upper bound; None for one that no machine reaches. Both are None if lower is above upper."""
    # URDF: a bound that is left out is zero.
    lower, upper = (element.limit(side) if side in element.attributes else 0.0 for side in ("lower", "upper"))
    if lower == upper and math.isinf(lower):
        raise element.error(f"joint '{joint}': lower = upper = {lower:g} is no range", "give finite limits")
    if lower > upper:
        # Bullet and MuJoCo take it so, and some of Bullet's robots mean it.
        mendings.add(
            element,
            f"joint '{joint}' (lower = {lower:g}, upper = {upper:g})",
            "has its lower limit above the upper one, which is taken as no limits: it moves without end; swap them if "
            "they are limits",
        )
        return None, None
    if max(abs(lower), abs(upper)) <= BEYOND_USE:
        return lower, upper
    mendings.add(
        element,
        f"joint '{joint}' (lower = {lower:g}, upper = {upper:g})",
        f"has a bound beyond {BEYOND_USE:g}, which is taken as none: it moves without end to that side",
    )
    return (lower if lower >= -BEYOND_USE else None), (upper if upper <= BEYOND_USE else None)


def _read_maximum(element: Element, joint: str, quantity: str, mendings: Mendings) -> float:
    """Limit of effort or velocity; infinite for none."""
    if quantity not in element.attributes:
        return math.inf
    value = element.limit(quantity)
    if value < 0.0:
        raise element.error(f"{quantity} = {value:g}; valid: 0 or more")
    if math.isinf(value):
        mendings.add(element, f"joint '{joint}'", f"has an infinite {quantity}, which is taken as no limit")
    return value


def _read_dynamics(joint: Element) -> tuple[float, float]:
    element = joint.optional("dynamics")
    if element is None:
        return 0.0, 0.0
    return _non_negative(element, "damping"), _non_negative(element, "friction")


def _non_negative(element: Element, name: str) -> float:
    value = element.number(name, 0.0)
    if value < 0.0:
        raise element.error(f"{name} = {value:g}; valid: 0 or more")
    return value


def _read_mimic(joint: Element, name: str, type_: str, mendings: Mendings) -> Mimic | None:
    element = joint.optional("mimic")
    if element is None:
        return None
    if type_ not in ONE_COORDINATE:
        does = "stays as it is" if type_ == "fixed" else "moves by itself"
        mendings.add(element, f"joint '{name}'", f"is {type_} and cannot mimic another one: it {does}")
        return None
    multiplier, offset = element.number("multiplier", 1.0), element.number("offset", 0.0)
    if max(abs(multiplier), abs(offset)) > MIMIC_MAX:
        raise element.error(f"multiplier = {multiplier:g}, offset = {offset:g}; valid: at most {MIMIC_MAX:g}")
    return Mimic(element.text("joint"), multiplier, offset)
