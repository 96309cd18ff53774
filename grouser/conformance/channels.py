"""Topics of commands: for each a command that moves the machine, one that stops it, and some that must be refused."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from control_msgs.msg import DynamicInterfaceGroupValues, InterfaceValue
from geometry_msgs.msg import Twist, TwistStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from grouser.conformance import standard
from grouser.conformance.description import Drive
from grouser.conformance.subject import Subject

_FORWARD = 0.3  # [m/s]
_TURN = 0.1  # [rad or m] commanded displacement of position drives
_SPEED = 0.5  # [rad/s or m/s]
_EFFORT = 1.0  # [N m or N] without a limit; else a tenth of the limit
_OPENING = 0.25  # of a valve
_UNKNOWN = "no_such_part"


@dataclass(frozen=True, eq=False)
class Channel:
    """A topic of commands.

    Attributes:
        name: of the topic.
        moving: a command that moves the machine.
        stopping: the command that a timeout is equal to; None where the timeout holds the last one.
        refused: kind of error -> a command that must be refused.
        timeout: longest silence [s]; 0: any.
    """

    name: str
    moving: Any
    stopping: Any
    refused: Mapping[str, Any]
    timeout: float


def channels_of(subject: Subject) -> Iterator[Channel]:
    """Yields the channels of a machine to which its simulator subscribes, with the types of its subscriptions."""
    description = subject.description
    if description is None:
        return
    timeout = float(subject.parameters["command_timeout"])
    if _type(subject, "cmd_vel") in standard.CMD_VEL.types and description.has(standard.DRIVEN_WHEELS):
        twist = _stamped if _type(subject, "cmd_vel") == "geometry_msgs/TwistStamped" else _plain
        patience = float(subject.parameters["cmd_vel_timeout"])
        yield Channel("cmd_vel", twist(_FORWARD), twist(0.0), {"NaN": twist(math.nan)}, patience)
    valves = description.names("directional_valve")
    if valves and _type(subject, "valve_commands") == standard.VALUES:
        opened = [_OPENING] * len(valves)
        yield Channel(
            "valve_commands",
            _valves(valves, opened),
            _valves(valves, [0.0] * len(valves)),
            {
                "NaN": _valves(valves, [math.nan, *opened[1:]]),
                "unknown name": _valves([_UNKNOWN, *valves[1:]], opened),
                "wrong length": _valves(valves, opened[1:]),
            },
            timeout,
        )
    if valves and _type(subject, "valve_commands_array") == "std_msgs/Float64MultiArray":
        opened = [_OPENING] * len(valves)
        yield Channel(
            "valve_commands_array",
            Float64MultiArray(data=opened),
            Float64MultiArray(data=[0.0] * len(valves)),
            {
                "NaN": Float64MultiArray(data=[math.nan, *opened[1:]]),
                "wrong length": Float64MultiArray(data=[*opened, _OPENING]),
            },
            timeout,
        )
    if description.drives and _type(subject, "joint_commands") == "sensor_msgs/JointState":
        yield _joint_channel(subject, description.drives, timeout)


def _type(subject: Subject, name: str) -> str:
    types = {subscriber.type for subscriber in subject.offer.own_subscribers(subject.offer.full(name))}
    return types.pop() if len(types) == 1 else ""


def _joint_channel(subject: Subject, drives: Sequence[Drive], timeout: float) -> Channel:
    """A channel for drives of one mode, so that the message has a value for each."""
    mode = next(mode for mode in ("velocity", "position", "effort") if any(drive.mode == mode for drive in drives))
    chosen = [drive for drive in drives if drive.mode == mode]
    names = [drive.joint for drive in chosen]
    stream = subject.stream("joint_states")
    states = None if stream is None else stream.recording.newest
    places = {} if states is None else dict(zip(states.name, states.position, strict=False))
    moving = [_target(drive, places.get(drive.joint, 0.0)) for drive in chosen]

    def command(names: Sequence[str], values: Sequence[float]) -> JointState:
        return JointState(name=list(names), **{mode: list(values)})

    return Channel(
        "joint_commands",
        command(names, moving),
        None if mode == "position" else command(names, [0.0] * len(names)),
        {
            "NaN": command(names, [math.nan, *moving[1:]]),
            "unknown name": command([_UNKNOWN, *names[1:]], moving),
            "wrong length": command(names, [*moving, moving[0]]),
        },
        timeout,
    )


def _target(drive: Drive, place: float) -> float:
    if drive.mode == "velocity":
        return _SPEED
    if drive.mode == "effort":
        return 0.1 * drive.effort if math.isfinite(drive.effort) else _EFFORT
    return place + _TURN if place + _TURN < drive.upper else place - _TURN


def _plain(forward: float) -> Twist:
    message = Twist()
    message.linear.x = forward
    return message


def _stamped(forward: float) -> TwistStamped:
    return TwistStamped(twist=_plain(forward))


def _valves(names: Sequence[str], values: Sequence[float]) -> DynamicInterfaceGroupValues:
    """A message with a group for each name, one value in each while there are values."""
    return DynamicInterfaceGroupValues(
        interface_groups=list(names),
        interface_values=[InterfaceValue(interface_names=["spool_command"], values=[value]) for value in values],
    )
