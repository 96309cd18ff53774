"""The links of a machine as they are drawn: flexible ones in pieces, which bend; and a URDF with these for displays."""

from collections.abc import Iterable, Iterator
from xml.etree import ElementTree as ET

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Link, Visual
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import rpy_from_quaternion
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from grouser.physics.flexible_links.division import split_flexible_links


def drawn_links(machine: Machine) -> Iterator[tuple[Link, str]]:
    """Links that are drawn, each with the link of the description that it is a piece of; they are the links themselves
    and, of flexible links, the pieces that carry shapes. Each has a frame with its name.

    Raises:
        MachineError: a flexible link cannot be divided.
    """
    described = {link.name for link in machine.links}
    for link in split_flexible_links(machine).links:
        if link.name in described:
            yield link, link.name
        elif link.visuals or link.collisions:
            yield link, link.name.rsplit(".", 1)[0]


def display_description(machine: Machine) -> str:
    """The machine's URDF with its flexible links in pieces, for displays: each on a floating joint, without mass.

    Frames of the pieces come from ``/tf``. It is no description of the machine: that is `Machine.urdf`.

    Raises:
        MachineError: a flexible link cannot be divided.
    """
    robot = ET.fromstring(machine.urdf)
    written = {link.get("name"): link for link in robot.iter("link")}
    bending = {flexible.link for flexible in machine.flexible_links}
    for link, owner in drawn_links(machine):
        if owner not in bending:
            continue
        element = written[owner]
        if link.name == owner:
            for straight in element.findall("visual"):
                element.remove(straight)
        else:
            element = ET.SubElement(robot, "link", name=link.name)
            joint = ET.SubElement(robot, "joint", name=link.name, type="floating")
            ET.SubElement(joint, "parent", link=owner)
            ET.SubElement(joint, "child", link=link.name)
        for visual in link.visuals:
            _write(element, visual)
    return ET.tostring(robot, encoding="unicode")


def _write(link: ET.Element, visual: Visual) -> None:
    element = ET.SubElement(link, "visual", name=visual.name)
    _write_origin(element, visual.pose)
    ET.SubElement(element, "geometry").append(_geometry(visual.geometry))
    if visual.rgba is not None:
        material = ET.SubElement(element, "material", name="")
        ET.SubElement(material, "color", rgba=_numbers(visual.rgba))


def _write_origin(element: ET.Element, pose: Pose) -> None:
    rpy = rpy_from_quaternion(pose.quaternion)
    ET.SubElement(element, "origin", xyz=_numbers(pose.position), rpy=_numbers(rpy))


def _geometry(geometry: Geometry) -> ET.Element:
    if isinstance(geometry, Box):
        return ET.Element("box", size=_numbers(geometry.size))
    if isinstance(geometry, Sphere):
        return ET.Element("sphere", radius=repr(geometry.radius))
    if isinstance(geometry, Mesh):
        return ET.Element("mesh", filename=geometry.uri, scale=_numbers(geometry.scale))
    assert isinstance(geometry, Cylinder | Capsule), "visuals have no other shapes"
    kind = "cylinder" if isinstance(geometry, Cylinder) else "capsule"
    return ET.Element(kind, radius=repr(geometry.radius), length=repr(geometry.length))


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
