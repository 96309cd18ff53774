"""Links and joints from URDF. Unknown elements belong to other programs and are ignored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grouser.physics.description.data.mechanism import Joint, Link
from grouser.physics.description.text.mending import Mendings
from grouser.physics.description.text.packages import Packages
from grouser.physics.description.text.xml_tree import IS_XACRO, Element
from grouser.physics.description.urdf.inertial import read_inertial
from grouser.physics.description.urdf.joints import read_joint
from grouser.physics.description.urdf.misspellings import tell_misspellings
from grouser.physics.description.urdf.shapes import Materials, read_collisions, read_materials, read_visuals
from grouser.physics.description.urdf.slips import mend_slips
from grouser.physics.description.urdf.tree import find_root, resolve_mimics


@dataclass(frozen=True)
class Robot:
    """Links and joints of a URDF, with their XML elements for messages.

    Attributes:
        links, joints: in the order of the file.
        link_elements, joint_elements: by name.
    """

    name: str
    root: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    link_elements: Mapping[str, Element]
    joint_elements: Mapping[str, Element]


def read_robot(robot: Element, packages: Packages, warnings: list[str]) -> Robot:
    """Reads the links and joints of a ``<robot>`` element.

    Args:
        robot: the document's root element.
        packages: of its file.
        warnings: list to which warnings are appended.

    Raises:
        MachineError: an error in the robot.
    """
    if robot.tag != "robot":
        raise robot.error(f"the document is <{robot.tag[:60]}>, not <robot>", "give a URDF or xacro file")
    name = robot.text("name")
    mendings = Mendings()
    mend_slips(robot, mendings)
    tell_misspellings(robot, mendings)
    link_elements = _by_name(robot, "link")
    joint_elements = _by_name(robot, "joint")
    if not link_elements:
        xacro = any(child.tag.startswith("xacro:") for child in robot.children)
        raise robot.error("the robot has no link", IS_XACRO if xacro else 'add a <link name="..."> element')
    materials = read_materials(robot)
    links = tuple(_read_link(element, materials, packages, mendings) for element in link_elements.values())
    joints: Sequence[Joint] = [read_joint(element, mendings) for element in joint_elements.values()]
    root = find_root(robot, links, joints, joint_elements)
    joints = resolve_mimics(joints, joint_elements, mendings)
    warnings += mendings.warnings()
    return Robot(name, root, links, joints, link_elements, joint_elements)


def _by_name(robot: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in robot.all(tag):
        name = element.text("name")
        if name in found:
            line = found[name].line
            raise element.error(
                f"there are two {tag}s named '{name[:80]}'" + (f"; the other is in line {line}" if line else ""),
                "rename one",
            )
        found[name] = element
    return found


def _read_link(element: Element, materials: Materials, packages: Packages, mendings: Mendings) -> Link:
    return Link(
        element.text("name"),
        read_inertial(element, mendings),
        read_collisions(element, packages),
        read_visuals(element, materials, packages, mendings),
        line=element.line or 0,
    )
