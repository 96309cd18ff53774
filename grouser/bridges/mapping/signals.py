"""What `signal` may name: actuators and measurements of a machine, and axes and buttons of a joystick message."""

import math
from collections.abc import Iterator

from grouser.bridges.plant import Signal
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ONE_COORDINATE, Joint
from grouser.runtime.sampling import hydraulic_groups

JOY_AXES = 16
JOY_BUTTONS = 32
_AXES = ("x", "y", "z")
_ANGLES = ("roll", "pitch", "yaw")
# Units of joint quantities: of a rotation, of a displacement.
_JOINT_UNITS = {"position": ("rad", "m"), "velocity": ("rad/s", "m/s"), "effort": ("N m", "N")}
_HYDRAULIC_UNITS = {
    "pressure": "Pa",
    "pressure_piston_side": "Pa",
    "pressure_rod_side": "Pa",
    "pressure_a": "Pa",
    "pressure_b": "Pa",
    "flow": "m3/s",
    "spool_position": "1",
    "swash": "1",
    "force": "N",
    "torque": "N m",
    "speed": "rad/s",
    "power": "W",
    "temperature": "K",
}


def commands_of(machine: Machine | None) -> dict[str, Signal]:
    """Returns what a bridge may command, by name; without a machine the parts of a joystick message alone."""
    signals = [*(_commands(machine) if machine is not None else ()), *_joy(True)]
    return {signal.name: signal for signal in signals}


def measurements_of(machine: Machine | None) -> dict[str, Signal]:
    """Returns what a bridge may show, by name; without a machine the parts of a joystick message alone."""
    signals = [*(_measurements(machine) if machine is not None else ()), *_joy(False)]
    return {signal.name: signal for signal in signals}


def _commands(machine: Machine) -> Iterator[Signal]:
    for valve in machine.valves:
        yield Signal(f"valve/{valve.name}", "1", True, -1.0, 1.0)
    joints = {joint.name: joint for joint in machine.joints}
    for drive in machine.drives:
        if drive.joint in joints and joints[drive.joint].type in ONE_COORDINATE:
            low, high = _drive_range(joints[drive.joint], drive.mode, drive.effort_limit)
            yield Signal(
                f"joint/{drive.joint}/{drive.mode}", _joint_unit(joints[drive.joint], drive.mode), True, low, high
            )
    if machine.floating_base and (machine.wheels or machine.tracks):
        yield Signal("cmd_vel/linear_x", "m/s", True)
        yield Signal("cmd_vel/linear_y", "m/s", True)
        yield Signal("cmd_vel/angular_z", "rad/s", True)


def _measurements(machine: Machine) -> Iterator[Signal]:
    for joint in machine.joints:
        if joint.type in ONE_COORDINATE:
            for quantity in _JOINT_UNITS:
                yield Signal(f"joint/{joint.name}/{quantity}", _joint_unit(joint, quantity), False)
    for component, values in hydraulic_groups(machine):
        for value in values:
            yield Signal(f"hydraulics/{component}/{value}", _HYDRAULIC_UNITS[value], False)
    if machine.floating_base:
        yield from _vector("pose", "", _AXES, "m")
        yield from _vector("pose", "", _ANGLES, "rad")
        yield from _vector("twist", "linear_", _AXES, "m/s")
        yield from _vector("twist", "angular_", _AXES, "rad/s")
        if machine.wheels or machine.tracks:
            yield Signal("odom/linear_x", "m/s", False)
            yield Signal("odom/linear_y", "m/s", False)
            yield Signal("odom/angular_z", "rad/s", False)
    for sensor in machine.every_sensor:
        if sensor.type == "imu":
            yield from _vector(f"imu/{sensor.name}", "", _ANGLES, "rad")
            yield from _vector(f"imu/{sensor.name}", "angular_velocity_", _AXES, "rad/s")
            yield from _vector(f"imu/{sensor.name}", "linear_acceleration_", _AXES, "m/s2")
        elif sensor.type == "force_torque_sensor":
            yield from _vector(f"force_torque/{sensor.name}", "force_", _AXES, "N")
            yield from _vector(f"force_torque/{sensor.name}", "torque_", _AXES, "N m")
    for link in machine.links:
        if link.collisions:
            yield from _vector(f"contact/{link.name}", "force_", _AXES, "N")
            yield from _vector(f"contact/{link.name}", "torque_", _AXES, "N m")


def _vector(group: str, quantity: str, parts: tuple[str, ...], unit: str) -> Iterator[Signal]:
    for part in parts:
        yield Signal(f"{group}/{quantity}{part}", unit, False)


def _joy(is_command: bool) -> Iterator[Signal]:
    for number in range(JOY_AXES):
        yield Signal(f"joy/axis_{number}", "1", is_command, -1.0, 1.0)
    for number in range(JOY_BUTTONS):
        yield Signal(f"joy/button_{number}", "1", is_command, 0.0, 1.0)


def _joint_unit(joint: Joint, quantity: str) -> str:
    return _JOINT_UNITS[quantity][joint.type == "prismatic"]


def _drive_range(joint: Joint, mode: str, effort_limit: float) -> tuple[float, float]:
    limit = joint.limit
    if mode == "position":
        return (
            -math.inf if limit.lower is None else limit.lower,
            math.inf if limit.upper is None else limit.upper,
        )
    largest = limit.velocity if mode == "velocity" else effort_limit
    return -largest, largest
