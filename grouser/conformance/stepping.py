"""Time of a paused simulator, which all checks wait for in one way: until the expected stamp is heard.

Messages from before a pause may be late on a busy computer, and the newest stamp may be lost, as it is sent but once.
So what stands is watched again before it counts as moving, and steps are counted from a step that was heard alone.
"""

from collections.abc import Callable

from grouser.conformance.report import Section
from grouser.conformance.subject import Subject

LOOKS = 5  # attempts
_WATCHED = 0.4  # [s] of wall time for which a paused simulator is observed
# [s] of wall time for a sample to arrive after its step: a lost one is sent again after three.
_ARRIVAL = 4.0
_ROUNDED = 2  # [ns] tolerance: both stamps are rounded

Step = Callable[[], str]  # makes steps; returns the error message


def time_goes_on(subject: Subject) -> float:
    """How far the time of a paused simulator goes on, each time that it is watched [s]; 0.0 where it stands once.

    It is not watched again where its messages do not come to an end.
    """
    went = 0
    for _ in range(LOOKS):
        settled = subject.settle()
        before = subject.now
        subject.client.spin(_WATCHED)
        went = subject.now - before
        if went == 0 or not settled:
            break
    return went * 1e-9


def hear_time(subject: Subject, single: Step) -> None:
    """Makes single steps until one is heard alone: the newest time is then that of the simulator."""
    for _ in range(LOOKS):
        _, went = _go(subject, 1, single)
        if subject.step is None or _is_exact(went, subject.step):
            return


def check_steps(subject: Subject, section: Section, label: str, count: int, step: Step) -> None:
    """Checks that a request for steps makes that many, after `hear_time`."""
    refusal, went = _go(subject, count, step)
    seen = refusal or f"{went * 1e-9:g} s"
    if subject.step is None:
        section.check(label, "success, time advances", seen, not refusal and went > 0)
        return
    seconds = count * subject.step
    section.check(label, f"{seconds:g} s", seen, not refusal and _is_exact(went, seconds))


def _go(subject: Subject, count: int, step: Step) -> tuple[str, int]:
    """Makes steps and hears their time; returns the error message, and how far time went [ns]."""
    subject.settle()
    before = subject.now
    refusal = step()
    wanted = before + int(1e9 * (count - 0.5) * (subject.step or 0.0))
    subject.client.until(lambda: subject.now > wanted, _ARRIVAL)
    subject.settle()
    return refusal, subject.now - before


def _is_exact(went: int, seconds: float) -> bool:
    return abs(went - 1e9 * seconds) <= _ROUNDED
