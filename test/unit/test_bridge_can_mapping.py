"""Mapping files of CAN, serial and UDP bridges: what they mean, and what is refused with line and remedy."""

from pathlib import Path

import pytest

from grouser.bridges.can.frames import CanFrame
from grouser.bridges.can.name import Name
from grouser.bridges.can.router import STRANGER, Router
from grouser.bridges.can.settings import FrameAddress, GroupAddress
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.serial.settings import SerialAddress, UdpInterface
from grouser.physics.base.errors import MachineError

ROOT = Path(__file__).resolve().parent.parent.parent
DATABASE = ROOT / "config" / "bridges" / "excavator.dbc"
DATA_SHEET = ROOT / "test" / "data" / "canopen_stick.eds"

# Joystick axes and buttons as signals need no machine.
CAN = f"""
version: 1
bridge: can
interface:
  interface: virtual
  channel: x
  bitrate: 250000
  database: {DATABASE}
  j1939: {{address: 0x80, name: {{identity_number: 1234, manufacturer_code: 0x666, industry_group: 3}}}}
  canopen: {{devices: {{stick: {{node: 10, eds: {DATA_SHEET}}}}}, node: {{id: 5, heartbeat: 0.2}}}}
timeout: 0.25
messages:
  - name: stick
    direction: in
    source: SOURCE
    period: 0.1 # rules
    signals:
      - {{source: FIELD, signal: joy/axis_0, range: [-1, 1], safe: 0.0}}
  - name: back
    direction: out
    target: TARGET
    period: 0.1
    signals:
      - {{target: x, signal: joy/axis_1}}
"""
BJM = "{pgn: 64982, address: 0x33}"
PROPRIETARY = "{pgn: 0xFF20, fields: {x: i16}}"

SERIAL = """
version: 1
bridge: serial
interface: {port: /dev/ttyUSB0, baud_rate: 115200}
timeout: 0.25
messages:
  - name: command
    direction: in
    source: {kind: 1, fields: {x: i16}}
    period: 0.1
    counter: {profile: u16}
    signals:
      - {source: x, signal: joy/axis_0, scale: 0.001, range: [-1, 1], safe: 0.0}
  - name: second
    direction: in
    source: {kind: 5, fields: {x: i16}}
    period: 0.1
    signals:
      - {source: x, signal: joy/axis_1, scale: 0.001, range: [-1, 1], safe: 0.0}
"""
UDP = SERIAL.replace("bridge: serial", "bridge: udp").replace(
    "{port: /dev/ttyUSB0, baud_rate: 115200}", "{port: 5601, local_port: 5600}"
)


def load(tmp_path, text):
    path = tmp_path / "mapping.yaml"
    path.write_text(text)
    return load_bridge_mapping(path)


def load_can(tmp_path, source=BJM, field="x", target=PROPRIETARY, **changes):
    text = CAN.replace("SOURCE", source).replace("FIELD", field).replace("TARGET", target)
    for old, new in changes.get("changes", {}).items():
        assert old in text
        text = text.replace(old, new)
    return load(tmp_path, text)


def test_an_interface(tmp_path):
    interface = load_can(tmp_path).interface
    assert (interface.interface, interface.channel, interface.options) == ("virtual", "x", {"bitrate": 250000})
    assert interface.node.address == 0x80
    assert interface.node.name == Name(1234, 0x666, industry_group=3)
    assert interface.devices["stick"].settings.node == 10
    assert (interface.own_node.node, interface.own_node.heartbeat) == (5, 0.2)


@pytest.mark.parametrize(
    ("source", "field", "pgn", "sender", "name"),
    [
        (BJM, "x", 64982, 0x33, None),
        ("{pgn: 0xFDD7, address: 19}", "theta", 64983, 0x13, None),
        ("{pgn: 0xFF30, address: 0x33, layout: bjm}", "button_12", 0xFF30, 0x33, None),
        ("{pgn: 0xFF30, address: 0x33, fields: {a: u8, v: {type: i16, bit: 24}}}", "v", 0xFF30, 0x33, None),
        ("{pgn: 64982, name: 0x30028211FFE12345}", "y", 64982, None, Name.unpack(bytes.fromhex("4523E1FF11820230"))),
        ("{message: ArmAngles, address: 0x42}", "BoomAngle", 65296, 0x42, None),
    ],
)
def test_messages_of_j1939(tmp_path, source, field, pgn, sender, name):
    changes = {"range: [-1, 1]": "range: [0, 1]"} if field.startswith("button") else {}
    (message, _) = load_can(tmp_path, source, field, changes=changes).messages
    assert isinstance(message.address, GroupAddress)
    assert (message.address.pgn, message.address.source, message.address.name) == (pgn, sender, name)
    assert message.signals[0].field == field


@pytest.mark.parametrize(
    ("source", "field", "identifier", "is_extended", "device"),
    [
        ("{message: EcuCommand}", "BoomSpool", 0x120, False, None),
        ("{message: ArmAngles}", "BoomAngle", 0x18FF10FE, True, None),
        ("{id: 0x321, fields: {v: f32}}", "v", 0x321, False, None),
        ("{id: 0x321, extended: true, fields: {v: f32}}", "v", 0x321, True, None),
        ("{device: stick, pdo: 1}", "Joystick.X", 0x18A, False, 10),
        ("{pdo: 2, fields: {v: f32}}", "v", 0x305, False, None),
    ],
)
def test_messages_with_identifiers(tmp_path, source, field, identifier, is_extended, device):
    address = load_can(tmp_path, source, field).messages[0].address
    assert isinstance(address, FrameAddress)
    assert (address.identifier, address.is_extended, address.device) == (identifier, is_extended, device)


def test_targets(tmp_path):
    back = load_can(tmp_path, target="{pgn: 64984}").messages[1].address
    assert (back.pgn, back.priority, back.destination, back.is_joystick) == (64984, 3, 0xFF, True)
    back = load_can(tmp_path, target="{pgn: 0xEF00, destination: 0x21, priority: 4, fields: {x: i16}}").messages[1]
    assert (back.address.pgn, back.address.priority, back.address.destination) == (0xEF00, 4, 0x21)
    assert load_can(tmp_path, target="{pdo: 1, fields: {x: i16}}").messages[1].address.identifier == 0x185


@pytest.mark.parametrize(
    ("source", "field", "problem"),
    [
        ("{}", "x", r"mapping.yaml:15: source: it does not say which message \(give one of pgn, message"),
        ("{pgn: 64982}", "x", "it does not say from whom"),
        ("{pgn: 65000, address: 1}", "x", "pgn 65000 has no layout of its own"),
        ("{pgn: 0xEA13, address: 1, fields: {x: u8}}", "x", "0xea13 contains a destination"),
        ("{pgn: 64982, address: 0xFE}", "x", "0xFE is out of range; valid: 0 to 253"),
        ("{pgn: 64982, address: 0x33, priority: 3}", "x", "priority is of messages that are sent"),
        ("{pgn: 64982, address: 0x33, name: {identity_number: 1}}", "x", "key 'manufacturer_code' is missing"),
        ("{pgn: 64982, address: 0x33, sender: 1}", "x", "unknown key 'sender'"),
        (BJM, "z", "'z' is not valid"),
        (BJM, "theta", "'theta' is not valid"),
        ("{message: EcuComand}", "x", "the database has no 'EcuComand'.*EcuCommand"),
        ("{message: EcuCommand, address: 0x33}", "BoomSpool", "EcuCommand is no message of J1939"),
        ("{id: 0x800, extended: false, fields: {x: u8}}", "x", "0x800 has more than 11 bits"),
        ("{id: 1, fields: {x: u8, y: {type: u8, bit: 4}}}", "x", "bits 4 and on are another field's as well"),
        ("{id: 1, fields: {x: u7be}}", "x", "type u7be: valid is u or i"),
        ("{id: 1, fields: {x: f64, y: u8}}", "x", "its fields take 9 bytes; valid: up to 8"),
        ("{id: 1, length: 1, fields: {x: u16}}", "x", "ends after the 1 bytes"),
        ("{id: 1, fields: {x: u16}}", "x", "more than 'x' can hold: 0 to 65535"),
        ("{device: stik, pdo: 1}", "x", "'stik' is not valid"),
        ("{device: stick, pdo: 2}", "x", "TPDO2: is switched off"),
        ("{device: stick}", "x", "key 'pdo' is missing"),
    ],
)
def test_sources_that_are_refused(tmp_path, source, field, problem):
    with pytest.raises(MachineError, match=problem):
        load_can(tmp_path, source, field)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"interface: virtual": "interface: udp_multicast"}, "udp_multicast sends every frame to the network"),
        ({"bitrate: 250000": "bitrate: 250"}, "250 is out of range; valid: 5000 to 1000000"),
        ({str(DATABASE): "/nowhere.dbc"}, "mapping.yaml:8: database: .*nowhere.dbc"),
        ({str(DATA_SHEET): str(DATABASE)}, "no electronic data sheet"),
        ({"node: 10": "node: 128"}, "128 is out of range; valid: 1 to 127"),
        ({"node: 10": "node: 5"}, "5 is a device's as well"),
        ({"industry_group: 3": "industry_group: 9"}, "industry_group 9: valid is 0 to 7"),
        ({"identity_number: 1234, ": ""}, "key 'identity_number' is missing"),
        ({"bitrate: 250000": "options: {x: 2024-13-01}"}, "mapping.yaml:7: option x: a number, a text"),
        ({"bitrate: 250000": "options: {x: !foo bar}"}, "mapping.yaml:7: option x: a number, a text"),
        ({"bitrate: 250000": "options: {x: [1]}"}, "mapping.yaml:7: option x: a number, a text"),
        ({"bitrate: 250000": "options: {channel: y}"}, "mapping.yaml:7: option channel: it is set already"),
        ({"bitrate: 250000": "options: {interface: y}"}, "mapping.yaml:7: option interface: it is set already"),
        ({"bitrate: 250000": "bitrate: 250000\n  options: {bitrate: 1}"}, "option bitrate: it is set already"),
        ({"# rules": "\n    counter: {profile: u16}"}, "the counter u16 has no place in a CAN frame"),
    ],
)
def test_interfaces_that_are_refused(tmp_path, changes, problem):
    with pytest.raises(MachineError, match=problem):
        load_can(tmp_path, changes=changes)


def test_a_bridge_without_an_address_sends_nothing_of_j1939(tmp_path):
    own = "  j1939: {address: 0x80, name: {identity_number: 1234, manufacturer_code: 0x666, industry_group: 3}}\n"
    with pytest.raises(MachineError, match="the bridge has no address to send from"):
        load_can(tmp_path, changes={own: ""})


@pytest.mark.parametrize(
    ("counter", "checksum", "source", "field", "problem"),
    [
        ("e2e_11", "e2e_5", BJM, "x", "its counter is of e2e_11 and its checksum of e2e_5"),
        ("e2e_5", "e2e_5", "{id: 1, fields: {v: i16}}", "v", "2 bytes have no place for e2e_5"),
        ("j1939_tsc1", "j1939_tsc1", "{id: 1, fields: {v: i64}}", "v", "j1939_tsc1 is of frames with 29 bits"),
    ],
)
def test_counters_without_a_place_are_refused(tmp_path, counter, checksum, source, field, problem):
    data_id = "" if checksum == "j1939_tsc1" else ", data_id: 1"
    rules = f"\n    counter: {{profile: {counter}}}\n    checksum: {{profile: {checksum}{data_id}}}"
    with pytest.raises(MachineError, match=problem):
        load_can(tmp_path, source, field, changes={"# rules": rules})


@pytest.mark.parametrize(
    ("profile", "source", "field", "is_refused"),
    [
        ("e2e_5", "{id: 1, fields: {v: i64}}", "v", True),
        ("e2e_5", "{id: 1, fields: {v: {type: i16, bit: 23}}}", "v", True),
        ("e2e_5", "{id: 1, fields: {v: {type: i16, bit: 24}}}", "v", False),
        ("e2e_5", "{id: 1, fields: {crc: u16, n: u8, v: i16}}", "v", False),
        ("e2e_11", "{id: 1, fields: {v: {type: i16, bit: 11}}}", "v", True),
        ("e2e_11", "{id: 1, fields: {v: {type: i16, bit: 12}}}", "v", False),
        ("j1939_tsc1", "{pgn: 0xFF30, address: 1, length: 8, fields: {v: {type: i16, bit: 41}}}", "v", True),
        ("j1939_tsc1", "{pgn: 0xFF30, address: 1, length: 8, fields: {v: {type: i16, bit: 40}}}", "v", False),
        ("e2e_5", BJM, "x", True),
        ("e2e_5", "{message: EcuCommand}", "CommandCounter", True),
        ("e2e_5", "{message: EcuCommand}", "BoomSpool", False),
    ],
)
def test_fields_leave_room_for_counter_and_checksum(tmp_path, profile, source, field, is_refused):
    data_id = "" if profile == "j1939_tsc1" else ", data_id: 1"
    changes = {
        "# rules": f"\n    checksum: {{profile: {profile}{data_id}}}",
        "range: [-1, 1], safe": "range: [0, 1], safe",
    }
    if is_refused:
        with pytest.raises(MachineError, match=f"field {field} of line .* has bits of the .* checksum of {profile}"):
            load_can(tmp_path, source, field, changes=changes)
    else:
        load_can(tmp_path, source, field, changes=changes)


def test_a_counter_alone_takes_only_its_own_bits(tmp_path):
    changes = {"# rules": "\n    counter: {profile: e2e_5}"}
    load_can(tmp_path, "{id: 1, fields: {v: i16}, length: 3}", "v", changes=changes)
    with pytest.raises(MachineError, match="field v of line"):
        load_can(tmp_path, "{id: 1, fields: {v: i24}}", "v", changes=changes)


def test_a_named_sender_is_found_at_the_address_that_another_has_in_the_mapping(tmp_path):
    both, moved = "{pgn: 64982, address: 0x33, name: 1}", "{pgn: 64982, name: 2}"
    other = f"""  - name: moved
    direction: in
    source: {moved}
    period: 0.1
    signals:
      - {{source: y, signal: joy/axis_2, range: [-1, 1], safe: 0.0}}
"""
    router = Router(load_can(tmp_path, both, changes={"  - name: back": f"{other}  - name: back"}))
    frame = CanFrame(0x0CFDD633, True, bytes.fromhex("01000100FF0000FF"))

    def received(name):
        found = router.receive(frame, {0x33: Name.unpack(name.to_bytes(8, "little"))}, (), 0.0)
        return found.message, found.refusal

    assert received(1) == ("stick", "")
    assert received(2) == ("moved", "")
    assert received(3) == ("stick", STRANGER)


def test_two_messages_in_one_frame_are_refused(tmp_path):
    other = f"""  - name: again
    direction: in
    source: {BJM}
    period: 0.1
    signals:
      - {{source: y, signal: joy/axis_2, range: [-1, 1], safe: 0.0}}
"""
    with pytest.raises(MachineError, match="PGN 64982 of 0x33 is the message of line 13 too"):
        load_can(tmp_path, changes={"  - name: back": f"{other}  - name: back"})


def test_serial_and_udp_interfaces(tmp_path):
    mapping = load(tmp_path, SERIAL)
    assert (mapping.interface.port, mapping.interface.baud_rate) == ("/dev/ttyUSB0", 115200)
    assert isinstance(mapping.messages[1].address, SerialAddress)
    assert mapping.messages[1].address.kind == 5
    assert load(tmp_path, UDP).interface == UdpInterface("127.0.0.1", 5601, "127.0.0.1", 5600, "frames")


@pytest.mark.parametrize(
    ("text", "old", "new", "problem"),
    [
        (SERIAL, "kind: 5", "kind: 1", "its kind 1 is that of the message of line 7 too"),
        (SERIAL, "kind: 5", "kind: 4", "4 is the sender's fault"),
        (SERIAL, "profile: u16", "profile: e2e_5", "the counter e2e_5 has no place in its frames"),
        (SERIAL, "counter: {profile: u16}", "checksum: {profile: e2e_11, data_id: 1}", "a checksum of their own"),
        (SERIAL, "baud_rate: 115200", "baud_rate: 10", "10 is out of range"),
        (SERIAL, "bridge: serial", "bridge: udp", "the interface is not one of bridge udp"),
        (UDP, "bridge: udp", "bridge: serial", "the interface is not one of bridge serial"),
        (UDP, "port: 5601, ", "port: 5601, host: 192.0.2.1, ", "192.0.2.1.* is not this computer"),
        (UDP, "port: 5601, ", "port: 5601, local_host: 0.0.0.0, ", "0.0.0.0.* is not this computer"),
        (UDP, "port: 5601, ", "", "key 'port' is missing"),
        (UDP, "fields: {x: i16}", "fields: {x: w16}", "type w16: valid is u or i"),
    ],
)
def test_serial_and_udp_mappings_that_are_refused(tmp_path, text, old, new, problem):
    with pytest.raises(MachineError, match=problem):
        load(tmp_path, text.replace(old, new))


def test_a_network_is_opened_by_name(tmp_path):
    text = UDP.replace("port: 5601, ", "port: 5601, host: 192.0.2.1, local_host: 0.0.0.0, open: true, ")
    assert load(tmp_path, text).interface.host == "192.0.2.1"


def test_lines_of_json_have_free_names(tmp_path):
    text = SERIAL.replace("115200", "115200, form: json").replace(", fields: {x: i16}", "")
    assert load(tmp_path, text).messages[0].signals[0].field == "x"
    with pytest.raises(MachineError, match="is not valid"):
        load(tmp_path, text.replace("source: x", "source: 'x y'"))
    with pytest.raises(MachineError, match="unknown key 'fields'"):
        load(tmp_path, SERIAL.replace("115200", "115200, form: json"))
