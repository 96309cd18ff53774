"""Initial positions of joints."""

from grouser.physics.description.data.mechanism import InitialPosition
from grouser.physics.description.table.attributes import Attribute, ElementKind, Kind, joint
from grouser.physics.description.table.family import Entry, Family, Scope
from grouser.physics.description.table.requirements import require_independent

INITIAL_POSITION = ElementKind(
    "initial_position",
    "Initial position of a joint; the default is zero or the limit nearest to zero.",
    (
        joint("revolute, continuous or prismatic joint that mimics no other"),
        Attribute("position", Kind.NUMBER, "rad or m", "within the joint's limits", required=True),
    ),
    InitialPosition,
    field="initial_positions",
    unique="joint",
)


def complete_initial_position(entry: Entry, scope: Scope) -> InitialPosition:
    """Checks the initial position of a joint.

    Raises:
        MachineError: it is outside the limits, or the joint has no coordinate of its own.
    """
    start, element = entry.value, entry.element
    joint = scope.joints[start.joint]
    require_independent(element, joint)
    lower, upper = joint.limit.lower, joint.limit.upper
    if lower is not None and upper is not None and not lower <= start.position <= upper:
        raise element.error(
            f"position = {start.position:g} is outside the limits of its joint; valid: {lower:g} to {upper:g}"
        )
    return start


FAMILY = Family((INITIAL_POSITION,), complete={"initial_positions": complete_initial_position})
