"""The states of a link, by the sequences that define them; times in ms."""

import pytest

from grouser.bridges.link import Link, LinkState

TIMEOUT, GOOD = 100, 3


def run(sequence, recovery):
    """States after each (time, event)."""
    link, states = Link(TIMEOUT, GOOD, recovery), {}
    for time, event in sequence:
        if event == "tick":
            link.tick(time)
        elif event == "acknowledge":
            link.acknowledge(time)
        elif event in ("valid", "neutral"):
            link.valid(time, event == "neutral")
        elif event == "refused":
            link.refused(time)
        else:  # an error code, or the device is gone
            link.error(time)
        states[time] = link.state.value
    return states


SEQUENCE = [
    *((0, "tick"), (20, "valid"), (40, "valid"), (60, "valid"), (80, "valid"), (100, "neutral"), (120, "valid")),
    *((140, "refused"), (160, "refused"), (180, "refused"), (200, "refused"), (220, "tick"), (221, "tick")),
    *((240, "neutral"), (260, "neutral"), (280, "neutral"), (300, "valid"), (320, "error")),
    *((340, "neutral"), (360, "neutral"), (380, "neutral"), (400, "gone")),
    *((420, "valid"), (440, "refused"), (460, "neutral"), (480, "neutral"), (500, "neutral")),
]


def test_the_sequence_with_automatic_recovery():
    assert run(SEQUENCE, "automatic") == {
        0: "absent",
        20: "checking",
        40: "checking",
        60: "checking",
        80: "checking",
        **dict.fromkeys((100, 120, 140, 160, 180, 200, 220), "live"),
        221: "stale",
        240: "checking",
        260: "checking",
        280: "live",
        300: "live",
        320: "stale",
        340: "checking",
        360: "checking",
        380: "live",
        400: "stale",
        420: "checking",
        440: "checking",
        460: "checking",
        480: "checking",
        500: "live",
    }


def test_the_sequence_stays_latched_until_it_is_acknowledged():
    states = run(SEQUENCE, "acknowledge")
    assert states[220] == "live"
    assert {state for time, state in states.items() if time > 220} == {"latched"}


def test_only_a_living_neutral_link_is_acknowledged():
    live = [(0, "neutral"), (20, "neutral"), (40, "neutral"), (60, "valid"), (170, "tick")]
    states = run(
        [
            *live,
            *((180, "valid"), (190, "acknowledge"), (200, "neutral"), (210, "acknowledge")),
            *((220, "neutral"), (240, "neutral"), (260, "neutral")),
        ],
        "acknowledge",
    )
    assert [states[time] for time in (60, 170, 180, 190, 200, 210, 240, 260)] == [
        *("live", "latched", "latched", "latched", "latched", "checking", "checking", "live")
    ]


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([(180, "neutral"), (281, "tick")], "no valid message arrives"),
        ([(180, "neutral"), (200, "error")], "no valid message arrives"),
        ([(180, "valid")], "not neutral"),
        ([(180, "neutral"), (200, "refused")], ""),
    ],
)
def test_acknowledging_says_why_not(events, reason):
    link = Link(TIMEOUT, GOOD, "acknowledge")
    for time in (0, 20, 40):
        link.valid(time, True)
    link.tick(150)
    assert link.state is LinkState.LATCHED
    for time, event in events:
        {"tick": link.tick, "error": link.error, "refused": link.refused}.get(
            event, lambda time, event=event: link.valid(time, event == "neutral")
        )(time)
    answer = link.acknowledge(events[-1][0])
    assert reason in answer
    assert bool(answer) == bool(reason)


def test_exactly_at_the_timeout_is_in_time_and_the_deadline_says_so():
    link = Link(TIMEOUT, 1)
    link.valid(10, True)
    assert link.deadline == 110
    assert link.tick(110) is LinkState.LIVE
    assert link.tick(111) is LinkState.STALE
    assert link.deadline is None


def test_a_checking_link_that_falls_is_never_latched():
    link = Link(TIMEOUT, GOOD, "acknowledge")
    link.valid(0, True)
    assert link.tick(101) is LinkState.STALE


def test_a_sender_that_begins_anew_is_checked_anew():
    link = Link(TIMEOUT, 2)
    link.valid(0, True)
    link.valid(20, True)
    assert link.restart(40) is LinkState.STALE
    assert link.valid(40, True) is LinkState.CHECKING
    assert link.valid(60, True) is LinkState.LIVE
