"""A whole machine, and the members of a fleet: frozen dataclasses, filled from URDF and its ``<grouser>`` element.

Units are SI; every frame is named. Nothing here computes dynamics. Arrays that a dataclass holds are read-only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from grouser.physics.base.checks import require_type
from grouser.physics.description.data.compliance import CompliantJoint, FlexibleLink, LoopJoint
from grouser.physics.description.data.contact import ContactMaterial, DisabledCollision, MaterialPair, SelfCollision
from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.hydraulics import (
    Accumulator,
    CheckValve,
    Compensator,
    CounterbalanceValve,
    DirectionalValve,
    Fluid,
    Hose,
    HydraulicCylinder,
    HydraulicMotor,
    Line,
    Orifice,
    Pump,
    ReducingValve,
    ReliefValve,
    ShuttleValve,
    Tank,
)
from grouser.physics.description.data.mechanism import (
    InitialPosition,
    Integrator,
    Joint,
    JointFriction,
    Link,
    SphericalJoint,
)
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.sensors import (
    DepthCamera,
    ForceTorqueSensor,
    GnssReceiver,
    Imu,
    Lidar,
    Lidar3d,
    Sensor,
    StrainGauge,
)
from grouser.physics.description.data.shovel import Shovel
from grouser.physics.description.data.soil import Wheel
from grouser.physics.description.data.track import Track, TrackWheel
from grouser.physics.description.data.world import require_place

# Reads a changed description; the reader makes machines, so it is imported on first use.
_CHANGING = "grouser.physics.description.machine_file.changing"


def member_prefix(member: str) -> str:
    """Returns the prefix of all names of a member; "" for the member "", which keeps its names."""
    return f"{member}/" if member else ""


def require_machine(name: str, value: object) -> "Machine":
    """Refuses what is no machine."""
    return require_type(name, value, Machine, "a Machine; `grouser.load_machine` loads one from a file")


@dataclass(frozen=True)
class Member:
    """A machine of a fleet; see `fleet.combine`.

    Attributes:
        machine: with its own names, without prefix.
        pose: initial pose of its root link in the world; constant if its base is fixed. None: the world's spawn pose.
        name: of the member; its names get the prefix ``<name>/`` in the fleet. "" for the one that keeps its names.
    """

    machine: "Machine"
    pose: Pose | None = None
    name: str = ""

    def __post_init__(self) -> None:
        require_machine("machine of a member", self.machine)
        if self.pose is not None:
            require_place("pose of a member", self.pose)

    @property
    def prefix(self) -> str:
        """Prefix of its names."""
        return member_prefix(self.name)

    @property
    def joint(self) -> str:
        """Name of the joint that holds its root link."""
        return f"{self.prefix}{self.machine.root}_{'free' if self.machine.floating_base else 'fixed'}"


@dataclass(frozen=True, repr=False)
class Machine:
    """A whole machine, validated.

    Attributes:
        links: in the order of the file.
        joints: in the order of the file.
        root: name of the root link.
        floating_base: whether the root link is free to move; a root link named ``world`` is not.
        others: elements whose row of the table names no field here, each with the name that it gives; see `elements`.
        urdf: the expanded URDF text, for RViz and robot_state_publisher.
        source: the text that was read, with xacro expanded.
        file: path of the file.
        arguments: arguments of its xacro file -> default; None for one whose value was given.
        packages: folders of ROS packages by name, as they were given for its file names.
        warnings: valid but implausible values, as texts.
        members: the machines of a fleet; empty for a single machine.
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
    tracks: tuple[Track, ...] = ()
    track_wheels: tuple[TrackWheel, ...] = ()
    shovels: tuple[Shovel, ...] = ()
    spherical_joints: tuple[SphericalJoint, ...] = ()
    integrator: Integrator = Integrator("semi_implicit")
    frictions: tuple[JointFriction, ...] = ()
    drives: tuple[ServoDrive, ...] = ()
    sensors: tuple[Imu | Lidar, ...] = ()
    lidars_3d: tuple[Lidar3d, ...] = ()
    depth_cameras: tuple[DepthCamera, ...] = ()
    gnss_receivers: tuple[GnssReceiver, ...] = ()
    force_torque_sensors: tuple[ForceTorqueSensor, ...] = ()
    strain_gauges: tuple[StrainGauge, ...] = ()
    initial_positions: tuple[InitialPosition, ...] = ()
    others: tuple[tuple[str, Any], ...] = ()
    urdf: str = field(default="", repr=False)
    source: str = field(default="", repr=False)
    file: str = ""
    arguments: Mapping[str, str | None] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()

    def elements(self, field: str) -> tuple[Any, ...]:
        """Returns the elements that a row of the table collects under a name, in the order of the file."""
        found = getattr(self, field, None)
        if found is None:
            return tuple(element for name, element in self.others if name == field)
        return found if isinstance(found, tuple) else (found,)

    def replace(self, changes: Mapping[str, object]) -> "Machine":
        """Returns a machine with other values in its description, which is read again with all its checks.

        Args:
            changes: values by path: the tag of an element, its name (or that of its link or joint), the tags of the
                elements in it, and an attribute, with dots between: ``cylinder.boom.bore``,
                ``joint_friction.wheel_joint.kinetic``, ``fluid.bulk_modulus``, ``link.bucket.inertial.mass.value``,
                ``joint.boom.origin.xyz``. Of several elements of one tag ``visual.0`` is the first. Numbers are in
                the units of docs/urdf_extension.md.

        Raises:
            ParameterError: a path that leads to nothing, a value that no attribute can have, or a fleet.
            MachineError: the changed description is not valid.
        """
        return import_module(_CHANGING).changed(self, changes)

    def __repr__(self) -> str:
        parts = {"links": self.links, "joints": self.joints, "valves": self.valves, "cylinders": self.cylinders}
        parts |= {"hydraulic motors": self.hydraulic_motors, "drives": self.drives, "wheels": self.wheels}
        parts |= {"tracks": self.tracks, "sensors": self.every_sensor, "members": self.members}
        counts = [f"{len(own)} {name if len(own) > 1 else name[:-1]}" for name, own in parts.items() if own]
        return f"<Machine '{self.name}': {', '.join(counts)}>"

    @property
    def every_sensor(self) -> tuple[Sensor, ...]:
        """Sensors of all types with a frame; strain gauges have none."""
        return (
            *self.sensors,
            *self.lidars_3d,
            *self.depth_cameras,
            *self.gnss_receivers,
            *self.force_torque_sensors,
        )

    def carrier(self, sensor: Sensor) -> str:
        """Returns the link that carries the frame of a sensor."""
        if isinstance(sensor, ForceTorqueSensor):
            return next(joint.child for joint in self.joints if joint.name == sensor.joint)
        return sensor.link

    def member_of(self, name: str) -> int:
        """Returns the index of the member that a name belongs to; 0 for a single machine, -1 if it belongs to none."""
        if not self.members:
            return 0
        slash = name.find("/")
        while slash >= 0:
            number = self._member_numbers.get(name[:slash])
            if number is not None:
                return number
            slash = name.find("/", slash + 1)
        return self._member_numbers.get("", -1) if name else -1

    @property
    def base(self) -> str:
        """ "floating" or "fixed", as of `load_machine`."""
        return "floating" if self.floating_base else "fixed"

    def joint_label(self, joint: str) -> str:
        """Returns how messages name a joint: `<joint name="…">`, or what it belongs to if it is in no file."""
        root = self._free_roots.get(joint)
        return f'<joint name="{joint}">' if root is None else f'<link name="{root}">, the base, which is free to move'

    def joint_title(self, joint: str) -> str:
        """Returns a joint's name, or in words what it is if it is in no file."""
        return self.joint_label(joint) if joint in self._free_roots else joint

    @cached_property
    def _free_roots(self) -> dict[str, str]:
        """Root link of each member with a free base, by the name of the joint that grouser adds there."""
        members = [member for member in self.members or (Member(self),) if member.machine.floating_base]
        return {member.joint: f"{member.prefix}{member.machine.root}" for member in members}

    @cached_property
    def _member_numbers(self) -> dict[str, int]:
        """Index of each member by its name."""
        return {member.name: number for number, member in enumerate(self.members)}
