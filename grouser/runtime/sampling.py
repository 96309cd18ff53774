"""Samplers of the streams: plain arrays, copied from the simulation at one step."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ONE_COORDINATE, axis_name
from grouser.physics.description.data.sensors import StrainGauge
from grouser.physics.description.elements.hydraulics.circuit import circuit_lines, flow_ports
from grouser.physics.readings.measurements import Contact, TerrainPatch
from grouser.physics.simulation.named_view import NamedView

if TYPE_CHECKING:
    from grouser.physics.simulation.view import MachineView
    from grouser.runtime.driving import Odometer

FLEXIBLE_VALUES = ("tip_deflection_y", "tip_deflection_z", "tip_twist", "strain_energy")
SLIP_VALUES = ("slip_ratio", "slip_angle", "sinkage", "drawbar_pull")
TRACK_VALUES = (
    *(*SLIP_VALUES, "tight_tension", "slack_tension", "jumped_teeth", "thrown"),
    *("rotation_centre_x", "rotation_centre_y"),
)
# Farthest centre of rotation that is published [m].
FARTHEST_CENTRE = 1000.0
# Values of `hydraulics/state` and the attributes of the components' states that hold them. Flow is positive into the
# piston side of a cylinder, into side a of a motor and out of a pump. Power is taken from supplies of constant pressure
# by a cylinder, given to the machine by a motor, and taken from the shaft by a pump.
_CYLINDER_VALUES = {
    "pressure_piston_side": "pressure_piston_side",
    "pressure_rod_side": "pressure_rod_side",
    "flow": "flow_piston_side",
    "spool_position": "spool_position",
    "force": "force",
    "power": "power",
}
_MOTOR_VALUES = {
    "pressure_a": "pressure_a",
    "pressure_b": "pressure_b",
    "flow": "flow_a",
    "spool_position": "spool_position",
    "torque": "torque",
    "speed": "velocity",
    "power": "power",
}
_PUMP_VALUES = {"swash": "swash", "flow": "flow", "pressure": "pressure", "power": "shaft_power"}
_OIL_VALUES = ("temperature",)  # appended to the values of every component
# Values of each point of soft ground [m, Pa].
# Of what lies in a bucket: mass [kg], centre in the frame of its link [m], volume [m3], over its heaped capacity [-].
BUCKET_VALUES = ("mass", "centre_x", "centre_y", "centre_z", "volume", "fill_factor")
# Of the force of soil on a shovel: parts [N], their sum [N] and its moment about the middle of the cutting edge [N m]
# in the world, depth of the edge [m], energy by volume loaded [J/m3].
DIGGING_VALUES = (
    *("separation", "penetration", "bearing", "side", "inertia"),
    *("force_x", "force_y", "force_z", "moment_x", "moment_y", "moment_z"),
    *("depth", "specific_energy"),
)
# Of soil in the air: middle of a lot, from there to its left end [m], and mass [kg].
FALLING_VALUES = ("x", "y", "z", "half_x", "half_y", "mass")
# Values of each grain: centre and radius [m], speed [m/s], number of its material, normal forces on it [N].
GRAIN_VALUES = ("x", "y", "z", "radius", "speed", "material", "force")
TERRAIN_VALUES = ("x", "y", "z", "sinkage", "rut", "pressure", "loose")
# A rut of this depth [m] costs as much as an obstacle on the map of ruts.
DEEPEST_RUT = 0.2


@dataclass(frozen=True, eq=False)
class Odometry:
    """A pose with a twist.

    Attributes:
        pose: x y z qx qy qz qw, shape (7,).
        twist: linear and angular velocity in the moving frame [m/s, rad/s], shape (6,).
        pose_covariance, twist_covariance: of x, y and yaw, in the axes of the fixed and of the moving frame,
            shape (3, 3) each; None for the ground truth.
    """

    pose: np.ndarray
    twist: np.ndarray
    pose_covariance: np.ndarray | None = None
    twist_covariance: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class LinkPoses:
    """Poses of the links.

    Attributes:
        poses: of every link in the world, followed by the elements of flexible links, shape (number of links and
            elements, 7).
        reckoned: pose of the footprint in the odometry frame, shape (7,); None for a machine without wheels.
    """

    poses: np.ndarray
    reckoned: np.ndarray | None


@dataclass(frozen=True, eq=False)
class ContactScene:
    """Contacts in the world, and the pose of the root link there, shape (7,)."""

    contacts: tuple[Contact, ...]
    root_pose: np.ndarray


@dataclass(frozen=True, eq=False)
class Belts:
    """The belts of the tracks.

    Attributes:
        positions: of the joints of the sprockets, (tracks,) [rad].
        poses: of every link in the world, (links, 7).
    """

    positions: np.ndarray
    poses: np.ndarray


@dataclass(frozen=True, eq=False)
class CostGrid:
    """Costs of soft ground.

    Attributes:
        patch: the ground.
        costs: from 0 to 1 for each of its cells, shape (number of cells,).
        machine: x and y of the machine's root link [m], (2,).
    """

    patch: TerrainPatch
    costs: np.ndarray
    machine: np.ndarray


@dataclass(frozen=True, eq=False)
class Sample:
    """A robot at one step.

    Attributes:
        nanoseconds: simulation time of the sample.
        values: topic of each stream that is due -> result of its sampler.
    """

    nanoseconds: int
    values: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class ObjectPoses:
    """Poses of the plain objects at one step.

    Attributes:
        names: of the objects; the same tuple as long as the objects are the same.
        poses: x y z qx qy qz qw of their root links in the world, shape (number of objects, 7).
    """

    names: tuple[str, ...]
    poses: np.ndarray


@dataclass(frozen=True, eq=False)
class BlockScene:
    """The deformable blocks of a world at one step.

    Attributes:
        names: of the blocks.
        triangles: of their surfaces, from their centres in their axes, (k, 3, 3) each [m].
        poses: x y z qx qy qz qw of these axes in the world, (blocks, 7).
    """

    names: tuple[str, ...]
    triangles: tuple[np.ndarray, ...]
    poses: np.ndarray


@dataclass(frozen=True, eq=False)
class Moment:
    """Data of one step to publish.

    Attributes:
        nanoseconds: simulation time.
        clock: whether the time is to be published.
        samples: by the names of the robots.
        objects: poses of the plain objects; None: not due.
    """

    nanoseconds: int
    clock: bool = False
    samples: Mapping[str, Sample] = field(default_factory=dict)
    objects: ObjectPoses | None = None


@dataclass(frozen=True)
class Limits:
    """How much of the ground and of grains is sampled.

    Attributes:
        terrain_reach: how far from the wheels terrain is copied [m].
        grains: number of grains at most, of more every second, third or so on.
    """

    terrain_reach: float = math.inf
    grains: int = 10_000


ALL = Limits()


class Reading:
    """A robot at one step. Quantities that several samplers need are computed once.

    Args:
        simulation: to read from.
        odometer: of a vehicle; None for a machine without wheels.
        limits: of what is sampled.
    """

    def __init__(self, simulation: "MachineView", odometer: "Odometer | None", limits: Limits) -> None:
        self.simulation = simulation
        self.limits = limits
        self._odometer = odometer

    @cached_property
    def odometry(self) -> Odometry | None:
        """Dead reckoning of the footprint in the odometry frame; None for a machine without wheels."""
        if self._odometer is None:
            return None
        self._odometer.read()
        reckoning = self._odometer.reckoning
        x, y, yaw = reckoning.pose
        forward, left, turning = reckoning.twist
        return Odometry(
            np.array([x, y, self._odometer.height, 0.0, 0.0, np.sin(0.5 * yaw), np.cos(0.5 * yaw)]),
            np.array([forward, left, 0.0, 0.0, 0.0, turning]),
            reckoning.covariance,
            reckoning.twist_covariance,
        )

    @cached_property
    def root_pose(self) -> np.ndarray:
        """Pose of the root link in the world, shape (7,)."""
        return np.concatenate(self.simulation.base_pose())

    @cached_property
    def contacts(self) -> tuple[Contact, ...]:
        """Contacts that carry a force, soil excluded."""
        return tuple(contact for contact in self.simulation.contacts() if contact.force_world.any())

    @cached_property
    def terrain(self) -> TerrainPatch | None:
        """Soft ground; None on rigid ground."""
        return self.simulation.terrain_patch(self.limits.terrain_reach)


def sample_joints(reading: Reading) -> np.ndarray:
    """Position, velocity and effort of each of the `joint_axes`, shape (3, number of axes).

    A ball joint's positions are the rotation vector that turns the joint's frame into the child's: the axis times an
    angle of at most pi [rad]. Its rates and torques are those of the child against the parent, along the child's axes.
    """
    simulation = reading.simulation
    measured = (simulation.joint_position, simulation.joint_velocity, simulation.joint_effort)
    count = len(_single_joints(simulation.machine))
    balls = [simulation.spherical_joint[joint] for joint in _ball_joints(simulation.machine)]
    return np.hstack(
        [
            np.array([quantity.values()[:count] for quantity in measured]),
            *([_rotation_vector(ball.orientation), ball.angular_velocity, ball.torque] for ball in balls),
        ]
    )


def sample_link_poses(reading: Reading) -> LinkPoses:
    """Poses of the links in the world."""
    odometry = reading.odometry
    return LinkPoses(reading.simulation.link_poses(), None if odometry is None else odometry.pose)


def sample_contact_wrenches(reading: Reading) -> np.ndarray:
    """Force and moment on each link with collision shapes, at its origin, in its frame [N, N m], shape (links, 6)."""
    return reading.simulation.contact_wrench.values()


def sample_obstacle_wrenches(reading: Reading) -> np.ndarray:
    """The part of the contact wrenches that obstacles and other machines exert [N, N m], shape (links, 6)."""
    return reading.simulation.obstacle_wrench.values()


def sample_contacts(reading: Reading) -> tuple[Contact, ...]:
    """Contacts that carry a force, soil excluded."""
    return reading.contacts


def sample_contact_scene(reading: Reading) -> ContactScene:
    """Contacts that carry a force, with the pose of the root link."""
    return ContactScene(reading.contacts, reading.root_pose)


def sample_belts(reading: Reading) -> Belts:
    """The turn of the sprockets, with the poses of the links."""
    simulation = reading.simulation
    turned = [simulation.joint_position[track.sprocket] for track in simulation.machine.tracks]
    return Belts(np.array(turned), simulation.link_poses())


def sample_joint_reactions(reading: Reading) -> np.ndarray:
    """Force and moment of each loop and compliant joint on its child, in the joint's frame, shape (joints, 6)."""
    return reading.simulation.joint_reaction.values()


def sample_hydraulics(reading: Reading) -> tuple[np.ndarray, ...]:
    """The values of each of the `hydraulic_groups`."""
    simulation = reading.simulation
    measured = (
        (simulation.cylinder, _CYLINDER_VALUES),
        (simulation.circuit.hydraulic_motor, _MOTOR_VALUES),
        (simulation.circuit.pump, _PUMP_VALUES),
    )
    fluid = simulation.machine.fluid
    return tuple(
        np.array(
            [
                *(getattr(state, attribute) for attribute in attributes.values()),
                *(getattr(fluid, value) for value in _OIL_VALUES),
            ]
        )
        for view, attributes in measured
        for state in view.values()
    )


def sample_circuit(reading: Reading) -> tuple[np.ndarray, ...]:
    """The values of each of the `circuit_groups`."""
    circuit = reading.simulation.circuit
    by_line = [dict(zip(view.names, view.values(), strict=True)) for view in (circuit.line_pressure, circuit.line_flow)]
    return (
        *(np.array([values[line] for line in circuit.lines]) for values in by_line),
        *(np.array(view.values()) for view in (circuit.port_flow, circuit.spool_position)),
    )


def bucket_groups(machine: Machine) -> list[tuple[str, tuple[str, ...]]]:
    """Shovels with a profile, each with the names of its values, `BUCKET_VALUES`."""
    return [(shovel.name, BUCKET_VALUES) for shovel in machine.shovels if shovel.profile]


def sample_bucket_loads(reading: Reading) -> tuple[np.ndarray, ...]:
    """The values of `bucket_groups` of each bucket."""
    loads = [reading.simulation.bucket_load(name) for name, _ in bucket_groups(reading.simulation.machine)]
    return tuple(np.array([load.mass, *load.centre, load.volume, load.fill_factor]) for load in loads)


def digging_groups(machine: Machine) -> list[tuple[str, tuple[str, ...]]]:
    """Shovels, each with the names of its values, `DIGGING_VALUES`."""
    return [(shovel.name, DIGGING_VALUES) for shovel in machine.shovels]


def sample_digging_forces(reading: Reading) -> tuple[np.ndarray, ...]:
    """The values of `digging_groups` of each shovel; a specific energy of 0 before anything is loaded."""
    forces = [reading.simulation.digging_force(name) for name, _ in digging_groups(reading.simulation.machine)]
    return tuple(
        np.array(
            [
                *(force.separation, force.penetration, force.bearing, force.side, force.inertia),
                *(*force.force_world, *force.moment_world, force.depth, np.nan_to_num(force.specific_energy)),
            ]
        )
        for force in forces
    )


def sample_falling_soil(reading: Reading) -> dict[str, np.ndarray]:
    """`FALLING_VALUES` of each lot of soil that left the robot's shovels and has not landed."""
    return dict(zip(FALLING_VALUES, reading.simulation.falling_soil().T, strict=True))


def flexible_groups(machine: Machine) -> list[tuple[str, tuple[str, ...]]]:
    """Flexible links, each with the names of its values: `FLEXIBLE_VALUES` and the strains of its gauges."""
    return [
        (flexible.link, (*FLEXIBLE_VALUES, *(f"strain/{gauge.name}" for gauge in _gauges(machine, flexible.link))))
        for flexible in machine.flexible_links
    ]


def sample_flexible_links(reading: Reading) -> tuple[np.ndarray, ...]:
    """The values of `flexible_groups` of each flexible link."""
    simulation = reading.simulation
    return tuple(
        np.append(values, [simulation.sensors.strain_gauge[gauge.name] for gauge in _gauges(simulation.machine, link)])
        for link, values in zip(
            simulation.flexible_link, _values(simulation.flexible_link, FLEXIBLE_VALUES), strict=True
        )
    )


def _gauges(machine: Machine, link: str) -> list[StrainGauge]:
    return [gauge for gauge in machine.strain_gauges if gauge.link == link]


def sample_odometry(reading: Reading) -> Odometry | None:
    """Dead reckoning of the footprint; None for a machine without wheels."""
    return reading.odometry


def sample_ground_truth(reading: Reading) -> Odometry:
    """Pose of a floating root link in the world, and its twist in its own frame."""
    return Odometry(reading.root_pose, np.concatenate(reading.simulation.base_twist()))


def sample_imus(reading: Reading) -> tuple[Any, ...]:
    """Readings of the inertial measurement units."""
    return tuple(reading.simulation.sensors.imu.values())


def sample_lidars(reading: Reading) -> tuple[Any, ...]:
    """Scans of the lidars."""
    return tuple(reading.simulation.sensors.lidar.values())


def sample_lidars_3d(reading: Reading) -> tuple[Any, ...]:
    """Sweeps of the lidars with several channels."""
    return tuple(reading.simulation.sensors.lidar_3d.values())


def sample_depth_cameras(reading: Reading) -> tuple[Any, ...]:
    """Images of the depth cameras."""
    return tuple(reading.simulation.sensors.depth_camera.values())


def sample_camera_infos(reading: Reading) -> tuple[None, ...]:
    """Nothing for each depth camera: its figures do not change."""
    return (None,) * len(reading.simulation.sensors.depth_camera)


def sample_fixes(reading: Reading) -> tuple[Any, ...]:
    """Positions of the receivers of satellite navigation."""
    return tuple(reading.simulation.sensors.gnss_receiver.values())


def sample_force_torque_sensors(reading: Reading) -> tuple[np.ndarray, ...]:
    """Force and moment of each force-torque sensor, at its frame's origin, in its frame [N, N m], shape (6,) each."""
    return tuple(reading.simulation.sensors.force_torque_sensor.values())


def sample_slip(reading: Reading) -> tuple[np.ndarray, ...]:
    """`SLIP_VALUES` of each wheel, `TRACK_VALUES` of each track."""
    tracks = (
        np.array([*(getattr(state, value) for value in TRACK_VALUES[:-2]), *_finite_centre(state.rotation_centre)])
        for state in reading.simulation.track.values()
    )
    return (*_values(reading.simulation.wheel, SLIP_VALUES), *tracks)


def _finite_centre(centre: tuple[float, float]) -> np.ndarray:
    """A centre of rotation within `FARTHEST_CENTRE` in each direction, which stands for farther ones and for none."""
    return np.clip(np.nan_to_num(np.array(centre), nan=FARTHEST_CENTRE), -FARTHEST_CENTRE, FARTHEST_CENTRE)


def slip_groups(machine: Machine) -> list[tuple[str, Sequence[str]]]:
    """Wheels and tracks of a machine with the names of their values."""
    wheels = [(wheel.link, SLIP_VALUES) for wheel in machine.wheels]
    return [*wheels, *((track.name, TRACK_VALUES) for track in machine.tracks)]


def sample_terrain(reading: Reading) -> Mapping[str, np.ndarray] | None:
    """`TERRAIN_VALUES` of each cell of soft ground."""
    return None if reading.terrain is None else terrain_points(reading.terrain)


def sample_rut_depth(reading: Reading) -> CostGrid | None:
    """Ruts as costs."""
    return None if reading.terrain is None else rut_costs(reading.terrain, reading.root_pose[:2])


def sample_bearing_margin(reading: Reading) -> CostGrid | None:
    """Used bearing strength as costs."""
    return None if reading.terrain is None else bearing_costs(reading.terrain, reading.root_pose[:2])


def sample_grains(reading: Reading) -> dict[str, np.ndarray]:
    """`GRAIN_VALUES` of each grain, or of as many as the limit says: those whose numbers are multiples of another."""
    grains = reading.simulation.grains
    state = grains.columns()
    every = -(-len(state["ident"]) // max(reading.limits.grains, 1))
    chosen = state.pop("ident") % max(every, 1) == 0
    return {name: values[chosen] for name, values in state.items()}


def sample_blocks(reading: Reading) -> BlockScene:
    """The blocks of the world."""
    blocks = reading.simulation.blocks
    return BlockScene(blocks.names, blocks.triangles, np.hstack([blocks.position, blocks.quaternion]))


def terrain_points(patch: TerrainPatch) -> dict[str, np.ndarray]:
    """`TERRAIN_VALUES` of each cell of a patch."""
    return {name: getattr(patch, name) for name in TERRAIN_VALUES}


def rut_costs(patch: TerrainPatch, machine: np.ndarray) -> CostGrid:
    """Ruts as costs: 0 for none, 1 from a depth of `DEEPEST_RUT` on."""
    return CostGrid(patch, np.clip(patch.rut / DEEPEST_RUT, 0.0, 1.0), machine)


def bearing_costs(patch: TerrainPatch, machine: np.ndarray) -> CostGrid:
    """Used bearing strength of the soil as costs: 0 for none, 1 where no margin is left."""
    return CostGrid(patch, np.clip(1.0 - patch.bearing_margin, 0.0, 1.0), machine)


def joint_axes(machine: Machine) -> list[str]:
    """Names in `joint_states`: the URDF's joints with one coordinate, then the three axes of each ball joint.

    Joints between elements of flexible links are left out.
    """
    return [*_single_joints(machine), *(axis_name(joint, axis) for joint in _ball_joints(machine) for axis in "xyz")]


def _single_joints(machine: Machine) -> list[str]:
    """Joints with one coordinate. The simulation has them in the same order, before the joints that it adds."""
    return [joint.name for joint in machine.joints if joint.type in ONE_COORDINATE]


def _ball_joints(machine: Machine) -> list[str]:
    return [joint.name for joint in machine.joints if joint.type == "spherical"]


def nanoseconds_at(step: int, step_size: float) -> int:
    """Simulation time of a step [ns], rounded once from the exact product: rounding errors do not accumulate."""
    return round(step * Fraction(repr(step_size)) * 1_000_000_000)


def hydraulic_groups(machine: Machine) -> list[tuple[str, tuple[str, ...]]]:
    """Names of the cylinders, hydraulic motors and displacement pumps, each with the names of its values."""
    return [
        *((cylinder.name, (*_CYLINDER_VALUES, *_OIL_VALUES)) for cylinder in machine.cylinders),
        *((motor.name, (*_MOTOR_VALUES, *_OIL_VALUES)) for motor in machine.hydraulic_motors),
        *((pump.name, (*_PUMP_VALUES, *_OIL_VALUES)) for pump in machine.pumps if pump.displacement is not None),
    ]


def circuit_groups(machine: Machine) -> list[tuple[str, tuple[str, ...]]]:
    """Pressures and flows of the lines of a circuit, flows into the ports of its elements, positions of its spools."""
    lines = circuit_lines(machine)
    return [
        ("pressure", lines),
        ("flow", lines),
        ("port_flow", tuple(port.name for port in flow_ports(machine))),
        ("spool_position", tuple(valve.name for valve in machine.valves)),
    ]


def _values(view: NamedView, attributes: Sequence[str]) -> tuple[np.ndarray, ...]:
    """Some attributes of each state in a view."""
    return tuple(np.array([getattr(state, attribute) for attribute in attributes]) for state in view.values())


def _rotation_vector(quaternion: np.ndarray) -> np.ndarray:
    """Rotation vector of a unit quaternion (x, y, z, w) [rad], of length at most pi, shape (3,)."""
    x, y, z, w = (quaternion if quaternion[3] >= 0.0 else -quaternion).tolist()
    sine = math.sqrt(x * x + y * y + z * z)
    # the angle over the sine of its half, by its series where the sine is small
    scale = 2.0 * math.atan2(sine, w) / sine if sine > 1e-4 else 2.0 / w * (1.0 - sine * sine / (3.0 * w * w))
    return scale * np.array([x, y, z])
