"""One incoming message of a bridge: its verdict, its link and its commands."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from grouser.bridges.counters import MODULI, RollingCounter, Verdict
from grouser.bridges.figures import InputFigures
from grouser.bridges.link import Link, LinkState
from grouser.bridges.mapping.data import BridgeMapping, MessageMapping, SignalMapping
from grouser.bridges.messages import Received

Measure = Callable[[Collection[str]], Mapping[str, float]]  # `Plant.measure`

# Reasons for which a bridge refuses a message; transports have further ones of their own.
NOT_AVAILABLE = "not available"
MISSING = "missing"
NOT_A_NUMBER = "not a number"
OUT_OF_RANGE = "out of range"
NO_COUNTER = "no counter"


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
        self._safe = {
            signal.signal: signal.safe * signal.factor for signal in message.signals if signal.safe is not None
        }
        self._targets: dict[str, tuple[float, float]] = {}  # signal -> target and rate [SI]
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
        span = max(0.0, now - self._moved) if math.isfinite(self._moved) else 0.0
        for name, (target, rate) in self._targets.items():
            last = self._commands[name]
            if target != last and abs(target - last) > rate * span:  # of infinite rates never, not even of a span of 0
                target = last + math.copysign(rate * span, target - last)
            self._commands[name] = target
        self._moved = now
        return dict(self._commands)

    def is_moving(self) -> bool:
        """Whether a command has not reached its target yet."""
        return any(self._commands[name] != target for name, (target, _) in self._targets.items())

    def forget(self) -> None:
        """Forgets targets and commands: the next ones start from the safe state, or where a position was held."""
        self._held.update((name, value) for name, value in self._commands.items() if name not in self._safe)
        self._targets.clear()
        self._commands.clear()
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
        values, enabled = [], []
        for signal in self.message.signals:
            raw = received.values.get(signal.field)
            if raw is None or (signal.enable is not None and signal.enable.field not in received.values):
                return Judgement(refusal=MISSING)
            value = raw * signal.scale + signal.offset
            if not math.isfinite(value):
                return Judgement(refusal=NOT_A_NUMBER)
            if not signal.low <= value <= signal.high:
                return Judgement(refusal=OUT_OF_RANGE)
            values.append(value)
            enabled.append(signal.enable is None or received.values[signal.enable.field] == signal.enable.value)
        return Judgement(is_restart=restarts, values=tuple(values), enabled=tuple(enabled))

    def _is_neutral(self, judgement: Judgement) -> bool:
        return all(map(_is_neutral, self.message.signals, judgement.values))

    def _aim(self, judgement: Judgement) -> None:
        """Sets the targets: of signals that are enabled what they say, of others the safe value."""
        targets: dict[str, tuple[float, float]] = {}
        for signal, value, enabled in zip(self.message.signals, judgement.values, judgement.enabled, strict=True):
            if enabled:
                targets[signal.signal] = (value * signal.factor, signal.rate * signal.factor)
        for name, value in self._safe.items():
            if name not in targets:
                targets[name] = (value, math.inf)
        for name in [name for name in targets if name not in self._commands]:
            start = self._start(name, *targets[name])
            if math.isnan(start):  # a position of which nobody knows where it is cannot be moved at a rate
                del targets[name]
            else:
                self._commands[name] = start
        self._targets = targets

    def _start(self, name: str, target: float, rate: float) -> float:
        """From where a signal is moved to its first target [SI]; NaN: it is not known."""
        if name in self._safe:
            return self._safe[name]
        if not math.isfinite(rate):
            return target
        return self._held[name] if name in self._held else self._measure({name}).get(name, math.nan)


def _is_neutral(signal: SignalMapping, value: float) -> bool:
    return signal.safe is None or abs(value - signal.safe) <= signal.neutral
