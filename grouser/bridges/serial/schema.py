"""What a mapping of a serial line or a UDP port says about the interface, messages and fields."""

import re
from typing import Any

import yaml

from grouser.bridges.mapping.checks import require_local
from grouser.bridges.mapping.data import BridgeMapping, Direction, Field
from grouser.bridges.packed_schema import choose_field, keys_of, read_layout, whole_number
from grouser.bridges.serial.frames import COMMAND, FAULT, HIGHEST_PAYLOAD, MEASUREMENT
from grouser.bridges.serial.settings import Form, NumberField, SerialAddress, SerialInterface, UdpInterface
from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.names import shortened
from grouser.physics.description.text.yaml_reader import Reader

COUNTER_PROFILE = "u16"
_SERIAL_KEYS = ("port", "baud_rate", "form")
_UDP_KEYS = ("host", "port", "local_host", "local_port", "form", "open")
_LOOPBACK = "127.0.0.1"
_BAUD_RATES = (300, 4_000_000)  # [bit/s]
_PORTS = (1, 65535)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]{0,63}")


def read_interface(reader: Reader, node: yaml.Node) -> SerialInterface | UdpInterface:
    """Reads `interface`: a `host` or `local_port` is of UDP."""
    written = keys_of(node)
    if written & {"host", "local_host", "local_port"}:
        return _udp(reader, node)
    nodes = reader.mapping(node, "interface", _SERIAL_KEYS)
    baud_rate = reader.required(nodes, "baud_rate", node, "interface")
    return SerialInterface(
        port=reader.text(reader.required(nodes, "port", node, "interface"), "port"),
        baud_rate=whole_number(reader, baud_rate, "baud_rate", *_BAUD_RATES),
        form=_form(reader, nodes),
    )


def read_address(reader: Reader, node: yaml.Node, direction: Direction, interface: Any) -> SerialAddress:
    """Reads `source` or `target` of a message."""
    label = "source" if direction == "in" else "target"
    has_layout = interface.form == "frames"
    nodes = reader.mapping(node, label, ("kind", "fields", "length") if has_layout else ("kind",))
    kind = COMMAND if direction == "in" else MEASUREMENT
    if "kind" in nodes:
        kind = whole_number(reader, nodes["kind"], "kind", 0, 255)
    if direction == "in" and kind == FAULT:
        raise reader.error(
            nodes["kind"], "kind", f"{FAULT} is the sender's fault, which has no signals", "give another"
        )
    layout = read_layout(reader, nodes, node, label, HIGHEST_PAYLOAD) if has_layout else None
    return SerialAddress(kind, layout)


def read_field(reader: Reader, node: yaml.Node, direction: Direction, address: Any, interface: Any) -> Field:
    """Reads the name of a field."""
    if address.layout is not None:
        return choose_field(reader, node, address.fields, str(address))
    name = reader.text(node, "field")
    if _NAME.fullmatch(name) is None:
        raise reader.error(node, "field", f"{shortened(name)} is not valid", "use letters, digits and _ . / -")
    return NumberField(name)


def check(mapping: BridgeMapping) -> None:
    """Refuses two messages of one kind, and counters and checksums that frames do not have."""
    lines: dict[tuple[str, int], int] = {}
    for message in mapping.messages:
        key = (message.direction, message.address.kind)
        if key in lines:
            problem = f"its kind {message.address.kind} is that of the message of line {lines[key]} too"
            raise _error(mapping, message, problem, "give each its own kind")
        lines[key] = message.line
        if message.checksum is not None:
            raise _error(mapping, message, "its frames have a checksum of their own", "remove checksum")
        if message.counter is not None and message.counter.profile != COUNTER_PROFILE:
            problem = f"the counter {message.counter.profile} has no place in its frames"
            raise _error(mapping, message, problem, f"write profile: {COUNTER_PROFILE}")
    is_udp = mapping.bridge == "udp"
    if is_udp != isinstance(mapping.interface, UdpInterface):
        keys = _UDP_KEYS if is_udp else _SERIAL_KEYS
        raise MachineError(
            f"the interface is not one of bridge {mapping.bridge}",
            file=mapping.file,
            element="interface",
            remedy=f"it has the keys {', '.join(keys)}",
        )


def _udp(reader: Reader, node: yaml.Node) -> UdpInterface:
    nodes = reader.mapping(node, "interface", _UDP_KEYS)
    is_open = "open" in nodes and reader.boolean(nodes["open"], "open")
    hosts = {}
    for key in ("host", "local_host"):
        hosts[key] = reader.text(nodes[key], key) if key in nodes else _LOOPBACK
        require_local(reader, nodes.get(key, node), hosts[key], is_open)
    ports = {
        key: whole_number(reader, reader.required(nodes, key, node, "interface"), key, *_PORTS)
        for key in ("port", "local_port")
    }
    return UdpInterface(hosts["host"], ports["port"], hosts["local_host"], ports["local_port"], _form(reader, nodes))


def _form(reader: Reader, nodes: dict[str, yaml.Node]) -> Form:
    if "form" not in nodes:
        return "frames"
    return "json" if reader.choice(nodes["form"], "form", ("frames", "json")) == "json" else "frames"


def _error(mapping: BridgeMapping, message, problem: str, remedy: str) -> MachineError:
    return MachineError(problem, file=mapping.file, line=message.line, element=f"message {message.name}", remedy=remedy)
