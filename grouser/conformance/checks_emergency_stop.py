"""The emergency stop: commands have no effect until it is cleared or a reset."""

from collections.abc import Sequence

import numpy as np
from std_msgs.msg import Bool

from grouser.conformance import standard
from grouser.conformance.channels import Channel
from grouser.conformance.motion import DURATION, MOVED, NOTHING_TO_TRY, Trials, channels_to_try
from grouser.conformance.report import Section
from grouser.conformance.subject import Subject

_BRAKING = 0.1  # [s]
_NOTHING = 0.05  # allowed share of the motion without the stop: compliance of brakes
_AGAIN = 0.5  # share of it that counts as motion


def check_emergency_stop(subject: Subject, section: Section) -> None:
    """Stops the machine in motion twice: without and with further commands."""
    channels = channels_to_try(subject)
    if not channels:
        section.skip("emergency stop", "latched", NOTHING_TO_TRY)
        return
    trials = Trials(subject)
    idle = trials.run([])
    motion = np.abs(trials.run(channels) - idle)
    joint = int(np.argmax(motion))
    if motion[joint] < MOVED:
        section.skip("emergency stop", "latched", "a valid command moves nothing")
        return
    shown, braked, silent = _stopped(subject, trials, channels, [])
    section.check("/diagnostics", "report the stop", "so" if shown else "not", shown)
    _, _, commanded = _stopped(subject, trials, channels, channels)
    for label, expected, apart in (
        ("machine after a stop", "stands", silent[0] - braked),
        ("command after a stop", "changes nothing", commanded[0] - silent[0]),
        ("command after its release", "changes nothing", commanded[1] - silent[1]),
    ):
        share = np.max(np.abs(apart)) / motion[joint]
        section.check(label, expected, f"{share:.1%} of the motion", bool(share < _NOTHING))
    refusal, moved = _cleared(subject, trials, channels)
    section.check(standard.CLEAR_EMERGENCY_STOP.name, "releases the stop", refusal or "so", not refusal)
    share = np.abs(moved - idle)[joint] / motion[joint]
    section.check("command after it is cleared", "moves", f"{share:.0%} of the motion", bool(share > _AGAIN))
    share = np.abs(trials.run(channels) - idle)[joint] / motion[joint]
    section.check("command after a reset", "moves", f"{share:.0%} of the motion", bool(share > _AGAIN))
    trials.finish(section)


def _stopped(
    subject: Subject, trials: Trials, moved: Sequence[Channel], commanded_channels: Sequence[Channel]
) -> tuple[bool, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Moves the machine by some channels, stops it, commands others, releases the stop, commands again.

    Returns:
        Whether /diagnostics report the stop; joint positions after braking, after the further commands, and at the
        end.
    """
    trials.start()
    trials.command(moved)
    trials.advance(DURATION)
    subject.publish("emergency_stop", Bool(data=True))
    shown = subject.is_told(lambda: subject.diagnosis(standard.EMERGENCY_STOP) == "true")
    braked = trials.advance(_BRAKING)
    trials.command(commanded_channels)
    first = trials.advance(DURATION)
    subject.publish("emergency_stop", Bool(data=False))
    trials.command(commanded_channels)
    return shown, braked, (first, trials.advance(DURATION))


def _cleared(subject: Subject, trials: Trials, channels: Sequence[Channel]) -> tuple[str, np.ndarray]:
    """Stops the machine at its start, clears the stop and moves it by some channels.

    Returns:
        Why the stop was not cleared, "" if it was; displacement of the joints.
    """
    begun = trials.start()
    subject.publish("emergency_stop", Bool(data=True))
    subject.is_told(lambda: subject.diagnosis(standard.EMERGENCY_STOP) == "true")
    refusal = subject.control.clear_emergency_stop()
    trials.command(channels)
    return refusal, trials.advance(DURATION) - begun
