"""Displacement of a machine by commands, in steps from its start: independent of the wall clock.

Every trial begins with a reset of the paused simulator, so that trials differ only by the command. The motion without
commands, as of a machine that sinks or rolls, is the reference.
"""

from collections.abc import Sequence

import numpy as np

from grouser.conformance.channels import Channel, channels_of
from grouser.conformance.report import Section
from grouser.conformance.subject import Subject

MOVED = 1e-3  # [rad or m] displacement that counts as motion
DURATION = 0.3  # [s] duration of a trial
# [s] of wall time for a sample to arrive: after a reset, where a simulator may publish nothing before it steps, and
# after its step, where a lost one is sent again after three seconds, and again if that is lost, too.
_AFTER_RESET, _AFTER_STEP = 2.0, 20.0
NOTHING_TO_TRY = "it cannot be paused, stepped and reset, or nothing commands it"


class Trials:
    """Restarts a simulator for each trial; leaves it paused.

    Args:
        subject: gives the length of a step and the joint positions.

    Attributes:
        refusal: error message of pausing, resetting or stepping; "" for none.
        interval: between two joint states [s].
    """

    def __init__(self, subject: Subject) -> None:
        assert can_try(subject) and subject.step is not None
        self._subject = subject
        self._step = subject.step
        self._recording = subject.streams[subject.offer.full("joint_states")].recording
        self._names = list(self._recording.newest.name)
        rate = subject.parameters["joint_state_rate"]
        self.interval = max(self._step, 1.0 / rate if rate else 0.0)
        self.refusal = subject.control.pause(True)
        subject.settle()

    def start(self) -> np.ndarray:
        """Resets; returns the joint positions [rad or m]."""
        self._subject.settle()  # a sample that is still on its way would pass for the first one after the reset
        before = self._recording.newest
        self._note(self._subject.control.reset())
        if not self._subject.client.until(lambda: self._recording.newest is not before, _AFTER_RESET):
            self.advance(self._step)  # It publishes nothing before it steps.
        return self._positions()

    def advance(self, seconds: float) -> np.ndarray:
        """Steps for a time [s of simulation time]; returns the joint positions."""
        count = max(1, round(seconds / self._step))
        wanted = self._recording.time + int(1e9 * (count - 0.5) * self._step)
        self._note(self._subject.control.step(count))
        self._subject.client.until(lambda: self._recording.time >= wanted, _AFTER_STEP)
        return self._positions()

    @property
    def time(self) -> int:
        """Stamp of the last joint states [ns]."""
        return self._recording.time

    def command(self, channels: Sequence[Channel]) -> None:
        """Sends the moving command of each channel."""
        for channel in channels:
            self._subject.publish(channel.name, channel.moving)

    def run(self, channels: Sequence[Channel]) -> np.ndarray:
        """Displacement of the joints from their start by the channels' moving commands."""
        begun = self.start()
        self.command(channels)
        return self.advance(DURATION) - begun

    def finish(self, section: Section) -> None:
        """Leaves the machine at its start; reports requests that the simulator refused."""
        self.start()
        if self.refusal:
            section.check("pause, step and reset", "success", self.refusal, False)

    def _positions(self) -> np.ndarray:
        """Joint positions in the order of the first message; NaN for a joint that is missing."""
        message = self._recording.newest
        places = dict(zip(message.name, message.position, strict=False))
        return np.array([places.get(name, np.nan) for name in self._names])

    def _note(self, refusal: str) -> None:
        self.refusal = self.refusal or refusal


def channels_to_try(subject: Subject) -> list[Channel]:
    """Channels for trials; none where trials are not possible."""
    return list(channels_of(subject)) if subject.watch() and can_try(subject) else []


def can_try(subject: Subject) -> bool:
    """Whether the simulator can be paused, stepped and reset."""
    stream = subject.stream("joint_states")
    received = stream is not None and stream.recording.newest is not None and len(stream.recording.newest.position) > 0
    return subject.control.complete and subject.step is not None and received
