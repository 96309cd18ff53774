"""Levers for what a machine itself has: one for each valve and drive, and two that drive it.

They extend a control pattern, so that the rules of `Operating` hold for them as for a joystick's levers.
"""

import math
from dataclasses import dataclass, replace

from grouser.physics.description.data.machine import Machine
from grouser.runtime.control_mapping import ControlMapping, Lever
from grouser.runtime.vehicle import VehicleWheel
from grouser.runtime.vehicle_parts import wheels_and_tracks

# What a game controller has; patterns may name more.
CONTROLLER_AXES, CONTROLLER_BUTTONS = 6, 21
_DEAD_MAN, _EMERGENCY_STOP = 9, 1  # buttons where no pattern has its own
_RATE = 5.0  # [full deflections per second]
_TURNING = 0.6  # share of the valves' way, or of the greatest speed, of which a machine turns
_UNITS = {"valve": "", "velocity": "rad/s", "effort": "N m"}
_UNITS_ALONG = {"velocity": "m/s", "effort": "N"}


@dataclass(frozen=True)
class Slider:
    """A lever of one actuator.

    Attributes:
        kind, actuator: as of `Lever`.
        scale: command at full deflection, in `unit`; a spool's is a share of its way.
        unit: of the command; "" for a spool.
    """

    kind: str
    actuator: str
    scale: float
    unit: str


@dataclass(frozen=True)
class Travel:
    """An actuator that drives a machine.

    Attributes:
        kind, actuator: as of `Lever`.
        ahead, left: commands at full deflection of driving ahead, and of turning to the left.
    """

    kind: str
    actuator: str
    ahead: float
    left: float


@dataclass(frozen=True)
class MachineLevers:
    """A control pattern with further levers, and where these are among the axes.

    Attributes:
        mapping: all levers.
        axes: length of the axes: the pattern's, the sliders', and driving ahead and to the left.
        buttons: length of the buttons.
        sliders: with the number of the axis of each.
        ahead, left: numbers of the axes that drive the machine; None where nothing drives it.
    """

    mapping: ControlMapping
    axes: int
    buttons: int
    sliders: dict[Slider, int]
    ahead: int | None
    left: int | None


def travel_of(machine: Machine) -> tuple[Travel, ...]:
    """What drives a machine on the ground: the valves of its motors, or cmd_vel; nothing for other machines."""
    if not machine.floating_base:
        return ()
    wheels, tracks = wheels_and_tracks(machine)
    driven = [part for part in (*wheels, *tracks) if part.driven]
    if not driven:
        return ()
    by_valve = {part.valve: part for part in driven if part.valve}
    if by_valve:
        return tuple(_valve(part) for part in by_valve.values())
    speed = min(part.radius * part.speed_limit for part in driven)
    reach = max(math.hypot(*part.centre) for part in driven)
    return (
        Travel("twist", "x", speed, 0.0),
        Travel("twist", "yaw", 0.0, _TURNING * speed / reach),
    )


def _valve(part: VehicleWheel) -> Travel:
    ahead = math.copysign(1.0, part.sense * part.valve_sense * math.cos(part.heading))
    return Travel("valve", part.valve, ahead, -math.copysign(_TURNING, part.centre[1]) * ahead)


def sliders_of(machine: Machine) -> tuple[Slider, ...]:
    """A slider for each valve and for each drive of a velocity or an effort that cmd_vel does not command."""
    by_twist = {joint for part in wheels_and_tracks(machine)[0] for joint in (part.joint, part.steering)}
    by_twist |= {part.joint for part in wheels_and_tracks(machine)[1]}
    if not any(travel.kind == "twist" for travel in travel_of(machine)):
        by_twist = set()
    joints = {joint.name: joint for joint in machine.joints}
    found = [Slider("valve", valve.name, 1.0, "") for valve in machine.valves]
    for drive in machine.drives:
        joint = joints.get(drive.joint)  # None: about an axis of a ball joint
        if drive.mode == "position" or drive.joint in by_twist:
            continue
        units = _UNITS_ALONG if joint is not None and joint.type == "prismatic" else _UNITS
        largest = drive.effort_limit if drive.mode == "effort" or joint is None else joint.limit.velocity
        found.append(Slider(drive.mode, drive.joint, largest, units[drive.mode]))
    return tuple(found)


def fits(pattern: ControlMapping, machine: Machine) -> bool:
    """Whether a machine has all that a pattern moves."""
    drives = {(drive.mode, drive.joint) for drive in machine.drives}
    known = {("valve", valve.name) for valve in machine.valves} | drives
    twist = any(travel.kind == "twist" for travel in travel_of(machine))
    return all(
        twist if lever.kind == "twist" else lever.kind == "tip" or (lever.kind, lever.actuator) in known
        for lever in pattern.levers
    ) and (pattern.tip is None or set(pattern.tip.functions) <= {valve.name for valve in machine.valves})


def extended(pattern: ControlMapping | None, machine: Machine) -> MachineLevers:
    """A pattern with the levers of a machine; None: these alone, at full speed."""
    if pattern is None:
        pattern = ControlMapping((), _DEAD_MAN, _EMERGENCY_STOP)
    used = [lever.axis for lever in pattern.levers if lever.axis is not None]
    first = max(CONTROLLER_AXES, *(axis + 1 for axis in used), 0)
    pressed = [*pattern.control_buttons, *(button for lever in pattern.levers for button in lever.buttons)]
    sliders = {slider: first + number for number, slider in enumerate(sliders_of(machine))}
    travel = travel_of(machine)
    ahead, left = first + len(sliders), first + len(sliders) + 1
    levers = [
        *pattern.levers,
        *(_lever(slider.kind, slider.actuator, slider.scale, axis) for slider, axis in sliders.items()),
        *(_lever(one.kind, one.actuator, one.ahead, ahead) for one in travel if one.ahead),
        *(_lever(one.kind, one.actuator, one.left, left) for one in travel if one.left),
    ]
    return MachineLevers(
        mapping=replace(pattern, levers=tuple(levers)),
        axes=first + len(sliders) + (2 if travel else 0),
        buttons=max(CONTROLLER_BUTTONS, *(button + 1 for button in pressed)),
        sliders=sliders,
        ahead=ahead if travel else None,
        left=left if travel else None,
    )


def _lever(kind: str, actuator: str, scale: float, axis: int) -> Lever:
    return Lever(kind, actuator, scale, axis, dead_band=0.0, rate=_RATE)

