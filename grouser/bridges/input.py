"""One incoming message of a bridge: its verdict, its link and its commands."""

import math
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from grouser.bridges.counters import MODULI, RollingCounter, Verdict
from grouser.bridges.figures import InputFigures
from grouser.bridges.link import Link, LinkState
from grouser.bridges.mapping.data import BridgeMapping, MessageMapping
from grouser.bridges.messages import Received

Measure = Callable[[Collection[str]], Mapping[str, float]]  # `Plant.measure`

# Reasons for which a bridge refuses a message; transports have further ones of their own.
NOT_AVAILABLE = "not available"
MISSING = "missing"
NOT_A_NUMBER = "not a number"
OUT_OF_RANGE = "out of range"
NO_COUNTER = "no counter"
_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Judgement:
    """What is to be thought of a message.

    Attributes:
        refusal: why it is refused; "": it is not.
        is_error: whether a used field holds an error code.
        is_restart: whether its sender began anew.
        values: signal -> scaled value in the mapping's unit, of a valid message.
        enabled: signals that may be obeyed.
    """

    refusal: str = ""
    is_error: bool = False
    is_restart: bool = False
    values: tuple[float, ...] = ()
    enabled: tuple[bool, ...] = ()


class Input:
    """Judges the messages of one name, follows their link and makes commands of them.

    Args:
        message: of the mapping.
        mapping: the whole.
        measure: of the plant: where a position that holds is, before it is commanded.

    Attributes:
        message, link, figures: its own.
    """

    def __init__(self, message: MessageMapping, mapping: BridgeMapping, measure: Measure) -> None:
        self.message = message
        self.link = Link(message.timeout, mapping.good, mapping.recovery)
        self.figures = InputFigures()
        self._measure = measure
        self._counter: RollingCounter | None = None
        if message.counter is not None:
            self._counter = RollingCounter(MODULI[message.counter.profile], message.counter.max_jump)
        self._used = set(message.places)
        # As tuples, because every message needs all of them.
        self._fields = [
            (one.field, one.scale, one.offset, max(one.low, -_LARGEST), min(one.high, _LARGEST), one.enable)
            for one in message.signals
        ]
        self._rests = [(one.safe, one.neutral) for one in message.signals]
        self._aims = [(one.signal, one.factor, one.rate * one.factor) for one in message.signals]
        self._safe = {
            signal.signal: signal.safe * signal.factor for signal in message.signals if signal.safe is not None
        }
        self._targets: dict[str, float] = {}  # signal -> target [SI]
        self._rates: dict[str, float] = {}  # signal whose way to its target is limited -> rate [SI]
        self._commands: dict[str, float] = {}  # signal -> what was commanded last [SI]
        self._held: dict[str, float] = {}  # signal that holds -> what was commanded before the last fall [SI]
        self._moved = -math.inf  # when they moved last

    @property
    def safe(self) -> dict[str, float]:
        """Safe commands [SI]; without the signals that hold."""
        return dict(self._safe)

    def take(self, judgement: Judgement, now: float) -> bool:
        """Takes a judged message; returns whether it is to be obeyed."""
        figures = self.figures
        if judgement.is_error:
            figures.errors += 1
            self.link.error(now)
            return False
        if judgement.refusal:
            figures.refused[judgement.refusal] += 1
            self.link.refused(now)
            return False
        figures.valid += 1
        if self.link.valid(now, self._is_neutral(judgement)) is not LinkState.LIVE:
            return False
        self._aim(judgement)
        figures.obeyed += 1
        return True

    def commands(self, now: float) -> dict[str, float]:
        """Returns the commands [SI] of a live link, moved towards the last valid message as fast as their rates let."""
        commands = self._commands | self._targets  # of what is not enabled and holds the last one stays
        if self._rates:
            span = max(0.0, now - self._moved) if math.isfinite(self._moved) else 0.0
            for name, rate in self._rates.items():
                target, last = commands[name], self._commands[name]
                if abs(target - last) > rate * span:
                    commands[name] = last + math.copysign(rate * span, target - last)
        self._commands, self._moved = commands, now
        return dict(commands)

    def is_moving(self) -> bool:
        """Whether a command has not reached its target yet."""
        return any(self._commands[name] != self._targets[name] for name in self._rates)

    def forget(self) -> None:
        """Forgets targets and commands: the next ones start from the safe state, or where a position was held."""
        self._held.update((name, value) for name, value in self._commands.items() if name not in self._safe)
        self._targets, self._rates, self._commands = {}, {}, {}
        self._moved = -math.inf

    def judge(self, received: Received) -> Judgement:
        """Returns what is to be thought of a message; counts what its counter shows as lost."""
        if received.refusal:
            return Judgement(refusal=received.refusal)
        restarts = False
        if self._counter is not None:
            if received.counter is None:
                return Judgement(refusal=NO_COUNTER)
            verdict = self._counter.judge(received.counter)
            self.figures.lost += self._counter.lost
            if verdict not in (Verdict.NEW, Verdict.RESYNCHRONISED):
                return Judgement(refusal=verdict.value)
            restarts = verdict is Verdict.RESYNCHRONISED
        if not self._used.isdisjoint(received.errors):
            return Judgement(is_error=True)
        if not self._used.isdisjoint(received.absent):
            return Judgement(refusal=NOT_AVAILABLE)
        values, enabled, raws = [], [], received.values
        for field, scale, offset, low, high, enable in self._fields:
            raw = raws.get(field)
            if raw is None or (enable is not None and enable.field not in raws):
                return Judgement(refusal=MISSING)
            value = raw * scale + offset
            if not low <= value <= high:
                return Judgement(refusal=OUT_OF_RANGE if math.isfinite(value) else NOT_A_NUMBER)
            values.append(value)
            enabled.append(enable is None or raws[enable.field] == enable.value)
        return Judgement(is_restart=restarts, values=tuple(values), enabled=tuple(enabled))

    def _is_neutral(self, judgement: Judgement) -> bool:
        for (safe, neutral), value in zip(self._rests, judgement.values, strict=True):
            if safe is not None and abs(value - safe) > neutral:
                return False
        return True

    def _aim(self, judgement: Judgement) -> None:
        """Sets the targets: of signals that are enabled what they say, of others the safe value."""
        targets, rates = dict(self._safe), {}
        for (name, factor, rate), value, enabled in zip(self._aims, judgement.values, judgement.enabled, strict=True):
            if enabled:
                targets[name] = value * factor
                rates[name] = rate
        for name in targets.keys() - self._commands.keys():
            start = self._start(name, targets[name], rates.get(name, math.inf))
            if math.isnan(start):  # a position of which nobody knows where it is cannot be moved at a rate
                del targets[name]
            else:
                self._commands[name] = start
        self._targets = targets
        self._rates = {name: rate for name, rate in rates.items() if rate < math.inf and name in targets}

    def _start(self, name: str, target: float, rate: float) -> float:
        """From where a signal is moved to its first target [SI]; NaN: it is not known."""
        if name in self._safe:
            return self._safe[name]
        if not math.isfinite(rate):
            return target
        return self._held[name] if name in self._held else self._measure({name}).get(name, math.nan)
