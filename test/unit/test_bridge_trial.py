"""The fault trial: the bridge and a second judge agree on every message, and the judge notices a bridge that errs."""

from dataclasses import replace

import pytest

from grouser.bridges.link import Link
from grouser.bridges.trials.fault_trial import run_trial
from grouser.bridges.trials.judge import READERS
from grouser.bridges.trials.lines import LINES
from grouser.bridges.trials.trouble import TICK, Trouble

TIMEOUT = 0.1
TROUBLE = Trouble(
    duration=40.0,
    period=0.02,
    loss=0.05,
    delay_probability=0.05,
    delay_max=0.05,
    duplicate=0.02,
    bit_flip=0.02,
    garbage=0.1,
    stuck_probability=0.002,
    stuck_length=50,
    bus_off_times=(7.0, 7.3, 23.0),
    seed=5,
)
_NONE = dict.fromkeys(("loss", "delay_probability", "duplicate", "bit_flip", "garbage", "stuck_probability"), 0.0)


def trial(protocol, recovery="automatic", **changes):
    return run_trial(protocol, replace(TROUBLE, **changes), TIMEOUT, 3, recovery)


@pytest.mark.parametrize("recovery", ["automatic", "acknowledge"])
@pytest.mark.parametrize("protocol", LINES)
def test_bridge_and_judge_agree(protocol, recovery):
    report = trial(protocol, recovery)
    assert (report.lost_valid, report.obeyed_invalid, report.mismatches) == (0, 0, 0)
    assert report.longest_hold <= TIMEOUT + TICK
    assert report.sent == 2000
    assert report.safe_entries > 0
    assert report.obeyed > (600 if recovery == "automatic" else 150)
    assert report.state_hash == trial(protocol, recovery).state_hash
    assert report.state_hash != trial(protocol, recovery, seed=6).state_hash


@pytest.mark.soak  # of some minutes
@pytest.mark.parametrize("protocol", LINES)
def test_an_hour_of_trouble(protocol):
    report = trial(protocol, duration=3600.0)
    assert (report.lost_valid, report.obeyed_invalid, report.mismatches, report.sent) == (0, 0, 0, 180_000)
    assert report.longest_hold <= TIMEOUT + TICK


@pytest.mark.parametrize("protocol", LINES)
def test_without_trouble_everything_is_obeyed_after_three_messages(protocol):
    report = trial(protocol, **_NONE, bus_off_times=())
    assert (report.obeyed, report.refused, report.injected) == (1998, {}, {})
    assert report.safe_entries == 1  # when the sender ends


def test_flipped_bits_never_pass_a_cyclic_redundancy_check():
    report = trial("e2e_5", bit_flip=0.5, loss=0.0, garbage=0.0)
    # a flipped message that arrives twice is refused twice
    assert report.refused["checksum"] >= report.injected["bit_flip"] - report.injected["bus_off"]
    assert report.lucky == 0


@pytest.mark.parametrize("protocol", ["e2e_5", "serial", "json", "modbus"])
def test_refusals_are_as_many_as_the_injectors_faults(protocol):
    report = trial(protocol, **{**_NONE, "bit_flip": 0.1, "garbage": 0.2}, bus_off_times=())
    of_line = {
        reason: count for reason, count in report.refused.items() if reason != "jump"
    }  # of four flipped in a row
    assert sum(of_line.values()) == report.injected["bit_flip"] + report.injected["garbage"] > 300
    report = trial(protocol, **{**_NONE, "duplicate": 0.2}, bus_off_times=())
    (reason,) = report.refused
    assert reason in ("repeated", "heartbeat stands still")
    assert report.refused[reason] == report.injected["duplicate"] > 300


def test_the_hold_shows_a_link_that_waits_too_long(monkeypatch):
    own = Link._is_old
    monkeypatch.setattr(Link, "_is_old", lambda link, now: own(link, now - 0.02))
    assert trial("e2e_5").longest_hold > TIMEOUT + TICK


def test_the_judge_notices_a_link_that_forgets_to_count_anew(monkeypatch):
    monkeypatch.setattr(Link, "refused", lambda link, now: link.tick(now))
    assert trial("e2e_5").mismatches > 0


def test_the_judge_notices_a_link_that_is_live_before_neutral(monkeypatch):
    own = Link.valid
    monkeypatch.setattr(Link, "valid", lambda link, now, neutral: own(link, now, True))
    report = trial("e2e_5")
    assert report.obeyed_invalid > 0 and report.mismatches > 0


def test_every_line_has_a_reader():
    assert set(READERS) == set(LINES)
