"""The member of a fleet that each element of a simulation belongs to, and the elements that a view shows.

The names give the member when a simulation is made (`Machine.member_of`); afterwards indices are used.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Generic, TypeVar

import numpy as np

from grouser.physics.contact.shapes import Shapes
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.sensors import Sensor
from grouser.physics.description.elements.hydraulics.circuit import PORTS
from grouser.physics.hydraulics.faults import OIL, Fault
from grouser.physics.model.names import Names

# Types of sensors, each with a field of `Elements`.
SENSORS = ("imu", "lidar", "lidar_3d", "depth_camera", "gnss_receiver", "force_torque_sensor")
# Those of them that cast rays.
RAYS = ("lidar", "lidar_3d", "depth_camera")
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Elements(Generic[T]):
    """One value for each kind of element: names, members, or indices.

    Attributes:
        link, body, joint, spherical_joint, loop_joint, compliant_joint, flexible_link: of the mechanism; joints are
            those with one coordinate.
        shape: collision shapes; those of obstacles have no name and no member.
        wheel, track, shovel, drive: as in the description.
        imu, lidar, lidar_3d, depth_camera, gnss_receiver, force_torque_sensor, strain_gauge: sensors by their type.
        valve, cylinder, hydraulic_motor, line: of the hydraulic circuit.
        pump: displacement pumps.
        fault: by component; that of the oil, which members share, has no name and no member.
    """

    link: T
    body: T
    joint: T
    spherical_joint: T
    loop_joint: T
    compliant_joint: T
    flexible_link: T
    shape: T
    wheel: T
    track: T
    shovel: T
    imu: T
    lidar: T
    lidar_3d: T
    depth_camera: T
    gnss_receiver: T
    force_torque_sensor: T
    strain_gauge: T
    drive: T
    valve: T
    cylinder: T
    hydraulic_motor: T
    line: T
    pump: T
    fault: T

    def map(self, function: Callable[[T], U]) -> "Elements[U]":
        """Applies a function to the value of each kind."""
        return Elements(*[function(getattr(self, field.name)) for field in fields(self)])


@dataclass(frozen=True)
class Selection:
    """The elements that a view shows.

    Attributes:
        name: of the member; "" for all that there is.
        machine: its description, under its own names.
        prefix: beginning of its names in the simulation, omitted in the view.
        members: numbers of the members in it.
        base: body of its free base, -1 for a fixed one.
        own: indices of its elements in the simulation.
        names: their own names, in the same order.
    """

    name: str
    machine: Machine
    prefix: str
    members: tuple[int, ...]
    base: int
    own: Elements[np.ndarray]
    names: Elements[tuple[str, ...]]


def element_names(
    machine: Machine, divided: Machine, names: Names, shapes: Shapes, lines: tuple[str, ...], faults: tuple[Fault, ...]
) -> Elements[tuple[str, ...]]:
    """Names of all elements of a simulation.

    Args:
        machine: as described.
        divided: with its flexible links divided into elements.
        names: of the multibody system.
        shapes: that collide.
        lines: of the hydraulic circuit.
        faults: that its components can have.
    """
    return Elements(
        link=names.links,
        body=names.body_joint,
        joint=tuple(names.joints),
        spherical_joint=tuple(names.body_joint[first.body] for first in list(names.axes.values())[::3]),
        loop_joint=tuple(joint.name for joint in divided.loop_joints),
        compliant_joint=tuple(joint.joint for joint in machine.compliant_joints),
        flexible_link=tuple(link.link for link in machine.flexible_links),
        shape=tuple(names.links[link] if link >= 0 else "" for link in shapes.link),
        wheel=tuple(wheel.link for wheel in machine.wheels),
        track=tuple(track.name for track in machine.tracks),
        shovel=tuple(shovel.name for shovel in machine.shovels),
        **{kind: tuple(sensor.name for sensor in sensors_of(machine, kind)) for kind in SENSORS},
        strain_gauge=tuple(gauge.name for gauge in machine.strain_gauges),
        drive=tuple(drive.joint for drive in machine.drives),
        valve=tuple(valve.name for valve in machine.valves),
        cylinder=tuple(cylinder.name for cylinder in machine.cylinders),
        hydraulic_motor=tuple(motor.name for motor in machine.hydraulic_motors),
        line=lines,
        pump=tuple(pump.name for pump in machine.pumps if pump.displacement is not None),
        fault=tuple("" if fault.component == OIL else fault.component for fault in faults),
    )


def sensors_of(machine: Machine, kind: str) -> tuple[Sensor, ...]:
    """The sensors of a type, in the order of their indices."""
    return tuple(sensor for sensor in machine.every_sensor if sensor.type == kind)


def membership_of(machine: Machine, names: Elements[tuple[str, ...]]) -> Elements[np.ndarray]:
    """Number of the member that each element belongs to, 0 in a machine by itself; -1 for none."""

    def members(own: tuple[str, ...]) -> np.ndarray:
        return np.array([machine.member_of(name) if name else -1 for name in own], dtype=np.int64)

    return names.map(members)


def select_all(machine: Machine, names: Elements[tuple[str, ...]]) -> Selection:
    """Selection of all elements, under the names of the simulation."""
    return Selection(
        name="",
        machine=machine,
        prefix="",
        members=tuple(range(max(len(machine.members), 1))),
        base=0 if machine.floating_base and not machine.members else -1,
        own=names.map(lambda own: np.arange(len(own))),
        names=names,
    )


def select_member(
    machine: Machine, names: Elements[tuple[str, ...]], membership: Elements[np.ndarray], number: int
) -> Selection:
    """Selection of one member of a fleet, under its own names."""
    member = machine.members[number]
    own = membership.map(lambda members: np.flatnonzero(members == number))
    if any(getattr(member.machine, field) for field in PORTS):
        # Entrained air is shared by all members with a circuit.
        shared = np.array([name == "" for name in names.fault], dtype=bool)
        own = replace(own, fault=np.flatnonzero((membership.fault == number) | shared))
    return Selection(
        name=member.name,
        machine=member.machine,
        prefix=member.prefix,
        members=(number,),
        base=names.body.index(member.joint) if member.joint in names.body else -1,
        own=own,
        names=_own_names(names, own, member.prefix),
    )


def _own_names(names: Elements[tuple[str, ...]], own: Elements[np.ndarray], prefix: str) -> Elements[tuple[str, ...]]:
    """Names of some elements, without the prefix."""

    def chosen(kind: str) -> tuple[str, ...]:
        every = getattr(names, kind)
        return tuple(every[index].removeprefix(prefix) for index in getattr(own, kind).tolist())

    return Elements(*[chosen(field.name) for field in fields(names)])
