"""Records of measurements, with units."""

from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class CylinderPressure:
    """Pressures in the two chambers of a cylinder [Pa, absolute]."""

    piston_side: float
    rod_side: float


@dataclass(frozen=True, eq=False)
class SphericalJointState:
    """A spherical joint.

    Attributes:
        orientation: of the child's frame in the joint's, quaternion x y z w.
        angular_velocity: of the child against the parent, in the child's axes [rad/s], (3,).
        torque: of its commands about the child's axes in the last step, within its limit [N m], (3,).
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    torque: np.ndarray


@dataclass(frozen=True)
class CylinderState:
    """A cylinder with its valve.

    Attributes:
        position: of the piston from its retracted end [m].
        velocity: rate of the distance between the attachments in the last step, positive when extending [m/s].
        pressure_piston_side, pressure_rod_side: [Pa, absolute].
        flow_piston_side, flow_rod_side: into the port, leakage past piston and rod included, mean over the last step
            [m3/s]; what compresses the oil is the line's.
        spool_position: of its valve [-].
        force: on the machine along the cylinder in the last step, brake and stroke ends included; positive pushes [N].
        power: taken from the supply, mean over the last step [W].
        brake_engaged: whether the holding brake held in the last step.
    """

    position: float
    velocity: float
    pressure_piston_side: float
    pressure_rod_side: float
    flow_piston_side: float
    flow_rod_side: float
    spool_position: float
    force: float
    power: float
    brake_engaged: bool


@dataclass(frozen=True)
class HydraulicMotorState:
    """A hydraulic motor in the last step.

    Attributes:
        position, velocity: of its joint [rad, rad/s; of a prismatic one m, m/s].
        pressure_a, pressure_b: at the end [Pa, absolute].
        flow_a, flow_b: into each side, leakages included, mean [m3/s].
        spool_position: of its valve [-].
        torque: on the joint, brake included; positive drives it forward [N m or N].
        power: given to the machine, torque times velocity [W].
        brake_engaged: whether the holding brake held.
    """

    position: float
    velocity: float
    pressure_a: float
    pressure_b: float
    flow_a: float
    flow_b: float
    spool_position: float
    torque: float
    power: float
    brake_engaged: bool


@dataclass(frozen=True)
class PumpState:
    """A displacement pump in the last step.

    Attributes:
        swash: displacement as a share of the largest [-].
        flow: mean into its outlet [m3/s].
        pressure: of its outlet at the end [Pa, absolute].
        shaft_power: mean, with its loss of torque [W].
    """

    swash: float
    flow: float
    pressure: float
    shaft_power: float


@dataclass(frozen=True)
class CylinderEnergy:
    """Energy account of a cylinder since the start [J].

    Attributes:
        supplied: by the supply.
        returned: to the tank, and to the open air where a line is burst.
        throttled: lost at the metering edges.
        compressed: put into the oil's compression.
        viscous_loss, friction_loss: lost at the piston.
        stop_loss: lost at the ends of the stroke.
        piston_work: done by the pressures on the piston, by its mean speeds.
        oil_work: done by them over the volumes that it displaced.
    """

    supplied: float
    returned: float
    throttled: float
    compressed: float
    viscous_loss: float
    friction_loss: float
    stop_loss: float
    piston_work: float
    oil_work: float


@dataclass(frozen=True, eq=False)
class HydraulicBalance:
    """Balance of the oil's energy since the start [J].

    What pumps and lines of constant pressure give is what actuators do, what is throttled and leaks, and what stays in
    the compressed oil.

    Attributes:
        pump_work: of each displacement pump on the oil, its loss of torque left out.
        supplied: by each line of constant pressure; negative for a tank.
        actuator_work: of the pressures on each piston and rotor, over the volumes that it displaced.
        throttling: in each valve, orifice, compensator and hose, and in the cushions of cylinders.
        leakage: past the pistons, rods and rotors of each cylinder, motor and pump.
        compression: taken up by the oil of each line, by its walls and by its accumulator.
        friction: lost by each piston and rotor to friction and to the ends of its stroke; part of the work.
        coupling: lost between oil and mechanism by the step's own error: positions move by the speed at a step's end,
            kinetic energy by the mean.
        residual: the sub-steps' own error: all that is given, less work, throttling, leakage and compression.
    """

    pump_work: dict[str, float]
    supplied: dict[str, float]
    actuator_work: dict[str, float]
    throttling: dict[str, float]
    leakage: dict[str, float]
    compression: dict[str, float]
    friction: dict[str, float]
    coupling: float
    residual: float

    def totals(self) -> dict[str, float]:
        """Each account's sum."""
        accounts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: sum(own.values()) if isinstance(own, dict) else own for name, own in accounts.items()}


@dataclass(frozen=True, eq=False)
class Contact:
    """A contact of the last step.

    Attributes:
        link: name of the link.
        other: what it touches: the name of a link or of an obstacle, or "ground".
        point_world: where [m].
        normal_world: towards the link.
        force_world: on the link [N].
        depth: of penetration, negative while apart [m].
    """

    link: str
    other: str
    point_world: np.ndarray
    normal_world: np.ndarray
    force_world: np.ndarray
    depth: float


@dataclass(frozen=True)
class SolverDiagnostics:
    """Convergence of the impulses.

    Attributes:
        iterations, residual: of the last step; the residual is the largest change of a row's speed in the last sweep
            [m/s or rad/s]; for iterative integrators the largest change of a coordinate's rate in the last iteration,
            as a share of the largest rate.
        iterations_max, residual_max: largest since the last call of `Simulation.clear_diagnostics`.
        unsettled_steps: since then, in which an iteration (of dry friction, fast rotation or the integrator) did not
            converge, or the sweeps ended at their limit.
        contact_count, row_count: of the last step.
    """

    iterations: int
    iterations_max: int
    residual: float
    residual_max: float
    unsettled_steps: int
    contact_count: int
    row_count: int


@dataclass(frozen=True)
class WheelState:
    """A wheel on the ground in the last step; directions are those of the natural ground under it.

    Attributes:
        sinkage: of its rim's lowest point, grousers aside, below the natural ground [m].
        entry_angle, exit_angle: where it meets and leaves the soil, from its lowest point, ahead positive [rad].
        normal_force: across the ground, on the wheel [N].
        thrust: of the soil's shear, ahead [N].
        resistance: of the soil's pressure, backward [N].
        drawbar_pull: thrust less resistance [N].
        torque: that the soil takes from the wheel [N m].
        side_force: to the left [N].
        slip_ratio: (r w - v) / (r w) driving, (r w - v) / v braking; 0 at rest [-].
        slip_angle: of its motion against its heading, to the left positive [rad].
        peak_pressure, peak_shear: greatest stresses [Pa].
    """

    sinkage: float
    entry_angle: float
    exit_angle: float
    normal_force: float
    thrust: float
    resistance: float
    drawbar_pull: float
    torque: float
    side_force: float
    slip_ratio: float
    slip_angle: float
    peak_pressure: float
    peak_shear: float


@dataclass(frozen=True)
class TrackState:
    """A track on the ground in the last step; directions are those of the track's plane.

    Attributes:
        belt_speed: of the belt over its wheels, driving ahead positive [m/s].
        speed, side_speed: of the middle of the track over the ground, ahead and to the left [m/s].
        yaw_rate: [rad/s].
        slip_ratio: (belt speed - speed) over the greater of them; 0 at rest [-].
        slip_angle: of its motion against its heading, to the left positive [rad].
        rotation_centre: ahead and to the left of the track's middle, the point of the belt's lower run that is at rest
            on the ground [m]; NaN while the track does not turn, (2,).
        normal_force: across the shoes, on the track [N].
        thrust: of the shear below the shoes, ahead [N].
        resistance: of the pressure on the shoes, backward [N].
        drawbar_pull: thrust less resistance [N].
        side_force: to the left [N].
        sinkage: greatest depth of a shoe below the natural level [m].
        peak_pressure: greatest pressure on a shoe [Pa].
        tight_tension, slack_tension: of the belt on both sides of the sprocket [N].
        shoes_in_contact: number of shoes; those that touch in part count by that [-].
        jumped_teeth: teeth of the sprocket over which the belt has jumped [-].
        thrown: whether the belt is off its wheels: it passes on no force along the track until a reset.
    """

    belt_speed: float
    speed: float
    side_speed: float
    yaw_rate: float
    slip_ratio: float
    slip_angle: float
    rotation_centre: tuple[float, float]
    normal_force: float
    thrust: float
    resistance: float
    drawbar_pull: float
    side_force: float
    sinkage: float
    peak_pressure: float
    tight_tension: float
    slack_tension: float
    shoes_in_contact: float
    jumped_teeth: float
    thrown: bool


@dataclass(frozen=True)
class BucketLoad:
    """What lies in a bucket: soil, and grains.

    Attributes:
        mass: of the solids [kg].
        centre: of mass, in the frame of the bucket's link [m]; zero of an empty bucket.
        volume: of the soil, loose, and of the grains, without the gaps between them [m3].
        fill_factor: volume over the capacity heaped at 1:1 [-].
        count: number of grains.
    """

    mass: float
    centre: tuple[float, float, float]
    volume: float
    fill_factor: float
    count: int


@dataclass(frozen=True, eq=False)
class DiggingForce:
    """Force of soil on a shovel in the last step, in the pose at its start; zero on rigid ground.

    Attributes:
        separation: of the wedge that is cut off ahead of the plate, by its weight, friction and cohesion [N].
        penetration: of the edge and its teeth, against the way that they point [N].
        bearing: of soil below the back of a bucket [N].
        side: of soil beside the side plates, along the edge to the left [N].
        inertia: of the wedge, by the momentum that soil takes up and by its acceleration, along with separation;
            below zero as the shovel slows down [N].
        force_world: sum of these [N], (3,).
        moment_world: of these about the middle of the cutting edge [N m], (3,).
        depth: greatest of the edge below the ground [m].
        specific_energy: work of separation, inertia and penetration over the undisturbed volume loaded, at the density
            of the first soil, since the accounts of energy were opened [J/m3]; NaN before anything is loaded.
    """

    separation: float
    penetration: float
    bearing: float
    side: float
    inertia: float
    force_world: np.ndarray
    moment_world: np.ndarray
    depth: float
    specific_energy: float


@dataclass(frozen=True)
class SoilBalance:
    """Balance of solid mass of soil [kg].

    Attributes:
        field: above the natural ground; negative where more was dug than lies there.
        carried: in shovels.
        falling: in the air; with what has been cut and is no lump yet.
        lumps: in lumps.
        departed: taken along by machines that were removed, in their shovels or falling from them.
        displaced: in heaps above the natural ground, in shovels, in the air, in lumps and departed.
        heaps: in the heaps of the world at the start.
        residual: sum of field, carried, falling, lumps and departed without the heaps: zero but for rounding.
        relative_residual: residual over displaced, of at least 1 g [-].
    """

    field: float
    carried: float
    falling: float
    lumps: float
    departed: float
    displaced: float
    heaps: float
    residual: float
    relative_residual: float


@dataclass(frozen=True, eq=False)
class TerrainPatch:
    """Soft ground around where wheels, tracks and shovels have been, cell by cell, world frame.

    Attributes:
        cell: spacing [m].
        x, y, z: middle of each cell's surface [m], (cells,).
        sinkage: by which it has been pressed in for good [m].
        rut: depth of the surface below the natural ground, negative where soil is heaped up [m].
        pressure: greatest that it has carried [Pa].
        loose: thickness of loose soil on top [m].
        bearing_margin: of its soil under the machine, 1: it would not sink, 0: by half a radius [-].
    """

    cell: float
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    sinkage: np.ndarray
    rut: np.ndarray
    pressure: np.ndarray
    loose: np.ndarray
    bearing_margin: np.ndarray


@dataclass(frozen=True)
class FlexibleLinkState:
    """A flexible link, in the frame that its elastic axis has without a load: x along it, fixed to its start.

    Attributes:
        tip_deflection_y, tip_deflection_z: of the end of the axis [m].
        tip_twist: of the section there: the part of its turn that is about x [rad], from -pi to pi.
        strain_energy: of the link, or of the springs between its elements [J].
    """

    tip_deflection_y: float
    tip_deflection_z: float
    tip_twist: float
    strain_energy: float


@dataclass(frozen=True)
class Energy:
    """Mechanical energy of the machine [J]; potential is that of gravity, zero at the world's origin.

    The elastic energy of soft contacts is that at the end of the last step.
    """

    kinetic: float
    potential: float
    elastic: float


@dataclass(frozen=True)
class NumericalDamping:
    """Numerical damping of the slowest vibration of an elastic part of the machine.

    Attributes:
        part: name of the compliant joint, loop joint or flexible link.
        frequency: of the undamped vibration [Hz].
        damping_ratio: that the step adds, as a share of the critical damping [-].
    """

    part: str
    frequency: float
    damping_ratio: float


@dataclass(frozen=True, eq=False)
class EnergyBalance:
    """Balance of mechanical energy since the accounts were opened [J].

    Attributes:
        kinetic, potential, elastic: changes of energy.
        actuator_work: done on the machine by each drive and cylinder.
        dissipation: lost in each joint's dry friction, limits and damper, in each elastic joint (its damper, its
            hysteresis and the damping of an implicit step), in each loop joint, in the contacts of each link, in the
            soil under each wheel, and in the ground under each track.
        residual: what the step's own error adds: all work, less the dissipation, less the changes.
    """

    kinetic: float
    potential: float
    elastic: float
    actuator_work: dict[str, float]
    dissipation: dict[str, float]
    residual: float
