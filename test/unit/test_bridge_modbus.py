"""Modbus bridges over loopback TCP and a pair of ptys, with pymodbus in another process."""

import contextlib
import os
import random
import socket
import struct
import threading
import time
import tty

import pytest
from patience import DEADLINE, wait_until
from plc_peers import Peer, RememberingSink, free_port, load_mapping, opened

from grouser.bridges.plc import modbus_listener
from grouser.bridges.plc.modbus_listener import CONNECTIONS_MAX
from grouser.bridges.protocols import transport_of
from grouser.bridges.transport import KeptOpen, TransportError
from grouser.physics.base.errors import MachineError

SERVER = """
version: 1
bridge: modbus
machine: three_joints.urdf
interface: {{role: server, {line}, writable: [[100, 109], [200, 209]]}}
timeout: 0.25
messages:
  - name: arm
    direction: in
    period: 0.1
    source: {{heartbeat: 100}}
    signals:
      - {{source: 101, signal: joint/a/velocity, scale: 0.001, range: [-1, 1], safe: 0.0}}
      - {{source: {{register: 102, type: f32, word_order: little}}, signal: joint/b/velocity, range: [-1, 1], safe: 0}}
  - name: turn
    direction: in
    period: 0.1
    signals:
      - {{source: 200, signal: joint/c/velocity, scale: 0.001, range: [-1, 1], safe: 0.0}}
  - name: efforts
    direction: out
    period: 0.05
    target: {{heartbeat: 304}}
    signals:
      - {{target: {{register: 300, type: f32}}, signal: joint/a/effort, unit: kN m}}
      - {{target: {{register: 302, type: i32}}, signal: joint/b/effort}}
"""
# The controller of the client is the server of the test above, seen from the other side.
CLIENT = """
version: 1
bridge: modbus
machine: three_joints.urdf
interface: {{role: client, port: {port}, writable: [[100, 103]]}}
timeout: 0.25
messages:
  - name: commands
    direction: in
    period: 0.02
    source: {{heartbeat: 304, table: input}}
    signals:
      - {{source: {{register: 300, type: f32}}, signal: joint/a/velocity, range: [-1, 1], safe: 0.0}}
      - {{source: {{register: 302, type: i32}}, signal: joint/b/velocity, scale: 0.001, range: [-1, 1], safe: 0.0}}
  - name: angles
    direction: out
    period: 0.05
    target: {{heartbeat: 100}}
    signals:
      - {{target: 101, signal: joint/a/position, scale: 1000}}
      - {{target: {{register: 102, type: f32, word_order: little}}, signal: joint/b/position}}
"""


def tcp(port):
    return SERVER.format(line=f"port: {port}")


@pytest.fixture
def served(tmp_path):
    """Port of a server, its sink and the transport."""
    port, sink = free_port(), RememberingSink()
    with opened(transport_of(load_mapping(tmp_path, tcp(port))), sink) as transport:
        yield port, sink, transport


def test_reference_frames_on_the_wire(served):
    port, sink, transport = served
    transport.send("efforts", {"300": 1.5, "302": -2})
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(bytes.fromhex("000100000006 01 04 012C 0005"))
        assert connection.recv(64).hex() == "00010000000d" + "01040a" + "3fc00000" + "fffffffe" + "0001"
        connection.sendall(bytes.fromhex("00020000000f 01 10 0064 0004 08 0007 FC18 0000 3F00"))
        assert connection.recv(64).hex() == "000200000006" + "0110" + "0064" + "0004"
    assert sink.values("arm") == [{"101": -1000, "102": 0.5}]


def test_messages_are_written_whole_and_inside_what_is_writable(served):
    port, sink, _ = served
    with Peer("modbus_peer.py", port) as peer:
        peer.ask("write", 100, [1, 500, 0, 0x3F00])
        assert sink.values("arm") == [{"101": 500, "102": 0.5}]
        assert peer.ask("holding", 100, 4) == [1, 500, 0, 0x3F00]
        assert peer.ask("write", 101, [500, 0, 0x3F00]) == "exception 2"
        assert sink.refusals("arm") == ["written in part"]
        peer.ask("write", 100, [2, 500, 0, 0x3F00, 9, 9])  # 104 and 105 are writable and mean nothing
        assert len(sink.values("arm")) == 2
        for address in (99, 107, 300):
            assert peer.ask("write", address, [1] * 4) == "exception 2"
        assert sink.refusals("") == ["not writable"] * 3
        peer.ask("write_one", 200, 1000)
        assert sink.values("turn") == [{"200": 1000}]
        for name in ("write_coil", "mask"):
            assert peer.ask(name, 200) == "exception 1"
        assert peer.ask("write", 100, [3, 0, 0, 0], 9) == "exception 11"
        assert len(sink.values("arm")) == 2


def test_not_a_number_and_a_heartbeat_that_stands_still(served):
    port, sink, _ = served
    with Peer("modbus_peer.py", port) as peer:
        assert peer.ask("write", 100, [1, 0, 0, 0x7FC0]) == "exception 3"
        assert peer.ask("write", 100, [1, 0, 0, 0xFF80]) == "exception 3"
        peer.ask("write", 100, [1, 0, 0, 0])
        peer.ask("write", 100, [1, 10, 0, 0])
        peer.ask("write", 100, [2, 20, 0, 0])
    assert sink.refusals("arm") == ["not a number", "not a number", "heartbeat stands still"]
    assert [values["101"] for values in sink.values("arm")] == [0, 20]


def test_measurements_are_read_only_when_there_are_some(served):
    port, _, transport = served
    with Peer("modbus_peer.py", port) as peer:
        assert peer.ask("input", 300, 5) == "exception 6"
        assert transport.send("efforts", {"300": 180.25, "302": 70000})
        words = peer.ask("holding", 300, 5)
        assert words == peer.ask("input", 300, 5)
        assert struct.unpack(">fiH", struct.pack(">5H", *words)) == (180.25, 70000, 1)
        assert peer.ask("exchange", 300, 5, 200, [1]) == words
        assert not transport.send("efforts", {"300": float("nan"), "302": 0})
        assert peer.ask("input", 300, 5) == "exception 6"
        assert peer.ask("input", 305, 1) == "exception 2"


def test_broken_and_idle_connections_do_not_hurt_others(served):
    port, sink, _ = served

    def connect():
        return socket.create_connection(("127.0.0.1", port))

    with Peer("modbus_peer.py", port) as peer:
        for garbage in (
            b"GET / HTTP/1.1\r\n\r\n",
            bytes.fromhex("000100000000"),
            b"\x00\x01\x00\x00\xff\xff" + b"\x00" * 9,
        ):
            with connect() as connection:
                connection.sendall(garbage)
                assert not _rest(connection)  # the server ends it
        with connect() as half, connect() as slow:
            half.sendall(b"\x00\x01\x00")  # the rest never comes
            request = bytes.fromhex("000100000006 01 03 0064 006D")
            for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                slow.setsockopt(socket.SOL_SOCKET, buffer, 4096)
            slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            slow.setblocking(False)
            _ask_until_refused(slow, request)  # its answers are never taken
            peer.ask("write", 100, [1, 500, 0, 0])
        crowd = [connect() for _ in range(2 * CONNECTIONS_MAX)]
        peer.ask("write", 100, [2, 600, 0, 0])
        for connection in crowd:
            connection.close()
    assert [values["101"] for values in sink.values("arm")] == [500, 600]


def test_a_client_that_drips_bytes_loses_its_connection(served, monkeypatch):
    """Else 32 of them, with a byte a minute each, would keep every controller out."""
    monkeypatch.setattr(modbus_listener, "IDLE_MAX", 1)
    port, _, _ = served
    request = bytes.fromhex("0001000000FE") + bytes(253)  # whole but for its last byte
    answered = False
    with socket.create_connection(("127.0.0.1", port)) as drip:
        drip.settimeout(0.1)  # between two bytes
        with contextlib.suppress(ConnectionError):
            for byte in request:
                drip.sendall(bytes((byte,)))
                try:
                    answered = bool(drip.recv(1))
                    break
                except TimeoutError:
                    pass
            else:
                pytest.fail("its connection was kept")
    assert not answered


def test_requests_of_random_bytes(served):
    """Any request in a sound frame: what is obeyed is what a whole, allowed write says."""
    port, sink, _ = served
    dice = random.Random(5)
    whole = 0
    connection = None
    for number in range(400):
        if connection is None:
            connection = socket.create_connection(("127.0.0.1", port))
            connection.settimeout(DEADLINE)
        if number % 4 == 0:  # a write of `turn`, whole or not
            count = dice.choice([1, 1, 2, 130])
            request = struct.pack(">BHHB", 16, 200, count, 2 * count % 256) + dice.randbytes(2 * (count % 100))
            whole += count in (1, 2)
        else:
            request = bytes([dice.randrange(1, 128)]) + dice.randbytes(dice.randrange(0, 12))
        connection.sendall(struct.pack(">HHHB", number, 0, len(request) + 1, 1) + request)
        if not _rest(connection):
            connection.close()
            connection = None
    if connection is not None:
        connection.close()
    assert len(sink.values("turn")) == whole
    assert sink.values("arm") == []
    with Peer("modbus_peer.py", port) as peer:
        peer.ask("write", 100, [1, 500, 0, 0])
    assert len(sink.values("arm")) == 1


def _rest(connection):
    try:
        return connection.recv(64)
    except ConnectionResetError:
        return b""


def _ask_until_refused(connection, request):
    """Asks until the server has had enough, or the buffers between are full."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        try:
            connection.send(request)
        except OSError:
            return
        time.sleep(0.001)  # one request at a time: the server forgets those behind the one that it answers
    raise AssertionError("the server stores answers without end")


def test_a_client_reads_and_writes(served, tmp_path):
    port, sink, transport = served
    (tmp_path / "client").mkdir()
    mine = RememberingSink()
    with opened(transport_of(load_mapping(tmp_path / "client", CLIENT.format(port=port))), mine) as client:
        mine.wait_for(lambda one: "exception 6" in one.refusals("commands"), "a refusal")
        transport.send("efforts", {"300": 0.5, "302": 250})
        mine.wait_for(lambda one: one.values("commands") == [{"300": 0.5, "302": 250}], "a message")
        client.send("angles", {"101": 700, "102": -0.25})
        sink.wait_for(lambda one: one.values("arm") == [{"101": 700, "102": -0.25}], "a write")
        assert not client.send("angles", {"101": float("nan"), "102": 0.0})
        transport.close()
        mine.wait_for(lambda one: one.losses, "the loss of the server")
        assert "does not answer" in mine.losses[0]
    with pytest.raises(TransportError, match="no Modbus server at 127.0.0.1"):
        client.open(mine)


def test_a_port_that_is_taken_is_told(served, tmp_path):
    port, _, _ = served
    other = transport_of(load_mapping(tmp_path, tcp(port)))
    with pytest.raises(TransportError, match=f"127.0.0.1:{port}"):
        other.open(RememberingSink())
    other.close()


def test_rtu_over_a_serial_line(tmp_path):
    sink = RememberingSink()
    with _line() as (ours, theirs):
        line = f"link: rtu, device: {ours}, baudrate: 115200, parity: none"
        with opened(transport_of(load_mapping(tmp_path, SERVER.format(line=line))), sink) as transport:
            transport.send("efforts", {"300": 2.5, "302": 3})
            with Peer("modbus_peer.py", theirs) as peer:
                peer.ask("write", 100, [1, 500, 0, 0x3F00])
                assert peer.ask("input", 304, 1) == [1]
    assert sink.values("arm") == [{"101": 500, "102": 0.5}]


def test_a_serial_device_that_is_unplugged_is_told_and_found_again(tmp_path):
    device = tmp_path / "device"
    sink, states = RememberingSink(), []

    def plug():
        controller, line = os.openpty()
        tty.setraw(line)
        device.unlink(missing_ok=True)
        device.symlink_to(os.ttyname(line))
        os.close(line)
        return controller

    controller = plug()
    mapping = load_mapping(tmp_path, SERVER.format(line=f"link: rtu, device: {device}, parity: none"))
    kept = KeptOpen(transport_of(mapping), sink, states.append)
    kept.start()
    try:
        wait_until(lambda: kept.state.is_open, "the line")
        os.close(controller)
        sink.wait_for(lambda one: one.losses, "the loss")
        assert f"{device} was lost" in sink.losses[0]
        controller = plug()
        wait_until(lambda: kept.state.is_open and kept.state.openings == 2, "the line again")
    finally:
        kept.stop()
        os.close(controller)
    assert len(sink.losses) == 1


class _line:  # noqa: N801 - used as a function
    """Two serial ports that are connected: what one end writes, the other reads."""

    def __enter__(self):
        (self._a, a), (self._b, b) = os.openpty(), os.openpty()
        self._slaves = (a, b)
        for descriptor in (self._a, self._b, a, b):
            tty.setraw(descriptor)
        for source, target in ((self._a, self._b), (self._b, self._a)):
            threading.Thread(target=self._copy, args=(source, target), daemon=True).start()
        return os.ttyname(a), os.ttyname(b)

    @staticmethod
    def _copy(source, target):
        while True:
            try:
                os.write(target, os.read(source, 4096))
            except OSError:
                return

    def __exit__(self, *problem):
        for descriptor in (*self._slaves, self._a, self._b):
            os.close(descriptor)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("source: 200", "source: 110", "not in one range of `writable`"),
        ("source: 200", "source: 102", "register 102"),
        ("source: 200", "source: {register: 65535, type: f32}", "ends behind register 65535"),
        ("source: 200", "source: {register: 200, type: f64}", "'f64' is not valid"),
        ("source: 101", "source: 100", "register 100"),
        ("register: 302", "register: 450", "one request carries 125"),
        ("register: 302", "register: 301", "register 301"),
        ("register: 302", "register: 190", "it begins at register 200, before 'efforts' ends"),
        ("port:", "host: 192.168.0.10, port:", "'192.168.0.10' is not this computer"),
        ("port:", "unit: 0, port:", "0 is out of range"),
        ("role: server", "role: peer", "'peer' is not valid"),
        ("[100, 109]", "[109, 100]", "out of range"),
        (
            "scale: 0.001, range: [-1, 1], safe: 0.0}\n  - name: eff",
            "range: [-40000, 1], safe: 0}\n  - name: eff",
            "range",
        ),
    ],
)
def test_mappings_that_are_refused(tmp_path, old, new, problem):
    text = tcp(502)
    assert old in text
    with pytest.raises(MachineError) as caught:
        load_mapping(tmp_path, text.replace(old, new, 1))
    assert problem in str(caught.value)
    assert f"{tmp_path / 'mapping.yaml'}:" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("heartbeat: 304, ", "", "cannot tell a stopped controller"),
        ("[[100, 103]]", "[[100, 102]]", "not in one range of `writable`"),
        (", writable: [[100, 103]]", "", "valid: none"),
        ("target: 101", "target: 99", "nothing is said of registers 101 to 101"),
    ],
)
def test_mappings_of_clients_that_are_refused(tmp_path, old, new, problem):
    text = CLIENT.format(port=502).replace("[[100, 103]]", "[[90, 103]]") if "99" in new else CLIENT.format(port=502)
    with pytest.raises(MachineError) as caught:
        load_mapping(tmp_path, text.replace(old, new, 1))
    assert problem in str(caught.value)
