"""What a mapping of joysticks says about devices, axes and buttons."""

import re
from dataclasses import dataclass
from typing import Any

import yaml

from grouser.bridges.joystick.codes import AXES, BUTTONS
from grouser.bridges.joystick.fields import FORCES, RUMBLES, AxisField, ButtonField, FeedbackField, JoystickField
from grouser.bridges.mapping.data import BridgeMapping, Direction
from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.names import shortened
from grouser.physics.description.text.yaml_reader import Reader

_DEVICE_KEYS = ("id", "name", "port", "report_period", "allow_unjudged", "trusted")
_AXIS_KEYS = ("axis", "rest", "side", "low", "centre", "high", "dead_band", "exponent", "inverted")
_IDENTITY = re.compile(r"([0-9a-fA-F]{4}):([0-9a-fA-F]{4})")
_REPORT_PERIODS = (0.0005, 1.0)  # [s]
_RAW = 2**31 - 1
_PERIOD_MIN = 0.005  # [s]


@dataclass(frozen=True)
class DeviceRule:
    """Which device is taken, and how far it is believed.

    Attributes:
        name: in the mapping.
        identity: vendor and product; None: any.
        pattern: of the device's name, with * and ?; "": any.
        port: pattern of where it is plugged in; "": anywhere.
        report_period: between two reports of a device that reports its time or has a raw device beside it [s]: silence
            of three is a lost link.
        allow_unjudged: whether a wireless device may command whose link cannot be told from a still stick.
        trusted: whether what the device says of itself when it is opened is a measurement.
        used: names of the axes and buttons that the mapping uses.
    """

    name: str
    identity: tuple[int, int] | None
    pattern: str
    report_period: float = 0.02
    allow_unjudged: bool = False
    trusted: bool = False
    used: frozenset[str] = frozenset()
    port: str = ""


def read_interface(reader: Reader, node: yaml.Node) -> dict[str, DeviceRule]:
    """Reads the devices by their names in the mapping."""
    nodes = reader.mapping(node, "interface", ("devices",))
    devices = reader.required(nodes, "devices", node, "interface")
    rules: dict[str, DeviceRule] = {}
    for name, entry in reader.entries(devices, "devices"):
        rule = _device(reader, name, entry)
        for other in rules.values():
            if (rule.identity, rule.pattern, rule.port) == (other.identity, other.pattern, other.port):
                problem = f"it fits the same devices as {other.name}: which is which depends on their order"
                raise reader.error(
                    entry, f"device {name}", problem, "give them ids, names or ports that tell them apart"
                )
        rules[name] = rule
    return rules


def read_address(reader: Reader, node: yaml.Node, direction: Direction, interface: Any) -> str:
    """Reads the device of a message; the only one where there is one."""
    key = "source" if direction == "in" else "target"
    nodes = reader.mapping(node, key, ("device",))
    if "device" not in nodes and len(interface) == 1:
        return next(iter(interface))
    return reader.choice(reader.required(nodes, "device", node, key), "device", tuple(interface))


def read_field(
    reader: Reader, node: yaml.Node, direction: Direction, address: Any, interface: Any
) -> JoystickField | FeedbackField:
    """Reads an axis or a button: its name, or an axis with its calibration; of what is sent, a motor."""
    if direction == "out":
        return FeedbackField(reader.choice(node, "target", (*RUMBLES, *FORCES)))
    if isinstance(node, yaml.MappingNode):
        return _axis(reader, node)
    name = reader.choice(node, "source", (*AXES, *BUTTONS))
    return ButtonField(name, BUTTONS[name]) if name in BUTTONS else AxisField(name, AXES[name])


def check(mapping: BridgeMapping) -> None:
    """Refuses periods that the timer cannot keep, two calibrations of an axis, and two messages to one device."""
    felt: set[str] = set()
    for message in mapping.messages:
        if message.direction == "out" and message.address in felt:
            raise MachineError(
                f"device {message.address} has two outgoing messages, whose effects would replace each other",
                file=mapping.file,
                line=message.line,
                element=f"message {message.name}",
                remedy="write all its motors in one message",
            )
        felt |= {message.address} if message.direction == "out" else set()
        if message.period < _PERIOD_MIN:
            raise MachineError(
                f"period {message.period:g} is out of range; valid: {_PERIOD_MIN:g} s and more, "
                "because the state is repeated by a timer of whole milliseconds",
                file=mapping.file,
                line=message.line,
                element=f"message {message.name}",
                remedy="a longer period delays nothing: every report is said at once",
            )
        places: dict[str, Any] = {}
        for signal in message.signals:
            for place in (signal.place, signal.enable and signal.enable.place):
                if place is not None and places.setdefault(str(place), place) != place:
                    raise MachineError(
                        f"source '{place}' has two calibrations",
                        file=mapping.file,
                        line=signal.line,
                        element=f"message {message.name}",
                        remedy="give it the same in all signals and their enable",
                    )


def _device(reader: Reader, name: str, node: yaml.Node) -> DeviceRule:
    label = f"device {name}"
    nodes = reader.mapping(node, label, _DEVICE_KEYS)
    if "id" not in nodes and "name" not in nodes:
        raise reader.error(node, label, "it says neither id nor name", "add id: vendor:product or name: a pattern")
    identity = None
    if "id" in nodes:
        text = reader.text(nodes["id"], f"{label} id")
        found = _IDENTITY.fullmatch(text)
        if found is None:
            remedy = "write vendor:product as lsusb does, in quotes: '045e:02ea'"
            raise reader.error(nodes["id"], label, f"id {shortened(text)} is not valid", remedy)
        identity = int(found[1], 16), int(found[2], 16)
    period = DeviceRule.report_period
    if "report_period" in nodes:
        period = reader.number(nodes["report_period"], f"{label} report_period", *_REPORT_PERIODS)
    return DeviceRule(
        name=name,
        identity=identity,
        pattern=reader.text(nodes["name"], f"{label} name") if "name" in nodes else "",
        report_period=period,
        allow_unjudged=_flag(reader, nodes, "allow_unjudged", label),
        trusted=_flag(reader, nodes, "trusted", label),
        port=reader.text(nodes["port"], f"{label} port") if "port" in nodes else "",
    )


def _axis(reader: Reader, node: yaml.Node) -> AxisField:
    nodes = reader.mapping(node, "source", _AXIS_KEYS)
    name = reader.choice(reader.required(nodes, "axis", node, "source"), "axis", tuple(AXES))
    rest = reader.choice(nodes["rest"], "rest", ("middle", "low")) if "rest" in nodes else "middle"
    side = reader.choice(nodes["side"], "side", ("negative", "positive")) if "side" in nodes else ""
    if side and rest == "low":
        raise reader.error(nodes["side"], name, "an axis that rests at its low end has one side", "remove side or rest")
    raw = {key: round(reader.number(nodes[key], key, -_RAW, _RAW)) for key in ("low", "centre", "high") if key in nodes}
    ordered = [raw[key] for key in ("low", "centre", "high") if key in raw]
    if sorted(set(ordered)) != ordered:
        raise reader.error(node, name, "low, centre and high do not ascend", "give them as evtest shows them")
    return AxisField(
        name=name,
        code=AXES[name],
        rest="low" if rest == "low" else "middle",
        side=side,
        low=raw.get("low"),
        centre=raw.get("centre"),
        high=raw.get("high"),
        dead_band=reader.number(nodes["dead_band"], "dead_band", 0.0, 0.9) if "dead_band" in nodes else 0.0,
        exponent=reader.number(nodes["exponent"], "exponent", 0.1, 10.0) if "exponent" in nodes else 1.0,
        inverted=_flag(reader, nodes, "inverted", name),
    )


def _flag(reader: Reader, nodes: dict[str, yaml.Node], key: str, label: str) -> bool:
    return key in nodes and reader.boolean(nodes[key], f"{label} {key}")
