"""Serial and UDP bridges: a controller in another process on a pseudo-terminal, and datagrams on loopback."""

import socket

import pytest
from bridge_bench import Bench, shipped_mapping
from patience import wait_until
from player import Player
from serial_cable import SerialCable

from grouser.bridges.link import LinkState
from grouser.bridges.serial.frames import FAULT, Frame, pack_frame
from grouser.bridges.serial.json_lines import Line, read_line, write_line


@pytest.fixture
def cable(tmp_path):
    cable = SerialCable(tmp_path)
    yield cable
    cable.close()


@pytest.fixture
def controller(tmp_path, cable):
    """A bridge with a controller on its line; the link is live."""
    bench = Bench(shipped_mapping(tmp_path, "excavator_serial.yaml", port=str(cable.path("left"))))
    bench.wait_open()
    bench.player = Player("serial_controller.py", cable.path("right"))
    bench.wait_state("spools", LinkState.LIVE)
    yield bench
    bench.runner.stop()
    bench.player.end()


def test_a_controller_commands_and_reads(controller):
    controller.player.tell(boom=-5000, swing=1250)
    controller.wait_command(boom_valve=-0.5, swing_valve=0.125)
    controller.plant.measured = {"joint/boom/position": 0.75, "joint/swing/position": -0.5}
    controller.player.wait_for("angles 0.7500 -0.5000")
    controller.player.tell(boom=20000)  # more than its range: refused, not clipped
    wait_until(lambda: controller.refused("spools")["out of range"] > 0, "it is refused")
    controller.wait_state("spools", LinkState.STALE)
    controller.wait_command(boom_valve=0.0, swing_valve=0.0)


def test_a_fault_of_the_controller_stops_the_machine_at_once(controller):
    controller.player.tell(boom=-5000)
    controller.wait_command(boom_valve=-0.5)
    controller.player.tell(fault=True)
    controller.wait_command(boom_valve=0.0)
    assert controller.reasons["spools"] == "the sender reports a fault"


def test_the_controller_survives_an_adapter_that_is_unplugged(controller, cable):
    controller.player.tell(boom=-5000)
    controller.wait_command(boom_valve=-0.5)
    cable.unplug("left")
    controller.wait_command(boom_valve=0.0)
    wait_until(lambda: not controller.runner.transport.state.is_open, "the line is closed")
    cable.plug("left")
    controller.wait_open(2)
    controller.wait_state("spools", LinkState.CHECKING)
    assert controller.plant.now["valve/boom_valve"] == 0.0
    controller.player.tell(boom=0)
    controller.wait_state("spools", LinkState.LIVE)
    controller.player.tell(boom=2500)
    controller.wait_command(boom_valve=0.25)
    assert [state.is_open for state in controller.openings if state.is_open] == [True, True]


def test_noise_on_the_line_is_counted_and_obeyed_by_nobody(tmp_path, cable):
    bench = Bench(shipped_mapping(tmp_path, "excavator_serial.yaml", port=str(cable.path("left"))))
    bench.wait_open()
    good = pack_frame(Frame(1, 0, 0, bytes(4))) + b"\0"
    with cable.path("right").open("wb", buffering=0) as line:
        line.write(b"\x55" * 600 + b"\0")  # longer than any frame
        line.write(b"\x02\x41\0" + good[:-3] + b"\0")  # too short; cut off
        line.write(pack_frame(Frame(77, 0, 0, b"")) + b"\0")  # of no message
        line.write(pack_frame(Frame(1, 0, 0, bytes(3))) + b"\0")  # with another payload
        line.write(good)
        wait_until(lambda: bench.runner.bridge.figures.inputs["spools"].valid == 1, "the good one arrives")
    strangers = bench.runner.bridge.figures.strangers
    bench.runner.stop()
    assert strangers["oversized"] == 1
    assert strangers["kind"] == 1
    assert sum(strangers.values()) == 4
    assert bench.refused("spools") == {"length": 1}
    assert set(bench.plant.now.values()) == {0.0}


@pytest.fixture
def datagrams(tmp_path):
    """A bridge on UDP, and the socket of its peer."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free,
    ):
        peer.bind(("127.0.0.1", 0))
        free.bind(("127.0.0.1", 0))
        local_port = free.getsockname()[1]
        free.close()
        ports = {"port": peer.getsockname()[1], "local_port": local_port}
        bench = Bench(shipped_mapping(tmp_path, "excavator_udp.yaml", **ports))
        bench.wait_open()
        peer.settimeout(10.0)
        bench.peer, bench.address = peer, ("127.0.0.1", local_port)
        yield bench
        bench.runner.stop()


def test_lines_of_json_in_datagrams(datagrams):
    counter = 0

    def say_until(condition, **signals):
        def step():
            nonlocal counter
            datagrams.peer.sendto(write_line(Line(1, counter, 0, signals)), datagrams.address)
            counter += 1
            return condition()

        wait_until(step, "the bridge reacts")

    say_until(lambda: datagrams.states["spools"] is LinkState.LIVE, boom=0.0, swing=0.0)
    say_until(lambda: datagrams.plant.now["valve/boom_valve"] == -0.25, boom=-0.25, swing=0.0)
    datagrams.peer.sendto(b"rubbish", datagrams.address)
    datagrams.peer.sendto(b"", datagrams.address)
    datagrams.peer.sendto(bytes(60000), datagrams.address)
    strangers = datagrams.runner.bridge.figures.strangers
    wait_until(lambda: strangers["no checksum"] == 2 and strangers["length"] == 1, "rubbish is refused")
    say_until(lambda: datagrams.refused("spools")["missing"] > 0, boom=0.0)
    datagrams.plant.measured = {"joint/boom/position": 0.75, "joint/swing/position": -0.5}
    line = read_line(datagrams.peer.recv(4096))
    assert (line.kind, line.signals) == (2, {"boom": 0.75, "swing": -0.5})
    datagrams.wait_state("spools", LinkState.STALE)
    datagrams.wait_command(boom_valve=0.0)


def test_frames_in_datagrams_of_another_host_are_refused(datagrams):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("127.0.0.2", 0))
        stranger.sendto(pack_frame(Frame(FAULT, 0, 0, b"")), datagrams.address)
    strangers = datagrams.runner.bridge.figures.strangers
    wait_until(lambda: strangers["another host"] == 1, "it is refused")
