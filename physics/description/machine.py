"""What a machine is: frozen dataclasses, filled from URDF and its ``<grouser>`` element.

Units are SI; every frame is named. Nothing here computes dynamics. Arrays that a dataclass holds are read-only.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.machine import member_prefix
from grouser.physics.description.data.soil import SoilGround, Wheel

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
        type: fixed, revolute, continuous, prismatic, planar, floating or spherical.
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
    """Hydraulic oil with the air in it.

    Attributes:
        density: [kg/m3].
        bulk_modulus: of the oil without free air [Pa].
        kinematic_viscosity: at 313.15 K [m2/s].
        viscosity_slope: share by which the viscosity falls per kelvin; it is exponential in the temperature [1/K].
        temperature: of all the oil [K].
        entrained_air: volume of the free air at 1e5 Pa as a share of the oil's [-].
        dissolved_air: the same of the air that comes free below the saturation pressure [-].
        saturation_pressure: absolute [Pa].
        vapour_pressure: absolute, below every pressure [Pa].
    """

    density: float = 850.0
    bulk_modulus: float = 1.4e9
    kinematic_viscosity: float = 46e-6
    viscosity_slope: float = 0.03
    temperature: float = 313.15
    entrained_air: float = 0.0
    dissolved_air: float = 0.0
    saturation_pressure: float = 3e4
    vapour_pressure: float = 0.0


@dataclass(frozen=True)
class Line:
    """Oil of one pressure that has a volume of its own, beside those of what is connected to it.

    Ports name lines; a line that ports name and no `Line` speaks of has no volume of its own.

    Attributes:
        volume: [m3].
        expansion: rise of pressure per relative growth of that volume [Pa]; infinite for rigid walls.
        start_pressure: at the start [Pa, absolute]; None for the tank's.
    """

    name: str
    volume: float
    expansion: float = np.inf
    start_pressure: float | None = None


@dataclass(frozen=True)
class Tank:
    """A line of constant pressure [Pa, absolute]."""

    name: str = "tank"
    pressure: float = 1e5


@dataclass(frozen=True)
class Pump:
    """A supply of constant pressure, or a displacement pump on a shaft of constant speed.

    A supply has a supply pressure, and None for every number from `displacement` on; a displacement pump has a
    displacement and None for the supply pressure and for what its control does without.

    Attributes:
        supply_pressure: at which the outlet is held [Pa, absolute].
        tank_pressure: of the tank of a machine that gives no `Tank` [Pa, absolute].
        outlet: line that it feeds.
        inlet: line that it draws from; "" for a supply.
        sense: line whose pressure a load-sensing control adds its margin to; "" for none.
        displacement: largest [m3/rad].
        speed: of the shaft [rad/s].
        control: fixed, pressure or load_sensing; "" for a supply.
        setting: outlet pressure at which the pressure control, or the one beside load sensing, has cut the flow off
            [Pa, absolute].
        margin: of the outlet above the sensed pressure [Pa].
        regulation_range: rise of pressure over which a control goes from full to no displacement [Pa].
        response_time: of the displacement [s].
        power_limit: hydraulic power at which displacement is taken back [W]; 0: none.
        minimum_stroke: least displacement as a share of the largest [-].
        leakage: from outlet to inlet [m3/(s Pa)].
        torque_loss: torque at the shaft beside the hydraulic one [N m].
    """

    name: str
    supply_pressure: float | None = None
    tank_pressure: float = 1e5
    outlet: str = "supply"
    inlet: str = ""
    sense: str = ""
    displacement: float | None = None
    speed: float | None = None
    control: str = ""
    setting: float | None = None
    margin: float | None = None
    regulation_range: float | None = None
    response_time: float | None = None
    power_limit: float | None = None
    minimum_stroke: float | None = None
    leakage: float | None = None
    torque_loss: float | None = None


@dataclass(frozen=True)
class ReliefValve:
    """A valve that opens by the pressure before it.

    Attributes:
        inlet, outlet: lines.
        pressure: of the inlet above the outlet at which it opens [Pa].
        rated_flow: at `rated_rise` above that pressure [m3/s].
        rated_rise: [Pa].
    """

    name: str
    inlet: str
    pressure: float
    rated_flow: float
    outlet: str = "tank"
    rated_rise: float = 1e6


@dataclass(frozen=True)
class CheckValve:
    """A valve that opens one way, and with a pilot the other way too.

    Attributes:
        inlet, outlet: lines; free from the first to the second.
        rated_flow: at a drop of `rated_drop` [m3/s].
        pilot: line whose pressure opens it backwards; "" for none.
        cracking_pressure: drop at which it opens [Pa].
        rated_drop: [Pa].
        pilot_ratio: area of the pilot's piston over that of the seat [-].
    """

    name: str
    inlet: str
    outlet: str
    rated_flow: float
    pilot: str = ""
    cracking_pressure: float = 5e4
    rated_drop: float = 5e5
    pilot_ratio: float = 3.0


@dataclass(frozen=True)
class CounterbalanceValve:
    """A load-holding valve: free towards the load, a relief valve back from it that a pilot helps to open.

    Attributes:
        load, valve: lines on the side of the load and of the directional valve.
        pilot: line whose pressure helps to open it.
        pressure: of the load at which it opens without pilot [Pa].
        rated_flow: from the load at `rated_rise` above opening, and to the load at a drop of `rated_drop` [m3/s].
        pilot_ratio: area on which the pilot acts over that on which the load does [-].
        rated_rise: [Pa].
        cracking_pressure: drop at which the way to the load opens [Pa].
        rated_drop: [Pa].
    """

    name: str
    load: str
    valve: str
    pilot: str
    pressure: float
    rated_flow: float
    pilot_ratio: float = 3.0
    rated_rise: float = 1e6
    cracking_pressure: float = 5e4
    rated_drop: float = 5e5


@dataclass(frozen=True)
class ReducingValve:
    """A valve that closes when the pressure behind it reaches its setting.

    Attributes:
        inlet, outlet: lines.
        pressure: of the outlet at which it is closed [Pa, absolute].
        rated_flow: when open, at a drop of `rated_drop` [m3/s].
        range: rise of the outlet's pressure over which it goes from open to closed [Pa].
        rated_drop: [Pa].
    """

    name: str
    inlet: str
    outlet: str
    pressure: float
    rated_flow: float
    range: float = 2e5
    rated_drop: float = 5e5


@dataclass(frozen=True)
class ShuttleValve:
    """A valve that joins the outlet with that of two lines that has the higher pressure.

    Attributes:
        a, b, outlet: lines.
        rated_flow: at a drop of `rated_drop` [m3/s].
        rated_drop: [Pa].
    """

    name: str
    a: str
    b: str
    outlet: str
    rated_flow: float = 1e-4
    rated_drop: float = 5e5


@dataclass(frozen=True)
class Orifice:
    """A restriction: turbulent when it has a diameter, laminar when it has a resistance; the other one is None.

    Attributes:
        inlet, outlet: lines.
        diameter: [m].
        discharge_coefficient: of turbulent flow [-].
        resistance: drop per flow at 313.15 K; it goes with the viscosity [Pa s/m3].
    """

    name: str
    inlet: str
    outlet: str
    diameter: float | None = None
    discharge_coefficient: float = 0.7
    resistance: float | None = None


@dataclass(frozen=True)
class Compensator:
    """A pressure compensator: it holds the drop over a metering edge behind it by closing.

    Attributes:
        inlet, outlet: lines; the metering edge draws from the outlet.
        load: line behind the metering edge, whose pressure is sensed.
        margin: of the outlet above the load at which it is closed [Pa].
        rated_flow: when open, at a drop of `rated_drop` [m3/s].
        range: rise of that difference over which it goes from open to closed [Pa].
        rated_drop: [Pa].
    """

    name: str
    inlet: str
    outlet: str
    load: str
    margin: float
    rated_flow: float
    range: float = 1e5
    rated_drop: float = 5e5


@dataclass(frozen=True)
class DirectionalValve:
    """A proportional 4/3 valve with a spool of second order, or of first.

    Attributes:
        discharge_coefficient: of the metering edges [-].
        spool_diameter: [m]; None where there is a rated flow.
        spool_travel: opening at full spool [m]; None where there is a rated flow.
        supply_overlap: positive overlap of the supply edges, as a share of the travel [-].
        tank_underlap: negative overlap of the tank edges, as a share of the travel [-]; below zero the edges close at
            neutral.
        gain: spool position per unit of command [-].
        natural_frequency: [rad/s].
        damping_ratio: [-].
        supply, tank, a, b: lines; a positive spool joins supply with a, and b with tank.
        sense: line that gets the pressure of whichever of a and b is fed, of the tank at neutral; "" for none.
        centre: what neutral does with the supply: closed, open (joined with a, b and tank) or tandem (with tank).
        supply_a_overlap, supply_b_overlap, tank_a_underlap, tank_b_underlap: of the single edges [-]; a machine that
            was read has numbers, equal to `supply_overlap` and `tank_underlap` where the file gives none.
        rate_limit: fastest change of the spool position [1/s]; 0: none.
        hysteresis: full width of the gap between command and spool, as a share of the full command [-].
        dead_band: of the command, to either side of zero [-].
        rated_flow, rated_drop: flow over an edge that is open by the whole travel [m3/s], at a drop of [Pa]; None
            where spool_diameter and spool_travel give the size.
        transition_drop: over an edge, below which its flow becomes laminar [Pa].
        transition: smooth, or linear: proportional to the drop from there on.
        time_constant: of a spool of first order [s]; None for one of second order.
    """

    name: str
    discharge_coefficient: float
    spool_diameter: float | None
    spool_travel: float | None
    supply_overlap: float
    tank_underlap: float
    gain: float
    natural_frequency: float
    damping_ratio: float
    supply: str = "supply"
    tank: str = "tank"
    a: str = ""
    b: str = ""
    sense: str = ""
    centre: str = "closed"
    supply_a_overlap: float | None = None
    supply_b_overlap: float | None = None
    tank_a_underlap: float | None = None
    tank_b_underlap: float | None = None
    rate_limit: float = 0.0
    hysteresis: float = 0.0
    dead_band: float = 0.0
    rated_flow: float | None = None
    rated_drop: float = 35e5
    transition_drop: float = 1e3
    transition: str = "smooth"
    time_constant: float | None = None


@dataclass(frozen=True)
class Attachment:
    """A point fixed to a link: position in the link frame [m]."""

    link: str
    xyz: Vector3


@dataclass(frozen=True)
class HydraulicCylinder:
    """A cylinder between two points of the machine.

    Attributes:
        valve: name of the directional valve that feeds it, if the file says so; positive spool feeds the piston side
            and extends it.
        bore, rod_diameter, stroke: [m].
        retracted_length: distance between the attachments at zero stroke [m].
        piston_mass: piston with rod [kg].
        viscous_friction: [N s/m].
        dry_friction: in motion [N].
        dead_volume_piston_side, dead_volume_rod_side: oil left at the stroke's ends, with hoses [m3]; 0 of a side that
            is open.
        holding_brake: locks the cylinder at neutral and on emergency stop.
        holding_force: what the brake holds [N].
        barrel, rod: where it is attached.
        piston_side, rod_side: lines; "" for a side that is open to the air.
        leakage: across the piston [m3/(s Pa)].
        rod_leakage: from the rod side past the rod to the tank [m3/(s Pa)].
        static_friction: at standstill [N]; a machine that was read has a number, at least `dry_friction`.
        stribeck_speed: at which friction has fallen from the static towards the dry level [m/s].
        cushion_length: last part of the stroke, at each end, in which oil leaves through a throttle [m]; 0: none.
        cushion_diameter: of that throttle [m].
        barrel_modulus: rise of pressure per relative growth of its chambers without their dead volumes [Pa]; infinite
            for rigid walls.
        buffer_length: last part of the stroke, at each end, in which a spring with damper acts [m]; 0: none.
        buffer_stiffness, buffer_damping: of that [N/m, N s/m].
    """

    name: str
    valve: str | None
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
    piston_side: str = ""
    rod_side: str = ""
    leakage: float = 0.0
    rod_leakage: float = 0.0
    static_friction: float | None = None
    stribeck_speed: float = 0.01
    cushion_length: float = 0.0
    cushion_diameter: float = 0.0
    barrel_modulus: float = np.inf
    buffer_length: float = 0.0
    buffer_stiffness: float = 0.0
    buffer_damping: float = 0.0


@dataclass(frozen=True)
class HydraulicMotor:
    """A motor or rotary actuator that drives a joint; pressure at a above that at b drives it forward.

    Attributes:
        joint: revolute, continuous or prismatic.
        a, b: lines.
        displacement: per unit of the joint's coordinate, gear included [m3/rad or m3/m].
        dead_volume: oil on each side [m3].
        drain: line that takes the leakage of the housing.
        leakage: from a to b [m3/(s Pa)].
        drain_leakage: from each side to the drain [m3/(s Pa)].
        viscous_friction: at the joint [N m s/rad or N s/m].
        dry_friction: at the joint [N m or N].
        holding_brake: locks the joint at neutral and on emergency stop.
        holding_torque: what the brake holds, at the joint [N m or N].
    """

    name: str
    joint: str
    a: str
    b: str
    displacement: float
    dead_volume: float
    drain: str = "tank"
    leakage: float = 0.0
    drain_leakage: float = 0.0
    viscous_friction: float = 0.0
    dry_friction: float = 0.0
    holding_brake: bool = False
    holding_torque: float = 1e6


@dataclass(frozen=True)
class Accumulator:
    """A gas-filled accumulator.

    Attributes:
        port: line.
        volume: of the gas when no oil is in it [m3].
        precharge: pressure of the gas then [Pa, absolute].
        polytropic_index: pressure times volume to this power is constant [-].
    """

    name: str
    port: str
    volume: float
    precharge: float
    polytropic_index: float = 1.25


@dataclass(frozen=True)
class Hose:
    """A hose: half of its oil belongs to either line, and laminar friction is between them.

    Attributes:
        inlet, outlet: lines.
        length, diameter: inside [m].
        expansion: rise of pressure per relative growth of its volume [Pa]; inf for a rigid pipe.
    """

    name: str
    inlet: str
    outlet: str
    length: float
    diameter: float
    expansion: float = np.inf


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
    """How the machine's motion is integrated: `method` is semi_implicit, implicit_midpoint or variational."""

    method: str


@dataclass(frozen=True)
class JointFriction:
    """Friction of a joint.

    Attributes:
        static, kinetic: level of dry friction at rest and in motion [N m or N].
        viscous: [N m s/rad or N s/m].
        law: two_state, coulomb, stribeck or lugre.
        stribeck_speed: at which e-1 of the way from static to kinetic is left [rad/s or m/s]; stribeck and lugre.
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
class Sensor:
    """A sensor and its frame.

    Attributes:
        name: of the sensor and of its frame.
        type: imu or lidar; the latter is a `Lidar`.
        link: that it is fixed to.
        xyz, rpy: origin [m] and orientation (roll, pitch, yaw) [rad] of its frame in the link frame.
    """

    name: str
    type: str
    link: str
    xyz: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Lidar(Sensor):
    """A planar lidar: its beams turn about the z axis of its frame, from its x axis on.

    Attributes:
        beams: number of them, 2 or more.
        angle_min, angle_max: of the first and the last one [rad].
        range_min, range_max: what it measures between [m].
        noise: standard deviation of a range [m].
    """

    beams: int = 720
    angle_min: float = -math.pi
    angle_max: float = math.pi
    range_min: float = 0.1
    range_max: float = 30.0
    noise: float = 0.0

    @property
    def angle_increment(self) -> float:
        """From one beam to the next [rad]."""
        return (self.angle_max - self.angle_min) / (self.beams - 1)


@dataclass(frozen=True)
class InitialPosition:
    """Where a joint starts [rad or m]."""

    joint: str
    position: float


@dataclass(frozen=True)
class SphericalJoint:
    """What a ball joint, floating in the URDF, has beside its three rotations.

    Attributes:
        effort_limit: of the torque about each axis of the child that commands give it [N m]; 0: none can be commanded.
        damping: viscous coefficient [N m s/rad].
        rpy: orientation of the child at the start in the joint's frame, roll, pitch, yaw [rad]; None: the joint's own,
            or the one at which loops close.
    """

    joint: str
    effort_limit: float = 0.0
    damping: float = 0.0
    rpy: Vector3 | None = None


@dataclass(frozen=True)
class Member:
    """A machine that shares a simulation with others; see `fleet.combine`.

    Attributes:
        machine: by itself, under its own names.
        pose: of its root link in the world at the start; for good when its base is fixed. None, until it is combined,
            for where the world puts a machine.
        name: what its names begin with among the others; "" for the one that keeps them.
    """

    machine: "Machine"
    pose: Pose | None = None
    name: str = ""

    @property
    def prefix(self) -> str:
        """What its names begin with."""
        return member_prefix(self.name)

    @property
    def joint(self) -> str:
        """Name of the joint that its root link hangs on."""
        return f"{self.prefix}{self.machine.root}_{'free' if self.machine.floating_base else 'fixed'}"


@dataclass(frozen=True)
class Machine:
    """A whole machine, validated.

    Attributes:
        links: in the order of the file.
        joints: in the order of the file.
        root: name of the root link.
        floating_base: whether the root link is free to move; a root link named ``world`` is not.
        urdf: the expanded URDF text, for RViz and robot_state_publisher.
        source: the text that it was read from, with xacro expanded.
        file: where it came from.
        warnings: what is legal but probably not meant, in words.
        members: the machines that it is made of; none for a machine by itself.
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
    lines: tuple[Line, ...] = ()
    tanks: tuple[Tank, ...] = ()
    relief_valves: tuple[ReliefValve, ...] = ()
    check_valves: tuple[CheckValve, ...] = ()
    counterbalance_valves: tuple[CounterbalanceValve, ...] = ()
    reducing_valves: tuple[ReducingValve, ...] = ()
    shuttle_valves: tuple[ShuttleValve, ...] = ()
    orifices: tuple[Orifice, ...] = ()
    compensators: tuple[Compensator, ...] = ()
    hydraulic_motors: tuple[HydraulicMotor, ...] = ()
    accumulators: tuple[Accumulator, ...] = ()
    hoses: tuple[Hose, ...] = ()
    contacts: tuple[ContactMaterial, ...] = ()
    material_pairs: tuple[MaterialPair, ...] = ()
    self_collision: SelfCollision = SelfCollision(True)
    disabled_collisions: tuple[DisabledCollision, ...] = ()
    loop_joints: tuple[LoopJoint, ...] = ()
    compliant_joints: tuple[CompliantJoint, ...] = ()
    flexible_links: tuple[FlexibleLink, ...] = ()
    wheels: tuple[Wheel, ...] = ()
    spherical_joints: tuple[SphericalJoint, ...] = ()
    integrator: Integrator = Integrator("semi_implicit")
    frictions: tuple[JointFriction, ...] = ()
    drives: tuple[ServoDrive, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    initial_positions: tuple[InitialPosition, ...] = ()
    urdf: str = field(default="", repr=False)
    source: str = field(default="", repr=False)
    file: str = ""
    warnings: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()

    def member_of(self, name: str) -> int:
        """Number of the member that a name belongs to, 0 in a machine by itself; -1 for what belongs to none."""
        if not self.members:
            return 0
        for number, member in enumerate(self.members):
            if member.name and name.startswith(member.prefix):
                return number
        unnamed = [number for number, member in enumerate(self.members) if not member.name]
        return unnamed[0] if unnamed and name else -1


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
        edge: what is beyond the height field or the map of soils: "flat", the border's height and soil go on; "wall",
            nothing gets across.
        soil: None for rigid ground.
    """

    point: Vector3 = (0.0, 0.0, 0.0)
    normal: Vector3 = (0.0, 0.0, 1.0)
    friction: float = 0.8
    restitution: float = 0.0
    material: str = "ground"
    heightfield: Heightfield | None = None
    edge: str = "flat"
    soil: SoilGround | None = None


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
class NamedPose:
    """A place in a world that is of use to whoever works there: to park at, to go to, to put a machine.

    Attributes:
        name: unique in its world.
        pose: in the world frame.
        description: in words.
        tags: what it is for.
    """

    name: str
    pose: Pose
    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class World:
    """What a machine stands in.

    Attributes:
        description: in words.
        tags: what kind of world it is.
        gravity: acceleration in the world frame [m/s2].
        ground: None in free space.
        obstacles: shapes that stand still.
        spawn: pose of a floating base's link frame at the start, in the world frame.
        poses: other places by name.
        files: meshes and maps that the world file refers to.
        file, source: the world file, and the text in it.
    """

    name: str = "flat"
    gravity: Vector3 = (0.0, 0.0, -9.81)
    ground: Ground | None = Ground()
    obstacles: tuple[Obstacle, ...] = ()
    spawn: Pose = Pose()
    files: tuple[str, ...] = field(default=(), compare=False, repr=False)
    description: str = field(default="", compare=False)
    tags: tuple[str, ...] = field(default=(), compare=False)
    poses: tuple[NamedPose, ...] = ()
    file: str = field(default="", compare=False)
    source: str = field(default="", compare=False, repr=False)

    @property
    def soil(self) -> SoilGround | None:
        """Soft ground; None where there is none."""
        return self.ground.soil if self.ground else None


NOWHERE = World(name="", ground=None)  # where no world is loaded
