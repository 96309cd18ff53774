"""Values in registers, against struct and the bytes of reference frames."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouser.bridges.mapping.data import MessageMapping, SignalMapping
from grouser.bridges.plc.heartbeat import Heartbeats
from grouser.bridges.plc.register_message import RegisterAddress, RegisterMessage, words_of
from grouser.bridges.plc.registers import TYPES, RegisterField


def block(*fields, heartbeat=None):
    """A message of such fields."""
    signals = tuple(
        SignalMapping(one, str(one), f"joint/{one}/velocity", "1", 1.0, 1.0, 0.0, *one.limits) for one in fields
    )
    return RegisterMessage(MessageMapping("block", "in", RegisterAddress(heartbeat), 0.1, 0.2, signals))


def encode(field, value):
    """Registers of one value."""
    return tuple(words_of(block(field).encode({str(field): value}, 0)))


def decode(field, words):
    """The value of the registers of one field."""
    values, _ = block(field).decode(struct.pack(f">{len(words)}H", *words))
    return values[str(field)]


def test_words_of_the_reference_frame():
    # 0000 C000 7FFF: what a write request of 0, -16384, 32767 carries
    values = (0.0, -16384.0, 32767.0)
    assert [encode(RegisterField(100 + n, "i16"), value)[0] for n, value in enumerate(values)] == [0, 0xC000, 0x7FFF]


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("f32", 1.5, (0x3FC0, 0x0000)),
        ("u32", 0x12345678, (0x1234, 0x5678)),
        ("i32", -2, (0xFFFF, 0xFFFE)),
        ("u16", 65535, (0xFFFF,)),
    ],
)
def test_order_of_words(kind, value, words):
    assert encode(RegisterField(0, kind), value) == words
    assert encode(RegisterField(0, kind, "little"), value) == words[::-1]
    assert decode(RegisterField(0, kind, "little"), words[::-1]) == value


@given(st.sampled_from(TYPES), st.sampled_from(["big", "little"]), st.binary(min_size=4, max_size=4))
def test_every_pattern_of_bits_survives(kind, order, raw):
    field = RegisterField(7, kind, order)
    words = struct.unpack(">2H", raw)[: field.count]
    value = decode(field, words)
    if math.isfinite(value):
        assert encode(field, value) == words
    else:
        assert block(field).encode({"7": value}, 0) is None


@given(st.sampled_from(["u16", "i16", "u32", "i32"]), st.floats(allow_nan=False))
def test_integers_are_the_nearest_or_refused(kind, value):
    field = RegisterField(0, kind)
    low, high = field.limits
    if not math.isfinite(value):
        assert block(field).encode({"0": value}, 0) is None
    elif low <= round(value) <= high:
        assert abs(decode(field, encode(field, value)) - value) <= 0.5
    else:
        with pytest.raises(ValueError, match=kind):
            encode(field, value)


def test_a_block_has_gaps_a_heartbeat_and_both_orders_of_words():
    fields = (RegisterField(104, "f32", "little"), RegisterField(100, "i16"), RegisterField(107, "u32"))
    message = block(*fields, heartbeat=RegisterField(102, "u16"))
    data = message.encode({"104": 1.5, "100": -2.0, "107": 0x12345678}, 65543)
    assert words_of(data) == [0xFFFE, 0, 7, 0, 0, 0x3FC0, 0, 0x1234, 0x5678]
    assert message.decode(data) == ({"104": 1.5, "100": -2, "107": 0x12345678}, 7)
    assert (message.start, message.end, message.count) == (100, 109, 9)


def test_a_value_that_a_field_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="f32 holds"):
        encode(RegisterField(7, "f32"), 3.5e38)


def test_heartbeat():
    beats = Heartbeats()
    assert [beats.changed("a", beat) for beat in (0, 0, 1, 0, 0)] == [True, False, True, True, False]
    assert beats.changed("b", 0)
    assert beats.changed("a", None)
    assert beats.changed("a", None)
