"""The parts of a machine, read from the URDF that the simulator publishes.

Where there is no ``<grouser>`` element, as with simulators that do not support it, a machine is links and joints only.
"""

from dataclasses import dataclass
from xml.etree import ElementTree

from grouser.conformance import standard

_MOVABLE = ("revolute", "continuous", "prismatic")
_FIXED_ROOT = "world"  # a root link of this name does not move


@dataclass(frozen=True)
class Drive:
    """A drive of a joint.

    Attributes:
        joint: its name.
        link: the joint's child.
        mode: position, velocity or effort.
        lower, upper: limits of the joint [rad or m]; infinite for none.
        effort: limit [N m or N]; infinite for none.
    """

    joint: str
    link: str
    mode: str
    lower: float
    upper: float
    effort: float


@dataclass(frozen=True)
class Description:
    """Contents of the URDF.

    Attributes:
        links: names of all links.
        root: the one that is no joint's child.
        colliding: names of the links with collision shapes.
        movable: names in `joint_states`: joints with one coordinate, and the axes of ball joints.
        drives: of joints.
        sensors: name -> type.
        parts: how often a ``<grouser>`` element is there, by its tag.
    """

    links: tuple[str, ...]
    root: str
    colliding: tuple[str, ...]
    movable: tuple[str, ...]
    drives: tuple[Drive, ...]
    sensors: dict[str, str]
    parts: dict[str, tuple[str, ...]]

    @property
    def floating_base(self) -> bool:
        """Whether the root link moves: one named ``world`` does not."""
        return self.root != _FIXED_ROOT

    def names(self, *tags: str) -> tuple[str, ...]:
        """Names of the parts of some kinds."""
        return tuple(name for tag in tags for name in self.parts.get(tag, ()))

    def has(self, needs: str) -> bool:
        """Whether the machine has the parts that a row of `standard` requires."""
        wheels = self.names("wheel") if self.floating_base else ()
        return {
            standard.EVERY_MACHINE: True,
            standard.OPTIONAL: False,
            standard.FLOATING_BASE: self.floating_base,
            standard.WHEELS: bool(wheels),
            standard.DRIVEN_WHEELS: any(drive.mode == "velocity" and drive.link in wheels for drive in self.drives),
            standard.IMUS: "imu" in self.sensors.values(),
            standard.LIDARS: "lidar" in self.sensors.values(),
            standard.LIDARS_3D: bool(self.names("lidar_3d")),
            standard.DEPTH_CAMERAS: bool(self.names("depth_camera")),
            standard.GNSS_RECEIVERS: bool(self.names("gnss_receiver")),
            standard.FORCE_TORQUE_SENSORS: bool(self.names("force_torque_sensor")),
            standard.HYDRAULICS: bool(self.names("cylinder", "hydraulic_motor")),
            standard.VALVES: bool(self.names("directional_valve")),
            standard.DRIVES: bool(self.drives),
            standard.FOLLOWING_DRIVES: any(drive.mode != "effort" for drive in self.drives),
            standard.REACTIONS: bool(self.names("loop_joint", "compliant_joint")),
            standard.FLEXIBLE_LINKS: bool(self.names("flexible_link")),
        }[needs]


def read_description(urdf: str) -> Description:
    """Reads a URDF.

    Raises:
        ValueError: it is not a URDF; the message has the reason.
    """
    try:
        robot = ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise ValueError(f"not XML: {error}") from error
    links = tuple(link.get("name", "") for link in robot.findall("link"))
    joints = robot.findall("joint")
    children = {
        joint.get("name"): child.get("link", "") for joint in joints if (child := joint.find("child")) is not None
    }
    roots = [link for link in links if link not in children.values()]
    if robot.tag != "robot" or len(roots) != 1:
        raise ValueError(f"<{robot.tag}> with {len(roots)} root links")
    extensions = [element for extension in robot.findall("grouser") for element in extension]
    parts: dict[str, tuple[str, ...]] = {}
    for element in extensions:
        name = element.get("name") or element.get("link") or element.get("joint") or ""
        parts[element.tag] = (*parts.get(element.tag, ()), name)
    limits = {joint.get("name"): joint.find("limit") for joint in joints}
    return Description(
        links=links,
        root=roots[0],
        colliding=tuple(link.get("name", "") for link in robot.findall("link") if link.find("collision") is not None),
        movable=(
            *(joint.get("name", "") for joint in joints if joint.get("type") in _MOVABLE),
            *(f"{joint}/{axis}" for joint in parts.get("spherical_joint", ()) for axis in "xyz"),
        ),
        drives=tuple(
            Drive(
                joint := element.get("joint", ""),
                children.get(joint, ""),
                element.get("mode", ""),
                _limit(limits.get(joint), "lower", float("-inf")),
                _limit(limits.get(joint), "upper", float("inf")),
                _limit(element, "effort_limit", _limit(limits.get(joint), "effort", float("inf"))),
            )
            for element in extensions
            if element.tag == "servo_drive"
        ),
        sensors={element.get("name", ""): element.get("type", "") for element in extensions if element.tag == "sensor"},
        parts=parts,
    )


def _limit(element: ElementTree.Element | None, attribute: str, otherwise: float) -> float:
    return otherwise if element is None else float(element.get(attribute, otherwise))
