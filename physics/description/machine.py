"""What a machine is: frozen dataclasses, filled from URDF and its ``<grouser>`` element.

Units are SI; every frame is named. Nothing here computes dynamics. Arrays that a dataclass holds are read-only.
"""

from dataclasses import dataclass, field

import numpy as np

Vector3 = tuple[float, float, float]


@dataclass(frozen=True)
class Pose:
    """A frame given in another one.

    Attributes:
        position: origin of the frame in the reference frame [m].
        quaternion: its orientation, unit quaternion in the order x y z w.
    """

    position: Vector3 = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)


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
class Box:
    """A box centred on its frame; `size` is its full extents [m]."""

    size: Vector3


@dataclass(frozen=True)
class Cylinder:
    """A cylinder centred on its frame, axis z; radius and length [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Sphere:
    """A sphere centred on its frame; radius [m]."""

    radius: float


@dataclass(frozen=True)
class Capsule:
    """A cylinder between two half spheres, centred on its frame, axis z; radius and length of the cylinder [m]."""

    radius: float
    length: float


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points that touch: positions [m], shape (n, 3), and the radius of the sphere around each [m], >= 0."""

    points: np.ndarray
    radius: float = 0.0


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh.

    Attributes:
        uri: as written in the URDF.
        path: the file that it resolves to.
        scale: factors along the mesh's own axes.
        hull: vertices of the convex hull after scaling [m], shape (n, 3); empty for a visual.
    """

    uri: str
    path: str
    scale: Vector3 = (1.0, 1.0, 1.0)
    hull: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)), repr=False)


Geometry = Box | Cylinder | Sphere | Capsule | Mesh | PointSet


@dataclass(frozen=True)
class Collision:
    """A collision shape, its pose in the link frame."""

    name: str
    pose: Pose
    geometry: Geometry


@dataclass(frozen=True)
class Visual:
    """A visual shape, its pose in the link frame, its colour (red, green, blue, alpha; 0 to 1)."""

    name: str
    pose: Pose
    geometry: Geometry
    rgba: tuple[float, float, float, float] = (0.6, 0.6, 0.6, 1.0)


@dataclass(frozen=True)
class ElasticCoordinate:
    """One way in which a link deforms.

    Attributes:
        name: within its link.
        stiffness: generalised, per unit of the coordinate [N m, when shapes are per unit].
        damping: generalised [N m s].
    """

    name: str
    stiffness: float
    damping: float = 0.0


@dataclass(frozen=True)
class Link:
    """A link.

    Attributes:
        inertial: None when the URDF gives none and no density says how to find it.
        elastic: coordinates that deform it, none for a rigid link. What hangs on the link follows them by the
            `elastic_shape` of its joint; the link's own inertial does not, so that a flexible link carries its mass in
            parts that are fixed to it.
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
        type: fixed, revolute, continuous, prismatic, planar or floating.
        pose: the joint's frame in the parent link's frame (the child link's frame at position zero).
        axis: unit vector in the joint's frame; normal of the plane for a planar joint.
        damping: viscous coefficient [N m s/rad or N s/m].
        friction: dry friction of URDF's `<dynamics>` [N m or N].
        elastic_shape: of an elastic parent link: twist of the joint's frame per unit of each of the link's elastic
            coordinates, linear [m] then angular [rad], in the joint's axes.
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
    elastic_shape: tuple[tuple[float, float, float, float, float, float], ...] = ()


@dataclass(frozen=True)
class Fluid:
    """Hydraulic oil: density [kg/m3], bulk modulus [Pa]."""

    density: float
    bulk_modulus: float


@dataclass(frozen=True)
class Pump:
    """A supply of constant pressure: supply and tank pressure [Pa, absolute]."""

    name: str
    supply_pressure: float
    tank_pressure: float


@dataclass(frozen=True)
class DirectionalValve:
    """A proportional 4/3 valve with a second-order spool.

    Attributes:
        discharge_coefficient: of the metering edges [-].
        spool_diameter: [m].
        spool_travel: opening at full spool [m].
        supply_overlap: positive overlap of the supply edges, as a share of the travel [-].
        tank_underlap: negative overlap of the tank edges, as a share of the travel [-]; below zero the edges close at
            neutral.
        gain: spool position per unit of command [-].
        natural_frequency: [rad/s].
        damping_ratio: [-].
    """

    name: str
    discharge_coefficient: float
    spool_diameter: float
    spool_travel: float
    supply_overlap: float
    tank_underlap: float
    gain: float
    natural_frequency: float
    damping_ratio: float


@dataclass(frozen=True)
class Attachment:
    """A point fixed to a link: position in the link frame [m]."""

    link: str
    xyz: Vector3


@dataclass(frozen=True)
class HydraulicCylinder:
    """A double-acting cylinder between two points of the machine.

    Attributes:
        valve: name of the directional valve that feeds it; positive spool feeds the piston side and extends it.
        bore, rod_diameter, stroke: [m].
        retracted_length: distance between the attachments at zero stroke [m].
        piston_mass: piston with rod [kg].
        viscous_friction: [N s/m].
        dry_friction: [N].
        dead_volume_piston_side, dead_volume_rod_side: oil left at the stroke's ends, with hoses [m3].
        holding_brake: locks the cylinder at neutral and on emergency stop.
        holding_force: what the brake holds [N].
        barrel, rod: where it is attached.
    """

    name: str
    valve: str
    bore: float
    rod_diameter: float
    stroke: float
    retracted_length: float
    piston_mass: float
    viscous_friction: float
    dry_friction: float
    dead_volume_piston_side: float
    dead_volume_rod_side: float
    holding_brake: bool
    holding_force: float
    barrel: Attachment
    rod: Attachment


@dataclass(frozen=True)
class ContactMaterial:
    """How a link touches.

    Attributes:
        link: the link whose collision shapes it speaks of.
        material: name that `MaterialPair` knows it by; "" for none.
        friction: coefficient [-]; None: the other side's.
        restitution: [-], 0 to 1.
        rolling_resistance: lever of the moment against rolling, per normal force [m].
        spinning_resistance: lever of the moment against spinning about the normal [m].
        stiffness, damping: of each contact point [N/m, N s/m]; rigid when stiffness is None.
        surface_joint: joint whose turning moves the surface (a belt or track), or None.
        surface_radius: surface speed per joint speed [m].
        surface_direction: unit vector in the link frame along which the machine travels when the joint turns forward.
    """

    link: str
    material: str = ""
    friction: float | None = None
    restitution: float = 0.0
    rolling_resistance: float = 0.0
    spinning_resistance: float = 0.0
    stiffness: float | None = None
    damping: float = 0.0
    surface_joint: str | None = None
    surface_radius: float = 0.0
    surface_direction: Vector3 = (1.0, 0.0, 0.0)


@dataclass(frozen=True)
class MaterialPair:
    """How two materials touch each other, instead of the rule that combines them; None leaves a value to that rule.

    Attributes:
        first, second: names of materials, of links or of the world; the same name twice for a material and itself.
        friction, restitution, rolling_resistance, spinning_resistance, stiffness, damping: see `ContactMaterial`.
    """

    first: str
    second: str
    friction: float | None = None
    restitution: float | None = None
    rolling_resistance: float | None = None
    spinning_resistance: float | None = None
    stiffness: float | None = None
    damping: float | None = None


@dataclass(frozen=True)
class SelfCollision:
    """Whether links of the machine touch each other."""

    enabled: bool


@dataclass(frozen=True)
class DisabledCollision:
    """Two links that do not touch each other."""

    link1: str
    link2: str


@dataclass(frozen=True)
class JointFrame:
    """A frame fixed to a link: origin [m] and orientation (roll, pitch, yaw) [rad] in the link frame."""

    link: str
    xyz: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class LoopJoint:
    """A joint that closes a loop between two links of the tree.

    Its frame is that of `parent`; it moves the frame of `child`. The free motions of a type are about or along `axis`;
    in a planar pair they are in the plane normal to it. A scalar stiffness stands for all constrained directions, a
    triple for each direction of the frame: of a constrained one the stiffness, of a free one that of a spring along it.

    Attributes:
        type: spherical, revolute, prismatic, cylindrical, planar or fixed.
        axis: x, y or z of the frame.
        stiffness: translational, along x, y, z of the frame [N/m]; None: rigid.
        damping: [N s/m].
        rotational_stiffness: about x, y, z of the frame [N m/rad]; None: rigid.
        rotational_damping: [N m s/rad].
        parent, child: the two frames.
    """

    name: str
    type: str
    axis: str
    stiffness: Vector3 | None
    damping: Vector3
    rotational_stiffness: Vector3 | None
    rotational_damping: Vector3
    parent: JointFrame
    child: JointFrame


@dataclass(frozen=True)
class CompliantJoint:
    """Elasticity of a joint of the tree: of the directions that it blocks, and a spring law along its own coordinate.

    The frame is the URDF joint's. A direction that the joint blocks is rigid unless it is given a stiffness.

    Attributes:
        stiffness, damping: translational, along x, y, z [N/m, N s/m]; 0: rigid.
        rotational_stiffness, rotational_damping: about x, y, z [N m/rad, N m s/rad]; 0: rigid.
        axial_stiffness: of the spring along the joint's coordinate [N m/rad or N/m]; 0: none.
        axial_damping: beside that spring, while it is engaged [N m s/rad or N s/m].
        cubic_stiffness: of the spring, times the deflection's third power [N m/rad3 or N/m3].
        rest_position: where the spring is at rest [rad or m].
        backlash: full width of the gap in which the spring does not act [rad or m].
        hysteresis: largest hysteretic effort, beside the spring [N m or N]; 0: none.
        hysteresis_stiffness: slope of that effort at a reversal [N m/rad or N/m].
    """

    joint: str
    stiffness: Vector3
    damping: Vector3
    rotational_stiffness: Vector3
    rotational_damping: Vector3
    axial_stiffness: float = 0.0
    axial_damping: float = 0.0
    cubic_stiffness: float = 0.0
    rest_position: float = 0.0
    backlash: float = 0.0
    hysteresis: float = 0.0
    hysteresis_stiffness: float = 0.0


@dataclass(frozen=True)
class FlexibleLink:
    """A link that bends and twists along the x axis of one of its frames.

    Attributes:
        link: the link.
        method: rigid_elements.
        size: number of elements.
        xyz, rpy: start of the elastic axis in the link frame [m, rad]; it runs along x of this frame.
        length: of the elastic axis [m].
        bending_stiffness_y, bending_stiffness_z: EI of bending about the frame's y and z [N m2].
        torsional_stiffness: GI_p [N m2].
        damping_time: damping over stiffness (proportional damping) [s].
    """

    link: str
    method: str
    size: int
    xyz: Vector3
    rpy: Vector3
    length: float
    bending_stiffness_y: float
    bending_stiffness_z: float
    torsional_stiffness: float
    damping_time: float = 0.0


@dataclass(frozen=True)
class Integrator:
    """How the machine's motion is integrated: `method` is semi_implicit or implicit_midpoint."""

    method: str


@dataclass(frozen=True)
class JointFriction:
    """Dry friction of a joint: static and kinetic level [N m or N], viscous coefficient [N m s/rad or N s/m]."""

    joint: str
    static: float
    kinetic: float
    viscous: float = 0.0


@dataclass(frozen=True)
class ServoDrive:
    """An electric drive of a joint as a limited spring and damper.

    Attributes:
        mode: position, velocity or effort: what a command means.
        stiffness: [N m/rad or N/m], position mode.
        damping: [N m s/rad or N s/m], position and velocity mode.
        effort_limit: [N m or N].
    """

    joint: str
    mode: str
    stiffness: float
    damping: float
    effort_limit: float


@dataclass(frozen=True)
class InitialPosition:
    """Where a joint starts [rad or m]."""

    joint: str
    position: float


@dataclass(frozen=True)
class Machine:
    """A whole machine, validated.

    Attributes:
        links: in the order of the file.
        joints: in the order of the file.
        root: name of the root link.
        floating_base: whether the root link is free to move; a root link named ``world`` is not.
        urdf: the expanded URDF text, for RViz and robot_state_publisher.
        file: where it came from.
        warnings: what is legal but probably not meant, in words.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    root: str
    floating_base: bool
    fluid: Fluid | None = None
    pumps: tuple[Pump, ...] = ()
    valves: tuple[DirectionalValve, ...] = ()
    cylinders: tuple[HydraulicCylinder, ...] = ()
    contacts: tuple[ContactMaterial, ...] = ()
    material_pairs: tuple[MaterialPair, ...] = ()
    self_collision: SelfCollision = SelfCollision(True)
    disabled_collisions: tuple[DisabledCollision, ...] = ()
    loop_joints: tuple[LoopJoint, ...] = ()
    compliant_joints: tuple[CompliantJoint, ...] = ()
    flexible_links: tuple[FlexibleLink, ...] = ()
    integrator: Integrator = Integrator("semi_implicit")
    frictions: tuple[JointFriction, ...] = ()
    drives: tuple[ServoDrive, ...] = ()
    initial_positions: tuple[InitialPosition, ...] = ()
    urdf: str = field(default="", repr=False)
    file: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Heightfield:
    """Ground given by its height over a grid; flat at the border's height outside of it.

    Attributes:
        heights: [m], shape (n_x, n_y), at least 2 x 2: heights[i, j] is at origin + cell * (i, j).
        cell: spacing of the grid [m].
        origin: x, y of heights[0, 0] in the world [m].
    """

    heights: np.ndarray
    cell: float
    origin: tuple[float, float]


@dataclass(frozen=True)
class Ground:
    """What to stand on: a plane, or a height field that replaces it.

    Attributes:
        point: of the plane [m].
        normal: unit normal of the plane, world frame.
        friction, restitution: of its surface [-].
        material: name that `MaterialPair` knows it by.
        heightfield: None for a plane.
    """

    point: Vector3 = (0.0, 0.0, 0.0)
    normal: Vector3 = (0.0, 0.0, 1.0)
    friction: float = 0.8
    restitution: float = 0.0
    material: str = "ground"
    heightfield: Heightfield | None = None


@dataclass(frozen=True)
class Obstacle:
    """A shape that stands still in the world.

    Attributes:
        name: unique in its world.
        geometry: anything but a point set.
        pose: of the shape in the world frame.
        friction, restitution: of its surface [-].
        material: name that `MaterialPair` knows it by.
    """

    name: str
    geometry: Geometry
    pose: Pose = Pose()
    friction: float = 0.8
    restitution: float = 0.0
    material: str = "obstacle"


@dataclass(frozen=True)
class World:
    """What a machine stands in.

    Attributes:
        gravity: acceleration in the world frame [m/s2].
        ground: None in free space.
        obstacles: shapes that stand still.
        spawn: pose of a floating base's link frame at the start, in the world frame.
    """

    name: str = "flat"
    gravity: Vector3 = (0.0, 0.0, -9.81)
    ground: Ground | None = Ground()
    obstacles: tuple[Obstacle, ...] = ()
    spawn: Pose = Pose()
