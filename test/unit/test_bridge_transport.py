"""What keeps a transport open, with a transport whose failures the test decides; and a bridge that runs on it."""

import threading
import time

from bridge_pieces import RememberingPlant, mapping, message, said, signal
from patience import wait_until

from grouser.bridges.link import LinkState
from grouser.bridges.runner import BridgeRunner
from grouser.bridges.scheduling import Scheduling, apply_scheduling
from grouser.bridges.transport import BACK_OFF, CLOSED, KeptOpen, TransportError


class Line:
    """A transport; `refusals` openings fail first."""

    def __init__(self, refusals=0):
        self.refusals, self.sink, self.is_open = refusals, None, False
        self.openings, self.sent, self.breaks = [], [], False

    def open(self, sink):
        self.openings.append(time.monotonic())
        if self.refusals:
            self.refusals -= 1
            raise TransportError("no such device")
        self.sink, self.is_open = sink, True

    def close(self):
        self.is_open = False

    def send(self, name, values):
        if self.breaks:
            raise TransportError("cable cut")
        self.sent.append((name, dict(values)))
        return True


class Losses(list):
    def receive(self, received):
        pass

    def lost(self, reason, time, messages=None):
        self.append(reason)

    def broken(self, reason, time):
        self.append(reason)


def test_it_is_opened_again_after_growing_waits_and_told_once():
    line, told = Line(refusals=3), []
    kept = KeptOpen(line, Losses(), told.append)
    kept.start()
    wait_until(lambda: kept.state.is_open, "an open line")
    kept.stop()
    assert [(state.is_open, state.reason) for state in told[:2]] == [
        (False, "no such device"),
        (True, "no such device"),
    ]
    gaps = [later - sooner for sooner, later in zip(line.openings, line.openings[1:], strict=False)]
    assert all(gap >= least for gap, least in zip(gaps, (0.1, 0.2, 0.4), strict=True))
    assert not line.is_open
    assert BACK_OFF == (0.1, 2.0)


def test_a_break_is_lost_at_once_and_opened_again():
    line, losses = Line(), Losses()
    kept = KeptOpen(line, losses)
    kept.start()
    wait_until(lambda: kept.state.is_open, "an open line")
    line.sink.broken("bus-off", 0.0)
    assert losses == ["bus-off"]
    wait_until(lambda: kept.state.openings == 2, "a second opening")
    assert kept.state.reason == "bus-off"
    kept.stop()


def test_a_failure_to_send_opens_it_again():
    line, losses = Line(), Losses()
    kept = KeptOpen(line, losses)
    assert not kept.send("pressures", {})
    kept.start()
    wait_until(lambda: kept.state.is_open, "an open line")
    assert kept.send("pressures", {"p": 1.0})
    line.breaks = True
    assert not kept.send("pressures", {"p": 1.0})
    assert losses == ["cable cut"]
    line.breaks = False
    wait_until(lambda: kept.state.openings == 2, "a second opening")
    kept.stop()
    assert line.sent == [("pressures", {"p": 1.0})]


def test_any_failure_to_open_is_told_and_tried_again():
    line, failures = Line(), [UnicodeError("label too long"), ImportError("no module"), OSError("gone")]
    opened = line.open

    def fail_first(sink):
        if failures:
            raise failures.pop(0)
        opened(sink)

    line.open, told = fail_first, []
    kept = KeptOpen(line, Losses(), told.append)
    kept.start()
    wait_until(lambda: kept.state.is_open, "an open line")
    kept.stop()
    assert [state.reason for state in told[:3]] == [
        "UnicodeError: label too long",
        "ImportError: no module",
        "OSError: gone",
    ]


def test_any_failure_to_send_breaks_the_line():
    line, losses = Line(), Losses()
    kept = KeptOpen(line, losses)
    kept.start()
    wait_until(lambda: kept.state.is_open, "an open line")

    def overflow(name, values):
        raise OverflowError("int too big")

    line.send = overflow
    assert not kept.send("pressures", {"p": 1.0})
    kept.stop()
    assert losses == ["OverflowError: int too big"]


def test_a_failure_to_close_is_told_and_it_is_opened_again():
    line, told = Line(), []

    def fail():
        raise OSError("gone")

    line.close = fail
    kept = KeptOpen(line, Losses(), told.append)
    kept.start()
    wait_until(lambda: kept.state.is_open, "an open line")
    line.sink.broken("bus-off", 0.0)
    wait_until(lambda: kept.state.openings == 2, "a second opening")
    assert told[2].reason == "bus-off; closing it: OSError: gone"
    kept.stop()
    assert kept.state.has_ended


def test_a_stop_is_told_as_an_end():
    told = []
    kept = KeptOpen(Line(), Losses(), told.append)
    kept.start()
    wait_until(lambda: kept.state.is_open, "an open line")
    kept.stop()
    assert [(state.is_open, state.has_ended) for state in told] == [(True, False), (False, True)]
    assert told[-1].reason == CLOSED


def test_a_failure_of_the_plant_ends_the_bridge_in_the_safe_state():
    line, plant, told = Line(), RememberingPlant(), []
    parts = (
        message("stick", signal("y", "valve/boom"), timeout=60.0),
        message("pressures", signal("p", "hydraulics/p", high=5.0), direction="out", period=0.01),
    )
    runner = BridgeRunner(mapping(*parts), line, plant, transport_told=told.append)
    runner.start()
    wait_until(lambda: line.is_open, "an open line")
    for value in (0.0, 0.0, 0.0, 0.5):
        line.sink.receive(said("stick", time.monotonic(), y=value))
    assert plant.now == {"valve/boom": 0.5}

    def fail(names):
        raise ValueError("no such measurement")

    plant.measure = fail
    wait_until(lambda: told[-1].has_ended, "an end")
    reason = "the bridge failed: ValueError: no such measurement"
    assert told[-1].reason == reason
    assert runner.bridge.reasons == {"stick": reason}
    for value in (0.0, 0.0, 0.0, 0.5):
        line.sink.receive(said("stick", time.monotonic(), y=value))
    assert plant.now == {"valve/boom": 0.0}
    assert runner.bridge.states == {"stick": LinkState.STALE}
    runner.stop()


def test_a_failure_of_the_timer_ends_the_bridge_in_the_safe_state():
    line, plant = Line(), RememberingPlant()
    runner = BridgeRunner(mapping(message("stick", signal("y", "valve/boom"), timeout=60.0)), line, plant)
    runner.start()
    wait_until(lambda: line.is_open, "an open line")
    for value in (0.0, 0.0, 0.0, 0.5):
        line.sink.receive(said("stick", time.monotonic(), y=value))

    def fail(now):
        raise ZeroDivisionError("of a fault")

    runner.faults.tick = fail
    wait_until(lambda: runner.transport.state.has_ended, "an end")
    assert runner.bridge.states == {"stick": LinkState.STALE}
    assert plant.now == {"valve/boom": 0.0}
    runner.stop()


def test_silence_is_found_while_a_send_waits():
    line, plant, sending, released = Line(), RememberingPlant(), threading.Event(), threading.Event()
    parts = (
        message("stick", signal("y", "valve/boom"), timeout=0.1),
        message("pressures", signal("p", "hydraulics/p", high=5.0), direction="out", period=0.01),
    )

    def wait(name, values):
        sending.set()
        return released.wait()

    line.send = wait
    runner = BridgeRunner(mapping(*parts), line, plant)
    runner.start()
    wait_until(sending.is_set, "a waiting send")
    for value in (0.0, 0.0, 0.0, 0.5):
        line.sink.receive(said("stick", time.monotonic(), y=value))
    try:
        wait_until(lambda: runner.bridge.reasons.get("stick") == "silence", "silence")
        assert plant.now == {"valve/boom": 0.0}
    finally:
        released.set()
        runner.stop()


def test_it_ends_while_it_waits():
    kept = KeptOpen(Line(refusals=1000), Losses())
    kept.start()
    wait_until(lambda: kept.state.reason == "no such device", "a refusal")
    kept.stop()  # returns
    assert not kept.state.is_open


def test_a_running_bridge_is_safe_after_silence_without_another_message():
    line, plant = Line(), RememberingPlant(measured={"hydraulics/p": 3.0})
    parts = (
        message("stick", signal("y", "valve/boom"), timeout=1.0),
        message("pressures", signal("p", "hydraulics/p", high=5.0), direction="out", period=0.01),
    )
    changes, live = [], threading.Event()

    def tell(change):
        changes.append(change.after)
        if change.after is LinkState.LIVE:
            live.set()

    runner = BridgeRunner(mapping(*parts), line, plant, tell)
    runner.start()
    wait_until(lambda: line.is_open, "an open line")
    for value in (0.0, 0.0, 0.0, 0.5):
        line.sink.receive(said("stick", time.monotonic(), y=value))
    assert live.is_set()
    wait_until(lambda: changes and changes[-1] is LinkState.STALE, "silence")
    assert plant.now == {"valve/boom": 0.0}
    wait_until(lambda: len(line.sent) > 3, "measurements")
    assert line.sent[0] == ("pressures", {"p": 3.0})
    wait_until(lambda: runner.granted is not None, "scheduling")
    runner.stop()
    runner.stop()
    assert changes == [LinkState.CHECKING, LinkState.LIVE, LinkState.STALE]


def test_a_bridge_that_ends_leaves_the_machine_safe():
    line, plant = Line(), RememberingPlant()
    runner = BridgeRunner(mapping(message("stick", signal("y", "valve/boom"), timeout=60.0)), line, plant)
    runner.start()
    wait_until(lambda: line.is_open, "an open line")
    for value in (0.0, 0.0, 0.0, 0.5):
        line.sink.receive(said("stick", time.monotonic(), y=value))
    assert plant.now == {"valve/boom": 0.5}
    runner.stop()
    assert plant.now == {"valve/boom": 0.0}


def granted_in_a_thread(asked):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(apply_scheduling(asked)))
    thread.start()
    thread.join()
    return answers[0]


def test_scheduling_tells_what_it_got():
    plain = granted_in_a_thread(Scheduling())
    assert (plain.policy, plain.cpu, plain.memory_locked, plain.refusals) == ("other", -1, False, ())
    asked = granted_in_a_thread(Scheduling("fifo", 10, 0))
    assert (asked.policy == "fifo") == (not any("SCHED_FIFO" in one for one in asked.refusals))
    assert asked.cpu in (0, -1)
    assert any("100000" in one for one in granted_in_a_thread(Scheduling(cpu=100000)).refusals)
