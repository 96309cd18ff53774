"""Streams: rates in simulation time, stamps, finite numbers.

Stamps are counted, not arrivals, so that a busy computer changes nothing. A stream has its rate if the lower quartile
of the intervals between its stamps is that of the parameter: messages that were lost or left out make
some intervals longer (three in four may be), and a sample out of turn, as after a start, makes one shorter. An interval
is a whole number of steps, hence may be off by half a step; where the size of a step is unknown, by a tenth.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from grouser.conformance.report import Section
from grouser.conformance.sensor_contents import has_fix
from grouser.conformance.standard import OUTPUTS
from grouser.conformance.subject import FEWEST, Stream, Subject

_UNKNOWN_STEP = 0.1
# How far the newest stamp of a topic may be from the newest /clock, beside an interval of each [s]: on a busy computer
# a topic with many messages is taken from the middleware seconds behind one with few. Wall time differs by far more;
# what is off by less is found when nothing moves (`checks_time`).
_BACKLOG = 10.0

# Expected, seen, and whether they agree.
Finding = tuple[str, str, bool]


def check_streams(subject: Subject, section: Section) -> None:
    """Compares the messages received with rates and with /clock."""
    if not subject.watch():
        if subject.passive:
            section.skip("all streams", "messages", "no time received: paused?")
        else:
            section.check("all streams", "messages", f"none: {subject.silence}", False)
        return
    for output in OUTPUTS:
        streams = subject.of(output.name)
        received = [stream for stream in streams if stream.recording.messages]
        silent = [stream.name for stream in streams if stream not in received and stream.wanted]
        if silent:
            section.check(f"{output.name}: received", "messages", f"nothing on {', '.join(silent)}", False)
        name = received[0].name if len(received) == 1 else output.name
        for check, find in _CHECKS.items():
            findings = {stream.name: finding for stream in received if (finding := find(subject, stream)) is not None}
            if findings:
                section.check(f"{name}: {check}", *_summary(findings))


def _summary(findings: dict[str, Finding]) -> Finding:
    """One row of the findings of one topic, or of several of a kind: with the names of the bad ones."""
    expected, seen, _ = next(iter(findings.values()))
    bad = {name: seen for name, (_, seen, good) in findings.items() if not good}
    if len(findings) == 1:
        return expected, seen, not bad
    words = "; ".join(f"{name}: {seen}" for name, seen in bad.items())
    return expected, words or f"{seen} ({len(findings)} topics)", not bad


def _rate(subject: Subject, stream: Stream) -> Finding | None:
    stamps, step = stream.recording.stamps(), subject.step
    if stream.rate is None or (stream.rate == 0.0 and step is None) or not stamps:
        return None
    wanted = max(1.0 / stream.rate if stream.rate else 0.0, step or 0.0)
    expected = f"{1.0 / wanted:g} Hz"
    if len(stamps) < FEWEST:
        bare = len(stamps) < len(
            stream.recording.messages
        )  # A message without contents, such as empty markers, has no stamp.
        return None if bare else (expected, f"{len(stamps)} messages", False)
    interval = float(np.quantile(np.diff(stamps), 0.25, method="lower")) * 1e-9
    tolerance = _UNKNOWN_STEP * wanted if step is None else 0.5 * step + 1e-9  # Stamps are rounded to nanoseconds.
    seen = f"{1.0 / interval:.4g} Hz" if interval > 0.0 else "stamps that stand still"
    return expected, seen, abs(interval - wanted) <= tolerance


def _order(_subject: Subject, stream: Stream) -> Finding | None:
    if stream.rate is None or stream.recording.time < 0:
        return None
    late = sum(later <= earlier for earlier, later in pairwise(stream.recording.stamps()))
    return "stamps rise", f"{late} do not" if late else "so", not late


def _time_base(subject: Subject, stream: Stream) -> Finding | None:
    clock = subject.stream("/clock")
    if clock is None or stream is clock or stream.rate is None:
        return None
    if clock.recording.time < 0 or stream.recording.time < 0:
        return None
    slack = _BACKLOG + sum(1.0 / entry.rate for entry in (stream, clock) if entry.rate)
    apart = (stream.recording.time - clock.recording.time) * 1e-9
    good = abs(apart) <= slack
    return "that of /clock", "so" if good else f"{apart:+.3g} s apart", good


def _numbers(_subject: Subject, stream: Stream) -> Finding | None:
    messages = [message for message in stream.recording.messages if has_fix(message)]
    bad = next((bad for message in messages if (bad := _bad_field(message, ""))), "")
    return "finite", bad or "so", not bad


_CHECKS: dict[str, Callable[[Subject, Stream], Finding | None]] = {
    "rate": _rate,
    "order": _order,
    "time": _time_base,
    "numbers": _numbers,
}


def _bad_field(value: Any, name: str) -> str:
    """Name of the first field of a message that must be finite and is not; "" if there is none."""
    if isinstance(value, float):
        return "" if math.isfinite(value) else name
    if hasattr(value, "get_fields_and_field_types"):
        # An infinite range of a lidar means no return (REP-117).
        fields = [field for field in value.get_fields_and_field_types() if field != "ranges"]
        return _first(_bad_field(getattr(value, field), f"{name}.{field}".lstrip(".")) for field in fields)
    if isinstance(value, str | bytes) or not hasattr(value, "__len__") or not len(value):
        return ""
    if isinstance(value[0], float):
        return "" if np.isfinite(np.asarray(value)).all() else name
    return _first(_bad_field(entry, name) for entry in value) if hasattr(value[0], "SLOT_TYPES") else ""


def _first(texts: Any) -> str:
    return next((text for text in texts if text), "")
