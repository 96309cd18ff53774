"""The fault trial: a bridge behind a troubled line, and the second judge's opinion of it."""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from grouser.bridges.bridge import Bridge
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.data import BridgeMapping, MessageMapping, Recovery, SignalMapping
from grouser.bridges.trials.judge import OBEYED, READERS, VALID, judge
from grouser.bridges.trials.lines import FIELD, LINES, MESSAGE, SIGNAL, Line
from grouser.bridges.trials.trouble import BUS_OFF, DUPLICATE, GENUINE, STUCK, TICK, Arrival, Trouble, troubled_line

_NEUTRAL = 0.03
_ACKNOWLEDGE = 1.0  # [s]: how often somebody acknowledges
# What the sender said; the rest is noise.
_MEANT = (GENUINE, DUPLICATE, STUCK)


@dataclass(frozen=True)
class _Place:
    """The field of the trial's message."""

    limits: None = None

    def __str__(self) -> str:
        return FIELD


class _Machine:
    """Remembers the last command."""

    def __init__(self) -> None:
        self.commands: dict[str, float] = {SIGNAL: 0.0}

    def command(self, values):
        self.commands.update(values)

    def measure(self, names):
        return {}


@dataclass(frozen=True)
class TrialReport:
    """What came of a trial.

    Attributes:
        sent: messages.
        injected: kind -> how often.
        obeyed: messages.
        refused: reason -> how often.
        lost_valid: messages that the rules accept and the bridge did not.
        obeyed_invalid: messages that were obeyed although the rules refuse them.
        lucky: noise that the rules cannot tell from a message.
        safe_entries: falls of the live link.
        longest_hold: from the last valid message to the safe state [s].
        mismatches: opinions of bridge and judge that differ: of messages, of the number of falls, and commands of a
            machine that is not safe while its link is not live.
        state_hash: of all opinions, states and commands.
    """

    sent: int
    injected: dict[str, int]
    obeyed: int
    refused: dict[str, int]
    lost_valid: int
    obeyed_invalid: int
    lucky: int
    safe_entries: int
    longest_hold: float
    mismatches: int
    state_hash: str


def run_trial(protocol: str, trouble: Trouble, timeout: float, good: int, recovery: Recovery) -> TrialReport:
    """Lets a bridge listen to a troubled line, and judges every message again.

    Args:
        protocol: name in `LINES`.
        trouble: faults of the line.
        timeout, good, recovery: of the link.
    """
    line = LINES[protocol]()
    arrivals, injected, sent = troubled_line(line, trouble)
    acknowledgements = [_ACKNOWLEDGE * number for number in range(1, math.ceil(trouble.duration / _ACKNOWLEDGE))]
    listener = _Listener(line, trouble.period, timeout, good, recovery)
    opinions = listener.listen(arrivals, acknowledgements if recovery == "acknowledge" else [], trouble.duration)
    expected, falls = judge(
        arrivals,
        READERS[protocol],
        timeout,
        good,
        round(1000 * _NEUTRAL),
        acknowledgements,
        recovery == "acknowledge",
        trouble.duration + BUS_OFF,
    )
    accepted = (OBEYED, VALID)
    pairs = list(zip(arrivals, opinions, expected, strict=True))
    return TrialReport(
        sent=sent,
        injected=dict(sorted(injected.items())),
        obeyed=opinions.count(OBEYED),
        refused=dict(sorted(Counter(one for one in opinions if one and one not in accepted).items())),
        lost_valid=sum(wanted in accepted and got not in accepted for _, got, wanted in pairs),
        obeyed_invalid=sum(got == OBEYED and wanted != OBEYED for _, got, wanted in pairs),
        lucky=sum(got in accepted and arrival.truth not in _MEANT for arrival, got, _ in pairs),
        safe_entries=listener.figures.safe_entries,
        longest_hold=listener.figures.longest_hold,
        mismatches=sum(got != wanted for _, got, wanted in pairs)
        + abs(listener.figures.safe_entries - falls)
        + listener.unsafe,
        state_hash=listener.digest.hexdigest(),
    )


class _Listener:
    """A bridge on the clock of the trial."""

    def __init__(self, line: Line, period: float, timeout: float, good: int, recovery: Recovery) -> None:
        place = _Place()
        signal = SignalMapping(
            place, str(place), SIGNAL, "1", 1.0, line.scale, 0.0, -1.0, 1.0, safe=0.0, neutral=_NEUTRAL
        )
        message = MessageMapping(MESSAGE, "in", None, period, timeout, (signal,), line.counter)
        mapping = BridgeMapping("fault trial", "trial", "", None, recovery, good, (message,))
        self._line = line
        self._machine = _Machine()
        self._now = 0.0
        self._bridge = Bridge(mapping, self._machine, lambda name, values: False, clock=lambda: self._now)
        self._timer = 0.0
        self.figures = self._bridge.figures.inputs[MESSAGE]
        self.digest = hashlib.sha256()
        self.unsafe = 0

    def listen(self, arrivals: Sequence[Arrival], acknowledgements: Sequence[float], duration: float) -> list[str]:
        """Returns the bridge's opinion of every arrival: obeyed, valid, or why it was refused."""
        opinions = []
        waiting = list(reversed(acknowledgements))
        self._bridge.begin()
        for arrival in arrivals:
            while waiting and waiting[-1] < arrival.time:
                self._advance(waiting[-1])
                self._bridge.acknowledge(waiting.pop())
            self._advance(arrival.time)
            opinions.append(self._take(arrival))
            self._check()
            self.digest.update(f"{arrival.time!r} {opinions[-1]} {self._state.value} {self._command!r}\n".encode())
        self._advance(duration + BUS_OFF)
        return opinions

    @property
    def _state(self) -> LinkState:
        return self._bridge.states[MESSAGE]

    @property
    def _command(self) -> float:
        return self._machine.commands[SIGNAL]

    def _advance(self, time: float) -> None:
        """Lets the timer tick up to a time."""
        while self._timer <= time:
            self._now = self._timer
            following = self._bridge.tick(self._timer)
            self._check()
            self._timer = max(self._timer + TICK, math.ceil(following / TICK) * TICK)
        self._now = time

    def _take(self, arrival: Arrival) -> str:
        figures = self.figures
        if arrival.data is None:
            self._bridge.lost("bus-off", arrival.time)
            return ""
        received = self._line.decode(arrival.data, arrival.time)
        strangers = self._bridge.figures.strangers
        obeyed, valid = figures.obeyed, figures.valid
        refused, strange = figures.refused.copy(), strangers.copy()
        self._bridge.receive(received)
        if self._bridge.attention.is_set():
            self._bridge.attention.clear()
            self._timer = min(self._timer, arrival.time + TICK)
        if figures.obeyed > obeyed:
            return OBEYED
        if figures.valid > valid:
            return VALID
        (reason,) = [*(figures.refused - refused), *(strangers - strange)] or ["error"]
        return reason

    def _check(self) -> None:
        """Counts a machine that is not safe although its link is not live."""
        if self._state is not LinkState.LIVE and self._command != 0.0:
            self.unsafe += 1
