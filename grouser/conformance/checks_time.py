"""Pausing and stepping: time stops, and a request for N steps makes N steps."""

from functools import partial

from grouser.conformance.report import Section
from grouser.conformance.stepping import LOOKS, check_steps, hear_time, time_goes_on
from grouser.conformance.subject import Stream, Subject

_COUNTS = (1, 7)


def check_time(subject: Subject, section: Section) -> None:
    """Checks that stepping is refused while running, that time stops while paused, and that steps are exact."""
    client, control = subject.client, subject.control
    if not subject.watch() or not control.complete:
        section.skip("pause and step", "time stands, or steps", "it cannot be paused, stepped and reset")
        return
    refusal = control.step(1)
    section.check("step while running", "refused", refusal or "accepted", bool(refusal) and refusal != "no answer")
    refusal = control.pause(True)
    section.check("pause", "success", refusal or "success", not refusal)
    went = time_goes_on(subject)
    section.check("time while paused", "stands", "stands" if went == 0.0 else f"went on by {went:.3g} s", went == 0.0)
    if went == 0.0:
        hear_time(subject, lambda: control.step(1))
        for count in _COUNTS:
            label = f"{count} step{'s' if count > 1 else ''}"
            check_steps(subject, section, label, count, partial(control.step, count))
        _check_agreement(subject, section)
    else:
        section.skip("steps", "exactly", "it cannot be paused")
    before = subject.now
    refusal = control.pause(False)
    runs = client.until(lambda: subject.now > before)
    section.check("resume", "time runs", refusal or ("time runs" if runs else "time stands"), not refusal and runs)


def _check_agreement(subject: Subject, section: Section) -> None:
    """Checks that all streams have one time base: while paused, each is within an interval of the clock."""
    clock = subject.stream("/clock")
    if clock is None:
        section.skip("stamps while paused", "those of /clock", "no /clock received")
        return
    for _ in range(LOOKS):
        apart = _apart(subject, clock)
        if not apart:
            break
        subject.control.step(1)
        subject.settle()
    seen = f"not: {', '.join(apart)}" if apart else "so"
    section.check("stamps while paused", "within an interval of /clock", seen, not apart)


def _apart(subject: Subject, clock: Stream) -> list[str]:
    """Names of the streams whose newest stamp is more than an interval from the clock's."""
    apart = []
    for stream in subject.streams.values():
        if stream.rate is None or stream.recording.time < 0:
            continue
        step = subject.step or 0.0
        interval = max(step, *(1.0 / entry.rate if entry.rate else step for entry in (stream, clock)))
        if abs(stream.recording.time - clock.recording.time) * 1e-9 > interval:
            apart.append(stream.name)
    return apart
