"""Moving ends without any mass, such as fingers in models that leave them out: no force gives them an acceleration."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, Joint
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.text.mending import Mendings
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.placement import initial_positions, joint_frame
from grouser.physics.description.urdf.tree import in_tree_order


def with_massless_ends_held(
    machine: Machine, elements: Mapping[str, Element], extensions: Iterable[Element]
) -> tuple[Machine, list[str]]:
    """Fixes the joints that move nothing with mass where they start, and tells it.

    A joint and those that mimic it are one motion. It stays, and is refused when it is simulated, if a <grouser>
    element names one of these joints or a link beyond, or if nothing of the robot has mass.

    Args:
        machine: the machine.
        elements: of the joints, by name.
        extensions: the elements <grouser>.

    Returns:
        The machine, and one warning if there is such a joint.
    """
    heavy = {link.name for link in machine.links if link.inertial is not None and _has_mass(link.inertial)}
    named = {word for extension in extensions for word in _words(extension)}
    counting, kept = heavy | named, {_motion(joint) for joint in machine.joints if joint.name in named}
    above = {joint.child: joint for joint in machine.joints}
    for link in reversed(in_tree_order(machine.root, machine.joints)[1:]):
        if link in counting:
            counting.add(above[link].parent)
            kept.add(_motion(above[link]))
    held = [joint for joint in machine.joints if joint.type != "fixed" and _motion(joint) not in kept]
    if not heavy or not held:
        return machine, []
    mendings, positions = Mendings(), initial_positions(machine)
    for joint in held:
        mendings.add(
            elements[joint.name],
            f"joint '{joint.name}'",
            "moves nothing with mass, so that no force gives it an acceleration: it is held where it starts; give its "
            "link an <inertial> if it is to move",
        )
    fixed = {joint.name: _fixed(joint, joint_frame(joint, positions)) for joint in held}
    joints = tuple(fixed.get(joint.name, joint) for joint in machine.joints)
    return replace(machine, joints=joints), mendings.warnings()


def _has_mass(inertial: Inertial) -> bool:
    return inertial.mass > 0.0 or any(inertial.inertia)


def _words(element: Element) -> Iterator[str]:
    for text in element.attributes.values():
        yield from text.split()
    for child in element.children:
        yield from _words(child)


def _motion(joint: Joint) -> str:
    """The joint whose coordinate a joint has."""
    return joint.name if joint.mimic is None else joint.mimic.joint


def _fixed(joint: Joint, frame: Pose) -> Joint:
    return Joint(joint.name, "fixed", joint.parent, joint.child, frame, line=joint.line)
