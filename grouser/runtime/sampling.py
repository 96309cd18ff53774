"""What the physics thread hands to the publishing thread: plain arrays, copied from the simulation at one step."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from grouser.physics.description.joints import ONE_COORDINATE
from grouser.physics.description.machine import Machine
from grouser.physics.lidar import LidarScan
from grouser.physics.measurements import Contact, TerrainPatch
from grouser.physics.names import NamedView
from grouser.physics.sensors import ImuReading
from grouser.physics.simulation import Simulation
from grouser.runtime.driving import Odometer
from grouser.runtime.simulated import Simulated

CLOCK = "clock"  # a stream of its own: no machine has it
STREAMS = frozenset(
    {
        "joint_states",
        "contact_wrenches",
        "contacts",
        "contact_markers",
        "joint_reactions",
        "hydraulics",
        "flexible",
        "odometry",
        "imu",
        "scan",
        "slip",
        "terrain",
    }
)
FLEXIBLE_VALUES = ("tip_deflection_y", "tip_deflection_z", "tip_twist", "strain_energy")
SLIP_VALUES = ("slip_ratio", "slip_angle", "sinkage", "drawbar_pull")
# Values of `hydraulics/state` and the attributes of the components' states that they are. A flow is that into the
# piston side of a cylinder, side a of a motor and the outlet of a pump; the power of a cylinder is what it takes from
# supplies of constant pressure, that of a motor what it gives the machine, and that of a pump what its shaft takes.
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
_OIL_VALUES = ("temperature",)  # of all of them, behind their own


@dataclass(frozen=True, eq=False)
class Odometry:
    """Where the wheels say that the footprint is.

    Attributes:
        pose: in the odometry frame, x y z qx qy qz qw, shape (7,).
        twist: forward, to the left [m/s], yaw rate [rad/s], shape (3,).
        pose_covariance, twist_covariance: of x, y and yaw, about the axes of the odometry frame and of the footprint,
            shape (3, 3) each.
    """

    pose: np.ndarray
    twist: np.ndarray
    pose_covariance: np.ndarray
    twist_covariance: np.ndarray


@dataclass(frozen=True, eq=False)
class Sample:
    """A machine at one step.

    Attributes:
        nanoseconds: simulation time of the sample.
        streams: names of the streams that are due.
        joints: position, velocity and effort of `movable_joints`, shape (3, number of joints); None when not due.
        link_poses: of every link in the world, and behind them of the elements of flexible links, shape (number of
            links and elements, 7); None when not due.
        contact_wrenches: force and moment on each link with collision shapes, at its origin and in its frame
            [N, N m], shape (number of such links, 6); None when not due.
        joint_reactions: force and moment that each loop and compliant joint exerts on its child, in the joint's frame
            [N, N m], shape (number of such joints, 6); None when not due.
        hydraulics: the values of each of the `hydraulic_groups`; None when not due.
        flexible: `FLEXIBLE_VALUES` of each flexible link; None when not due.
        odometry: when it or `link_poses` is due; None for a machine that is no vehicle.
        base_twist: linear and angular velocity of a floating root link in its own frame [m/s, rad/s], shape (6,);
            None when odometry is not due.
        base_pose: of the root link in the world, shape (7,); None when neither odometry nor `contact_markers` is due.
        imus: readings of the inertial measurement units; None when not due.
        scans: of the lidars; None when not due.
        contacts: those that press, with anything but soil; None when neither of their two streams is due.
        slip: `SLIP_VALUES` of each wheel; None when not due.
        terrain: soft ground; None when not due, or where there is none.
    """

    nanoseconds: int
    streams: frozenset[str]
    joints: np.ndarray | None = None
    link_poses: np.ndarray | None = None
    contact_wrenches: np.ndarray | None = None
    joint_reactions: np.ndarray | None = None
    hydraulics: tuple[np.ndarray, ...] | None = None
    flexible: tuple[np.ndarray, ...] | None = None
    odometry: Odometry | None = None
    base_twist: np.ndarray | None = None
    base_pose: np.ndarray | None = None
    imus: tuple[ImuReading, ...] | None = None
    scans: tuple[LidarScan, ...] | None = None
    contacts: tuple[Contact, ...] | None = None
    slip: tuple[np.ndarray, ...] | None = None
    terrain: TerrainPatch | None = None


@dataclass(frozen=True, eq=False)
class Moment:
    """What there is to publish of one step.

    Attributes:
        nanoseconds: simulation time.
        clock: whether the time is to be published.
        samples: by the names of the machines.
    """

    nanoseconds: int
    clock: bool = False
    samples: Mapping[str, Sample] = field(default_factory=dict)


def rehearse(simulation: Simulation) -> None:
    """Makes a step and takes every sample, then resets: what is not in the cache is compiled now."""
    simulation.step(1)
    for member in [member.name for member in simulation.machine.members] or [""]:
        take_sample(simulation.part(member), 0, STREAMS)
    simulation.energy_balance()
    simulation.reset()


def movable_joints(machine: Machine) -> list[str]:
    """Names of the joints of the URDF that have one coordinate; those between a flexible link's elements are not in it.

    The simulation has them in the same order, before those that it adds.
    """
    return [joint.name for joint in machine.joints if joint.type in ONE_COORDINATE]


def nanoseconds_at(step: int, step_size: float) -> int:
    """Simulation time of a step [ns], rounded once from the exact product: stamps never gather rounding errors."""
    return round(step * Fraction(repr(step_size)) * 1_000_000_000)


def take_sample(
    simulation: Simulated,
    nanoseconds: int,
    streams: frozenset[str],
    odometer: Odometer | None = None,
    terrain_reach: float = math.inf,
) -> Sample:
    """Copies what the streams need.

    Args:
        simulation: where to read.
        nanoseconds: the stamp; the simulation's own time differs from it after a reset.
        streams: names of the streams that are due, of `STREAMS`.
        odometer: of a vehicle.
        terrain_reach: how far from the wheels terrain is copied [m].
    """
    joints = link_poses = wrenches = reactions = hydraulics = flexible = odometry = twist = pose = imus = None
    scans = contacts = slip = terrain = None
    if "joint_states" in streams:
        measured = (simulation.joint_position, simulation.joint_velocity, simulation.joint_effort)
        count = len(movable_joints(simulation.machine))
        joints = np.array([quantity.values()[:count] for quantity in measured])
        link_poses = simulation.link_poses()
    if "contact_wrenches" in streams:
        wrenches = simulation.contact_wrench.values()
    if "joint_reactions" in streams:
        reactions = simulation.joint_reaction.values()
    if "hydraulics" in streams:
        hydraulics = hydraulic_values(simulation)
    if "flexible" in streams:
        flexible = _values(simulation.flexible_link, FLEXIBLE_VALUES)
    if odometer is not None and not streams.isdisjoint({"joint_states", "odometry"}):
        odometry = reckoned(odometer)
    if "odometry" in streams:
        twist = np.concatenate(simulation.base_twist())
    if not streams.isdisjoint({"odometry", "contact_markers"}):
        pose = np.concatenate(simulation.base_pose())
    if "imu" in streams:
        imus = tuple(simulation.imu.values())
    if "scan" in streams:
        scans = tuple(simulation.lidar.values())
    if not streams.isdisjoint({"contacts", "contact_markers"}):
        contacts = tuple(contact for contact in simulation.contacts() if contact.force_world.any())
    if "slip" in streams:
        slip = _values(simulation.wheel, SLIP_VALUES)
    if "terrain" in streams:
        terrain = simulation.terrain_patch(terrain_reach)
    return Sample(
        nanoseconds,
        streams,
        joints,
        link_poses,
        wrenches,
        reactions,
        hydraulics,
        flexible,
        odometry,
        twist,
        pose,
        imus,
        scans,
        contacts,
        slip,
        terrain,
    )


def _values(view: NamedView, attributes: Sequence[str]) -> tuple[np.ndarray, ...]:
    """Some attributes of each state in a view."""
    return tuple(np.array([getattr(state, attribute) for attribute in attributes]) for state in view.values())


def reckoned(odometer: Odometer) -> Odometry:
    """What an odometer says now."""
    odometer.read()
    reckoning = odometer.reckoning
    x, y, yaw = reckoning.pose
    pose = np.array([x, y, odometer.height, 0.0, 0.0, np.sin(0.5 * yaw), np.cos(0.5 * yaw)])
    return Odometry(pose, reckoning.twist, reckoning.covariance, reckoning.twist_covariance)


def hydraulic_groups(machine: Machine) -> list[tuple[str, tuple[str, ...]]]:
    """Names of the cylinders, hydraulic motors and displacement pumps, each with the names of its values."""
    return [
        *((cylinder.name, (*_CYLINDER_VALUES, *_OIL_VALUES)) for cylinder in machine.cylinders),
        *((motor.name, (*_MOTOR_VALUES, *_OIL_VALUES)) for motor in machine.hydraulic_motors),
        *((pump.name, (*_PUMP_VALUES, *_OIL_VALUES)) for pump in machine.pumps if pump.displacement is not None),
    ]


def hydraulic_values(simulation: Simulated) -> tuple[np.ndarray, ...]:
    """The values of each of the `hydraulic_groups`."""
    measured = (
        (simulation.cylinder, _CYLINDER_VALUES),
        (simulation.hydraulic_motor, _MOTOR_VALUES),
        (simulation.pump, _PUMP_VALUES),
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
