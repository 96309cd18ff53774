"""Links and joints of the kinematic tree, with friction, initial positions and integrator. SI units."""

from dataclasses import dataclass

import numpy as np

from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.shapes import Geometry

JOINT_TYPES = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating")
ONE_COORDINATE = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class Inertial:
    """Mass properties of a link.

    Attributes:
        pose: frame at the centre of mass, in the link frame; `inertia` is expressed in it.
        mass: [kg], >= 0.
        inertia: ixx, ixy, ixz, iyy, iyz, izz about the centre of mass [kg m2].
    """

    pose: Pose
    mass: float
    inertia: tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Collision:
    """A collision shape, its pose in the link frame; the track whose belt it is, "" for none."""

    name: str
    pose: Pose
    geometry: Geometry
    track: str = ""


# Colour of a visual shape that has none: red, green, blue, alpha.
GREY = (0.6, 0.6, 0.6, 1.0)


@dataclass(frozen=True)
class Visual:
    """A visual shape, its pose in the link frame, its colour (red, green, blue, alpha; 0 to 1).

    Without a colour a mesh has those of its file, and anything else is grey.
    """

    name: str
    pose: Pose
    geometry: Geometry
    rgba: tuple[float, float, float, float] | None = None


@dataclass(frozen=True)
class ElasticCoordinate:
    """A deformation coordinate of an elastic link.

    Attributes:
        name: within its link.
        stiffness: generalised, per unit of the coordinate [N m, when shapes are per unit].
        damping: generalised [N m s].
    """

    name: str
    stiffness: float
    damping: float = 0.0


@dataclass(frozen=True)
class ElasticShape:
    """How the elastic coordinates q of a link move the frame of a joint on it, in the joint's axes.

    With d = sum q_a t_a and s = q^T H q, the frame is displaced by (1 - c s) d - 1/2 s e and turned by the rotation
    vector sum q_a r_a.

    Attributes:
        translation: t_a of each coordinate, per unit [m].
        rotation: r_a of each coordinate, per unit [rad].
        shortening: H, symmetric, per square of the unit [m]; empty for none.
        axis: e, unit vector of the elastic axis.
        contraction: c, the share of d that is lost per unit of s [1/m].
    """

    translation: tuple[Vector3, ...]
    rotation: tuple[Vector3, ...]
    shortening: tuple[tuple[float, ...], ...] = ()
    axis: Vector3 = (1.0, 0.0, 0.0)
    contraction: float = 0.0


@dataclass(frozen=True)
class Link:
    """A link.

    Attributes:
        inertial: None if the URDF gives none and there is no density to compute it from.
        elastic: deformation coordinates; empty for a rigid link. They move the joints on the link, each by its
            `elastic_shape`. They do not move the link's own inertial: the mass of a flexible link is in links that are
            fixed to it.
    """

    name: str
    inertial: Inertial | None = None
    collisions: tuple[Collision, ...] = ()
    visuals: tuple[Visual, ...] = ()
    line: int = 0
    elastic: tuple[ElasticCoordinate, ...] = ()


@dataclass(frozen=True)
class JointLimit:
    """Limits of a joint: positions [rad or m] (None: none), effort [N m or N], velocity [rad/s or m/s]; inf when not
    given."""

    lower: float | None = None
    upper: float | None = None
    effort: float = np.inf
    velocity: float = np.inf


@dataclass(frozen=True)
class Mimic:
    """position = multiplier * position of `joint` + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """A joint of the tree.

    Attributes:
        type: fixed, revolute, continuous, prismatic, planar, floating or spherical.
        pose: the joint's frame in the parent link's frame (the child link's frame at position zero).
        axis: unit vector in the joint's frame; normal of the plane for a planar joint.
        damping: viscous coefficient [N m s/rad or N s/m].
        friction: dry friction of URDF's `<dynamics>` [N m or N].
        elastic_shape: of an elastic parent link: how its elastic coordinates move the joint's frame.
    """

    name: str
    type: str
    parent: str
    child: str
    pose: Pose = Pose()
    axis: Vector3 = (1.0, 0.0, 0.0)
    limit: JointLimit = JointLimit()
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    line: int = 0
    elastic_shape: ElasticShape | None = None


@dataclass(frozen=True)
class JointFriction:
    """Friction of a joint.

    Attributes:
        static, kinetic: level of dry friction at rest and in motion [N m or N].
        viscous: [N m s/rad or N s/m].
        law: two_state, coulomb, stribeck or lugre.
        stribeck_speed: v_s of kinetic + (static - kinetic) exp(-(v/v_s)2) [rad/s or m/s]; stribeck and lugre.
        bristle_stiffness, bristle_damping: [N m/rad or N/m, N m s/rad or N s/m]; lugre.
    """

    joint: str
    static: float
    kinetic: float
    viscous: float = 0.0
    law: str = "two_state"
    stribeck_speed: float | None = None
    bristle_stiffness: float | None = None
    bristle_damping: float = 0.0


@dataclass(frozen=True)
class InitialPosition:
    """Initial position of a joint [rad or m]."""

    joint: str
    position: float


@dataclass(frozen=True)
class SphericalJoint:
    """A spherical (ball) joint, which is a floating joint in the URDF.

    Attributes:
        effort_limit: largest commanded torque about each axis of the child [N m]; 0: torques cannot be commanded.
        damping: viscous coefficient [N m s/rad].
        rpy: initial orientation of the child in the joint's frame: roll, pitch, yaw [rad]; None: zero, or the
            orientation at which loops close.
    """

    joint: str
    effort_limit: float = 0.0
    damping: float = 0.0
    rpy: Vector3 | None = None


@dataclass(frozen=True)
class Integrator:
    """Integration method of the machine: semi_implicit, implicit_midpoint or variational."""

    method: str


def axis_name(joint: str, axis: str) -> str:
    """Returns the name by which the torque about an axis (x, y or z) of a spherical joint's child is commanded."""
    return f"{joint}/{axis}"
