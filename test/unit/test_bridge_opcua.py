"""OPC UA bridges over loopback TCP, with asyncua in another process."""

import math
import random
import socket
import struct
import subprocess
import sys
from datetime import datetime, timezone
from types import SimpleNamespace
from urllib.parse import urlparse

import pytest
from asyncua import ua
from asyncua.common.utils import Buffer, NotEnoughData
from asyncua.ua.ua_binary import struct_to_binary
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from patience import DEADLINE, wait_until
from plc_peers import Peer, RememberingSink, free_port, load_mapping, opened

from grouser.bridges.plc.credentials import add_user, hash_password, is_password, make_certificate, read_users
from grouser.bridges.plc.node_types import NodeField
from grouser.bridges.plc.opcua_access import Users
from grouser.bridges.plc.opcua_listener import GuardedServer
from grouser.bridges.plc.opcua_reads import pack_answer, read_request
from grouser.bridges.plc.variants import data_value
from grouser.bridges.protocols import transport_of
from grouser.bridges.transport import TransportError
from grouser.physics.base.errors import MachineError, ParameterError

SERVER = """
version: 1
bridge: opcua
machine: three_joints.urdf
interface: {{role: server, port: {port}{more}}}
timeout: 0.25
messages:
  - name: arm
    direction: in
    period: 0.1
    source: {{heartbeat: beat}}
    signals:
      - {{source: a, signal: joint/a/velocity, range: [-1, 1], safe: 0.0}}
      - {{source: {{node: b, type: int16}}, signal: joint/b/velocity, scale: 0.001, range: [-1, 1], safe: 0.0}}
  - name: turn
    direction: in
    period: 0.1
    signals:
      - {{source: {{node: c, type: float}}, signal: joint/c/velocity, range: [-1, 1], safe: 0.0}}
  - name: state
    direction: out
    period: 0.05
    target: {{heartbeat: {{node: beat, type: uint16}}}}
    signals:
      - {{target: angle, signal: joint/a/position, unit: deg}}
      - {{target: {{node: effort, type: int32}}, signal: joint/b/effort}}
"""
# The controller of the client is the server of the test above, seen from the other side.
CLIENT = """
version: 1
bridge: opcua
machine: three_joints.urdf
interface: {{role: client, port: {port}{more}}}
timeout: 0.25
messages:
  - name: commands
    direction: in
    period: 0.02
    source: {{heartbeat: {{node: "ns=2;s=state.beat", type: uint16}}}}
    signals:
      - {{source: "ns=2;s=state.angle", signal: joint/a/velocity, range: [-1, 1], safe: 0.0}}
      - {{source: {{node: "ns=2;s=state.effort", type: int32}}, signal: joint/b/velocity, range: [-9, 9], safe: 0.0}}
  - name: angles
    direction: out
    period: 0.05
    target: {{heartbeat: "ns=2;s=arm.beat"}}
    signals:
      - {{target: "ns=2;s=arm.a", signal: joint/a/position}}
      - {{target: {{node: "ns=2;s=arm.b", type: int16}}, signal: joint/b/position, scale: 0.001}}
"""
ARM = {"arm.a": ("Double", 0.5), "arm.b": ("Int16", 250), "arm.beat": ("UInt32", 1)}


@pytest.fixture(scope="module")
def open_server(tmp_path_factory):
    """A server without security: port, sink and transport."""
    port, sink = free_port(), RememberingSink()
    mapping = load_mapping(tmp_path_factory.mktemp("open"), SERVER.format(port=port, more=""))
    with opened(transport_of(mapping), sink) as transport:
        yield SimpleNamespace(port=port, sink=sink, transport=transport)


@pytest.fixture
def served(open_server):
    open_server.sink.received.clear()
    return open_server


@pytest.fixture
def peer(served):
    with Peer("opcua_peer.py", served.port) as one:
        one.ask("connect")
        yield one


def arm(beat, **changes):
    return {**ARM, "arm.beat": ("UInt32", beat), **{f"arm.{name}": value for name, value in changes.items()}}


def test_names_are_browsed_and_described(served, peer):
    assert peer.ask("browse", "three_joints") == ["commands", "measurements"]
    assert peer.ask("browse", "three_joints", "commands") == ["arm", "turn"]
    assert peer.ask("browse", "three_joints", "commands", "arm") == ["a", "b", "beat"]
    assert peer.ask("browse", "three_joints", "measurements", "state") == ["angle", "effort", "beat"]
    assert peer.ask("describe", "arm.b") == "joint/b/velocity: -1 to 1 rad/s; x 0.001 + 0"


def test_messages_are_written_whole(served, peer):
    assert peer.ask("write", arm(1)) == ["Good"] * 3
    assert served.sink.values("arm") == [{"a": 0.5, "b": 250.0}]
    assert peer.ask("write", {"arm.a": ("Double", 0.7)}) == "BadInvalidArgument"
    assert peer.ask("read", "arm.a") == 0.5
    assert peer.ask("write", {**arm(2), "turn.c": ("Float", 0.25)}) == ["Good"] * 4
    assert served.sink.values("turn") == [{"c": 0.25}]
    assert peer.ask("write", arm(2)) == ["Good"] * 3
    assert served.sink.refusals("arm") == ["written in part", "heartbeat stands still"]


@pytest.mark.parametrize(
    ("changed", "answer", "refusal"),
    [
        ({"a": ("Double", math.nan)}, "BadOutOfRange", "not a number"),
        ({"a": ("Double", math.inf)}, "BadOutOfRange", "not a number"),
        ({"a": ("Float", 0.5)}, "BadTypeMismatch", "type"),
        ({"b": ("Int32", 1)}, "BadTypeMismatch", "type"),
        ({"a": ("String", "0.5")}, "BadTypeMismatch", "type"),
        ({"a": ("Double", [0.5, 0.5])}, "BadTypeMismatch", "type"),
    ],
)
def test_wrong_values_are_refused_with_the_whole_request(served, peer, changed, answer, refusal):
    assert peer.ask("write", {**arm(1, **changed), "turn.c": ("Float", 0.5)}) == answer
    assert served.sink.refusals("arm") == [refusal]
    assert served.sink.values("turn") == []


@pytest.mark.parametrize("status", ["BadSensorFailure", "UncertainLastUsableValue"])
def test_a_bad_status_is_an_error_of_its_field(served, peer, status):
    assert peer.ask("write_bad", arm(41), "arm.b", status) == ["Good"] * 3
    (received,) = served.sink.received
    assert received.errors == {"b"}
    assert dict(received.values) == {"a": 0.5}


def test_measurements_cannot_be_written_and_are_heard(served, peer):
    assert peer.ask("write", {"state.angle": ("Double", 1.0)}) == "BadUserAccessDenied"
    assert served.sink.refusals("") == ["not writable"]
    peer.ask("subscribe", "state.angle")
    served.transport.send("state", {"angle": 12.5, "effort": -3.0})
    wait_until(lambda: 12.5 in peer.ask("heard"), "the angle")
    assert peer.ask("read", "state.effort") == -3
    served.transport.send("state", {"angle": math.nan, "effort": 0.0})
    wait_until(lambda: peer.ask("heard")[-1] is None, "the loss of the angle")
    assert peer.ask("read", "state.angle") == "BadNoDataAvailable"


def test_broken_and_idle_connections_do_not_hurt_others(served, peer):
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"HELF\xff\xff\xff\x7f", b"MSGF\x00\x00\x00\x00", b"\x00" * 64):
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall(garbage)
            assert not _rest(connection)  # the server ends it
    with socket.create_connection(("127.0.0.1", served.port)) as half:
        half.sendall(b"HEL")  # the rest never comes
        crowd = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(60)]
        assert peer.ask("write", arm(51)) == ["Good"] * 3
        assert not _rest(half)  # after a while without a session
        for connection in crowd:
            connection.close()
    assert served.sink.values("arm") == [{"a": 0.5, "b": 250.0}]


def test_a_connection_has_one_session_and_registers_nothing(served, peer):
    """A session that is never activated would stay for ever, and so would the name of a server."""
    with Peer("opcua_peer.py", served.port) as stranger:
        refusals, count = stranger.ask("crowd", 100)
    assert refusals == ["BadServiceUnsupported", "BadTooManySessions"] and count == 199  # the first session is granted
    assert peer.ask("write", arm(71)) == ["Good"] * 3


def test_slow_and_endless_messages_do_not_hurt_others(served, peer):
    """One that comes by the byte, and one whose frames have no end; the others are served meanwhile."""
    hello = struct.pack("<4sIIIIII", b"HELF", 32, 0, 65536, 65536, 0, 0) + struct.pack("<i", -1)
    with (
        socket.create_connection(("127.0.0.1", served.port)) as slow,
        socket.create_connection(("127.0.0.1", served.port)) as endless,
    ):
        endless.settimeout(DEADLINE)
        slow.settimeout(DEADLINE)
        endless.sendall(hello)
        assert endless.recv(64)[:4] == b"ACKF"
        frame = struct.pack("<4sI", b"MSGC", 65536) + bytes(65528)
        sent = 0
        try:
            while sent < 400:  # 25 MB
                endless.sendall(frame)
                sent += 1
        except OSError:
            pass
        assert sent < 400  # the server has ended it
        for number, byte in enumerate(hello[:20], 81):
            slow.sendall(bytes([byte]))
            assert peer.ask("write", arm(number)) == ["Good"] * 3
        assert not _rest(slow)  # after a while without a session
    assert served.sink.values("arm")[-1] == {"a": 0.5, "b": 250.0}


def test_frames_of_random_bytes(served, peer):
    dice = random.Random(5)
    for _ in range(60):
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            for _ in range(dice.randrange(1, 4)):
                body = dice.randbytes(dice.randrange(0, 200))
                kind = dice.choice([b"HEL", b"OPN", b"MSG", b"CLO"])
                try:
                    connection.sendall(kind + b"F" + struct.pack("<I", len(body) + 8) + body)
                except OSError:
                    break  # the server has ended it
    assert served.sink.received == []
    assert peer.ask("write", arm(61)) == ["Good"] * 3
    assert served.sink.values("arm") == [{"a": 0.5, "b": 250.0}]


def _rest(connection):
    try:
        return connection.recv(64)
    except ConnectionResetError:
        return b""


def test_a_client_reads_and_writes(served, tmp_path):
    mine = RememberingSink()
    with opened(transport_of(load_mapping(tmp_path, CLIENT.format(port=served.port, more=""))), mine) as client:
        served.transport.send("state", {"angle": 0.5, "effort": 7.0})
        values = {"ns=2;s=state.angle": 0.5, "ns=2;s=state.effort": 7.0}
        mine.wait_for(lambda one: values in one.values("commands"), "a message")
        served.transport.send("state", {"angle": math.nan, "effort": 7.0})
        mine.wait_for(lambda one: one.received[-1].errors == {"ns=2;s=state.angle"}, "an error")
        client.send("angles", {"ns=2;s=arm.a": 0.25, "ns=2;s=arm.b": -700.0})
        served.sink.wait_for(lambda one: one.values("arm") == [{"a": 0.25, "b": -700.0}], "a write")
        assert mine.losses == []


def test_a_client_of_a_server_that_is_gone(tmp_path):
    client = transport_of(load_mapping(tmp_path, CLIENT.format(port=free_port(), more="")))
    with pytest.raises(TransportError, match="no OPC UA server at opc.tcp://127.0.0.1"):
        client.open(RememberingSink())
    client.close()


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A server with security: port, sink, directory."""
    folder = tmp_path_factory.mktemp("secure")
    for name in ("server", "plc", "stranger"):
        certificate, key = make_certificate(name, folder)
        assert key.stat().st_mode & 0o077 == 0
        if name == "plc":
            (folder / "trusted").mkdir()
            (folder / "trusted" / certificate.name).write_bytes(certificate.read_bytes())
    add_user("plc", "a long password", folder / "users.yaml")
    (folder / "password").write_text("a long password\n")
    more = ", security: {certificate: server.der, private_key: server.pem, users: users.yaml, trusted: trusted}"
    port, sink = free_port(), RememberingSink()
    with opened(transport_of(load_mapping(folder, SERVER.format(port=port, more=more))), sink) as transport:
        yield SimpleNamespace(port=port, sink=sink, folder=folder, transport=transport)


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("plc", "plc", "a long password"), None),
        (("plc", "plc", "another password"), "BadUserAccessDenied"),
        (("plc", "plc", ""), "BadUserAccessDenied"),
        (("plc", "admin", ""), "BadUserAccessDenied"),
        (("stranger", "plc", "a long password"), "BadCertificateUntrusted"),
        ((), "UaError"),
    ],
)
def test_who_may_connect(secured, arguments, answer):
    security = (secured.folder, *arguments) if arguments else ()
    with Peer("opcua_peer.py", secured.port, *security) as one:
        assert one.ask("connect") == answer
        if answer is None:
            secured.sink.received.clear()
            assert one.ask("write", arm(1)) == ["Good"] * 3
            assert secured.sink.values("arm") == [{"a": 0.5, "b": 250.0}]
            assert one.ask("write", {"state.angle": ("Double", 1.0)}) == "BadUserAccessDenied"


@pytest.mark.parametrize("file", ["", "plc.der"])
def test_the_certificate_of_the_channel_counts_whatever_the_session_names(secured, file):
    with Peer("opcua_peer.py", secured.port, secured.folder, "stranger", "plc", "a long password") as one:
        assert one.ask("connect_naming", file and str(secured.folder / file)) == "BadUserAccessDenied"


def test_passwords_are_not_checked_for_a_while_after_a_wrong_one(monkeypatch):
    now, checked = [0.0], []

    def check(password, hashed):
        checked.append(password)
        return is_password(password, hashed)

    monkeypatch.setattr("grouser.bridges.plc.opcua_access.is_password", check)
    users = Users({"plc": hash_password("a long password"), "panel": hash_password("p")}, None, lambda: now[0])

    def is_let_in(name, password, certificate):
        return users.get_user(None, name, password, certificate) is not None

    assert is_let_in("plc", "a long password", b"its own")
    assert not any(is_let_in("plc", f"guess {n}", b"%d" % n) for n in range(100))
    assert not is_let_in("plc", "a long password", b"another")
    assert not any(is_let_in(f"somebody {n}", "", b"") for n in range(100))
    assert checked == ["a long password", "guess 0", ""]
    assert is_let_in("plc", "a long password", b"its own")
    assert is_let_in("panel", "p", b"another")
    now[0] += 1.0
    assert is_let_in("plc", "a long password", b"another")


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (
            lambda folder: (folder / "trusted" / "plc.pem").write_bytes((folder / "plc.pem").read_bytes()),
            "plc.pem is no",
        ),
        (lambda folder: _encrypt(folder / "plc.pem"), "has a password"),
    ],
)
def test_files_of_security_that_cannot_be_used(tmp_path, spoil, problem):
    (tmp_path / "trusted").mkdir()
    make_certificate("plc", tmp_path)
    add_user("plc", "a long password", tmp_path / "users.yaml")
    spoil(tmp_path)
    more = ", security: {certificate: plc.der, private_key: plc.pem, users: users.yaml, trusted: trusted}"
    with pytest.raises(TransportError, match=problem):
        transport_of(load_mapping(tmp_path, SERVER.format(port=free_port(), more=more))).open(RememberingSink())


def _encrypt(file):
    key = load_pem_private_key(file.read_bytes(), None)
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))


def test_a_port_that_is_taken_costs_no_address_space(tmp_path, monkeypatch):
    monkeypatch.setattr(GuardedServer, "init", lambda server: pytest.fail("an address space is made"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        text = SERVER.format(port=taken.getsockname()[1], more="")
        with pytest.raises(TransportError, match="in use"):
            transport_of(load_mapping(tmp_path, text)).open(RememberingSink())


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_a_host_of_ipv6(tmp_path, host):
    interface = load_mapping(tmp_path, SERVER.format(port=4840, more=f", host: '{host}'")).interface
    assert interface.url == "opc.tcp://[::1]:4840/grouser"
    assert urlparse(interface.url).hostname == interface.line.host == "::1"


def test_a_secure_client(secured):
    (secured.folder / "client").mkdir(exist_ok=True)
    files = {"certificate": "plc.der", "private_key": "plc.pem", "server_certificate": "server.der"}
    listed = ", ".join(f"{key}: {secured.folder / name}" for key, name in files.items())
    more = f", security: {{{listed}, user: plc, password_file: {secured.folder / 'password'}}}"
    mine = RememberingSink()
    mapping = load_mapping(secured.folder / "client", CLIENT.format(port=secured.port, more=more))
    with opened(transport_of(mapping), mine):
        secured.transport.send("state", {"angle": 0.5, "effort": 7.0})
        mine.wait_for(lambda one: one.values("commands"), "a message")


def test_passwords_are_kept_as_hashes(tmp_path):
    file = tmp_path / "users.yaml"
    add_user("plc", "a long password", file)
    add_user("panel", "another password", file)
    assert "password" not in file.read_text()
    users = read_users(file)
    assert is_password("a long password", users["plc"])
    assert not is_password("a long password", users["panel"])
    with pytest.raises(ParameterError, match="at least 8 characters"):
        add_user("plc", "short", file)
    file.write_text("plc: secret\n")
    with pytest.raises(MachineError, match="not the hash of a password"):
        read_users(file)


def test_certificates_are_made_by_a_command(tmp_path):
    command = [sys.executable, "-m", "grouser.bridges.plc.credentials", "certificate", "plc", str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert said == [str(tmp_path / "plc.der"), str(tmp_path / "plc.pem")]


@pytest.mark.parametrize(
    ("text", "old", "new", "problem"),
    [
        (SERVER, "port: 4840", "port: 4840, host: 0.0.0.0", "is not this computer"),
        (SERVER, "port: 4840", "port: 4840, host: 0.0.0.0, open: true", "without security only this computer"),
        (SERVER, "port: 4840", "port: 4840, security: {certificate: a, private_key: b, users: c}", "there is no"),
        (SERVER, "port: 4840", "port: 4840, security: {users: a}", "key 'certificate' is missing"),
        (SERVER, "type: int16", "type: int8", "'int8' is not valid"),
        (SERVER, "source: a,", "source: beat,", "variable 'beat' is there twice"),
        (SERVER, "scale: 0.001, range: [-1, 1]", "scale: 0.0001, range: [-9, 1]", "more than 'b' can hold"),
        (
            CLIENT,
            'source: {heartbeat: {node: "ns=2;s=state.beat", type: uint16}}',
            "source: {}",
            "cannot tell a stopped",
        ),
        (CLIENT, "ns=2;s=arm.a", "ns=2;s=state.angle", "is used by message 'commands' too"),
    ],
)
def test_mappings_that_are_refused(tmp_path, text, old, new, problem):
    whole = text.format(port=4840, more="")
    assert old in whole
    with pytest.raises(MachineError) as caught:
        load_mapping(tmp_path, whole.replace(old, new, 1))
    assert problem in str(caught.value)


NUMBERS = [
    ("boolean", (True, False)),
    ("int16", (-32768, 5)),
    ("uint16", (0, 65535)),
    ("int32", (-(2**31), 7)),
    ("uint32", (0, 2**32 - 1)),
    ("float", (0.1, -3.4e38)),
    ("double", (0.1, -1.7e308, math.nan)),
]


@pytest.mark.parametrize(("kind", "numbers"), NUMBERS)
def test_answers_to_reads_are_the_bytes_of_the_library(kind, numbers):
    now = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone.utc)
    values = [data_value(NodeField("a", kind), number, now) for number in numbers]
    values += [
        ua.DataValue(values[0].Value, ServerTimestamp=now),
        ua.DataValue(values[0].Value, None, now),
        ua.DataValue(ua.Variant([1.5, 2.5], ua.VariantType.Double), SourceTimestamp=now),
        ua.DataValue(values[0].Value, ua.StatusCode(ua.StatusCodes.UncertainLastUsableValue), now, SourcePicoseconds=3),
        ua.DataValue(ua.Variant("text"), SourceTimestamp=now),
    ]
    for results in (values, []):
        answer = ua.ReadResponse(Results=results)
        assert pack_answer(answer) == struct_to_binary(answer)
        assert answer.Results is results


def test_requests_to_read_are_decoded_as_by_the_library():
    names = [ua.ReadValueId(ua.NodeId(f"state.V{number}", 2), ua.AttributeIds.Value) for number in range(3)]
    for asked in (names, names[:1], names, []):
        data = struct_to_binary(ua.ReadParameters(NodesToRead=asked))
        assert read_request(ua.ReadParameters, Buffer(b"head" + data, 4)) == ua.ReadParameters(NodesToRead=asked)
    with pytest.raises(NotEnoughData):
        read_request(ua.ReadParameters, Buffer(data[:-1]))
