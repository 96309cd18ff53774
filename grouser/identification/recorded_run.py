"""A recording of `grouser record` as measured data: what its simulation had, and what it was commanded."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from grouser.identification.series import Series
from grouser.physics.base.errors import ParameterError
from grouser.recording.events import Commanded, StateReached
from grouser.recording.mcap_file import Recording
from grouser.recording.player import Player


def read_recording(
    file: Path, signals: Iterable[str], commands: Iterable[str], every: float | None = None
) -> tuple[dict[str, Series], dict[str, Series]]:
    """Replays a recording and returns its signals and commands.

    Args:
        file: of the recording.
        signals: names, as of `Simulation.record`.
        commands: names of actuators; of those that it does not have there are none.
        every: interval of the samples [s]; None: every step.

    Raises:
        MachineError: it is no recording, or a file that it refers to has changed.
        ParameterError: an unknown signal or actuator, or a recording in which other things happen than commands.
    """
    recording = Recording(file)
    player = Player(recording.origin)
    record = player.simulation.record(tuple(signals), every)
    step = player.simulation.step_size
    samples: dict[str, tuple[list[float], list[float]]] = {}
    for event in recording.events():
        if isinstance(event, Commanded):
            for name, value in event.values.items():
                times, values = samples.setdefault(name, ([], []))
                if times and times[-1] == event.step * step:
                    values[-1] = value
                else:
                    times.append(event.step * step)
                    values.append(value)
        elif not isinstance(event, StateReached):
            what = type(event).__name__
            raise ParameterError("recording", str(file), f"one with commands only; {what} at step {event.step}")
        player.play(event)
    missing = [name for name in commands if name not in player.simulation.command]
    if missing:
        raise ParameterError(f"command in {file.name}", missing[0], "an actuator of the recorded machine")
    return (
        {name: Series(f"{name} in {file.name}", record.time, record[name]) for name in record.names},
        {
            name: Series(f"command of {name} in {file.name}", np.array(times), np.array(values))
            for name, (times, values) in samples.items()
            if name in commands
        },
    )
