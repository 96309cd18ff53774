"""What a mapping of a CAN bus says about the interface, nodes, messages and fields."""

from collections.abc import Callable
from dataclasses import fields as fields_of
from typing import Any

import yaml
from cantools.database.can import Database, Message

from grouser.bridges.can import identifier as j1939
from grouser.bridges.can.canopen import NODES, PDOS, RECEIVE_PDO, TRANSMIT_PDO, process_data, read_data_sheet
from grouser.bridges.can.canopen_network import DeviceSettings, OwnNodeSettings
from grouser.bridges.can.database import DatabaseCodec, load_database
from grouser.bridges.can.joystick import PRIORITY as JOYSTICK_PRIORITY
from grouser.bridges.can.joystick import JoystickCodec, layout_of
from grouser.bridges.can.message_checks import check_messages
from grouser.bridges.can.name import Name
from grouser.bridges.can.settings import (
    BY_ITSELF,
    SYNCHRONOUS,
    CanInterface,
    Codec,
    Device,
    FrameAddress,
    GroupAddress,
    J1939Settings,
)
from grouser.bridges.can.transport_protocol import HIGHEST_LENGTH
from grouser.bridges.mapping.data import BridgeMapping, Direction, Field
from grouser.bridges.packed_schema import choose_field, keys_of, read_layout, whole_number
from grouser.physics.description.text.names import closest, shortened
from grouser.physics.description.text.yaml_reader import Reader

_FRAME_LENGTH = 8  # [bytes]
_INTERFACE_KEYS = ("interface", "channel", "bitrate", "options", "database", "j1939", "canopen", "open")
_GROUP_KEYS = ("pgn", "layout", "fields", "length", "address", "name", "priority", "destination")
_MESSAGE_KEYS = ("message", "address", "name", "priority", "destination")
_FRAME_KEYS = ("id", "extended", "fields", "length")
_DEVICE_KEYS = ("device", "pdo")
_OWN_KEYS = ("pdo", "fields", "length", "transmission")
_SYNCS = (0.01, 10.0)  # [s]
_DEFAULT_PRIORITY = 6
_HEARTBEATS = (0.01, 65.0)  # [s]
_BITRATES = (5_000, 1_000_000)  # [bit/s]
# Interfaces of python-can that send to a network.
_NETWORKED = ("udp_multicast", "socketcand", "remote", "cannelloni")


def read_interface(reader: Reader, node: yaml.Node) -> CanInterface:
    """Reads `interface`."""
    nodes = reader.mapping(node, "interface", _INTERFACE_KEYS)
    name = reader.text(reader.required(nodes, "interface", node, "interface"), "interface")
    is_open = "open" in nodes and reader.boolean(nodes["open"], "open")
    if name in _NETWORKED and not is_open:
        remedy = "add open: true beside it if the network is yours alone"
        raise reader.error(nodes["interface"], "interface", f"{name} sends every frame to the network", remedy)
    written = reader.entries(nodes["options"], "options") if "options" in nodes else ()
    options = {key: _option(reader, key, value, nodes) for key, value in written}
    if "bitrate" in nodes:
        options["bitrate"] = whole_number(reader, nodes["bitrate"], "bitrate", *_BITRATES)
    devices, own_node, sync = _canopen(reader, nodes["canopen"]) if "canopen" in nodes else ({}, None, None)
    return CanInterface(
        interface=name,
        channel=reader.text(nodes["channel"], "channel") if "channel" in nodes else "",
        options=options,
        database=_database(reader, nodes["database"]) if "database" in nodes else None,
        node=_j1939(reader, nodes["j1939"]) if "j1939" in nodes else None,
        devices=devices,
        own_node=own_node,
        sync=sync,
    )


def read_address(reader: Reader, node: yaml.Node, direction: Direction, interface: Any) -> FrameAddress | GroupAddress:
    """Reads `source` or `target` of a message: one of pgn, message, id, device or pdo says which form it has."""
    label = "source" if direction == "in" else "target"
    forms: dict[str, tuple[tuple[str, ...], Callable[..., FrameAddress | GroupAddress]]] = {
        "pgn": (_GROUP_KEYS, _group),
        "message": (_MESSAGE_KEYS, _message),
        "id": (_FRAME_KEYS, _frame),
        "device": (_DEVICE_KEYS, _device_data),
        "pdo": (_OWN_KEYS, _own_data),
    }
    written = keys_of(node)
    for key, (valid, read) in forms.items():
        if key in written:
            return read(reader, reader.mapping(node, label, valid), node, label, direction, interface)
    raise reader.error(node, label, "it does not say which message", f"give one of {', '.join(forms)}")


def read_field(reader: Reader, node: yaml.Node, direction: Direction, address: Any, interface: Any) -> Field:
    """Reads the name of a field of a message."""
    return choose_field(reader, node, dict(address.codec.fields), str(address))


def check(mapping: BridgeMapping) -> None:
    """Refuses messages that cannot be told apart, and counters and checksums without a place."""
    check_messages(mapping)


def _option(reader: Reader, key: str, node: yaml.Node, nodes: dict[str, yaml.Node]) -> str | int | float | bool:
    """An argument of python-can, of the type that YAML gives it."""
    if key in ("interface", "channel", "ignore_config") or (key == "bitrate" and key in nodes):
        raise reader.error(node, f"option {key}", "it is set already", "remove it from options")
    try:
        value = yaml.safe_load(yaml.serialize(node))
    except (yaml.YAMLError, ValueError):
        value = None
    if not isinstance(value, str | int | float | bool):
        raise reader.error(node, f"option {key}", "a number, a text or true or false is needed")
    return value


def _database(reader: Reader, node: yaml.Node) -> Database:
    path = reader.path(node, "database")
    try:
        return load_database(path)
    except (OSError, ValueError) as problem:
        raise reader.error(node, "database", str(problem), "check the file") from None


def _j1939(reader: Reader, node: yaml.Node) -> J1939Settings:
    nodes = reader.mapping(node, "j1939", ("address", "name"))
    address = reader.required(nodes, "address", node, "j1939")
    return J1939Settings(
        name=_name(reader, reader.required(nodes, "name", node, "j1939")),
        address=whole_number(reader, address, "j1939 address", 0, j1939.HIGHEST_ADDRESS),
    )


def _name(reader: Reader, node: yaml.Node) -> Name:
    """A NAME: its fields, or its 64 bits as a number."""
    if isinstance(node, yaml.ScalarNode):
        return Name.unpack(whole_number(reader, node, "name", 0, (1 << 64) - 1).to_bytes(8, "little"))
    valid = tuple(entry.name for entry in fields_of(Name))
    nodes = reader.mapping(node, "name", valid)
    for key in ("identity_number", "manufacturer_code"):
        reader.required(nodes, key, node, "name")
    try:
        return Name(**{key: whole_number(reader, value, key, 0, (1 << 21) - 1) for key, value in nodes.items()})
    except ValueError as problem:
        raise reader.error(node, "name", str(problem)) from None


def _canopen(reader: Reader, node: yaml.Node) -> tuple[dict[str, Device], OwnNodeSettings | None, float | None]:
    nodes = reader.mapping(node, "canopen", ("devices", "node", "sync"))
    sync = reader.number(nodes["sync"], "sync", *_SYNCS) if "sync" in nodes else None
    devices: dict[str, Device] = {}
    for name, entry in reader.entries(nodes["devices"], "devices") if "devices" in nodes else ():
        device = _device(reader, name, entry)
        if any(device.settings.node == other.settings.node for other in devices.values()):
            problem = f"node {device.settings.node} is another device's as well"
            raise reader.error(entry, f"device {name}", problem, "give each its own")
        devices[name] = device
    if "node" not in nodes:
        return devices, None, sync
    parts = reader.mapping(nodes["node"], "node", ("id", "heartbeat", "start"))
    own = OwnNodeSettings(
        node=_node_number(reader, reader.required(parts, "id", nodes["node"], "node"), "node id"),
        heartbeat=reader.number(
            reader.required(parts, "heartbeat", nodes["node"], "node"), "node heartbeat", *_HEARTBEATS
        ),
        is_self_starting="start" in parts and reader.boolean(parts["start"], "node start"),
    )
    if any(own.node == device.settings.node for device in devices.values()):
        raise reader.error(nodes["node"], "node id", f"{own.node} is a device's as well", "give each its own")
    return devices, own, sync


def _device(reader: Reader, name: str, node: yaml.Node) -> Device:
    label = f"device {name}"
    nodes = reader.mapping(node, label, ("node", "eds", "heartbeat", "start"))
    number = _node_number(reader, reader.required(nodes, "node", node, label), f"{label} node")
    sheet = reader.required(nodes, "eds", node, label)
    path = reader.path(sheet, f"{label} eds")
    try:
        objects = read_data_sheet(path, number)
    except (OSError, ValueError) as problem:
        raise reader.error(sheet, label, str(problem), "check the file") from None
    heartbeat = None
    if "heartbeat" in nodes:
        heartbeat = reader.number(nodes["heartbeat"], f"{label} heartbeat", *_HEARTBEATS)
    has_to_start = "start" in nodes and reader.boolean(nodes["start"], f"{label} start")
    return Device(DeviceSettings(number, heartbeat, has_to_start), objects)


def _node_number(reader: Reader, node: yaml.Node, name: str) -> int:
    return whole_number(reader, node, name, NODES.start, NODES.stop - 1)


def _group(reader, nodes, node, label, direction, interface) -> GroupAddress:
    pgn = whole_number(reader, nodes["pgn"], "pgn", 0, j1939.HIGHEST_PGN)
    if not j1939.is_broadcast(pgn) and pgn & 0xFF:
        remedy = f"write {pgn & ~0xFF:#x}, and destination: {pgn & 0xFF:#x} where it is sent"
        raise reader.error(nodes["pgn"], "pgn", f"{pgn:#x} contains a destination", remedy)
    codec: Codec
    is_joystick = "fields" not in nodes
    if not is_joystick:
        if "layout" in nodes:
            raise reader.error(nodes["layout"], label, "it has both layout and fields", "keep one of them")
        codec = read_layout(reader, nodes, node, label, HIGHEST_LENGTH, filler=1)
    else:
        layout = layout_of(pgn)
        if "layout" in nodes:
            layout = reader.choice(nodes["layout"], "layout", ("bjm", "ejm"))
        if layout is None:
            raise reader.error(node, label, f"pgn {pgn} has no layout of its own", "add fields, or layout: bjm or ejm")
        if "length" in nodes:
            raise reader.error(nodes["length"], label, f"the length of {layout} is fixed", "remove it")
        codec = JoystickCodec(layout)
    priority = JOYSTICK_PRIORITY if is_joystick else _DEFAULT_PRIORITY
    return _addressed(reader, nodes, node, label, direction, interface, pgn, codec, priority, is_joystick)


def _message(reader, nodes, node, label, direction, interface) -> FrameAddress | GroupAddress:
    database = interface.database
    if database is None:
        raise reader.error(node, label, "the interface has no database", "add database: file.dbc to interface")
    name = reader.text(nodes["message"], "message")
    try:
        message: Message = database.get_message_by_name(name)
    except KeyError:
        remedy = closest(name, [known.name for known in database.messages])
        raise reader.error(nodes["message"], "message", f"the database has no {shortened(name)}", remedy) from None
    if message.is_multiplexed():
        raise reader.error(nodes["message"], "message", f"{name} is multiplexed, which is not supported")
    is_group = message.is_extended_frame and (
        "address" in nodes or "name" in nodes or (direction == "out" and interface.node is not None)
    )
    longest = HIGHEST_LENGTH if is_group else _FRAME_LENGTH
    if message.length > longest:
        problem = f"{name} has {message.length} bytes; valid: up to {longest}"
        remedy = "messages of J1939, with address or name of the sender, may have more"
        raise reader.error(nodes["message"], "message", problem, "make it two" if is_group else remedy)
    if is_group:
        parts = j1939.unpack_identifier(message.frame_id)
        codec = DatabaseCodec(message, True)
        return _addressed(reader, nodes, node, label, direction, interface, parts.pgn, codec, parts.priority, False)
    for key in ("address", "name", "priority", "destination"):
        if key in nodes:
            raise reader.error(nodes[key], label, f"{name} is no message of J1939, it has no {key}", "remove it")
    is_j1939 = message.is_extended_frame and message.protocol == "j1939"
    return FrameAddress(message.frame_id, message.is_extended_frame, DatabaseCodec(message, is_j1939))


def _addressed(reader, nodes, node, label, direction, interface, pgn, codec, priority, is_joystick) -> GroupAddress:
    """A message of J1939 with the keys that say who sends or takes it."""
    if direction == "in":
        for key in ("priority", "destination"):
            if key in nodes:
                raise reader.error(nodes[key], label, f"{key} is of messages that are sent", "remove it")
        if "address" not in nodes and "name" not in nodes:
            raise reader.error(node, label, "it does not say from whom", "add address: 0x.., or name: of the sender")
        source = None
        if "address" in nodes:
            source = whole_number(reader, nodes["address"], "address", 0, j1939.HIGHEST_ADDRESS)
        name = _name(reader, nodes["name"]) if "name" in nodes else None
        return GroupAddress(pgn, codec, source, name)
    for key in ("address", "name"):
        if key in nodes:
            raise reader.error(nodes[key], label, f"{key} is of messages that are received", "remove it")
    if interface.node is None:
        remedy = "add j1939: {address: ..., name: ...} to interface"
        raise reader.error(node, label, "the bridge has no address to send from", remedy)
    if "priority" in nodes:
        priority = whole_number(reader, nodes["priority"], "priority", 0, 7)
    destination = j1939.GLOBAL_ADDRESS
    if "destination" in nodes:
        destination = whole_number(reader, nodes["destination"], "destination", 0, j1939.GLOBAL_ADDRESS)
        is_one_frame = codec.length <= _FRAME_LENGTH
        if j1939.is_broadcast(pgn) and destination != j1939.GLOBAL_ADDRESS and is_one_frame:
            raise reader.error(nodes["destination"], label, f"pgn {pgn} goes to all", "remove it")
    return GroupAddress(pgn, codec, priority=priority, destination=destination, is_joystick=is_joystick)


def _frame(reader, nodes, node, label, direction, interface) -> FrameAddress:
    number = whole_number(reader, nodes["id"], "id", 0, (1 << 29) - 1)
    is_extended = number >= 1 << 11
    if "extended" in nodes:
        is_extended = reader.boolean(nodes["extended"], "extended")
        if not is_extended and number >= 1 << 11:
            raise reader.error(nodes["id"], "id", f"{number:#x} has more than 11 bits", "write extended: true")
    return FrameAddress(number, is_extended, read_layout(reader, nodes, node, label, _FRAME_LENGTH))


def _device_data(reader, nodes, node, label, direction, interface) -> FrameAddress:
    if not interface.devices:
        raise reader.error(node, label, "the interface has no devices", "add canopen: {devices: ...} to interface")
    device = interface.devices[reader.choice(nodes["device"], "device", tuple(interface.devices))]
    number = whole_number(reader, reader.required(nodes, "pdo", node, label), "pdo", 1, 512)
    try:
        data = process_data(device.objects, device.settings.node, number, direction == "in")
    except ValueError as problem:
        raise reader.error(node, label, str(problem), "check the data sheet") from None
    if data.layout.length > _FRAME_LENGTH:
        raise reader.error(node, label, f"pdo {number} has {data.layout.length} bytes; valid: up to {_FRAME_LENGTH}")
    return FrameAddress(data.identifier, False, data.layout, device.settings.node, True)


def _own_data(reader, nodes, node, label, direction, interface) -> FrameAddress:
    if interface.own_node is None:
        remedy = "add canopen: {node: {id: ..., heartbeat: ...}} to interface, or name a device"
        raise reader.error(node, label, "the bridge is no node of CANopen", remedy)
    number = whole_number(reader, nodes["pdo"], "pdo", PDOS.start, PDOS.stop - 1)
    first = RECEIVE_PDO if direction == "in" else TRANSMIT_PDO
    identifier = first + 0x100 * (number - 1) + interface.own_node.node
    transmission = BY_ITSELF
    if "transmission" in nodes:
        transmission = whole_number(reader, nodes["transmission"], "transmission", 1, BY_ITSELF)
        if transmission not in (*SYNCHRONOUS, BY_ITSELF - 1, BY_ITSELF):
            remedy = "write 1 to 240 for each n-th SYNC, or 254 or 255 for process data that go by themselves"
            raise reader.error(nodes["transmission"], "transmission", f"{transmission} is not supported", remedy)
    layout = read_layout(reader, nodes, node, label, _FRAME_LENGTH)
    return FrameAddress(identifier, False, layout, is_process_data=True, transmission=transmission)
