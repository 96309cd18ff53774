"""Raw bytes to every decoder: whatever arrives becomes a message, a refusal or silence, and soon."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouser.bridges.fmu.wire import Status, unpack_result
from grouser.bridges.trials.lines import FIELD, LINES, MESSAGE


@pytest.mark.parametrize("protocol", LINES)
@given(data=st.binary(max_size=300))
def test_any_bytes_are_a_message_or_a_refusal(protocol, data):
    received = LINES[protocol]().decode(data, 1.0)
    assert received.message in ("", MESSAGE)
    assert received.time == 1.0
    assert not received.refusal or not received.values
    assert all(isinstance(value, float | int) for value in received.values.values())


@given(data=st.binary(max_size=100))
def test_any_values_in_a_sound_frame_of_opcua(data):
    received = LINES["opcua"]().decode(b"MSGF" + struct.pack("<I", 8 + len(data)) + data, 1.0)
    assert received.message == MESSAGE
    assert received.refusal or received.errors or set(received.values) == {FIELD}


def test_an_array_of_nulls_does_not_occupy_an_opcua_server():
    nulls = bytes((0x01, 0x80)) + struct.pack("<i", 2**31 - 1)  # a variant; its elements take no bytes
    received = LINES["opcua"]().decode(b"MSGF" + struct.pack("<I", 8 + len(nulls)) + nulls, 1.0)
    assert received.refusal == "type"


@given(data=st.binary(max_size=40), outputs=st.integers(0, 4))
def test_any_answer_of_the_process_of_an_fmu(data, outputs):
    try:
        status, values = unpack_result(data, outputs)
    except ValueError:
        return
    assert isinstance(status, Status)
    assert (len(values), 1 + 8 * len(values)) == (outputs, len(data))
