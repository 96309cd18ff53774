"""The hand of the latency trial, a process of its own: moves a lever and notes when, and when replies arrive.

``python -m grouser.bridges.trials.stimulus SPECIFICATION`` takes JSON: `hand`, a name in `hands.HANDS` and what that
hand needs; `events`, `interval`, `spread` and `seed`: events are evenly spread over `spread` after each `interval` [s];
`policy`, `priority` and `cpu` of its scheduling. It holds the lever in neutral until the first byte of its input. In
the end it prints JSON: `events`, the times of the events, and `replies`, each deflection that a reply was the first to
carry with the time of its arrival, all in ns of CLOCK_MONOTONIC.
"""

import json
import os
import select
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from grouser.bridges.scheduling import Scheduling, apply_scheduling
from grouser.bridges.trials.hands import FULL, HANDS, Hand

_NEUTRAL_PERIOD = 0.02  # [s]
_AFTERWARDS = 0.3  # [s] for the last replies
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)  # whose multiples are spread evenly over the unit interval


def raw_value(number: int) -> int:
    """Raw deflection of an event, by which it is known again."""
    return 1 + number % FULL


def main(specification: Mapping[str, Any]) -> None:
    """Waits for the first byte, then moves the lever."""
    apply_scheduling(Scheduling(specification["policy"], specification["priority"], specification["cpu"]))
    hand = HANDS[specification["hand"]](specification)
    replies: dict[int, int] = {}
    threading.Thread(target=_listen, args=(hand, replies), daemon=True).start()
    while not select.select((sys.stdin,), (), (), _NEUTRAL_PERIOD)[0]:
        hand.move(0)
    times = []
    begin = time.monotonic()
    for number in range(specification["events"]):
        share = (specification["seed"] + number) * _GOLDEN % 1.0
        due = begin + (number + 1) * specification["interval"] + share * specification["spread"]
        time.sleep(max(0.0, due - time.monotonic()))
        times.append(time.monotonic_ns())
        hand.move(raw_value(number))
    time.sleep(_AFTERWARDS)
    print(json.dumps({"events": times, "replies": list(replies.items())}), flush=True)
    os._exit(0)  # a library's thread may wait for a server for ever


def _listen(hand: Hand, replies: dict[int, int]) -> None:
    for raw in hand.replies():
        replies.setdefault(raw, time.monotonic_ns())


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
