"""Levers for what a machine itself has: one for each valve and drive, and two that drive it.

They extend a control pattern, so that the rules of `Operating` hold for them as for a joystick's levers.
"""

import math
from dataclasses import dataclass, replace

from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Joint
from grouser.runtime.control_mapping import ControlMapping, Lever
from grouser.runtime.vehicle import VehicleWheel
from grouser.runtime.vehicle_parts import wheels_and_tracks

# What a game controller has; patterns may name more.
CONTROLLER_AXES, CONTROLLER_BUTTONS = 6, 21
_DEAD_MAN, _EMERGENCY_STOP = 9, 1  # buttons where no pattern has its own
_RATE = 5.0  # [full deflections per second]
_TURNING = 0.6  # share of the valves' way, or of the greatest speed, of which a machine turns
_FASTEST = 1.0  # that a machine drives ahead from here, as somebody walks [m/s]
_WAY = 4.0  # least time in which a lever moves a joint from limit to limit [s]
_UNITS = {"velocity": "rad/s", "effort": "N m", "position": "rad/s"}
_UNITS_ALONG = {"velocity": "m/s", "effort": "N", "position": "m/s"}


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
        limits: lowest and highest target of each joint that a slider moves in position mode [rad or m].
    """

    mapping: ControlMapping
    axes: int
    buttons: int
    sliders: dict[Slider, int]
    ahead: int | None
    left: int | None
    limits: dict[str, tuple[float, float]]


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
    speed = min(_FASTEST, *(part.radius * part.speed_limit for part in driven))
    reach = max(math.hypot(*part.centre) for part in driven)
    return (
        Travel("twist", "x", speed, 0.0),
        Travel("twist", "yaw", 0.0, _TURNING * speed / reach),
    )


def _valve(part: VehicleWheel) -> Travel:
    ahead = math.copysign(1.0, part.sense * part.valve_sense * math.cos(part.heading))
    return Travel("valve", part.valve, ahead, -math.copysign(_TURNING, part.centre[1]) * ahead)


def sliders_of(machine: Machine) -> tuple[Slider, ...]:
    """A slider for each valve, and for each drive that cmd_vel does not command."""
    valves = tuple(Slider("valve", valve.name, 1.0, "") for valve in machine.valves)
    by_twist: set[str] = set()
    if any(travel.kind == "twist" for travel in travel_of(machine)):
        wheels, tracks = wheels_and_tracks(machine)
        by_twist = {joint for part in (*wheels, *tracks) for joint in (part.joint, part.steering)}
    joints = {joint.name: joint for joint in machine.joints}
    drives = [drive for drive in machine.drives if drive.joint not in by_twist]
    return (*valves, *(_drive(drive, joints.get(drive.joint)) for drive in drives))


def _drive(drive: ServoDrive, joint: Joint | None) -> Slider:
    """The slider of a drive; `joint` is None where it turns about an axis of a ball joint."""
    unit = (_UNITS_ALONG if joint is not None and joint.type == "prismatic" else _UNITS)[drive.mode]
    if drive.mode == "effort" or joint is None:
        return Slider(drive.mode, drive.joint, drive.effort_limit, unit)
    fastest = joint.limit.velocity
    if drive.mode == "position":
        low, high = _limits(joint)
        fastest = min(fastest, (high - low) / _WAY)
    return Slider(drive.mode, drive.joint, fastest, unit)


def _limits(joint: Joint) -> tuple[float, float]:
    """Lowest and highest target of a joint; of one without limits a turn to either side, or a metre."""
    way = 1.0 if joint.type == "prismatic" else 2.0 * math.pi
    lower, upper = joint.limit.lower, joint.limit.upper
    return -way if lower is None else lower, way if upper is None else upper


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
        limits={
            joint.name: _limits(joint)
            for joint in machine.joints
            if any(slider.kind == "position" and slider.actuator == joint.name for slider in sliders)
        },
    )


def _lever(kind: str, actuator: str, scale: float, axis: int) -> Lever:
    return Lever(kind, actuator, scale, axis, dead_band=0.0, rate=_RATE)
