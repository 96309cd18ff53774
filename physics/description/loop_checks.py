"""What ``<loop_joint>`` says of stiffness and damping must fit its type."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from grouser.physics.description.data.compliance import PAIR_TYPES, Directions, LoopJoint, constrained_directions
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import AXES, Vector3
from grouser.physics.description.table.family import Entry
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.placement import rigid_lumps

_WITHOUT_AXIS = ("spherical", "fixed")


def complete_loop_joint(entry: Entry, joint_names: Collection[str]) -> LoopJoint:
    """Checks a loop joint's values against its type, and writes its single numbers out as triples.

    Args:
        entry: the loop joint as written.
        joint_names: of the URDF's joints.

    Raises:
        MachineError: a name that a joint has, a constrained direction without stiffness, or a damper of a rigid one.
    """
    element, loop = entry.element, entry.value
    if loop.name in joint_names:
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


def check_loops_can_move(machine: Machine, entries: Collection[Entry]) -> None:
    """Checks that the two links of every loop joint move against each other.

    Raises:
        MachineError: two do not.
    """
    lumps = rigid_lumps(machine) if entries else {}
    for entry in entries:
        parent, child = entry.value.parent.link, entry.value.child.link
        if lumps[parent] == lumps[child]:
            raise entry.element.error(
                f"its links '{parent}' and '{child}' are rigidly joined: there is nothing to hold together",
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
                    f"{prefix}damping {word} {axis} is {value:g}, where the pair is rigid",
                    f"give {prefix}stiffness too, or leave {prefix}damping out",
                )
        return None, damping
    stiffness = _triple(element, loop, f"{prefix}stiffness", stiffness, constrained)
    for axis, value, blocked in zip(AXES, stiffness, constrained, strict=True):
        if blocked and value == 0.0:
            raise element.error(
                f"{prefix}stiffness {word} {axis} is 0, a direction that a {loop.type} pair constrains",
                f"{_other_type(loop, word, axis)}leave {prefix}stiffness out for a rigid pair",
            )
    return stiffness, damping


def _triple(element: Element, loop: LoopJoint, name: str, value: float | Vector3, constrained: Directions) -> Vector3:
    if isinstance(value, tuple):
        return value
    if value > 0.0 and not any(constrained):
        raise element.error(
            f"{name} = {value:g} speaks of the directions that a {loop.type} pair constrains, which are none here",
            "give three numbers, for the free directions",
        )
    x, y, z = (value if blocked else 0.0 for blocked in constrained)
    return (x, y, z)


def _other_type(loop: LoopJoint, word: str, axis: str) -> str:
    """Advice to take the type that frees a direction, and as few others as possible; empty if there is none."""
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
