"""Pacing by step counts, the schedule of the streams, and the loop meter."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grouser.runtime.pacing import Pacer
from grouser.runtime.report import LoopMeter
from grouser.runtime.sampling import nanoseconds_at
from grouser.runtime.schedule import StreamSchedule


class Clock:
    """A wall clock that is set by hand."""

    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


class Waits:
    """An event that records the waiting time and advances the clock by it."""

    def __init__(self, clock, interrupted=False):
        self.clock = clock
        self.interrupted = interrupted
        self.times = []

    def wait(self, seconds):
        self.times.append(seconds)
        self.clock.time += seconds
        return self.interrupted

    def is_set(self):
        return self.interrupted


def test_steps_are_due_at_products_of_the_step_size():
    clock = Clock()
    pacer = Pacer(0.001, 1.0, 0.05, clock)
    waits = Waits(clock)
    # Computing takes 3 ms of each 10 ms tick: the rest is waiting time, without drift over a million steps.
    for step in range(10, 1_000_001, 10):
        assert pacer.wait(step, waits)
        assert clock.time == pytest.approx(100.0 + step * 0.001, abs=1e-9)
        clock.time += 0.003
    assert pacer.overruns == 0


@pytest.mark.parametrize("factor", [0.1, 2.0, 7.5])
def test_the_real_time_factor_stretches_the_schedule(factor):
    clock = Clock()
    pacer = Pacer(0.001, factor, 0.05, clock)
    assert pacer.wait(3000, Waits(clock))
    assert clock.time == pytest.approx(100.0 + 3.0 / factor)


def test_real_time_factor_zero_never_waits():
    clock = Clock()
    pacer = Pacer(0.001, 0.0, 0.05, clock)
    waits = Waits(clock)
    assert all(pacer.wait(step, waits) for step in range(0, 100_000, 10))
    assert waits.times == []
    assert pacer.overruns == 0


def test_small_delay_is_made_up_for():
    clock = Clock()
    pacer = Pacer(0.001, 1.0, 0.05, clock)
    waits = Waits(clock)
    clock.time += 0.049  # 39 ms behind step 10
    assert pacer.wait(10, waits)
    assert waits.times == []
    assert pacer.wait(60, waits)
    assert waits.times == [pytest.approx(0.011)]
    assert pacer.overruns == 0


def test_large_delay_is_an_overrun_and_drops_no_steps():
    clock = Clock()
    pacer = Pacer(0.001, 1.0, 0.05, clock)
    waits = Waits(clock)
    clock.time += 0.5
    assert pacer.wait(10, waits)
    assert pacer.overruns == 1
    # The next tick is due a tick later, not in the past.
    assert pacer.wait(20, waits)
    assert waits.times == [pytest.approx(0.01)]
    assert pacer.overruns == 1


def test_interruption_ends_the_wait():
    clock = Clock()
    pacer = Pacer(0.001, 1.0, 0.05, clock)
    assert not pacer.wait(10_000, Waits(clock, interrupted=True))
    assert not Pacer(0.001, 0.0, 0.05, clock).wait(10, Waits(clock, interrupted=True))


def test_wait_with_a_real_event():
    interruption = threading.Event()
    pacer = Pacer(0.001, 1.0, 0.05)
    assert pacer.wait(5, interruption)
    interruption.set()
    assert not pacer.wait(1_000_000, interruption)


def test_new_real_time_factor_starts_now():
    clock = Clock()
    pacer = Pacer(0.001, 1.0, 0.05, clock)
    clock.time += 1.0
    pacer.change_real_time_factor(0.5, 1000)
    assert pacer.due(1000) == pytest.approx(101.0)
    assert pacer.due(1100) == pytest.approx(101.2)
    pacer.change_real_time_factor(0.5, 1050)
    assert pacer.due(1100) == pytest.approx(101.2)


def test_rates_are_rounded_to_whole_steps():
    schedule = StreamSchedule.from_rates({"a": 100.0, "b": 30.0, "c": 0.0, "d": 5000.0}, 0.001, 0.01)
    for name, interval in {"a": 10, "b": 33, "c": 1, "d": 1}.items():
        assert [step for step in range(100) if name in schedule.due(step)] == list(range(0, 100, interval))


def test_streams_by_wall_time_follow_the_pace():
    schedule = StreamSchedule({"tf": 10, "imu": 5}, 100, by_wall_time=("tf",))
    for factor, interval in ((1.0, 10), (7.8, 80), (0.0, 10), (0.4, 10)):
        schedule.follow(factor)
        assert [step for step in range(400) if "tf" in schedule.due(step)] == list(range(0, 400, interval))
        assert "imu" in schedule.due(5) and schedule.steps_to_next(76) == 4
    schedule.follow(8.0)
    assert (schedule.steps_to_next(71), schedule.steps_to_next(75)) == (4, 5)


@settings(deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=4), st.integers(1, 60), st.integers(0, 1000))
def test_tick_ends_at_the_next_sample_or_at_its_limit(intervals, longest, step):
    schedule = StreamSchedule({str(number): interval for number, interval in enumerate(intervals)}, longest)
    count = schedule.steps_to_next(step)
    assert 1 <= count <= longest
    assert not any(schedule.due(between) for between in range(step + 1, step + count))
    assert schedule.due(step + count) or count == longest


@settings(deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([1e-4, 1e-3, 0.002, 0.005, 0.01]))
def test_stamps_are_exact_multiples_of_the_step(step, step_size):
    assert nanoseconds_at(step, step_size) == step * round(step_size * 1e9)


def test_meter_compares_steps_with_wall_time():
    clock = Clock()
    meter = LoopMeter(0.001, clock)
    meter.restart()
    for _ in range(100):
        clock.time += 0.02
        meter.add(10, 0.005)
    figures = meter.figures()
    assert figures["real_time_factor"] == pytest.approx(0.5)
    assert figures["elapsed_simulated"] == pytest.approx(1.0)
    assert figures["elapsed_wall"] == pytest.approx(2.0)
    assert figures["step_time_median"] == pytest.approx(0.0005)


def test_meter_ignores_a_pause():
    clock = Clock()
    meter = LoopMeter(0.001, clock)
    clock.time += 60.0
    meter.resume()
    clock.time += 1.0
    meter.add(1000, 0.1)
    assert meter.figures()["real_time_factor"] == pytest.approx(1.0)


def test_meter_has_the_largest_step_time():
    meter = LoopMeter(0.001, Clock())
    for _ in range(99):
        meter.add(10, 0.001)
    meter.add(10, 0.1)
    figures = meter.figures()
    assert figures["step_time_max"] == pytest.approx(0.01)
    assert figures["step_time_median"] == pytest.approx(0.0001)
