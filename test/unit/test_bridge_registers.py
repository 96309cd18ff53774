"""Values in registers, against struct and the bytes of reference frames."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouser.bridges.plc.heartbeat import Heartbeats
from grouser.bridges.plc.registers import TYPES, RegisterField, decode, encode


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
        with pytest.raises(ValueError, match="f32 holds"):
            encode(field, value)


@given(st.sampled_from(["u16", "i16", "u32", "i32"]), st.floats(allow_nan=False))
def test_integers_are_the_nearest_or_refused(kind, value):
    field = RegisterField(0, kind)
    low, high = field.limits
    if math.isfinite(value) and low <= round(value) <= high:
        assert abs(decode(field, encode(field, value)) - value) <= 0.5
    else:
        with pytest.raises(ValueError, match=kind):
            encode(field, value)


def test_heartbeat():
    beats = Heartbeats()
    assert [beats.changed("a", beat) for beat in (0, 0, 1, 0, 0)] == [True, False, True, True, False]
    assert beats.changed("b", 0)
    assert beats.changed("a", None)
    assert beats.changed("a", None)
