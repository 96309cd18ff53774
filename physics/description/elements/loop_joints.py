"""Loop joints: stiffness and damping fit the type, and the two links can move relative to each other."""

from collections.abc import Iterator
from dataclasses import replace

from grouser.physics.description.data.compliance import PAIR_TYPES, Directions, LoopJoint, constrained_directions
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import AXES, Vector3
from grouser.physics.description.table.attributes import ElementKind, choice, directional, joint_frame, name_of
from grouser.physics.description.table.family import Entry, Extension, Family, Scope
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.placement import are_rigidly_joined, rigid_lumps

_CONSTRAINED = "one number: all constrained directions; three: also springs in free directions"
_WITHOUT_AXIS = ("spherical", "fixed")


LOOP_JOINT = ElementKind(
    "loop_joint",
    "A joint that closes a loop between two links. The frame `<child>` moves in the frame `<parent>`; stiffnesses are "
    "given in the directions of the latter.",
    (
        name_of("name; different from all joints of the URDF"),
        choice("type", "type of the joint, which gives its free motions", PAIR_TYPES),
        choice(
            "axis",
            "the free motions are along or about it; those of a planar joint are in the plane normal to it",
            ("x", "y", "z"),
            default="z",
        ),
        directional("stiffness", "N/m", f"translational; {_CONSTRAINED}", default_text="rigid"),
        directional(
            "damping",
            "N s/m",
            "translational; in a constrained direction it requires a stiffness",
            default=0.0,
        ),
        directional("rotational_stiffness", "N m/rad", f"rotational; {_CONSTRAINED}", default_text="rigid"),
        directional(
            "rotational_damping",
            "N m s/rad",
            "rotational; in a constrained direction it requires a stiffness",
            default=0.0,
        ),
    ),
    LoopJoint,
    field="loop_joints",
    unique="name",
    parts=(
        joint_frame("parent", "frame of the joint on one link"),
        joint_frame("child", "frame of the joint on the other link"),
    ),
)


def complete_loop_joint(entry: Entry, scope: Scope) -> LoopJoint:
    """Checks the values of a loop joint against its type, and expands single numbers to triples.

    Args:
        entry: the loop joint as written.
        scope: with the URDF's joints.

    Raises:
        MachineError: a joint has the name, a constrained direction has no stiffness, or a rigid one has a damper.
    """
    element, loop = entry.element, entry.value
    if loop.name in scope.joints:
        raise element.error(
            f"a joint of the URDF is named '{loop.name}' too: reactions go by name", "rename one of the two"
        )
    translations, rotations = constrained_directions(loop.type, loop.axis)
    stiffness, damping = _complete(element, loop, "", "along", translations)
    rotational_stiffness, rotational_damping = _complete(element, loop, "rotational_", "about", rotations)
    return replace(
        loop,
        stiffness=stiffness,
        damping=damping,
        rotational_stiffness=rotational_stiffness,
        rotational_damping=rotational_damping,
    )


def check_loops_can_move(machine: Machine, extension: Extension) -> None:
    """Checks that the two links of every loop joint can move relative to each other.

    Raises:
        MachineError: they are rigidly joined.
    """
    entries = extension["loop_joints"]
    lumps = rigid_lumps(machine) if entries else {}
    for entry in entries:
        parent, child = entry.value.parent, entry.value.child
        if are_rigidly_joined(machine, lumps, parent, child):
            raise entry.element.error(
                f"its links '{parent.link}' and '{child.link}' are rigidly joined: there is nothing to hold together",
                "name links with a movable joint between them",
            )


def _complete(
    element: Element, loop: LoopJoint, prefix: str, word: str, constrained: Directions
) -> tuple[Vector3 | None, Vector3]:
    """Stiffness and damping of the translations (`prefix` empty) or rotations as triples; `word` as in "along x"."""
    stiffness, damping = getattr(loop, f"{prefix}stiffness"), getattr(loop, f"{prefix}damping")
    damping = _triple(element, loop, f"{prefix}damping", damping, constrained)
    if stiffness is None:
        for axis, value, blocked in zip(AXES, damping, constrained, strict=True):
            if blocked and value > 0.0:
                raise element.error(
                    f"{prefix}damping {word} {axis} is {value:g}, where the loop joint is rigid",
                    f"give {prefix}stiffness too, or leave {prefix}damping out",
                )
        return None, damping
    stiffness = _triple(element, loop, f"{prefix}stiffness", stiffness, constrained)
    for axis, value, blocked in zip(AXES, stiffness, constrained, strict=True):
        if blocked and value == 0.0:
            raise element.error(
                f"{prefix}stiffness {word} {axis} is 0, a direction that a {loop.type} joint constrains",
                f"{_other_type(loop, word, axis)}leave {prefix}stiffness out for a rigid loop joint",
            )
    return stiffness, damping


def _triple(element: Element, loop: LoopJoint, name: str, value: float | Vector3, constrained: Directions) -> Vector3:
    if isinstance(value, tuple):
        return value
    if value > 0.0 and not any(constrained):
        raise element.error(
            f"{name} = {value:g} applies to constrained directions, and a {loop.type} joint has none of them here",
            "give three numbers, for the free directions",
        )
    x, y, z = (value if blocked else 0.0 for blocked in constrained)
    return (x, y, z)


def _other_type(loop: LoopJoint, word: str, axis: str) -> str:
    """Suggests the type that frees a direction and as few others as possible; empty if there is none."""
    own = set(_constraints(loop.type, loop.axis))
    best, most = "", 0
    for type_ in PAIR_TYPES:
        for other_axis in (loop.axis, *AXES):
            constraints = set(_constraints(type_, other_axis))
            if constraints <= own - {f"{word} {axis}"} and len(constraints) > most:
                best, most = f'type="{type_}"', len(constraints)
                best += "" if type_ in _WITHOUT_AXIS else f' axis="{other_axis}"'
    return f"take {best}, which leaves it free, or " if best else ""


def _constraints(type_: str, axis: str) -> Iterator[str]:
    for word, directions in zip(("along", "about"), constrained_directions(type_, axis), strict=True):
        yield from (f"{word} {name}" for name, blocked in zip(AXES, directions, strict=True) if blocked)


FAMILY = Family((LOOP_JOINT,), complete={"loop_joints": complete_loop_joint}, check=check_loops_can_move)
