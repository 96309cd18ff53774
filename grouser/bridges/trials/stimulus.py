"""The hand of the latency trial, a process of its own: moves a lever and notes when.

``python -m grouser.bridges.trials.stimulus DESCRIPTOR EVENTS INTERVAL SPREAD POLICY PRIORITY`` writes an event device's
bytes to a descriptor that it inherited, spread evenly over SPREAD [s] after each INTERVAL [s]. It begins with the first
byte of its input, and at the end prints the times of its events, 8 bytes each [ns of CLOCK_MONOTONIC].
"""

import os
import struct
import sys
import time
from array import array

from grouser.bridges.joystick.codes import EV_ABS, EV_SYN, SYN_REPORT
from grouser.bridges.joystick.events import EVENT
from grouser.bridges.scheduling import Scheduling, apply_scheduling

AXIS = 0  # ABS_X
FULL = 30000  # raw value of full deflection; event n is the raw value n + 1, and begins anew after FULL
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)  # whose multiples are spread evenly over the unit interval


def raw_value(number: int) -> int:
    """Raw deflection of an event, by which it is known again."""
    return 1 + number % FULL


def main(descriptor: int, events: int, interval: float, spread: float, scheduling: Scheduling) -> None:
    """Waits for the first byte, then moves the lever."""
    apply_scheduling(scheduling)
    sys.stdin.buffer.read(1)
    times = array("q")
    begin = time.monotonic()
    for number in range(events):
        due = begin + (number + 1) * interval + number * _GOLDEN % 1.0 * spread
        time.sleep(max(0.0, due - time.monotonic()))
        times.append(time.monotonic_ns())
        os.write(descriptor, _report(raw_value(number)))
    sys.stdout.buffer.write(times.tobytes())


def _report(value: int) -> bytes:
    seconds, rest = divmod(time.time_ns(), 10**9)
    stamp = (seconds, rest // 1000)
    return EVENT.pack(*stamp, EV_ABS, AXIS, value) + EVENT.pack(*stamp, EV_SYN, SYN_REPORT, 0)


def times_of(data: bytes) -> list[float]:
    """Returns the printed times [s]."""
    return [nanoseconds * 1e-9 for (nanoseconds,) in struct.iter_unpack("@q", data)]


if __name__ == "__main__":
    main(
        int(sys.argv[1]),
        int(sys.argv[2]),
        float(sys.argv[3]),
        float(sys.argv[4]),
        Scheduling(sys.argv[5], int(sys.argv[6])),
    )
