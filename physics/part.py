"""One machine of a simulation of several, read and commanded by its own names."""

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.world import World
from grouser.physics.description.elements.hydraulics.circuit import PORTS
from grouser.physics.hydraulics.faults import OIL
from grouser.physics.readings.measurements import Contact, TerrainPatch
from grouser.physics.simulation.commands import CommandMap
from grouser.physics.simulation.faults import FaultMap
from grouser.physics.simulation.named_view import NamedView, unknown_name

if TYPE_CHECKING:
    from grouser.physics.simulation.simulation import Simulation

T = TypeVar("T")


class Part:
    """What a `Simulation` of several machines lets one of them be asked for and told; see there.

    It has the machine's own names, without the member's prefix. Only what the machine touches of other members has
    their full names. The fault of the oil, entrained air, is that of all members.

    Args:
        simulation: of the machines.
        number: of the member among them.

    Attributes:
        name: of the member.
        machine: the member's own.
        joint_position, joint_velocity, joint_effort, spherical_joint, pressure, cylinder, cylinder_energy,
            hydraulic_motor, pump, line_pressure, wheel, imu, lidar, joint_reaction, joint_deflection, flexible_link,
            contact_wrench: as of a simulation.
        command, faults: likewise.
    """

    def __init__(self, simulation: "Simulation", number: int):
        member = simulation.machine.members[number]
        self._simulation, self._number, self._prefix = simulation, number, member.prefix
        self.name: str = member.name
        self.machine: Machine = member.machine
        names = simulation.names
        self._links = np.array(self._own(names.links), dtype=np.int64)
        self._link_names = [names.links[link].removeprefix(self._prefix) for link in self._links]
        self._bodies = np.array(self._own(names.body_joint), dtype=np.int64)
        self._shapes = np.flatnonzero(np.isin(simulation.system.collision.shapes.link, self._links))
        self.joint_position = self._view(simulation.joint_position)
        self.joint_velocity = self._view(simulation.joint_velocity)
        self.joint_effort = self._view(simulation.joint_effort)
        self.spherical_joint = self._view(simulation.spherical_joint)
        self.pressure = self._view(simulation.pressure)
        self.cylinder = self._view(simulation.cylinder)
        self.cylinder_energy = self._view(simulation.cylinder_energy)
        self.hydraulic_motor = self._view(simulation.hydraulic_motor)
        self.pump = self._view(simulation.pump)
        self.line_pressure = self._view(simulation.line_pressure)
        self.imu = self._view(simulation.imu)
        self.lidar = self._view(simulation.lidar)
        self.joint_reaction = self._view(simulation.joint_reaction)
        self.joint_deflection = self._view(simulation.joint_deflection)
        self.flexible_link = self._view(simulation.flexible_link)
        self.contact_wrench = self._view(simulation.contact_wrench)
        self._wheels = np.array(self._own(simulation.wheel.names), dtype=np.int64)
        wheels = self._wheels.tolist()
        self.wheel = NamedView(
            "wheel",
            [wheel.link for wheel in self.machine.wheels],
            lambda w: simulation.wheels_of([wheels[w]])[0],
            lambda: simulation.wheels_of(wheels),
        )
        _, command, _ = simulation.buffers()
        valves, drives = simulation.system.circuit.valve_member == number, simulation.system.drives.member == number
        self.command = CommandMap(
            self.machine,
            command._replace(valve=command.valve[_slice(valves)], drive=command.drive[_slice(drives)]),
        )
        self._emergency_stop = command.emergency_stop[number : number + 1]
        self.faults = FaultMap(tuple(self._own_faults()), command, simulation.scheme)
        own = np.append(np.isin(np.arange(len(simulation.shape_names) - 1), self._shapes), False)
        self._touches = own
        self._shape_names = [
            name.removeprefix(self._prefix) if mine else name
            for name, mine in zip(simulation.shape_names, own, strict=True)
        ]

    # --- time -------------------------------------------------------------------------------------------------------

    @property
    def world(self) -> World:
        """What it stands in."""
        return self._simulation.world

    @property
    def integrator(self) -> str:
        """Of the motion."""
        return self._simulation.integrator

    @property
    def step_size(self) -> float:
        """Length of a step [s]."""
        return self._simulation.step_size

    @property
    def step_count(self) -> int:
        """Steps since the start."""
        return self._simulation.step_count

    @property
    def time(self) -> float:
        """step_count * step_size [s]."""
        return self._simulation.time

    @property
    def emergency_stop(self) -> bool:
        """Of this machine alone: see `Simulation.emergency_stop`."""
        return bool(self._emergency_stop[0])

    @emergency_stop.setter
    def emergency_stop(self, stop: bool) -> None:
        self._emergency_stop[0] = self.emergency_stop or bool(stop)

    # --- measurements -----------------------------------------------------------------------------------------------

    def link_pose(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Position [m] and quaternion (x, y, z, w) of a link frame in the world."""
        if name not in self._link_names:
            raise unknown_name("link", name, self._link_names)
        pose = self._simulation.poses_of(self._links[[self._link_names.index(name)]])[0]
        return pose[:3], pose[3:]

    def link_poses(self) -> np.ndarray:
        """Position [m] and quaternion (x, y, z, w) of every link in the world, in the order of the file, (links, 7)."""
        return self._simulation.poses_of(self._links)

    def base_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Pose of the root link in the world."""
        return self.link_pose(self.machine.root)

    def base_twist(self) -> tuple[np.ndarray, np.ndarray]:
        """Linear [m/s] and angular [rad/s] velocity of the root link, in its own frame; zero for a fixed base."""
        return self._simulation.base_twist_of(self._number)

    def contacts(self) -> list[Contact]:
        """Contacts of its links in the last step, where the machine was when it began."""
        return self._simulation.contacts_of(self._touches, self._shape_names)

    def bounds(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Least and greatest coordinates of all its collision shapes in the world [m], (3,) each; None without any."""
        return self._simulation.bounds_of(self._shapes)

    def terrain_patch(self, reach: float = math.inf) -> TerrainPatch | None:
        """The soft ground around where wheels have been; None on rigid ground, or for a machine without wheels.

        Args:
            reach: only what is about as near as this to one of its wheels, along x and y [m].
        """
        return self._simulation.terrain_of(reach, [(self._bodies, self._wheels)])

    def place(
        self,
        position: Vector3,
        quaternion: tuple[float, float, float, float],
        linear: Vector3 = (0.0, 0.0, 0.0),
        angular: Vector3 = (0.0, 0.0, 0.0),
    ) -> None:
        """Puts the machine somewhere else, its joints as they are: see `Simulation.place`."""
        self._simulation.place_member(self._number, position, quaternion, linear, angular)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _own(self, names) -> list[int]:
        """Numbers of the names that are the member's."""
        machine = self._simulation.machine
        return [number for number, name in enumerate(names) if machine.member_of(name) == self._number]

    def _view(self, whole: NamedView[T]) -> NamedView[T]:
        """The member's share of a view, under its own names."""
        own = (whole.names[number] for number in self._own(whole.names))
        return whole.selected({name.removeprefix(self._prefix): name for name in own})

    def _own_faults(self):
        """The member's faults, under its own names."""
        if not any(getattr(self.machine, field) for field in PORTS):
            return
        for fault in self._simulation.faults.catalogue:
            if fault.component == OIL:
                yield fault
            elif self._simulation.machine.member_of(fault.component) == self._number:
                yield fault.renamed(fault.component.removeprefix(self._prefix))


def _slice(chosen: np.ndarray) -> slice:
    """Rows side by side, so that they stay a view of the array that they are of."""
    rows = np.flatnonzero(chosen)
    return slice(rows[0], rows[-1] + 1) if len(rows) else slice(0)
