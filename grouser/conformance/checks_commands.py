"""Commands: invalid ones are refused as a whole and counted, and a timeout stops the motion."""

from collections.abc import Mapping, Sequence

import numpy as np

from grouser.conformance import standard
from grouser.conformance.channels import Channel
from grouser.conformance.motion import DURATION, MOVED, NOTHING_TO_TRY, Trials, channels_to_try
from grouser.conformance.report import Section
from grouser.conformance.subject import Subject

_NOTHING = 0.01  # share of the motion by a valid command
_TICK = 0.01  # [s] longest delay until a command acts
_LAST = 0.1  # [s] window of a speed measurement
_AFTERWARDS = 0.25  # [s] time in which a motion that does not stop continues


def check_commands(subject: Subject, section: Section) -> None:
    """Sends valid and invalid commands, then none."""
    channels = channels_to_try(subject)
    if not channels:
        section.skip("commands", "refused or obeyed", NOTHING_TO_TRY)
        return
    trials = Trials(subject)
    idle = trials.run([])
    motions = {channel: trials.run([channel]) - idle for channel in channels}
    moving = {}
    for channel, motion in motions.items():
        if np.max(np.abs(motion)) < MOVED:
            section.skip(f"{channel.name}", "moves", "a valid command moves nothing")
        else:
            moving[channel] = motion
    _check_refusals(subject, section, trials, idle, moving)
    for channel in moving:
        _check_silence(subject, section, trials, channel)
    trials.finish(section)


def _check_refusals(
    subject: Subject, section: Section, trials: Trials, idle: np.ndarray, moving: Mapping[Channel, np.ndarray]
) -> None:
    """Sends all invalid commands together; one by one only if some were not refused, to find which."""
    everything = [(channel, fault) for channel in moving for fault in channel.refused]
    good = _refusal_fault(subject, trials, idle, moving, everything) == ""
    for channel, fault in everything:
        seen = "" if good else _refusal_fault(subject, trials, idle, moving, [(channel, fault)])
        section.check(f"{channel.name}: {fault}", "refused, nothing moves", seen or "refused", not seen)


def _refusal_fault(
    subject: Subject,
    trials: Trials,
    idle: np.ndarray,
    moving: Mapping[Channel, np.ndarray],
    sent: Sequence[tuple[Channel, str]],
) -> str:
    """The fault found when invalid commands are sent: they move the machine, or are not counted."""
    begun = trials.start()
    before = _counted(subject)
    for channel, fault in sent:
        subject.publish(channel.name, channel.refused[fault])
    counted = subject.is_told(lambda: (_counted(subject) or 0.0) >= (before or 0.0) + len(sent))
    motion = np.abs(trials.advance(DURATION) - begun - idle)
    for channel in {channel for channel, _ in sent}:
        joint = int(np.argmax(np.abs(moving[channel])))
        share = motion[joint] / abs(moving[channel][joint])
        if not share < _NOTHING:  # False for NaN too.
            return f"moves, by {share:.0%} of a good one"
    return "" if counted else "no diagnostics counter rises"


def _counted(subject: Subject) -> float | None:
    """Number of refused commands in /diagnostics."""
    value = subject.diagnosis(standard.REFUSED)
    return None if value is None else float(value)


def _check_silence(subject: Subject, section: Section, trials: Trials, channel: Channel) -> None:
    """Compares the command timeout with a command to stop at the same moment, by the fastest joint.

    A delay of a tick moves the joint by its speed times the tick, and by as much again while it slows down. Sampling
    at an interval adds a delay of one interval.
    """
    label, expected = f"{channel.name}: silence", f"stops after {channel.timeout:g} s"
    if channel.stopping is None:
        section.absent(label, expected, "drives of position hold on")
        return
    if channel.timeout <= _LAST:
        section.skip(label, expected, "switched off, or too short to see")
        return
    places = []
    for commanded in (True, False):
        trials.start()
        trials.command([channel])
        earlier = trials.advance(channel.timeout - _LAST)
        speeds = (trials.advance(_LAST) - earlier) / _LAST
        if commanded:
            subject.publish(channel.name, channel.stopping)
        places.append(trials.advance(_AFTERWARDS))
    joint = int(np.argmax(np.abs(speeds)))
    if abs(speeds[joint]) < MOVED / _LAST:
        section.skip(label, expected, "the joints have come to their ends before")
        return
    late = (places[1] - places[0])[joint] / speeds[joint]
    seen = f"after {channel.timeout + late:.3f} s"
    section.check(label, expected, seen, abs(late) <= 2.0 * (_TICK + trials.interval))
