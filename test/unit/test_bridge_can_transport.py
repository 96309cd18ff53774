"""CAN bridges on real buses: python-can's slcan over pseudo-terminals, with a player in another process."""

import math
from pathlib import Path

import can
import cantools
import pytest
from bridge_bench import SHIPPED, TIMEOUT, Bench, shipped_mapping
from bridge_pieces import RememberingPlant
from patience import wait_until
from player import Player
from serial_cable import SerialCable

from grouser.bridges.bridge import Bridge
from grouser.bridges.can.transport import CanTransport
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.transport import KeptOpen

DATA_SHEET = Path(__file__).resolve().parent.parent / "data" / "canopen_stick.eds"
SLCAN = {"interface": "slcan", "options": {"sleep_after_open": 0.01, "timeout": 0.02}}


@pytest.fixture
def cable(tmp_path):
    cable = SerialCable(tmp_path)
    yield cable
    cable.close()


@pytest.fixture
def sticks(tmp_path, cable):
    """A bridge of the excavator with two joysticks of a player; both links live."""
    bench = Bench(shipped_mapping(tmp_path, "excavator_j1939.yaml", **SLCAN, channel=str(cable.path("left"))))
    bench.wait_open()
    player = Player("can_player.py", "slcan", cable.path("right"))
    bench.player = player
    for message in ("left_stick", "right_stick"):
        bench.wait_state(message, LinkState.LIVE)
    yield bench
    bench.runner.stop()
    player.end()


def test_joysticks_dig(sticks):
    sticks.player.tell(left=[-0.5, 0.25], right=[1.0, -0.8])
    # On J1939 right and ahead are positive; the valves swing to the left, pull the stick in, curl in, raise the boom.
    sticks.wait_command(swing_valve=0.5, stick_valve=-0.25, bucket_valve=-1.0, boom_valve=0.8)
    sticks.player.tell(left=[0.0, 0.0], right=[0.0, 0.0])
    sticks.wait_command(swing_valve=0.0, stick_valve=0.0, bucket_valve=0.0, boom_valve=0.0)


def test_an_error_code_stops_its_stick_at_once(sticks):
    sticks.player.tell(left=[-0.5, 0.0], right=[0.5, 0.0])
    sticks.wait_command(swing_valve=0.5, bucket_valve=-0.5)
    sticks.player.tell(right="error")
    sticks.wait_state("right_stick", LinkState.STALE)
    assert sticks.reasons["right_stick"] == "an error code"
    sticks.wait_command(bucket_valve=0.0, swing_valve=0.5)
    assert sticks.states["left_stick"] is LinkState.LIVE
    sticks.player.tell(right=[0.5, 0.0])  # well again, but deflected: it must pass through neutral
    sticks.wait_state("right_stick", LinkState.CHECKING)
    assert sticks.plant.now["valve/bucket_valve"] == 0.0
    sticks.player.tell(right=[0.0, 0.0])
    sticks.wait_state("right_stick", LinkState.LIVE)


def test_silence_stops_a_stick(sticks):
    sticks.player.tell(right=[0.0, -0.8])
    sticks.wait_command(boom_valve=0.8)
    sticks.player.tell(right=None)
    sticks.wait_state("right_stick", LinkState.STALE)
    assert sticks.reasons["right_stick"] == "silence"
    sticks.wait_command(boom_valve=0.0)
    assert sticks.runner.bridge.figures.inputs["right_stick"].longest_hold >= TIMEOUT


def test_a_second_claimant_of_a_sticks_address_stops_it(sticks):
    sticks.player.tell(left=[-0.5, 0.0])
    sticks.wait_command(swing_valve=0.5)
    # Another node with a lower NAME takes the address 0x33: what comes from there is not the stick that was live.
    sticks.player.tell(raw="18EEFF33#0500C0CC00000030", left=None)
    sticks.wait_state("left_stick", LinkState.STALE)
    assert sticks.reasons["left_stick"] == "address 0x33 claimed by another node"
    sticks.wait_command(swing_valve=0.0)
    assert sticks.states["right_stick"] is LinkState.LIVE


def test_faults_of_a_stick_are_told(sticks):
    sticks.player.tell(faults=[[2660, 3]])
    wait_until(lambda: "faults of 0x33" in sticks.transport.facts, "the fault is told")
    assert sticks.transport.facts["faults of 0x33"] == "SPN 2660 FMI 3, 1 times; amber_warning"
    sticks.player.tell(faults=[[2660, 3], [2661, 4]])  # two of them go by the transport protocol
    text = "SPN 2660 FMI 3, 1 times; SPN 2661 FMI 4, 1 times; amber_warning"
    wait_until(lambda: sticks.transport.facts.get("faults of 0x33") == text, "both faults are told")
    sticks.player.tell(faults=[])
    wait_until(lambda: "faults of 0x33" not in sticks.transport.facts, "the faults are over")


def test_the_bridge_is_a_node_of_its_own(sticks):
    sticks.player.ask("18EAFF33#00EE00", "18EEFF80#0100E0FF000000B0")  # a request for all claims
    angles = {"boom": 10.0, "stick": -20.0, "bucket": 30.0, "swing": 0.0}
    sticks.plant.measured = {f"joint/{name}/position": math.radians(angle) for name, angle in angles.items()}
    wait_until(lambda: any(line.startswith("18FF1080#9065") for line in sticks.player.lines), "the angles are said")
    line = [line for line in sticks.player.lines if line.startswith("18FF1080#9065")][-1]
    message = cantools.database.load_file(SHIPPED / "excavator.dbc").get_message_by_name("ArmAngles")
    said = message.decode(bytes.fromhex(line.split("#")[1]))
    assert said == pytest.approx({f"{name.capitalize()}Angle": angle for name, angle in angles.items()}, abs=0.005)
    mark = len(sticks.player.lines)
    sticks.plant.measured["joint/boom/position"] = math.nan
    sticks.player.wait_for("18FF1080#00FE", mark)  # an error code, not an old angle
    sticks.player.ask("18EA8033#D6FD00", "18E8FF80#01FFFFFF33D6FD00")  # a request for what it has not: refused
    sticks.player.ask("18EA8033#CAFE00", "18FECA80#00FF00000000FFFF")


def test_the_bridge_gives_up_its_address_to_a_lower_name(sticks):
    sticks.player.wait_for("18FF1080#")
    mark = len(sticks.player.lines)
    sticks.player.tell(raw="18EEFF80#0000000000000000")
    # Its NAME says that it can take another address; 1 is its identity number, 0x81 the second free one.
    sticks.player.wait_for("18EEFF82#0100E0FF000000B0", mark)
    sticks.player.wait_for("18FF1082#", mark)
    assert sticks.transport.facts["own address"] == "0x82, claimed; lost one to NAME 0x0000000000000000"


def test_an_adapter_that_is_unplugged_comes_back(sticks, cable):
    sticks.player.tell(right=[0.0, -0.8])
    sticks.wait_command(boom_valve=0.8)
    cable.unplug("left")
    sticks.wait_state("right_stick", LinkState.STALE)
    sticks.wait_command(boom_valve=0.0)
    wait_until(lambda: not sticks.runner.transport.state.is_open, "the bus is closed")
    cable.plug("left")
    sticks.wait_open(2)
    sticks.wait_state("right_stick", LinkState.CHECKING)  # it is still deflected
    assert sticks.plant.now["valve/boom_valve"] == 0.0
    sticks.player.tell(right=[0.0, 0.0])
    sticks.wait_state("right_stick", LinkState.LIVE)
    # Told once a change: open, not open (with one reason or two: lost, and not found), open.
    assert [state.is_open for state in sticks.openings if state.is_open] == [True, True]
    assert len(sticks.openings) <= 4


@pytest.fixture
def controller(tmp_path, cable):
    """A bridge of the excavator with a controller on the other end; its bus is the test's."""
    bench = Bench(shipped_mapping(tmp_path, "excavator_ecu.yaml", **SLCAN, channel=str(cable.path("left"))))
    bench.bus = can.Bus(interface="slcan", channel=str(cable.path("right")), sleep_after_open=0.01)
    bench.wait_open()
    yield bench
    bench.runner.stop()
    bench.bus.shutdown()


def protected(spools, counter, data_id=0x1234):
    """A command with E2E profile 5, by the definition of the checksum."""
    message = cantools.database.load_file(SHIPPED / "excavator.dbc").get_message_by_name("EcuCommand")
    names = ("BoomSpool", "StickSpool", "BucketSpool", "SwingSpool")
    fields = {**dict(zip(names, spools, strict=True)), "CommandChecksum": 0, "CommandCounter": counter}
    data = message.encode(fields)
    check = 0xFFFF
    for byte in data[2:] + data_id.to_bytes(2, "little"):
        check ^= byte << 8
        for _ in range(8):
            check = (check << 1 ^ 0x1021 if check & 0x8000 else check << 1) & 0xFFFF
    return check.to_bytes(2, "little") + data[2:]


def test_a_controller_commands_with_counter_and_checksum(controller):
    def say(data):
        controller.bus.send(can.Message(arbitration_id=0x120, is_extended_id=False, data=data))

    counter = 0

    def say_until(condition, spools):
        def step():
            nonlocal counter
            say(protected(spools, counter % 256))
            counter += 1
            return condition()

        wait_until(step, "the bridge reacts")

    say_until(lambda: controller.states["ecu_command"] is LinkState.LIVE, (0, 0, 0, 0))
    say_until(lambda: controller.plant.now["valve/boom_valve"] == pytest.approx(0.5), (50, -20, 0, 100))
    assert controller.plant.now["valve/swing_valve"] <= 1.0
    refused = controller.refused("ecu_command")
    say(protected((50, 0, 0, 0), counter % 256, data_id=0x1235))  # of another sender
    wait_until(lambda: refused["checksum"] == 1, "a wrong checksum is refused")
    say(protected((50, 0, 0, 0), (counter - 1) % 256))
    wait_until(lambda: refused["repeated"] >= 1, "a repeated counter is refused")
    controller.bus.send(can.Message(arbitration_id=0x120, is_extended_id=False, data=bytes(7)))
    wait_until(lambda: refused["length"] == 1, "a wrong length is refused")
    controller.wait_state("ecu_command", LinkState.LATCHED)  # it is silent now
    controller.wait_command(boom_valve=0.0)


def test_measurements_are_protected(controller):
    controller.plant.measured = {
        "hydraulics/boom/pressure_piston_side": 185.5e5,
        "hydraulics/boom/pressure_rod_side": 3.0e5,
        "hydraulics/pump/pressure": 500e5,  # more than the range: held at its border
    }
    message = cantools.database.load_file(SHIPPED / "excavator.dbc").get_message_by_name("Pressures")
    counters = []
    while len(counters) < 20:
        frame = controller.bus.recv(1.0)
        if frame is None:
            continue
        assert frame.arbitration_id == 0x121
        check = 0xFFFF
        for byte in bytes(frame.data[2:]) + b"\x35\x12":
            check ^= byte << 8
            for _ in range(8):
                check = (check << 1 ^ 0x1021 if check & 0x8000 else check << 1) & 0xFFFF
        assert int.from_bytes(frame.data[:2], "little") == check
        fields = message.decode(frame.data)
        counters.append(fields["PressuresCounter"])
        assert fields["BoomPiston"] == pytest.approx(185.5)
        assert fields["PumpPressure"] == pytest.approx(400.0)
    assert counters == [(counters[0] + number) % 256 for number in range(20)]


def test_bytes_that_are_no_frames_are_refused_and_do_no_harm(controller, cable):
    with cable.path("right").open("wb", buffering=0) as line:
        line.write(b"T0CFD\rt12\rrubbish\rT99999999\r")
        strangers = controller.runner.bridge.figures.strangers
        wait_until(lambda: strangers["no frame"] >= 2, "rubbish is refused")
        assert controller.runner.transport.state.openings == 1
        line.write(b"\xff\xfe\r" * 50)  # no text at all: slcan gets stuck, and the interface is opened again
        controller.wait_open(2)


def test_a_bus_that_cannot_be_opened_is_told_once(tmp_path):
    mapping = shipped_mapping(tmp_path, "excavator_ecu.yaml", **SLCAN, channel=str(tmp_path / "nothing"))
    attempts = []

    class Counting(CanTransport):
        def open(self, sink):
            attempts.append(sink)
            super().open(sink)

    told = []
    kept = KeptOpen(Counting(mapping), Bridge(mapping, RememberingPlant(), lambda *sent: True), told.append)
    kept.start()
    wait_until(lambda: len(attempts) > 3, "it is tried again and again")
    kept.stop()
    assert len(told) == 1
    assert "nothing" in told[0].reason


CANOPEN = """
version: 1
bridge: can
machine: excavator
interface:
  interface: slcan
  channel: {channel}
  options: {{sleep_after_open: 0.01, timeout: 0.02}}
  canopen:
    devices:
      stick: {{node: 10, eds: {sheet}, heartbeat: 3.0, start: true}}
    node: {{id: 5, heartbeat: 0.2, start: true}}
timeout: 3.0
messages:
  - name: stick
    direction: in
    source: {{device: stick, pdo: 1}}
    period: 0.02
    signals:
      - {{source: Joystick.X, signal: valve/swing_valve, scale: 5.0e-5, range: [-1, 1], safe: 0.0, neutral: 0.03}}
      - {{source: Joystick.Y, signal: valve/boom_valve, scale: 5.0e-5, range: [-1, 1], safe: 0.0, neutral: 0.03}}
  - name: lamp
    direction: out
    target: {{device: stick, pdo: 1}}
    period: 0.05
    signals:
      - {{target: Lamp, signal: joint/boom/position, unit: rad}}
  - name: angle
    direction: out
    target: {{pdo: 1, fields: {{boom: f32}}}}
    period: 0.05
    signals:
      - {{target: boom, signal: joint/boom/position, unit: rad}}
"""


@pytest.fixture
def canopen_stick(tmp_path, cable):
    """A bridge with a CANopen joystick of a player; its link is live."""
    (tmp_path / "stick.yaml").write_text(CANOPEN.format(channel=cable.path("left"), sheet=DATA_SHEET))
    bench = Bench(load_bridge_mapping(tmp_path / "stick.yaml"))
    bench.player = Player("canopen_player.py", "slcan", cable.path("right"), DATA_SHEET)
    bench.wait_state("stick", LinkState.LIVE)
    yield bench
    bench.runner.stop()
    bench.player.end()


def test_a_canopen_joystick_is_started_and_obeyed(canopen_stick):
    canopen_stick.player.tell(x=-12000, y=10000)
    canopen_stick.wait_command(swing_valve=-0.6, boom_valve=0.5)
    canopen_stick.plant.measured["joint/boom/position"] = 0.75
    canopen_stick.player.wait_for("lamp 0.75")
    canopen_stick.player.tell(emergency=0x5000)
    canopen_stick.wait_state("stick", LinkState.CHECKING)  # it goes on sending, and is deflected
    assert canopen_stick.reasons["stick"] == "node 10 reports error 0x5000"
    assert canopen_stick.transport.facts["fault of node 10"] == "code 0x5000, register 0x01"
    assert canopen_stick.plant.now["valve/boom_valve"] == 0.0


def test_a_canopen_joystick_without_a_heartbeat_is_not_obeyed(canopen_stick):
    canopen_stick.player.tell(x=-12000)
    canopen_stick.wait_command(swing_valve=-0.6)
    canopen_stick.player.tell(heartbeat=False)
    canopen_stick.wait_command(swing_valve=0.0)
    assert canopen_stick.reasons["stick"] == "heartbeat of node 10 lost"
    refused = canopen_stick.refused("stick")
    wait_until(lambda: refused["device not operational"] > 3, "its process data are refused")
    assert canopen_stick.states["stick"] is LinkState.STALE


def test_bus_off_is_told_and_the_bus_opened_again(tmp_path):
    bench = Bench(shipped_mapping(tmp_path, "excavator_ecu.yaml", interface="virtual", channel=str(tmp_path)))
    bench.wait_open()
    with can.Bus(interface="virtual", channel=str(tmp_path)) as bus:
        bus.send(can.Message(arbitration_id=0x04, is_error_frame=True, dlc=8, is_extended_id=False, data=bytes(8)))
        bus.send(can.Message(arbitration_id=0x40, is_error_frame=True, dlc=8, is_extended_id=False, data=bytes(8)))
        bench.wait_open(2)
    bench.runner.stop()
    assert next(state.reason for state in bench.openings if not state.is_open) == "bus-off"
