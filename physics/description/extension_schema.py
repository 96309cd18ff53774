"""What the ``<grouser>`` element may hold: one table, from which its reader and docs/urdf_extension.md follow.

To add an element: a frozen dataclass in `machine`, a row in ELEMENTS here (of hydraulics, in `hydraulic_schema`), a
field of `Machine` named as the row's `field`.
"""

from dataclasses import dataclass

import numpy as np

from grouser.physics.description.data.compliance import PAIR_TYPES, CompliantJoint, LoopJoint
from grouser.physics.description.data.contact import ContactMaterial, DisabledCollision, MaterialPair, SelfCollision
from grouser.physics.description.data.mechanism import InitialPosition, Integrator, JointFriction, SphericalJoint
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.soil import LEVELS
from grouser.physics.description.elements.hydraulics.table import HYDRAULIC_ELEMENTS
from grouser.physics.description.elements.servo_drives import SERVO_DRIVE
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    choice,
    directional,
    joint,
    joint_frame,
    link,
    material_of,
    name_of,
    non_negative,
    place,
    positive,
)

TAG = "grouser"
ELEMENTS_MAX = 200
GROUSERS_MAX = 1000
BEAMS_MAX = 100_000
# As it is written with few digits [rad].
FULL_TURN = 6.2832
_BLOCKED = "one number: every direction that the joint blocks; in three numbers 0 is rigid"
_CONSTRAINED = "one number: every direction that the type constrains; three: also springs along free ones"
_FRAME = (
    "Its directions are those of the joint's frame; for a joint with an axis, of that frame turned the shortest way "
    "until its z axis is the joint's axis."
)


@dataclass(frozen=True)
class Density:
    """Density of a link [kg/m3] from which its mass properties follow."""

    link: str
    value: float


@dataclass(frozen=True, eq=False)
class ContactPoints:
    """Points that become a collision shape of a link: positions in the link frame [m], shape (n, 3), and radius [m]."""

    link: str
    points: np.ndarray
    radius: float


@dataclass(frozen=True)
class WrittenSensor:
    """A `Sensor` or `Lidar` as written; None for what is not given, of a lidar."""

    name: str
    type: str
    link: str
    xyz: Vector3
    rpy: Vector3
    beams: int | None
    angle_min: float | None
    angle_max: float | None
    range_min: float | None
    range_max: float | None
    noise: float | None


@dataclass(frozen=True)
class WrittenFlexibleLink:
    """A `FlexibleLink` as written: three stiffnesses [N m2], or two moduli [Pa] and the diameter [m] of a round rod."""

    link: str
    method: str
    size: int
    xyz: Vector3
    rpy: Vector3
    length: float
    bending_stiffness_y: float | None
    bending_stiffness_z: float | None
    torsional_stiffness: float | None
    modulus: float | None
    shear_modulus: float | None
    diameter: float | None
    damping_time: float


@dataclass(frozen=True)
class WrittenWheel:
    """A `Wheel` as written: None for what follows from its joint, from its grousers or from the ground."""

    link: str
    radius: float
    width: float
    xyz: Vector3
    axis: Vector3 | None
    grousers: int
    grouser_height: float
    grouser_thickness: float | None
    friction: float | None
    profile: str
    level: str | None
    steering: str | None


ELEMENTS: tuple[ElementKind, ...] = (
    *HYDRAULIC_ELEMENTS,
    ElementKind(
        "contact",
        "How a link's collision shapes touch the ground, obstacles and other links.",
        (
            link("link with at least one collision shape"),
            material_of(
                "name that `<material_pair>` knows it by; several links may share it", default="", default_text="none"
            ),
            non_negative(
                "friction",
                "-",
                "Coulomb coefficient; the other side's where that is less",
                default_text="the other side's",
            ),
            non_negative(
                "restitution",
                "-",
                "share of the approach speed that returns; the other side's where that is more",
                default=0.0,
                maximum=1.0,
            ),
            non_negative(
                "rolling_resistance", "m", "lever of the moment against rolling, per normal force", default=0.0
            ),
            non_negative(
                "spinning_resistance",
                "m",
                "lever of the moment against spinning about the normal, per normal force",
                default=0.0,
            ),
            positive("stiffness", "N/m", "of each contact point", default_text="rigid"),
            non_negative("damping", "N s/m", "of each contact point; needs a stiffness", default=0.0),
            Attribute(
                "surface_joint",
                Kind.JOINT,
                "-",
                "joint whose turning moves the surface, as a track's sprocket does",
                default_text="a surface at rest",
            ),
            positive(
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
        "material_pair",
        "How two materials touch each other. What is left out follows from the two materials as without a pair.",
        (
            material_of("material of a `<contact>`, or of the world", name="first"),
            material_of("material of a `<contact>`, or of the world; may be the first one", name="second"),
            non_negative("friction", "-", "Coulomb coefficient", default_text="from the two"),
            non_negative(
                "restitution", "-", "share of the approach speed that returns", default_text="from the two", maximum=1.0
            ),
            non_negative(
                "rolling_resistance",
                "m",
                "lever of the moment against rolling, per normal force",
                default_text="from the two",
            ),
            non_negative(
                "spinning_resistance",
                "m",
                "lever of the moment against spinning about the normal, per normal force",
                default_text="from the two",
            ),
            positive("stiffness", "N/m", "of each contact point", default_text="from the two"),
            non_negative("damping", "N s/m", "of each contact point; needs a stiffness", default_text="from the two"),
        ),
        MaterialPair,
        field="material_pairs",
    ),
    ElementKind(
        "self_collision",
        "Whether links of the machine touch each other; they do where nothing is said.",
        (Attribute("enabled", Kind.BOOLEAN, "-", "whether they do", required=True),),
        SelfCollision,
        field="self_collision",
        single=True,
    ),
    ElementKind(
        "disable_collisions",
        "Two links that do not touch each other.",
        (link("one of them", name="link1"), link("the other one", name="link2")),
        DisabledCollision,
        field="disabled_collisions",
    ),
    ElementKind(
        "contact_points",
        "Points of a link that touch, beside its collision shapes. A link may have several such elements.",
        (
            link("link that they are fixed to"),
            Attribute("points", Kind.POINTS, "m", "x y z of one point after the other, link's frame", required=True),
            non_negative("radius", "m", "of the sphere around each point", default=0.0),
        ),
        ContactPoints,
        field="contact_points",
    ),
    ElementKind(
        "joint_friction",
        "Dry and viscous friction of a joint with one coordinate. A joint that stands is held without creep, up to the "
        "static level; by law lugre its bristles bend, and creep where the load swings.",
        (
            joint("revolute, continuous or prismatic joint"),
            non_negative("static", "N m or N", "breakaway level"),
            non_negative(
                "kinetic", "N m or N", "level in motion; at most the static one", default_text="the static level"
            ),
            non_negative("viscous", "N m s/rad or N s/m", "viscous coefficient", default=0.0),
            choice(
                "law",
                "of dry friction: static at rest and kinetic in motion; one level; from static to kinetic as the speed "
                "grows; or so with bristles, which bend before they slide",
                ("two_state", "coulomb", "stribeck", "lugre"),
                default="two_state",
            ),
            positive(
                "stribeck_speed",
                "rad/s or m/s",
                "v_s of kinetic + (static - kinetic) exp(-(v/v_s)2); stribeck and lugre, which need it",
                default_text="none",
            ),
            positive("bristle_stiffness", "N m/rad or N/m", "of bristles; lugre, which needs it", default_text="none"),
            non_negative("bristle_damping", "N m s/rad or N s/m", "of bristles; lugre", default=0.0),
        ),
        JointFriction,
        field="frictions",
        unique="joint",
    ),
    SERVO_DRIVE,
    ElementKind(
        "sensor",
        "What measures. An `imu` gives specific force and angular rate in its own frame, and its orientation. A "
        "`lidar` gives distances in the plane of its x and y axes, all at one instant: to the ground with its ruts, to "
        "obstacles, and to the collision shapes of all links but the one that it is fixed to. Of a mesh it sees the "
        "convex hull, which is what is touched. What is nearer than `range_min` is minus infinity, nothing up to "
        "`range_max` infinity (REP-117). Only a lidar has the attributes after `rpy`.",
        (
            name_of("its name, and that of its frame; no link or joint of the URDF has it"),
            choice("type", "what it measures", ("imu", "lidar")),
            link("link that it is fixed to"),
            *place("its frame"),
            Attribute("beams", Kind.COUNT, "-", "number of beams", default_text="720", minimum=2, maximum=BEAMS_MAX),
            Attribute(
                "angle_min",
                Kind.NUMBER,
                "rad",
                "of the first beam, from the x axis about the z axis",
                default_text="-pi",
                minimum=-FULL_TURN,
                maximum=FULL_TURN,
            ),
            Attribute(
                "angle_max",
                Kind.NUMBER,
                "rad",
                "of the last beam, up to a full turn further",
                default_text="a full turn further, less one beam",
                minimum=-FULL_TURN,
                maximum=FULL_TURN,
            ),
            non_negative("range_min", "m", "least distance that it measures", default_text="0.1"),
            positive("range_max", "m", "greatest distance that it measures", default_text="30"),
            non_negative("noise", "m", "standard deviation of each distance, normally distributed", default_text="0"),
        ),
        WrittenSensor,
        field="sensors",
        unique="name",
    ),
    ElementKind(
        "initial_position",
        "Where a joint starts; zero, or the nearest limit, where nothing is said.",
        (
            joint("revolute, continuous or prismatic joint that mimics no other"),
            Attribute("position", Kind.NUMBER, "rad or m", "within the joint's limits", required=True),
        ),
        InitialPosition,
        field="initial_positions",
        unique="joint",
    ),
    ElementKind(
        "spherical_joint",
        "Leaves a floating joint its three rotations: a ball joint. Torques about the child's axes are commanded as "
        "efforts, by the names `joint/x`, `joint/y` and `joint/z`, where `joint` is its name. Like a floating joint it "
        "is not in `joint_states`, which has one number for a joint; where it stands is on `/tf`.",
        (
            joint("floating joint"),
            non_negative("effort_limit", "N m", "of the torque about each axis; 0: none is commanded", default=0.0),
            non_negative("damping", "N m s/rad", "viscous coefficient, beside that of `<dynamics>`", default=0.0),
            Attribute(
                "rpy",
                Kind.ANGLES,
                "rad",
                "where the child starts in the joint's frame: roll, pitch, yaw",
                default_text="0 0 0, or where loops close",
            ),
        ),
        SphericalJoint,
        field="spherical_joints",
        unique="joint",
    ),
    ElementKind(
        "compliant_joint",
        "Elasticity of a joint: of the directions that it blocks, and a spring law along its own coordinate. " + _FRAME,
        (
            joint("fixed, revolute, continuous or prismatic joint that mimics no other"),
            directional("stiffness", "N/m", f"translational; {_BLOCKED}", default=0.0, default_text="rigid"),
            directional("damping", "N s/m", "translational; one number: every direction with a stiffness", default=0.0),
            directional(
                "rotational_stiffness", "N m/rad", f"rotational; {_BLOCKED}", default=0.0, default_text="rigid"
            ),
            directional(
                "rotational_damping",
                "N m s/rad",
                "rotational; one number: every direction with a stiffness",
                default=0.0,
            ),
            non_negative("axial_stiffness", "N m/rad or N/m", "of a spring along the joint's coordinate", default=0.0),
            non_negative("axial_damping", "N m s/rad or N s/m", "beside that spring, while it is engaged", default=0.0),
            non_negative(
                "cubic_stiffness",
                "N m/rad3 or N/m3",
                "of that spring, times the third power of its deflection",
                default=0.0,
            ),
            Attribute("rest_position", Kind.NUMBER, "rad or m", "where that spring is at rest", default=0.0),
            non_negative(
                "backlash", "rad or m", "full width of the gap in which that spring does not act", default=0.0
            ),
            non_negative("hysteresis", "N m or N", "largest hysteretic effort, beside the spring", default=0.0),
            non_negative(
                "hysteresis_stiffness",
                "N m/rad or N/m",
                "slope of that effort at a reversal; goes with hysteresis",
                default=0.0,
            ),
        ),
        CompliantJoint,
        field="compliant_joints",
        unique="joint",
    ),
    ElementKind(
        "loop_joint",
        "A joint that closes a loop between two links. It moves the frame of `<child>` in the frame of `<parent>`, "
        "whose directions the stiffnesses are given in.",
        (
            name_of("its name; no joint of the URDF has it"),
            choice("type", "what it leaves free", PAIR_TYPES),
            choice(
                "axis",
                "the free motions are along or about it; of a planar pair, in the plane normal to it",
                ("x", "y", "z"),
                default="z",
            ),
            directional("stiffness", "N/m", f"translational; {_CONSTRAINED}", default_text="rigid"),
            directional(
                "damping",
                "N s/m",
                "translational; in a constrained direction it needs a stiffness",
                default=0.0,
            ),
            directional("rotational_stiffness", "N m/rad", f"rotational; {_CONSTRAINED}", default_text="rigid"),
            directional(
                "rotational_damping",
                "N m s/rad",
                "rotational; in a constrained direction it needs a stiffness",
                default=0.0,
            ),
        ),
        LoopJoint,
        field="loop_joints",
        unique="name",
        parts=(
            joint_frame("parent", "its frame on one link"),
            joint_frame("child", "its frame on the other link"),
        ),
    ),
    ElementKind(
        "flexible_link",
        "A link that bends and twists along the x axis of a frame. Its stiffness is given by the three stiffnesses, or "
        "by modulus, shear_modulus and diameter of a round rod.",
        (
            link("link with a mass"),
            choice("method", "how it is divided", ("rigid_elements",)),
            Attribute("size", Kind.COUNT, "-", "number of elements", required=True, minimum=1, maximum=ELEMENTS_MAX),
            *place("start of the elastic axis, which runs along x"),
            positive("length", "m", "of the elastic axis"),
            positive("bending_stiffness_y", "N m2", "E I of bending about the frame's y", default_text="of the rod"),
            positive("bending_stiffness_z", "N m2", "E I of bending about the frame's z", default_text="of the rod"),
            positive("torsional_stiffness", "N m2", "G I_p", default_text="of the rod"),
            positive("modulus", "Pa", "Young's modulus E of a rod", default_text="none"),
            positive("shear_modulus", "Pa", "shear modulus G of a rod", default_text="none"),
            positive("diameter", "m", "of a round rod: I = pi d4 / 64, I_p = pi d4 / 32", default_text="none"),
            non_negative("damping_time", "s", "damping over stiffness", default=0.0),
        ),
        WrittenFlexibleLink,
        field="flexible_links",
        unique="link",
    ),
    ElementKind(
        "wheel",
        "A cylinder that a link rolls on, where the ground is soft. On rigid ground the link's collision shapes touch.",
        (
            link("link that a continuous or revolute joint turns"),
            positive("radius", "m", "without grousers"),
            positive("width", "m", "along the axis"),
            Attribute("xyz", Kind.POINT, "m", "its middle in the link's frame", default=(0.0, 0.0, 0.0)),
            Attribute(
                "axis",
                Kind.DIRECTION,
                "-",
                "in the link's frame, along the joint's axis or against it; a positive turn about it rolls the wheel "
                "towards axis x up: about 0 1 0 towards x, where z is up",
                default_text="the joint's axis",
            ),
            Attribute(
                "grousers",
                Kind.COUNT,
                "-",
                "number of bars across the rim, evenly spaced",
                default=0,
                minimum=0,
                maximum=GROUSERS_MAX,
            ),
            non_negative("grouser_height", "m", "from the rim, at most the radius; goes with grousers", default=0.0),
            positive(
                "grouser_thickness",
                "m",
                "along the rim; goes with grousers, less than their spacing",
                default_text="a twentieth of their spacing",
            ),
            positive(
                "friction",
                "-",
                "coefficient between a smooth rim and soil, where less than the soil's own",
                default_text="the soil's own",
            ),
            choice(
                "profile",
                "outline on soil: a cylinder with its grousers, or the link's collision meshes, by their radius around "
                "the axis and along it",
                ("cylinder", "mesh"),
                default="cylinder",
            ),
            choice("level", "of its contact with soil", LEVELS, required=False, default_text="the ground's"),
            Attribute(
                "steering",
                Kind.JOINT,
                "-",
                "joint above the link that steers it: revolute or continuous, mimicking none",
                default_text="none",
            ),
        ),
        WrittenWheel,
        field="wheels",
        unique="link",
    ),
    ElementKind(
        "density",
        "Gives a link without `<inertial>` the mass properties of its collision shapes; overlaps count twice.",
        (
            link("link without `<inertial>`, with at least one collision shape"),
            positive("value", "kg/m3", "mass density"),
        ),
        Density,
        field="densities",
        unique="link",
    ),
    ElementKind(
        "integrator",
        "How the machine's motion is integrated; semi_implicit where nothing is said: of first order, for everything. "
        "implicit_midpoint is of second order and damps nothing, for smooth mechanisms: no contacts, limits, dry "
        "friction, hydraulics, motors, nor drives that are not commanded by effort. variational is of second order, "
        "too, for smooth trees, which have no loop joints either: momenta keep to rounding, and the energy's error "
        "stays bounded however long it runs.",
        (choice("method", "the method", ("semi_implicit", "implicit_midpoint", "variational")),),
        Integrator,
        field="integrator",
        single=True,
    ),
)
