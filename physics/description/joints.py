"""URDF joints."""

from grouser.physics.description.data.mechanism import Joint, JointLimit, Mimic
from grouser.physics.description.text.names import closest
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.origin import direction, read_origin

JOINT_TYPES = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating")
ONE_COORDINATE = ("revolute", "continuous", "prismatic")
_WITH_AXIS = (*ONE_COORDINATE, "planar")
MIMIC_MAX = 1e6
_BEYOND_USE = 1e15


def read_joint(element: Element, warnings: list[str]) -> Joint:
    """Returns one joint; its mimic is still as written.

    Raises:
        MachineError: a name, type, number or range is wrong.
    """
    name = element.text("name")
    type_ = element.text("type").strip()
    if type_ not in JOINT_TYPES:
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
        limit=_read_limit(element, name, type_, warnings),
        damping=damping,
        friction=friction,
        mimic=_read_mimic(element, type_),
        line=element.line or 0,
    )


def _read_limit(joint: Element, name: str, type_: str, warnings: list[str]) -> JointLimit:
    element = joint.optional("limit")
    bounded = type_ in ("revolute", "prismatic")
    if element is None:
        if bounded:
            warnings.append(f"joint '{name}' is {type_} and has no <limit>: it moves without end, with any effort")
        return JointLimit()
    given = element.attributes
    lower = upper = None
    if bounded and ("lower" in given or "upper" in given):
        # URDF: a bound that is left out is zero.
        lower, upper = element.number("lower", 0.0), element.number("upper", 0.0)
        if lower > upper:
            raise element.error(f"joint '{name}': lower = {lower:g} is above upper = {upper:g}", "swap them")
        if max(abs(lower), abs(upper)) > _BEYOND_USE:
            raise element.error(
                f"joint '{name}': a bound is beyond {_BEYOND_USE:g}", "leave lower and upper out for no limit"
            )
    elif bounded:
        warnings.append(f"joint '{name}' is {type_} and has neither lower nor upper limit: it moves without end")
    return JointLimit(
        lower,
        upper,
        effort=_non_negative(element, "effort") if "effort" in given else float("inf"),
        velocity=_non_negative(element, "velocity") if "velocity" in given else float("inf"),
    )


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


def _read_mimic(joint: Element, type_: str) -> Mimic | None:
    element = joint.optional("mimic")
    if element is None:
        return None
    if type_ not in ONE_COORDINATE:
        raise element.error(
            f"a {type_} joint cannot mimic another one",
            f"only joints with one coordinate can: {', '.join(ONE_COORDINATE)}",
        )
    multiplier, offset = element.number("multiplier", 1.0), element.number("offset", 0.0)
    if max(abs(multiplier), abs(offset)) > MIMIC_MAX:
        raise element.error(f"multiplier = {multiplier:g}, offset = {offset:g}; valid: at most {MIMIC_MAX:g}")
    return Mimic(element.text("joint"), multiplier, offset)
