"""What the ``<grouser>`` element may hold: one table, from which its reader and docs/urdf_extension.md follow.

To add an element: a frozen dataclass in `machine`, a row in ELEMENTS here, a field of `Machine` named as the row's
`field`.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from grouser.physics.description.machine import (
    Attachment,
    ContactMaterial,
    DirectionalValve,
    Fluid,
    HydraulicCylinder,
    InitialPosition,
    JointFriction,
    Pump,
    ServoDrive,
)

TAG = "grouser"


class Kind(Enum):
    """How an attribute's text is read."""

    NUMBER = "number"
    POINT = "point"
    DIRECTION = "direction"
    BOOLEAN = "boolean"
    NAME = "name"
    CHOICE = "choice"
    LINK = "link"
    JOINT = "joint"
    VALVE = "valve"


@dataclass(frozen=True)
class Attribute:
    """One attribute.

    Attributes:
        name: as written, and the dataclass's field.
        kind: how its text is read.
        unit: SI unit, "-" for none.
        description: for the documentation and nothing else.
        required: whether it must be given.
        default: its value when it is not given; None where `default_text` says what then holds.
        default_text: the default in words, where it is not a plain value.
        minimum, maximum: valid range; None: open.
        above_minimum: whether the minimum itself is out of range.
        choices: valid words of a CHOICE.
    """

    name: str
    kind: Kind
    unit: str
    description: str
    required: bool = False
    default: Any = None
    default_text: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above_minimum: bool = False
    choices: tuple[str, ...] = ()

    def valid(self) -> str:
        """The valid values in words; empty where every value of its kind is valid."""
        if self.choices:
            return " or ".join(self.choices)
        if self.minimum is not None and self.maximum is not None:
            return f"{'above ' if self.above_minimum else ''}{self.minimum:g} to {self.maximum:g}"
        if self.minimum is not None:
            return f"above {self.minimum:g}" if self.above_minimum else f"{self.minimum:g} or more"
        return "" if self.maximum is None else f"{self.maximum:g} or less"


@dataclass(frozen=True)
class ElementKind:
    """One element.

    Attributes:
        tag: as written.
        description: for the documentation.
        attributes: in the order of the documentation.
        build: the dataclass that its values fill.
        field: field of the result that collects the elements ("" for a part of another element).
        single: at most one in a machine.
        unique: attribute that no two elements of this tag share.
        parts: elements in it; each exactly once.
    """

    tag: str
    description: str
    attributes: tuple[Attribute, ...]
    build: type
    field: str = ""
    single: bool = False
    unique: str | None = None
    parts: tuple["ElementKind", ...] = ()


@dataclass(frozen=True)
class Density:
    """Density of a link [kg/m3] from which its mass properties follow."""

    link: str
    value: float


def _positive(name: str, unit: str, description: str, **more: Any) -> Attribute:
    more.setdefault("required", "default" not in more and "default_text" not in more)
    return Attribute(name, Kind.NUMBER, unit, description, minimum=0.0, above_minimum=True, **more)


def _non_negative(name: str, unit: str, description: str, **more: Any) -> Attribute:
    more.setdefault("required", "default" not in more and "default_text" not in more)
    return Attribute(name, Kind.NUMBER, unit, description, minimum=0.0, **more)


def _name(description: str, default: str | None = None) -> Attribute:
    return Attribute("name", Kind.NAME, "-", description, required=default is None, default=default)


def _joint(description: str) -> Attribute:
    return Attribute("joint", Kind.JOINT, "-", description, required=True)


def _link(description: str) -> Attribute:
    return Attribute("link", Kind.LINK, "-", description, required=True)


def _attachment(tag: str, description: str) -> ElementKind:
    point = Attribute("xyz", Kind.POINT, "m", "point in the link's frame", default=(0.0, 0.0, 0.0))
    return ElementKind(tag, description, (_link("link that it is fixed to"), point), Attachment)


ELEMENTS: tuple[ElementKind, ...] = (
    ElementKind(
        "fluid",
        "The hydraulic oil.",
        (
            _positive("density", "kg/m3", "mass density", default=850.0),
            _positive("bulk_modulus", "Pa", "stiffness of the oil with its hoses", default=1.4e9),
        ),
        Fluid,
        field="fluid",
        single=True,
    ),
    ElementKind(
        "pump",
        "A supply of constant pressure. One pump feeds all valves.",
        (
            _name("its name", default="pump"),
            _positive("supply_pressure", "Pa", "absolute; above the tank pressure"),
            _non_negative("tank_pressure", "Pa", "absolute", default=1e5),
        ),
        Pump,
        field="pumps",
        unique="name",
    ),
    ElementKind(
        "directional_valve",
        "A proportional 4/3 valve with a second-order spool; a positive command extends its cylinder.",
        (
            _name("its name, and the name of its command"),
            _positive("discharge_coefficient", "-", "of the metering edges", default=0.62, maximum=1.0),
            _positive("spool_diameter", "m", "diameter whose circumference opens"),
            _positive("spool_travel", "m", "opening at full spool"),
            _non_negative(
                "supply_overlap",
                "-",
                "positive overlap of the supply edges, share of the travel",
                default=0.05,
                maximum=0.99,
            ),
            Attribute(
                "tank_underlap",
                Kind.NUMBER,
                "-",
                "negative overlap of the tank edges, share of the travel; below zero the edges close at neutral",
                default=0.05,
                minimum=-0.99,
                maximum=1.0,
            ),
            _positive("gain", "-", "spool position per unit of command", default=1.0),
            _positive("natural_frequency", "rad/s", "of the spool", default=120.0),
            _non_negative("damping_ratio", "-", "of the spool", default=1.0),
        ),
        DirectionalValve,
        field="valves",
        unique="name",
    ),
    ElementKind(
        "cylinder",
        "A double-acting cylinder between two points of the machine.",
        (
            _name("its name"),
            Attribute(
                "valve", Kind.VALVE, "-", "directional valve that feeds it, and no other cylinder", required=True
            ),
            _positive("bore", "m", "diameter of the piston"),
            _positive("rod_diameter", "m", "diameter of the rod; below the bore"),
            _positive("stroke", "m", "travel of the piston"),
            _positive("retracted_length", "m", "distance of the two attachments at zero stroke"),
            _positive("piston_mass", "kg", "piston and rod"),
            _non_negative("viscous_friction", "N s/m", "of the seals", default=0.0),
            _non_negative("dry_friction", "N", "of the seals", default=0.0),
            _positive("dead_volume_piston_side", "m3", "oil left when fully retracted, with the hose"),
            _positive("dead_volume_rod_side", "m3", "oil left when fully extended, with the hose"),
            Attribute(
                "holding_brake", Kind.BOOLEAN, "-", "locks the cylinder at neutral and on emergency stop", default=False
            ),
            _positive("holding_force", "N", "what the brake holds", default=1e6),
        ),
        HydraulicCylinder,
        field="cylinders",
        unique="name",
        parts=(
            _attachment("barrel", "where the barrel is attached"),
            _attachment("rod", "where the rod's eye is attached"),
        ),
    ),
    ElementKind(
        "contact",
        "How a link's collision shapes touch the ground.",
        (
            _link("link with at least one collision shape"),
            _non_negative(
                "friction", "-", "Coulomb coefficient; the ground's where that is less", default_text="the ground's"
            ),
            _non_negative(
                "restitution",
                "-",
                "share of the approach speed that returns; the ground's where that is more",
                default=0.0,
                maximum=1.0,
            ),
            _positive("stiffness", "N/m", "of each contact point", default_text="rigid"),
            _non_negative("damping", "N s/m", "of each contact point; needs a stiffness", default=0.0),
            Attribute(
                "surface_joint",
                Kind.JOINT,
                "-",
                "joint whose turning moves the surface, as a track's sprocket does",
                default_text="a surface at rest",
            ),
            _positive(
                "surface_radius", "m", "surface speed per joint speed; goes with surface_joint", default_text="none"
            ),
            Attribute(
                "surface_direction",
                Kind.DIRECTION,
                "-",
                "direction in the link's frame in which the machine travels when the joint turns forward",
                default=(1.0, 0.0, 0.0),
            ),
        ),
        ContactMaterial,
        field="contacts",
        unique="link",
    ),
    ElementKind(
        "joint_friction",
        "Dry and viscous friction of a joint with one coordinate.",
        (
            _joint("revolute, continuous or prismatic joint"),
            _non_negative("static", "N m or N", "breakaway level"),
            _non_negative(
                "kinetic", "N m or N", "level in motion; at most the static one", default_text="the static level"
            ),
            _non_negative("viscous", "N m s/rad or N s/m", "viscous coefficient", default=0.0),
        ),
        JointFriction,
        field="frictions",
        unique="joint",
    ),
    ElementKind(
        "servo_drive",
        "An electric drive of a joint, a limited spring and damper. Its commands bear the joint's name.",
        (
            _joint("revolute, continuous or prismatic joint that mimics no other"),
            Attribute(
                "mode",
                Kind.CHOICE,
                "-",
                "what a command means",
                required=True,
                choices=("position", "velocity", "effort"),
            ),
            _non_negative("stiffness", "N m/rad or N/m", "in position mode, where it is needed", default=0.0),
            _non_negative(
                "damping", "N m s/rad or N s/m", "in position and velocity mode; the latter needs it", default=0.0
            ),
            _positive("effort_limit", "N m or N", "largest effort", default_text="the joint's effort limit"),
        ),
        ServoDrive,
        field="drives",
        unique="joint",
    ),
    ElementKind(
        "initial_position",
        "Where a joint starts; zero, or the nearest limit, where nothing is said.",
        (
            _joint("revolute, continuous or prismatic joint that mimics no other"),
            Attribute("position", Kind.NUMBER, "rad or m", "within the joint's limits", required=True),
        ),
        InitialPosition,
        field="initial_positions",
        unique="joint",
    ),
    ElementKind(
        "density",
        "Gives a link without `<inertial>` the mass properties of its collision shapes; overlaps count twice.",
        (
            _link("link without `<inertial>`, with at least one collision shape"),
            _positive("value", "kg/m3", "mass density"),
        ),
        Density,
        field="densities",
        unique="link",
    ),
)
