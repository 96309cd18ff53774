"""Pausing and stepping: time stops, and a request for N steps makes N steps."""

from grouser.conformance.report import Section
from grouser.conformance.subject import Stream, Subject

_WATCHED = 0.4  # [s] of wall time for which a paused simulator is observed
# [s] of wall time for a sample to arrive after its step: a lost one is sent again after three.
_ARRIVAL = 4.0
_LOOKS = 3  # attempts to read the stamps of all streams: a best-effort sample may be lost once
_COUNTS = (1, 7)
_ROUNDED = 2  # [ns] tolerance: both stamps are rounded


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
    went = _went(subject)
    if went > 0.0:  # messages from before the pause may be late on a busy computer, but not twice
        went = _went(subject)
    section.check("time while paused", "stands", "stands" if went == 0.0 else f"went on by {went:.3g} s", went == 0.0)
    if went == 0.0:
        control.step(1)  # To a step at which every stream is sampled.
        subject.settle()
        for count in _COUNTS:
            _check_steps(subject, section, count)
        _check_agreement(subject, section)
    else:
        section.skip("steps", "exactly", "it cannot be paused")
    before = subject.now
    refusal = control.pause(False)
    runs = client.until(lambda: subject.now > before)
    section.check("resume", "time runs", refusal or ("time runs" if runs else "time stands"), not refusal and runs)


def _went(subject: Subject) -> float:
    """How far simulation time goes on while a paused simulator is watched [s]."""
    subject.settle()
    before = subject.now
    subject.client.spin(_WATCHED)
    return (subject.now - before) * 1e-9


def _check_steps(subject: Subject, section: Section, count: int) -> None:
    label, before = f"{count} step{'s' if count > 1 else ''}", subject.now
    refusal = subject.control.step(count)
    wanted = before + int(1e9 * (count - 0.5) * (subject.step or 0.0))
    subject.client.until(lambda: subject.now > wanted, _ARRIVAL)
    subject.settle()
    went = subject.now - before
    if subject.step is None:
        section.check(label, "success, time advances", refusal or f"{went * 1e-9:g} s", not refusal and went > 0)
        return
    seconds = count * subject.step
    exact = abs(went - seconds * 1e9) <= _ROUNDED
    section.check(label, f"{seconds:g} s", refusal or f"{went * 1e-9:g} s", not refusal and exact)


def _check_agreement(subject: Subject, section: Section) -> None:
    """Checks that all streams have one time base: while paused, each is within an interval of the clock."""
    clock = subject.stream("/clock")
    if clock is None:
        section.skip("stamps while paused", "those of /clock", "no /clock received")
        return
    for _ in range(_LOOKS):
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
