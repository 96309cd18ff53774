"""Reset: the machine returns to its start, and time continues."""

import numpy as np

from grouser.conformance.channels import channels_of
from grouser.conformance.motion import DURATION, MOVED, Trials, can_try
from grouser.conformance.report import Section
from grouser.conformance.subject import Subject

_SAME = 1e-6  # [rad or m] tolerance of a start position found by iteration


def check_reset(subject: Subject, section: Section) -> None:
    """Moves the machine and resets it."""
    if not subject.watch() or not can_try(subject):
        section.skip("reset", "the machine at its start", "it cannot be paused, stepped and reset, or has no joints")
        return
    trials = Trials(subject)
    begun = trials.start()
    trials.command(list(channels_of(subject)))
    moved = trials.advance(DURATION)
    before = subject.now
    after = trials.start()
    now = trials.time
    section.check("reset", "success", trials.refusal or "success", not trials.refusal)
    if np.max(np.abs(moved - begun)) < MOVED:
        section.skip("joints after a reset", "where they started", "nothing moves this machine")
    else:
        apart = float(np.max(np.abs(after - begun)))
        seen = "there" if apart <= _SAME else f"{apart:.3g} rad or m away"
        section.check("joints after a reset", "where they started", seen, apart <= _SAME)
    seen = f"from {before * 1e-9:g} s to {now * 1e-9:g} s"
    if subject.parameters["reset_rewinds_time"]:
        section.check("time after a reset", "begins again", seen, now < before)
    else:
        section.check("time after a reset", "does not go back", seen, now >= before)
