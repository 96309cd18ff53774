"""Codecs of J1939: identifiers, joystick messages, NAME, trouble codes, broadcasts, against frames computed by hand."""

from pathlib import Path

import cantools
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouser.bridges.can.diagnostics import ActiveFaults, TroubleCode, decode_dm1, encode_dm1
from grouser.bridges.can.identifier import GLOBAL_ADDRESS, Identifier, is_broadcast, unpack_identifier
from grouser.bridges.can.joystick import (
    BJM_PGNS,
    EJM_PGNS,
    decode_joystick,
    encode_joystick,
    field_names,
    layout_of,
    read_axis,
    write_axis,
)
from grouser.bridges.can.name import Name
from grouser.bridges.can.transport_protocol import BroadcastAssembler, broadcast_packets

# Frames of BJM and EJM and their meaning, bit by bit from the tables of the manuals.
BUTTONS_UP = {f"button_{number}": 0.0 for number in range(1, 9)}
VALID_FRAMES = [
    ("0CFDD613", "01000100FF0000FF", {"x": 0.0, "y": 0.0, **BUTTONS_UP}, set()),
    ("0CFDD613", "047D903EFF0000FF", {"x": -0.5, "y": 0.25, **BUTTONS_UP}, set()),
    ("0CFDD613", "10FA04FAFF4000FF", {"x": 1.0, "y": -1.0, **BUTTONS_UP, "button_1": 1.0}, set()),
    ("0CFDD613", "AAFF0100FF0000FF", {"y": 0.0, **BUTTONS_UP}, {"x"}),
    (
        "0CFDD613",
        "FFFF5022FF0200FF",
        {"y": 0.137, **{name: 0.0 for name in BUTTONS_UP if name != "button_4"}},
        {"button_4"},
    ),
    ("0CFDD834", "44005000FF0000FF", {"x": -0.001, "y": 0.001, **BUTTONS_UP}, set()),
    ("0CFDDA13", "D0B60402FF0000FD", {"x": 0.731, "y": -0.008, **BUTTONS_UP, "button_12": 1.0}, set()),
    ("0CFDD713", "0100010004A0FFFF", {"x": 0.0, "y": 0.0, "theta": -0.64}, set()),
    ("0CFDD713", "FFFFFFFF0100FFFF", {"theta": 0.0}, set()),
    ("0CFDD934", "04FAD00010FAFFFF", {"x": -1.0, "y": 0.003, "theta": 1.0}, set()),
]
REFUSED_FRAMES = [
    ("144B0100FF0000FF", "axis statuses contradict"),
    ("014B0100FF0000FF", "axis neutral while deflected"),
    ("01000100FF0000", "length"),
    ("01000100FF0000FFFF", "length"),
    ("", "length"),
]

# The same layout as a database, for cantools.
DATABASE = Path(__file__).resolve().parent.parent / "data" / "j1939_joystick.dbc"


def _layout(identifier):
    return layout_of(unpack_identifier(int(identifier, 16)).pgn)


def test_parameter_groups_of_joysticks():
    assert {BJM_PGNS[0], BJM_PGNS[1], BJM_PGNS[2]} == {0xFDD6, 0xFDD8, 0xFDDA}
    assert {EJM_PGNS[0], EJM_PGNS[1], EJM_PGNS[2]} == {0xFDD7, 0xFDD9, 0xFDDB}
    assert len({*BJM_PGNS, *EJM_PGNS}) == 20
    assert [layout_of(pgn) for pgn in (64816, 64804, 64815, 64803, 65226)] == ["bjm", "bjm", "ejm", "ejm", None]


@pytest.mark.parametrize(("identifier", "data", "values", "errors"), VALID_FRAMES)
def test_reference_frames_are_decoded(identifier, data, values, errors):
    decoded = decode_joystick(bytes.fromhex(data), _layout(identifier))
    assert decoded.refusal == ""
    assert decoded.values == values
    assert decoded.errors == errors
    assert decoded.absent == set(field_names(_layout(identifier))) - set(values) - errors


@pytest.mark.parametrize(("identifier", "data", "values", "errors"), VALID_FRAMES)
def test_reference_frames_are_encoded(identifier, data, values, errors):
    codes = {name: float("nan") for name in errors}
    assert encode_joystick({**values, **codes}, _layout(identifier)).hex().upper() == data


@pytest.mark.parametrize(("data", "reason"), REFUSED_FRAMES)
def test_contradicting_frames_are_refused_whole(data, reason):
    decoded = decode_joystick(bytes.fromhex(data), "bjm")
    assert decoded.refusal == reason
    assert not decoded.values


def test_a_word_of_an_axis_has_one_of_four_verdicts():
    verdicts = [read_axis(word) for word in range(65536)]
    positions = [verdict for verdict in verdicts if isinstance(verdict, float)]
    # One word for neutral, and 1000 for each side: random bytes pass with a probability of 3.05 %.
    assert sorted(positions) == [number / 1000 for number in range(-1000, 1001)]
    assert verdicts.count("absent") == 1
    # An error in one of three statuses, with any position; or the position 1022 with none of them.
    assert verdicts.count("error") == (64 - 27) * 1024 + 27


def test_axis_words_come_back():
    for number in range(-1000, 1001):
        assert read_axis(write_axis(number / 1000)) == number / 1000


@pytest.mark.parametrize("value", [1.0006, -1.01, float("inf")])
def test_axes_beyond_full_are_not_written(value):
    with pytest.raises(ValueError, match="valid is -1 to 1"):
        write_axis(value)


@given(st.binary(max_size=12), st.sampled_from(["bjm", "ejm"]))
def test_random_bytes_are_decoded_or_refused(data, layout):
    decoded = decode_joystick(data, layout)
    if decoded.refusal:
        assert not decoded.values
        return
    names = set(field_names(layout))
    assert set(decoded.values) | decoded.errors | decoded.absent == names
    assert all(-1.0 <= value <= 1.0 for value in decoded.values.values())
    codes = {name: float("nan") for name in decoded.errors}
    # What was understood goes back to the same meaning.
    assert decode_joystick(encode_joystick({**decoded.values, **codes}, layout), layout) == decoded


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "x": st.integers(-1000, 1000).map(lambda number: number / 1000),
            "y": st.integers(-1000, 1000).map(lambda number: number / 1000),
            **{name: st.sampled_from([0.0, 1.0]) for name in field_names("bjm")[2:]},
        },
    )
)
def test_cantools_reads_the_same_from_encoded_frames(values):
    message = cantools.database.load_file(DATABASE).get_message_by_name("BJM1")
    raw = message.decode(encode_joystick(values, "bjm"), decode_choices=False, scaling=False)
    for letter in "XY":
        value = values.get(letter.lower())
        if value is None:
            expected = (3, 3, 3, 1023)
        else:
            expected = (value == 0, value < 0, value > 0, round(abs(value) * 1000))
        assert tuple(raw[f"{letter}{part}"] for part in ("Neutral", "Negative", "Positive", "Position")) == expected
    for name in ("XDetent", "YDetent", "Button1", "Button4", "Button5", "Button9", "Button12"):
        field = f"{name[0].lower()}_detent" if name.endswith("Detent") else f"button_{name[6:]}"
        assert raw[name] == values.get(field, 3)


@pytest.mark.parametrize(
    ("bits", "identifier"),
    [
        (0x0CFDD613, Identifier(3, 0xFDD6, 0x13)),
        (0x18EEFF80, Identifier(6, 0xEE00, 0x80, 0xFF)),
        (0x18EA1325, Identifier(6, 0xEA00, 0x25, 0x13)),
        (0x1CECFF82, Identifier(7, 0xEC00, 0x82)),
        (0x0C000003, Identifier(3, 0, 0x03, 0x00)),
        (0x1DF0E021, Identifier(7, 0x1F0E0, 0x21)),
    ],
)
def test_identifiers(bits, identifier):
    assert unpack_identifier(bits) == identifier
    assert identifier.pack() == bits


@given(st.integers(0, (1 << 29) - 1))
def test_every_identifier_comes_back(bits):
    identifier = unpack_identifier(bits)
    assert identifier.pack() == bits
    assert is_broadcast(identifier.pgn) <= (identifier.destination == GLOBAL_ADDRESS)


def test_impossible_identifiers_are_refused():
    with pytest.raises(ValueError, match="priority 0x8: valid is 0 to 0x7"):
        Identifier(8, 0xFDD6, 0x13).pack()
    with pytest.raises(ValueError, match="one with a destination ends in 00"):
        Identifier(3, 0xEA13, 0x13).pack()
    with pytest.raises(ValueError, match="is a broadcast"):
        Identifier(3, 0xFDD6, 0x13, 0x20).pack()


def test_names():
    name = Name(identity_number=1234, manufacturer_code=0x666, industry_group=3, arbitrary_address=1)
    assert name.pack().hex().upper() == "D204C0CC000000B0"
    fixed = Name(
        identity_number=0x12345,
        manufacturer_code=0x7FF,
        ecu_instance=1,
        function_instance=2,
        function=0x82,
        vehicle_system=1,
        industry_group=3,
    )
    assert fixed.value == 0x30028211FFE12345
    assert fixed.pack().hex().upper() == "4523E1FF11820230"
    assert fixed.value < name.value  # a fixed address wins
    assert Name.unpack(fixed.pack()) == fixed
    with pytest.raises(ValueError, match="manufacturer_code 2048: valid is 0 to 2047"):
        Name(1, 2048)
    with pytest.raises(ValueError, match="a NAME has 8"):
        Name.unpack(bytes(7))


@given(st.binary(min_size=8, max_size=8))
def test_every_name_comes_back(data):
    assert Name.unpack(data).pack() == data


def test_active_faults():
    one = ActiveFaults(frozenset({"amber_warning"}), (TroubleCode(2660, 3),))
    assert encode_dm1(one).hex().upper() == "04FF640A0301FFFF"
    assert encode_dm1(ActiveFaults()).hex().upper() == "00FF00000000FFFF"
    two = ActiveFaults(one.lamps, (TroubleCode(2660, 3, 1), TroubleCode(2661, 4, 2)))
    assert encode_dm1(two).hex().upper() == "04FF640A0301650A0402"
    for faults in (one, ActiveFaults(), two):
        assert decode_dm1(encode_dm1(faults)) == faults
    assert decode_dm1(bytes.fromhex("04FF640A0301")) == one  # as senders do that pad nothing
    assert TroubleCode(520192, 14, 126).pack().hex().upper() == "00F0EE7E"
    with pytest.raises(ValueError, match="spn 524288: valid is 0 to 524287"):
        TroubleCode(524288, 0).pack()
    with pytest.raises(ValueError, match="a DM1 has 6 at least"):
        decode_dm1(bytes(5))


@given(st.integers(0, 0x7FFFF), st.integers(0, 31), st.integers(0, 127), st.booleans())
def test_every_trouble_code_comes_back(spn, fmi, occurrences, old):
    code = TroubleCode(spn, fmi, occurrences, old)
    (read,) = decode_dm1(b"\0\xff" + code.pack()).codes or (TroubleCode(0, 0, occurrences, old),)
    assert read == code


def test_broadcasts():
    data = bytes.fromhex("04FF640A0301650A0402")
    frames = broadcast_packets(0xFECA, data)
    assert [frame.hex().upper() for _, frame in frames] == ["200A0002FFCAFE00", "0104FF640A030165", "020A0402FFFFFFFF"]
    assert [pgn for pgn, _ in frames] == [60416, 60160, 60160]
    assembler = BroadcastAssembler()
    results = [assembler.receive(Identifier(7, pgn, 0x82), frame, 0.05 * n) for n, (pgn, frame) in enumerate(frames)]
    assert results == [None, None, (0xFECA, data)]


def test_broken_broadcasts_are_dropped():
    data = bytes(range(30))
    (announce, *packets) = [(Identifier(7, pgn, 0x82), frame) for pgn, frame in broadcast_packets(0xFECA, data)]
    assembler = BroadcastAssembler()
    assembler.receive(*announce, 0.0)
    assert [assembler.receive(*packet, 0.1) for packet in packets[1:]] == [None] * 4  # the first is missing
    assembler.receive(*announce, 1.0)
    assert [assembler.receive(*packet, 1.0 + n) for n, packet in enumerate(packets)] == [None] * 5  # too slow
    assembler.receive(*announce, 9.0)
    other = [assembler.receive(Identifier(7, 60160, 0x83), packet[1], 9.0) for packet in packets]
    assert other == [None] * 5  # of a node that has announced nothing
    assert [assembler.receive(*packet, 9.1) for packet in packets][-1] == (0xFECA, data)


@given(st.lists(st.tuples(st.sampled_from([60416, 60160]), st.binary(max_size=10)), max_size=20))
def test_random_bytes_break_no_assembler(frames):
    assembler = BroadcastAssembler()
    for pgn, data in frames:
        assembler.receive(Identifier(7, pgn, 1), data, 0.0)
    good = broadcast_packets(0xFECA, bytes(20))
    assert [assembler.receive(Identifier(7, pgn, 1), data, 0.0) for pgn, data in good][-1] == (0xFECA, bytes(20))
