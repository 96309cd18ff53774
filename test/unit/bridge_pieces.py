"""Pieces of bridges for tests: mappings by hand, and a plant that remembers."""

from dataclasses import dataclass, field

from grouser.bridges.mapping.data import BridgeMapping, MessageMapping, SignalMapping
from grouser.bridges.messages import Received


@dataclass(frozen=True)
class NamedField:
    """A field that holds any number."""

    name: str
    limits: None = None

    def __str__(self):
        return self.name


@dataclass
class RememberingPlant:
    """Keeps every command, and shows the measurements that it is given."""

    commands: list = field(default_factory=list)
    measured: dict = field(default_factory=dict)

    def command(self, values):
        self.commands.append(dict(values))

    def measure(self, names):
        return {name: self.measured[name] for name in names if name in self.measured}

    @property
    def now(self):
        """Every actuator's last command."""
        return {name: value for values in self.commands for name, value in values.items()}


def signal(source, name, **changes):
    defaults = {"unit": "1", "factor": 1.0, "scale": 1.0, "offset": 0.0, "low": -1.0, "high": 1.0, "neutral": 0.05}
    return SignalMapping(place=NamedField(source), field=source, signal=name, **{**defaults, **changes})


def message(name, *signals, direction="in", period=0.02, timeout=0.1, **changes):
    return MessageMapping(name, direction, None, period, timeout, signals, **changes)


def mapping(*messages, **changes):
    return BridgeMapping("test.yaml", "test", "", None, messages=messages, **changes)


def said(name, time, **values):
    return Received(name, time, values)
