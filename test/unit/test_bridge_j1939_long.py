"""Messages of a mapping above 8 bytes on J1939: to all (BAM) and between two nodes (RTS and CTS), both ways."""

import pytest

from grouser.bridges.can.frames import CanFrame
from grouser.bridges.can.identifier import unpack_identifier
from grouser.bridges.can.stack import CanStack
from grouser.bridges.can.transport_protocol import CONNECTION_PGN, DATA_PGN
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.physics.base.errors import MachineError

INTERFACE = "{interface: virtual, j1939: {address: HERE, name: {identity_number: HERE, manufacturer_code: 0x7FF}}}"
FIELDS = "fields: {a: i32, b: {type: f64, bit: 64}, last: {type: u16be, bit: 152}}"  # 21 bytes
SIGNALS = """
      - {KEY: a, signal: joy/axis_0, range: [-1, 1]SAFE}
      - {KEY: b, signal: joy/axis_1, range: [-1, 1]SAFE}
      - {KEY: last, signal: joy/button_0, range: [0, 1]SAFE}"""
VALUES = {"a": -1.0, "b": 0.1 + 0.2, "last": 1.0}
STEP = 0.01


def mapping(folder, direction, place, address=None, interface=None, period=1.0, more=""):
    key, safe = ("source", ", safe: 0.0") if direction == "in" else ("target", "")
    signals = SIGNALS.replace("KEY", key).replace("SAFE", safe)
    interface = INTERFACE.replace("HERE", str(address)) if interface is None else interface
    path = folder / f"{direction}.yaml"
    path.write_text(
        f"""
version: 1
bridge: can
interface: {interface}
timeout: {2.0 * period}
messages:
  - name: long
    direction: {direction}
    {key}: {place}
    period: {period}
    signals: {signals}
{more}"""
    )
    return load_bridge_mapping(path)


class Bus:
    """Two stacks on one bus; `lose` says which frames nobody hears."""

    def __init__(self, *stacks, lose=lambda frame: False):
        self.stacks, self.lose = stacks, lose
        self.now, self.frames, self.received = 0.0, [], []
        for stack in stacks:
            self.pass_on(stack, stack.start(0.0))

    def pass_on(self, sender, frames):
        for frame in frames:
            self.frames.append(frame)
            if self.lose(frame):
                continue
            for other in self.stacks:
                if other is not sender:
                    received, outcome = other.receive(frame, self.now)
                    self.received += [*outcome.received, *([received] if received else [])]
                    self.pass_on(other, outcome.frames)

    def run(self, seconds):
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            for stack in self.stacks:
                self.pass_on(stack, stack.tick(self.now).frames)

    def say(self, stack, values):
        is_sent, frames = stack.encode("long", values, self.now)
        self.pass_on(stack, frames)
        return is_sent


@pytest.mark.parametrize(("destination", "frames"), [("", 4), (", destination: 0x21", 6)])
@pytest.mark.parametrize("protection", ["", ", checksum: {profile: e2e_5, data_id: 7}, counter: {profile: e2e_5}"])
def test_a_long_message_arrives_whole_and_in_order(tmp_path, destination, frames, protection):
    fields = FIELDS.replace("a: i32", "a: {type: i32, bit: 24}")
    rules = protection.replace(", ", "\n    ", 1).replace("}, ", "}\n    ")
    sent = mapping(tmp_path, "out", f"{{pgn: 0xFF20, {fields}{destination}}}{rules}", 0x20)
    taken = mapping(tmp_path, "in", f"{{pgn: 0xFF20, {fields}, address: 0x20}}{rules}", 0x21)
    sender, receiver = CanStack(sent), CanStack(taken)
    bus = Bus(sender, receiver)
    bus.run(0.5)
    bus.frames.clear()
    assert bus.say(sender, VALUES)
    if not destination:
        assert not bus.say(sender, VALUES)  # the first one is under way
    bus.run(0.4)
    assert [(one.message, one.refusal, dict(one.values)) for one in bus.received] == [("long", "", VALUES)]
    groups = [unpack_identifier(frame.identifier).pgn for frame in bus.frames]
    assert sum(group in (CONNECTION_PGN, DATA_PGN) for group in groups) == frames
    assert bus.say(sender, {**VALUES, "last": 0.0})
    bus.run(0.4)
    assert bus.received[-1].values["last"] == 0.0


def test_a_lost_packet_refuses_nothing_and_the_next_message_arrives(tmp_path):
    sender = CanStack(mapping(tmp_path, "out", f"{{pgn: 0xFF20, {FIELDS}}}", 0x20))
    receiver = CanStack(
        mapping(tmp_path, "in", f"{{pgn: 0xFF20, {FIELDS}, address: 0x20}}", interface="{interface: virtual}")
    )
    lost = [2]  # number of the packet

    def lose(frame):
        is_lost = unpack_identifier(frame.identifier).pgn == DATA_PGN and lost == [frame.data[0]]
        if is_lost:
            lost.clear()
        return is_lost

    bus = Bus(sender, receiver, lose=lose)
    bus.run(0.5)
    assert bus.say(sender, VALUES)
    bus.run(0.5)
    assert bus.received == []
    assert bus.say(sender, VALUES)
    bus.run(0.5)
    assert [dict(one.values) for one in bus.received] == [VALUES]


def test_a_node_that_does_not_take_it_is_in_the_diagnostics(tmp_path):
    sender = CanStack(mapping(tmp_path, "out", f"{{pgn: 0xFF20, {FIELDS}, destination: 0x30}}", 0x20))
    bus = Bus(sender)
    bus.run(0.5)
    assert bus.say(sender, VALUES)
    assert not bus.say(sender, VALUES)
    bus.run(1.5)
    assert sender.facts["transfers to 0x30 that failed"] == "1"
    assert bus.say(sender, VALUES)


def test_a_request_is_answered_in_several_frames(tmp_path):
    sender = CanStack(mapping(tmp_path, "out", f"{{pgn: 0xFF20, {FIELDS}}}", 0x20))
    receiver = CanStack(mapping(tmp_path, "in", f"{{pgn: 0xFF20, {FIELDS}, address: 0x20}}", 0x21))
    bus = Bus(sender, receiver)
    bus.run(0.5)
    bus.say(sender, VALUES)
    bus.run(0.5)
    bus.pass_on(receiver, [CanFrame(0x18EA2021, True, bytes.fromhex("20FF00"))])
    bus.run(0.5)
    assert [dict(one.values) for one in bus.received] == [VALUES, VALUES]


def test_one_frame_where_several_are_mapped_is_refused(tmp_path):
    receiver = CanStack(mapping(tmp_path, "in", f"{{pgn: 0xFF20, {FIELDS}, address: 0x20}}", 0x21))
    received, _ = receiver.receive(CanFrame(0x18FF2020, True, bytes(8)), 0.0)
    assert received.refusal == "length"


SECOND = """
  - name: second
    direction: out
    target: {pgn: 0xFF21, length: 20, fields: {x: i16}}
    period: 0.3
    signals: [{target: x, signal: joy/axis_3, range: [-1, 1]}]
"""


@pytest.mark.parametrize(
    ("direction", "place", "arguments", "problem"),
    [
        ("out", f"{{pgn: 0xFF20, {FIELDS}}}", {"period": 0.2}, r"out.yaml:7: message long: its 21 bytes take 0.24 s"),
        (
            "out",
            f"{{pgn: 0xFF20, {FIELDS}}}",
            {"period": 0.4, "more": SECOND},
            "message second.*take the rest of the time",
        ),
        ("out", f"{{pgn: 0xFF20, {FIELDS}, length: 1786}}", {}, "1786 is out of range; valid: 1 to 1785"),
        ("out", f"{{id: 0x20, {FIELDS}}}", {}, "field b bit: 64 is out of range; valid: 0 to 63"),
        (
            "in",
            f"{{pgn: 0xFF20, address: 1, {FIELDS}}}\n    checksum: {{profile: j1939_tsc1}}",
            {},
            "frames with 8 bytes",
        ),
    ],
)
def test_long_messages_that_cannot_be_are_refused(tmp_path, direction, place, arguments, problem):
    with pytest.raises(MachineError, match=problem):
        mapping(tmp_path, direction, place, 0x20, **arguments)


def test_a_message_to_one_node_needs_no_pauses(tmp_path):
    mapping(tmp_path, "out", f"{{pgn: 0xFF20, {FIELDS}, destination: 0x21}}", 0x20, period=0.02)
