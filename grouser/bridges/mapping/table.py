"""A mapping as a table: one row a signal."""

from collections.abc import Iterator
from typing import Any

from grouser.bridges.mapping.data import BridgeMapping, MessageMapping, SignalMapping
from grouser.bridges.mapping.units import UNITS

HEADINGS = ("message", "", "field", "signal", "raw", "SI", "period [s]", "timeout [s]", "safe")


def mapping_facts(mapping: BridgeMapping) -> dict[str, Any]:
    """Returns the facts of a mapping in plain types: numbers, texts, lists; None for no limit."""
    return {
        "file": mapping.file,
        "bridge": mapping.bridge,
        "machine": mapping.machine,
        "recovery": mapping.recovery,
        "good": mapping.good,
        "signals": [_facts(message, signal) for message in mapping.messages for signal in message.signals],
    }


def mapping_rows(facts: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Returns the rows below `HEADINGS`."""
    for signal in facts["signals"]:
        yield (
            signal["message"],
            {"in": "->", "out": "<-"}[signal["direction"]],
            signal["field"],
            signal["signal"],
            _range(signal["raw"]),
            f"{_range(signal['si'])} {signal['si_unit']}",
            f"{signal['period']:g}",
            "" if signal["timeout"] is None else f"{signal['timeout']:g}",
            _safe(signal),
        )


def _facts(message: MessageMapping, signal: SignalMapping) -> dict[str, Any]:
    incoming = message.direction == "in"
    ends = ((end - signal.offset) / signal.scale for end in (signal.low, signal.high))
    return {
        "message": message.name,
        "direction": message.direction,
        "address": str(message.address),
        "field": signal.field,
        "signal": signal.signal,
        "raw": [_number(end) for end in sorted(ends)],
        "si": [_number(signal.low * signal.factor), _number(signal.high * signal.factor)],
        "si_unit": UNITS[signal.unit].si,
        "period": message.period,
        "timeout": message.timeout if incoming else None,
        "safe": None if not incoming else "hold" if signal.safe is None else signal.safe * signal.factor,
        "line": signal.line,
    }


def _number(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _range(ends: list[float | None]) -> str:
    return "any" if None in ends else f"{ends[0]:g} to {ends[1]:g}"


def _safe(signal: dict[str, Any]) -> str:
    safe = signal["safe"]
    return safe if isinstance(safe, str) else "" if safe is None else f"{safe:g}"
