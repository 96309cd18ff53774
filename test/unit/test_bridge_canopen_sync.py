"""Process data of CANopen that go and count with SYNC, with the canopen library as the network's master."""

import can
import canopen
import pytest
from bridge_bench import Bench
from patience import wait_until

from grouser.bridges.can.frames import CanFrame
from grouser.bridges.can.stack import CanStack
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.physics.base.errors import GrouserError

MAPPING = """
version: 1
bridge: can
machine: excavator
interface:
  interface: virtual
  channel: canopen_sync
  canopen: {{node: {{id: 5, heartbeat: 0.2, start: true}}{sync}}}
timeout: 3.0
messages:
  - name: levers
    direction: in
    source: {{pdo: 1, fields: {{boom: i16}}, transmission: {incoming}}}
    period: 0.02
    signals: [{{source: boom, signal: valve/boom_valve, scale: 0.001, range: [-1, 1], safe: 0.0}}]
  - name: angles
    direction: out
    target: {{pdo: 2, fields: {{boom: i16}}, transmission: {outgoing}}}
    period: 0.02
    signals: [{{target: boom, signal: joint/boom/position, scale: 0.001}}]
"""
SYNC = CanFrame(0x080, False, b"")
LEVERS, ANGLES = 0x205, 0x285


@pytest.fixture
def written(tmp_path):
    def write(incoming=1, outgoing=3, sync=""):
        path = tmp_path / "sync.yaml"
        path.write_text(MAPPING.format(incoming=incoming, outgoing=outgoing, sync=sync))
        return load_bridge_mapping(path)

    return write


def levers(value):
    return CanFrame(LEVERS, False, value.to_bytes(2, "little", signed=True))


def frames_of(stack, frame, now):
    return [(sent.identifier, sent.data) for sent in stack.receive(frame, now)[1].frames]


def test_what_arrives_counts_with_the_next_sync(written):
    stack = CanStack(written())
    stack.start(0.0)
    assert stack.receive(levers(100), 0.01)[0] is None
    assert stack.receive(levers(200), 0.02)[0] is None
    received = stack.receive(SYNC, 0.03)[1].received
    assert [(one.message, one.time, one.values) for one in received] == [("levers", 0.03, {"boom": 200})]
    assert stack.receive(SYNC, 0.04)[1].received == []  # nothing new: a SYNC does not extend the link
    refused, _ = stack.receive(CanFrame(LEVERS, False, b"\x00"), 0.05)
    assert refused.refusal == "length"  # at once


def test_what_goes_goes_with_each_third_sync(written):
    stack = CanStack(written(outgoing=3))
    stack.start(0.0)
    assert stack.encode("angles", {"boom": 7.0}, 0.0) == (True, [])
    sent = [frames_of(stack, SYNC, 0.01 * number) for number in range(6)]
    assert sent == [[], [], [(ANGLES, b"\x07\x00")]] * 2
    assert stack.encode("angles", {"boom": float("nan")}, 0.1) == (False, [])
    assert [frames_of(stack, SYNC, 0.2) for _ in range(3)] == [[], [], []]  # no old angle


@pytest.mark.parametrize("transmission", [254, 255])
def test_other_types_go_by_themselves(written, transmission):
    stack = CanStack(written(incoming=transmission, outgoing=transmission))
    stack.start(0.0)
    assert stack.receive(levers(5), 0.01)[0].values == {"boom": 5}
    assert stack.encode("angles", {"boom": 7.0}, 0.0) == (True, [CanFrame(ANGLES, False, b"\x07\x00")])
    assert frames_of(stack, SYNC, 0.02) == []


def test_a_stopped_node_takes_no_sync(written):
    stack = CanStack(written(outgoing=1))
    stack.start(0.0)
    stack.encode("angles", {"boom": 7.0}, 0.0)
    stack.receive(levers(5), 0.01)
    stack.receive(CanFrame(0x000, False, b"\x02\x05"), 0.02)
    outcome = stack.receive(SYNC, 0.03)[1]
    assert (outcome.frames, outcome.received) == ([], [])


def test_the_bridge_sends_sync_at_its_period(written):
    stack = CanStack(written(outgoing=1, sync=", sync: 0.02"))
    stack.start(0.0)
    stack.encode("angles", {"boom": 7.0}, 0.0)
    sent = [[frame.identifier for frame in stack.tick(0.01 * tick).frames] for tick in range(4)]
    assert sent == [[SYNC.identifier, ANGLES], [], [SYNC.identifier, ANGLES], []]


@pytest.mark.parametrize("transmission", [0, 241, 252, 256])
def test_types_that_are_not_supported_are_refused(written, transmission):
    with pytest.raises(GrouserError, match="transmission"):
        written(outgoing=transmission)


def test_a_master_drives_by_sync(written):
    bench = Bench(written(outgoing=1))
    bench.plant.measured = {"joint/boom/position": 0.321}
    network = canopen.Network()
    network.connect(interface="virtual", channel="canopen_sync")
    heard = []
    network.subscribe(ANGLES, lambda identifier, data, stamp: heard.append(bytes(data)))
    try:
        bench.wait_open()
        network.send_periodic(LEVERS, bytes(2), 0.02)
        wait_until(lambda: bench.plant.commands, "the safe state is commanded")
        assert bench.states["levers"] is LinkState.ABSENT  # process data alone do nothing
        assert heard == []
        network.sync.start(0.02)
        bench.wait_state("levers", LinkState.LIVE)
        wait_until(lambda: (321).to_bytes(2, "little") in heard, "angles go with SYNC")
    finally:
        network.disconnect()
        bench.runner.stop()
        can.Bus(interface="virtual", channel="canopen_sync").shutdown()
