"""Own nodes on CAN by a clock of the test: address claims, requests, DM1; CANopen's states and heartbeats."""

import pytest
from bridge_bench import SHIPPED
from hypothesis import given
from hypothesis import strategies as st
from j1939_nodes import claimed_node

from grouser.bridges.can.address_claim import AddressClaim, ClaimState
from grouser.bridges.can.canopen import Emergency
from grouser.bridges.can.canopen_network import CanopenNetwork, DeviceSettings, OwnNodeSettings
from grouser.bridges.can.diagnostics import ActiveFaults, TroubleCode
from grouser.bridges.can.frames import CanFrame, Loss
from grouser.bridges.can.identifier import unpack_identifier
from grouser.bridges.can.j1939_node import J1939Node
from grouser.bridges.can.j1939_peers import Peers
from grouser.bridges.can.name import Name
from grouser.bridges.can.stack import CanStack
from grouser.bridges.mapping.reader import load_bridge_mapping

ARBITRARY = Name(identity_number=1234, manufacturer_code=0x666, industry_group=3, arbitrary_address=1)
LOWER = Name(identity_number=5, manufacturer_code=0x666, industry_group=3)
HIGHER = Name(identity_number=9999, manufacturer_code=0x666, industry_group=3)


def written(frames):
    return [f"{frame.identifier:08X}#{frame.data.hex().upper()}" for frame in frames]


def hear(node, text, now, taken=()):
    identifier, data = text.split("#")
    return written(node.receive(unpack_identifier(int(identifier, 16)), bytes.fromhex(data), taken, now))


@pytest.fixture
def node():
    return claimed_node()


def test_an_address_is_used_after_nobody_contended():
    node = J1939Node(AddressClaim(ARBITRARY, 0x80))
    assert written(node.start(10.0)) == ["18EAFFFE#00EE00", "18EEFF80#D204C0CC000000B0"]
    assert node.say(0xFDD6, bytes(8), 3, 0xFF, 10.1) is None
    assert node.tick(10.24) == []
    assert written(node.tick(10.25)) == ["18FECA80#00FF00000000FFFF"]
    assert written(node.say(0xFDD6, bytes(8), 3, 0xFF, 10.3)) == ["0CFDD680#0000000000000000"]


def test_the_lower_name_keeps_the_address(node):
    higher = "18EEFF80#" + HIGHER.pack().hex()
    assert hear(node, higher, 1.0) == ["18EEFF80#D204C0CC00000030"]
    assert node.claim.is_claimed
    assert hear(node, "18EEFF81#" + LOWER.pack().hex(), 1.0) == []  # another address


def test_a_node_that_loses_its_only_address_is_silent(node):
    assert hear(node, "18EEFF80#" + LOWER.pack().hex(), 1.0) == []
    assert node.claim.state is ClaimState.LOST
    assert node.claim.contender == LOWER
    assert node.tick(1.0) == []  # it waits, by its own number 1234 = 0x4D2: 0xD2 times 0.6 ms
    assert written(node.tick(1.126)) == ["18EEFFFE#D204C0CC00000030"]
    assert node.say(0xFDD6, bytes(8), 3, 0xFF, 10.1) is None
    assert node.tick(100.0) == []
    assert hear(node, "18EAFF25#D6FD00", 100.0) == []
    assert hear(node, "18EAFF25#00EE00", 100.0) == []  # asked for its claim it says again that it has none
    assert written(node.tick(100.2)) == ["18EEFFFE#D204C0CC00000030"]


def test_the_same_name_twice_is_silent():
    node = J1939Node(AddressClaim(ARBITRARY, 0x80))
    node.start(0.0)
    hear(node, "18EEFF80#" + ARBITRARY.pack().hex(), 0.1)
    assert node.claim.state is ClaimState.LOST


def test_a_node_that_can_takes_a_free_address():
    node = J1939Node(AddressClaim(ARBITRARY, 0x80))
    node.start(0.0)
    taken = set(range(0x81, 0xF7))  # 0xF7 = 247 alone is free
    assert hear(node, "18EEFF80#" + LOWER.pack().hex(), 0.1, taken) == ["18EEFFF7#D204C0CC000000B0"]
    assert node.tick(0.3) == []
    node.tick(0.36)
    assert node.claim.is_claimed
    assert node.claim.address == 0xF7
    assert hear(node, "18EEFFF7#" + LOWER.pack().hex(), 0.5, taken | {0x80, 0xF7}) == []
    assert node.claim.state is ClaimState.LOST


@given(st.lists(st.integers(0, (1 << 64) - 1), unique=True, min_size=2, max_size=6))
def test_of_all_contenders_the_lowest_name_has_the_address(values):
    nodes = [J1939Node(AddressClaim(Name.unpack((value & ~(1 << 63)).to_bytes(8, "little")), 0x20)) for value in values]
    names = [node.claim.name for node in nodes]
    frames = [(node, frame) for node in nodes for frame in node.start(0.0)]
    while frames:
        sender, frame = frames.pop(0)
        for node in nodes:
            if node is not sender:
                answers = node.receive(unpack_identifier(frame.identifier), frame.data, (), 0.0)
                frames += [(node, answer) for answer in answers]
    for node in nodes:
        node.tick(1.0)
    owners = [node.claim.name for node in nodes if node.claim.is_claimed]
    lowest = min(names, key=lambda name: name.value)
    assert owners == ([lowest] if names.count(lowest) == 1 else [])


def test_requests_are_answered(node):
    node.say(0xFDD6, bytes.fromhex("01000100FF0000FF"), 3, 0xFF, 0.3)
    assert hear(node, "18EA8025#D6FD00", 1.0) == ["0CFDD680#01000100FF0000FF"]
    assert hear(node, "18EAFF25#D6FD00", 1.0) == ["0CFDD680#01000100FF0000FF"]
    assert hear(node, "18EA8125#D6FD00", 1.0) == []  # to another node
    assert hear(node, "18EAFF82#CAFE00", 1.0) == ["18FECA80#00FF00000000FFFF"]
    assert hear(node, "18EAFFFE#00EE00", 1.0) == ["18EEFF80#D204C0CC00000030"]
    assert hear(node, "18EA80FE#00EE00", 1.0) == ["18EEFF80#D204C0CC00000030"]
    assert hear(node, "18EAFF25#D8FD00", 1.0) == []  # a request to all for what it has not
    assert hear(node, "18EA8025#D8FD00", 1.0) == ["18E8FF80#01FFFFFF25D8FD00"]  # the same to it alone: refused
    assert hear(node, "18EA8025#D8FD", 1.0) == []


def test_active_faults_are_reported_each_second_and_on_change(node):
    assert node.tick(1.2) == []
    assert written(node.tick(1.25)) == ["18FECA80#00FF00000000FFFF"]
    node.faults = ActiveFaults(frozenset({"amber_warning"}), (TroubleCode(2660, 3),))
    assert written(node.tick(1.3)) == ["18FECA80#04FF640A0301FFFF"]
    assert node.tick(2.29) == []
    assert written(node.tick(2.31)) == ["18FECA80#04FF640A0301FFFF"]
    node.faults = ActiveFaults(frozenset({"amber_warning"}), (TroubleCode(2660, 3), TroubleCode(2661, 4, 2)))
    assert written(node.tick(2.4)) == ["1CECFF80#200A0002FFCAFE00"]
    assert node.tick(2.44) == []
    assert written(node.tick(2.46)) == ["1CEBFF80#0104FF640A030165"]
    assert written(node.tick(2.52)) == ["1CEBFF80#020A0402FFFFFFFF"]


def test_peers_and_their_faults():
    peers = Peers()

    def hear(text, now=0.0):
        identifier, data = text.split("#")
        return peers.receive(unpack_identifier(int(identifier, 16)), bytes.fromhex(data), now)

    assert hear("18EEFF33#" + HIGHER.pack().hex()) == []
    assert hear("18EEFF33#" + HIGHER.pack().hex()) == []  # the same again
    hear("18FECA33#04FF640A0301FFFF")
    assert peers.faults == {0x33: ActiveFaults(frozenset({"amber_warning"}), (TroubleCode(2660, 3),))}
    assert hear("18EEFF33#" + LOWER.pack().hex()) == [Loss("address 0x33 claimed by another node", 0x33)]
    assert peers.faults == {}
    assert hear("18EEFFFE#" + LOWER.pack().hex()) == [Loss("address 0x33 given up", 0x33)]
    assert peers.names == {}
    hear("1CECFF82#200A0002FFCAFE00")
    hear("1CEBFF82#0104FF640A030165")
    hear("1CEBFF82#020A0402FFFFFFFF")
    assert peers.faults[0x82].codes == (TroubleCode(2660, 3, 1), TroubleCode(2661, 4, 2))


@given(st.lists(st.tuples(st.integers(0, (1 << 29) - 1), st.binary(max_size=8)), max_size=30))
def test_random_frames_break_no_node(frames):
    node, peers = J1939Node(AddressClaim(ARBITRARY, 0x80)), Peers()
    node.start(0.0)
    for number, (bits, data) in enumerate(frames):
        identifier = unpack_identifier(bits)
        peers.receive(identifier, data, 0.1 * number)
        node.receive(identifier, data, peers.names, 0.1 * number)
        node.tick(0.1 * number)


def can(text):
    identifier, data = text.split("#")
    return int(identifier, 16), bytes.fromhex(data)


def test_devices_are_started_and_watched():
    network = CanopenNetwork([DeviceSettings(10, heartbeat=0.2, has_to_start=True)])
    assert network.start(0.0) == [CanFrame(0, False, b"\x01\x0a")]
    assert not network.is_trusted(10)
    assert network.tick(0.5).frames == []
    assert network.tick(1.0).frames == [CanFrame(0, False, b"\x01\x0a")]  # nobody has answered
    assert network.receive(*can("70A#00"), 1.5).frames == [CanFrame(0, False, b"\x01\x0a")]  # it has booted
    assert network.receive(*can("70A#05"), 1.6).losses == []
    assert network.is_trusted(10)
    assert network.tick(1.8).losses == []
    assert network.tick(1.81).losses == [Loss("heartbeat of node 10 lost", 10)]
    assert network.tick(1.9).losses == []
    assert not network.is_trusted(10)
    network.receive(*can("70A#05"), 2.0)
    assert network.is_trusted(10)
    assert network.receive(*can("70A#7F"), 2.1).losses == [Loss("node 10 is pre operational", 10)]
    assert not network.is_trusted(10)


def test_a_device_without_heartbeats_is_started_at_its_boot_up():
    network = CanopenNetwork([DeviceSettings(10, has_to_start=True)])
    assert network.start(0.0) == [CanFrame(0, False, b"\x01\x0a")]
    assert network.is_trusted(10)
    assert network.tick(100.0).frames == []
    assert network.receive(*can("70A#00"), 101.0).frames == [CanFrame(0, False, b"\x01\x0a")]


def test_a_device_that_reports_an_error_is_lost_at_once():
    network = CanopenNetwork([DeviceSettings(10)])
    assert network.receive(*can("08A#0050010100000000"), 1.0).losses == [Loss("node 10 reports error 0x5000", 10)]
    assert network.emergencies == {10: Emergency(0x5000, 1)}
    assert network.receive(*can("08A#0000000000000000"), 1.0).losses == []
    assert network.emergencies == {}


def test_the_own_node_obeys_the_master():
    network = CanopenNetwork([], OwnNodeSettings(5, 0.5))
    assert network.start(0.0) == [CanFrame(0x705, False, b"\x00")]
    assert not network.may_send
    assert network.tick(0.4).frames == []
    assert network.tick(0.5).frames == [CanFrame(0x705, False, b"\x7f")]
    for command, may_send in (("0105", True), ("0204", True), ("0200", False), ("0100", True), ("8005", False)):
        network.receive(0, bytes.fromhex(command), 0.6)
        assert network.may_send == may_send, command
    assert network.receive(0, b"\x81\x05", 0.7).frames == [CanFrame(0x705, False, b"\x00")]
    network.receive(0, b"\x07\x05", 0.7)
    assert CanopenNetwork([], OwnNodeSettings(5, 0.5, True)).start(0.0) == [CanFrame(0x705, False, b"\x00")]


def test_a_master_reads_and_sets_objects_of_the_own_node():
    """Frames of CiA 301."""
    network = CanopenNetwork([], OwnNodeSettings(5, 0.5))
    network.start(0.0)

    def ask(data, identifier=0x605):
        frames = network.receive(identifier, bytes.fromhex(data), 0.1).frames
        return [f"{one.identifier:03X}#{one.data.hex().upper()}" for one in frames]

    assert ask("4000100000000000") == ["585#4300100000000000"]
    assert ask("4001100000000000") == ["585#4F01100000000000"]
    assert ask("4017100000000000") == ["585#4B171000F4010000"]
    assert ask("4018100100000000") == ["585#4318100100000000"]
    assert ask("2B17100064000000") == ["585#6017100000000000"]  # a heartbeat of 100 ms
    assert ask("4017100000000000") == ["585#4B17100064000000"]
    assert ask("2B17100005000000") == ["585#8017100032000906"]  # too short
    assert ask("2F17100064000000") == ["585#8017100010000706"]  # one byte
    assert ask("2301100000000000") == ["585#8001100002000106"]  # read-only
    assert ask("4018100200000000") == ["585#8018100211000906"]  # no such subindex
    assert ask("4000200000000000") == ["585#8000200000000206"]  # no such object
    assert ask("2117100002000000") == ["585#8017100001000405"]  # in segments
    assert ask("8017100000000000") == []
    assert ask("401710") == []
    assert ask("4017100000000000", 0x606) == []  # of another node
    assert network.tick(0.09).frames == []
    assert network.tick(0.1).frames == [CanFrame(0x705, False, b"\x7f")]
    assert network.tick(0.2).frames
    network.receive(0, b"\x02\x05", 0.2)  # stopped: it answers nothing
    assert ask("4017100000000000") == []
    network.receive(0, b"\x82\x05", 0.2)  # reset: as at the start
    assert ask("4017100000000000") == ["585#4B171000F4010000"]


@given(st.lists(st.tuples(st.integers(0, 0x7FF), st.binary(max_size=8)), max_size=30))
def test_random_frames_break_no_network(frames):
    network = CanopenNetwork([DeviceSettings(10, 0.2, True)], OwnNodeSettings(5, 0.5))
    network.start(0.0)
    for number, (identifier, data) in enumerate(frames):
        network.receive(identifier, data, 0.1 * number)
        network.tick(0.1 * number)


IDENTIFIERS = (
    0x0CFDD633,
    0x0CFDD834,
    0x18EEFF33,
    0x18EEFF80,
    0x18EAFF33,
    0x18EA8033,
    0x18FECA33,
    0x1CECFF33,
    0x1CEBFF33,
)


@pytest.fixture(scope="module")
def excavator():
    return load_bridge_mapping(SHIPPED / "excavator_j1939.yaml")


@given(
    frames=st.lists(
        st.tuples(st.sampled_from(IDENTIFIERS) | st.integers(0, (1 << 29) - 1), st.booleans(), st.binary(max_size=8)),
        max_size=40,
    )
)
def test_random_frames_on_the_bus_of_the_excavator(excavator, frames):
    stack = CanStack(excavator)
    stack.start(0.0)
    for number, (identifier, is_extended, data) in enumerate(frames):
        now = 0.05 * number
        frame = CanFrame(identifier, is_extended, data) if is_extended else CanFrame(identifier & 0x7FF, False, data)
        received, outcome = stack.receive(frame, now)
        stack.tick(now)
        assert all(
            unpack_identifier(answer.identifier).source in (*range(0x80, 0xF8), 0xFE) for answer in outcome.frames
        )
        if received is not None:
            assert received.message in ("left_stick", "right_stick")
            assert received.refusal or all(-1.0 <= value <= 1.0 for value in received.values.values())


def test_a_bridge_that_says_bjm_repeats_as_joysticks_do(tmp_path):
    path = tmp_path / "stick.yaml"
    path.write_text(
        """
version: 1
bridge: can
interface: {interface: virtual, j1939: {address: 0x13, name: {identity_number: 1, manufacturer_code: 0x666}}}
messages:
  - name: stick
    direction: out
    target: {pgn: 64982}
    period: 0.02
    signals:
      - {target: x, signal: joy/axis_0, scale: -1.0, range: [-1, 1]}
      - {target: y, signal: joy/axis_1, range: [-1, 1]}
      - {target: button_1, signal: joy/button_0, range: [0, 1]}
"""
    )
    stack = CanStack(load_bridge_mapping(path))
    stack.start(0.0)
    assert stack.encode("stick", {"x": 0.0, "y": 0.0, "button_1": 0.0}, 0.1) == (False, [])  # no address yet
    stack.tick(0.3)
    said = []
    for number in range(26):
        now = 0.3 + 0.02 * number
        values = {"x": -0.5 if number >= 12 else 0.0, "y": 0.0, "button_1": 1.0 if number >= 12 else 0.0}
        if number == 20:
            values["y"] = float("nan")
        is_sent, frames = stack.encode("stick", values, now)
        assert is_sent
        said += [(number, frame) for frame in written(frames)]
    assert said == [
        (0, "0CFDD613#01000100FF3FFFFF"),
        (5, "0CFDD613#01000100FF3FFFFF"),
        (10, "0CFDD613#01000100FF3FFFFF"),
        (12, "0CFDD613#047D0100FF7FFFFF"),
        (17, "0CFDD613#047D0100FF7FFFFF"),
        (20, "0CFDD613#047DAAFFFF7FFFFF"),
        (21, "0CFDD613#047D0100FF7FFFFF"),
    ]
    stack.encode("stick", {"x": float("nan"), "y": 0.0, "button_1": 0.0}, 1.0)
    assert written(stack.tick(1.01).frames) == ["18FECA13#04FF640A0201FFFF"]  # SPN 2660, erratic
    received, _ = stack.receive(CanFrame(0x18EA1325, True, bytes.fromhex("D6FD00")), 1.02)
    assert received is None
