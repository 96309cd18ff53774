"""Codecs of CAN frames beside J1939's own: databases, fixed fields, CANopen."""

import math
import struct
from pathlib import Path

import cantools
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouser.bridges.can.canopen import (
    Emergency,
    NmtCommand,
    NodeState,
    heartbeat,
    nmt_command,
    process_data,
    read_data_sheet,
    read_emergency,
    read_heartbeat,
)
from grouser.bridges.can.database import DatabaseCodec, load_database
from grouser.bridges.packed_fields import FieldType, PackedField, PackedLayout

# A stick: it sends two axes of 16 bits and 8 buttons, and receives a number for its lamp.
DATA_SHEET = Path(__file__).resolve().parent.parent / "data" / "canopen_stick.eds"

DATABASE = """VERSION ""
BS_:
BU_: Machine
BO_ 291 Pressures: 8 Machine
 SG_ BoomPiston : 0|16@1+ (0.1,0) [0|6000] "bar" Machine
 SG_ BoomRod : 16|12@1- (0.5,-100) [-1124|923.5] "bar" Machine
 SG_ Motorola : 39|16@0+ (1,0) [0|65535] "" Machine
 SG_ Level : 48|10@1+ (0.1,0) [0|100] "%" Machine
 SG_ Pump : 58|2@1+ (1,0) [0|3] "" Machine
BO_ 292 Flow: 4 Machine
 SG_ Value : 0|32@1- (1,0) [0|0] "l/min" Machine
SIG_VALTYPE_ 292 Value : 1;
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("database") / "machine.dbc"
    path.write_text(DATABASE)
    return load_database(path)


def test_a_database_decodes_physical_values(database):
    codec = DatabaseCodec(database.get_message_by_name("Pressures"), False)
    bits = 1855 | (0x1000 - 24) << 16 | 0x34 << 32 | 0x12 << 40 | 500 << 48 | 1 << 58
    # bit 39 is the most significant bit of byte 5: the value begins there and goes on in byte 6
    decoded = codec.decode(bits.to_bytes(8, "little"))
    assert decoded.values == pytest.approx(
        {"BoomPiston": 185.5, "BoomRod": -112.0, "Motorola": 0x3412, "Level": 50.0, "Pump": 1.0}
    )
    assert codec.encode(decoded.values) == bits.to_bytes(8, "little")


@pytest.mark.parametrize("length", [0, 7, 9])
def test_a_database_refuses_other_lengths(database, length):
    assert DatabaseCodec(database.get_message_by_name("Pressures"), False).decode(bytes(length)).refusal == "length"


def test_codes_of_j1939_are_no_measurements(database):
    codec = DatabaseCodec(database.get_message_by_name("Pressures"), True)
    words = {0xFAFF: "values", 0xFB00: "absent", 0xFE00: "errors", 0xFEFF: "errors", 0xFF00: "absent"}
    for raw, kind in words.items():
        decoded = codec.decode(raw.to_bytes(2, "little") + bytes(6))
        assert "BoomPiston" in getattr(decoded, kind), hex(raw)
    for raw, kind in ((1000, "values"), (1001, "absent"), (1022, "errors"), (1023, "absent")):
        assert "Level" in getattr(codec.decode((raw << 48).to_bytes(8, "little")), kind), raw
    for raw, kind in ((1, "values"), (2, "errors"), (3, "absent")):
        assert "Pump" in getattr(codec.decode((raw << 58).to_bytes(8, "little")), kind), raw
    assert codec.fields["Level"].limits == pytest.approx((0.0, 100.0))
    assert codec.fields["BoomRod"].limits == pytest.approx((-1124.0, 923.5))
    sent = codec.decode(codec.encode({"BoomPiston": float("nan"), "BoomRod": 0.0, "Level": 100.0}))
    assert sent.errors == {"BoomPiston"}
    assert sent.absent == {"Motorola", "Pump"}
    assert sent.values == pytest.approx({"BoomRod": 0.0, "Level": 100.0})


def test_a_value_without_a_code_stops_the_message(database):
    codec = DatabaseCodec(database.get_message_by_name("Pressures"), False)
    assert codec.encode({"BoomPiston": float("nan")}) is None


@pytest.mark.parametrize(("has_codes", "value"), [(False, 6553.6), (True, 6425.6), (False, -0.1)])
def test_values_beyond_the_bits_are_not_sent(database, has_codes, value):
    codec = DatabaseCodec(database.get_message_by_name("Pressures"), has_codes)
    with pytest.raises(ValueError, match="field BoomPiston: value .*, valid is 0 to"):
        codec.encode({"BoomPiston": value})


def test_a_float_of_a_database_that_is_not_finite_is_no_value(database):
    codec = DatabaseCodec(database.get_message_by_name("Flow"), False)
    assert codec.decode(struct.pack("<f", 1.5)).values == {"Value": 1.5}
    assert codec.decode(struct.pack("<f", float("inf"))).absent == {"Value"}
    assert codec.fields["Value"].limits is None


def test_a_signal_longer_than_its_message_is_refused(tmp_path):
    path = tmp_path / "wrong.dbc"
    path.write_text(DATABASE.replace("0|16@1+", "0|70@1+"))
    with pytest.raises(ValueError, match="wrong.dbc: .*Pressures"):
        load_database(path)
    path.write_text("no database")
    with pytest.raises(ValueError, match="wrong.dbc"):
        load_database(path)


@given(st.binary(max_size=9))
def test_random_bytes_of_a_database_are_decoded_or_refused(data):
    message = cantools.database.load_string(DATABASE, "dbc").get_message_by_name("Pressures")
    decoded = DatabaseCodec(message, True).decode(data)
    if len(data) != 8:
        assert decoded.refusal == "length"
    else:
        assert set(decoded.values) | decoded.errors | decoded.absent == {signal.name for signal in message.signals}


@pytest.mark.parametrize(
    ("text", "data", "value"),
    [
        ("u8", "FE", 254.0),
        ("i16", "20D1", -12000.0),
        ("i16be", "D120", -12000.0),
        ("u32be", "00010000", 65536.0),
        ("f32", "0000C03F", 1.5),
        ("f32be", "3FC00000", 1.5),
        ("f64", "000000000000F83F", 1.5),
        ("i64", "FFFFFFFFFFFFFFFF", -1.0),
    ],
)
def test_types_of_fields(text, data, value):
    layout = PackedLayout((PackedField("x", 0, FieldType.parse(text)),))
    assert layout.decode(bytes.fromhex(data)).values == {"x": value}
    assert layout.encode({"x": value}).hex().upper() == data


@pytest.mark.parametrize("text", ["u53", "u54", "u63", "u64", "i54", "i55", "i63", "i64", "u64be"])
def test_long_integers_do_not_wrap_at_their_border(text):
    kind = FieldType.parse(text)
    low, high = kind.limits
    assert kind.read(kind.write(low)) == low
    assert kind.read(kind.write(high)) == high
    with pytest.raises(ValueError, match="valid is"):
        kind.write(math.nextafter(high, math.inf) if high >= 2**53 else high + 1.0)
    with pytest.raises(ValueError, match="valid is"):
        kind.write(math.nextafter(low, -math.inf) if low <= -(2**53) else low - 1.0)


def test_bits_of_fields(database):
    fields = DatabaseCodec(database.get_message_by_name("Pressures"), False).fields
    assert {name: field.mask for name, field in fields.items()} == {
        "BoomPiston": 0xFFFF,
        "BoomRod": 0xFFF << 16,
        "Motorola": 0xFFFF << 32,
        "Level": 0x3FF << 48,
        "Pump": 3 << 58,
    }


def test_fields_of_bits():
    fields = (PackedField("a", 1, FieldType.parse("u3")), PackedField("b", 6, FieldType.parse("i10")))
    layout = PackedLayout(fields, 3, filler=1)
    assert layout.encode({"a": 5, "b": -1}).hex().upper() == "FBFFFF"
    assert layout.encode({"a": 2, "b": -512}).hex().upper() == "3580FF"
    assert layout.decode(bytes.fromhex("3580FF")).values == {"a": 2.0, "b": -512.0}
    assert layout.decode(bytes(2)).refusal == "length"
    with pytest.raises(ValueError, match="field a: value 8: valid is 0 to 7"):
        layout.encode({"a": 8})
    assert layout.encode({"a": float("nan")}) is None


@pytest.mark.parametrize("text", ["u0", "u65", "i12be", "f16", "x8", "u8le", ""])
def test_unknown_types_are_refused(text):
    with pytest.raises(ValueError, match="valid is u or i with 1 to 64 bits"):
        FieldType.parse(text)


def test_layouts_that_contradict_themselves_are_refused():
    with pytest.raises(ValueError, match="field b: bits 7 and on are another field's"):
        PackedLayout((PackedField("a", 0, FieldType.parse("u8")), PackedField("b", 7, FieldType.parse("u2"))))
    with pytest.raises(ValueError, match="field a: ends after the 1 bytes"):
        PackedLayout((PackedField("a", 0, FieldType.parse("u16")),), 1)
    with pytest.raises(ValueError, match="begins at a whole byte"):
        PackedLayout((PackedField("a", 4, FieldType.parse("u16be")),))


@given(st.binary(min_size=11, max_size=11))
def test_every_layout_comes_back(data):
    parts = (("a", 0, "u5"), ("b", 5, "i17"), ("c", 24, "f32"), ("d", 56, "i24be"))
    layout = PackedLayout(tuple(PackedField(name, bit, FieldType.parse(text)) for name, bit, text in parts), 11)
    decoded = layout.decode(data)
    again = layout.decode(layout.encode(decoded.values))
    assert {name: again.values[name] for name in decoded.values} == decoded.values


def test_process_data_of_a_stick():
    dictionary = read_data_sheet(DATA_SHEET, 10)
    sent = process_data(dictionary, 10, 1, True)
    assert sent.identifier == 0x18A
    assert sent.layout.decode(bytes.fromhex("20D1F40105")).values == {
        "Joystick.X": -12000.0,
        "Joystick.Y": 500.0,
        "Joystick.Buttons": 5.0,
    }
    received = process_data(dictionary, 10, 1, False)
    assert received.identifier == 0x20A
    assert received.layout.encode({"Lamp": 1.5}).hex().upper() == "000000C03F"  # after a gap of 8 bits


@pytest.mark.parametrize(
    ("number", "is_transmitted", "problem"),
    [
        (2, True, "TPDO2: is switched off"),
        (3, True, "TPDO3: the device has none"),
        (2, False, "RPDO2: the device has none"),
    ],
)
def test_process_data_that_a_device_has_not(number, is_transmitted, problem):
    with pytest.raises(ValueError, match=problem):
        process_data(read_data_sheet(DATA_SHEET, 10), 10, number, is_transmitted)


def test_a_data_sheet_must_be_one(tmp_path):
    (tmp_path / "none.eds").write_text("[1000]\n")
    with pytest.raises(ValueError, match="no electronic data sheet"):
        read_data_sheet(tmp_path / "none.eds", 10)
    with pytest.raises(FileNotFoundError):
        read_data_sheet(tmp_path / "missing.eds", 10)


def test_network_management():
    assert nmt_command(NmtCommand.START, 10).hex() == "010a"
    assert heartbeat(NodeState.OPERATIONAL).hex() == "05"
    assert read_heartbeat(b"\x7f") == NodeState.PRE_OPERATIONAL
    assert [read_heartbeat(data) for data in (b"", b"\x01", b"\x05\x05")] == [None] * 3
    assert read_emergency(bytes.fromhex("0050010100000000")) == Emergency(0x5000, 1)
    assert read_emergency(bytes(7)) is None
