"""A vehicle in the physics thread: drive commands from a twist, and odometry from the wheels."""

from collections.abc import Mapping

import numpy as np

from grouser.physics.simulation.view import MachineView
from grouser.program import TWIST
from grouser.runtime.frames import FrameTree
from grouser.runtime.travel import TravelValves
from grouser.runtime.vehicle import SOFT_SLIP, DeadReckoning, Vehicle, steering_at


class Driver:
    """Converts a twist into commands of the wheels' drives at every tick.

    It controls the wheels from the first twist on, until another source commands one of their joints.

    Args:
        vehicle: the wheels; at least one is driven.
        simulation: of the machine.

    Attributes:
        joints: names of the joints and valves that it commands.
    """

    def __init__(self, vehicle: Vehicle, simulation: MachineView) -> None:
        self._vehicle = vehicle
        self._simulation = simulation
        drives = simulation.command.drives
        self._wheels = [wheel.joint if wheel.driven and not wheel.valve else "" for wheel in vehicle.wheels]
        self._steering = [
            wheel.steering if drives.get(wheel.steering) == "position" else "" for wheel in vehicle.wheels
        ]
        self._travel = TravelValves(vehicle.wheels, simulation)
        self.joints = {*self._wheels, *self._steering, *self._travel.valves} - {""}
        self._measured = JointReader(simulation, [wheel.steering for wheel in vehicle.wheels])
        self.reset()

    def rebind(self, simulation: MachineView) -> None:
        """Continues with the same machine in another simulation."""
        self._simulation = simulation
        self._measured.rebind(simulation)
        self._travel.rebind(simulation)

    def reset(self) -> None:
        """Releases the wheels until the next twist."""
        self._engaged = False
        self._travel.reset()
        self._twist = dict.fromkeys(TWIST, 0.0)

    def commands(self, commands: Mapping[str, float], interval: float) -> dict[str, float]:
        """Replaces the twist among commands by commands of joints.

        Args:
            commands: actuator -> value.
            interval: for which they will hold [s].
        """
        joints = {name: value for name, value in commands.items() if name not in TWIST}
        if len(joints) < len(commands):
            if not self._engaged:
                held = self._simulation.command
                self._steered = steering_at(np.array([held[name] if name else 0.0 for name in self._steering]))
            self._engaged = True
            self._twist.update((name, value) for name, value in commands.items() if name in TWIST)
        if not self.joints.isdisjoint(joints):
            self.reset()
        if not self._engaged:
            return joints
        twist = np.array([self._twist[name] for name in TWIST])
        self._steered, speeds = self._vehicle.drive(twist, self._measured.positions(), self._steered, interval)
        targets = self._steered.targets.tolist()
        wanted = dict(zip([*self._steering, *self._wheels], [*targets, *speeds.tolist()], strict=True))
        wanted.pop("", None)
        return {**joints, **wanted, **self._travel.commands(speeds, interval)}


class Odometer:
    """Dead reckoning from the wheels' joints.

    Args:
        vehicle: the wheels.
        simulation: of the machine, at its start.
        frames: of the machine, for the footprint's pose at the start.
    """

    def __init__(self, vehicle: Vehicle, simulation: MachineView, frames: FrameTree) -> None:
        self._vehicle = vehicle
        self._simulation = simulation
        self._frames = frames
        self._wheels = JointReader(simulation, [wheel.joint for wheel in vehicle.wheels])
        self._steering = JointReader(simulation, [wheel.steering for wheel in vehicle.wheels])
        self.reset()

    def rebind(self, simulation: MachineView) -> None:
        """Continues with the same machine in another simulation."""
        self._simulation = simulation
        self._wheels.rebind(simulation)
        self._steering.rebind(simulation)

    def reset(self) -> None:
        """Restarts at the machine's present pose, where the odometry frame coincides with the world."""
        footprint = self._frames.footprint(self._simulation.link_poses())
        self.height = float(footprint[2])
        yaw = 2.0 * np.arctan2(footprint[5], footprint[6])
        self._step = self._simulation.step_count
        self.reckoning = DeadReckoning(
            self._vehicle,
            np.array([*footprint[:2], yaw]),
            self._wheels.positions(),
            self._steering.positions(),
            SOFT_SLIP if self._simulation.world.soil is not None else 0.0,
        )

    def read(self) -> None:
        """Updates the dead reckoning to the present step."""
        steps = self._simulation.step_count - self._step
        if steps > 0:
            self._step += steps
            interval = steps * self._simulation.step_size
            self.reckoning.update(interval, self._wheels.positions(), self._steering.positions())


class JointReader:
    """Positions of some joints; "" stands for no joint, at position zero."""

    def __init__(self, simulation: MachineView, joints: list[str]) -> None:
        self._all = simulation.joint_position
        self._there = np.array([bool(joint) for joint in joints])
        self._index = np.array([self._all.names.index(joint) if joint else 0 for joint in joints])

    def rebind(self, simulation: MachineView) -> None:
        """Reads the same machine in another simulation."""
        self._all = simulation.joint_position

    def positions(self) -> np.ndarray:
        """Shape (joints,) [rad]."""
        return np.where(self._there, self._all.values()[self._index], 0.0)
