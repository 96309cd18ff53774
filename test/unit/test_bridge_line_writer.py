"""Writing to serial ports: whole lines, and no failure where there was room."""

import os
import tty

import can
import pytest

from grouser.bridges.can.slcan_line import SlcanLine
from grouser.bridges.line_writer import LineWriter


@pytest.fixture
def terminal():
    """Both ends of a pseudo-terminal; the second one does not block."""
    ours, theirs = os.openpty()
    for end in (ours, theirs):
        tty.setraw(end)
    os.set_blocking(theirs, False)
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def read_all(descriptor):
    os.set_blocking(descriptor, False)
    data = b""
    try:
        while piece := os.read(descriptor, 65536):
            data += piece
    except BlockingIOError:
        return data


def test_no_time_is_needed_where_there_is_room(terminal):
    """A thread that was stopped for longer than its timeout has still written."""
    ours, theirs = terminal
    LineWriter(theirs).write(b"line\r", timeout=0.0)
    assert read_all(ours) == b"line\r"
    with SlcanLine(os.ttyname(theirs), sleep_after_open=0.0) as bus:
        read_all(ours)
        bus.send(can.Message(arbitration_id=0x123, is_extended_id=False, data=b"\x01"), timeout=1e-9)
        assert read_all(ours) == b"t123101\r"


def test_no_line_is_torn_by_a_full_port(terminal):
    ours, theirs = terminal
    writer, taken = LineWriter(theirs), []
    with pytest.raises(TimeoutError, match="no room for 1000 bytes within 0 s"):
        for number in range(1000):
            line = b"%03d" % number + bytes(996) + b"\r"
            writer.write(line, timeout=0.0)
            taken.append(number)
    received = read_all(ours)
    writer.write(b"next\r", timeout=0.0)
    *lines, rest = (received + read_all(ours)).split(b"\r")
    assert rest == b""
    assert lines[-1] == b"next"
    # the one that failed is there whole, or not at all
    assert {len(line) for line in lines[:-1]} == {999}
    assert [int(line[:3]) for line in lines[:-1]] in (taken, [*taken, len(taken)])


@pytest.mark.parametrize("line", [b"t1_210", b"t+120", b"t8000", b"t1231", b"t123101FF", b"T200000000", b"t12310x"])
def test_slcan_refuses_what_is_no_frame(terminal, line):
    ours, theirs = terminal
    with SlcanLine(os.ttyname(theirs), sleep_after_open=0.0) as bus:
        os.write(ours, line + b"\rt123101BEEF\r")  # the second one with a time stamp
        with pytest.raises(ValueError):
            bus.recv(1.0)
        assert bytes(bus.recv(1.0).data) == b"\x01"


def test_slcan_reads_data_frames_of_both_kinds(terminal):
    ours, theirs = terminal
    with SlcanLine(os.ttyname(theirs), sleep_after_open=0.0) as bus:
        os.write(ours, b"\rz\r\at1232A1B2\rT1ABCDEF08000102030405060" + b"7\rr1230\rt12")
        heard = [bus.recv(1.0) for _ in range(4)]
        os.write(ours, b"30\rt1239\r\xff\r")
        heard.append(bus.recv(1.0))
        for _ in range(2):
            with pytest.raises(ValueError):
                bus.recv(1.0)
        assert bus.recv(0.0) is None
    frames = [(one.arbitration_id, one.is_extended_id, bytes(one.data)) for one in heard if one is not None]
    assert frames == [(0x123, False, b"\xa1\xb2"), (0x1ABCDEF0, True, bytes(range(8))), (0x123, False, b"")]
