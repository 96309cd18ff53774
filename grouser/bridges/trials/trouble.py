"""A sender and its troubled line, on a clock of their own: what arrives when, and what it really is."""

import heapq
import random
from collections import Counter
from dataclasses import dataclass

from grouser.bridges.trials.lines import Line

# Times are multiples of this [s], so that differences of floats are exact.
TICK = 1.0 / 1024.0
BUS_OFF = 0.5  # [s]: how long a bus is off
# The hand: a lever in neutral, then moving; the first is long enough for a link to become live again.
_NEUTRAL, _MOVING = 25, 75
GENUINE, DUPLICATE, FLIPPED, STUCK, GARBAGE = "genuine", "duplicate", "bit_flip", "stuck", "garbage"


@dataclass(frozen=True)
class Trouble:
    """Faults of the line: shares of messages, and times.

    Attributes:
        duration: of the trial [s].
        period: of the sender [s].
        loss, delay_probability, duplicate, bit_flip, garbage, stuck_probability: shares.
        delay_max: longest delay [s].
        stuck_length: messages that repeat the one before.
        bus_off_times: when the bus goes off [s].
        seed: of everything random.
    """

    duration: float
    period: float
    loss: float
    delay_probability: float
    delay_max: float
    duplicate: float
    bit_flip: float
    garbage: float
    stuck_probability: float
    stuck_length: int
    bus_off_times: tuple[float, ...]
    seed: int


@dataclass(frozen=True)
class Arrival:
    """Bytes that arrive, or a bus that goes off.

    Attributes:
        time: of a multiple of `TICK` [s].
        data: bytes of a message; None: the bus goes off.
        truth: what it is.
    """

    time: float
    data: bytes | None
    truth: str = GENUINE


def exact(time: float) -> float:
    """The nearest multiple of `TICK`."""
    return round(time / TICK) * TICK


def troubled_line(line: Line, trouble: Trouble) -> tuple[list[Arrival], Counter[str], int]:
    """Lets a sender speak for the duration.

    Returns:
        What arrives, by time; how often each fault was injected; the number of messages sent.
    """
    chance = random.Random(trouble.seed)
    injected: Counter[str] = Counter()
    offs = [exact(time) for time in sorted(trouble.bus_off_times)]
    heap: list[tuple[float, int, Arrival]] = []

    def arrive(time: float, data: bytes, truth: str) -> None:
        if any(off <= time < off + BUS_OFF for off in offs):
            injected["bus_off"] += 1
        else:
            heapq.heappush(heap, (time, len(heap) + sent, Arrival(time, data, truth)))

    arrivals: list[Arrival] = []
    sent, stuck, lever, said = 0, 0, 0.0, b""
    for sent in range(round(trouble.duration / trouble.period)):
        now = exact(sent * trouble.period)
        lever = _moved(lever, sent, chance)
        fresh = line.encode(lever, sent % line.modulus, now)
        if stuck == 0 and chance.random() < trouble.stuck_probability:
            stuck = trouble.stuck_length
        truth = GENUINE
        if stuck and said:
            stuck, truth = stuck - 1, STUCK
            injected[STUCK] += 1
        else:
            said = fresh
        if chance.random() < trouble.garbage:
            injected[GARBAGE] += 1
            arrive(now, chance.randbytes(len(fresh)), GARBAGE)
        if chance.random() < trouble.loss:
            injected["loss"] += 1
            continue
        data = said
        if chance.random() < trouble.bit_flip:
            injected[FLIPPED] += 1
            data, truth = _flipped(data, chance), FLIPPED
        if chance.random() < trouble.delay_probability:
            injected["delay"] += 1
            now = exact(now + chance.random() * trouble.delay_max)
        arrive(now, data, truth)
        if chance.random() < trouble.duplicate:
            injected[DUPLICATE] += 1
            arrive(now, data, DUPLICATE if truth == GENUINE else truth)
    for off in offs:
        heapq.heappush(heap, (off, -1, Arrival(off, None, "bus_off")))
    while heap:
        arrivals.append(heapq.heappop(heap)[2])
    return arrivals, injected, sent + 1


def _moved(lever: float, number: int, chance: random.Random) -> float:
    """The lever at the next message: in neutral for a while, then wandering."""
    if number % (_NEUTRAL + _MOVING) < _NEUTRAL:
        return 0.0
    return max(-1.0, min(1.0, lever + chance.uniform(-0.1, 0.1)))


def _flipped(data: bytes, chance: random.Random) -> bytes:
    bit = chance.randrange(8 * len(data))
    return (int.from_bytes(data, "little") ^ 1 << bit).to_bytes(len(data), "little")
