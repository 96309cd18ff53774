"""J1939's transport between two nodes: reference frames, another stack, lost packets, deadlines; ordered addresses."""

from itertools import count

import can
import j1939
import pytest
from hypothesis import given
from hypothesis import strategies as st
from j1939_nodes import OWN, claimed_node
from patience import wait_until

from grouser.bridges.can.address_claim import ClaimState
from grouser.bridges.can.connections import Connections
from grouser.bridges.can.diagnostics import ActiveFaults, TroubleCode, encode_dm1
from grouser.bridges.can.identifier import Identifier, unpack_identifier
from grouser.bridges.can.name import Name
from grouser.bridges.can.transport_protocol import CONNECTION_PGN, DATA_PGN, broadcast_packets

PROPRIETARY, DM1, COMMANDED = 0xEF00, 65226, 65240
ONE, OTHER = 0x81, 0x82


def said(source, frames):
    return [f"{Identifier(7, pgn, source, to).pack():08X}#{data.hex().upper()}" for to, pgn, data in frames]


def hear(connections, text, now=0.0):
    identifier, data = text.split("#")
    return connections.receive(unpack_identifier(int(identifier, 16)), bytes.fromhex(data), now)


def transfer(sender, receiver, frames, now=0.0, spoil=lambda number, frame: [frame]):
    """Carries frames between two nodes until neither says anything; returns what was complete."""
    complete, numbers, source = [], count(), ONE
    while frames:
        answers = []
        for frame in frames:
            for _, pgn, data in spoil(next(numbers), frame):
                end = receiver if source == ONE else sender
                progress = end.receive(Identifier(7, pgn, source, OTHER if source == ONE else ONE), data, now)
                answers += progress.frames
                complete += [progress.complete] if progress.complete else []
        frames, source = answers, OTHER if source == ONE else ONE
    return complete


def pair():
    return Connections(frozenset({PROPRIETARY})), Connections(frozenset({PROPRIETARY}))


def test_the_reference_transfer():
    """As can-j1939 has it on the bus: 20 bytes, one packet at a time."""
    receiver = Connections(frozenset({PROPRIETARY}))
    assert said(0x81, hear(receiver, "18EC8182#101400030100EF00").frames) == ["1CEC8281#110101FFFF00EF00"]
    assert said(0x81, hear(receiver, "1CEB8182#0100010203040506").frames) == ["1CEC8281#110102FFFF00EF00"]
    assert said(0x81, hear(receiver, "1CEB8182#020708090A0B0C0D").frames) == ["1CEC8281#110103FFFF00EF00"]
    last = hear(receiver, "1CEB8182#030E0F10111213FF")
    assert said(0x81, last.frames) == ["1CEC8281#13140003FF00EF00"]
    assert last.complete == (PROPRIETARY, bytes(range(20)))
    assert receiver.tick(100.0) == []


def test_what_is_sent():
    sender, _ = pair()
    assert said(0x82, sender.send(0x81, PROPRIETARY, bytes(range(20)), 0.0)) == ["1CEC8182#10140003FF00EF00"]
    assert sender.send(0x81, PROPRIETARY, bytes(9), 0.0) == []  # one at a time
    granted = hear(sender, "1CEC8281#110201FFFF00EF00").frames
    assert said(0x82, granted) == ["1CEB8182#0100010203040506", "1CEB8182#020708090A0B0C0D"]
    assert said(0x82, hear(sender, "1CEC8281#110903FFFF00EF00").frames) == ["1CEB8182#030E0F10111213FF"]
    assert hear(sender, "1CEC8281#13140003FF00EF00").frames == []
    assert sender.tick(100.0) == []
    assert sender.send(0x81, PROPRIETARY, bytes(9), 100.0)


def test_another_stack_sends_and_receives():
    """can-j1939 at the other end of the bus."""
    ecu = j1939.ElectronicControlUnit()
    ecu.connect(interface="virtual", channel="connections")
    application = j1939.ControllerApplication(j1939.Name(identity_number=1), ONE, bypass_address_claim=True)
    ecu.add_ca(controller_application=application)
    heard, taken = [], []
    application.subscribe(lambda priority, pgn, source, time, data: heard.append((pgn, source, bytes(data))))
    application.start()
    connections = Connections(frozenset({PROPRIETARY}))
    with can.Bus(interface="virtual", channel="connections") as bus:

        def write(frames):
            for to, pgn, data in frames:
                bus.send(can.Message(arbitration_id=Identifier(7, pgn, OTHER, to).pack(), data=data))

        def carry():
            message = bus.recv(0.0)
            if message is not None:
                identifier = unpack_identifier(message.arbitration_id)
                progress = connections.receive(identifier, bytes(message.data), message.timestamp)
                write(progress.frames)
                taken.extend([progress.complete] if progress.complete else [])
            return taken and heard

        application.send_pgn(0, 0xEF, OTHER, 6, list(range(200)))
        write(connections.send(ONE, PROPRIETARY, bytes(range(100, 120)), 0.0))
        wait_until(carry, "both parameter groups")
    ecu.disconnect()
    assert taken == [(PROPRIETARY, bytes(range(200)))]
    assert heard[0][1:] == (OTHER, bytes(range(100, 120)))


@given(st.binary(min_size=9, max_size=1785))
def test_every_length_comes_over(data):
    sender, receiver = pair()
    assert transfer(sender, receiver, sender.send(OTHER, PROPRIETARY, data, 0.0)) == [(PROPRIETARY, data)]
    assert sender.tick(100.0) == receiver.tick(100.0) == []


@given(st.binary(min_size=15, max_size=200), st.integers(0, 40), st.booleans())
def test_a_lost_or_doubled_packet_gives_the_same_or_nothing(data, place, doubles):
    sender, receiver = pair()

    def spoil(number, frame):
        return [frame] * (2 if doubles else 0) if number == place and frame[1] == DATA_PGN else [frame]

    complete = transfer(sender, receiver, sender.send(OTHER, PROPRIETARY, data, 0.0), spoil=spoil)
    assert complete in ([], [(PROPRIETARY, data)])
    if doubles:
        assert complete
    ended = sender.tick(2.0) + receiver.tick(2.0)
    assert bool(ended) is not bool(complete)
    assert all(frame[2][:2] == b"\xff\x03" for frame in ended)


def test_a_packet_lost_in_the_middle_is_asked_for_again():
    sender, receiver = pair()
    lost = []

    def spoil(number, frame):
        if frame[1] == DATA_PGN and frame[2][0] == 2 and not lost:
            lost.append(frame)
            return []
        return [frame]

    complete = transfer(sender, receiver, sender.send(OTHER, PROPRIETARY, bytes(40), 0.0), spoil=spoil)
    assert lost and complete == [(PROPRIETARY, bytes(40))]


def test_who_waits_in_vain_gives_up():
    sender, receiver = pair()
    (request,) = sender.send(OTHER, PROPRIETARY, bytes(20), 0.0)
    assert sender.tick(1.25) == []
    assert said(ONE, sender.tick(1.26)) == ["1CEC8281#FF03FFFFFF00EF00"]
    assert receiver.receive(Identifier(7, CONNECTION_PGN, ONE, OTHER), request[2], 5.0).frames
    receiver.receive(Identifier(7, DATA_PGN, ONE, OTHER), bytes((1, *range(7))), 5.5)
    assert receiver.tick(6.25) == []
    assert len(receiver.tick(6.26)) == 1
    late = receiver.receive(Identifier(7, DATA_PGN, ONE, OTHER), bytes((2, *range(7))), 6.3)
    assert (late.frames, late.complete) == ([], None)
    sender.send(OTHER, PROPRIETARY, bytes(20), 10.0)
    hold = bytes.fromhex("110001FFFF00EF00")  # the receiver is busy
    assert sender.receive(Identifier(7, CONNECTION_PGN, OTHER, ONE), hold, 11.0).frames == []
    assert sender.tick(12.0) == []
    sender.receive(Identifier(7, CONNECTION_PGN, OTHER, ONE), bytes.fromhex("FF02FFFFFF00EF00"), 12.0)
    assert sender.tick(100.0) == []


@pytest.mark.parametrize(
    "text",
    [
        "18EC8182#10140004FF00EF00",  # four packets for 20 bytes
        "18EC8182#10080002FF00EF00",  # fits a frame
        "18EC8182#10FFFFFFFF00EF00",  # more than 1785 bytes
        "18EC8182#101400030000EF00",  # none at a time
        "18EC8182#1014000301",
    ],
)
def test_impossible_requests_are_ignored(text):
    _, receiver = pair()
    assert hear(receiver, text).frames == []
    assert receiver.tick(100.0) == []


def test_a_parameter_group_that_nobody_needs_is_refused():
    _, receiver = pair()
    assert said(0x81, hear(receiver, "18EC8182#10140003FFD6FD00").frames) == ["1CEC8281#FF02FFFFFFD6FD00"]


@given(st.lists(st.tuples(st.sampled_from([CONNECTION_PGN, DATA_PGN]), st.integers(0, 3), st.binary(max_size=8))))
def test_random_frames_break_no_connection(frames):
    sender, receiver = pair()
    sender.send(1, PROPRIETARY, bytes(30), 0.0)
    for now, (pgn, source, data) in enumerate(frames):
        for end in (sender, receiver):
            end.receive(Identifier(7, pgn, source, ONE), data, 0.1 * now)
            end.tick(0.1 * now)


@pytest.fixture
def node():
    return claimed_node()


def node_hears(node, text, now):
    identifier, data = text.split("#")
    frames = node.receive(unpack_identifier(int(identifier, 16)), bytes.fromhex(data), (), now)
    return [f"{frame.identifier:08X}#{frame.data.hex().upper()}" for frame in frames]


def test_a_node_answers_one_node_with_its_faults(node):
    node.faults = ActiveFaults(frozenset({"amber_warning"}), (TroubleCode(2660, 3, 1), TroubleCode(2661, 4, 2)))
    assert node_hears(node, "18EA8025#CAFE00", 1.0) == ["1CEC2580#100A0002FFCAFE00"]
    assert node_hears(node, "1CEC8025#110201FFFFCAFE00", 1.1) == [
        "1CEB2580#0104FF640A030165",
        "1CEB2580#020A0402FFFFFFFF",
    ]


def test_a_node_takes_the_faults_of_another(node):
    faults = ActiveFaults(frozenset(), (TroubleCode(2660, 3, 1), TroubleCode(2661, 4, 2)))
    data = encode_dm1(faults)
    assert node_hears(node, "18EC8013#100A0002FFCAFE00", 1.0) == ["1CEC1380#110201FFFFCAFE00"]
    assert node_hears(node, f"1CEB8013#01{data[:7].hex()}", 1.0) == []
    assert node_hears(node, f"1CEB8013#02{data[7:].hex()}FFFFFFFF", 1.0) == ["1CEC1380#130A0002FFCAFE00"]
    assert node.take_groups() == [(0x13, DM1, data)]
    assert node.take_groups() == []
    assert node_hears(node, "18EC8113#100A0002FFCAFE00", 2.0) == []  # for another node


def command_address(node, name, address, now=1.0):
    """Broadcasts an order as J1939-81 has it; returns what the node says."""
    answers = []
    for pgn, data in broadcast_packets(COMMANDED, name.pack() + bytes((address,))):
        answers += node_hears(node, f"{Identifier(7, pgn, 0x25).pack():08X}#{data.hex()}", now)
    return answers


def test_a_node_takes_the_address_that_it_is_ordered_to(node):
    assert command_address(node, OWN, 0x90) == ["18EEFF90#D204C0CC00000030"]
    assert node.claim.state is ClaimState.WAITING
    node.tick(1.25)
    assert (node.claim.address, node.claim.state) == (0x90, ClaimState.CLAIMED)


@pytest.mark.parametrize(
    ("name", "address"), [(Name(identity_number=1, manufacturer_code=1), 0x90), (OWN, 0xFE), (OWN, 0xFF), (OWN, 0x80)]
)
def test_orders_that_change_nothing(node, name, address):
    assert command_address(node, name, address) == []
    assert (node.claim.address, node.claim.state) == (0x80, ClaimState.CLAIMED)
