"""Injected faults: what they make of messages and measurements, the same for the same seed."""

import math
import statistics

import pytest
from bridge_pieces import said

from grouser.bridges.faults import BUS_OFF, FaultInjector, LineFaults, SensorFault


class Keeper:
    def __init__(self):
        self.got, self.losses = [], []

    def receive(self, received):
        self.got.append(received)

    def lost(self, reason, time, messages=None):
        self.losses.append((reason, time, messages))


def run(faults, count=2000, seed=1):
    """What arrives of messages every 10 ms: (time, value)."""
    keeper = Keeper()
    injector = FaultInjector(keeper, seed)
    injector.set_line(faults, 0.0)
    for number in range(count):
        now = 0.01 * number
        injector.tick(now)
        injector.receive(said("stick", now, y=float(number)))
    injector.tick(math.inf)
    return injector, [(one.time, one.values["y"]) for one in keeper.got], keeper


def test_without_faults_everything_passes():
    injector, got, _ = run(LineFaults(), 10)
    assert got == [(0.01 * number, number) for number in range(10)]
    assert not injector.injected


def test_loss_and_duplicates_are_counted_and_repeat_with_the_seed():
    injector, got, _ = run(LineFaults(loss=0.2, duplicate=0.1))
    assert len(got) == 2000 - injector.injected["loss"] + injector.injected["duplicate"]
    # 2000 draws of 0.2: a standard deviation of 18
    assert injector.injected["loss"] == pytest.approx(400, abs=90)
    assert run(LineFaults(loss=0.2, duplicate=0.1))[1] == got
    assert run(LineFaults(loss=0.2, duplicate=0.1), seed=2)[1] != got


def test_late_messages_come_within_the_delay_and_may_overtake():
    _, got, _ = run(LineFaults(delay=0.05), 500)
    values = [value for _, value in got]
    assert sorted(values) == list(range(500))
    assert values != sorted(values)
    lateness = [time - 0.01 * value for time, value in got[:-20]]
    assert min(lateness) >= 0.0 and max(lateness) <= 0.06  # handed on by a tick every 10 ms


def test_a_stale_stick_repeats_with_fresh_times():
    _, got, _ = run(LineFaults(stale_stick=True), 5)
    assert got == [(0.01 * number, 0.0) for number in range(5)]


def test_bus_off_is_told_at_once_and_nothing_arrives():
    injector, got, keeper = run(LineFaults(bus_off=True), 5)
    assert (got, keeper.losses) == ([], [(BUS_OFF, 0.0, None)])
    injector.set_line(LineFaults(bus_off=True, loss=0.1), 1.0)
    assert len(keeper.losses) == 1
    injector.set_line(LineFaults(), 2.0)
    injector.receive(said("stick", 2.0, y=7.0))
    assert keeper.got[-1].values == {"y": 7.0}


def test_bus_off_stops_what_is_on_its_way():
    keeper = Keeper()
    injector = FaultInjector(keeper, 1)
    injector.set_line(LineFaults(delay=10.0), 0.0)
    for number in range(20):
        injector.receive(said("stick", 0.0, y=float(number)))
    injector.set_line(LineFaults(bus_off=True), 0.0)
    assert injector.tick(20.0) == math.inf
    assert keeper.got == []


def test_one_bit_is_flipped():
    injector = FaultInjector(Keeper(), 3)
    assert injector.tamper(b"\x00\xff") == b"\x00\xff"
    injector.set_line(LineFaults(bit_flip=1.0), 0.0)
    for data in (b"\x00" * 8, b"\xa5"):
        changed = injector.tamper(data)
        assert len(changed) == len(data)
        assert (int.from_bytes(changed, "little") ^ int.from_bytes(data, "little")).bit_count() == 1
    assert injector.tamper(b"") == b""
    assert injector.injected["bit_flip"] == 2


def test_faults_of_sensors():
    injector = FaultInjector(Keeper(), 4)
    injector.set_sensor("p", SensorFault(stuck_sensor=True, sensor_offset=1.0))
    injector.set_sensor("n", SensorFault(sensor_noise=2.0))
    assert injector.disturb({"p": 10.0, "q": 1.0}) == {"p": 11.0, "q": 1.0}
    assert injector.disturb({"p": 20.0})["p"] == 11.0
    injector.set_sensor("p", SensorFault())
    assert injector.disturb({"p": 20.0})["p"] == 20.0
    noise = [injector.disturb({"n": 0.0})["n"] for _ in range(2000)]
    # standard errors: 2/sqrt(2000) = 0.045 of the mean, 0.032 of the deviation
    assert statistics.mean(noise) == pytest.approx(0.0, abs=0.2)
    assert statistics.stdev(noise) == pytest.approx(2.0, abs=0.15)
