"""Frames of Modbus RTU: the reference frames, pieces of any size, other units, noise, and random bytes."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plc_peers import load_mapping
from pymodbus.framer.rtu import FramerRTU

from grouser.bridges.plc.modbus_line import LineServer, pack_line_frame
from grouser.bridges.plc.modbus_requests import ModbusRequests

MAPPING = """
version: 1
bridge: modbus
machine: three_joints.urdf
interface: {role: server, port: 502, writable: [[100, 109], [200, 209]]}
timeout: 0.25
messages:
  - name: arm
    direction: in
    period: 0.1
    source: {heartbeat: 100}
    signals:
      - {source: 101, signal: joint/a/velocity, scale: 0.001, range: [-1, 1], safe: 0.0}
      - {source: {register: 102, type: f32, word_order: little}, signal: joint/b/velocity, range: [-1, 1], safe: 0}
  - name: efforts
    direction: out
    period: 0.05
    signals:
      - {target: {register: 300, type: f32}, signal: joint/a/effort}
"""


@pytest.fixture(scope="module")
def mapping(tmp_path_factory):
    return load_mapping(tmp_path_factory.mktemp("mapping"), MAPPING)


def test_the_reference_frames():
    heard = []
    server = LineServer(1, lambda request: heard.append(request) or request)
    read, write = bytes.fromhex("01040000003271DF"), bytes.fromhex("011000640003060000C0007FFFF89B")
    assert server.take(read) == read
    assert server.take(write) == write
    assert heard == [read[1:-2], write[1:-2]]


@given(st.binary(max_size=200), st.integers(0, 255))
def test_the_check_is_that_of_another_implementation(body, unit):
    frame = pack_line_frame(unit, body)
    assert frame[-2:] == FramerRTU.compute_CRC(frame[:-2]).to_bytes(2, "big")


@given(st.lists(st.sampled_from([1, 2, 17]), max_size=6), st.data())
def test_requests_arrive_in_any_pieces_between_those_of_others(units, data):
    heard = []
    server = LineServer(1, lambda request: heard.append(request) or b"\x04\x02\x00\x07")
    line, wanted = b"", []
    for place, unit in enumerate(units):
        request = struct.pack(">BHH", 4, place, 1)
        line += pack_line_frame(unit, request)
        if unit == 1:
            wanted.append(request)
        else:  # the unit that was asked answers
            line += pack_line_frame(unit, b"\x04\x02" + struct.pack(">H", place))
    answers = b""
    while line:
        length = data.draw(st.integers(1, len(line)))
        answers += server.take(line[:length])
        line = line[length:]
    assert heard == wanted
    assert answers == len(wanted) * pack_line_frame(1, b"\x04\x02\x00\x07")
    assert not server.is_waiting


@given(st.binary(min_size=1, max_size=600))
def test_after_noise_and_silence_the_next_request_is_answered(noise):
    server = LineServer(1, lambda request: b"\x06")
    server.take(noise)
    server.fall_silent()
    assert server.take(pack_line_frame(1, b"\x04\x00\x00\x00\x01")) == pack_line_frame(1, b"\x06")


@given(st.lists(st.binary(min_size=1, max_size=260), max_size=8))
def test_random_requests_have_an_answer_and_write_nothing_that_is_not_writable(mapping, requests):
    received = []
    server = ModbusRequests(mapping, received.append)
    server.show("efforts", {"300": 1.5})
    before = server.answer(b"\x03" + struct.pack(">HH", 300, 2))
    for request in requests:
        answer = server.answer(request)
        assert answer[0] in (request[0], request[0] | 0x80)
        assert len(answer) <= 253
    assert server.answer(b"\x03" + struct.pack(">HH", 300, 2)) == before
    assert all(one.refusal or set(one.values) == {"101", "102"} for one in received)


@given(st.binary(min_size=8, max_size=8))
def test_any_whole_write_is_obeyed_or_refused_for_its_numbers(mapping, words):
    received = []
    server = ModbusRequests(mapping, received.append)
    answer = server.answer(struct.pack(">BHHB", 16, 100, 4, 8) + words)
    (one,) = received
    number = struct.unpack(">f", words[6:8] + words[4:6])[0]
    if abs(number) < float("inf"):
        assert one.values == {"101": struct.unpack(">h", words[2:4])[0], "102": number}
        assert answer == struct.pack(">BHH", 16, 100, 4)
    else:
        assert (one.refusal, answer) == ("not a number", b"\x90\x03")
