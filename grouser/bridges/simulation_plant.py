"""A machine of a simulation in this thread, as the plant of a bridge: for lockstep, where nobody else steps it."""

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from grouser.bridges.mapping.signals import commands_of, measurements_of
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.names import closest
from grouser.runtime.sampling import ALL, Reading, hydraulic_groups, sample_hydraulics

if TYPE_CHECKING:
    from grouser.physics.simulation.view import MachineView

_AXES = ("x", "y", "z")
_COMMANDED = ("valve", "joint")
MEASURED = ("joint", "hydraulics", "pose", "twist", "imu", "force_torque", "contact")


class SimulationPlant:
    """Commands and measures a machine between its steps.

    Args:
        machine: a simulation with one machine, or a part of one.
    """

    def __init__(self, machine: "MachineView"):
        self._machine = machine
        self.commands = {
            name: signal for name, signal in commands_of(machine.machine).items() if _kind(name) in _COMMANDED
        }
        self.measurements = {
            name: signal for name, signal in measurements_of(machine.machine).items() if _kind(name) in MEASURED
        }

    def command(self, values: Mapping[str, float]) -> None:
        """Commands valves and joints.

        Raises:
            ParameterError: no such actuator, or a value out of its range.
        """
        for name, value in values.items():
            if name not in self.commands:
                raise ParameterError("signal", name, closest(name, self.commands))
            self._machine.command[name.split("/")[1]] = value

    def measure(self, names: Collection[str]) -> Mapping[str, float]:
        """Returns measurements [SI] of the present state.

        Raises:
            ParameterError: no such measurement.
        """
        for name in names:
            if name not in self.measurements:
                raise ParameterError("signal", name, closest(name, self.measurements))
        found: dict[str, float] = {}
        for group in {name.rpartition("/")[0] for name in names}:
            found.update(self._group(group))
        return {name: found[name] for name in names}

    def _group(self, group: str) -> dict[str, float]:
        """All measurements of a group: of a joint, a component, a sensor or a link."""
        kind, _, name = group.partition("/")
        machine = self._machine
        if kind == "joint":
            quantities = (machine.joint_position, machine.joint_velocity, machine.joint_effort)
            names = ("position", "velocity", "effort")
            values = {one: float(quantity[name]) for one, quantity in zip(names, quantities, strict=True)}
        elif kind == "hydraulics":
            values = self._hydraulics(name)
        elif kind == "pose":
            position, quaternion = machine.base_pose()
            values = {**_vector("", position), **_angles(quaternion)}
        elif kind == "twist":
            linear, angular = machine.base_twist()
            values = {**_vector("linear_", linear), **_vector("angular_", angular)}
        elif kind == "imu":
            imu = machine.sensors.imu[name]
            values = {
                **_angles(imu.orientation),
                **_vector("angular_velocity_", imu.angular_velocity),
                **_vector("linear_acceleration_", imu.specific_force),
            }
        else:
            wrench = (machine.sensors.force_torque_sensor if kind == "force_torque" else machine.contact_wrench)[name]
            values = {**_vector("force_", wrench[:3]), **_vector("torque_", wrench[3:])}
        return {f"{group}/{one}": value for one, value in values.items()}

    def _hydraulics(self, component: str) -> dict[str, float]:
        samples = sample_hydraulics(Reading(self._machine, None, ALL))
        for (name, values), sample in zip(hydraulic_groups(self._machine.machine), samples, strict=True):
            if name == component:
                return dict(zip(values, sample.tolist(), strict=True))
        raise AssertionError(f"{component} is measured and has no sample")


def _kind(name: str) -> str:
    return name.partition("/")[0]


def _vector(beginning: str, values) -> dict[str, float]:
    return {f"{beginning}{axis}": float(value) for axis, value in zip(_AXES, values, strict=True)}


def _angles(quaternion) -> dict[str, float]:
    """Roll, pitch and yaw of a unit quaternion x y z w, about the fixed axes x, y and z in this order [rad]."""
    x, y, z, w = (float(part) for part in quaternion)
    return {
        "roll": math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
        "pitch": math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x)))),
        "yaw": math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
    }
