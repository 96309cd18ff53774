"""Frames and lines on serial lines: reference bytes, damage, and the cutting of a stream into pieces."""

import json
import struct
import zlib

import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st

from grouser.bridges.checksums import crc16
from grouser.bridges.serial.frames import (
    COMMAND,
    HIGHEST_LENGTH,
    HIGHEST_PAYLOAD,
    MEASUREMENT,
    Frame,
    Splitter,
    pack_frame,
    unpack_frame,
)
from grouser.bridges.serial.json_lines import Line, read_line, write_line

REFERENCE = Frame(COMMAND, 7, 1000, struct.pack("<4h", 0, -16384, 32767, 500))

frames = st.builds(
    Frame,
    st.integers(0, 255),
    st.integers(0, 65535),
    st.integers(0, 2**32 - 1),
    st.binary(max_size=HIGHEST_PAYLOAD),
)


def test_reference_frames():
    assert pack_frame(REFERENCE).hex().upper() == "0401010703E8030101010108C0FF7FF401C125"
    assert pack_frame(Frame(MEASUREMENT, 0, 0, b"")).hex().upper() == "0301020101010101030E16"
    assert unpack_frame(bytes.fromhex("0401010703E8030101010108C0FF7FF401C125")) == REFERENCE


@given(frames)
def test_every_frame_comes_back(frame):
    packed = pack_frame(frame)
    assert 0 not in packed
    assert len(packed) <= HIGHEST_LENGTH
    assert unpack_frame(packed) == frame


def test_too_long_a_payload_is_not_sent():
    with pytest.raises(ValueError, match="payload of 244 bytes: valid is 0 to 243"):
        pack_frame(Frame(COMMAND, 0, 0, bytes(HIGHEST_PAYLOAD + 1)))


def test_every_flipped_bit_is_noticed():
    packed = pack_frame(REFERENCE)
    for bit in range(8 * len(packed)):
        damaged = bytearray(packed)
        damaged[bit // 8] ^= 1 << bit % 8
        assert unpack_frame(bytes(damaged)) in ("packing", "checksum", "length", "version"), bit


def test_frames_of_another_version_are_refused():
    body = b"\x02" + bytes(7)
    assert unpack_frame(cobs.encode(body + crc16(body).to_bytes(2, "little"))) == "version"
    assert unpack_frame(cobs.encode(bytes(9))) == "length"
    assert unpack_frame(bytes([1] * 255)) == "length"
    assert unpack_frame(b"\x09\x01") == "packing"


@given(st.binary(max_size=300))
def test_random_bytes_are_a_frame_or_refused(data):
    result = unpack_frame(data)
    if isinstance(result, Frame):
        assert pack_frame(result) == data
    else:
        assert result in ("packing", "checksum", "length", "version")


@given(st.lists(frames, max_size=6), st.data())
def test_a_stream_in_pieces_of_any_size_gives_all_frames(sent, data):
    stream = b"".join(pack_frame(frame) + b"\0" for frame in sent)
    splitter = Splitter(b"\0", HIGHEST_LENGTH)
    received = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        received += splitter.split(stream[:size])
        stream = stream[size:]
    assert [unpack_frame(piece) for piece in received] == sent
    assert splitter.oversized == 0


@pytest.mark.parametrize("piece_size", [1, 7, 254, 255, 1000])
def test_a_run_without_an_end_is_thrown_away_and_counted_once(piece_size):
    good = pack_frame(REFERENCE) + b"\0"
    stream = good + b"\x55" * 700 + b"\0" + good + b"\x55" * 254 + b"\0" + good
    splitter = Splitter(b"\0", HIGHEST_LENGTH)
    parts = [stream[at : at + piece_size] for at in range(0, len(stream), piece_size)]
    pieces = [piece for part in parts for piece in splitter.split(part)]
    assert [unpack_frame(piece) == REFERENCE for piece in pieces] == [True, True, False, True]
    assert splitter.oversized == 1


def test_a_stream_that_never_ends_a_piece_takes_no_memory():
    splitter = Splitter(b"\0", HIGHEST_LENGTH)
    for _ in range(100):
        assert splitter.split(b"\x55" * 1000) == []
    assert splitter.oversized == 1
    assert splitter.split(b"\0" + pack_frame(REFERENCE) + b"\0") == [pack_frame(REFERENCE)]


def test_lines_of_json():
    line = Line(COMMAND, 7, 1000, {"boom": -0.5, "swing": 1})
    written = write_line(line)
    text = b'{"v":1,"kind":1,"n":7,"t":1000,"signals":{"boom":-0.5,"swing":1}}'
    assert written == text[:-1] + b',"crc":%d}' % zlib.crc32(text)
    assert read_line(written) == line
    assert read_line(written + b"\r") == line


def _with_check(text):
    return text[:-1] + b',"crc":%d}' % zlib.crc32(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"v":1,"kind":1,"n":0,"t":0,"signals":{"a":NaN}}', "no JSON"),
        (b'{"v":1,"kind":1,"n":0,"t":0,"signals":{"a":Infinity}}', "no JSON"),
        (b'{"v":1,"kind":1,"n":0,"t":0,"signals":{"a":1e999}}', "signals"),
        (b'{"v":1,"kind":1,"n":0,"t":0,"signals":{"a":1' + b"0" * 400 + b"}}", "signals"),
        (b'{"v":1,"kind":1,"n":0,"t":0,"signals":{"a":"1"}}', "signals"),
        (b'{"v":1,"kind":1,"n":0,"t":0,"signals":{"a":true}}', "signals"),
        (b'{"v":1,"kind":1,"n":0,"t":0,"signals":{"a":1,"a":2}}', "no JSON"),
        (b'{"v":1,"kind":1,"n":0,"t":0,"signals":[]}', "signals"),
        (b'{"v":2,"kind":1,"n":0,"t":0,"signals":{}}', "version"),
        (b'{"v":1,"kind":1,"n":65536,"t":0,"signals":{}}', "members"),
        (b'{"v":1,"kind":1,"n":0.0,"t":0,"signals":{}}', "members"),
        (b'{"v":1,"kind":1,"n":0,"signals":{}}', "members"),
        (b'{"v":1,"kind":1,"n":0,"t":0,"signals":{},"more":0}', "members"),
        (b"{}", "members"),
        (b'{"v":1.0,"kind":1,"n":0,"t":0,"signals":{}}', "members"),
        (b"[1}", "no JSON"),
        (b"[" * 2000 + b"}", "no JSON"),
    ],
)
def test_lines_that_are_refused(text, reason):
    assert read_line(_with_check(text)) == reason


def test_lines_without_or_with_a_wrong_checksum_are_refused():
    assert read_line(b'{"v":1,"kind":1,"n":0,"t":0,"signals":{}}') == "no checksum"
    assert read_line(b'{"v":1,"kind":1,"n":0,"t":0,"signals":{},"crc":1}') == "checksum"
    assert read_line(b" " * 10 + b"x" * 5000) == "length"
    with pytest.raises(ValueError):
        write_line(Line(COMMAND, 0, 0, {"a": float("nan")}))


@given(st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False), max_size=5), st.integers(0, 65535))
def test_every_line_comes_back(signals, counter):
    line = Line(MEASUREMENT, counter, 0, signals)
    written = write_line(line)
    assert b"\n" not in written
    assert read_line(written) == line
    assert json.loads(written)["signals"] == signals


@given(st.binary(max_size=200))
def test_random_bytes_are_no_line(data):
    assert isinstance(read_line(data), str)
    assert isinstance(read_line(_with_check(b"{" + data + b"}")), str)
