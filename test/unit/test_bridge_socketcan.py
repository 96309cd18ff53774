"""CAN bridges on SocketCAN: an interface that goes down, comes back, is taken away, and goes bus-off.

They need root and an interface vcan0 that nobody else uses; `make socketcan` runs them in user-mode Linux, which has
both.
"""

import os
import socket
import struct
import subprocess
from pathlib import Path

import can
import pytest
from bridge_bench import Bench, shipped_mapping
from patience import wait_until
from player import Player

from grouser.bridges.link import LinkState

INTERFACE = "vcan0"
NEUTRAL = bytes.fromhex("01000100FF0000FF")
DEFLECTED = bytes.fromhex("047D903EFF0000FF")  # x -0.5, y +0.25
BUS_OFF = 0x20000040  # error frame, bus-off

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not Path(f"/sys/class/net/{INTERFACE}").exists(),
    reason=f"not tested: SocketCAN, which needs an interface {INTERFACE} and root; `make socketcan` has them",
)


def ip(*words):
    subprocess.run(["ip", "link", *words], check=True)


class Stick:
    """Says BJM1 from 0x33 as long as it is asked to, whatever the interface does meanwhile."""

    def __init__(self):
        self._bus = None

    def say(self, data):
        try:
            if self._bus is None:
                self._bus = can.Bus(interface="socketcan", channel=INTERFACE)
            self._bus.send(can.Message(arbitration_id=0x0CFDD633, data=data))
        except (OSError, can.CanError):
            self.close()

    def say_until(self, data, condition, what):
        def step():
            self.say(data)
            return condition()

        wait_until(step, what)

    def close(self):
        if self._bus is not None:
            self._bus.shutdown()
            self._bus = None


@pytest.fixture
def stick():
    stick = Stick()
    yield stick
    stick.close()


@pytest.fixture
def bench(tmp_path, stick):
    """A bridge of the excavator whose left stick is deflected and obeyed."""
    ip("set", INTERFACE, "up")
    bench = Bench(shipped_mapping(tmp_path, "excavator_j1939.yaml", channel=INTERFACE))
    bench.wait_open()
    stick.say_until(NEUTRAL, lambda: bench.states["left_stick"] is LinkState.LIVE, "the link is live")
    stick.say_until(DEFLECTED, lambda: bench.plant.now["valve/swing_valve"] == 0.5, "the stick is obeyed")
    yield bench
    bench.runner.stop()


def is_down(bench):
    return not bench.runner.transport.state.is_open and bench.states["left_stick"] is LinkState.STALE


def comes_back(bench, stick, openings):
    """Waits until the bus is open again and the stick is obeyed, after neutral and not before."""
    bench.wait_open(openings)
    stick.say_until(DEFLECTED, lambda: bench.states["left_stick"] is LinkState.CHECKING, "the link is checked")
    assert bench.plant.now["valve/swing_valve"] == 0.0
    stick.say_until(NEUTRAL, lambda: bench.states["left_stick"] is LinkState.LIVE, "the link is live")
    stick.say_until(DEFLECTED, lambda: bench.plant.now["valve/swing_valve"] == 0.5, "the stick is obeyed")


def test_an_interface_that_goes_down_comes_back(bench, stick):
    ip("set", INTERFACE, "down")
    wait_until(lambda: is_down(bench), "the bus is lost")
    assert bench.plant.now["valve/swing_valve"] == 0.0
    wait_until(lambda: "down" in bench.openings[-1].reason, "the reason is told")
    ip("set", INTERFACE, "up")
    comes_back(bench, stick, 2)
    assert len(bench.openings) <= 4  # open, lost, perhaps why it cannot be opened, open


def test_an_interface_that_is_taken_away_comes_back(bench, stick):
    ip("del", INTERFACE)
    wait_until(lambda: is_down(bench), "the bus is lost")
    stick.close()
    ip("add", "dev", INTERFACE, "type", "vcan")
    ip("set", INTERFACE, "up")
    comes_back(bench, stick, 2)


def test_bus_off_stops_the_machine(bench, stick):
    with socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW) as raw:
        raw.bind((INTERFACE,))
        raw.send(struct.pack("=IB3x8s", BUS_OFF, 8, bytes(8)))
        wait_until(lambda: bench.reasons.get("left_stick") == "bus-off", "bus-off is told")
    assert bench.plant.now["valve/swing_valve"] == 0.0
    comes_back(bench, stick, 2)


def test_joysticks_of_another_process(tmp_path):
    ip("set", INTERFACE, "up")
    bench = Bench(shipped_mapping(tmp_path, "excavator_j1939.yaml", channel=INTERFACE))
    player = Player("can_player.py", "socketcan", INTERFACE)
    try:
        for message in ("left_stick", "right_stick"):
            bench.wait_state(message, LinkState.LIVE)
        player.tell(left=[-0.5, 0.25], right=[1.0, -0.8])
        bench.wait_command(swing_valve=0.5, stick_valve=-0.25, bucket_valve=-1.0, boom_valve=0.8)
        player.wait_for("18FF1080#")
    finally:
        player.end()
        bench.runner.stop()
